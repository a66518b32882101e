"""Columns of values that float64 does not hold: their order exactly, their values as it can.

Such are whole numbers beyond 2**53, dates and durations, which count nanoseconds, and extended
precision. What looks at the order of values alone takes their ranks. Everything else that selectors
compute stays the same if a column is shifted or scaled, so it takes the differences to the lowest
value, without a factor that all of them share: float64 holds these in all but rare cases. A missing
value, for dates NaT, is NaN.
"""

import numpy as np

from mauc.engine.arrays import contiguous_columns, read_only

_MAX_WHOLE = 2**53  # up to which float64 holds all whole numbers
_MAX_EXPONENT = 500  # of two, in differences whose squares are ordinary numbers
_NO_SECONDS = ("Y", "M", "generic")  # units of a duration that have no length in seconds


def may_be_wide(dtype):
    """Whether there are values of a numeric type that float64 does not hold."""
    return dtype.kind in "mM" or (dtype.kind in "iu" and dtype.itemsize == 8) or dtype.itemsize > 8


def is_wide(values):
    """Whether float64 does not hold all values of an array; dates and durations always count."""
    if values.dtype.kind in "mM":
        return True
    if not may_be_wide(values.dtype) or values.size == 0:
        return False
    if values.dtype.kind in "iu":
        return bool(values.max() > _MAX_WHOLE or values.min() < -_MAX_WHOLE)
    with np.errstate(over="ignore"):
        held = values.astype(np.float64)
    return bool(((held != values) & (values == values)).any())


def rank_wide(column):
    """Return the rank of every value of a column among its distinct values, NaN where missing.

    Parameters
    ----------
    column : ndarray of shape (n_samples,)
        Of any type for which `may_be_wide`.

    Returns
    -------
    ranks : ndarray of shape (n_samples,), float64
    """
    is_known = column == column
    ranks = np.full(len(column), np.nan)
    ranks[is_known] = np.unique(_ticks(column[is_known]), return_inverse=True)[1]
    return ranks


def scale_wide(column):
    """Return a column shifted and scaled so that float64 holds its values, as far as it can.

    Parameters and returns as in `rank_wide`. The order of values is kept, but two that differ by
    less than 2**-53 of the range may become equal.
    """
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


def as_floats(values):
    """Return values as float64: dates in seconds since 1970, durations in seconds, NaN for NaT.

    It depends on the value alone, not on the others of its column or on their unit.

    Parameters
    ----------
    values : ndarray
        Of any numeric type, dates and durations included.
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
    return values / np.timedelta64(1, "s")


def with_missing(values, is_missing):
    """Return numbers with NaN where they are missing, in a type that keeps the others exactly.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Booleans or numbers; those that are missing may be any.
    is_missing : ndarray of shape (n_samples,), bool

    Returns
    -------
    values : ndarray of shape (n_samples,)
        Floats; wide integers as timedelta64 without a unit, the integer of NumPy that has a
        missing value, or beyond it in extended precision.
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
    `mauc.data.columns`. Kernels that need the units take `value_columns`.
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
