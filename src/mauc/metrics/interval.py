"""Confidence intervals of MAUC: DeLong's variance, or the bootstrap."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri, stdtrit
from sklearn.utils import gen_batches

from mauc.checks import check_choice, check_int, check_level
from mauc.compile import njit
from mauc.data.arguments import PairWeight, Seed, TableLike
from mauc.data.door import check_generator
from mauc.data.labels import check_categories, check_no_missing_label, encode_groups
from mauc.data.weights import pair_mean
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
# Rows of a group are taken as equal until seen otherwise, by the weight of half a row that varies.
_PRIOR_GROUPS = 0.5
_MIN_SPREAD = 1e-24  # of components; less is rounding
_N_HALVINGS = 20
_MAX_FREEDOM = 1e10  # beyond, Student's t is the normal distribution


def mauc_interval(
    y_true: ArrayLike,
    y_score: TableLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
    method: str = "delong",
    n_bootstrap: int | None = None,
    level: float = 0.95,
    folds: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> "MAUCInterval":
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
        independent, and the interval is wider the more they resemble each other (see Notes).
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
    training sets overlap [3]_. With groups [5]_ a class counts between as many samples as groups
    and as many as rows, by the correlation of the rows of a group [6]_; a class in one group has
    the largest possible variance. Such an interval informs from 8 groups on, 2 or more of each
    class: in simulations with a MAUC of 0.8 its width is at most twice 2 x 1.96 standard deviations
    of MAUC, and 1.2 to 1.5 times that with 20 groups. docs/methods/measures.md has the formulas.
    The interval is never empty: that of two classes of 20 samples each, perfectly separated, is
    0.877 to 1. The bounds of "percentile" are too narrow for small classes and empty for perfect
    scores. Coverage and widths, by benchmarks/coverage_intervals.py, are in docs/intervals.md.

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
    .. [6] R. C. Paule, J. Mandel, "Consensus Values and Weighting Factors", Journal of Research of
       the National Bureau of Standards 87, 1982.

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
            components[np.ix_(kept, known)],
            codes,
            pairs.weights[kept],
            pair_auc[pairs.is_present],
            pairs.pair_weights[pairs.is_present],
            level,
            fold_factor(parts),
            None if groups is None else groups[kept],
        )
        pair_bounds[:, np.isnan(pair_auc)] = np.nan
    else:
        resampled = _resampled_auc(ST, pairs, n_bootstrap or _N_BOOTSTRAP, random_state, n_jobs)
        tails = np.array([(1.0 - level) / 2, (1.0 + level) / 2])
        values = pair_mean(resampled, pairs.pair_weights)
        bounds = np.quantile(values, tails)
        present = resampled[:, pairs.is_present]
        pair_bounds[:, pairs.is_present] = np.quantile(present, tails, axis=0)
    return MAUCInterval(
        pairs.mean(pair_auc),
        float(bounds[0]),
        float(bounds[1]),
        float(level),
        pair_bounds[0],
        pair_bounds[1],
        method,
        values,
        classes,
        None if groups is None else len(np.unique(groups)),
    )


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
            "class_i": self.classes[first],
            "class_j": self.classes[second],
            "lower": self.pair_lower,
            "upper": self.pair_upper,
        }

    def printed_parts(self) -> list[str]:
        """Return MAUC and its interval in one line."""
        return [f"{measure_name(len(self.classes))} {self.mauc:.4f}, {self.bounds}"]

    @property
    def bounds(self) -> str:
        """The interval in words."""
        bounds = f"{self.lower:.4f} to {self.upper:.4f}"
        return f"{100 * self.level:g}% interval {bounds} ({self.origin})"


def _resampled_auc(
    ST: np.ndarray, pairs: ClassPairs, n_bootstrap: int, random_state: Seed, n_jobs: int | None
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

    def resample(block: slice) -> None:
        """Fill in the AUCs of some resamples."""
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


def fold_parts(folds: ArrayLike | None, n_samples: int) -> list[np.ndarray]:
    """Return the rows of each fold, or all rows if there are no folds."""
    if folds is None:
        return [np.arange(n_samples)]
    check_no_missing_label(folds, "folds")
    folds = check_categories(folds, "folds")
    if len(folds) != n_samples:
        raise MaucError(
            f"folds must name a fold for each of the {n_samples} rows, got {len(folds)}."
        )
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
        part = (
            pairs
            if len(parts) == 1
            else ClassPairs(pairs.codes[rows], np.arange(len(ST)), pairs.weights[rows])
        )
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
    components: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    pair_auc: np.ndarray,
    pair_weights: np.ndarray,
    level: float,
    factor: float = 1.0,
    groups: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds of the mean, (2,), and of pairs, (2, n_pairs); `factor` scales variances."""
    table, sizes, variances, pair_variances, effects = class_variances(
        components, codes, weights, pair_weights, groups
    )
    first, second = np.triu_indices(len(table), 1)
    total = table[first, second].sum()
    effect, pair_effects, *_ = effects
    counts: Any = sizes
    n_groups: Any = _MAX_FREEDOM
    n_in_pairs: Any = _MAX_FREEDOM
    if groups is not None:
        counts, n_groups, n_in_pairs = _count_groups(codes, groups)
    pair_bounds = binomial_bounds(
        pair_auc,
        (pair_variances[first, second], pair_variances[second, first]),
        (sizes[first], sizes[second]),
        level,
        factor * pair_effects,
        max_freedom=n_in_pairs,
        counts=(counts[first], counts[second]),
    )
    # A component varies by the square of the share that the pairs of its class have in the mean if
    # they agree, by that over their effective number if they are independent: between the two.
    is_used = table.any(axis=1)
    in_pairs, squares = table[is_used].sum(axis=1), (table[is_used] ** 2).sum(axis=1)
    largest, n_effective = (in_pairs / total) ** 2, in_pairs**2 / squares
    shares = _PRIOR_SHARE * largest / [number**0.4 for number in n_effective.tolist()]
    mean, used = pair_mean(pair_auc, pair_weights), (variances[is_used], sizes[is_used])
    bounds = binomial_bounds(
        mean, *used, level, factor * effect, shares, largest, n_groups, counts[is_used]
    )
    return bounds, pair_bounds


