"""Contiguous, read-only columns for the kernels, and the numbering of class pairs."""

from functools import partial

import numpy as np

from mauc.parallel import scratch_array

_TILE_SIZE = 2**14  # values that are transposed together
_MIN_TILE_ROWS = 64
_CONFLICT_BYTES = 1024  # rows a multiple of this apart compete for the same lines of the cache
_LINE_BYTES = 64


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    # A view has a flag of its own; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def n_pairs_of(n_classes: int) -> int:
    """Return the number of class pairs, c (c - 1) / 2."""
    return n_classes * (n_classes - 1) // 2


def pair_index(i, j, n_classes):
    """Return the index of the pair i < j in the order (0, 1), (0, 2), ..., (c-2, c-1)."""
    return i * (2 * n_classes - i - 1) // 2 + j - i - 1


def is_row_major(X: np.ndarray) -> bool:
    """Whether the values of a row of an array are closer in memory than those of a column."""
    return X.ndim == 2 and abs(X.strides[1]) < abs(X.strides[0])


def take_columns(X: np.ndarray, chosen) -> np.ndarray:
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


def contiguous_columns(XT: np.ndarray, *, is_scratch=False) -> np.ndarray:
    """Return columns, one per row, as a contiguous read-only array of native byte order.

    It is a view if it can be one; otherwise a copy, of `scratch_array` where it is needed for the
    block at hand only (`is_scratch`).
    """
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
