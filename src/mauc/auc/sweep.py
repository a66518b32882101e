"""Count class-pair wins in sorted words: one pass per column, integers only."""

import numpy as np
from numba import njit, uintp

from mauc.auc.vector import LANES, MAX_VECTORS, sweep_classes
from mauc.numerics.njit_part import njit_part
from mauc.numerics.word_sort import has_ties


def sweep_words(words, n_known, class_counts, label_bits):
    """Count, for every column and class pair, how often the first class is higher.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint64
        Sorted words, of `mauc.auc.words.sort_columns`.
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

    Notes
    -----
    Of the n_i n_j pairs of rows, a count A of wins and a count B of losses leave n_i n_j - A - B
    ties, so the result is n_i n_j + A - B. The order of tied words does not matter, nor do missing
    values.
    """
    n_classes = class_counts.shape[0]
    # The counters of at most 64 classes form a tile. The rows of a tile are contiguous: with many
    # classes, strided rows would compete for the same cache lines.
    width = min(padded_length(n_classes), MAX_VECTORS * LANES)
    n_tiles = -(-n_classes // width)
    won = aligned_rows(n_tiles * n_classes, width)
    below, tied = aligned_rows(n_tiles, width), aligned_rows(n_tiles, width)
    first, second = np.triu_indices(n_classes, 1)
    wins = np.tile(class_counts[first] * class_counts[second], (words.shape[0], 1))
    n_safe = _safe_length(class_counts)
    vectors = (0,) * (width // LANES)  # a kernel is compiled for each length
    _sweep_rows(words, n_known, n_classes, n_safe, label_bits, vectors, won, below, tied, wins)
    return wins


def padded_length(n_classes):
    """Return the smallest multiple of LANES that is not below `n_classes`."""
    return -(-n_classes // LANES) * LANES


def aligned_rows(n_rows, length):
    """Return zeroed uint32 rows that start on a cache line: no access straddles two lines."""
    raw = np.zeros(n_rows * length + LANES, np.uint32)
    skip = -(raw.ctypes.data // 4) % LANES
    return raw[skip : skip + n_rows * length].reshape(n_rows, length)


def _safe_length(class_counts):
    """Return how many words can be swept before a 32-bit counter must be emptied."""
    second, largest = np.sort(class_counts)[-2:]
    if largest * second < 2**32:
        return int(class_counts.sum())
    # One word adds at most the size of the largest class to a counter.
    return (2**32 - 1) // int(largest)


@njit(cache=True, nogil=True)
def _sweep_rows(words, n_known, n_classes, n_safe, label_bits, vectors, won, below, tied, wins):
    for j in range(words.shape[0]):
        w = words[j]
        is_tied = has_ties(w[: n_known[j]], np.uint64(label_bits))
        _clear(below)
        _clear(tied)
        for start in range(0, n_known[j], n_safe):
            _clear(won)
            stop = min(start + n_safe, n_known[j])
            _sweep_segment(
                w, start, stop, label_bits, is_tied, vectors, n_classes, won, below, tied
            )
            _add_differences(won, n_classes, wins[j])


@njit_part
def _clear(counters):
    for row in range(counters.shape[0]):
        for column in range(counters.shape[1]):
            counters[row, column] = 0


@njit_part
def _sweep_segment(words, start, stop, label_bits, is_tied, vectors, n_classes, won, below, tied):
    """Sweep some of the words, one tile of classes after the other."""
    first, n_words = uintp(words.ctypes.data + 8 * start), uintp(stop - start)
    shift, mask = np.uint64(label_bits), np.uint64((1 << label_bits) - 1)
    previous = words[start - 1] if start > 0 else ~words[0]
    row = uintp(4 * won.shape[1])
    for tile in range(uintp(below.shape[0])):
        rows = tile * uintp(n_classes) * row
        a = uintp(won.ctypes.data) + rows
        b, t = uintp(below.ctypes.data) + tile * row, uintp(tied.ctypes.data) + tile * row
        k = np.uint32(tile * uintp(won.shape[1]))
        if is_tied:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, vectors, 1)
        else:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, vectors, 0)


@njit_part
def _add_differences(won, n_classes, out):
    """Add to each pair how often its first class won less how often its second did."""
    width = uintp(won.shape[1])
    n = uintp(n_classes)
    pair = uintp(0)
    for i in range(n):
        losses, column = i // width * n, i % width
        for tile in range(i // width, (n + width - uintp(1)) // width):
            row, first = tile * n + i, tile * width
            for j in range(max(i + uintp(1), first), min(n, first + width)):
                lost = np.int64(won[losses + j, column])
                out[pair] += np.int64(won[row, j - first]) - lost
                pair += uintp(1)
