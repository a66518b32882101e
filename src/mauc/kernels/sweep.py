"""Count class-pair wins in sorted words: one pass a column, integers only."""

import numpy as np
from numba import njit, uintp

from mauc.kernels.vector import LANES, MOST_VECTORS, aligned_rows, padded_length, sweep_classes


def sweep_words(words, n_known, class_counts, label_bits):
    """Count, for every column and class pair, how often the first class lies higher.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint32
        Sorted words, see `mauc.kernels.sort_columns`.
    n_known : ndarray of shape (n_features,), int64
        Filled words of each row.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class, missing values included.
    label_bits : int

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), int64
        2 * #(x_i > x_j) + #(x_i = x_j) for the pairs i < j in order (0, 1), (0, 2), ...;
        a pair of rows with a missing value counts as equal.
    """
    n_classes = class_counts.shape[0]
    length = padded_length(n_classes)
    unit_rows = aligned_rows(n_classes, length)
    np.fill_diagonal(unit_rows, 2)  # counts are doubled from the start: a win is 2, a tie 1
    won, counters = aligned_rows(n_classes, length), aligned_rows(2, length)
    wins = np.zeros((words.shape[0], n_classes * (n_classes - 1) // 2), np.int64)
    _sweep_rows(words, n_known, class_counts, label_bits, unit_rows, won, counters, wins)
    return wins


@njit(cache=True, nogil=True)
def _sweep_rows(words, n_known, class_counts, label_bits, unit_rows, won, counters, wins):
    n = words.shape[1]
    # One word adds at most 2 n to a counter, so this many are safe in 32 bits.
    n_safe = max(1, (2**32 - 1) // max(1, 2 * n))
    for j in range(words.shape[0]):
        w = words[j]
        has_ties = count_equal(w[: n_known[j]], np.uint32(label_bits)) > 0
        counters[:] = 0
        for start in range(0, n_known[j], n_safe):
            won[:] = 0
            stop = min(start + n_safe, n_known[j])
            _sweep_segment(w, start, stop, label_bits, has_ties, unit_rows, won, counters)
            _subtract_lower_triangle(won, wins[j])
        _add_all_pairs(class_counts, counters, wins[j])


@njit(cache=True, nogil=True)
def _sweep_segment(words, start, stop, label_bits, has_ties, unit_rows, won, counters):
    """Sweep a stretch of words, the counts of at most 64 classes at a time."""
    first, n_words = uintp(words.ctypes.data + 4 * start), uintp(stop - start)
    shift, mask = np.uint32(label_bits), np.uint32((1 << label_bits) - 1)
    previous = words[start - 1] if start > 0 else ~words[0]
    n_vectors = won.shape[1] // LANES
    stride = uintp(4 * won.shape[1])
    for v in range(0, n_vectors, MOST_VECTORS):
        skip = uintp(4 * LANES * v)
        a, u = uintp(won.ctypes.data) + skip, uintp(unit_rows.ctypes.data) + skip
        b = uintp(counters.ctypes.data) + skip
        t = b + stride
        n_here = min(n_vectors - v, MOST_VECTORS)
        if has_ties:
            if n_here == 1:
                sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 1, 1)
            elif n_here == 2:
                sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 2, 1)
            elif n_here == 3:
                sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 3, 1)
            else:
                sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 4, 1)
        elif n_here == 1:
            sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 1, 0)
        elif n_here == 2:
            sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 2, 0)
        elif n_here == 3:
            sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 3, 0)
        else:
            sweep_classes(first, n_words, previous, shift, mask, stride, a, u, b, t, 4, 0)


@njit(cache=True, nogil=True)
def _subtract_lower_triangle(won, out):
    # Codes ascend within a key, so of two tied words that of the higher class comes later and
    # was given the tie: the wins of j over i < j are complete, those of i over j follow.
    pair = uintp(0)
    for i in range(won.shape[0]):
        for j in range(i + 1, won.shape[0]):
            out[pair] -= won[j, i]
            pair += uintp(1)


@njit(cache=True, nogil=True)
def _add_all_pairs(class_counts, counters, out):
    """Add 2 for each pair of known values and 1 for each other pair of rows."""
    pair = 0
    for i in range(class_counts.shape[0]):
        for j in range(i + 1, class_counts.shape[0]):
            known = np.int64(counters[0, i] // 2) * np.int64(counters[0, j] // 2)
            out[pair] += class_counts[i] * class_counts[j] + known
            pair += 1


@njit(cache=True, nogil=True)
def count_equal(words, shift):
    """Return how many neighbours in a sorted row of words share a key."""
    n_equal = 0
    for i in range(uintp(max(0, words.shape[0] - 1))):
        n_equal += (words[i] >> shift) == (words[i + uintp(1)] >> shift)
    return n_equal
