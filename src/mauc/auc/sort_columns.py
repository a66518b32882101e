"""Sort every column once: features and class codes in, sorted words out.

The contract of a sorted row of words (`mauc.auc.words`), on which the sweep relies: keys ascend,
and **two words have the same key exactly when their values are equal**.
"""

import numpy as np
from numba import njit

from mauc.auc.words import write_words
from mauc.numerics.radix_sort import sort_tagged
from mauc.numerics.word_sort import has_ties, sort_rows
from mauc.parallel import scratch_array


def sort_columns(XT, y, label_bits):
    """Return the sorted words of a block of columns and how many of them are filled.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Contiguous columns, read-only.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    label_bits : int
        Of `mauc.auc.words.label_bits_of`.

    Returns
    -------
    words : ndarray of shape (n_features, n_samples), uint64
    n_known : ndarray of shape (n_features,), int64
    """
    words, n_known, layout = write_words(XT, y, label_bits)
    sort_rows(words, n_known, label_bits, scratch_array("spare", XT.shape[1:], np.uint64))
    for j in np.flatnonzero(~layout.is_exact):
        known = words[j, : n_known[j]]
        if has_ties(known, np.uint64(label_bits)):
            rank_column(XT[j], y, label_bits, known)
    return words, n_known


@njit(cache=True, nogil=True)
def rank_column(x, y, label_bits, words):
    """Write the sorted words of one column with dense ranks as keys.

    For columns whose words lost bits and share keys: doubles of all magnitudes, or of many
    classes, with ties.
    """
    n = words.shape[0]
    values, tags = np.empty(n, np.float64), np.empty(n, np.int32)
    filled = 0
    for i in range(x.shape[0]):
        if x[i] == x[i]:
            values[filled], tags[filled] = x[i] + 0.0, y[i]  # -0.0 is 0.0
            filled += 1
    sort_tagged(values, tags, n, np.empty(n, np.uint64), np.empty(n, np.uint64))
    rank = np.uint64(0)
    for i in range(n):
        rank += np.uint64(i > 0 and values[i] != values[i - 1])
        words[i] = (rank << np.uint64(label_bits)) | np.uint64(tags[i])
