"""The share of every sample in the AUCs of its class: sorted score columns in, components out."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from mauc.checks import check_choice, check_int, check_real
from mauc.compile import njit
from mauc.data.validate import check_generator, check_weights
from mauc.engine.ordered import class_wins
from mauc.exceptions import MaucError
from mauc.metrics.mauc import ClassPairs, check_scored, warn_of_absent
from mauc.parallel import run_blocks


def pair_components(ST, codes, weights, totals):
    """Return how often each sample is on the right side of the samples of every other class.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    totals : ndarray of shape (n_classes,), float64
        Weight of each class.

    Returns
    -------
    components : ndarray of shape (n_samples, n_classes)
        ``components[a, j]``, a being of class i, is the share of class j that a is ranked
        correctly against, the mean of columns i and j; a tie counts 1/2. Its mean over the
        samples of class i is (A_ij + A_ji) / 2. 0 for the class of the sample itself and for
        classes that are absent.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    """
    components = np.zeros((len(codes), len(ST)))
    add_components(ST, np.argsort(ST, axis=1), codes, weights, totals, components)
    components /= 4.0 * np.where(totals > 0, totals, 1.0)
    return components


@njit(cache=True, nogil=True)
def add_components(ST, orders, codes, weights, totals, out):
    """Add to out[a, j] the wins of sample a, 2 per weight and 1 per tied weight, of two columns."""
    n_classes, n = ST.shape
    below = np.empty(n_classes, np.float64)
    tied = np.zeros(n_classes, np.float64)
    for i in range(n_classes):
        scores, order = ST[i], orders[i]
        for j in range(n_classes):
            below[j] = 0.0
        start = 0
        while start < n:
            # order[start:stop] share a score; `below` holds all classes' weight before them.
            stop = start
            while stop < n and scores[order[stop]] == scores[order[start]]:
                tied[codes[order[stop]]] += weights[order[stop]]
                stop += 1
            for place in range(start, stop):
                row = order[place]
                k = codes[row]
                if k == i:
                    for j in range(n_classes):
                        if j != i:
                            out[row, j] += 2.0 * below[j] + tied[j]
                else:
                    out[row, i] += 2.0 * (totals[i] - below[i]) - tied[i]
            for place in range(start, stop):
                k = codes[order[place]]
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop


_BLOCK_RESAMPLES = 16  # per task


def resampled_auc(ST, codes, weights, n_bootstrap, random_state, n_jobs):
    """Return the AUCs of all class pairs in resamples within the classes.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns. They are sorted once: a resample is a weight of each sample.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        A sample that is drawn twice has twice its weight; one of weight 0 is not drawn.
    n_bootstrap : int
    random_state : int, RandomState or None
    n_jobs : int or None

    Returns
    -------
    auc : ndarray of shape (n_bootstrap, n_pairs)
        (A_ij + A_ji) / 2, NaN for pairs of which a class is absent.
    """
    n_classes = len(ST)
    first, second = np.triu_indices(n_classes, 1)
    members = [np.flatnonzero((codes == code) & (weights > 0)) for code in range(n_classes)]
    orders = np.argsort(ST, axis=1)
    # A generator of its own for each resample: threads may take them in any order.
    generator = check_generator(random_state)
    if not isinstance(random_state, Integral | None):
        random_state = generator.randint(2**31 - 1)
    seeds = np.random.SeedSequence(random_state).spawn(n_bootstrap)
    auc = np.empty((n_bootstrap, len(first)))

    def resample(block):
        for place in range(block.start, block.stop):
            generator = np.random.default_rng(seeds[place])
            drawn = np.zeros(len(codes))
            for rows in members:
                if len(rows):
                    shares = np.full(len(rows), 1.0 / len(rows))
                    drawn[rows] = generator.multinomial(len(rows), shares) * weights[rows]
            totals = np.bincount(codes, drawn, minlength=n_classes)
            scale = 4.0 * totals[first] * totals[second]
            wins = np.empty((n_classes, n_classes))
            class_wins(ST, orders, codes, drawn, wins)
            auc[place] = (wins[first, second] + wins[second, first]) / np.where(
                scale > 0, scale, np.nan
            )

    starts = range(0, n_bootstrap, _BLOCK_RESAMPLES)
    blocks = (slice(start, min(start + _BLOCK_RESAMPLES, n_bootstrap)) for start in starts)
    for _ in run_blocks(resample, blocks, n_jobs):
        pass
    return auc


# Where few samples are on the wrong side, the variance of their components cannot be estimated:
# a share of theta (1 - theta), that of components spread evenly over [0, 1], is mixed in with the
# weight of one sample. benchmarks/coverage_intervals.py shows that this covers.
PRIOR_SHARE = 1 / 3
PRIOR_SAMPLES = 1.0
MAX_FREEDOM = 1e10  # beyond, Student's t is the normal distribution


def delong_bounds(ST, pairs, pair_auc, level):
    """Return the bounds of every pair of classes that is present and of the mean over them.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns.
    pairs : ClassPairs
    pair_auc : ndarray of shape (n_present,)
        (A_ij + A_ji) / 2 of the pairs that are present.
    level : float

    Returns
    -------
    bounds : ndarray of shape (2,)
        Lower and upper bound of the mean.
    pair_bounds : ndarray of shape (2, n_present)
    """
    components = pair_components(ST, pairs.codes, pairs.weights, pairs.scaled_totals)
    present = np.flatnonzero(pairs.scaled_totals)
    kept = np.flatnonzero(pairs.weights)
    codes = np.searchsorted(present, pairs.codes[kept])
    return component_bounds(
        components[np.ix_(kept, present)], codes, pairs.weights[kept], pair_auc, level
    )


def component_bounds(components, codes, weights, pair_auc, level):
    r"""Return the bounds of every pair of classes and of the mean over the pairs.

    Parameters
    ----------
    components : ndarray of shape (..., n_samples, n_classes)
        As `pair_components` returns them, of one or many score matrices.
    codes : ndarray of shape (n_samples,), int
        Every class has samples.
    weights : ndarray of shape (n_samples,), float64
        Positive.
    pair_auc : ndarray of shape (..., n_pairs)
    level : float

    Returns
    -------
    bounds : ndarray of shape (2, ...)
    pair_bounds : ndarray of shape (2, ..., n_pairs)

    Notes
    -----
    An AUC is a mean over the samples of either class, with the variance
    :math:`\sum_k s_k^2 / n_k`, :math:`s_k^2` being that of the components of class k (DeLong). MAUC
    is such a mean too: the component of a sample is the sum of those of its pairs, so all
    covariances between pairs that share samples are in it.
    """
    n_classes, n_pairs = components.shape[-1], pair_auc.shape[-1]
    shape = components.shape[:-2]
    sizes = np.empty(n_classes)
    pair_variances = np.empty((n_classes, *shape, n_classes))
    variances = np.empty((n_classes, *shape))
    for code in range(n_classes):
        own = components[..., codes == code, :]
        shares = weights[codes == code] / weights[codes == code].sum()
        sizes[code] = 1.0 / (shares**2).sum()
        pair_variances[code] = _variance(own, shares, sizes[code])
        variances[code] = _variance(own.sum(axis=-1) / n_pairs, shares, sizes[code], axis=-1)
    first, second = np.triu_indices(n_classes, 1)
    pair_bounds = _bounds(
        pair_auc,
        (np.moveaxis(pair_variances[first, ..., second], 0, -1),
         np.moveaxis(pair_variances[second, ..., first], 0, -1)),
        (sizes[first], sizes[second]), level, PRIOR_SHARE, 1.0,
    )  # fmt: skip
    # A class is in n_classes - 1 pairs. Its component varies by the square of their share in the
    # mean if they agree, by 1 / (n_classes - 1) of that if they are independent: between the two.
    largest = ((n_classes - 1) / n_pairs) ** 2
    share = PRIOR_SHARE * largest / np.sqrt(n_classes - 1)
    return _bounds(pair_auc.mean(axis=-1), variances, sizes, level, share, largest), pair_bounds


def _variance(values, shares, size, axis=-2):
    """Return the variance of values along an axis; infinite where one sample has all weight."""
    values = np.moveaxis(values, axis, -1)
    if size <= 1.0 + 1e-12:
        return np.full(values.shape[:-1], np.inf)
    center = values @ shares
    return (values - center[..., np.newaxis]) ** 2 @ shares**2 * size * (size / (size - 1.0))


def _bounds(auc, variances, sizes, level, prior_share, max_share):
    """Return exact binomial bounds at the number of trials that has the variance of the AUC.

    Parameters
    ----------
    auc : ndarray
    variances, sizes : sequence of ndarray
        Variance of the components and number of samples, of each class, which broadcast to `auc`.
    level : float
    prior_share, max_share : float
        Of theta (1 - theta): the variance that is mixed in, and the largest one.

    Returns
    -------
    bounds : ndarray of shape (2, ...)
    """
    total, freedom = np.zeros(np.shape(auc)), np.zeros(np.shape(auc))
    for variance, size in zip(variances, sizes, strict=True):
        prior = PRIOR_SAMPLES / size
        share = (variance + prior * prior_share) / (auc * (1.0 - auc) + prior)
        is_bound = share >= max_share  # a bound, not an estimate: it takes no degrees of freedom
        share = np.where(is_bound, max_share, share) / size
        total += share
        # Satterthwaite; what is mixed in counts as a sample here, too.
        freedom += np.where(is_bound, 0.0, share**2 / (size - 1.0 + PRIOR_SAMPLES))
    tail = (1.0 - level) / 2
    with np.errstate(divide="ignore"):
        quantile = stdtrit(np.minimum(total**2 / freedom, MAX_FREEDOM), 1.0 - tail)
    n_trials = (ndtri(1.0 - tail) / quantile) ** 2 / total
    wins, losses = auc * n_trials, (1.0 - auc) * n_trials
    with np.errstate(invalid="ignore"):
        lower = np.where(auc > 0.0, betaincinv(wins, losses + 1.0, tail), 0.0)
        upper = np.where(auc < 1.0, betaincinv(wins + 1.0, losses, 1.0 - tail), 1.0)
    return np.stack((lower, upper))


METHODS = ("delong", "percentile")
N_BOOTSTRAP = 1000


@dataclass(frozen=True, repr=False)
class MAUCInterval:
    """MAUC with its confidence interval.

    Parameters
    ----------
    mauc : float
        Of the samples themselves.
    lower, upper : float
    level : float
        Of the interval.
    pair_lower, pair_upper : ndarray of shape (n_pairs,)
        Bounds of every class pair, NaN for pairs that are absent. Each holds with the level on
        its own, not all of them together.
    method : {"delong", "percentile"}
    values : ndarray of shape (n_bootstrap,), or None
        MAUC of the resamples, for method "percentile".
    """

    mauc: float
    lower: float
    upper: float
    level: float
    pair_lower: np.ndarray
    pair_upper: np.ndarray
    method: str = "delong"
    values: np.ndarray | None = None

    @property
    def origin(self):
        """How the bounds were found, in two words."""
        return "DeLong variance" if self.values is None else f"{len(self.values)} resamples"

    def __str__(self):
        return (
            f"MAUC {self.mauc:.4f}, {100 * self.level:g}% interval {self.lower:.4f} to "
            f"{self.upper:.4f} ({self.origin})"
        )

    __repr__ = __str__


def mauc_interval(
    y_true, y_score, *, labels=None, sample_weight=None, method="delong", n_bootstrap=None,
    level=0.95, random_state=0, n_jobs=None,
):  # fmt: skip
    r"""Compute MAUC and its confidence interval, and those of the class pairs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores, as `mauc_score` takes them.
    labels : array-like of shape (n_classes,), optional
        The label of each score column.
    sample_weight : array-like of shape (n_samples,), optional
        As in `mauc_score`. Weights are importances, not counts: only their ratios within a class
        matter, and unequal ones widen the interval (see Notes).
    method : {"delong", "percentile"}, default="delong"
        How the bounds are found; "percentile" is the bootstrap.
    n_bootstrap : int, optional
        Number of resamples of method "percentile", 1000 by default.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0
        Of the resamples.
    n_jobs : int, optional
        Threads of the bootstrap. The result does not depend on it.

    Returns
    -------
    interval : MAUCInterval

    Notes
    -----
    The interval describes the uncertainty of this test set, not that of training.

    "delong": MAUC is a mean over the samples of every class k, of components :math:`V` that say
    how often a sample is on the right side of those of other classes, so its variance is
    estimated by :math:`\sum_k s_k^2 / n_k` [1]_, covariances between pairs included. The number
    of binary trials of the same variance, :math:`\hat\theta (1 - \hat\theta) / \sum_k s_k^2 / n_k`,
    reduced for the degrees of freedom of the estimate, gives the bounds of Clopper and Pearson,
    as in surveys [2]_. Near 0 and 1, where few or no samples are on the wrong side,
    :math:`s_k^2` says nothing: the variance of uniform components is mixed in with the weight of
    one sample. So the interval is never empty: that of two classes of 20 samples each, perfectly
    separated, is 0.877 to 1. For a class of a single sample the largest possible variance is
    used. With weights, variances are those of weighted means, and :math:`n_k` is
    :math:`(\sum w)^2 / \sum w^2`.

    "percentile": samples are drawn with replacement within each class and the bounds are
    percentiles of the resamples; with weights a sample brings its own along. They are too
    narrow for small classes and empty for perfect scores.

    Coverage of both, by benchmarks/coverage_intervals.py, is in docs/intervals.md.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    .. [2] E. L. Korn, B. I. Graubard, "Confidence Intervals for Proportions with Small Expected
       Number of Positive Counts Estimated from Survey Data", Survey Methodology 24, 1998.

    Examples
    --------
    >>> from mauc import mauc_interval
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2]
    >>> scores = [[5, 1, 1], [4, 2, 1], [1, 3, 2], [2, 4, 1], [1, 5, 1], [3, 3, 2], [0, 1, 5],
    ...           [1, 2, 3]]
    >>> print(mauc_interval(y, scores))
    MAUC 0.9306, 95% interval 0.4500 to 1.0000 (DeLong variance)
    """
    check_choice("method", method, METHODS)
    check_int("n_bootstrap", n_bootstrap, 1, optional=True)
    if n_bootstrap is not None and method != "percentile":
        raise MaucError(
            f'n_bootstrap is for method="percentile", got {n_bootstrap} with method={method!r}.'
        )
    check_real("level", level, 0, 1, is_low_open=True, is_high_open=True)
    ST, codes, classes = check_scored(y_true, y_score, labels, sample_weight)
    weights = None if sample_weight is None else check_weights(sample_weight, codes)
    pairs = ClassPairs(codes, classes, weights)
    warn_of_absent(classes, pairs.totals)
    auc_first, auc_second = pairs.auc(ST)
    pair_auc = (auc_first + auc_second) / 2
    pair_bounds = np.full((2, len(pair_auc)), np.nan)
    values = None
    if method == "delong":
        bounds, pair_bounds[:, pairs.is_present] = delong_bounds(
            ST, pairs, pair_auc[pairs.is_present], level
        )
    else:
        n_bootstrap = N_BOOTSTRAP if n_bootstrap is None else n_bootstrap
        resampled = resampled_auc(ST, codes, pairs.weights, n_bootstrap, random_state, n_jobs)
        resampled = resampled[:, pairs.is_present]
        tails = np.array([(1.0 - level) / 2, (1.0 + level) / 2])
        values = resampled.mean(axis=1)
        bounds = np.quantile(values, tails)
        pair_bounds[:, pairs.is_present] = np.quantile(resampled, tails, axis=0)
    return MAUCInterval(
        mauc=float(np.mean(pair_auc[pairs.is_present])),
        lower=float(bounds[0]),
        upper=float(bounds[1]),
        level=float(level),
        pair_lower=pair_bounds[0],
        pair_upper=pair_bounds[1],
        method=method,
        values=values,
    )
