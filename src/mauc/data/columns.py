"""Columns of X for the kernels: one protocol for arrays, sparse matrices, data frames and sources.

Some values are wide: float64 does not hold them. Such are whole numbers beyond 2**53, dates and
durations, which count nanoseconds, and extended precision. What looks at the order of values alone
takes their ranks. Everything else that selectors compute stays the same if a column is shifted or
scaled, so it takes the differences to the lowest value, without a factor that all of them share:
float64 holds these in all but rare cases. A missing value, for dates NaT, is NaN.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mauc.engine.arrays import contiguous_columns, is_row_major, read_only, take_columns
from mauc.memory import Workspace
from mauc.parallel import run_blocks

MAX_EXACT_INTEGER = 2**53  # up to which float64 holds all whole numbers
_MAX_EXPONENT = 500  # of two, in differences whose squares are ordinary numbers
_NO_SECONDS = ("Y", "M", "generic")  # units of a duration that have no length in seconds

# A block of columns and its copies fit into the second-level cache, and the number of scores of a
# block is limited, for problems with many classes.
_BLOCK_BYTES = 2**20
_BLOCK_SCORES = 2**20
_MAX_WIDTH = 256
# Where X is row-major, columns of one cache line are read at once: read separately, each would
# read the line again. Tall columns limit that, and so do threads: they share few blocks badly.
_LINE_BYTES = 64
_ROW_BLOCK_BYTES = 2**24
_MIN_BLOCKS = 8
_ROW_CELLS = 2**23
_STRINGS = 2**16  # that are Python objects at the same time
_MIN_TABLE = 2**16  # entries that a table of counts may have, however few the values are

_FIRST_ROWS, _FIRST_COLUMNS = 16, 4096  # in which two values are searched first


class Columns(ABC):
    """The columns of a table, whatever holds them; a kind implements what is abstract here.

    Columns for kernels are (n_chosen, n_samples), contiguous, read-only, a view where possible.
    """

    shape: tuple[int, int]
    dtype: np.dtype  #: holds the values of all columns
    is_sparse = False
    is_streamed = False  #: columns are read when they are needed
    cluster: Any = None  #: the `mauc.cluster.Cluster` whose workers read the columns
    row_major: np.ndarray | None = None  #: the table, where its rows are read faster than columns
    #: wins of all columns on the class pairs, of a sketch, which has no values
    known_wins: np.ndarray | None = None

    @cached_property
    def workspace(self) -> Workspace:
        """Memory for arrays that are made of all columns."""
        return Workspace()

    @abstractmethod
    def block(self, chosen: Any, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, converted by a function of this module."""

    @abstractmethod
    def column(self, j: int) -> np.ndarray:
        """Return the values of one column, missing ones as NaN or NaT."""

    @abstractmethod
    def take_rows(self, rows: np.ndarray) -> "Columns":
        """Return some of the rows, by ascending numbers."""

    def ordered(self, chosen: Any) -> np.ndarray:
        """Return columns of uint8, float32 or float64 whose values have the same order and ties."""
        return self.block(chosen, ordered_columns)

    def floats(self, chosen: Any) -> np.ndarray:
        """Return columns of float32 or float64 in any unit."""
        return self.block(chosen, float_columns)

    def values(self, chosen: Any) -> np.ndarray:
        """Return columns of float32 or float64 in their unit."""
        return self.block(chosen, value_columns)

    def count_missing(self, chosen: Any) -> np.ndarray:
        """Return how many values of each of the chosen columns are missing."""
        return np.isnan(self.values(chosen)).sum(axis=1)

    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        return all(is_constant(self.column(j)) for j in self.in_groups(np.arange(self.shape[1])))

    def block_width(
        self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False, reads_rows: bool = False
    ) -> int:
        """Return how many of `n_columns` columns are worked on together, see `Problem.blocks`."""
        return _limit_width(min(_BLOCK_BYTES // self._column_bytes, _MAX_WIDTH), n_scores)

    @property
    def _column_bytes(self):
        return self.dtype.itemsize * self.shape[0]

    def in_groups(self, columns: np.ndarray) -> Iterator[int]:
        """Yield columns that are looked at one by one, possibly only the first of them."""
        yield from columns

    def run_blocks(
        self, function: Callable[[slice], Any], blocks: Sequence[slice], n_jobs: int | None = None
    ) -> Iterator[tuple[slice, Any]]:
        """Yield ``(block, function(block))`` in order, in threads."""
        return run_blocks(function, blocks, n_jobs)

    def limit_threads(self, n_columns: int, n_jobs: int | None = None) -> int | None:
        """Return `n_jobs`, or less where the memory does not allow that many blocks at once."""
        return n_jobs


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

    @cached_property
    def row_major(self) -> np.ndarray | None:  # type: ignore[override]
        """The array, where its rows are read faster than columns and float64 holds its values."""
        return self.array if self._is_row_major and not is_wide(self.array) else None

    def block(self, chosen: Any, convert: Any) -> Any:
        """Return chosen columns as rows of an array, converted by a function of this module."""
        if isinstance(chosen, slice):
            return convert(self.array[:, chosen].T)
        return convert(take_columns(self.array, chosen))

    def column(self, j: int) -> np.ndarray:
        """Return the values of one column."""
        return self.array[:, j]

    def take_rows(self, rows: Any) -> "DenseColumns":
        """Return some of the rows."""
        return DenseColumns(self.array[rows])

    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        first = self.array[:_FIRST_ROWS, :_FIRST_COLUMNS]  # usually they differ
        if (np.fmin.reduce(first) < np.fmax.reduce(first)).any():
            return False
        return super().is_constant()

    def block_width(
        self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False, reads_rows: bool = False
    ) -> int:
        """Return how many of `n_columns` columns are worked on together."""
        if not self._is_row_major:
            return super().block_width(n_columns, n_scores)
        if reads_rows:
            # Pieces of rows are read slower than rows; threads need them where there is much to do.
            n_pieces = min(4, 1 + n_columns * self.shape[0] // _ROW_CELLS)
            return _limit_width(min(max(n_columns // n_pieces, 16), 512), n_scores)
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

    def block(self, chosen: Any, convert: Any) -> Any:
        """Return chosen columns as rows of an array, converted by a function of this module."""
        return convert(self.matrix[:, chosen].toarray().T)

    def column(self, j: int) -> Any:
        """Return the values of one column."""
        return self.matrix[:, [j]].toarray()[:, 0]

    def take_rows(self, rows: Any) -> "SparseColumns":
        """Return some of the rows."""
        part = self.matrix[rows]
        part.sort_indices()
        return SparseColumns(part)

    def entries(self, chosen: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return data, int32 indices and int64 indptr of columns; the order of values is kept."""
        part = self.matrix[:, chosen]
        return (
            read_only(ordered_entries(part.data)),
            read_only(np.ascontiguousarray(part.indices, dtype=np.int32)),
            read_only(np.ascontiguousarray(part.indptr, dtype=np.int64)),
        )

    def count_missing(self, chosen: Any) -> np.ndarray:
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

    def block_width(
        self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False, reads_rows: bool = False
    ) -> int:
        """Return how many of `n_columns` columns are worked on together."""
        if is_dense:
            return super().block_width(n_columns, n_scores)
        return _limit_width(_MAX_WIDTH, n_scores)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame, of pandas or polars."""
    kind = type(X)  # the types of many columns take long
    return hasattr(kind, "columns") and hasattr(kind, "dtypes")


def is_polars(frame: Any) -> bool:
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
    elif may_be_wide(dtype):
        XT = _convert_wide(XT, rank_wide)
    else:
        XT = XT.astype(np.float64)
    return read_only(XT)


def float_columns(XT: np.ndarray) -> np.ndarray:
    """Convert columns to float32 or float64; wide ones are shifted and scaled."""
    XT = contiguous_columns(XT)
    if XT.dtype.char not in "fd" and may_be_wide(XT.dtype):
        return read_only(_convert_wide(XT, scale_wide))
    return _as_floats(XT)


def value_columns(XT: np.ndarray) -> np.ndarray:
    """Convert columns to float32 or float64 in their units; wide ones are rounded."""
    return _as_floats(contiguous_columns(XT))


def _as_floats(XT):
    if XT.dtype.char in "fd":
        return XT
    is_narrow = XT.dtype.itemsize <= 2 and XT.dtype.kind in "iubf"
    return read_only(XT.astype(np.float32) if is_narrow else as_floats(XT))


def ordered_entries(data: np.ndarray) -> np.ndarray:
    """Return the entries of a sparse matrix as float64; their order, with zero, is kept."""
    if not is_wide(data):
        return data.astype(np.float64)
    levels = np.unique(data[data == data])
    if 0 not in levels:
        levels = np.insert(levels, np.searchsorted(levels, 0), 0)
    ranks = np.searchsorted(levels, data) - float(np.searchsorted(levels, 0))
    return np.where(data == data, ranks, np.nan)


def _convert_wide(XT, convert):
    """Return columns as float64; those that it does not hold are converted one by one."""
    if not is_wide(XT):
        return XT.astype(np.float64)
    out = np.empty(XT.shape)
    for column, values in zip(XT, out, strict=True):
        values[:] = convert(column) if is_wide(column) else column
    return out


def may_be_wide(dtype: np.dtype) -> bool:
    """Whether there are values of a numeric type that float64 does not hold."""
    return dtype.kind in "mM" or (dtype.kind in "iu" and dtype.itemsize == 8) or dtype.itemsize > 8


def is_wide(values: np.ndarray) -> bool:
    """Whether float64 does not hold all values of an array; dates and durations always count."""
    if values.dtype.kind in "mM":
        return True
    if not may_be_wide(values.dtype) or values.size == 0:
        return False
    if values.dtype.kind in "iu":
        return bool(values.max() > MAX_EXACT_INTEGER or values.min() < -MAX_EXACT_INTEGER)
    with np.errstate(over="ignore"):
        held = values.astype(np.float64)
    return bool(((held != values) & (values == values)).any())


def rank_wide(column: np.ndarray) -> np.ndarray:
    """Return the rank of every value among the distinct values of its column, NaN where missing."""
    is_known = column == column
    ranks = np.full(len(column), np.nan)
    ranks[is_known] = np.unique(_ticks(column[is_known]), return_inverse=True)[1]
    return ranks


def scale_wide(column: np.ndarray) -> np.ndarray:
    """Return a column shifted and scaled so that float64 holds it, to 2**-53 of its range."""
    is_known = column == column
    scaled = np.full(len(column), np.nan)
    known = _ticks(column[is_known])
    if len(known) == 0:
        return scaled
    difference = known - known.min()
    if difference.dtype.kind in "iu":
        difference = difference.view(np.uint64)  # it may exceed the largest int64
        scaled[is_known] = difference // max(np.gcd.reduce(difference), np.uint64(1))
    else:
        exponent = int(np.frexp(difference.max())[1])
        if abs(exponent) > _MAX_EXPONENT:
            difference = np.ldexp(difference, -exponent)
        scaled[is_known] = difference
    return scaled


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
    """Return numbers with NaN where they are missing, in a type that keeps the others exactly.

    Wide integers are timedelta64 without a unit, which has a missing value, or extended precision.
    """
    if not is_wide(values[~is_missing]) or values.dtype.kind == "f":
        kept = values.astype(np.float64 if values.dtype.kind != "f" else values.dtype)
        kept[is_missing] = np.nan
        return kept
    if values[~is_missing].max() > np.iinfo(np.int64).max:
        return np.where(is_missing, np.longdouble(np.nan), values)
    ticks = values.astype(np.int64).view("timedelta64")
    ticks[is_missing] = np.timedelta64("NaT")
    return ticks


def _ticks(known):
    """Return known dates and durations as whole numbers, and numbers as they are."""
    return known.view(np.int64) if known.dtype.kind in "mM" else known


def missing_mask(values: Any) -> np.ndarray:
    """Return which entries of an array are None, NaN, NaT or pandas' NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O" or holds_strings(values):
        return np.zeros(values.shape, bool)
    return np.array([_is_missing(value) for value in values], bool)


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:  # comparing NA gives NA, which has no truth value
        return True


def factorize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted distinct values, the code of each value (int32), and their counts."""
    found = factorize_linear(values)
    if found is None:
        distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        found = distinct, codes.astype(np.int32), counts.astype(np.int64)
    return found


def factorize_linear(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the result of `factorize` in linear time, or None where the values must be sorted."""
    if values.ndim != 1 or len(values) == 0:
        return None
    kind = values.dtype.kind
    if kind == "b":
        distinct, codes, counts = _whole_numbers(values.view(np.uint8))
        return distinct.astype(np.bool_), codes, counts
    if kind in "iu":
        return _whole_numbers(values)
    if kind == "f":
        return _whole_floats(values)
    return _strings(values) if kind == "U" or (kind == "O" and holds_strings(values)) else None


def holds_strings(values: Any) -> bool:
    """Whether every entry of an array of objects is a string."""
    return set(map(type, values.tolist())) == {str}


def _whole_numbers(values):
    low, high = int(values.min()), int(values.max())
    if high - low >= max(_MIN_TABLE, len(values)):
        return None
    wide = np.uint64 if values.dtype == np.uint64 else np.int64
    offsets = (values.astype(wide, copy=False) - wide(low)).astype(np.intp, copy=False)
    counts = np.bincount(offsets)
    present = np.flatnonzero(counts)
    code = np.zeros(len(counts), np.int32)
    code[present] = np.arange(len(present))
    distinct = (present.astype(wide) + wide(low)).astype(values.dtype)
    return distinct, code[offsets], counts[present].astype(np.int64)


def _whole_floats(values):
    low, high = values.min(), values.max()  # NaN if there is one
    if not -MAX_EXACT_INTEGER <= low <= high <= MAX_EXACT_INTEGER or high - low >= max(
        _MIN_TABLE, len(values)
    ):
        return None
    whole = values.astype(np.int64)
    if (whole != values).any():
        return None
    distinct, codes, counts = _whole_numbers(whole)
    return distinct.astype(values.dtype), codes, counts


def _strings(values):
    code_of, codes = {}, np.empty(len(values), np.int32)
    for start in range(0, len(values), _STRINGS):
        items = values[start : start + _STRINGS].tolist()
        for value in dict.fromkeys(items):
            code_of.setdefault(value, len(code_of))
        found = np.fromiter(map(code_of.__getitem__, items), np.int32, len(items))
        codes[start : start + _STRINGS] = found
    distinct = sorted(code_of)
    place = np.empty(len(distinct), np.int32)
    place[[code_of[value] for value in distinct]] = np.arange(len(distinct))
    codes = place[codes]
    return np.array(distinct, dtype=values.dtype), codes, np.bincount(codes).astype(np.int64)
