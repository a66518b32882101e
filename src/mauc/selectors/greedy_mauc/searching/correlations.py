"""Correlations of all features with a chosen one, given those chosen before.

Normal scores in; one row of the Cholesky factor of the correlation matrix R and what it leaves of
the variances out.
"""

import numpy as np
from numba import njit, uintp

from mauc.selectors.greedy_mauc.searching.arithmetic import dot, fused

MIN_VARIANCE = 1e-3  # floor of v: a copy of a chosen feature has residual variance 0
_MIN_WITHIN = 0.25  # whole numbers that differ within a class have a scatter of 1/2 or more
_TILE = 1 << 16  # features: long rows stream well, and one of them stays in the second-level cache


def within_scales(scores):
    """Return the centers and scales that turn dot products into within-class correlations.

    Parameters
    ----------
    scores : NormalScores

    Returns
    -------
    centers : ndarray of shape (n_classes, n_features), float64
        Sum of each class over the root of its size.
    scales : ndarray of shape (n_features,), float64
        One over the root of the scatter within the classes; 0 if there is none.
    """
    centers = scores.sums / np.sqrt(np.maximum(scores.class_counts, 1))[:, None]
    within = scores.squares.astype(np.float64)
    for center in centers:
        within -= center * center
    return centers, np.where(within > _MIN_WITHIN, 1.0 / np.sqrt(np.maximum(within, 0.1)), 0.0)


@njit(cache=True, nogil=True)
def update_block(
    scores, scores_s, centers, scales, shrinkage, s, n_factors, factor_s, root, first, last,
    is_left, factors, variances,
):  # fmt: skip
    """Condition the variances of features ``first`` to ``last`` on the chosen feature s.

    Parameters
    ----------
    scores : ndarray of shape (n_features, >= n_kept), int8
    scores_s : ndarray of shape (>= n_kept,), int16
        Row s of them, widened once and not once per feature.
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
    trusted, n_classes = 1.0 - shrinkage, centers.shape[0]
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        for f in range(start, stop):
            new[f] = np.float64(dot(scores_s, scores[f])) if is_left[f] else 0.0
        # Rows are subtracted in their order, two at a time: the new one is read and written half as
        # often. The last of an odd number goes with itself times 0, which changes nothing.
        for k in range(0, n_classes, 2):
            other = min(k + 1, n_classes - 1)
            a, b, a_s, b_s = centers[k], centers[other], centers[k, s], centers[other, s]
            b_s = b_s if other > k else 0.0
            for f in range(uintp(start), uintp(stop)):
                new[f] = (new[f] - a_s * a[f]) - b_s * b[f]
        for f in range(uintp(start), uintp(stop)):
            new[f] = trusted * (new[f] * (scales[s] * scales[f]))
        for t in range(0, n_factors, 2):
            other = min(t + 1, n_factors - 1)
            a, b, a_s, b_s = factors[t], factors[other], factor_s[t], factor_s[other]
            b_s = b_s if other > t else 0.0
            for f in range(uintp(start), uintp(stop)):
                new[f] = fused(-b_s, b[f], fused(-a_s, a[f], new[f]))
        for f in range(uintp(start), uintp(stop)):
            factor = new[f] / root
            new[f] = factor
            variances[f] = max(variances[f] - factor * factor, MIN_VARIANCE)
