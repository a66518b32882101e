"""One step of the greedy search: find the best feature, rating only those that can be the best.

Let S be the chosen set, R the correlation matrix of the features within the classes, and d_p(f)
the effect of feature f on class pair p. For a feature f that is left, e_p(f) and v(f) are what S
does not explain of its effects and its variance. Then

    D_p^2(S + f) = D_p^2(S) + e_p(f)^2 / v(f),

and with w_p the share of pair p in the error the gain of f is sum_p w_p (1 - exp(-rate e_p^2 / v)).
The best feature has the largest b(f) times gain, b being its prior weight, 1 without a prior.

Most features are far from being the best: a feature is rated, and its effects brought up to date,
only if b times the bound of its gain exceeds the best (`bounds.py`).
"""

import math

import numpy as np
from numba import njit, uintp

from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus, fused
from mauc.selectors.greedy_mauc.searching.bounds import MARGIN, SLACK
from mauc.selectors.greedy_mauc.searching.correlations import MIN_VARIANCE

BATCH = 4  # features rated at once: the sums over their pairs do not wait for each other


@njit(cache=True, nogil=True)
def is_before(f, other, losses, prior):
    """Whether feature f is to be chosen before another one.

    The larger weighted gain decides, then the larger weight, the smaller loss and the lower column.
    1 - loss is rounded, but never so that it reverses an order: with equal weights this is the
    order of the losses.
    """
    gain = prior[f] * max(1.0 - losses[f], 0.0)
    gain_other = prior[other] * max(1.0 - losses[other], 0.0)
    if gain != gain_other:
        return gain > gain_other
    if prior[f] != prior[other]:
        return prior[f] > prior[other]
    if losses[f] != losses[other]:
        return losses[f] < losses[other]
    return f < other


@njit(cache=True, nogil=True)
def find_best(
    effects, n_updates, step, slopes, factors, variances, weights, rate, prior, first, last,
    is_left, place, places, old_variances, reaches, limits, losses, batch, pending, errors,
):  # fmt: skip
    """Find the feature of the largest gain times prior weight.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
        Residual effects, given the first ``n_updates[f]`` chosen features.
    n_updates : ndarray of shape (n_features,), int64
    step : int
        Features chosen so far.
    slopes : ndarray of shape (n_wanted, n_pairs), float64
        Effects of the chosen over the root of their variances: ``slopes[t, p] * factors[t, f]`` is
        what the t-th of them explains.
    factors : ndarray of shape (n_wanted, n_features), float64
    variances : ndarray of shape (n_features,), float64
    weights : ndarray of shape (n_pairs,), float64
        Share of each pair in the error of the chosen set.
    rate : float
        Error of a pair is exp(-rate D_p^2).
    prior : ndarray of shape (n_features,), float64
        Positive weights, none above 1.
    first, last : int
    is_left : ndarray of shape (n_features,), bool
    place, places, old_variances, reaches, limits
        Of `GainBounds`; updated for every feature that is rated.
    losses : ndarray of shape (n_features,), float64
        Filled for every feature that is rated: the part of the error that remains with it.
    batch : ndarray of shape (BATCH,), int64
    pending : ndarray of shape (BATCH, n_wanted), float64
    errors : ndarray of shape (BATCH, n_pairs), float64
        Work space, free of NaN.

    Returns
    -------
    best : int
        The first of the remaining features by `is_before`; -1 if there is none.
    """
    # The largest bound is the likeliest winner: rated first, it rules most others out.
    favourite, largest = -1, -1.0
    for f in range(first, last):
        if is_left[f] and prior[f] * limits[f] > largest:
            favourite, largest = f, prior[f] * limits[f]
    if favourite < 0:
        return -1
    n_pairs = uintp(weights.shape[0])
    n_batch = 0
    best, largest = -1, 0.0  # the latter is its weighted gain
    # best is the winner among the features that were rated; none of the others before f can be it
    for turn in range(first - 1, last + 1):
        f = favourite if turn < first else turn
        is_candidate = turn < last and is_left[f] and prior[f] * limits[f] >= largest
        if turn < first or (is_candidate and f != favourite):
            batch[n_batch] = f
            n_batch += 1
        if n_batch < BATCH and first <= turn < last:
            continue
        # All factors first: they are far apart in memory, and loads one after the other overlap.
        for i in range(n_batch):
            for t in range(n_updates[batch[i]], step):
                pending[i, t] = factors[t, batch[i]]
        for i in range(n_batch):
            f = batch[i]
            row, error = effects[f], errors[i]
            for t in range(n_updates[f], step):
                slope, factor = slopes[t], pending[i, t]
                for p in range(n_pairs):
                    row[p] = fused(-slope[p], factor, row[p])
            n_updates[f] = step
            inverse = rate / variances[f]
            for p in range(n_pairs):
                error[p] = exp_minus(row[p] * row[p] * inverse)
        # Pairs are added one after the other: the order of a sum is the same for all features.
        a, b, c, d = errors[0], errors[1], errors[2], errors[3]
        loss_a = loss_b = loss_c = loss_d = 0.0
        for p in range(n_pairs):
            loss_a = fused(weights[p], a[p], loss_a)
            loss_b = fused(weights[p], b[p], loss_b)
            loss_c = fused(weights[p], c[p], loss_c)
            loss_d = fused(weights[p], d[p], loss_d)
        for i in range(n_batch):
            f = batch[i]
            loss = loss_a if i == 0 else loss_b if i == 1 else loss_c if i == 2 else loss_d
            losses[f] = loss
            limits[f] = max(1.0 - loss, 0.0) + MARGIN
            places[f], old_variances[f] = place, variances[f]
            reaches[f] = math.sqrt(variances[f] * limits[f])
            if best < 0 or is_before(f, best, losses, prior):
                best, largest = f, prior[f] * max(1.0 - loss, 0.0)
        n_batch = 0
    return best


