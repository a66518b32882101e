"""Arithmetic of the greedy steps that runs in vectors: exact products and an exponential."""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.extending import intrinsic

from mauc.compile import njit
from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.progress import track
from mauc.selectors.greedy_mauc.effects import measure

_CHUNK = 1 << 16  # so many products of two 8-bit numbers never overflow a 32-bit sum

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


@njit(cache=True, nogil=True)
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


N_SHRINKAGE_FEATURES = 64  # enough for a mean over 2016 pairs of features
MIN_CLASS_COUNT = 3  # samples that a class needs for a correlation of its own


def estimate_shrinkage(scores):
    r"""Return the shrinkage intensity of the within-class correlations.

    Parameters
    ----------
    scores : NormalScores
        Up to 64 of the features that vary, at even distances, are looked at.

    Returns
    -------
    shrinkage : float
        In [0, 1].

    Notes
    -----
    One correlation r of two features is used for all class pairs, pooled over the c classes of
    n samples. It misses that of one pair of classes by chance, with variance
    :math:`(1 - r^2)^2 / (n - c)`, and because the classes differ, with half the variance s^2 of
    the correlation r_k of a class about r,

    .. math:: s^2 = \sum_k \frac{n_k}{n}
        \Big[ (r_k - r)^2 - \frac{(1 - r_k^2)^2}{n_k - 1} \Big].

    The multiple (1 - shrinkage) r of least mean squared error over the pairs of features has

    .. math:: \lambda = \frac{h}{h + \overline{r^2}}, \qquad
        h = \frac{\overline{(1 - r^2)^2}}{n - c} + \frac{\max(0, \overline{s^2})}{2},

    where bars are means over pairs of features. The first part is the analytic intensity of
    Ledoit & Wolf [1]_ and Schaefer & Strimmer [2]_. Sums are of whole numbers, thus exact.

    References
    ----------
    .. [1] O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", J. Multivariate Analysis 88, 2004.
    .. [2] J. Schaefer, K. Strimmer, "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4, 2005.
    """
    varying = np.flatnonzero(scores.varies)
    n_chosen = min(N_SHRINKAGE_FEATURES, len(varying))
    counts = scores.class_counts
    n_free = counts.sum() - np.count_nonzero(counts)
    if n_chosen < 2:
        return 0.0
    if n_free < 1:
        return 1.0
    chosen = varying[np.arange(n_chosen) * len(varying) // n_chosen]
    values = scores.scores[chosen].astype(np.float64)
    pairs = np.triu_indices(n_chosen, 1)
    stops = np.cumsum(counts)
    scatters = {}
    for k in np.flatnonzero(counts):
        part = values[:, stops[k] - counts[k] : stops[k]]
        total = part.sum(axis=1)
        # Products of whole numbers below 2^53: exact, whatever the order of the sum.
        scatters[k] = part @ part.T - np.outer(total, total) / counts[k]
    r = _correlations(sum(scatters.values()))[pairs]
    spread, weight = 0.0, 0
    for k, scatter in scatters.items():
        if counts[k] >= MIN_CLASS_COUNT:
            r_k = _correlations(scatter)[pairs]
            chance = (1.0 - r_k**2) ** 2 / (counts[k] - 1)
            spread += counts[k] * np.mean((r_k - r) ** 2 - chance)
            weight += counts[k]
    error = np.mean((1.0 - r**2) ** 2) / n_free + max(0.0, spread) / max(weight, 1) / 2
    return float(min(1.0, error / (error + np.mean(r**2))))


def _correlations(scatter):
    """Return correlations from sums of squares and products, 0 where nothing varies."""
    deviations = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    # Whole numbers that differ have a scatter of 1/2 or more.
    inverse = np.where(deviations > 0.5, 1.0 / np.maximum(deviations, 0.5), 0.0)
    return scatter * inverse[:, None] * inverse


MIN_EFFECTS = 1 << 17  # with fewer, rating all features takes less time than finding bounds
_MAX_WINDOW = 64  # steps before all bounds are renewed
# What rounding may take from a bound or add to a gain: much more than it does.
SLACK, MARGIN = 1.0 + 1e-6, 1e-11


class GainBounds:
    """Bounds of the gains of all features.

    Parameters
    ----------
    n_features : int
    weights : ndarray of shape (n_pairs,), float64
        Before the first step.
    rate : float

    Attributes
    ----------
    limits : ndarray of shape (n_features,), float64
        What the gain of each feature does not exceed in this step.
    reaches, variances : ndarray of shape (n_features,), float64
        sqrt(v0 u) and v0 of each feature.
    places : ndarray of shape (n_features,), int64
        The step that they are of, counted from the first of the window.
    place : int
        This step, counted in the same way.
    """

    def __init__(self, n_features, weights, rate):
        # The matrix of a window takes a small part of the time that rating all features would.
        window = min(_MAX_WINDOW, 2 + math.isqrt(n_features))
        self.limits = np.full(n_features, np.inf)  # nothing is known before the first step
        self.reaches = np.full(n_features, np.inf)
        self.variances = np.ones(n_features)
        self.places = np.zeros(n_features, np.int64)
        self.place = 0
        self._rate, self._first, self._spread = rate, 0, 0.0
        self._weights_at = np.empty((window + 1, len(weights)))
        self._weights_at[0] = weights
        self._growths = np.ones(window + 1)
        self._is_full = False
        self._is_worthwhile = n_features * len(weights) >= MIN_EFFECTS

    def advance(self, step, slopes, weights):
        """Prepare the bounds of the next step.

        Parameters
        ----------
        step : int
            Features chosen so far.
        slopes : ndarray of shape (n_wanted, n_pairs), float64
        weights : ndarray of shape (n_pairs,), float64
        """
        if not self._is_worthwhile:
            return
        if self._is_full:
            self._weights_at[0] = self._weights_at[-1]
            self._first += len(self._weights_at) - 1
        n_since = step - self._first
        self._weights_at[n_since] = weights
        with np.errstate(over="ignore"):  # an infinite bound is a bound
            ratios = weights / self._weights_at[: n_since + 1]
        self._growths[: n_since + 1] = np.sqrt(ratios.max(axis=1))
        recent = slopes[self._first : step]
        matrix = (recent * weights) @ recent.T
        # Of its fourth power, the root of the sum of squares is not below the largest eigenvalue,
        # and near it.
        scale = max(np.abs(matrix).max(), 1e-300)
        power = matrix / scale
        power = power @ power
        power = power @ power
        largest = scale * float((power * power).sum()) ** 0.125
        self._spread = math.sqrt(self._rate * largest)
        self._is_full = n_since == len(self._weights_at) - 1
        self.place = 0 if self._is_full else n_since

    def update(self, block, variances):
        """Fill in the limits of a range of features, given their variances."""
        if not self._is_worthwhile:
            self.limits[slice(*block)] = np.inf
            return
        bound_block(
            *block, variances, self._growths, self._spread, self._is_full,
            self.variances, self.places, self.reaches, self.limits,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def bound_block(
    first, last, variances, growths, spread, is_full, old_variances, places, reaches, limits
):
    """Fill in limits; if the window is full, they become the start of the next one.

    Parameters
    ----------
    first, last : int
    variances : ndarray of shape (n_features,), float64
    growths : ndarray of float64
        sqrt(max_p w_p / w0_p) for every step of the window.
    spread : float
        sqrt(rate m)
    is_full : bool
    old_variances, places, reaches, limits
        As in `GainBounds`.
    """
    for f in range(uintp(first), uintp(last)):
        v = variances[f]
        reach = reaches[f] * growths[uintp(places[f])]
        reach += spread * math.sqrt(max(old_variances[f] - v, 0.0) + MARGIN)
        # At the floor, a variance no longer tells the sum of squared factors.
        reach = reach if v > MIN_VARIANCE else np.inf
        limits[f] = reach * reach * SLACK / v + MARGIN
        if is_full:
            reaches[f], old_variances[f], places[f] = reach, v, 0


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


class Model(NamedTuple):
    """What GreedyMAUC measures of a problem, with its options."""

    effects: np.ndarray  #: (n_features, n_pairs)
    scores: Any  #: NormalScores
    shrinkage: float
    rate: float  #: the error of a pair is exp(-rate D_p^2)
    prior: np.ndarray | None = None  #: (n_features,): weights of the gains in a search


class SearchState(NamedTuple):
    """Effects and factors of all features, given some or all of the chosen ones.

    With S the first t chosen features, the residual effect of f given them is
    ``effects[f] - sum_u slopes[u] factors[u, f]``, u from ``n_updates[f]`` to t - 1, and its
    residual variance ``1 - sum_u factors[u, f]^2``, u < t.
    """

    effects: np.ndarray  #: (n_features, n_pairs)
    n_updates: np.ndarray  #: (n_features,): the chosen features that the effects are given
    slopes: np.ndarray  #: (n_chosen, n_pairs): effects of the chosen over the root of the variance
    factors: np.ndarray  #: (n_chosen, n_features): rows of the Cholesky factor
    varies: np.ndarray  #: (n_features,): False for constant features

    @property
    def n_bytes(self):
        """Bytes of the arrays."""
        return sum(part.nbytes for part in self)


def measure_model(selector, problem, n_jobs=None):
    """Measure effects and correlations of a problem with the options of a `GreedyMAUC`.

    A prior, which takes no part in separations, is left to whoever searches.
    """
    options = selector.check_options()
    effects, scores = measure(
        problem, noise_correction=options.noise_correction, max_samples=options.max_samples,
        n_jobs=n_jobs,
    )  # fmt: skip
    is_auto = options.shrinkage is None
    shrinkage = estimate_shrinkage(scores) if is_auto else options.shrinkage
    return Model(effects, scores, shrinkage, options.alpha / 8.0)


class Conditioning:
    """Variances, factors and separations, given chosen features that are added one by one.

    Parameters
    ----------
    model : Model
    n_wanted : int
        How many features will be added at most.

    Attributes
    ----------
    step : int
        Features added so far.
    separations : ndarray of shape (n_pairs,), float64
        D_p^2 of them.
    variances : ndarray of shape (n_features,), float64
    factors : ndarray of shape (n_wanted, n_features), float64
    slopes : ndarray of shape (n_wanted, n_pairs), float64
    lower : ndarray of shape (n_wanted, n_wanted), float64
        Cholesky factor of the correlations of the added features.
    is_left : ndarray of shape (n_features,), bool
        Features that vary and were not added.
    """

    def __init__(self, model, n_wanted):
        n_features, n_pairs = model.effects.shape
        self._scores, self._shrinkage = model.scores, model.shrinkage
        self._centers, self._scales = within_scales(model.scores)
        self.step, self.separations = 0, np.zeros(n_pairs)
        self.variances = np.ones(n_features)
        self.factors = np.zeros((n_wanted, n_features))
        self.slopes, self.lower = np.zeros((n_wanted, n_pairs)), np.zeros((n_wanted, n_wanted))
        self.is_left = model.scores.varies.copy()

    def add(self, s, residual):
        """Add feature s, whose residual effects are known; a constant one explains nothing."""
        step, padded = self.step, self._scores.padded
        root = math.sqrt(self.variances[s])
        self.slopes[step] = residual / root
        self.separations += self.slopes[step] ** 2
        self.lower[step, :step], self.lower[step, step] = self.factors[:step, s], root
        self.is_left[s] = False
        update_block(
            padded, padded[s].astype(np.int16), self._centers, self._scales, self._shrinkage, s,
            step, np.append(self.factors[:step, s], np.zeros(len(self.factors) - step)), root,
            0, len(self.variances), self.is_left, self.factors, self.variances,
        )  # fmt: skip
        self.step = step + 1


def condition_on(model, ranking):
    """Return the conditioning on the features of a ranking that vary, in their order."""
    chosen = ranking[model.scores.varies[ranking]]
    given = Conditioning(model, max(1, len(chosen)))
    for step, s in enumerate(chosen):
        given.add(s, model.effects[s] - given.factors[:step, s] @ given.slopes[:step])
    return given


def state_of(model, given):
    """Return what a search that chose these features would have left behind."""
    return SearchState(
        model.effects, np.zeros(len(model.effects), np.int64), given.slopes[: given.step],
        given.factors[: given.step], model.scores.varies,
    )  # fmt: skip


def cholesky_of(state, chosen):
    """Return the Cholesky factor of the correlations of the chosen features, from their factors."""
    lower = np.tril(state.factors[: len(chosen)][:, chosen].T, -1)
    left = np.maximum(1.0 - (lower**2).sum(axis=1), MIN_VARIANCE)
    lower[np.diag_indices(len(chosen))] = np.sqrt(left)
    return lower


# Rough seconds of a product, and of all else that a feature takes per step, and what a step must
# take for a thread to be worth its call.
_PRODUCT_TIME, _FEATURE_TIME, _THREAD_TIME = 5e-11, 3e-8, 5e-5
MAX_LOWER = 512  # rows of the Cholesky factor that are returned


class GreedyRanking(NamedTuple):
    """The features in the order of choice; arrays of shape (k,) but for the last four."""

    ranking: np.ndarray
    pairs: np.ndarray  #: the class pair whose error each feature lowers most
    ranks: np.ndarray  #: place of the feature among those left by the gain on that pair, from 1
    gains: np.ndarray  #: part of the error of the set so far that the feature takes away
    separations: np.ndarray  #: (k, n_pairs): D_p^2 of the features so far, or only the last row
    lower: np.ndarray  #: (<= k, <= k): Cholesky factor of the correlations, 512 rows at most
    relevance: np.ndarray  #: (n_features,): gain of every feature at the first step
    state: SearchState | None = None  #: what the search leaves behind, if it is in this process

    def note(self, step, taken, factor_s, separations):
        """Write down what `take_feature` returned, and the factors and separations so far."""
        self.pairs[step] = taken[0]
        if step < len(self.lower):
            self.lower[step, :step] = factor_s[:step]
            self.lower[step, step] = taken[4]
        if len(self.separations) == len(self.ranking):
            self.separations[step] = separations

    def finish(self, n_chosen, varies, separations):
        """Add the constant features, which tell nothing: they come last, by column."""
        self.ranking[n_chosen:] = np.flatnonzero(~varies)[: len(self.ranking) - n_chosen]
        keeps_steps = len(self.separations) == len(self.ranking)
        self.separations[n_chosen if keeps_steps else 0 :] = separations

    def first(self, k):
        """Return the ranking of the first k features; the separations of all steps are needed."""
        return GreedyRanking(*(part[:k] for part in self[:-2]), self.relevance, self.state)


def empty_ranking(k, n_chosen, n_features, n_pairs, *, keeps_steps):
    """Return a ranking to be filled: of k features, `n_chosen` of which are not constant."""
    return GreedyRanking(
        np.empty(k, np.int64), np.zeros(k, np.int64), np.ones(k, np.int64),
        np.zeros(k), np.empty((k if keeps_steps else 1, n_pairs)),
        np.zeros((min(n_chosen, MAX_LOWER),) * 2), np.zeros(n_features),
    )  # fmt: skip


def greedy_ranking(
    effects, scores, k, *, shrinkage, alpha, prior=None, keeps_steps=False, n_jobs=None
):
    """Choose features that together separate all class pairs.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
        Overwritten.
    scores : NormalScores
    k : int
        How many features to choose.
    shrinkage : float
        In [0, 1]: within-class correlations count 1 - shrinkage times.
    alpha : float
        Error of a pair is taken as exp(-alpha D_p^2 / 8).
    prior : ndarray of shape (n_features,), float64, optional
        Weights in (0, 1] that gains are multiplied by when they are compared.
    keeps_steps : bool, default=False
        Whether the separations of all steps are kept, which takes as much memory as the effects.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    GreedyRanking
    """
    n_features, n_pairs = effects.shape
    n_chosen = min(k, int(scores.varies.sum()))
    centers, scales = within_scales(scores)
    is_left = scores.varies.copy()
    n_updates = np.zeros(n_features, np.int64)
    variances, losses = np.ones(n_features), np.ones(n_features)
    factors = np.empty((max(n_chosen, 1), n_features))
    factor_s = np.empty(len(factors))
    separations, slopes = np.zeros(n_pairs), np.empty((len(factors), n_pairs))
    weights = np.full(n_pairs, 1.0 / n_pairs)
    found = empty_ranking(k, n_chosen, n_features, n_pairs, keeps_steps=keeps_steps)
    rate = alpha / 8.0
    prior = np.ones(n_features) if prior is None else prior
    bounds = GainBounds(n_features, weights, rate)
    blocks = feature_blocks(n_features, scores.padded.shape[1], n_jobs)

    def rank_last(block, step, taken):
        return count_better(
            *taken[:4], effects, n_updates, step - 1, slopes, factors, variances, *block,
            is_left, bounds.limits,
        )  # fmt: skip

    def add_last(block, step, s, taken):
        n_better = rank_last(block, step, taken)
        update_block(
            scores.padded, scores.padded[s].astype(np.int16), centers, scales, shrinkage, s,
            step - 1, factor_s, taken[4], *block, is_left, factors, variances,
        )  # fmt: skip
        return n_better

    def find_next(block, step, s, taken):
        n_better = 0
        if step > 0:
            n_better = add_last(block, step, s, taken)
            bounds.update(block, variances)
        best = find_best(
            effects, n_updates, step, slopes, factors, variances, weights, rate, prior, *block,
            is_left, bounds.place, bounds.places, bounds.variances, bounds.reaches, bounds.limits,
            losses,
            np.empty(BATCH, np.int64), np.empty((BATCH, len(slopes))), np.zeros((BATCH, n_pairs)),
        )  # fmt: skip
        return n_better, best

    s, taken = 0, ()
    with start_pool(len(blocks)) as pool:
        # found.ranking[:step] is the chosen set; variances are given it, effects given a part.
        for step in track(range(n_chosen), "features"):
            n_better, bests = zip(*run_in(pool, find_next, blocks, step, s, taken), strict=True)
            found.ranks[step - 1] += sum(n_better) if step > 0 else 0
            if step == 0:
                # The weights sum to 1 up to rounding: a gain of nothing may come out below 0.
                found.relevance[:] = np.where(scores.varies, np.maximum(1.0 - losses, 0.0), 0.0)
            s = first_of((f for f in bests if f >= 0), losses, prior)
            found.ranking[step] = s
            found.gains[step] = max(1.0 - losses[s], 0.0)
            taken = take_feature(
                s, step, effects, variances, factors, rate, separations, weights, slopes, factor_s
            )
            is_left[s] = False
            bounds.advance(step + 1, slopes, weights)
            found.note(step, taken, factor_s, separations)
        if n_chosen > 0:
            found.ranks[n_chosen - 1] += sum(run_in(pool, add_last, blocks, n_chosen, s, taken))
    found.finish(n_chosen, scores.varies, separations)
    return found._replace(
        state=SearchState(effects, n_updates, slopes[:n_chosen], factors[:n_chosen], scores.varies)
    )


def first_of(features, losses, prior):
    """Return the feature that is before all others by `is_before`.

    It compares one feature per thread, and is not worth a compiled call.
    """
    return min(
        features, key=lambda f: (-prior[f] * max(1.0 - losses[f], 0.0), -prior[f], losses[f], f)
    )


def feature_blocks(n_features, n_kept, n_jobs):
    """Cut the features into at most one block per thread, each worth its thread."""
    step = n_features * (n_kept * _PRODUCT_TIME + _FEATURE_TIME)
    return even_ranges(n_features, min(count_threads(n_jobs), int(step / _THREAD_TIME)))
