"""The radix sort of the engine: rows of 64-bit keys, in place, whatever their distribution.

Numbers that differ mostly differ in their leading bits. So the keys of a row are sorted by about
log2(n) + 7 leading bits of their range, as two digits, and the few that share all of these are
put right by insertion. Where many share them (a tight cluster beside an outlier), they are a part
of the row that is sorted in the same way by the range of its own.
"""

import numpy as np

from mauc.compile import njit, njit_part

MAX_INSERTED = 32  # keys that are sorted by insertion
N_COUNTERS = 2 << 12  # of both digits; they stay in the first-level cache
_MAX_BITS = np.uint64(24)  # of both digits
_SPARE_BITS = np.uint64(7)  # beyond log2(n): few keys share the leading bits
_MAX_CACHED = np.uint64(2**18)  # keys of a part that fits into the second-level cache
_SPLIT_BITS = np.uint64(10)  # by which a larger part is split
_CHUNK = np.uint64(32)  # neighbours that are checked at once
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@njit
def sort_rows(keys, n_known, spare, label_bits, counters, parts):
    """Sort every row of keys by ``key >> label_bits``; keys that are equal there keep their order.

    ``keys[row, n_known[row]:]`` is left alone. `spare` (uint64, as long as a row), `counters`
    (uint32, `N_COUNTERS`) and `parts` (uint64, 2 (n // MAX_INSERTED + 1)) are work space.
    """
    label_mask = (_ONE << label_bits) - _ONE
    for row in range(keys.shape[0]):
        w = keys[row]
        # parts[:2 * n_parts] are the bounds of what is not sorted yet, beyond MAX_INSERTED keys
        # each but for the whole row.
        parts[0], parts[1] = _ZERO, np.uint64(n_known[row])
        n_parts = _ONE
        while n_parts > _ZERO:
            n_parts -= _ONE
            start, stop = parts[n_parts + n_parts], parts[n_parts + n_parts + _ONE]
            lowest, highest = ~_ZERO, _ZERO
            for i in range(start, stop):
                key = w[i]
                lowest = key if key < lowest else lowest
                highest = key if key > highest else highest
            lowest &= ~label_mask
            if start == stop or highest <= (lowest | label_mask):
                continue
            n_bits = bit_length(highest - lowest) - label_bits
            n_low, n_high = _ZERO, _SPLIT_BITS
            if stop - start <= _MAX_CACHED:
                n_top = bit_length(stop - start) + _SPARE_BITS
                n_top = n_top if n_top < _MAX_BITS else _MAX_BITS
                n_top = n_top if n_top < n_bits else n_bits
                n_low, n_high = n_top >> _ONE, n_top - (n_top >> _ONE)
            n_high = n_high if n_high < n_bits else n_bits
            low_shift = label_bits + n_bits - n_high - n_low
            high_shift = low_shift + n_low
            low_mask, high_start = (_ONE << n_low) - _ONE, _ONE << n_low
            n_counters = high_start + (_ONE << n_high)
            for c in range(n_counters):
                counters[c] = 0
            for i in range(start, stop):
                offset = w[i] - lowest
                counters[(offset >> low_shift) & low_mask] += np.uint32(1)
                counters[(offset >> high_shift) + high_start] += np.uint32(1)
            # counters[digit] becomes the slot of the next key with that digit
            slot = np.uint32(start)
            for c in range(n_counters):
                slot = slot if c != high_start else np.uint32(start)
                size = counters[c]
                counters[c] = slot
                slot += size
            if n_low > _ZERO:
                for i in range(start, stop):
                    digit = ((w[i] - lowest) >> low_shift) & low_mask
                    slot = counters[digit]
                    counters[digit] = slot + np.uint32(1)
                    spare[slot] = w[i]
            else:
                for i in range(start, stop):
                    spare[i] = w[i]
            for i in range(start, stop):
                digit = ((spare[i] - lowest) >> high_shift) + high_start
                slot = counters[digit]
                counters[digit] = slot + np.uint32(1)
                w[slot] = spare[i]
            if low_shift > label_bits:
                n_parts = _fix_order(w, start, stop, lowest, low_shift, label_mask, parts, n_parts)


@njit_part
def bit_length(number):
    """Return the number of bits of an unsigned number, without leading zeros."""
    n_bits = _ZERO
    while number > _ZERO:
        number >>= _ONE
        n_bits += _ONE
    return n_bits


@njit_part
def _fix_order(w, start, stop, lowest, shift, label_mask, parts, n_parts):
    """Sort the keys that share their leading bits, or append them to the parts."""
    i = start
    while i + _ONE < stop:
        chunk_stop = i + _CHUNK if i + _CHUNK < stop else stop - _ONE
        n_wrong = _ZERO
        for k in range(i, chunk_stop):
            n_wrong += np.uint64(w[k] > (w[k + _ONE] | label_mask))
        if n_wrong == _ZERO:
            i = chunk_stop
            continue
        while w[i] <= (w[i + _ONE] | label_mask):
            i += _ONE
        # the first key that is too large, and the group of its leading bits
        top = (w[i] - lowest) >> shift
        first, last = i, i + _ONE
        while first > start and ((w[first - _ONE] - lowest) >> shift) == top:
            first -= _ONE
        while last + _CHUNK < stop and ((w[last + _CHUNK] - lowest) >> shift) == top:
            last += _CHUNK
        while last < stop and ((w[last] - lowest) >> shift) == top:
            last += _ONE
        if last - first > np.uint64(MAX_INSERTED):
            parts[n_parts + n_parts], parts[n_parts + n_parts + _ONE] = first, last
            n_parts += _ONE
        else:
            for k in range(i + _ONE, last):
                key = w[k]
                slot = k
                while slot > first and w[slot - _ONE] > (key | label_mask):
                    w[slot] = w[slot - _ONE]
                    slot -= _ONE
                w[slot] = key
        i = last
    return n_parts
