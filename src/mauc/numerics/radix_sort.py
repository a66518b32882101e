"""Sort one column of numbers, an integer tag travelling with each: the order is stable."""

import numpy as np
from numba import njit

from mauc.numerics.njit_part import njit_part

_MIN_RADIX = 64  # below, sorting by insertion costs less than clearing the buckets
_MANY = 8192  # values from which digits of 11 bits beat those of 8
_MAX_BUCKETS = 1 << 11
_MOVES_PER_VALUE = 8  # of the insertion that finishes; beyond, the remaining bits are sorted too
_SIGN = np.uint64(0x8000000000000000)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


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
    A radix sort on the bits of the values, from the leading bits in which they differ on: a few
    digits tell almost all values apart, and insertion puts the others right. Where these are many
    (a tight cluster beside an outlier), all bits in which values differ are sorted. What is moved
    is one word per value: a window of its bits, and its place.
    """
    if n < _MIN_RADIX:
        _sort_by_insertion(values, tags, n, n * n)
        return
    bits = values.view(np.uint64)
    ones, zeros = _ZERO, _ZERO
    for i in range(n):
        key = bits[i] ^ (_ALL if bits[i] & _SIGN else _SIGN)
        ones |= key
        zeros |= ~key
    varying = ones & zeros
    bottom, top = _ZERO, np.uint64(64)
    while bottom < top and (varying >> bottom) & _ONE == _ZERO:
        bottom += _ONE
    while top > bottom and (varying >> (top - _ONE)) & _ONE == _ZERO:
        top -= _ONE
    width = np.uint64(11 if n >= _MANY else 8)
    shift = max(top, bottom + min(_HALF, np.uint64(3) * width)) - min(_HALF, np.uint64(3) * width)
    places = np.empty(_MAX_BUCKETS, np.uint32)
    while shift < top:
        # the values are in their given order, or stably sorted by the bits below shift or above it
        end = min(top, shift + _HALF)
        _sort_by_window(bits, tags, n, keys, spare, shift, end, width, places)
        if end < top:
            shift = end
        elif shift == bottom or _sort_by_insertion(values, tags, n, _MOVES_PER_VALUE * n):
            return
        else:
            shift = bottom


@njit_part
def _sort_by_insertion(values, tags, n, max_moves):
    """Sort, but give up after `max_moves` moves; return whether the values are sorted."""
    n_moves = 0
    for i in range(1, n):
        # values[:i] are sorted
        value, tag = values[i], tags[i]
        place = i
        while place > 0 and values[place - 1] > value:
            values[place], tags[place] = values[place - 1], tags[place - 1]
            place -= 1
        values[place], tags[place] = value, tag
        n_moves += i - place
        if n_moves > max_moves:
            return False
    return True


@njit_part
def _sort_by_window(bits, tags, n, source, target, shift, end, width, places):
    """Sort values and tags by the bits from `shift` to `end`, at most 32, digit by digit."""
    window = (_ONE << (end - shift)) - _ONE
    mask = (_ONE << width) - _ONE
    for i in range(n):
        # Flipping the sign bit of a number, or all bits of a negative one, makes the patterns
        # ascend.
        key = bits[i] ^ (_ALL if bits[i] & _SIGN else _SIGN)
        source[i] = (((key >> shift) & window) << _HALF) | np.uint64(i)
    n_bits = end - shift
    digit_shift = _HALF
    while digit_shift < _HALF + n_bits:
        # source is sorted by the digits before this one
        for digit in range(mask + _ONE):
            places[digit] = 0
        for i in range(n):
            places[(source[i] >> digit_shift) & mask] += np.uint32(1)
        place = np.uint32(0)
        for digit in range(mask + _ONE):
            size = places[digit]
            places[digit] = place
            place += size
        # places[digit] is where the next word with that digit goes
        for i in range(n):
            word = source[i]
            digit = (word >> digit_shift) & mask
            place = places[digit]
            places[digit] = place + np.uint32(1)
            target[place] = word
        source, target = target, source
        digit_shift += width
    for i in range(n):
        row = source[i] & _LOW_HALF
        target[i] = bits[row]
        source[i] = np.uint64(tags[row])
    for i in range(n):
        bits[i] = target[i]
        tags[i] = source[i]