@njit(cache=True, nogil=True)
def take_feature(
    s, step, effects, variances, factors, rate, separations, weights, slopes, factor_s
):
    """Choose feature s, which was rated in this step, and update the separations of all pairs.

    Parameters
    ----------
    s : int
    step, effects, variances, factors, rate
        As above.
    separations : ndarray of shape (n_pairs,), float64
        D_p^2 of the chosen set; updated.
    weights : ndarray of shape (n_pairs,), float64
        exp(-rate D_p^2) before the step, scaled to sum 1; updated.
    slopes : ndarray of shape (n_wanted, n_pairs), float64
        Row `step` is filled with e_p(s) / sqrt(v(s)).
    factor_s : ndarray of shape (n_wanted,), float64
        Filled with column s of `factors`.

    Returns
    -------
    pair : int
        The pair whose error decreases most.
    gain : float
        e_p(s)^2 / v(s) of this pair.
    drop : float
        By how much its error decreases.
    separation : float
        D_p of this pair before the step.
    root : float
        Root of the residual variance of s.
    """
    n_pairs = weights.shape[0]
    row, slope = effects[s], slopes[step]
    root = math.sqrt(variances[s])
    pair, largest_drop, before = 0, -1.0, 0.0  # before: D_p^2 of the pair before the step
    smallest = np.inf
    for p in range(n_pairs):
        slope[p] = row[p] / root
        gain = slope[p] * slope[p]
        drop = weights[p] * (1.0 - exp_minus(rate * gain))
        if drop > largest_drop:
            pair, largest_drop, before = p, drop, separations[p]
        separations[p] += gain
        smallest = min(smallest, separations[p])
    for t in range(step):
        factor_s[t] = factors[t, s]
    # The hardest pair has weight 1 before scaling, so the weights cannot all underflow.
    total = 0.0
    for p in range(n_pairs):
        weights[p] = exp_minus(rate * (separations[p] - smallest))
        total += weights[p]
    for p in range(n_pairs):
        weights[p] /= total
    gain = row[pair] * row[pair] / variances[s]
    return pair, gain, largest_drop, math.sqrt(before), root


@njit(cache=True, nogil=True)
def count_better(
    pair, gain, drop, separation, effects, n_updates, step, slopes, factors, variances,
    first, last, is_left, limits,
):  # fmt: skip
    """Count the features that are left and gain more on a pair than the chosen feature.

    Parameters
    ----------
    pair, gain, drop, separation
        As from `take_feature`.
    effects, n_updates, step, slopes, factors, variances, first, last, is_left, limits
        As above, given the features chosen before.
    """
    n_better = 0
    for f in range(first, last):
        # A larger gain on this pair alone would be a gain above the drop.
        if not is_left[f] or limits[f] < drop:
            continue
        effect, variance = effects[f, pair], variances[f]
        if variance > MIN_VARIANCE:
            # The factors of f have squares of sum 1 - v, the slopes on the pair of sum D_p^2.
            limit = abs(effect) + separation * math.sqrt(1.0 - variance + MARGIN)
            if limit * limit * SLACK < gain * variance:
                continue
        for t in range(n_updates[f], step):
            effect = fused(-slopes[t, pair], factors[t, f], effect)
        n_better += effect * effect / variance > gain
    return n_better
