"""Arrays for the kernels: read-only columns, aligned rows, v log v, weights; numbers of pairs."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mauc.compile import njit, njit_part
from mauc.parallel import scratch_array

_TILE_SIZE = 2**14  # values that are transposed together
_MIN_TILE_ROWS = 64
_CONFLICT_BYTES = 1024  # rows a multiple of this apart compete for the same lines of the cache
_LINE_BYTES = 64
LANES = 16  # classes that the engine counts at once
LN2 = math.log(2.0)
_CHUNK = 1 << 16  # entries rounded at once: a long table is not copied whole
_MAX_COUNT = 2**53  # up to which doubles hold all whole numbers
_WEIGHT_BITS = 44  # of a total of weights that are not whole
SHORT = 1 << 12  # entries that Python computes in less time than the loop takes to compile


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    # A view has a flag of its own; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def n_pairs_of(n_classes: int) -> int:
    """Return the number of class pairs, c (c - 1) / 2."""
    return n_classes * (n_classes - 1) // 2


def pair_index(i: int, j: int, n_classes: int) -> int:
    """Return the index of the pair i < j in the order (0, 1), (0, 2), ..., (c-2, c-1)."""
    return i * (2 * n_classes - i - 1) // 2 + j - i - 1


def is_row_major(X: np.ndarray) -> bool:
    """Whether the values of a row of an array are closer in memory than those of a column."""
    return X.ndim == 2 and abs(X.strides[1]) < abs(X.strides[0])


def take_columns(X: np.ndarray, chosen: Any) -> np.ndarray:
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


def _copy_columns(XT, out):
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


def padded_length(n_classes: int) -> int:
    """Return the smallest multiple of LANES that is not below `n_classes`."""
    return -(-n_classes // LANES) * LANES


def aligned_rows(n_rows: int, length: int, dtype: Any = np.uint32) -> np.ndarray:
    """Return zeroed rows that start on a cache line: no access straddles two lines."""
    itemsize = np.dtype(dtype).itemsize
    n_extra = _LINE_BYTES // itemsize
    raw = np.zeros(n_rows * length + n_extra, dtype)
    skip = -(raw.ctypes.data // itemsize) % n_extra
    return raw[skip : skip + n_rows * length].reshape(n_rows, length)


def log_table(n: int, ln_base: Any) -> tuple[Any, np.ndarray, float]:
    """Tabulate L(v) = v ln v / ln_base for v = 0..n; `ln_base` is 1.0 for nats, `LN2` for bits.

    Returns L as float64, L times `unit` rounded to int64, sums of which are exact and so the same
    in every order, and `unit`, the largest power of two for which four terms stay below 2**63.
    """
    logs = np.zeros(n + 1)
    # NumPy's logarithm may differ in the last bit from that of the kernels; Python's does not.
    if n < SHORT:
        logs[2:] = [v * math.log(v) for v in range(2, n + 1)]
    else:
        fill_logs(logs)
    logs /= ln_base
    unit = _log_unit(logs[n])
    fixed = np.empty(n + 1, np.int64)
    for start in range(0, n + 1, _CHUNK):
        part = slice(start, start + _CHUNK)
        fixed[part] = np.rint(logs[part] * unit)
    return logs, fixed, unit


def _log_unit(largest):
    return 2.0 ** math.floor(60.0 - math.log2(max(largest, 1.0)))


class RowCounts(NamedTuple):
    """How rows are counted, in whole numbers whose sums are exact, and L of a count, in nats."""

    logs: np.ndarray | None  #: this, the next and `unit` as of `log_table`; None with weights
    fixed: np.ndarray | None
    unit: float
    n: int  #: the sum of all counts
    weights: np.ndarray | None = None  #: (n_samples,), int64; None: every row counts 1
    step: float = 1.0  #: rows that a weight of 1 stands for

    def fixed_logs(self, counts: np.ndarray) -> np.ndarray:
        """Return what kernels get by `fixed_log`."""
        if self.fixed is not None:
            return self.fixed[counts]
        # Python's logarithm is that of the kernels.
        found = [round(v * math.log(v) * self.unit) if v else 0 for v in counts.ravel().tolist()]
        return np.array(found, np.int64).reshape(counts.shape)


def count_rows(n_samples: int, weights: np.ndarray | None = None) -> RowCounts:
    """Return how to count rows whose weights are numbers of rows, or those of a unit."""
    if weights is None:
        logs, fixed, unit = log_table(n_samples, 1.0)
        return RowCounts(logs, fixed, unit, n_samples)
    total, smallest = math.fsum(weights), float(weights[weights > 0].min())
    # Whole numbers are kept, multiples of the smallest weight counted: what is equal stays so.
    step = next((unit for unit in (1.0, smallest) if _are_multiples(weights, unit, total)), None)
    step = step or math.ldexp(1.0, math.frexp(total)[1] - _WEIGHT_BITS)
    units = np.maximum(np.rint(weights / step), weights > 0).astype(np.int64)
    n = int(units.sum())
    return RowCounts(None, None, _log_unit(n * math.log(n)), n, units, step)


def _are_multiples(weights, unit, total):
    """Whether weights are multiples of a unit, to rounding of divisions, and their sums exact."""
    return total / unit < _MAX_COUNT and bool(
        (np.abs(weights - np.rint(weights / unit) * unit) <= 2.0**-50 * weights).all()
    )


@njit_part
def log_of(logs, count):
    """Return L of a count; without a table (None) it is computed."""
    if logs is None:
        return count * math.log(count) if count > 0 else 0.0
    return logs[count]


@njit_part
def fixed_log(fixed, count, unit):
    """Return L of a count in fixed point; without a table (None) it is computed."""
    if fixed is None:
        return np.int64(np.rint(log_of(fixed, count) * unit))
    return fixed[count]


@njit(cache=True, nogil=True)
def fill_logs(logs):
    """Fill v ln v."""
    for v in range(2, logs.shape[0]):
        logs[v] = v * math.log(v)
