"""Class-pair wins of a block of columns: the path that fits the block is chosen here.

Every function returns *wins*: for each column and each pair of classes i < j, in the order
(0, 1), (0, 2), ..., the number 2 * #(x_i > x_j) + #(x_i = x_j) over all rows of class i and of
class j (Eq. 13-14 of the paper, doubled so that it is an integer). Dividing once by
2 n_i n_j gives the AUC.
"""

import numpy as np
from numba import njit

from mauc.auc.counting import MOST_CLASSES, MOST_LEVELS, count_levels, write_levels
from mauc.auc.keys import EXACT, choose_keys
from mauc.auc.ordered import sweep_ordered_columns, sweep_sparse_columns
from mauc.auc.sort_columns import fits_words, label_bits_of, sort_block
from mauc.auc.sweep import sweep_words
from mauc.problem.layout import read_only


def n_pairs_of(n_classes):
    """Return the number of class pairs, c (c - 1) / 2."""
    return n_classes * (n_classes - 1) // 2


def dense_wins(XT, y, class_counts):
    """Count the wins of dense columns.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), uint8, float32 or float64
        Contiguous columns, read-only.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    class_counts : ndarray of shape (n_classes,), int64

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), int64
    """
    n_classes = class_counts.shape[0]
    if XT.dtype == np.uint8:
        if n_classes <= MOST_CLASSES:
            n_missing = np.zeros((XT.shape[0], n_classes), np.int64)
            return count_levels(XT, y, class_counts, XT.max(axis=1) + np.int64(1), n_missing)
        XT = read_only(XT.astype(np.float32))
    if not fits_words(XT.shape[1], n_classes):
        unit = np.ones(XT.shape[1])
        return weighted_wins(XT, y, unit, class_counts.astype(np.float64)).astype(np.int64)
    keys = choose_keys(XT, 32 - label_bits_of(n_classes))
    is_counted = _is_countable(keys, XT.shape[1], n_classes)
    if is_counted.all():
        return _count_exact(XT, y, class_counts, keys)
    if not is_counted.any():
        return _sweep(XT, y, class_counts, keys)
    wins = np.empty((XT.shape[0], n_pairs_of(n_classes)), np.int64)
    for chosen, count in ((is_counted, _count_exact), (~is_counted, _sweep)):
        wins[chosen] = count(read_only(XT[chosen]), y, class_counts, keys.take(chosen))
    return wins


def weighted_wins(XT, y, sample_weight, class_weights):
    """Sum the wins of dense columns, a pair of rows weighing w_a w_b.

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), float64
    """
    if XT.dtype == np.uint8:
        XT = read_only(XT.astype(np.float32))
    wins = np.empty((XT.shape[0], n_pairs_of(class_weights.shape[0])), np.float64)
    orders = np.argsort(XT, axis=1)
    sweep_ordered_columns(XT, orders, y, sample_weight, class_weights, wins)
    return wins


def sparse_wins(data, indices, indptr, y, sample_weight, class_weights):
    """Sum the wins of the columns of a CSC matrix without filling in its zeros.

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), float64
        Whole numbers if the weights are.
    """
    wins = np.empty((indptr.shape[0] - 1, n_pairs_of(class_weights.shape[0])), np.float64)
    sweep_sparse_columns(data, indices, indptr, y, sample_weight, class_weights, wins)
    return wins


def _is_countable(keys, n_samples, n_classes):
    # A table much larger than the column would cost more than sorting it.
    most_levels = min(MOST_LEVELS, n_samples) if n_classes <= MOST_CLASSES else 0
    return (keys.kinds == EXACT) & (keys.n_levels <= most_levels)


def _count_exact(XT, y, class_counts, keys):
    levels = np.empty(XT.shape, np.uint8)
    n_missing = np.zeros((XT.shape[0], class_counts.shape[0]), np.int64)
    write_levels(XT, keys.lows, keys.scales, y, levels, n_missing)
    return count_levels(read_only(levels), y, class_counts, keys.n_levels, n_missing)


def _sweep(XT, y, class_counts, keys):
    n_classes = class_counts.shape[0]
    words, n_known = sort_block(XT, y, n_classes, keys)
    return sweep_words(words, n_known, class_counts, label_bits_of(n_classes))


@njit(cache=True, nogil=True)
def fold_wins(wins, most_wins, out):
    """Fill `out` with AUCs folded around 1/2: max(wins, most - wins) / most.

    Folding the counts, not the quotients, gives x and -x the same bits.
    """
    for j in range(wins.shape[0]):
        for pair in range(wins.shape[1]):
            won = np.float64(wins[j, pair])
            out[j, pair] = max(won, most_wins[pair] - won) / most_wins[pair]
