"""Count class-pair wins in sorted words: one pass per column, integers only."""

import numpy as np
from numba import njit, uintp

from mauc.auc.counting import aligned_rows, padded_length
from mauc.auc.vector import LANES, MAX_VECTORS, sweep_classes
from mauc.problem.decomposition import n_pairs_of


def sweep_words(words, n_known, class_counts, label_bits):
    """Count, for every column and class pair, how often the first class is higher.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint32
        Sorted words, see `mauc.auc.sort_columns`.
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
    # The counters of at most 64 classes form a tile. The rows of a tile are contiguous: with many
    # classes, strided rows would compete for the same cache lines.
    width = min(padded_length(n_classes), MAX_VECTORS * LANES)
    n_tiles = -(-n_classes // width)
    won = aligned_rows(n_tiles * n_classes, width)
    below, tied = aligned_rows(n_tiles, width), aligned_rows(n_tiles, width)
    wins = np.zeros((words.shape[0], n_pairs_of(n_classes)), np.int64)
    _sweep_rows(words, n_known, class_counts, label_bits, won, below, tied, wins)
    return wins


@njit(cache=True, nogil=True)
def _sweep_rows(words, n_known, class_counts, label_bits, won, below, tied, wins):
    n = words.shape[1]
    n_classes = class_counts.shape[0]
    # One word adds at most 2 n to a counter, so this many are safe in 32 bits.
    n_safe = max(1, (2**32 - 1) // max(1, 2 * n))
    for j in range(words.shape[0]):
        w = words[j]
        has_ties = count_equal(w[: n_known[j]], np.uint32(label_bits)) > 0
        below[:] = 0
        tied[:] = 0
        for start in range(0, n_known[j], n_safe):
            won[:] = 0
            stop = min(start + n_safe, n_known[j])
            _sweep_segment(w, start, stop, label_bits, has_ties, n_classes, won, below, tied)
            _subtract_lower_triangle(won, n_classes, wins[j])
        _add_all_pairs(class_counts, below, wins[j])


@njit(cache=True, nogil=True)
def _sweep_segment(words, start, stop, label_bits, has_ties, n_classes, won, below, tied):
    """Sweep some of the words, one tile of classes after the other."""
    first, n_words = uintp(words.ctypes.data + 4 * start), uintp(stop - start)
    shift, mask = np.uint32(label_bits), np.uint32((1 << label_bits) - 1)
    previous = words[start - 1] if start > 0 else ~words[0]
    n_vectors = won.shape[1] // LANES
    row = uintp(4 * won.shape[1])
    for tile in range(uintp(below.shape[0])):
        rows = tile * uintp(n_classes) * row
        a = uintp(won.ctypes.data) + rows
        b, t = uintp(below.ctypes.data) + tile * row, uintp(tied.ctypes.data) + tile * row
        k = np.uint32(tile * uintp(won.shape[1]))
        if has_ties:
            if n_vectors == 1:
                sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 1, 1)
            elif n_vectors == 2:
                sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 2, 1)
            elif n_vectors == 3:
                sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 3, 1)
            else:
                sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 4, 1)
        elif n_vectors == 1:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 1, 0)
        elif n_vectors == 2:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 2, 0)
        elif n_vectors == 3:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 3, 0)
        else:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, 4, 0)


@njit(cache=True, nogil=True)
def _subtract_lower_triangle(won, n_classes, out):
    # Codes ascend within a key, so of two tied words that of the higher class comes later and
    # has the tie: the wins of j over i < j are complete, and those of i over j follow.
    width = won.shape[1]
    pair = uintp(0)
    for i in range(n_classes):
        rows, column = uintp(i // width * n_classes), uintp(i % width)
        for j in range(uintp(i + 1), uintp(n_classes)):
            out[pair] -= won[rows + j, column]
            pair += uintp(1)


@njit(cache=True, nogil=True)
def _add_all_pairs(class_counts, below, out):
    """Add 2 for each pair of known values and 1 for each other pair of rows."""
    width = below.shape[1]
    pair = 0
    for i in range(class_counts.shape[0]):
        known_i = np.int64(below[i // width, i % width] // 2)
        for j in range(i + 1, class_counts.shape[0]):
            known_j = np.int64(below[j // width, j % width] // 2)
            out[pair] += class_counts[i] * class_counts[j] + known_i * known_j
            pair += 1


@njit(cache=True, nogil=True)
def count_equal(words, shift):
    """Return how many neighbours in a sorted row of words share a key."""
    n_equal = 0
    for i in range(uintp(max(0, words.shape[0] - 1))):
        n_equal += (words[i] >> shift) == (words[i + uintp(1)] >> shift)
    return n_equal
