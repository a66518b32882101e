"""Sort one column: values with their class codes in ascending order, missing values counted apart.

In goes one column and the class codes of its rows, out come the known values as float64, the codes
in that order, and the number of missing (NaN) values of each class.
"""

import numpy as np
from numba import njit

_N_BUCKETS = 2048
_DIGIT_MASK = np.uint64(2047)
_SIGN_32 = np.uint32(0x80000000)
_ALL_32 = np.uint32(0xFFFFFFFF)
_SIGN_64 = np.uint64(0x8000000000000000)
_ALL_64 = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def _radix_pass(source, source_codes, target, target_codes, n, shift, with_codes):
    """Move the records by one digit of 11 bits, keeping the order of equal digits.

    Returns False, with nothing moved, when all records share the digit.
    """
    next_place = np.zeros(_N_BUCKETS, np.int64)
    for i in range(n):
        next_place[(source[i] >> shift) & _DIGIT_MASK] += 1
    if next_place[(source[0] >> shift) & _DIGIT_MASK] == n:
        return False
    place = 0
    for digit in range(_N_BUCKETS):
        size = next_place[digit]
        next_place[digit] = place
        place += size
    # next_place[digit] is where the next record with that digit goes
    for i in range(n):
        digit = (source[i] >> shift) & _DIGIT_MASK
        place = next_place[digit]
        next_place[digit] = place + 1
        target[place] = source[i]
        if with_codes:
            target_codes[place] = source_codes[i]
    return True


@njit(cache=True, nogil=True)
def _sort_known(values, codes, n, is_narrow, keys, spare):
    """Sort the first `n` values in place, their codes with them.

    Values that single precision holds exactly travel in one 64-bit word with their code.
    """
    narrow = np.empty(n if is_narrow else 0, np.float32)
    narrow_bits = narrow.view(np.uint32)
    bits = values.view(np.uint64)
    # flipping the sign bit, or all bits of a negative number, makes the patterns ascend
    if is_narrow:
        for i in range(n):
            narrow[i] = values[i]
            word = narrow_bits[i]
            word = word ^ (_ALL_32 if word & _SIGN_32 else _SIGN_32)
            keys[i] = (np.uint64(word) << np.uint64(32)) | np.uint64(codes[i])
    else:
        for i in range(n):
            keys[i] = bits[i] ^ (_ALL_64 if bits[i] & _SIGN_64 else _SIGN_64)
    source, target = keys, spare
    source_codes, target_codes = codes, np.empty(0 if is_narrow else n, np.int32)
    shift = np.uint64(32 if is_narrow else 0)
    while shift < np.uint64(64):
        if _radix_pass(source, source_codes, target, target_codes, n, shift, not is_narrow):
            source, target = target, source
            source_codes, target_codes = target_codes, source_codes
        shift += np.uint64(11)
    if is_narrow:
        for i in range(n):
            word = np.uint32(source[i] >> np.uint64(32))
            narrow_bits[i] = word ^ (_SIGN_32 if word & _SIGN_32 else _ALL_32)
            codes[i] = np.int32(source[i] & np.uint64(0x7FFFFFFF))
            values[i] = narrow[i]
    else:
        for i in range(n):
            bits[i] = source[i] ^ (_SIGN_64 if source[i] & _SIGN_64 else _ALL_64)
            codes[i] = source_codes[i]


@njit(cache=True, nogil=True)
def sort_column(x, y, values, codes, missing, keys, spare):
    """Sort the known values of one column and count the missing ones per class.

    Parameters
    ----------
    x : ndarray of shape (n_samples,), float32 or float64
        One column; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    values, codes : ndarray of shape (n_samples,), float64 and int32
        Filled, up to the returned length, with the known values in ascending order and their codes.
    missing : ndarray of shape (n_classes,), int64
        Filled with the number of missing values of each class.
    keys, spare : ndarray of shape (n_samples,), uint64
        Work space.

    Returns
    -------
    int
        Number of known values.
    """
    missing[:] = 0
    n_known = 0
    n_wide = 0
    for i in range(len(x)):
        value = np.float64(x[i])
        if value == value:
            values[n_known] = value
            codes[n_known] = y[i]
            n_known += 1
            n_wide += np.float64(np.float32(value)) != value
        else:
            missing[y[i]] += 1
    if n_known > 1:
        _sort_known(values, codes, n_known, n_wide == 0, keys, spare)
    return n_known
