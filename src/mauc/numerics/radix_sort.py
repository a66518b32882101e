"""Sort one column of numbers, an integer tag travelling with each: the order is stable."""

import numpy as np
from numba import njit

_DIGIT_BITS = 11
_N_BUCKETS = 1 << _DIGIT_BITS
_DIGIT_MASK = np.uint64(_N_BUCKETS - 1)
_MIN_RADIX = 128  # below, clearing the buckets costs more than sorting by insertion
_SIGN_32 = np.uint32(0x80000000)
_ALL_32 = np.uint32(0xFFFFFFFF)
_SIGN_64 = np.uint64(0x8000000000000000)
_ALL_64 = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def sort_tagged(values, tags, n, keys, spare):
    """Sort the first `n` values in place, ascending, equal values in their given order.

    Parameters
    ----------
    values : ndarray of shape (>= n,), float64
        Must not contain NaN. -0.0 and 0.0 may be taken as different, -0.0 being the lower one.
    tags : ndarray of shape (>= n,), int32
        Not negative; moved with the values.
    n : int
    keys, spare : ndarray of shape (>= n,), uint64
        Work space.

    Notes
    -----
    A radix sort from the least significant digit on the bits of the values. Digits that all
    values share are skipped. Values that single precision holds exactly, such as whole numbers,
    have half the digits and travel in one 64-bit key with their tag.
    """
    if n < _MIN_RADIX:
        _sort_by_insertion(values, tags, n)
        return
    n_wide = 0
    for i in range(n):
        n_wide += np.float64(np.float32(values[i])) != values[i]
    if n_wide == 0:
        _sort_narrow(values, tags, n, keys, spare)
    else:
        _sort_wide(values, tags, n, keys, spare)


@njit(cache=True, nogil=True)
def _sort_by_insertion(values, tags, n):
    for i in range(1, n):
        # values[:i] are sorted
        value, tag = values[i], tags[i]
        place = i
        while place > 0 and values[place - 1] > value:
            values[place], tags[place] = values[place - 1], tags[place - 1]
            place -= 1
        values[place], tags[place] = value, tag


# Flipping the sign bit of a number, or all bits of a negative one, makes the patterns ascend. The
# digits of all passes are counted in one reading; their number is constant, which unrolls the loop.


@njit(cache=True, nogil=True)
def _sort_narrow(values, tags, n, keys, spare):
    single = np.empty(n, np.float32)
    bits = single.view(np.uint32)
    sizes = np.zeros((3, _N_BUCKETS), np.uint32)
    for i in range(n):
        single[i] = values[i]
        word = bits[i] ^ (_ALL_32 if bits[i] & _SIGN_32 else _SIGN_32)
        keys[i] = (np.uint64(word) << np.uint64(32)) | np.uint64(tags[i])
    for i in range(n):
        for d in range(3):
            sizes[d, (keys[i] >> np.uint64(32 + d * _DIGIT_BITS)) & _DIGIT_MASK] += np.uint32(1)
    source, _ = _sort_keys(keys, spare, tags, tags, n, np.uint64(32), sizes, False)
    for i in range(n):
        word = np.uint32(source[i] >> np.uint64(32))
        bits[i] = word ^ (_SIGN_32 if word & _SIGN_32 else _ALL_32)
        tags[i] = np.int32(source[i] & np.uint64(0x7FFFFFFF))
        values[i] = single[i]


@njit(cache=True, nogil=True)
def _sort_wide(values, tags, n, keys, spare):
    bits = values.view(np.uint64)
    sizes = np.zeros((6, _N_BUCKETS), np.uint32)
    for i in range(n):
        keys[i] = bits[i] ^ (_ALL_64 if bits[i] & _SIGN_64 else _SIGN_64)
    for i in range(n):
        for d in range(6):
            sizes[d, (keys[i] >> np.uint64(d * _DIGIT_BITS)) & _DIGIT_MASK] += np.uint32(1)
    spare_tags = np.empty(n, np.int32)
    source, source_tags = _sort_keys(keys, spare, tags, spare_tags, n, np.uint64(0), sizes, True)
    for i in range(n):
        bits[i] = source[i] ^ (_SIGN_64 if source[i] & _SIGN_64 else _ALL_64)
        tags[i] = source_tags[i]


@njit(cache=True, nogil=True)
def _sort_keys(source, target, source_tags, target_tags, n, shift, sizes, with_tags):
    """Sort keys by their bits from `shift` on; return the arrays in which they end."""
    for d in range(sizes.shape[0]):
        # source is sorted by the digits before d
        next_place = sizes[d]
        if next_place[(source[0] >> shift) & _DIGIT_MASK] < n:
            place = np.uint32(0)
            for digit in range(_N_BUCKETS):
                size = next_place[digit]
                next_place[digit] = place
                place += size
            # next_place[digit] is where the next key with that digit goes
            for i in range(n):
                key = source[i]
                digit = (key >> shift) & _DIGIT_MASK
                place = next_place[digit]
                next_place[digit] = place + np.uint32(1)
                target[place] = key
                if with_tags:
                    target_tags[place] = source_tags[i]
            source, target = target, source
            source_tags, target_tags = target_tags, source_tags
        shift += np.uint64(_DIGIT_BITS)
    return source, source_tags
