"""Convert columns to the types that the kernels take: any dtype and layout in, one of three out."""

from functools import partial

import numpy as np
from numba import njit, uintp

from mauc.parallel import scratch_array
from mauc.problem.wide_columns import as_floats, is_wide, may_be_wide, rank_wide, scale_wide

_TILE = 64  # rows that are transposed together: their cache lines stay in the first-level cache
SMALL_SIZE = 2**20  # values of a table for which no loop of its own is worth compiling
_WORDS = {1: np.uint8, 4: np.float32, 8: np.float64}  # types that are compiled anyway, by bytes


def ordered_columns(XT):
    """Convert columns to one of three types; the order and ties of their values are kept.

    AUCs depend on nothing else; kernels that need the values take `float_columns`.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        Of any numeric type.

    Returns
    -------
    XT : ndarray of shape (n_features, n_samples), uint8, float32 or float64
        Contiguous and read-only; a view of the input where it can be one, or of
        `mauc.parallel.scratch_array`: the next columns take its place.
    """
    XT = contiguous_columns(XT, is_scratch=True)  # conversion then reads neighbours
    dtype = XT.dtype
    if dtype == np.bool_:
        XT = XT.view(np.uint8)
    elif dtype == np.int8:
        XT = XT.astype(np.int16) + np.int16(128)
        XT = XT.astype(np.uint8)
    elif dtype in (np.float16, np.int16, np.uint16):
        XT = XT.astype(np.float32)  # 24 bits hold all 16-bit integers
    elif dtype.kind in "iu" and dtype.itemsize == 4:
        XT = XT.astype(np.float64)
    elif may_be_wide(dtype):
        XT = _convert_wide(XT, rank_wide)
    elif dtype not in (np.uint8, np.float32, np.float64):
        XT = XT.astype(np.float64)
    return read_only(XT)


def float_columns(XT):
    """Convert columns to float32 or float64, contiguous and read-only.

    The values are kept; columns that float64 does not hold are shifted and scaled, see
    `mauc.problem.wide_columns`. Kernels that need the units take `value_columns`.
    """
    XT = contiguous_columns(XT)
    if may_be_wide(XT.dtype):
        return read_only(_convert_wide(XT, scale_wide))
    return _as_floats(XT)


def value_columns(XT):
    """Convert columns to float32 or float64, contiguous and read-only; dates become seconds.

    The units are kept, of columns that float64 does not hold as well: their values are rounded.
    """
    return _as_floats(contiguous_columns(XT))


def _as_floats(XT):
    if XT.dtype not in (np.float32, np.float64):
        is_narrow = XT.dtype.itemsize <= 2 and XT.dtype.kind in "iubf"
        XT = XT.astype(np.float32) if is_narrow else as_floats(XT)
    return read_only(XT)


def ordered_entries(data):
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


def is_frame(X):
    """Whether X is a data frame, of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def read_only(array):
    """Return a read-only view."""
    # A view has a flag of its own; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def take_columns(X, chosen):
    """Return columns of an array as rows: a view for a slice and for neighbours in their order.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    chosen : slice or sequence of int

    Returns
    -------
    XT : ndarray of shape (n_chosen, n_samples)
    """
    if isinstance(chosen, slice):
        return X[:, chosen].T
    places = np.asarray(chosen)
    if len(places) == 0:
        return X[:, :0].T
    runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
    parts = [X[:, run[0] : run[-1] + 1].T for run in runs]
    if len(parts) == 1:
        return parts[0]
    out = np.empty((len(places), X.shape[0]), X.dtype)
    start = 0
    for part in parts:
        _copy_columns(part, out[start : start + len(part)])
        start += len(part)
    return out


def contiguous_columns(XT, *, is_scratch=False):
    """Return columns as a contiguous, read-only array of native byte order.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        With any strides.
    is_scratch : bool, default=False
        Whether a copy is needed for the block at hand only.

    Returns
    -------
    XT : ndarray of shape (n_features, n_samples)
        A view if it can be one.
    """
    if XT.flags.c_contiguous or not is_by_rows(XT.T) or not XT.dtype.isnative:
        return read_only(np.ascontiguousarray(XT, dtype=XT.dtype.newbyteorder("=")))
    make = partial(scratch_array, "columns") if is_scratch else np.empty
    out = make(XT.shape, XT.dtype)
    _copy_columns(XT, out)
    return read_only(out)


def is_by_rows(X):
    """Whether the values of a row of an array lie closer together than those of a column."""
    return X.ndim == 2 and abs(X.strides[1]) < abs(X.strides[0])


def _copy_columns(XT, out):
    """Copy columns into the rows of `out`, which has their type."""
    word = _WORDS.get(XT.dtype.itemsize)
    whole = XT if XT.base is None else XT.base
    is_small = getattr(whole, "size", XT.size) <= SMALL_SIZE
    if is_small or word is None or not is_by_rows(XT.T) or not XT.flags.aligned:
        out[:] = XT
    else:  # bits are copied, whatever they mean
        # Read from the last row on, an array is never contiguous: one version is compiled.
        copy_transposed(read_only(XT.T.view(word)[::-1]), out.view(word))


@njit(cache=True, nogil=True)
def copy_transposed(X, out):
    """Fill the rows of `out` with the columns of `X`, whose last row comes first.

    Tile by tile, four columns at once.
    """
    n, width = uintp(X.shape[0]), uintp(X.shape[1])
    one, two, three, four = uintp(1), uintp(2), uintp(3), uintp(4)
    last = n - one
    for start in range(uintp(0), n, uintp(_TILE)):
        stop = min(start + uintp(_TILE), n)
        j = uintp(0)
        while j + four <= width:
            out0, out1, out2, out3 = out[j], out[j + one], out[j + two], out[j + three]
            for i in range(start, stop):
                out0[last - i] = X[i, j]
                out1[last - i] = X[i, j + one]
                out2[last - i] = X[i, j + two]
                out3[last - i] = X[i, j + three]
            j += four
        while j < width:
            out0 = out[j]
            for i in range(start, stop):
                out0[last - i] = X[i, j]
            j += one
