"""Sort every column once: the row orders that all trees of one training set share."""

import numpy as np
from numba import njit

DIGIT_BITS = 11
N_DIGITS = 6  # 6 x 11 bits cover a 64-bit key
N_BUCKETS = 1 << DIGIT_BITS
SMALL = 128  # below, the histograms cost more than an insertion sort


@njit(cache=True, nogil=True)
def sort_by_insertion(keys, rows):
    """Sort `keys` ascending, in place and stably, and `rows` along with them."""
    for i in range(1, keys.size):
        # keys[:i] are sorted
        key, row = keys[i], rows[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], rows[j] = keys[j - 1], rows[j - 1]
            j -= 1
        keys[j], rows[j] = key, row


@njit(cache=True, nogil=True)
def sort_orders(XT):
    """Return the rows of each column by ascending value, ties by row, missing values last.

    Parameters
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n_samples)

    Returns
    -------
    order : int32 ndarray of shape (n_features, n_samples)

    Notes
    -----
    A least-significant-digit radix sort on the bits of the float64 value, made monotone: flip all
    bits of a negative number, the sign bit of a positive one. Digits that are the same in all rows
    (the low mantissa bits of float32 values or small integers) are skipped.
    """
    n_features, n = XT.shape
    order = np.zeros((n_features, n), np.int32)
    value = np.zeros(n, np.float64)
    bits = value.view(np.int64)
    keys = np.zeros(n, np.uint64)
    keys_next = np.zeros(n, np.uint64)
    rows_next = np.zeros(n, np.int32)
    histogram = np.zeros((N_DIGITS, N_BUCKETS), np.int32)
    for j in range(n_features):
        rows = order[j]
        for i in range(n):
            v = np.float64(XT[j, i])
            # adding zero turns -0.0 into 0.0; a NaN of any sign becomes the one that sorts last
            value[i] = v + 0.0 if v == v else np.nan
        for i in range(n):
            b = bits[i]
            keys[i] = np.uint64(b) ^ (np.uint64(b >> 63) | np.uint64(1 << 63))
            rows[i] = i
        if n < SMALL:
            sort_by_insertion(keys, rows)
            continue
        for d in range(N_DIGITS):
            for b in range(N_BUCKETS):
                histogram[d, b] = 0
        for i in range(n):
            key = keys[i]
            for d in range(N_DIGITS):
                histogram[d, (key >> np.uint64(d * DIGIT_BITS)) & np.uint64(N_BUCKETS - 1)] += 1
        source_keys, target_keys = keys, keys_next
        source_rows, target_rows = rows, rows_next
        for d in range(N_DIGITS):
            # source_rows are sorted by the digits below d.
            shift = np.uint64(d * DIGIT_BITS)
            mask = np.uint64(N_BUCKETS - 1)
            start = histogram[d]
            if start[(source_keys[0] >> shift) & mask] == n:
                continue
            total = 0
            for b in range(N_BUCKETS):
                count = start[b]
                start[b] = total
                total += count
            for i in range(n):
                key = source_keys[i]
                bucket = (key >> shift) & mask
                place = start[bucket]
                start[bucket] = place + 1
                target_keys[place] = key
                target_rows[place] = source_rows[i]
            source_keys, target_keys = target_keys, source_keys
            source_rows, target_rows = target_rows, source_rows
        for i in range(n):
            rows[i] = source_rows[i]
    return order
