"""Confidence intervals of MAUC: DeLong's variance, or the bootstrap."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit
from sklearn.utils import check_consistent_length, gen_batches

from mauc.checks import check_choice, check_int, check_level
from mauc.compile import njit
from mauc.data.pair_weights import pair_mean
from mauc.data.validate import check_generator, check_vector, encode_groups
from mauc.engine.ordered import class_wins
from mauc.exceptions import MaucError
from mauc.metrics.mauc import ClassPairs, check_scored
from mauc.parallel import run_blocks
from mauc.results import Result, measure_name

_METHODS = ("delong", "percentile")
_N_BOOTSTRAP = 1000
_BLOCK_RESAMPLES = 16  # per task

# Where few samples are on the wrong side, the variance of their components cannot be estimated:
# a share of theta (1 - theta), that of components spread evenly over [0, 1], is mixed in with the
# weight of one sample. benchmarks/coverage_intervals.py shows that this covers.
_PRIOR_SHARE = 1 / 3
_PRIOR_SAMPLES = 1.0
_MIN_EFFECT = 0.5  # of covariances within groups on a variance; estimates below are not trusted
_MAX_FREEDOM = 1e10  # beyond, Student's t is the normal distribution


def mauc_interval(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None,
    pair_weight: Any = None, method: str = "delong", n_bootstrap: int | None = None,
    level: float = 0.95, folds: Any = None, groups: Any = None, random_state: Any = 0,
    n_jobs: int | None = None,
) -> "MAUCInterval":  # fmt: skip
    """Compute MAUC and its confidence interval, and those of the class pairs.

    Parameters
    ----------
    y_true, y_score, labels, pair_weight
        As in `mauc_score`; the interval takes weights of pairs as fixed.
    sample_weight : array-like of shape (n_samples,), optional
        As in `mauc_score`. Weights are importances, not counts: only their ratios within a class
        matter, and unequal ones widen the interval (see Notes).
    method : {"delong", "percentile"}, default="delong"
        How the bounds are found; "percentile" is the bootstrap.
    n_bootstrap : int, optional
        Number of resamples of method "percentile", 1000 by default.
    level : float, default=0.95
    folds : array-like of shape (n_samples,), optional
        The fold of every sample, if the scores are those of cross-validation, for method "delong".
        Samples are then compared within their fold, and the interval is wider (see Notes).
    groups : array-like of shape (n_samples,), optional
        What samples belong to, such as a patient, for method "delong": those of a group are not
        independent, and the interval is that of so many groups (see Notes).
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the resamples.
    n_jobs : int, optional
        Threads of the bootstrap. The result does not depend on it.

    Returns
    -------
    interval : MAUCInterval

    Notes
    -----
    The interval describes the uncertainty of this test set, not that of training. "delong" takes
    the variance of [1]_, covariances between pairs included, and the exact bounds of as many binary
    trials as have this variance [2]_. Within k folds [4]_ it is 1 + k / (k - 1) times as large, as
    training sets overlap [3]_; a group counts as a sample [5]_; docs/methods/measures.md has the
    formulas. The interval is never empty: that of two classes of 20 samples each, perfectly
    separated, is 0.877 to 1. The bounds of "percentile" are too narrow for small classes and empty
    for perfect scores. Coverage of both, by benchmarks/coverage_intervals.py, is in
    docs/intervals.md.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    .. [2] E. L. Korn, B. I. Graubard, "Confidence Intervals for Proportions with Small Expected
       Number of Positive Counts Estimated from Survey Data", Survey Methodology 24, 1998.
    .. [3] C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52,
       2003.
    .. [4] E. LeDell, M. Petersen, M. van der Laan, "Computationally Efficient Confidence Intervals
       for Cross-validated Area under the ROC Curve Estimates", Electronic Journal of Statistics 9,
       2015.
    .. [5] N. A. Obuchowski, "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53,
       1997.

    Examples
    --------
    >>> from mauc import mauc_interval
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2]
    >>> scores = [[5, 1, 1], [4, 2, 1], [1, 3, 2], [2, 4, 1], [1, 5, 1], [3, 3, 2], [0, 1, 5],
    ...           [1, 2, 3]]
    >>> print(mauc_interval(y, scores))
    MAUC 0.9306, 95% interval 0.3622 to 1.0000 (DeLong variance)
    """
    check_choice("method", method, _METHODS)
    check_int("n_bootstrap", n_bootstrap, 1, optional=True)
    if n_bootstrap is not None and method != "percentile":
        raise MaucError(
            f'n_bootstrap is for method="percentile", got {n_bootstrap} with method={method!r}.'
        )
    check_level("level", level)
    for name, given in (("folds", folds), ("groups", groups)):
        if given is not None and method != "delong":
            raise MaucError(f'{name} are for method="delong", got them with method={method!r}.')
    ST, classes, pairs = check_scored(y_true, y_score, labels, sample_weight, pair_weight)
    pairs.warn_of_absent()
    parts = fold_parts(folds, len(pairs.codes))
    if method == "delong":
        pair_auc, components = compare_within(ST, pairs, parts)
        check_pairs_meet(pair_auc, pairs, classes)
    else:
        pair_auc = np.mean(pairs.auc(ST), axis=0)
    if groups is not None:
        groups = encode_groups(groups, len(pairs.codes))
    pair_bounds = np.full((2, len(pair_auc)), np.nan)
    values = None
    if method == "delong":
        kept, known = np.flatnonzero(pairs.weights), np.flatnonzero(pairs.totals)
        codes = np.searchsorted(known, pairs.codes[kept])
        bounds, pair_bounds[:, pairs.is_present] = component_bounds(
            components[np.ix_(kept, known)], codes, pairs.weights[kept],
            pair_auc[pairs.is_present], pairs.pair_weights[pairs.is_present], level,
            fold_factor(parts), None if groups is None else groups[kept],
        )  # fmt: skip
        pair_bounds[:, np.isnan(pair_auc)] = np.nan
    else:
        resampled = _resampled_auc(ST, pairs, n_bootstrap or _N_BOOTSTRAP, random_state, n_jobs)
        tails = np.array([(1.0 - level) / 2, (1.0 + level) / 2])
        values = pair_mean(resampled, pairs.pair_weights)
        bounds = np.quantile(values, tails)
        present = resampled[:, pairs.is_present]
        pair_bounds[:, pairs.is_present] = np.quantile(present, tails, axis=0)
    return MAUCInterval(
        pairs.mean(pair_auc), float(bounds[0]), float(bounds[1]), float(level), pair_bounds[0],
        pair_bounds[1], method, values, classes, None if groups is None else len(np.unique(groups)),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class MAUCInterval(Result):
    """MAUC with its confidence interval; iterating, and `to_frame`, give those of the class pairs.

    Parameters
    ----------
    mauc, lower, upper, level : float
    pair_lower, pair_upper : ndarray of shape (n_pairs,)
        Bounds of every class pair, NaN for pairs that are absent. Each holds with the level on
        its own, not all of them together.
    method : {"delong", "percentile"}
    values : ndarray of shape (n_bootstrap,), or None
        MAUC of the resamples, for method "percentile".
    classes : ndarray of shape (n_classes,)
        Labels in the order of the score columns.
    n_groups : int, or None
        How many groups the samples belong to, if these were given.
    """

    mauc: float
    lower: float
    upper: float
    level: float
    pair_lower: np.ndarray
    pair_upper: np.ndarray
    method: str
    values: np.ndarray | None
    classes: np.ndarray
    n_groups: int | None = None

    @property
    def origin(self) -> str:
        """How the bounds were found, in a few words."""
        if self.n_groups is not None:
            return f"DeLong variance of {self.n_groups} groups"
        return "DeLong variance" if self.values is None else f"{len(self.values)} resamples"

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: classes and bounds, one row per pair."""
        first, second = np.triu_indices(len(self.classes), 1)
        return {
            "class_i": self.classes[first], "class_j": self.classes[second],
            "lower": self.pair_lower, "upper": self.pair_upper,
        }  # fmt: skip

    def printed_parts(self) -> list[str]:
        """Return MAUC and its interval in one line."""
        return [f"{measure_name(len(self.classes))} {self.mauc:.4f}, {self.bounds}"]

    @property
    def bounds(self) -> str:
        """The interval in words."""
        bounds = f"{self.lower:.4f} to {self.upper:.4f}"
        return f"{100 * self.level:g}% interval {bounds} ({self.origin})"


