"""Sort columns once for AUCs and ranks alike: columns in, sorted words that carry the row out.

Words with the row in place of the class give the order of the rows, for ranks, and the class codes
of the rows turn them into the words that `mauc.auc.sweep` takes.
"""

import numpy as np
from numba import njit, uintp

from mauc.auc.words import label_bits_of, rank_column, sort_words, write_words
from mauc.numerics.njit_part import njit_part
from mauc.numerics.word_sort import has_ties

_MAX_INSERTED = 32  # values of one key that are sorted by insertion


def sort_with_rows(XT, labels, rows):
    """Return the sorted words of a block of columns and how many of them are filled.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Contiguous columns, read-only.
    labels : ndarray of shape (n_samples,), int32
        Number of each row, a permutation of 0, 1, ...
    rows : ndarray of shape (n_samples,), int32
        The row of each number.

    Returns
    -------
    words : ndarray of shape (n_columns, n_samples), uint64
        Keys ascend, and two words have the same key exactly when their values are equal; the
        number of the row is in the `row_bits` low bits.
    n_known : ndarray of shape (n_columns,), int64
        Values that are not missing.
    row_bits : int
    """
    row_bits = label_bits_of(XT.shape[1])
    words, n_known, layout = write_words(XT, labels, row_bits)
    sort_words(words, n_known, row_bits)
    is_exact = layout.is_exact
    if not is_exact.all():
        separate_keys(XT, rows, row_bits, n_known, words, is_exact)
        for j in np.flatnonzero(~is_exact):
            rank_column(XT[j], labels, row_bits, words[j, : n_known[j]])
    return words, n_known, row_bits


@njit(cache=True, nogil=True)
def separate_keys(XT, rows, row_bits, n_known, words, is_exact):
    """Give different values that share a key keys of their own, in columns that are not exact.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
    rows : ndarray of shape (n_samples,), int32
        The row of each number.
    row_bits : int
    n_known : ndarray of shape (n_columns,), int64
    words : ndarray of shape (n_columns, n_samples), uint64
        Sorted; changed in place.
    is_exact : ndarray of shape (n_columns,), bool
        Set, unless too many different values share a key.
    """
    shift = np.uint64(row_bits)
    for j in range(words.shape[0]):
        w = words[j, : n_known[j]]
        if is_exact[j] or not has_ties(w, shift):
            is_exact[j] = True
            continue
        n_mixed, largest = _sort_shared(XT[j], rows, shift, w)
        is_exact[j] = largest <= _MAX_INSERTED
        if is_exact[j] and n_mixed > 0:
            _renumber(XT[j], rows, shift, w)


@njit_part
def _sort_shared(x, rows, shift, words):
    """Sort the words of every key by value; return for how many keys values differ.

    Returns
    -------
    n_mixed : int
    largest : int
        Words of the largest such key; those of more than `_MAX_INSERTED` are not sorted.
    """
    n = words.shape[0]
    mask = (np.uint64(1) << shift) - np.uint64(1)
    n_mixed = largest = start = 0
    while start < n - 1:
        key = words[start] >> shift
        stop = start + 1
        if (words[stop] >> shift) == key:
            value, n_other = x[rows[words[start] & mask]], 0
            while stop < n and (words[stop] >> shift) == key:
                n_other += x[rows[words[stop] & mask]] != value
                stop += 1
            if n_other > 0:
                n_mixed += 1
                largest = max(largest, stop - start)
                if stop - start <= _MAX_INSERTED:
                    _insert_values(x, rows, mask, words, start, stop)
        start = stop
    return n_mixed, largest


@njit_part
def _renumber(x, rows, shift, words):
    """Replace all keys by dense ranks of the values."""
    mask = (np.uint64(1) << shift) - np.uint64(1)
    rank = np.uint64(0)
    previous = words[0]
    for i in range(words.shape[0]):
        word = words[i]
        is_new = (word >> shift) != (previous >> shift)
        if not is_new:
            is_new = x[rows[word & mask]] != x[rows[previous & mask]]
        rank += np.uint64(is_new)
        words[i] = (rank << shift) | (word & mask)
        previous = word


@njit_part
def _insert_values(x, rows, mask, words, start, stop):
    """Sort a few words by their values."""
    for i in range(start + 1, stop):
        word = words[i]
        value = x[rows[word & mask]]
        place = i
        while place > start and x[rows[words[place - 1] & mask]] > value:
            words[place] = words[place - 1]
            place -= 1
        words[place] = word


@njit(cache=True, nogil=True)
def write_class_words(words, n_known, row_bits, codes, label_bits):
    """Replace the number of the row in each word by its class code.

    Parameters
    ----------
    words : ndarray of shape (n_columns, n_samples), uint64
        From `sort_with_rows`; changed in place.
    n_known : ndarray of shape (n_columns,), int64
    row_bits : int
    codes : ndarray of shape (n_samples,), int32
        Class code of each number.
    label_bits : int
    """
    row_shift, label_shift = np.uint64(row_bits), np.uint64(label_bits)
    mask = (np.uint64(1) << row_shift) - np.uint64(1)
    for j in range(words.shape[0]):
        row = words[j]
        for i in range(uintp(n_known[j])):
            code = np.uint64(codes[uintp(row[i] & mask)])
            row[i] = ((row[i] >> row_shift) << label_shift) | code
