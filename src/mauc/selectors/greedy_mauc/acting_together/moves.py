"""Moves of the search with products: what two features and their product gain together."""

import math

import numpy as np
from numba import njit, uintp

from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus, fused
from mauc.selectors.greedy_mauc.searching.correlations import MIN_VARIANCE


@njit(cache=True, nogil=True)
def bring_up_to_date(columns, effects, n_updates, step, slopes, factors):
    """Condition the effects of some columns on all columns chosen so far.

    Parameters
    ----------
    columns : ndarray of shape (n,), int64
    effects, n_updates, step, slopes, factors
        As in `mauc.selectors.greedy_mauc.searching.step.find_best`.
    """
    for f in columns:
        row = effects[f]
        for t in range(n_updates[f], step):
            slope, factor = slopes[t], factors[t, f]
            for p in range(uintp(row.shape[0])):
                row[p] = fused(-slope[p], factor, row[p])
        n_updates[f] = step


@njit(cache=True, nogil=True)
def loss_of(row, variance, weights, rate):
    """Return the part of the error that remains with a column, as `find_best` computes it."""
    inverse, loss = rate / variance, 0.0
    for p in range(row.shape[0]):
        loss = fused(weights[p], exp_minus(row[p] * row[p] * inverse), loss)
    return loss


@njit(cache=True, nogil=True)
def rate_moves(
    members, correlations, n_features, is_open, effects, step, factors, variances, weights, rate,
    prior, columns, covariances, roots, values,
):  # fmt: skip
    """Rate every product together with those of its members that are not chosen.

    Parameters
    ----------
    members : ndarray of shape (n_products, 2), int64
    correlations : ndarray of shape (n_products, 3), float64
        Shrunk correlations of the two members, of the first and of the second with the product.
    n_features : int
        Number of the first product among the columns.
    is_open : ndarray of shape (n_columns,), bool
        Columns that are not chosen.
    effects, step, factors, variances, weights, rate
        As in `find_best`; effects are up to date.
    prior : ndarray of shape (n_features,), float64
    columns : ndarray of shape (3,), int64
    covariances : ndarray of shape (3, 3), float64
    roots : ndarray of shape (3,), float64
        Work space.
    values : ndarray of shape (n_products,), float64
        Filled: gain per new feature, times the mean prior weight of these; -1 where none is new.
    """
    for j in range(members.shape[0]):
        values[j] = -1.0
        n_new, weight = 0, 0.0
        for side in range(2):
            if is_open[members[j, side]]:
                columns[n_new] = members[j, side]
                weight += prior[members[j, side]]
                n_new += 1
        if n_new == 0:
            continue
        columns[n_new] = n_features + j
        n_columns = n_new + 1
        for a in range(n_columns):
            for b in range(a):
                # Columns are members in their order, then the product.
                if columns[a] < n_features:
                    r = correlations[j, 0]
                else:
                    r = correlations[j, 1 if columns[b] == members[j, 0] else 2]
                for t in range(step):
                    r = fused(-factors[t, columns[a]], factors[t, columns[b]], r)
                for t in range(b):
                    r = fused(-covariances[a, t], covariances[b, t], r)
                covariances[a, b] = r / roots[b]
            left = variances[columns[a]]
            for b in range(a):
                left -= covariances[a, b] * covariances[a, b]
            roots[a] = math.sqrt(max(left, MIN_VARIANCE))
        loss = 0.0
        for p in range(weights.shape[0]):
            # x are the effects in independent coordinates.
            x0 = effects[columns[0], p] / roots[0]
            x1 = fused(-covariances[1, 0], x0, effects[columns[1], p]) / roots[1]
            distance = x0 * x0 + x1 * x1
            if n_columns == 3:
                x2 = fused(-covariances[2, 0], x0, effects[columns[2], p])
                x2 = fused(-covariances[2, 1], x1, x2) / roots[2]
                distance += x2 * x2
            loss = fused(weights[p], exp_minus(rate * distance), loss)
        values[j] = weight / n_new * max(1.0 - loss, 0.0) / n_new


def shrunk_correlations(scores, centers, scales, pairs, shrinkage):
    """Return the shrunk within-class correlations of pairs of columns.

    Parameters
    ----------
    scores : NormalScores
    centers, scales
        From `mauc.selectors.greedy_mauc.searching.correlations.within_scales`.
    pairs : ndarray of shape (n, 2), int64
    shrinkage : float
    """
    first, second = pairs.T
    sums = np.array(
        [scores.padded[a].astype(np.int64) @ scores.padded[b].astype(np.int64) for a, b in pairs]
    )
    within = sums - (centers[:, first] * centers[:, second]).sum(axis=0)
    return (1.0 - shrinkage) * within * scales[first] * scales[second]
