"""Columns of X for the kernels: one protocol for arrays, sparse matrices, data frames and sources.

Numbers of every type are read as float64 where kernels do not take their own type; dates and
durations as seconds. A missing value, for dates NaT, is NaN.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from scipy import sparse

from mauc.engine.arrays import read_only
from mauc.memory import Workspace
from mauc.parallel import Work, scratch_array

_NO_SECONDS = ("Y", "M", "generic")  # units of a duration that have no length in seconds

# A block of columns and its copies fit into the second-level cache, and the number of scores of a
# block is limited, for problems with many classes.
_BLOCK_BYTES = 2**20
_BLOCK_SCORES = 2**20
_MAX_WIDTH = 256
# Where X is row-major, columns of one cache line are read at once: read separately, each would
# read the line again. Tall columns limit that, and so do threads: they share few blocks badly.
_LINE_BYTES = 64
_TILE_SIZE = 2**14  # values that are transposed together
_MIN_TILE_ROWS = 64
_CONFLICT_BYTES = 1024  # rows a multiple of this apart compete for the same lines of the cache
_ROW_BLOCK_BYTES = 2**24
_MIN_BLOCKS = 8

_FIRST_ROWS, _FIRST_COLUMNS = 16, 4096  # in which two values are searched first

#: columns that are looked at together: a range, or their numbers
ColumnBlock: TypeAlias = slice | np.ndarray | list[int]


class Columns(ABC):
    """The columns of a table, whatever holds them; a kind implements what is abstract here.

    Columns for kernels are (n_chosen, n_samples), contiguous, read-only, a view where possible.
    """

    shape: tuple[int, int]
    dtype: np.dtype  #: holds the values of all columns
    is_sparse = False
    is_streamed = False  #: columns are read when they are needed
    #: who works on the columns for `Problem.map`, such as a `mauc.cluster.Cluster`; None: they do
    executor: Any = None
    #: wins of all columns on the class pairs, of a sketch, which has no values
    known_wins: np.ndarray | None = None

    @cached_property
    def workspace(self) -> Workspace:
        """Memory for arrays that are made of all columns."""
        return Workspace()

    @abstractmethod
    def block(self, chosen: ColumnBlock, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, converted by a function of this module."""

    @abstractmethod
    def column(self, j: int) -> np.ndarray:
        """Return the values of one column, missing ones as NaN or NaT."""

    @abstractmethod
    def take_rows(self, rows: np.ndarray | slice) -> "Columns":
        """Return some of the rows, by ascending numbers."""

    def replace(self, values: dict[int, np.ndarray]) -> "Columns":
        """Return the columns with others in place of some; zeros that are not stored stay."""
        raise NotImplementedError(f"{type(self).__name__} are read, and never replaced")

    def ordered(self, chosen: ColumnBlock) -> np.ndarray:
        """Return columns of uint8, float32 or float64 whose values have the same order and ties."""
        return self.block(chosen, ordered_columns)

    def floats(self, chosen: ColumnBlock) -> np.ndarray:
        """Return columns of float32 or float64."""
        return self.block(chosen, float_columns)

    def plain(self, chosen: ColumnBlock) -> np.ndarray:
        """Return columns of uint8, float32 or float64 with the values that they have."""
        return self.block(chosen, plain_columns)

    def count_missing(self, chosen: ColumnBlock) -> np.ndarray:
        """Return how many values of each of the chosen columns are missing."""
        return np.isnan(self.floats(chosen)).sum(axis=1)

    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        return all(is_constant(self.column(j)) for j in self.in_groups(np.arange(self.shape[1])))

    def block_width(self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False) -> int:
        """Return how many of `n_columns` columns are worked on together, see `Problem.map`."""
        return _limit_width(min(_BLOCK_BYTES // self._column_bytes, _MAX_WIDTH), n_scores)

    @property
    def _column_bytes(self) -> int:
        return self.dtype.itemsize * self.shape[0]

    def in_groups(self, columns: np.ndarray) -> Iterator[int]:
        """Yield columns that are looked at one by one, possibly only the first of them."""
        yield from columns

    def blocks(
        self, n_scores: int = 1, *, is_dense: bool = False, columns: np.ndarray | None = None
    ) -> list[Any]:
        """Return blocks of all columns as slices, or of some as arrays of positions in `columns`.

        There are `n_scores` of a column. Blocks do not depend on the threads.
        """
        n = self.shape[1] if columns is None else len(columns)
        width = self.block_width(n, n_scores, is_dense=is_dense)
        blocks = [slice(start, min(start + width, n)) for start in range(0, n, width)]
        if columns is None:
            return blocks
        order = np.argsort(columns, kind="stable")  # neighbours are read together
        return [order[block] for block in blocks]

    def map(self, problem: Any, work: Work, n_jobs: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield what `Problem.map` does, in threads of this process."""
        blocks = self.blocks(work.n_scores, is_dense=work.is_dense, columns=work.columns)
        return work.run(problem, blocks, n_jobs)


def _limit_width(width: int, n_scores: int) -> int:
    """Return the width of a block, less where its columns have many scores, at least 1."""
    return max(1, min(width, _BLOCK_SCORES // n_scores))


class DenseColumns(Columns):
    """The columns of an array of any numeric type and memory order."""

    def __init__(self, array: np.ndarray) -> None:
        self.array: np.ndarray = array
        self.shape: tuple[int, int] = array.shape
        self.dtype: np.dtype = array.dtype
        self._is_row_major = is_row_major(array)

    def block(self, chosen: ColumnBlock, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, converted by a function of this module."""
        if isinstance(chosen, slice):
            return convert(self.array[:, chosen].T)
        return convert(take_columns(self.array, chosen))

    def column(self, j: int) -> np.ndarray:
        """Return the values of one column."""
        return self.array[:, j]

    def take_rows(self, rows: np.ndarray | slice) -> "DenseColumns":
        """Return some of the rows."""
        return DenseColumns(self.array[rows])

    def replace(self, values: dict[int, np.ndarray]) -> "DenseColumns":
        """Return the columns with others in place of some."""
        array = self.array.copy("K")
        for j, column in values.items():
            array[:, j] = column
        return DenseColumns(array)

    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        first = self.array[:_FIRST_ROWS, :_FIRST_COLUMNS]  # usually they differ
        if (np.fmin.reduce(first) < np.fmax.reduce(first)).any():
            return False
        return super().is_constant()

    def block_width(self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False) -> int:
        """Return how many of `n_columns` columns are worked on together."""
        if not self._is_row_major:
            return super().block_width(n_columns, n_scores)
        in_line = min(_LINE_BYTES // self.dtype.itemsize, _ROW_BLOCK_BYTES // self._column_bytes)
        width = min(_BLOCK_BYTES // self._column_bytes, _MAX_WIDTH)
        return _limit_width(max(width, min(in_line, n_columns // _MIN_BLOCKS)), n_scores)


class SparseColumns(Columns):
    """The columns of a sparse matrix, filled where kernels do not take its `entries`."""

    is_sparse = True

    def __init__(self, matrix: sparse.sparray) -> None:
        self.matrix: Any = sparse.csc_array(matrix, copy=not matrix.has_canonical_format)
        self.matrix.sum_duplicates()
        self.shape: tuple[int, int] = self.matrix.shape
        self.dtype: np.dtype = self.matrix.dtype

    def block(self, chosen: ColumnBlock, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, converted by a function of this module."""
        return convert(self.matrix[:, chosen].toarray().T)

    def column(self, j: int) -> np.ndarray:
        """Return the values of one column."""
        return self.matrix[:, [j]].toarray()[:, 0]

    def take_rows(self, rows: np.ndarray | slice) -> "SparseColumns":
        """Return some of the rows."""
        part = self.matrix[rows]
        part.sort_indices()
        return SparseColumns(part)

    def replace(self, values: dict[int, np.ndarray]) -> "SparseColumns":
        """Return the columns with others in place of some; zeros that are not stored stay."""
        matrix = self.matrix.copy()
        for j, column in values.items():
            stored = slice(matrix.indptr[j], matrix.indptr[j + 1])
            matrix.data[stored] = column[matrix.indices[stored]]
        return SparseColumns(matrix)

    def entries(self, chosen: ColumnBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return data, int32 indices and int64 indptr of columns; the order of values is kept."""
        part = self.matrix[:, chosen]
        return (
            read_only(part.data.astype(np.float64)),
            read_only(np.ascontiguousarray(part.indices, dtype=np.int32)),
            read_only(np.ascontiguousarray(part.indptr, dtype=np.int64)),
        )

    def count_missing(self, chosen: ColumnBlock) -> np.ndarray:
        """Return how many values of each of the chosen columns are missing."""
        part = self.matrix[:, chosen]
        columns = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
        return np.bincount(columns[part.data != part.data], minlength=part.shape[1])

    def is_constant(self) -> bool:
        """Whether no column has more than one known value; zeros are not stored."""
        starts, n_samples = self.matrix.indptr, self.shape[0]
        for start, stop in pairwise(starts):
            stored = self.matrix.data[start:stop]
            known = stored[stored == stored]
            only = known[0] if len(known) and len(stored) == n_samples else 0
            if (known != only).any():
                return False
        return True

    def block_width(self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False) -> int:
        """Return how many of `n_columns` columns are worked on together."""
        if is_dense:
            return super().block_width(n_columns, n_scores)
        return _limit_width(_MAX_WIDTH, n_scores)


def is_frame(X: object) -> TypeGuard[Any]:
    """Whether X is a data frame, of pandas or polars."""
    kind = type(X)  # the types of many columns take long
    return hasattr(kind, "columns") and hasattr(kind, "dtypes")


def is_polars(frame: object) -> bool:
    """Whether a data frame is one of polars, not of pandas."""
    return hasattr(frame, "with_columns")


def default_names(columns: Iterable[int]) -> list[str]:
    """Return the names of columns that have none, by their numbers: "x0", "x1", ..."""
    return [f"x{j}" for j in columns]


def is_constant(values: np.ndarray) -> bool:
    """Whether a column has at most one known value."""
    known = values[values == values]
    return len(known) == 0 or bool((known == known[0]).all())


def ordered_columns(XT: np.ndarray) -> np.ndarray:
    """Convert columns to uint8, float32 or float64; the order and ties of their values are kept.

    The result may be of `mauc.parallel.scratch_array`: the next columns take its place.
    """
    XT = contiguous_columns(XT, is_scratch=True)  # conversion then reads neighbours
    dtype = XT.dtype
    if dtype.char in "Bfd":  # uint8, float32 and float64 are what kernels take
        return XT
    if dtype == np.bool_:
        XT = XT.view(np.uint8)
    elif dtype == np.int8:
        XT = XT.astype(np.int16) + np.int16(128)
        XT = XT.astype(np.uint8)
    elif dtype in (np.float16, np.int16, np.uint16):
        XT = XT.astype(np.float32)  # 24 bits hold all 16-bit integers
    else:
        XT = XT.astype(np.float64)
    return read_only(XT)


def plain_columns(XT: np.ndarray) -> np.ndarray:
    """Convert columns to uint8, float32 or float64, whose values are kept where doubles hold them.

    The result may be of `mauc.parallel.scratch_array`: the next columns take its place.
    """
    XT = XT.view(np.uint8) if XT.dtype == np.bool_ else XT
    return contiguous_columns(XT, is_scratch=True) if XT.dtype.char in "Bfd" else float_columns(XT)


def float_columns(XT: np.ndarray) -> np.ndarray:
    """Convert columns to float32 or float64."""
    XT = contiguous_columns(XT)
    if XT.dtype.char in "fd":
        return XT
    return read_only(XT.astype(np.float32 if XT.dtype.itemsize <= 2 else np.float64))


def as_floats(values: np.ndarray) -> np.ndarray:
    """Return values as float64: dates in seconds since 1970, durations in seconds, NaN for NaT.

    It depends on the value alone, not on the others of its column or on their unit.
    """
    if values.dtype.kind not in "mM":
        return values.astype(np.float64)
    unit = np.datetime_data(values.dtype)[0]
    if values.dtype.kind == "M":
        if unit in _NO_SECONDS:  # a month of a date has a first second
            values = values.astype("datetime64[s]")
        values = values - np.datetime64(0, "s")
    elif unit in _NO_SECONDS:
        return np.where(np.isnat(values), np.nan, values.view(np.int64))
    second, whole = np.timedelta64(1, "s"), values.astype("timedelta64[s]")
    return whole / second + (values - whole) / second  # float64 does not hold all nanoseconds


def with_missing(values: np.ndarray, is_missing: np.ndarray) -> np.ndarray:
    """Return numbers as floats with NaN where they are missing."""
    kept = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
    kept[is_missing] = np.nan
    return kept


def is_row_major(X: np.ndarray) -> bool:
    """Whether the values of a row of an array are closer in memory than those of a column."""
    return X.ndim == 2 and abs(X.strides[1]) < abs(X.strides[0])


def take_columns(X: np.ndarray, chosen: ColumnBlock) -> np.ndarray:
    """Return columns of an array as rows: a view for a slice and for neighbours in their order."""
    if isinstance(chosen, slice):
        return X[:, chosen].T
    columns = np.asarray(chosen)
    if len(columns) == 0:
        return X[:, :0].T
    runs = np.split(columns, np.flatnonzero(np.diff(columns) != 1) + 1)
    parts = [X[:, run[0] : run[-1] + 1].T for run in runs]
    if len(parts) == 1:
        return parts[0]
    out = np.empty((len(columns), X.shape[0]), X.dtype)
    start = 0
    for part in parts:
        _copy_columns(part, out[start : start + len(part)])
        start += len(part)
    return out


def contiguous_columns(XT: np.ndarray, *, is_scratch: bool = False) -> np.ndarray:
    """Return columns as contiguous read-only rows: a view, or a copy (scratch if `is_scratch`)."""
    if XT.flags.c_contiguous or not is_row_major(XT.T) or not XT.dtype.isnative:
        return read_only(np.ascontiguousarray(XT, dtype=XT.dtype.newbyteorder("=")))
    make = partial(scratch_array, "columns") if is_scratch else np.empty
    out = make(XT.shape, XT.dtype)
    _copy_columns(XT, out)
    return read_only(out)


def _copy_columns(XT: np.ndarray, out: np.ndarray) -> None:
    """Copy columns into the rows of `out`, in tiles of rows that fit into the cache."""
    n_columns, n_samples = XT.shape
    if not is_row_major(XT.T):
        out[:] = XT
        return
    n_rows = max(_TILE_SIZE // max(1, n_columns), _MIN_TILE_ROWS)
    has_conflicts = XT.strides[1] % _CONFLICT_BYTES == 0
    padding = _LINE_BYTES // XT.itemsize
    tile = np.empty((n_rows, n_columns + padding), XT.dtype)[:, :n_columns].T
    for start in range(0, n_samples, n_rows):
        part = XT[:, start : start + n_rows]
        if has_conflicts:
            tile = tile[:, : part.shape[1]]
            tile[:] = part
            part = tile
        out[:, start : start + n_rows] = part
