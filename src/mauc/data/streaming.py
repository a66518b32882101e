"""The columns of a source for one fit: read in stripes, the next one while the last is worked on.

Stripes, the blocks that threads work on, and the `Workspace` keep to the memory of the source.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from mauc.data.arguments import CategoricalFeatures
from mauc.data.columns import ColumnBlock, Columns, as_floats
from mauc.data.doubles import merges_values, warn_of_merged
from mauc.data.frames import as_block, common_type, is_run
from mauc.data.nominal import category_codes, column_mask
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, NotEnoughMemoryError, option
from mauc.memory import Workspace, format_bytes
from mauc.parallel import Work, count_threads

# Bytes per row that a thread needs to sort a column, in addition to the column: its keys twice.
_WORK_BYTES = 24
_LABEL_BYTES = 24  # per row: labels, codes, the rows by class
_BLOCK_SHARE = 16  # of the memory of a source, for one block
_GROUP_SHARE = 8  # of the memory, for columns that are held to be looked at one by one


class SourceColumns(Columns):
    """The columns of a source for one fit, read by an `executor`, or ahead by an extra thread."""

    is_streamed = True

    def __init__(
        self,
        source: ColumnSource,
        categorical_features: CategoricalFeatures = None,
        *,
        accept_nominal: bool = True,
        accept_infinite: bool = True,
        executor: Any = None,
        reads_ahead: bool = True,
    ) -> None:
        self.source: ColumnSource = source
        self.executor: Any = executor
        self.shape: tuple[int, int] = source.shape
        names = None if source.feature_names is None else source.feature_names.tolist()
        is_nominal = source.is_text
        if is_nominal.any() and not accept_nominal:
            raise MaucError(
                f"{source.name}: X must be numeric, but column "
                f"{source.name_of(int(np.argmax(is_nominal)))!r} holds text; leave it "
                f"out (drop) or choose a selector that takes nominal columns, such as MDFS."
            )
        self.is_nominal: np.ndarray = is_nominal | column_mask(
            categorical_features, source.shape[1], names
        )
        codes = np.dtype(np.float64)  # of text
        self.dtype: np.dtype = common_type(
            {codes if kind.kind == "O" else kind for kind in source.types}
        )
        self.accept_infinite = accept_infinite
        self._reads_ahead = reads_ahead
        self._ahead: ReadAhead | None = None
        self._held: dict[int, Any] = {}
        self._is_warned = False  # of values that are the same float64
        largest = max(self._column_bytes, source.memory // _BLOCK_SHARE)
        self.workspace = Workspace(source.memory, least_memory(source.shape[0], largest))

    def column(self, j: int) -> np.ndarray:
        """Return the values of one column: booleans, numbers, dates or category codes."""
        return self._take(np.array([j]))[0]

    def block(self, chosen: ColumnBlock, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, in the narrowest type that holds them."""
        return as_block(self._take(np.arange(self.shape[1])[chosen]), self.shape[0], convert)

    def take_rows(self, rows: np.ndarray | slice) -> "SourceColumns":
        """Return some of the rows: the columns are read again, within the same memory."""
        mask = np.zeros(self.shape[0], bool)
        mask[rows] = True
        return SourceColumns(
            self.source.take_rows(mask),
            self.is_nominal,
            accept_infinite=self.accept_infinite,
            executor=self.executor,
        )

    def block_width(self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False) -> int:
        """Return how many of `n_columns` columns are worked on together."""
        in_memory = self.source.memory // _BLOCK_SHARE // self._column_bytes
        return min(super().block_width(n_columns, n_scores), max(1, in_memory))

    @property
    def _column_bytes(self) -> int:
        return max(self.dtype.itemsize, int(self.source.widths.max(initial=1))) * self.shape[0]

    def map(self, problem: Any, work: Work, n_jobs: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield what `Problem.map` does, in as many threads as the memory allows."""
        blocks = self.blocks(work.n_scores, is_dense=work.is_dense, columns=work.columns)
        release = self.workspace.release
        if work.columns is not None:  # read block by block, each when it is needed
            n_threads = self.limit_threads(max(map(len, blocks), default=0), n_jobs)
            yield from work.run(problem, blocks, n_threads, release=release)
            return
        n_threads, edges = plan_pass(self.source, blocks, n_jobs, self.workspace.taken)
        self._ahead = ahead = ReadAhead(self._read_range, edges, is_ahead=self._reads_ahead)
        try:
            yield from work.run(
                problem,
                blocks,
                n_threads,
                release=release,
                unit="blocks of columns",
                n_bytes=_block_bytes(self.source, blocks),
            )
        finally:
            self._ahead = None
            ahead.close()
        self.source.check_unchanged()

    def limit_threads(self, n_columns: int, n_jobs: int | None = None) -> int:
        """Return how many threads may work on `n_columns` columns each, outside of a pass."""
        n_bytes = n_columns * self.shape[0] * self.dtype.itemsize
        return max_threads(self.source, n_bytes, n_jobs, self.workspace.taken)

    def in_groups(self, columns: np.ndarray) -> Iterator[int]:
        """Yield columns, read in groups, each twice as large as the last, held until the next."""
        column_bytes = self.shape[0] * self.dtype.itemsize
        widest = max(1, self.source.memory // (_GROUP_SHARE * column_bytes))
        start, width = 0, 1
        try:
            while start < len(columns):
                group = columns[start : start + width]
                self._held = {}
                self._held = dict(zip(group.tolist(), self._read(group), strict=True))
                yield from group
                start, width = start + width, min(2 * width, widest)
        finally:
            self._held = {}

    def _take(self, columns: np.ndarray) -> list[np.ndarray]:
        """Return columns that are held, read ahead, or read now."""
        if self._held and all(int(j) in self._held for j in columns):
            return [self._held[int(j)] for j in columns]
        ahead = self._ahead
        if ahead is not None and len(columns):
            bounds = int(columns[0]), int(columns[-1]) + 1
            found = ahead.take(*bounds) if is_run(columns) else None
            if found is not None:
                return found
        return self._read(columns)

    def _read_range(self, first: int, stop: int) -> list[np.ndarray]:
        """Read columns that follow each other."""
        return self._read(np.arange(first, stop))

    def _read(self, columns: np.ndarray) -> list[np.ndarray]:
        """Read columns: nominal ones as codes, dates as seconds; warn where values become equal."""
        found, merged = [], []
        for j, values in zip(columns, self.source.read(columns), strict=True):
            if self.is_nominal[j]:
                values = category_codes(values)[1]
            elif not self._is_warned and merges_values(values):
                merged.append(self.source.name_of(int(j)))
            if values.dtype.kind in "mM":
                values = as_floats(values)
            if not self.accept_infinite:
                self._check_finite(j, values)
            found.append(values)
        if merged and not self._is_warned:
            self._is_warned = True
            warn_of_merged(self.source.name, merged, is_all=False)
        return found

    def _check_finite(self, j: int, values: np.ndarray) -> None:
        """Raise for infinite values of a column."""
        # The sum is finite only if all values are, but the sum of finite ones may overflow.
        if values.dtype.kind != "f" or np.isfinite(values.sum(dtype=np.float64)):
            return
        if np.isinf(values).any():
            raise MaucError(
                f"{self.source.name}: column {self.source.name_of(int(j))!r} holds infinite "
                f"values, which this selector does not take; leave the column out, or choose one "
                f"that looks at the order of values, such as MDFS."
            )


class ReadAhead:
    """A pass over stripes of columns, between `edges`: one is worked on while the next is read."""

    def __init__(
        self, read: Callable[[int, int], list[Any]], edges: Sequence[int], *, is_ahead: bool = True
    ) -> None:
        self._read, self._n_ahead = read, int(is_ahead)
        self._edges = np.asarray(edges)
        self._lock = threading.Lock()
        self._stripes: dict[int, Future] = {}
        self._reader = ThreadPoolExecutor(1, "mauc-read")

    def take(self, first: int, stop: int) -> list[Any] | None:
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
                    self._stripes[number] = self._reader.submit(self._read, *bounds)
            waiting = self._stripes[stripe]
        offset = self._edges[stripe]
        return waiting.result()[first - offset : stop - offset]

    def close(self) -> None:
        """Release everything, after the read under way has ended."""
        with self._lock:
            for waiting in self._stripes.values():
                waiting.cancel()
            self._stripes.clear()
        self._reader.shutdown(wait=True, cancel_futures=True)


def least_memory(n_samples: int, block_bytes: int) -> int:
    """Return the bytes that a pass needs at least: labels, a block at work, two stripes of one."""
    return (_LABEL_BYTES + _WORK_BYTES) * n_samples + 3 * block_bytes


def max_threads(source: ColumnSource, block_bytes: int, n_jobs: int | None, held: int = 0) -> int:
    """Return how many threads may work on blocks at once: half of the memory is theirs."""
    n = source.shape[0]
    of_threads = source.memory - _LABEL_BYTES * n - held
    fit = of_threads // (2 * (block_bytes + _WORK_BYTES * n))
    return max(1, min(count_threads(n_jobs), fit))


def plan_pass(
    source: ColumnSource, blocks: Sequence[slice], n_jobs: int | None, held: int = 0
) -> tuple[int, list[int]]:
    """Return how many threads work on a pass, and the edges of its stripes, of whole blocks."""
    n = source.shape[0]
    sizes = _block_bytes(source, blocks)
    largest = max(sizes, default=0)
    # The block of a thread may outlive its stripe. Two stripes are of one block at least.
    of_thread = largest + _WORK_BYTES * n
    fixed = _LABEL_BYTES * n + held
    least = least_memory(n, largest) + held
    if least > source.memory:
        what, further = "one column and the memory to sort it", ""
        if held:
            what = "one column, the memory to sort it and what else is held"
        else:
            further = f", or sketch the AUCs over the rows ({option('PairAUCSketch')})"
        raise NotEnoughMemoryError(
            f"{option('memory')} of {format_bytes(source.memory)} is too little for columns of "
            f"{n:,} rows: {what} take {format_bytes(least)}; allow that much{further}."
        )
    n_threads = max_threads(source, largest, n_jobs, held)
    # Columns of one type lie in one array: the last block of a stripe keeps all of it alive while
    # other threads work on the next.
    n_stripes = 2 if n_threads == 1 else 3
    of_stripes = source.memory - fixed - n_threads * of_thread
    stripe_bytes = min(of_stripes // n_stripes, source.stripe_bytes)
    edges, filled = [0], 0
    for block, n_bytes in zip(blocks, sizes, strict=True):
        if filled and filled + n_bytes > stripe_bytes:
            edges.append(block.start)
            filled = 0
        filled += n_bytes
    return n_threads, [*edges, blocks[-1].stop] if blocks else edges


def _block_bytes(source: ColumnSource, blocks: Sequence[slice]) -> list[int]:
    """Return the bytes of the columns of each block, as they are held."""
    return [source.shape[0] * int(source.widths[block].sum()) for block in blocks]
