"""What a source of columns is: data that are read when they are needed, not held in memory."""

from abc import ABC, abstractmethod
from copy import copy
from typing import Any

import numpy as np

from mauc.memory import free_memory
from mauc.problem.stripe_memory import stripe_array

_DEFAULT_SHARE = 4  # a pass takes a quarter of the free memory unless it is told otherwise
_DEFAULT_MEMORY = 2**30  # where it is not known what is free
_COPY_BYTES = 2**23  # of columns whose rows are chosen together
_ROW_PART_BYTES = 2**26  # of a part of the rows, where a source has no parts of its own


class ColumnSource(ABC):
    """Columns of a table that lie in files, on other machines, or in an array too large to copy.

    Every selector that looks at columns one by one fits on a source as on an array. A source is
    made by `mauc.open_columns`; further kinds derive from this class and implement `read`. Sources
    are not changed once they are made, are pickled as what is needed to open them again (a path,
    not the data), and may be read by several threads at once.

    Parameters
    ----------
    name : str
        What errors call it: a path or an address.
    n_samples : int
    types : sequence of dtype
        Type of the values of each column; object for words. Integers with missing values are read
        as floats all the same: the type says how wide a value is, not what is read.
    feature_names : sequence of str, optional
    memory : int, optional
        Bytes that a pass over the columns may take; a quarter of what is free by default.

    Attributes
    ----------
    name : str
    shape : tuple of int
        (n_samples, n_features).
    types : list of dtype
    feature_names : ndarray of str, or None
    memory : int
    widths : ndarray of shape (n_features,), int64
        Bytes that a value takes while it is read and held; more than those of its type where
        integers have missing values.
    stripe_bytes : int
        Columns that are read at once where the memory allows: with more, reading is not faster.
    waits : bool
        Whether reading waits for another machine more than it takes a core.
    """

    # Nobody works while the first stripe is read.
    stripe_bytes = 2**26
    waits = False

    def __init__(self, name, n_samples, types, *, feature_names=None, memory=None):
        self.name = str(name)
        self.types = [np.dtype(kind) for kind in types]
        self.widths = np.array([kind.itemsize for kind in self.types], np.int64)
        self.shape = (int(n_samples), len(self.types))
        self.feature_names = None
        if feature_names is not None:
            self.feature_names = np.array([str(word) for word in feature_names], dtype=object)
        self.memory = default_memory() if memory is None else int(memory)

    @abstractmethod
    def read(self, places: np.ndarray) -> list[Any]:
        """Read whole columns.

        Parameters
        ----------
        places : ndarray of shape (n_places,), int64
            Numbers of the columns, in any order.

        Returns
        -------
        columns : list of ndarray or Series of shape (n_samples,)
            One for each place, as a data frame would hold them: booleans, numbers or dates as
            contiguous arrays with NaN or NaT for missing values; words, and columns of a
            categorical dtype, as a pandas Series.
        """

    def read_rows(self, start: int, stop: int, places: np.ndarray) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        return [column[start:stop] for column in self.read(places)]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that together are all rows and are cheap to read one by one."""
        width = sum(kind.itemsize for kind in self.types)
        step = max(1, _ROW_PART_BYTES // max(width, 1))
        n = self.shape[0]
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def parts_within(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return the ranges of `row_parts`, divided evenly where they take more than `n_bytes`."""
        most = max(1, n_bytes // max(1, int(self.widths.sum())))
        ranges = []
        for start, stop in self.row_parts():
            step = -(-(stop - start) // -(-(stop - start) // most))
            ranges += [(row, min(row + step, stop)) for row in range(start, stop, step)]
        return ranges

    def check_unchanged(self) -> None:  # noqa: B027 - most sources cannot change
        """Raise a `MaucError` that names the file if it changed since the source was opened."""

    def take(self, places) -> "ColumnSource":
        """Return a source of some of the columns, in the order of `places`."""
        return ChosenColumns(self, places)

    def take_rows(self, rows) -> "ColumnSource":
        """Return a source of the rows of a mask, in their order."""
        return ChosenRows(self, rows)

    def write(self, path, *, y=None, target_name="class", force=False):
        """Write the columns, and labels if they are given, to a Parquet file.

        It is written part by part within `memory`, under another name until it is whole.

        Parameters
        ----------
        path : str or Path
        y : array-like of shape (n_samples,), optional
        target_name : str, default="class"
            The column of the labels.
        force : bool, default=False
            Whether a file of that name may be replaced.

        Returns
        -------
        path : Path
        """
        from mauc.problem.source_parts import write_columns

        return write_columns(self, path, y=y, target_name=target_name, force=force)

    def with_memory(self, memory: int) -> "ColumnSource":
        """Return the same source with another limit of memory, in bytes."""
        other = copy(self)
        other.memory = int(memory)
        return other

    def _read_like(self, source: "ColumnSource") -> None:
        """Take over how the source below is best read."""
        self.stripe_bytes, self.waits = source.stripe_bytes, source.waits

    @property
    def is_word(self) -> np.ndarray:
        """Mask of the columns of words and categories, which are nominal."""
        return np.array([kind.kind == "O" for kind in self.types], bool)

    @property
    def n_bytes(self) -> int:
        """Bytes of all values in memory; words count as codes."""
        return self.shape[0] * sum(kind.itemsize for kind in self.types)

    def __repr__(self):
        """Return the name and the shape."""
        n, m = self.shape
        return f"<{type(self).__name__} {self.name}: {n:,} rows, {m:,} columns>"


class ChosenColumns(ColumnSource):
    """Some columns of a source, in any order."""

    def __init__(self, source, places):
        self._source = source
        self._places = np.arange(source.shape[1])[places]
        self._read_like(source)
        names = source.feature_names
        super().__init__(
            source.name, source.shape[0], [source.types[j] for j in self._places],
            feature_names=None if names is None else names[self._places], memory=source.memory,
        )  # fmt: skip
        self.widths = source.widths[self._places]

    def read(self, places):
        """Read whole columns, see `ColumnSource.read`."""
        return self._source.read(self._places[places])

    def read_rows(self, start, stop, places):
        """Read some rows of columns."""
        return self._source.read_rows(start, stop, self._places[places])

    def row_parts(self):
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()

    def check_unchanged(self):
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()


class ChosenRows(ColumnSource):
    """Some rows of a source, in their order."""

    def __init__(self, source, rows):
        self._source = source
        self._rows = np.flatnonzero(rows)
        self._read_like(source)
        super().__init__(
            source.name, len(self._rows), source.types, feature_names=source.feature_names,
            memory=source.memory,
        )  # fmt: skip
        self.widths = source.widths

    def read(self, places):
        """Read whole columns, see `ColumnSource.read`."""
        # A few at a time, for they are there twice; into one array for each type.
        places = np.asarray(places)
        n = max(1, self._source.shape[0])
        kinds = [self.types[j] for j in places]
        stacks = {
            kind: iter(stripe_array((kinds.count(kind), len(self._rows)), kind))
            for kind in dict.fromkeys(kinds)
            if kind.kind != "O"
        }
        step = max(1, _COPY_BYTES // (n * max((kind.itemsize for kind in kinds), default=1)))
        found = []
        for start in range(0, len(places), step):
            columns = self._source.read(places[start : start + step])
            for kind, column in zip(kinds[start : start + step], columns, strict=True):
                out = next(stacks[kind]) if kind in stacks else None
                if out is None or column.dtype != kind:
                    found.append(_take(column, self._rows))
                else:
                    found.append(np.take(column, self._rows, out=out))
        return found

    def read_rows(self, start, stop, places):
        """Read some rows of columns."""
        rows = self._rows[start:stop]
        if len(rows) == 0:
            return [column[:0] for column in self._source.read_rows(0, 1, places)]
        first, last = int(rows[0]), int(rows[-1]) + 1
        parts = self._source.read_rows(first, last, places)
        return [_take(column, rows - first) for column in parts]

    def row_parts(self):
        """Return ranges of rows that are cheap to read one by one."""
        edges = np.searchsorted(self._rows, [stop for _, stop in self._source.row_parts()])
        starts = np.concatenate([[0], edges[:-1]])
        return [(int(a), int(b)) for a, b in zip(starts, edges, strict=True) if a < b]

    def check_unchanged(self):
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()


def _take(column, rows):
    if hasattr(column, "iloc"):
        return column.iloc[rows].reset_index(drop=True)
    return column[rows]


def default_memory() -> int:
    """Return the bytes that a pass over a source takes if nobody says how many."""
    free = free_memory()
    return _DEFAULT_MEMORY if free is None else max(free // _DEFAULT_SHARE, 2**26)
