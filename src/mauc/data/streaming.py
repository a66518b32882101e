"""Read the columns of a source in stripes, the next one on a thread while the last is worked on."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from mauc.data.categories import category_codes, flag_columns
from mauc.data.frames import as_block, common_type
from mauc.data.source import StripeMemory, stripe_memory
from mauc.data.workspace import Room
from mauc.engine.arrays import contiguous_columns
from mauc.exceptions import MaucError, NotEnoughMemoryError
from mauc.memory import format_bytes
from mauc.parallel import count_threads, run_blocks

# Bytes per row that a thread needs to sort a column, beside the column itself: its words twice.
_WORK_BYTES = 24
_LABEL_BYTES = 24  # per row: labels, codes, the rows by class
MEMORY_SHARE = 16  # of the memory of a source, for one block


class ReadAhead:
    """A pass over the columns of a source, in order.

    Two stripes are held: the one that blocks are taken from, and the next, which one thread reads.
    A stripe is let go when a block of a later one is taken; a thread that still works on a block
    keeps it alive.

    Parameters
    ----------
    read : callable
        ``(first, stop) -> list of arrays``: reads columns.
    edges : sequence of int
        Where stripes begin, and the end of the last.
    is_ahead : bool, default=True
        Whether the next stripe is read while this one is worked on; otherwise when it is needed.
    """

    def __init__(self, read, edges, *, is_ahead=True):
        self._read, self._n_ahead = read, int(is_ahead)
        self._edges = np.asarray(edges)
        self._lock = threading.Lock()
        self._stripes: dict[int, Future] = {}
        self._reader = ThreadPoolExecutor(1, "mauc-read")
        self._memory = StripeMemory()

    def take(self, first, stop):
        """Return the columns of a block as a list, or None if it does not lie in one stripe."""
        stripe = int(np.searchsorted(self._edges, first, "right")) - 1
        if not 0 <= stripe < len(self._edges) - 1 or stop > self._edges[stripe + 1]:
            return None
        with self._lock:
            if self._stripes and stripe < min(self._stripes):
                return None  # it was let go
            for number in [known for known in self._stripes if known < stripe]:
                del self._stripes[number]
            for number in range(stripe, stripe + 1 + self._n_ahead):
                if number not in self._stripes and number + 1 < len(self._edges):
                    bounds = self._edges[number : number + 2].tolist()
                    self._stripes[number] = self._reader.submit(self._read_stripe, *bounds)
            waiting = self._stripes[stripe]
        offset = self._edges[stripe]
        return waiting.result()[first - offset : stop - offset]

    def _read_stripe(self, first, stop):
        with stripe_memory(self._memory):
            return self._read(first, stop)

    def close(self):
        """Let go of everything; what is being read is waited for."""
        with self._lock:
            for waiting in self._stripes.values():
                waiting.cancel()
            self._stripes.clear()
        self._reader.shutdown(wait=True, cancel_futures=True)


def least_memory(n_samples, block_bytes):
    """Return the bytes that a pass needs at least: labels, a block at work, two stripes of one."""
    return (_LABEL_BYTES + _WORK_BYTES) * n_samples + 3 * block_bytes


def max_threads(source, block_bytes, n_jobs, held=0):
    """Return how many threads may work on blocks at once: half of the memory is theirs."""
    n = source.shape[0]
    of_threads = source.memory - _LABEL_BYTES * n - held
    fit = of_threads // (2 * (block_bytes + _WORK_BYTES * n))
    return max(1, min(count_threads(n_jobs), fit))


def plan_pass(source, blocks, n_jobs, held=0):
    """Return how many threads work on a pass, and where its stripes begin.

    Parameters
    ----------
    source : ColumnSource
        Its `memory` is kept.
    blocks : sequence of slice
        The blocks of columns of the pass, in order; a stripe holds whole blocks.
    n_jobs : int, optional
    held : int, default=0
        Bytes of the memory that are taken by something else.

    Returns
    -------
    n_threads : int
    edges : list of int
    """
    n = source.shape[0]
    sizes = block_bytes(source, blocks)
    largest = max(sizes, default=0)
    # The block of a thread may outlive its stripe. Two stripes are of one block at least.
    of_thread = largest + _WORK_BYTES * n
    fixed = _LABEL_BYTES * n + held
    least = least_memory(n, largest) + held
    if least > source.memory:
        what, further = "one column and the room to sort it", ""
        if held:
            what = "one column, the room to sort it and what is held beside it"
        else:
            further = ", or sketch the AUCs over the rows (PairAUCSketch)"
        raise NotEnoughMemoryError(
            f"memory={format_bytes(source.memory)} is too little for columns of {n:,} rows: {what} "
            f"take {format_bytes(least)}; allow that much{further}."
        )
    n_threads = max_threads(source, largest, n_jobs, held)
    # Columns of one type lie in one array: the last block of a stripe keeps all of it alive while
    # other threads work on the next.
    n_stripes = 2 if n_threads == 1 else 3
    of_stripes = source.memory - fixed - n_threads * of_thread
    room = min(of_stripes // n_stripes, source.stripe_bytes)
    edges, held = [0], 0
    for block, n_bytes in zip(blocks, sizes, strict=True):
        if held and held + n_bytes > room:
            edges.append(block.start)
            held = 0
        held += n_bytes
    return n_threads, [*edges, blocks[-1].stop] if blocks else edges


def block_bytes(source, blocks):
    """Return the bytes of the columns of each block, as they are held."""
    return [source.shape[0] * int(source.widths[block].sum()) for block in blocks]


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
        width = max(self.dtype.itemsize, int(source.widths.max(initial=1)))
        largest = max(n * width, source.memory // MEMORY_SHARE)
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
