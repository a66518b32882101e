"""One step of the greedy search: update effects and correlations, find the best feature.

Let S be the chosen set, R the correlation matrix of the features within the classes, and d_p(f)
the effect of feature f on class pair p. For every feature f that is left, the kernels keep what S
does not explain: its residual effects and its residual variance v(f). Then

    D_p^2(S + f) = D_p^2(S) + d_p(f)^2 / v(f),

so a step costs one column of R, one row of the Cholesky factor and one pass over the effects.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types, uintp
from numba.extending import intrinsic

from mauc.numerics.normal_cdf import normal_cdf

MIN_VARIANCE = 1e-3  # floor of v: a copy of a chosen feature has residual variance 0
_CHUNK = 1 << 16  # so many products of two 8-bit numbers never overflow a 32-bit sum
_MIN_WITHIN = 0.25  # whole numbers that differ within a class have a scatter of 1/2 or more

_WORD, _WIDE = ir.IntType(32), ir.IntType(64)


@intrinsic
def add_product(typingctx, total, a, b):
    """Return total + a b in 32 bits: Numba alone would use 64 and half the lanes."""
    signature = types.int32(types.int32, types.int16, types.int8)

    def codegen(context, builder, signature, args):
        total, a, b = args
        return builder.add(total, builder.mul(builder.sext(a, _WORD), builder.sext(b, _WORD)))

    return signature, codegen


@intrinsic
def fused(typingctx, a, b, c):
    """Return a b + c, rounded once: the same bits on every processor."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


@intrinsic
def two_to_the(typingctx, shifted):
    """Return 2^k, given k + 1.5 * 2^52, whose lowest bits are k."""
    signature = types.float64(types.float64)

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.bitcast(args[0], _WIDE), ir.Constant(_WIDE, 52))
        bits = builder.add(bits, ir.Constant(_WIDE, 1023 << 52))
        return builder.bitcast(bits, ir.DoubleType())

    return signature, codegen


_SHIFT = 1.5 * 2.0**52
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (1.0 / math.factorial(k) for k in range(3, 12))


@njit(cache=True, nogil=True, inline="always")
def exp_minus(x):
    """Return exp(-x) for x >= 0, to 1e-14 of itself; exp(-700) for all beyond.

    exp(-x) = 2^k exp(r) with |r| <= log(2) / 2, and exp(r) by its series. There is no branch
    and no call, so a loop over it runs in vectors, with the same bits in each lane.
    """
    x = min(x, 700.0)
    shifted = fused(x, -_LOG2_E, _SHIFT)
    k = shifted - _SHIFT
    r = fused(k, -_LN2_LOW, fused(k, -_LN2_HIGH, -x))
    r2 = r * r
    r4 = r2 * r2
    low = fused(r2, fused(r, _C3, 0.5), 1.0 + r)
    middle = fused(r2, fused(r, _C7, _C6), fused(r, _C5, _C4))
    high = fused(r2, fused(r, _C11, _C10), fused(r, _C9, _C8))
    return fused(r4, fused(r4, high, middle), low) * two_to_the(shifted)


@njit(cache=True, nogil=True)
def dot(a, b):
    """Return the sum of products of a row of int16 and one of int8, none beyond -+127."""
    n = a.shape[0]
    total = np.int64(0)
    for start in range(0, n, _CHUNK):
        part = np.int32(0)
        for i in range(uintp(start), uintp(min(start + _CHUNK, n))):
            part = add_product(part, a[i], b[i])
        total += np.int64(part)
    return total


@njit(cache=True, nogil=True)
def within_scales(sums, squares, class_counts, centers, scales):
    """Fill in the centers and scales that turn dot products into within-class correlations.

    Parameters
    ----------
    sums, squares
        From `mauc.selectors.greedy_mauc.score_columns.sum_scores`.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class; 0 for a class of which none was kept.
    centers : ndarray of shape (n_features, n_classes), float64
        Sum of each class over the root of its size.
    scales : ndarray of shape (n_features,), float64
        One over the root of the scatter within the classes; 0 if there is none.
    """
    for j in range(sums.shape[0]):
        within = np.float64(squares[j])
        for k in range(sums.shape[1]):
            centers[j, k] = sums[j, k] / math.sqrt(max(class_counts[k], 1))
            within -= centers[j, k] * centers[j, k]
        scales[j] = 1.0 / math.sqrt(within) if within > _MIN_WITHIN else 0.0