def _resampled_auc(
    ST: np.ndarray, pairs: ClassPairs, n_bootstrap: int, random_state: Any, n_jobs: int | None
) -> np.ndarray:
    """Return (A_ij + A_ji) / 2 of resamples within the classes, shape (n_bootstrap, n_pairs)."""
    codes, weights, n_classes = pairs.codes, pairs.weights, len(ST)
    members = [np.flatnonzero((codes == code) & (weights > 0)) for code in range(n_classes)]
    orders = np.argsort(ST, axis=1)  # once: a sample that is drawn twice has twice its weight
    # A generator of its own for each resample: threads may take them in any order.
    generator = check_generator(random_state)
    if not isinstance(random_state, Integral | None):
        random_state = generator.randint(2**31 - 1)
    seeds = np.random.SeedSequence(random_state).spawn(n_bootstrap)
    auc = np.empty((n_bootstrap, len(pairs.first)))

    def resample(block):
        for at in range(block.start, block.stop):
            generator = np.random.default_rng(seeds[at])
            drawn = np.zeros(len(codes))
            for rows in members:
                if len(rows):
                    shares = np.full(len(rows), 1.0 / len(rows))
                    drawn[rows] = generator.multinomial(len(rows), shares) * weights[rows]
            totals = np.bincount(codes, drawn, minlength=n_classes)
            scale = 4.0 * totals[pairs.first] * totals[pairs.second]
            wins = np.empty((n_classes, n_classes))
            class_wins(ST, orders, codes, drawn, wins)
            both = wins[pairs.first, pairs.second] + wins[pairs.second, pairs.first]
            auc[at] = both / np.where(scale > 0, scale, np.nan)

    for _ in run_blocks(resample, gen_batches(n_bootstrap, _BLOCK_RESAMPLES), n_jobs):
        pass
    return auc


