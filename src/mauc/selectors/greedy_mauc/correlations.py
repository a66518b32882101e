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
_TILE = 1 << 16  # features: long rows stream well, and one of them stays in the second-level cache


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
    scores, centers, scales, shrinkage, s, n_factors, factor_s, root, first, last,
    is_left, factors, variances,
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
    is_left : ndarray of shape (n_features,), bool
    factors : ndarray of shape (n_wanted, n_features), float64
        Row ``n_factors`` is filled: the next row of the Cholesky factor.
    variances : ndarray of shape (n_features,), float64
        Updated.
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
        _subtract_centers(centers, s, start, stop, new)
        for f in range(uintp(start), uintp(stop)):
            new[f] = trusted * (new[f] * (scales[s] * scales[f]))
        _subtract_known(factors, factor_s, n_factors, start, stop, new)
        for f in range(uintp(start), uintp(stop)):
            factor = new[f] / root
            new[f] = factor
            variances[f] = max(variances[f] - factor * factor, MIN_VARIANCE)


# Four rows at a time: the new row is read and written once for all of them.


@njit(cache=True, nogil=True)
def _subtract_centers(centers, s, start, stop, new):
    """Subtract the products of the class sums, in the order of the classes."""
    n_fours = centers.shape[0] // 4 * 4
    for k in range(0, n_fours, 4):
        a, b, c, d = centers[k], centers[k + 1], centers[k + 2], centers[k + 3]
        a_s, b_s, c_s, d_s = a[s], b[s], c[s], d[s]
        for f in range(uintp(start), uintp(stop)):
            new[f] = new[f] - a_s * a[f] - b_s * b[f] - c_s * c[f] - d_s * d[f]
    for k in range(n_fours, centers.shape[0]):
        a, a_s = centers[k], centers[k, s]
        for f in range(uintp(start), uintp(stop)):
            new[f] -= a_s * a[f]


@njit(cache=True, nogil=True)
def _subtract_known(factors, factor_s, n_factors, start, stop, new):
    """Subtract what the known rows of the factor explain, in their order."""
    n_fours = n_factors // 4 * 4
    for t in range(0, n_fours, 4):
        a, b, c, d = factors[t], factors[t + 1], factors[t + 2], factors[t + 3]
        a_s, b_s, c_s, d_s = factor_s[t], factor_s[t + 1], factor_s[t + 2], factor_s[t + 3]
        for f in range(uintp(start), uintp(stop)):
            rest = fused(-b_s, b[f], fused(-a_s, a[f], new[f]))
            new[f] = fused(-d_s, d[f], fused(-c_s, c[f], rest))
    for t in range(n_fours, n_factors):
        a, a_s = factors[t], factor_s[t]
        for f in range(uintp(start), uintp(stop)):
            new[f] = fused(-a_s, a[f], new[f])
