"""Correlations of all features with a chosen one, given those chosen before.

Normal scores in; one row of the Cholesky factor of the correlation matrix R and what it leaves of
the variances out.
"""

import math

import numpy as np
from numba import njit, uintp

from mauc.selectors.greedy_mauc.arithmetic import dot, fused

MIN_VARIANCE = 1e-3  # floor of v: a copy of a chosen feature has residual variance 0
_MIN_WITHIN = 0.25  # whole numbers that differ within a class have a scatter of 1/2 or more
_TILE = 1024  # features: a part of each row that stays in the first-level cache


@njit(cache=True, nogil=True)
def within_scales(sums, squares, class_counts, centers, scales):
    """Fill in the centers and scales that turn dot products into within-class correlations.

    Parameters
    ----------
    sums, squares
        From `mauc.selectors.greedy_mauc.score_columns.sum_scores`.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class; 0 for a class of which none was kept.
    centers : ndarray of shape (n_classes, n_features), float64
        Sum of each class over the root of its size.
    scales : ndarray of shape (n_features,), float64
        One over the root of the scatter within the classes; 0 if there is none.
    """
    n_features = squares.shape[0]
    for start in range(0, n_features, _TILE):
        stop = min(start + _TILE, n_features)
        for j in range(uintp(start), uintp(stop)):
            scales[j] = np.float64(squares[j])
        for k in range(sums.shape[0]):
            root = math.sqrt(max(class_counts[k], 1))
            total, center = sums[k], centers[k]
            for j in range(uintp(start), uintp(stop)):
                center[j] = total[j] / root
                scales[j] -= center[j] * center[j]
        for j in range(uintp(start), uintp(stop)):
            scales[j] = 1.0 / math.sqrt(scales[j]) if scales[j] > _MIN_WITHIN else 0.0


@njit(cache=True, nogil=True)
def update_block(
    scores, centers, scales, shrinkage, s, n_factors, factor_s, root, growth, spread, first, last,
    is_left, factors, variances, reaches,
):  # fmt: skip
    """Condition the variances of features ``first`` to ``last`` on the chosen feature s.

    Parameters
    ----------
    scores : ndarray of shape (n_features, >= n_kept), int8
    centers, scales
        See `within_scales`.
    shrinkage : float
        Correlations count 1 - shrinkage times.
    s : int
    n_factors : int
        Rows of `factors` filled so far.
    factor_s : ndarray of shape (n_wanted,), float64
        Column s of `factors`.
    root : float
        Root of the residual variance of s.
    growth, spread : float
        See `mauc.selectors.greedy_mauc.step.take_feature`.
    is_left : ndarray of shape (n_features,), bool
    factors : ndarray of shape (n_wanted, n_features), float64
        Row ``n_factors`` is filled: the next row of the Cholesky factor.
    variances : ndarray of shape (n_features,), float64
        Updated.
    reaches : ndarray of shape (n_features,), float64
        Updated, see `mauc.selectors.greedy_mauc.step`.
    """
    new = factors[n_factors]
    wide = np.empty(scores.shape[1], np.int16)  # widened once, not once per feature
    for i in range(scores.shape[1]):
        wide[i] = scores[s, i]
    trusted = 1.0 - shrinkage
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for f in range(start, stop):
            new[f] = np.float64(dot(wide, scores[f])) if is_left[f] else 0.0
        for k in range(centers.shape[0]):
            center, center_s = centers[k], centers[k, s]
            for f in range(uintp(start), uintp(stop)):
                new[f] -= center_s * center[f]
        for f in range(uintp(start), uintp(stop)):
            new[f] = trusted * (new[f] * (scales[s] * scales[f]))
        for t in range(n_factors):
            known, weight = factors[t], factor_s[t]
            for f in range(uintp(start), uintp(stop)):
                new[f] = fused(-weight, known[f], new[f])
        for f in range(uintp(start), uintp(stop)):
            factor = new[f] / root
            new[f] = factor
            variances[f] = max(variances[f] - factor * factor, MIN_VARIANCE)
            reaches[f] = reaches[f] * growth + abs(factor) * spread
