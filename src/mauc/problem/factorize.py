"""Distinct values in linear time: an array in, its sorted values, their codes and counts out."""

import numpy as np

_MIN_TABLE = 2**16  # entries that a table of counts may have, however few the values are
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed


def factorize(values):
    """Return what ``np.unique`` returns with codes and counts, without sorting where possible.

    Whole numbers of a small range are counted and strings are hashed; whatever else is sorted.

    Parameters
    ----------
    values : ndarray of shape (n,)

    Returns
    -------
    distinct : ndarray of shape (n_distinct,)
        Sorted, of the type of `values`.
    codes : ndarray of shape (n,), int32
        Place of each value in `distinct`.
    counts : ndarray of shape (n_distinct,), int64
    """
    found = factorize_linear(values)
    if found is None:
        distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        found = distinct, codes.astype(np.int32), counts.astype(np.int64)
    return found


def factorize_linear(values):
    """Return what `factorize` does, or None where the values must be sorted."""
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
    if kind == "U":
        return _fixed_strings(values)
    if kind == "O":
        return _python_strings(values)
    return None


def holds_strings(values):
    """Whether every entry of an array of objects is a string."""
    return set(map(type, values.tolist())) == {str}


def _whole_numbers(values):
    low, high = int(values.min()), int(values.max())
    if high - low >= max(_MIN_TABLE, len(values)):
        return None
    wide = np.uint64 if values.dtype == np.uint64 else np.int64
    places = (values.astype(wide, copy=False) - wide(low)).astype(np.intp, copy=False)
    counts = np.bincount(places)
    present = np.flatnonzero(counts)
    place = np.zeros(len(counts), np.int32)
    place[present] = np.arange(len(present))
    distinct = (present.astype(wide) + wide(low)).astype(values.dtype)
    return distinct, place[places], counts[present].astype(np.int64)


def _whole_floats(values):
    low, high = values.min(), values.max()  # NaN if there is one
    if not -(2.0**53) <= low <= high <= 2.0**53 or high - low >= max(_MIN_TABLE, len(values)):
        return None
    whole = values.astype(np.int64)
    if (whole != values).any():
        return None
    distinct, codes, counts = _whole_numbers(whole)
    return distinct.astype(values.dtype), codes, counts


def _fixed_strings(values):
    """Hash strings of one width to 16 bits; two distinct values of one hash are left to sorting."""
    width = values.dtype.itemsize // 4
    if width == 0 or not values.dtype.isnative:
        return None
    word = np.uint32 if width % 2 else np.uint64
    words = np.ascontiguousarray(values).view(word).reshape(len(values), -1)
    hashes = np.zeros(len(values), np.uint64)
    for position in range(words.shape[1]):
        hashes += words[:, position]
        hashes *= _MULTIPLIER
        hashes ^= hashes >> np.uint64(32)
    buckets, codes, counts = _whole_numbers(hashes >> np.uint64(48))
    sample = np.empty(len(buckets), np.intp)
    sample[codes] = np.arange(len(codes))  # any row of the bucket
    for position in range(words.shape[1]):
        if (words[sample, position][codes] != words[:, position]).any():
            return None
    order = np.argsort(values[sample])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return values[sample[order]], place[codes], counts[order]


def _python_strings(values):
    if not holds_strings(values):
        return None
    items = values.tolist()
    distinct = sorted(dict.fromkeys(items))
    place = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(place.__getitem__, items), np.int32, len(items))
    return np.array(distinct, dtype=object), codes, np.bincount(codes).astype(np.int64)
