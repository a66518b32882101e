"""One step of mRMR: the best candidate of a block of features, given the chosen ones.

In come discretised features (see joint_counts.py), their relevance and the list of
chosen features; out comes the best candidate of the block and its criterion.
"""

import numpy as np
from numba import njit

from mauc.selectors.information.joint_counts import (
    complete_counts,
    histogram_counts,
    information,
    plane_counts,
)

# Mean redundancies below this (in nats) count as none in the quotient: rounding alone gives
# 1e-16, and a quotient by it would rank noise above relevance.
REDUNDANCY_FLOOR = 1e-9


@njit(cache=True, nogil=True)
def criterion(relevance, redundancy_sum, n_chosen, is_quotient):
    """Return I(f; y) - r or I(f; y) / max(r, floor) with r the mean redundancy over S."""
    redundancy = redundancy_sum / n_chosen
    if is_quotient:
        return relevance / max(redundancy, REDUNDANCY_FLOOR)
    return relevance - redundancy


@njit(cache=True, nogil=True)
def best_of_block(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    relevance, chosen, n_chosen, is_quotient, first, last,
    is_left, n_counted, redundancy_sum,
):  # fmt: skip
    """Find the candidate of largest criterion among features ``first`` to ``last``.

    The redundancy of a candidate is a running sum of I(f; s) over the chosen features s, in the
    order of choice. The terms are not negative, so the sum over the first few of them bounds the
    criterion from above, in floating point as well (addition, division and subtraction are
    monotone). A term is counted only while this bound can still win; a candidate that is out of
    the running keeps its shorter sum for the next step. Every sum that is compared in the end is
    complete and was added up in the same order, so neither the blocks nor what was skipped
    changes a bit of the result.

    Parameters
    ----------
    D, n_states, starts, planes, counts, margin_logs, table, unit
        See `mauc.selectors.information.joint_counts.feature_margins`.
    log_n : int
        L(n_samples).
    relevance : ndarray of shape (n_features,), float64
        I(f; y), or -inf for features that must come last.
    chosen : ndarray of int64
        ``chosen[:n_chosen]`` are the features of S in the order of choice, ``n_chosen > 0``.
    is_quotient : bool
    first, last : int
    is_left : ndarray of shape (n_features,), bool
        Whether a feature is still a candidate.
    n_counted : ndarray of shape (n_features,), int64
        How many chosen features are in ``redundancy_sum``; updated.
    redundancy_sum : ndarray of shape (n_features,), float64
        Updated.

    Returns
    -------
    best : int
        Its index, the lowest of equals; -1 if the block has no candidate left.
    best_score : float
    """
    n_samples = D.shape[1]
    width = counts.shape[1]
    joint = np.empty((width, width), dtype=np.int64)

    # The largest bound is the likeliest winner: counted first, it rules most others out.
    favourite, favourite_bound = -1, -np.inf
    for f in range(first, last):
        if is_left[f]:
            bound = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
            if favourite < 0 or bound > favourite_bound:
                favourite, favourite_bound = f, bound
    if favourite < 0:
        return -1, -np.inf

    best, best_score = -1, -np.inf
    # best is the winner among the favourite and the features first .. f - 1.
    for turn in range(first - 1, last):
        f = favourite if turn < first else turn
        if not is_left[f] or f == best:
            continue
        score = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
        can_win = best < 0 or score > best_score or (score == best_score and f < best)
        while can_win and n_counted[f] < n_chosen:
            s = chosen[n_counted[f]]
            n_f, n_s = starts[f + 1] - starts[f], starts[s + 1] - starts[s]
            if n_f > 0 and n_s > 0:
                plane_counts(planes, starts[f], n_f, planes, starts[s], n_s, joint)
                complete_counts(joint, counts[f], n_states[f], counts[s], n_states[s])
            else:
                histogram_counts(D[f], n_states[f], D[s], n_states[s], joint)
            redundancy_sum[f] += information(
                joint, n_states[f], n_states[s], margin_logs[f], margin_logs[s],
                log_n, n_samples, table, unit,
            )  # fmt: skip
            n_counted[f] += 1
            score = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
        if can_win:
            best, best_score = f, score
    return best, best_score
