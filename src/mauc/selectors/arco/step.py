"""One step of ARCO: the best candidate of a block of features, given the chosen ones.

Centred ranks (see `mauc.selectors.arco.rank_columns`), relevances and the list of chosen features
give the best candidate of the block and its criterion.
"""

import math

import numpy as np
from numba import njit

from mauc.selectors.arco.rank_columns import rank_product


@njit(cache=True, nogil=True)
def best_of_block(
    ranks, squares, relevance, weight, chosen, n_chosen, first, last, best, best_score, max_rows,
    is_left, n_counted, redundancy_sum,
):  # fmt: skip
    """Find the candidate of largest criterion among features ``first`` to ``last``.

    The redundancy of a candidate is a running sum of absolute rank correlations with the chosen
    features, in the order of choice. The terms are not negative, so a sum over the first few of
    them bounds the criterion from above, and a term is counted only while this bound can still
    win, as in mRMR. Sums that are compared in the end are complete, so neither the blocks nor what
    was skipped changes a bit.

    Parameters
    ----------
    ranks : ndarray of shape (n_features, n_samples), int16 or int32
    squares : ndarray of shape (n_features,), int64
    relevance : ndarray of shape (n_features,), float64
        -inf for features that rank last.
    weight : float
        Of the mean redundancy, not negative.
    chosen : ndarray of int64
        ``chosen[:n_chosen]`` are the chosen features in the order of choice, ``n_chosen > 0``.
    first, last : int
    best, best_score : int and float
        The winner among features that were looked at before, -1 and -inf if there are none.
    max_rows : int
        Stop before more rows of ranks than that were read.
    is_left : ndarray of shape (n_features,), bool
    n_counted : ndarray of shape (n_features,), int64
        How many chosen features are in ``redundancy_sum``; updated.
    redundancy_sum : ndarray of shape (n_features,), float64
        Updated.

    Returns
    -------
    best : int
        Its index, the lowest of equals; -1 if there is no candidate left.
    best_score : float
    next : int
        Where to begin again; `last` if all features were looked at.
    """
    # The largest bound is the likeliest winner: counted first, it rules most others out.
    favourite, favourite_bound = -1, -np.inf
    for f in range(first, last):
        if is_left[f]:
            bound = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
            if favourite < 0 or bound > favourite_bound:
                favourite, favourite_bound = f, bound
    n_rows = 0
    # best is the winner among the favourite, the features first .. turn - 1 and those before
    for turn in range(first - 1, last):
        f = favourite if turn < first else turn
        if f < 0 or not is_left[f] or f == best:
            continue
        score = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
        can_win = best < 0 or score > best_score or (score == best_score and f < best)
        while can_win and n_counted[f] < n_chosen:
            if n_rows > 0 and n_rows + 2 > max_rows:
                return best, best_score, max(turn, first)
            n_rows += 2
            s = chosen[n_counted[f]]
            redundancy_sum[f] += rank_correlation(ranks, squares, f, s)
            n_counted[f] += 1
            score = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
        if can_win:
            best, best_score = f, score
    return best, best_score, last


@njit(cache=True, nogil=True)
def rank_correlation(ranks, squares, f, s):
    """Return the absolute rank correlation of two features: 1 for copies, 0 for constants."""
    if squares[f] == 0 or squares[s] == 0:
        return 0.0
    product = np.float64(abs(rank_product(ranks[f], ranks[s])))
    return product / math.sqrt(np.float64(squares[f]) * np.float64(squares[s]))