def class_variances(
    components: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    pair_weights: np.ndarray,
    groups: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return weights of the pairs as a table, sizes of the classes, variances of their components.

    Variances are those of the mean, (n_classes,), and of the pairs, (n_classes, n_classes). Sizes
    are the numbers of independent samples that the rows are worth; then what else groups multiply
    variances by, and how many of them tell the variance, each for the mean and for the pairs.
    """
    n_classes = components.shape[1]
    first, second = np.triu_indices(n_classes, 1)
    table = np.zeros((n_classes, n_classes))
    table[first, second] = table[second, first] = pair_weights / pair_weights.max()
    total = table[first, second].sum()
    if groups is not None:
        return table, *_Grouped(components, codes, weights, groups, table).variances()
    sizes, variances = np.empty(n_classes), np.empty(n_classes)
    pair_variances = np.empty((n_classes, n_classes))
    for code in range(n_classes):
        own = components[codes == code]
        shares = weights[codes == code] / weights[codes == code].sum()
        sizes[code] = 1.0 / (shares**2).sum()
        pair_variances[code] = _variance(own.T, shares, sizes[code])
        variances[code] = _variance((own * table[code]).sum(axis=1) / total, shares, sizes[code])
    effects = (1.0, 1.0, _MAX_FREEDOM, _MAX_FREEDOM)
    return table, sizes, variances, pair_variances, effects


class _Grouped:
    """Components of rows in groups, and how much the rows of a group have in common.

    There is a statistic for every pair of classes, of two columns of components, and one for the
    mean over pairs, of the last column, which is added. A cell is the rows of a class in a group.
    Arrays of shape (n_classes, n_columns) have what a class adds to a statistic.
    """

    def __init__(
        self,
        components: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray,
        groups: np.ndarray,
        table: np.ndarray,
    ) -> None:
        # Numbered as they come, so that names do not change the order of any sum.
        _, starts, groups = np.unique(groups, return_index=True, return_inverse=True)
        groups = np.argsort(np.argsort(starts))[groups]
        order = np.lexsort((groups, codes))
        codes, groups, weights = codes[order], groups[order], weights[order]
        components = components[order]
        is_new = np.append(True, (np.diff(codes) != 0) | (np.diff(groups) != 0))
        self._cell_starts = np.flatnonzero(is_new)
        self.codes, self.groups = codes[is_new], groups[is_new]
        self._class_starts = np.flatnonzero(np.append(True, np.diff(self.codes) != 0))
        self.n_groups = len(starts)
        self.is_used = np.asarray(table.any(axis=1))
        self.first, self.second = np.triu_indices(len(table), 1)

        total = table[self.first, self.second].sum()
        to_mean = (components * table[codes]).sum(axis=1) / total
        values = np.column_stack((components, to_mean))
        shares = (weights / self._by_class(self._by_cell(weights))[codes])[:, np.newaxis]
        values -= self._by_class(self._by_cell(shares * values))[codes]
        self.spread = self._by_class(self._by_cell(shares * values**2))
        self.spread[self.spread < _MIN_SPREAD] = 0.0  # rounding
        fourth = self._by_class(self._by_cell(shares**2 * values**4))
        self.share = self._by_cell(shares)
        self.means = self._by_cell(shares * values) / self.share
        squares = self._by_cell(shares**2)
        # Variance of a mean of independent rows; weights may be too small to be squared.
        self.of_rows = _divide(squares, self.share**2, 1.0)
        # Of the mean of a class, if the rows of a group are independent, and if they are equal.
        self.apart, self.equal = self._by_class(squares), self._by_class(self.share**2)
        self.n_cells = np.diff(np.append(self._class_starts, len(self.codes)))[:, np.newaxis]
        self.is_single = (self.n_cells == 1) | (self.equal >= 1.0 - 1e-12)
        # What a class may add to the variance, and how many rows the spread is seen in.
        self.weight = np.where(self.is_single, 0.0, self.spread * self.equal)
        n_seen = np.divide(self.spread**2, fourth, out=np.ones(fourth.shape), where=self.weight > 0)
        evidence = _divide(self._pooled(self.weight) ** 2, self._pooled(self.weight**2 / n_seen))
        self.correlation = self._find_correlation()
        self.trust = evidence / (evidence + _PRIOR_GROUPS)

    def variances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Return sizes, variances, those of pairs, and effects, as `class_variances` does."""
        used = self.trust * self.correlation + (1.0 - self.trust)
        own, of_mean = self._mean_variance(used), self._mean_variance(used[-1:])
        own[self.is_single[:, 0]] = of_mean[self.is_single[:, 0]] = 1.0
        # A statistic that is constant has no spread: all of its classes count the same.
        seen = np.where(self._of_statistic(self._pooled(self.spread)) > 0.0, self.spread, 1.0)
        seen = np.where(self.is_single, 0.0, seen)
        terms = seen * _divide(own, 1.0 - own)
        wanted = self._pooled(terms)
        effects = _divide(wanted, self._pooled(seen * _divide(of_mean, 1.0 - of_mean)), 1.0)
        independent = self._pooled(seen * _divide(self.apart, 1.0 - own))
        between = self.trust * self._between_classes() + (1.0 - self.trust)
        effects *= np.maximum(between, np.minimum(_divide(independent, wanted, 1.0), 1.0))
        variances = np.where(self.is_single, np.inf, _divide(self.spread, 1.0 - of_mean))
        counts, n_groups, n_in_pairs = _count_groups(self.codes, self.groups)
        # Satterthwaite: groups of a class that adds little to the variance tell little of it.
        n_known = _divide(wanted**2, self._pooled(terms**2 / counts[:, np.newaxis]), np.inf)
        n_in_pairs = np.minimum(n_in_pairs, n_known[:-1])
        return (
            1.0 / of_mean[:, -1],
            variances[:, -1],
            variances[:, :-1],
            (
                float(effects[-1]),
                effects[:-1],
                min(n_groups, n_known[-1]),
                n_in_pairs,
            ),
        )

    def _find_correlation(self) -> np.ndarray:
        """Return for every statistic the correlation of rows of a group, from 0 to 1.

        It is the one at which the means of groups vary as they do (Paule and Mandel); groups
        count the same, whatever their sizes.
        """
        n_statistics = len(self.first) + 1
        full = self._pooled(self.weight)
        low = np.where(self._excess(np.ones(n_statistics)) >= -1e-9 * full, 1.0, 0.0)
        high = np.where(self._excess(np.zeros(n_statistics)) <= 0.0, low, 1.0)
        for _ in range(_N_HALVINGS):
            middle = (low + high) / 2
            is_low = self._excess(middle) > 0.0
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return (low + high) / 2

    def _excess(self, correlation: np.ndarray) -> np.ndarray:
        """Return by how much the means of groups vary more than they would."""
        weights = 1.0 / self._cell_variance(correlation)
        sums = self._by_class(weights * self.means)
        squares = self._by_class(weights * self.means**2) - sums**2 / self._by_class(weights)
        total = _divide(self.spread, 1.0 - self._mean_variance(correlation))
        found = _divide(squares, total * np.maximum(self.n_cells - 1, 1))
        return self._pooled(self.weight * (found - 1.0))

    def _mean_variance(self, correlation: np.ndarray) -> np.ndarray:
        """Return the variance of the mean of a class, that of a row being 1."""
        rho = self._of_statistic(correlation)
        return rho * self.equal + (1.0 - rho) * self.apart

    def _cell_variance(self, correlation: np.ndarray) -> np.ndarray:
        """Return the variance of the mean of each cell, that of a row being 1."""
        rho = self._of_statistic(correlation)[self.codes]
        return rho + (1.0 - rho) * self.of_rows

    def _between_classes(self) -> np.ndarray:
        """Return what covariances of classes within groups multiply variances by."""
        effects = np.ones(len(self.first) + 1)
        if len(self.codes) == self.n_groups:  # no group has two classes
            return effects
        rho = self.correlation
        total = _divide(self.spread, 1.0 - self._mean_variance(rho))
        added = self.means * self.share
        variances = total[self.codes] * self.share**2 * self._cell_variance(rho)
        cells = np.split(np.arange(len(self.codes)), self._class_starts[1:])
        for at, (i, j) in enumerate(zip(self.first, self.second, strict=True)):
            both = np.concatenate((cells[i], cells[j]))
            columns = np.repeat((j, i), (len(cells[i]), len(cells[j])))
            effects[at] = self._covariance_effect(
                both, added[both, columns], variances[both, columns]
            )
        (used,) = self.is_used[self.codes].nonzero()
        effects[-1] = self._covariance_effect(used, added[used, -1], variances[used, -1])
        return effects

    def _covariance_effect(
        self, cells: np.ndarray, added: np.ndarray, variances: np.ndarray
    ) -> float:
        """Return how much more sums over groups vary than their terms; groups count the same."""
        groups = self.groups[cells]
        scale = np.bincount(groups, variances)
        joint = _divide(np.bincount(groups, added) ** 2, scale).sum()
        apart = _divide(np.bincount(groups, added**2), scale).sum()
        return joint / apart if apart > 0.0 else 1.0

    def _by_cell(self, values: np.ndarray) -> np.ndarray:
        sums: np.ndarray = np.add.reduceat(values, self._cell_starts, axis=0)
        return sums

    def _by_class(self, values: np.ndarray) -> np.ndarray:
        sums: np.ndarray = np.add.reduceat(values, self._class_starts, axis=0)
        return sums

    def _pooled(self, terms: np.ndarray) -> np.ndarray:
        """Return the sums of terms over the classes of every pair, and over those of the mean."""
        pairs = terms[self.first, self.second] + terms[self.second, self.first]
        return np.append(pairs, terms[self.is_used, -1].sum())

    def _of_statistic(self, values: np.ndarray) -> np.ndarray:
        """Return values of statistics where their terms are; one value is that of all."""
        out = np.full(self.spread.shape, values[-1])
        if len(values) > 1:
            out[self.first, self.second] = out[self.second, self.first] = values[:-1]
        return out


def _count_groups(codes: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
    """Return how many groups have rows of each class, how many there are, and in each pair."""
    is_present = np.zeros((codes.max() + 1, groups.max() + 1))
    is_present[codes, groups] = 1.0
    counts = is_present.sum(axis=1)
    first, second = np.triu_indices(len(counts), 1)
    n_in_pairs = counts[first] + counts[second] - (is_present @ is_present.T)[first, second]
    return counts, len(np.unique(groups)), n_in_pairs


def _divide(above: np.ndarray, below: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """Return the ratio, and another value where the divisor is 0."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0.0)


def _variance(values: np.ndarray, shares: np.ndarray, size: float) -> np.ndarray:
    """Return the variance along the last axis; infinite where one sample has all weight."""
    if size <= 1.0 + 1e-12:
        return np.full(values.shape[:-1], np.inf)
    center = values @ shares
    return (values - center[..., np.newaxis]) ** 2 @ shares**2 * size * (size / (size - 1.0))


def binomial_bounds(
    auc: np.ndarray,
    variances: Sequence[np.ndarray] | np.ndarray,
    sizes: Sequence[np.ndarray] | np.ndarray,
    level: float,
    factor: float | np.ndarray = 1.0,
    priors: Sequence[float] | np.ndarray = (_PRIOR_SHARE,) * 2,
    limits: Sequence[float] | np.ndarray = (1.0, 1.0),
    max_freedom: float | np.ndarray = _MAX_FREEDOM,
    counts: Sequence[np.ndarray] | np.ndarray | None = None,
) -> np.ndarray:
    """Return exact binomial bounds at the number of trials that has the variance of the AUC.

    `priors` and `limits` are shares of theta (1 - theta): those mixed in, and the largest variance.
    `counts` are the numbers of groups that tell the variances, by default the sizes.
    """
    counts = sizes if counts is None else counts
    total, freedom = np.zeros(np.shape(auc)), np.zeros(np.shape(auc))
    terms = zip(variances, sizes, counts, priors, limits, strict=True)
    for variance, size, count, prior_share, max_share in terms:
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
        known = np.minimum(size, count) - 1.0 + _PRIOR_SAMPLES
        freedom += np.where(is_bound, 0.0, share**2 / known)
    tail = (1.0 - level) / 2
    with np.errstate(divide="ignore"):
        quantile = stdtrit(np.minimum(total**2 / freedom, max_freedom), 1.0 - tail)
    n_trials = (ndtri(1.0 - tail) / quantile) ** 2 / (factor * total)
    wins, losses = auc * n_trials, (1.0 - auc) * n_trials
    with np.errstate(invalid="ignore"):
        lower = np.where(auc > 0.0, betaincinv(wins, losses + 1.0, tail), 0.0)
        upper = np.where(auc < 1.0, betaincinv(wins + 1.0, losses, 1.0 - tail), 1.0)
    return np.stack((lower, upper))


@njit
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
