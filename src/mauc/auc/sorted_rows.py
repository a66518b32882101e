"""Sort columns once for AUCs and ranks alike: sorted words that carry the row, not the class.

The class of a row is known from its place among the rows sorted by class, so words that hold this
place give the order of the rows, for ranks, and the words that `mauc.auc.sweep` takes. It pays where
places leave room for keys that hardly collide.
"""

import numpy as np
from numba import njit, uintp

from mauc.auc.counting import MAX_LEVELS
from mauc.auc.keys import EXACT, choose_keys, label_bits_of
from mauc.auc.sort_columns import sort_block
from mauc.auc.sweep import sweep_words

MAX_ROWS = 2**12  # that leave 20 bits for keys


class RowSorter:
    """Sorts blocks of columns of one problem, at most `MAX_ROWS` rows long.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    row_bits : int
        Low bits of a sorted word that hold the place of its row among the rows sorted by class.
    """

    def __init__(self, problem):
        order = np.argsort(problem.codes, kind="stable")
        self._places = np.empty(len(order), np.int32)
        self._places[order] = np.arange(len(order), dtype=np.int32)
        self._codes = problem.codes[order].astype(np.uint32)
        self._class_counts = problem.class_counts
        self.row_bits = label_bits_of(problem.n_samples)
        self._label_bits = label_bits_of(problem.n_classes)

    def sort(self, XT, keys):
        """Return the sorted words of columns and their numbers of known values.

        Parameters
        ----------
        XT : ndarray of shape (n_columns, n_samples), float32 or float64
            Read-only and contiguous.
        keys : ColumnKeys
            From `find_levels` of the same columns.

        Returns
        -------
        words : ndarray of shape (n_columns, n_samples), uint32
            As described in `mauc.auc.sort_columns`, with places in the role of class codes.
        n_known : ndarray of shape (n_columns,), int64
        """
        return sort_block(XT, self._places, self.row_bits, keys)

    def wins(self, words, n_known):
        """Return the wins of sorted columns on every class pair, as `dense_wins` does."""
        by_class = np.empty_like(words)
        write_class_words(words, self._codes, self.row_bits, self._label_bits, n_known, by_class)
        return sweep_words(by_class, n_known, self._class_counts, self._label_bits)


def find_levels(XT, n_bits):
    """Choose keys of `n_bits` bits and find the columns of few levels without missing values.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
    n_bits : int

    Returns
    -------
    keys : ColumnKeys
    has_levels : ndarray of shape (n_columns,), bool
        Columns that `mauc.auc.counting.write_levels` turns into bytes.
    """
    keys = choose_keys(XT, n_bits)
    has_levels = (keys.kinds == EXACT) & (keys.n_levels <= MAX_LEVELS)
    return keys, has_levels & (keys.n_known == XT.shape[1])


@njit(cache=True, nogil=True)
def write_class_words(words, codes, row_bits, label_bits, n_known, out):
    """Replace the place of each word by the class code of the row."""
    row_shift, label_shift = np.uint32(row_bits), np.uint32(label_bits)
    mask = (np.uint32(1) << row_shift) - np.uint32(1)
    for j in range(words.shape[0]):
        source, target = words[j], out[j]
        for i in range(uintp(n_known[j])):
            word = source[i]
            target[i] = ((word >> row_shift) << label_shift) | codes[uintp(word & mask)]
