"""Columns of a source as a Problem has them: converted a block at a time as they are read."""

import numpy as np

from mauc.exceptions import MaucError
from mauc.parallel import run_blocks
from mauc.problem.columns import contiguous_columns
from mauc.problem.frame_columns import as_block, common_type
from mauc.problem.nominal import category_codes, flag_columns
from mauc.problem.read_ahead import (
    MEMORY_SHARE,
    ReadAhead,
    block_bytes,
    least_memory,
    max_threads,
    plan_pass,
)
from mauc.problem.spill import Room

_HELD_SHARE = 8  # of the memory, for columns that are held to be looked at one by one


class SourceColumns:
    """The columns of a source for one fit.

    Behaves like a matrix of the common type of all columns in what `Problem` and its readers
    need, as `FrameColumns` does: `shape`, `dtype`, `column` and `block`.

    Parameters
    ----------
    source : ColumnSource
    categorical_features : array-like of bool, int or str, optional
        Nominal columns beside those of words.
    accept_nominal, accept_infinite : bool, default=True
        Whether such columns and values are taken; an error names the first that is not.
    cluster : Cluster, optional
        Whose workers read the columns (`mauc.cluster`).
    reads_ahead : bool, default=True
        Whether a thread beside those that work reads the next columns.

    Attributes
    ----------
    source : ColumnSource
    cluster : Cluster or None
    accept_infinite : bool
    shape : tuple of int
    dtype : dtype
        Type that holds the values of all columns, codes of nominal ones included.
    is_nominal : ndarray of shape (n_features,), bool, or None
    room : Room
        The memory of the source, for what is held beside the columns.
    """

    def __init__(
        self, source, categorical_features=None, *, accept_nominal=True, accept_infinite=True,
        cluster=None, reads_ahead=True,
    ):  # fmt: skip
        self.source, self.cluster = source, cluster
        self.shape = source.shape
        names = None if source.feature_names is None else source.feature_names.tolist()
        is_nominal = source.is_word
        if is_nominal.any() and not accept_nominal:
            place = int(np.argmax(is_nominal))
            called = place if names is None else names[place]
            raise MaucError(
                f"{source.name}: X must be numeric, but column {called!r} holds words; leave it "
                f"out (drop) or choose a selector that takes nominal columns, such as MDFS."
            )
        is_nominal = is_nominal | flag_columns(categorical_features, source.shape[1], names)
        self.is_nominal = is_nominal if is_nominal.any() else None
        self.dtype = common_type({_number_type(kind) for kind in source.types})
        self.accept_infinite = accept_infinite
        self._reads_ahead, self._ahead = reads_ahead, None
        self._held = {}
        n = source.shape[0]
        largest = max(n * self.dtype.itemsize, source.memory // MEMORY_SHARE)
        self.room = Room(source.memory, least_memory(n, largest))

    def column(self, j):
        """Return the values of one column: booleans, numbers, dates or category codes."""
        return self._take(np.array([j]))[0]

    def block(self, chosen, convert=None):
        """Return columns in the narrowest type that holds their values.

        Parameters
        ----------
        chosen : slice or sequence of int
        convert : callable, optional
            As in `FrameColumns.block`.

        Returns
        -------
        XT : ndarray of shape (n_chosen, n_samples)
        """
        places = np.arange(self.shape[1])[chosen]
        return as_block(self._take(places), self.shape[0], convert or contiguous_columns)

    def __getitem__(self, key):
        """Return ``[:, chosen]`` as an array."""
        rows, chosen = key
        if rows != slice(None):
            raise IndexError("rows of a source are taken all together.")
        return self.block(chosen).T

    def run_blocks(self, function, blocks, n_jobs=None):
        """Yield ``(block, function(block))`` in order while the columns are read ahead.

        Parameters and result as in `mauc.parallel.run_blocks`; no more threads work than the
        memory of the source allows, less what is held beside the columns (`room`).
        """
        n_threads, edges = plan_pass(self.source, blocks, n_jobs, self.room.taken)
        self._ahead = ahead = ReadAhead(self._read_range, edges, is_ahead=self._reads_ahead)
        try:
            yield from run_blocks(
                function, blocks, n_threads, unit="blocks of columns",
                n_bytes=block_bytes(self.source, blocks),
            )  # fmt: skip
        finally:
            self._ahead = None
            ahead.close()
        self.source.check_unchanged()

    def count_threads(self, n_columns, n_jobs=None):
        """Return how many threads may work on so many columns each, outside of a pass."""
        n_bytes = n_columns * self.shape[0] * self.dtype.itemsize
        return max_threads(self.source, n_bytes, n_jobs, self.room.taken)

    def in_groups(self, places):
        """Yield places of columns that are looked at one by one, possibly only the first of them.

        They are read in groups, each twice as large as the last, and held until the next one.
        """
        column_bytes = self.shape[0] * self.dtype.itemsize
        widest = max(1, self.source.memory // (_HELD_SHARE * column_bytes))
        start, width = 0, 1
        try:
            while start < len(places):
                group = places[start : start + width]
                self._held = {}
                self._held = dict(zip(group.tolist(), self._read(group), strict=True))
                yield from group
                start, width = start + width, min(2 * width, widest)
        finally:
            self._held = {}

    def _take(self, places):
        if self._held and all(int(j) in self._held for j in places):
            return [self._held[int(j)] for j in places]
        ahead = self._ahead
        if ahead is not None and len(places):
            first, stop = int(places[0]), int(places[-1]) + 1
            is_run = stop - first == len(places) and bool((np.diff(places) == 1).all())
            found = ahead.take(first, stop) if is_run else None
            if found is not None:
                return found
        return self._read(places)

    def _read_range(self, first, stop):
        return self._read(np.arange(first, stop))

    def _read(self, places):
        columns = []
        for j, values in zip(places, self.source.read(places), strict=True):
            if self.is_nominal is not None and self.is_nominal[j]:
                values = category_codes(values)
            if not self.accept_infinite:
                self._check_finite(j, values)
            columns.append(values)
        return columns

    def _check_finite(self, j, values):
        # The sum is finite only if all values are, but the sum of finite ones may overflow.
        if values.dtype.kind != "f" or np.isfinite(values.sum(dtype=np.float64)):
            return
        if np.isinf(values).any():
            names = self.source.feature_names
            called = int(j) if names is None else names[j]
            raise MaucError(
                f"{self.source.name}: column {called!r} holds infinite values, which this selector "
                f"does not take; leave the column out, or choose one that looks at the order of "
                f"values, such as MDFS."
            )


def _number_type(kind):
    return np.dtype(np.float64) if kind.kind == "O" else kind