def fold_parts(folds: Any, n_samples: int) -> list[np.ndarray]:
    """Return the rows of each fold, or all rows if there are no folds."""
    if folds is None:
        return [np.arange(n_samples)]
    folds = check_vector(folds, "folds")
    check_consistent_length(np.empty(n_samples), folds)
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    if len(parts) < 2:
        raise MaucError(f"folds must name at least 2 folds, got {len(parts)}.")
    return parts


def fold_factor(parts: list[np.ndarray]) -> float:
    """Return how much larger variances are as training sets overlap (Nadeau and Bengio)."""
    return 1.0 if len(parts) == 1 else 1.0 + len(parts) / (len(parts) - 1.0)


def check_pairs_meet(pair_auc: np.ndarray, pairs: ClassPairs, classes: np.ndarray) -> None:
    """Raise for a pair of classes that no fold has both of."""
    for apart in np.flatnonzero((pairs.pair_weights > 0) & np.isnan(pair_auc))[:1]:
        first, second = classes[pairs.first[apart]], classes[pairs.second[apart]]
        raise MaucError(f"folds must have all pairs of classes; {first} and {second} never meet.")


def compare_within(
    ST: np.ndarray, pairs: ClassPairs, parts: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the AUC of every pair, the mean over parts of the samples, and their components.

    Where a part lacks a class, its samples have the mean component of the others of their class.
    """
    components, auc = np.empty((len(pairs.codes), len(ST))), []
    for rows in parts:
        part = pairs if len(parts) == 1 else ClassPairs(
            pairs.codes[rows], np.arange(len(ST)), pairs.weights[rows]
        )  # fmt: skip
        auc.append(np.mean(part.auc(ST[:, rows]), axis=0))
        components[rows] = pair_components(np.ascontiguousarray(ST[:, rows]), part)
        components[np.ix_(rows, np.flatnonzero(part.totals == 0))] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a class that is absent
        for code in np.flatnonzero(pairs.totals):
            rows = pairs.codes == code
            means = np.nanmean(components[rows], axis=0)
            components[rows] = np.where(np.isnan(components[rows]), means, components[rows])
        return np.nanmean(auc, axis=0), np.nan_to_num(components)


def pair_components(ST: np.ndarray, pairs: ClassPairs) -> np.ndarray:
    """Return how often each sample is on the right side of the samples of every other class.

    ``components[a, j]``, a being of class i, is the share of class j that a is ranked correctly
    against, the mean of columns i and j; a tie counts 1/2, classes that are absent have 0.
    """
    totals = pairs.scaled_totals
    components = np.zeros((len(pairs.codes), len(ST)))
    _add_components(ST, np.argsort(ST, axis=1), pairs.codes, pairs.weights, totals, components)
    components /= 4.0 * np.where(totals > 0, totals, 1.0)
    return components


def component_bounds(
    components: np.ndarray, codes: np.ndarray, weights: np.ndarray, pair_auc: np.ndarray,
    pair_weights: np.ndarray, level: float, factor: float = 1.0, groups: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return bounds of the mean, (2,), and of pairs, (2, n_pairs); `factor` scales variances."""
    table, sizes, variances, pair_variances, effects = class_variances(
        components, codes, weights, pair_weights, groups
    )
    first, second = np.triu_indices(len(table), 1)
    total = table[first, second].sum()
    effect, pair_effects, n_groups, n_in_pairs = effects
    pair_bounds = binomial_bounds(
        pair_auc, (pair_variances[first, second], pair_variances[second, first]),
        (sizes[first], sizes[second]), level, factor * pair_effects,
        max_freedom=n_in_pairs,
    )  # fmt: skip
    # A component varies by the square of the share that the pairs of its class have in the mean if
    # they agree, by that over their effective number if they are independent: between the two.
    is_used = table.any(axis=1)
    in_pairs, squares = table[is_used].sum(axis=1), (table[is_used] ** 2).sum(axis=1)
    largest, n_effective = (in_pairs / total) ** 2, in_pairs**2 / squares
    shares = _PRIOR_SHARE * largest / [number**0.4 for number in n_effective.tolist()]
    mean, used = pair_mean(pair_auc, pair_weights), (variances[is_used], sizes[is_used])
    bounds = binomial_bounds(mean, *used, level, factor * effect, shares, largest, n_groups)
    return bounds, pair_bounds


def class_variances(
    components: np.ndarray, codes: np.ndarray, weights: np.ndarray, pair_weights: np.ndarray,
    groups: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:  # fmt: skip
    """Return weights of the pairs as a table, sizes of the classes, variances of their components.

    Variances are those of the mean, (n_classes,), and of the pairs, (n_classes, n_classes); then
    the effects of groups on them, see `_group_effects`.
    """
    n_classes = components.shape[1]
    effects: Any = (1.0, 1.0, _MAX_FREEDOM, _MAX_FREEDOM)
    if groups is not None:
        components, codes, weights, groups = _average_groups(components, codes, weights, groups)
    first, second = np.triu_indices(n_classes, 1)
    table = np.zeros((n_classes, n_classes))
    table[first, second] = table[second, first] = pair_weights / pair_weights.max()
    total = table[first, second].sum()
    sizes, variances = np.empty(n_classes), np.empty(n_classes)
    pair_variances = np.empty((n_classes, n_classes))
    for code in range(n_classes):
        own = components[codes == code]
        shares = weights[codes == code] / weights[codes == code].sum()
        sizes[code] = 1.0 / (shares**2).sum()
        pair_variances[code] = _variance(own.T, shares, sizes[code])
        variances[code] = _variance((own * table[code]).sum(axis=1) / total, shares, sizes[code])
    if groups is not None:
        effects = _group_effects(components, codes, weights, groups, table)
    return table, sizes, variances, pair_variances, effects


def _average_groups(
    components: np.ndarray, codes: np.ndarray, weights: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mean components, class, weight and group of the samples of a class in a group."""
    n_groups = groups.max() + 1
    known, places = np.unique(codes * n_groups + groups, return_inverse=True)
    total = np.bincount(places, weights)
    means = np.zeros((len(known), components.shape[1]))
    np.add.at(means, places, components * weights[:, np.newaxis])
    return means / total[:, np.newaxis], known // n_groups, total, known % n_groups


def _group_effects(
    components: np.ndarray, codes: np.ndarray, weights: np.ndarray, groups: np.ndarray,
    table: np.ndarray,
) -> tuple[float, np.ndarray, int, np.ndarray]:  # fmt: skip
    """Return what covariances within groups multiply variances by, and the numbers of groups."""
    first, second = np.triu_indices(len(table), 1)
    squares, covariances, n_both = (np.zeros(table.shape) for _ in range(3))
    shares = weights / np.bincount(codes, weights)[codes]
    centers = np.zeros(table.shape)
    np.add.at(centers, codes, components * shares[:, np.newaxis])
    # What a class in a group adds to the AUC of each of its pairs, and to the mean.
    added = (components - centers[codes]) * shares[:, np.newaxis]
    to_mean = (added * table[codes]).sum(axis=1)
    np.add.at(squares, codes, added**2)
    apart, joint = (to_mean**2).sum(), 0.0
    order = np.argsort(groups, kind="stable")  # the classes of a group ascend
    for lag in range(1, np.bincount(groups).max()):
        is_same = groups[order[lag:]] == groups[order[:-lag]]
        low, high = order[:-lag][is_same], order[lag:][is_same]
        joint += (to_mean[low] * to_mean[high]).sum()
        pair = codes[low], codes[high]
        np.add.at(covariances, pair, added[low, pair[1]] * added[high, pair[0]])
        np.add.at(n_both, pair, 1.0)
    n_of = np.bincount(codes)
    n_in_pairs = n_of[first] + n_of[second] - n_both[first, second]
    effect = _effect(np.array([apart]), np.array([joint]))[0]
    pair_effects = _effect(
        squares[first, second] + squares[second, first], covariances[first, second]
    )
    return float(effect), pair_effects, len(np.unique(groups)), n_in_pairs


def _effect(variance: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return how much larger variances are with covariances, twice; 1 for variances of 0."""
    found = np.ones(len(variance))
    np.divide(variance + 2.0 * covariance, variance, out=found, where=variance > 0.0)
    return np.maximum(found, _MIN_EFFECT)


def _variance(values, shares, size):
    """Return the variance along the last axis; infinite where one sample has all weight."""
    if size <= 1.0 + 1e-12:
        return np.full(values.shape[:-1], np.inf)
    center = values @ shares
    return (values - center[..., np.newaxis]) ** 2 @ shares**2 * size * (size / (size - 1.0))


def binomial_bounds(
    auc: Any, variances: Any, sizes: Any, level: float, factor: Any = 1.0,
    priors: Any = (_PRIOR_SHARE,) * 2, limits: Any = (1.0, 1.0), max_freedom: Any = _MAX_FREEDOM,
) -> np.ndarray:  # fmt: skip
    """Return exact binomial bounds at the number of trials that has the variance of the AUC.

    `priors` and `limits` are shares of theta (1 - theta): those mixed in, and the largest variance.
    """
    total, freedom = np.zeros(np.shape(auc)), np.zeros(np.shape(auc))
    terms = zip(variances, sizes, priors, limits, strict=True)
    for variance, size, prior_share, max_share in terms:
        prior = _PRIOR_SAMPLES / size
        share = (variance + prior * prior_share) / (auc * (1.0 - auc) + prior)
        # What is mixed in may widen the interval, never narrow it: a sample with a wrong label is
        # on the wrong side of all classes.
        spread = auc * (1.0 - auc)
        own = np.divide(variance, spread, out=np.zeros(np.shape(auc)), where=spread > 0.0)
        share = np.maximum(share, own)
        is_bound = share >= max_share  # a bound, not an estimate: it takes no degrees of freedom
        share = np.where(is_bound, max_share, share) / size
        total += share
        # Satterthwaite; what is mixed in counts as a sample here, too.
        freedom += np.where(is_bound, 0.0, share**2 / (size - 1.0 + _PRIOR_SAMPLES))
    tail = (1.0 - level) / 2
    with np.errstate(divide="ignore"):
        quantile = stdtrit(np.minimum(total**2 / freedom, max_freedom), 1.0 - tail)
    n_trials = (ndtri(1.0 - tail) / quantile) ** 2 / (factor * total)
    wins, losses = auc * n_trials, (1.0 - auc) * n_trials
    with np.errstate(invalid="ignore"):
        lower = np.where(auc > 0.0, betaincinv(wins, losses + 1.0, tail), 0.0)
        upper = np.where(auc < 1.0, betaincinv(wins + 1.0, losses, 1.0 - tail), 1.0)
    return np.stack((lower, upper))


@njit(cache=True, nogil=True)
def _add_components(ST, orders, codes, weights, totals, out):
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
            for at in range(start, stop):
                row = order[at]
                k = codes[row]
                if k == i:
                    for j in range(n_classes):
                        if j != i:
                            out[row, j] += 2.0 * below[j] + tied[j]
                else:
                    out[row, i] += 2.0 * (totals[i] - below[i]) - tied[i]
            for at in range(start, stop):
                k = codes[order[at]]
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop
