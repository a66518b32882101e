"""Sort one column of numbers, an integer tag travelling with each: the order is stable."""

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part

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


_MAX_DIGIT = np.uint64(12)  # bits of a digit: its counters stay in the first-level cache
_SPLIT_BITS = np.uint64(10)  # of a part that does not fit into the cache
_MAX_CACHED = 2**17  # words of a part that does
_SPARE_BITS = np.uint64(9)  # beyond log2(n): few words share the leading bits
MAX_INSERTED = 32  # words that are sorted by insertion
_CHUNK = 32  # neighbours that are checked at once
N_COUNTERS = 3 << int(_MAX_DIGIT)  # of the digits of a part


@njit(cache=True, nogil=True)
def sort_rows(words, n_known, spare, label_bits, sizes, parts):
    """Sort every row of words in place by ``word >> label_bits``; equal keys come in any order.

    Parameters
    ----------
    words : ndarray of shape (n_rows, n), uint64
    n_known : ndarray of shape (n_rows,), int64
        How many words of a row are sorted; the others are left alone.
    spare : ndarray of shape (n,), uint64
        Work space.
    label_bits : uint64
    sizes : ndarray of shape (N_COUNTERS,), uint32
        Work space.
    parts : ndarray of shape (2 (n // MAX_INSERTED + 1),), int64
        Work space: starts and stops of the parts that are not sorted yet.
    """
    for row in range(words.shape[0]):
        parts[0], parts[1] = 0, n_known[row]
        n_parts = 1
        while n_parts > 0:
            # The parts are disjoint, and all but the first hold more than MAX_INSERTED words.
            n_parts -= 1
            start, stop = parts[2 * n_parts], parts[2 * n_parts + 1]
            w, n = words[row, start:stop], stop - start
            if n < 2:
                continue
            low, high = _key_range(w, label_bits)
            n_bits = bit_length(high - low)
            if n_bits == np.uint64(0):
                continue
            n_digits, width = _digits_of(n, n_bits)
            n_top = min(n_bits, n_digits * width)
            base = low << label_bits
            shift = label_bits + n_bits - n_top
            _sort_by_bits(w, spare, base, shift, n_digits, width, sizes)
            if n_top < n_bits:
                n_parts = _fix_order(
                    words[row], start, stop, base, shift, label_bits, parts, n_parts
                )


@njit_part
def bit_length(number):
    """Return the number of bits of an unsigned number, without leading zeros."""
    n_bits = np.uint64(0)
    while number > np.uint64(0):
        number >>= np.uint64(1)
        n_bits += np.uint64(1)
    return n_bits


@njit(cache=True, nogil=True)
def has_ties(words, label_bits):
    """Return whether neighbours in a sorted row of words share a key."""
    n = words.shape[0]
    for start in range(0, n - 1, _CHUNK):
        n_equal = 0
        for i in range(uintp(start), uintp(min(start + _CHUNK, n - 1))):
            n_equal += (words[i] >> label_bits) == (words[i + uintp(1)] >> label_bits)
        if n_equal > 0:
            return True
    return False


@njit_part
def _digits_of(n, n_bits):
    """Return by how many digits of how many bits a part is sorted."""
    one, length = np.uint64(1), bit_length(np.uint64(n))
    if n > _MAX_CACHED:
        return one, min(n_bits, _SPLIT_BITS)
    n_top = min(n_bits, _SPARE_BITS + length)
    # Two digits of half the bits have far fewer counters than one.
    n_digits = max((n_top + _MAX_DIGIT - one) // _MAX_DIGIT, np.uint64(2))
    return n_digits, (n_top + n_digits - one) // n_digits


@njit_part
def _key_range(words, label_bits):
    low = high = words[0]
    for i in range(uintp(words.shape[0])):
        low = min(low, words[i])
        high = max(high, words[i])
    return low >> label_bits, high >> label_bits


@njit_part
def _sort_by_bits(words, spare, base, shift, n_digits, width, sizes):
    """Sort by digits of ``word - base`` from bit `shift` on, the lowest digit first."""
    n_buckets = uintp(1) << width
    mask = np.uint64(n_buckets) - np.uint64(1)
    n = uintp(words.shape[0])
    for i in range(uintp(n_digits) * n_buckets):
        sizes[i] = 0
    # The digits of all passes are counted in one reading.
    if n_digits == 1:
        for i in range(n):
            sizes[uintp(((words[i] - base) >> shift) & mask)] += np.uint32(1)
    elif n_digits == 2:
        for i in range(n):
            key = (words[i] - base) >> shift
            sizes[uintp(key & mask)] += np.uint32(1)
            sizes[uintp((key >> width) & mask) + n_buckets] += np.uint32(1)
    else:
        for i in range(n):
            key = (words[i] - base) >> shift
            sizes[uintp(key & mask)] += np.uint32(1)
            key >>= width
            sizes[uintp(key & mask) + n_buckets] += np.uint32(1)
            key >>= width
            sizes[uintp(key & mask) + uintp(2) * n_buckets] += np.uint32(1)
    source, target = words, spare
    is_moved = False
    for d in range(uintp(n_digits)):
        # source is sorted by the digits before d
        places = sizes[d * n_buckets : (d + uintp(1)) * n_buckets]
        place = np.uint32(0)
        for digit in range(n_buckets):
            size = places[digit]
            places[digit] = place
            place += size
        for i in range(n):
            word = source[i]
            digit = uintp(((word - base) >> shift) & mask)
            place = places[digit]
            places[digit] = place + np.uint32(1)
            target[uintp(place)] = word
        source, target = target, source
        is_moved = not is_moved
        shift += width
    if is_moved:
        for i in range(n):
            words[i] = spare[i]


@njit_part
def _fix_order(words, start, stop, base, shift, label_bits, parts, n_parts):
    """Sort the words that share their leading bits, or append them to the parts.

    Returns
    -------
    n_parts : int
    """
    i = start
    while i < stop - 1:
        if i + _CHUNK < stop:
            n_wrong = 0
            for p in range(uintp(i), uintp(i + _CHUNK)):
                n_wrong += (words[p] >> label_bits) > (words[p + uintp(1)] >> label_bits)
            if n_wrong == 0:
                i += _CHUNK
                continue
        if (words[i] >> label_bits) <= (words[i + 1] >> label_bits):
            i += 1
            continue
        top = (words[i] - base) >> shift
        first, last, step = i, i + 1, 1
        while first > start and ((words[first - 1] - base) >> shift) == top:
            first -= 1
        # The word at last belongs to the group; the steps double until one leads out of it.
        while last + step < stop and ((words[last + step] - base) >> shift) == top:
            last += step
            step *= 2
        while step > 1:
            step //= 2
            if last + step < stop and ((words[last + step] - base) >> shift) == top:
                last += step
        if last - first < MAX_INSERTED:
            for p in range(i + 1, last + 1):
                # words[first:p] are sorted
                word = words[p]
                place = p
                while place > first and (words[place - 1] >> label_bits) > (word >> label_bits):
                    words[place] = words[place - 1]
                    place -= 1
                words[place] = word
        else:
            parts[2 * n_parts], parts[2 * n_parts + 1] = first, last + 1
            n_parts += 1
        i = last
    return n_parts
