"""Lay columns out as kernels read them: one after the other, contiguous, read-only."""

import numpy as np
from numba import njit, uintp

_TILE = 32  # rows that are turned together: their cache lines stay in the first-level cache
_TYPES = (np.uint8, np.float32, np.float64)


def read_only(array):
    """Return a read-only view."""
    # A view, so that the flag is ours; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def contiguous_columns(XT):
    """Return columns as a contiguous, read-only array of native byte order.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        With any strides.

    Returns
    -------
    XT : ndarray of shape (n_features, n_samples)
        A view if it can be one.
    """
    is_by_rows = XT.T.flags.aligned and XT.strides[0] == XT.itemsize and XT.shape[0] > 1
    if XT.flags.c_contiguous or not is_by_rows or XT.dtype not in _TYPES:
        return read_only(np.ascontiguousarray(XT, dtype=XT.dtype.newbyteorder("=")))
    out = np.empty(XT.shape, XT.dtype)
    copy_transposed(read_only(XT.T), out)
    return read_only(out)


@njit(cache=True, nogil=True)
def copy_transposed(X, out):
    """Fill the rows of `out` with the columns of `X`, tile by tile."""
    n = X.shape[0]
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        for j in range(uintp(X.shape[1])):
            for i in range(uintp(start), uintp(stop)):
                out[j, i] = X[i, j]
