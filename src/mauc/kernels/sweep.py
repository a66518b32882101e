"""Count class-pair wins in sorted words: one pass a column, integers only."""

import numpy as np
from numba import njit, uintp

from mauc.kernels.vector import aligned_rows, padded_length, sweep_segment


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
    won, below = aligned_rows(n_classes, length), aligned_rows(1, length)
    tied = np.empty((n_classes, n_classes), np.int64)
    places = np.empty(words.shape[1], np.int64)
    wins = np.zeros((words.shape[0], n_classes * (n_classes - 1) // 2), np.int64)
    _sweep_rows(
        words, n_known, class_counts, label_bits, unit_rows, won, below, tied, places, wins
    )
    return wins


@njit(cache=True, nogil=True)
def _sweep_rows(
    words, n_known, class_counts, label_bits, unit_rows, won, below, tied, places, wins
):
    n_classes = class_counts.shape[0]
    n = words.shape[1]
    known = np.empty(n_classes, np.int64)
    label_mask = (1 << label_bits) - 1
    # One word adds at most 2 n to a counter, so this many are safe in 32 bits.
    n_safe = max(1, (2**32 - 1) // max(1, 2 * n))
    for j in range(words.shape[0]):
        below[:] = 0
        for start in range(0, n_known[j], n_safe):
            won[:] = 0
            stop = min(start + n_safe, n_known[j])
            sweep_segment(words[j, start:stop], label_mask, won, unit_rows, below)
            add_upper_triangle(won, wins[j])
        add_ties(words[j, : n_known[j]], label_bits, tied, places, wins[j])
        if n_known[j] < n:
            for k in range(n_classes):
                known[k] = below[0, k] // 2
            add_missing(class_counts, known, wins[j])


@njit(cache=True, nogil=True)
def add_upper_triangle(wins, out):
    """Add the entries i < j of a square of counters to a row of pairs."""
    n_classes = wins.shape[0]
    pair = uintp(0)
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            out[pair] += wins[i, j]
            pair += uintp(1)


@njit(cache=True, nogil=True)
def add_missing(class_counts, known, out):
    """Count 1 for each pair of rows in which at least one value is missing."""
    pair = 0
    for i in range(class_counts.shape[0]):
        for j in range(i + 1, class_counts.shape[0]):
            out[pair] += class_counts[i] * class_counts[j] - known[i] * known[j]
            pair += 1


@njit(cache=True, nogil=True)
def add_ties(words, label_bits, tied, places, out):
    """Count 1 for each pair of rows of different classes with one key.

    The sweep takes words one by one, and codes ascend within a key, so of two tied words the
    one of the lower class comes first and has won nothing: all ties of i < j are still owed.
    """
    shift = np.uint32(label_bits)
    mask = (np.uint32(1) << shift) - np.uint32(1)
    n_tied = 0  # places[:n_tied] are the words that share a key with the next one
    last_place = words.shape[0] - 1
    for start in range(0, last_place, 64):
        stop = min(start + 64, last_place)
        if count_equal(words[start : stop + 1], shift) > 0:
            for i in range(uintp(start), uintp(stop)):
                places[uintp(n_tied)] = i
                n_tied += (words[i] >> shift) == (words[i + uintp(1)] >> shift)
    if n_tied == 0:
        return
    tied[:] = 0
    p = 0
    while p < n_tied:
        first = places[p]
        last = first + 1
        p += 1
        while p < n_tied and places[p] == last:
            last += 1
            p += 1
        if last - first < 8:
            for high in range(uintp(first + 1), uintp(last + 1)):
                for low in range(uintp(first), high):
                    tied[uintp(words[low] & mask), uintp(words[high] & mask)] += 1
        else:
            _add_runs(words[first : last + 1], mask, tied)
    add_upper_triangle(tied, out)


@njit(cache=True, nogil=True)
def _add_runs(words, mask, tied):
    """Count the tied pairs of one key by its runs of equal classes."""
    n_classes = tied.shape[0]
    run_class = np.empty(n_classes, np.int64)
    run_size = np.zeros(n_classes, np.int64)
    n_runs = 0
    for i in range(words.shape[0]):
        k = np.int64(words[i] & mask)
        if n_runs == 0 or run_class[n_runs - 1] != k:
            run_class[n_runs] = k
            n_runs += 1
        run_size[n_runs - 1] += 1
    for a in range(n_runs):
        for b in range(a + 1, n_runs):
            tied[run_class[a], run_class[b]] += run_size[a] * run_size[b]


@njit(cache=True, nogil=True)
def count_equal(words, shift):
    """Return how many neighbours in a sorted row of words share a key."""
    n_equal = 0
    for i in range(uintp(max(0, words.shape[0] - 1))):
        n_equal += (words[i] >> shift) == (words[i + uintp(1)] >> shift)
    return n_equal