@njit(cache=True, nogil=True)
def update_block(
    scores, centers, scales, shrinkage, s, n_factors, factor_s, root, first, last,
    is_left, factors, variances,
):  # fmt: skip
    """Condition the variances of features ``first`` to ``last`` on the chosen feature s.

    Parameters
    ----------
    scores : ndarray of shape (n_features, n_kept), int8
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
    n_classes = centers.shape[1]
    wide = np.empty(scores.shape[1], np.int16)  # widened once, not once per feature
    for i in range(scores.shape[1]):
        wide[i] = scores[s, i]
    for f in range(first, last):
        new[f] = 0.0
        if is_left[f] and scales[f] > 0.0 and scales[s] > 0.0:
            product = np.float64(dot(wide, scores[f]))
            for k in range(n_classes):
                product -= centers[s, k] * centers[f, k]
            new[f] = (1.0 - shrinkage) * (product * (scales[s] * scales[f]))
    for t in range(n_factors):
        known, weight = factors[t], factor_s[t]
        for f in range(uintp(first), uintp(last)):
            new[f] = fused(-weight, known[f], new[f])
    for f in range(uintp(first), uintp(last)):
        new[f] /= root
        variances[f] = max(variances[f] - new[f] * new[f], MIN_VARIANCE)


@njit(cache=True, nogil=True)
def rate_block(effects, variances, weights, rate, slopes, new, first, last, is_left, losses):
    """Update the effects and find the feature that leaves the smallest error.

    Parameters
    ----------
    effects : ndarray of shape (n_pairs, n_features), float64
        Residual effects; ``slopes[p] * new[f]`` is subtracted.
    variances : ndarray of shape (n_features,), float64
    weights : ndarray of shape (n_pairs,), float64
        Share of each pair in the error of the chosen set.
    rate : float
        Error of a pair is exp(-rate D_p^2).
    slopes : ndarray of shape (n_pairs,), float64
    new : ndarray of shape (n_features,), float64
        See `update_block`.
    first, last : int
    is_left : ndarray of shape (n_features,), bool
    losses : ndarray of shape (n_features,), float64
        Filled: the part of the error that remains with each feature.

    Returns
    -------
    best : int
        The remaining feature of smallest loss, the lowest of equals; -1 if there is none.
    """
    inverse = np.empty(last - first, np.float64)
    for f in range(first, last):
        losses[f] = 0.0
        inverse[f - first] = rate / variances[f]
    # Pairs are added one after the other, so the order of a sum is the same in all lanes.
    for p in range(uintp(effects.shape[0])):
        row, slope, weight = effects[p], slopes[p], weights[p]
        for f in range(uintp(first), uintp(last)):
            effect = fused(-slope, new[f], row[f])
            row[f] = effect
            error = exp_minus(effect * effect * inverse[f - uintp(first)])
            losses[f] = fused(weight, error, losses[f])
    best, smallest = -1, np.inf
    for f in range(first, last):
        if is_left[f] and losses[f] < smallest:
            best, smallest = f, losses[f]
    return best


@njit(cache=True, nogil=True)
def take_feature(
    s, n_factors, effects, variances, is_left, factors, rate,
    separations, weights, slopes, factor_s,
):  # fmt: skip
    """Choose feature s and update the separations of all pairs.

    Parameters
    ----------
    s : int
    n_factors : int
    effects, variances, is_left, factors, rate
        As above; ``is_left[s]`` is cleared.
    separations : ndarray of shape (n_pairs,), float64
        D_p^2 of the chosen set; updated.
    weights : ndarray of shape (n_pairs,), float64
        exp(-rate D_p^2) before the step, scaled to sum 1; updated.
    slopes : ndarray of shape (n_pairs,), float64
        Filled with d_p(s) / sqrt(v(s)).
    factor_s : ndarray of shape (n_wanted,), float64
        Filled with column s of `factors`.

    Returns
    -------
    pair : int
        The pair whose error decreases most.
    rank : int
        Place of s among the features left by the gain on this pair, 1 for the best.
    root : float
        Root of the residual variance of s.
    predicted : float
        Mean over the pairs of Phi(D_p / sqrt(2)).
    """
    n_pairs, n_features = effects.shape
    root = math.sqrt(variances[s])
    pair, largest_drop = 0, -1.0
    smallest = np.inf
    predicted = 0.0
    for p in range(n_pairs):
        slopes[p] = effects[p, s] / root
        gain = slopes[p] * slopes[p]
        drop = weights[p] * (1.0 - exp_minus(rate * gain))
        if drop > largest_drop:
            pair, largest_drop = p, drop
        separations[p] += gain
        smallest = min(smallest, separations[p])
        predicted += normal_cdf(math.sqrt(0.5 * separations[p]))
    rank = 1
    gain = effects[pair, s] * effects[pair, s] / variances[s]
    for f in range(n_features):
        if is_left[f] and f != s:
            rank += effects[pair, f] * effects[pair, f] / variances[f] > gain
    is_left[s] = False
    for t in range(n_factors):
        factor_s[t] = factors[t, s]
    # The hardest pair has weight 1 before scaling, so the weights cannot all underflow.
    total = 0.0
    for p in range(n_pairs):
        weights[p] = exp_minus(rate * (separations[p] - smallest))
        total += weights[p]
    for p in range(n_pairs):
        weights[p] /= total
    return pair, rank, root, predicted / n_pairs
