"""A paired test of two MAUCs: the difference, its interval and p-value by DeLong's covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from mauc.checks import check_choice, check_level, check_real
from mauc.data.pair_weights import pair_mean
from mauc.data.validate import encode_groups
from mauc.exceptions import MaucError, format_labels
from mauc.metrics.interval import (
    check_pairs_meet,
    class_variances,
    compare_within,
    fold_factor,
    fold_parts,
)
from mauc.metrics.mauc import check_scored
from mauc.results import Result, measure_name

ALTERNATIVES = ("two-sided", "noninferior")
# Where no sample, or hardly one, is ranked differently by the two, the variance of a component is
# taken as if one sample of the class were, by an eighth of the range, which
# benchmarks/coverage_compare.py shows to cover.
_MIN_SQUARE = 1 / 64


def compare_mauc(
    y_true: Any, scores_a: Any, scores_b: Any, *, groups: Any = None, labels: Any = None,
    sample_weight: Any = None, pair_weight: Any = None, alternative: str = "two-sided",
    margin: float = 0.005, level: float = 0.95, folds: Any = None,
) -> "MAUCComparison":  # fmt: skip
    r"""Test whether two models, or two sets of features, differ in MAUC on the same samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    scores_a, scores_b : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores of the two models for the same samples, as `mauc_score` takes them.
    groups : array-like of shape (n_samples,), optional
        What samples belong to, such as a patient: the test is that of so many groups.
    labels, sample_weight, pair_weight
        As in `mauc_score`.
    alternative : {"two-sided", "noninferior"}, default="two-sided"
        What a small p-value speaks for: MAUCs that differ, or that `scores_a` have a MAUC larger
        than that of `scores_b` less the margin.
    margin : float, default=0.005
        The loss of MAUC that "noninferior" takes as none; 0 tests whether a is better than b.
    level : float, default=0.95
        Confidence level of the interval; of "noninferior" it is one-sided.
    folds : array-like of shape (n_samples,), optional
        The fold of every sample, if the scores are those of cross-validation. Samples are then
        compared within their fold and the variance is larger, as in `mauc_interval`.

    Returns
    -------
    comparison : MAUCComparison

    See Also
    --------
    mauc_interval : The interval of one MAUC.

    Notes
    -----
    With :math:`V_{aj}` the share of class j that sample a is ranked correctly against, the variance
    of the difference is that of the differences of these components between the two models,
    summed over the pairs of classes [1]_: what both models get wrong cancels. Statistic and bounds
    take Student's t with Satterthwaite's degrees of freedom. With groups the components are
    averaged within each [2]_. Where both models rank (nearly) all samples alike, the variance is
    that of one sample of each class ranked differently, so that the interval is never empty.
    Error rates and coverage, by benchmarks/coverage_compare.py, are in docs/answers/compare.md.

    The test is about these scores on samples like these. It does not cover what another training
    set would change, but for the factor that goes with `folds`.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    .. [2] N. A. Obuchowski, "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53,
       1997.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mauc import compare_mauc
    >>> X, y = load_wine(return_X_y=True)
    >>> few, one = (GaussianNB().fit(X[::2, :k], y[::2]).predict_proba(X[1::2, :k]) for k in (4, 1))
    >>> found = compare_mauc(y[1::2], few, one)
    >>> print(f"{found.difference:.4f}, {found.lower:.4f} to {found.upper:.4f}")
    0.0453, -0.0212 to 0.1119
    >>> found.is_significant
    False
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_real("margin", margin, 0, 1)
    check_level("level", level)
    options = labels, sample_weight, pair_weight
    ST_a, classes, pairs = _check_scores("scores_a", y_true, scores_a, *options)
    ST_b, others, _ = _check_scores("scores_b", y_true, scores_b, *options)
    if sorted(map(str, classes)) != sorted(map(str, others)):
        raise MaucError(
            f"scores_a and scores_b must be scores of the same classes, got "
            f"{format_labels(classes)} and {format_labels(others)}."
        )
    ST_b = ST_b[[others.tolist().index(label) for label in classes.tolist()]]
    pairs.warn_of_absent()
    parts = fold_parts(folds, len(pairs.codes))
    (auc_a, components), (auc_b, components_b) = (
        compare_within(ST, pairs, parts) for ST in (ST_a, ST_b)
    )
    check_pairs_meet(auc_a, pairs, classes)
    if groups is not None:
        groups = encode_groups(groups, len(pairs.codes))
    kept, known, found = np.flatnonzero(pairs.weights), np.flatnonzero(pairs.totals), auc_a == auc_a
    tested = _Tested(alternative, float(margin), float(level))
    mean, by_pair = component_test(
        (components - components_b)[np.ix_(kept, known)],
        np.searchsorted(known, pairs.codes[kept]), pairs.weights[kept],
        auc_a[pairs.is_present], auc_b[pairs.is_present], pairs.pair_weights[pairs.is_present],
        tested, fold_factor(parts), None if groups is None else groups[kept],
    )  # fmt: skip
    pair_values = np.full((3, len(auc_a)), np.nan)
    pair_values[:, pairs.is_present] = by_pair
    pair_values[:, ~found] = np.nan
    mauc_a, mauc_b = pairs.mean(auc_a), pairs.mean(auc_b)
    lower, upper, p_value = map(float, mean)
    return MAUCComparison(
        mauc_a, mauc_b, mauc_a - mauc_b, lower, upper, p_value, alternative, tested.margin,
        tested.level, classes, auc_a, auc_b, pair_values[0], pair_values[1], pair_values[2],
        None if groups is None else len(np.unique(groups)),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class MAUCComparison(Result):
    """Two MAUCs on the same samples; iterating, and `to_frame`, give those of the class pairs.

    Parameters
    ----------
    mauc_a, mauc_b, difference : float
        The two MAUCs, and a less b.
    lower, upper, p_value : float
        Bounds of the difference, and the p-value; of "noninferior" `upper` is 1, no bound.
    alternative : {"two-sided", "noninferior"}
    margin, level : float
    classes : ndarray of shape (n_classes,)
    pair_auc_a, pair_auc_b, pair_lower, pair_upper, pair_p_value : ndarray of shape (n_pairs,)
        The same of every class pair, NaN for pairs that are absent. Each holds on its own: the
        p-values are not adjusted for the number of pairs.
    n_groups : int, or None
        How many groups the samples belong to, if these were given.
    """

    mauc_a: float
    mauc_b: float
    difference: float
    lower: float
    upper: float
    p_value: float
    alternative: str
    margin: float
    level: float
    classes: np.ndarray
    pair_auc_a: np.ndarray
    pair_auc_b: np.ndarray
    pair_lower: np.ndarray
    pair_upper: np.ndarray
    pair_p_value: np.ndarray
    n_groups: int | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the p-value is below one less the level."""
        return self.p_value < 1.0 - self.level

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: classes, AUCs, difference and bounds of every pair."""
        first, second = np.triu_indices(len(self.classes), 1)
        return {
            "class_i": self.classes[first], "class_j": self.classes[second],
            "auc_a": self.pair_auc_a, "auc_b": self.pair_auc_b,
            "difference": self.pair_auc_a - self.pair_auc_b,
            "lower": self.pair_lower, "upper": self.pair_upper, "p_value": self.pair_p_value,
        }  # fmt: skip

    def printed_parts(self) -> list[str]:
        """Return what was found in one sentence."""
        line = (
            f"{measure_name(len(self.classes))} {self.mauc_a:.4f} against {self.mauc_b:.4f}, "
            f"difference {self.difference:+z.4f}"
        )
        sure = f"{100 * self.level:g}%"
        if self.alternative == "two-sided":
            line += f", {sure} interval {self.lower:+z.4f} to {self.upper:+z.4f}"
            verdict = "they differ" if self.is_significant else "no difference is shown"
        else:
            line += f", with {sure} confidence at least {self.lower:+z.4f}"
            shown = "" if self.is_significant else "not shown to be "
            verdict = f"{shown}no more than {self.margin:g} worse"
        by = "" if self.n_groups is None else f", {self.n_groups} groups"
        return [f"{line} (p = {self.p_value:.3g}{by}): {verdict}"]


@dataclass(frozen=True)
class _Tested:
    """What is tested, and at which level."""

    alternative: str
    margin: float
    level: float

    def results(self, difference: Any, variance: Any, freedom: Any) -> np.ndarray:
        """Return bounds and p-value, (3,) or (3, n_pairs)."""
        error = np.sqrt(variance)
        if self.alternative == "two-sided":
            width = stdtrit(freedom, (1.0 + self.level) / 2) * error
            upper = np.minimum(difference + width, 1.0)
            p_value = 2.0 * stdtr(freedom, -np.abs(difference) / error)
        else:
            width, upper = stdtrit(freedom, self.level) * error, np.ones(np.shape(difference))
            p_value = stdtr(freedom, -(difference + self.margin) / error)
        return np.stack((np.maximum(difference - width, -1.0), upper, p_value))


def component_test(
    components: np.ndarray, codes: np.ndarray, weights: np.ndarray, auc_a: np.ndarray,
    auc_b: np.ndarray, pair_weights: np.ndarray, tested: _Tested, factor: float = 1.0,
    groups: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return bounds and p-value of the mean and of every pair, given differences of components."""
    table, sizes, variances, pair_variances, effects = class_variances(
        components, codes, weights, pair_weights, groups
    )
    effect, pair_effects, n_groups, n_in_pairs = effects
    first, second = np.triu_indices(len(table), 1)
    is_used = table.any(axis=1)
    in_pairs, squares = table[is_used].sum(axis=1), (table[is_used] ** 2).sum(axis=1)
    largest, n_effective = (in_pairs / table[first, second].sum()) ** 2, in_pairs**2 / squares
    means = [pair_mean(auc, pair_weights) for auc in (auc_a, auc_b)]
    variance, freedom = _total_variance(
        variances[is_used], sizes[is_used], largest, largest / n_effective**0.4
    )
    mean = tested.results(
        means[0] - means[1], factor * effect * variance, np.minimum(freedom, n_groups - 1.0)
    )
    ones = np.ones((2, 1))
    variance, freedom = _total_variance(
        np.stack((pair_variances[first, second], pair_variances[second, first])),
        np.stack((sizes[first], sizes[second])), ones, ones,
    )  # fmt: skip
    n_in_pairs = np.maximum(n_in_pairs, 2.0)
    by_pair = tested.results(
        auc_a - auc_b, factor * pair_effects * variance, np.minimum(freedom, n_in_pairs - 1.0)
    )
    return mean, by_pair


def _total_variance(
    variances: np.ndarray, sizes: np.ndarray, limits: np.ndarray, floors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the variance summed over classes, the first axis, and its degrees of freedom.

    `limits` are those of one sample, whose variance is unknown, `floors` shares of `_MIN_SQUARE`.
    """
    low = _MIN_SQUARE * floors / sizes
    is_bound = ~np.isfinite(variances)  # of one sample: a bound, it takes no degrees of freedom
    terms = np.maximum(np.where(is_bound, limits, variances), low) / sizes
    used = np.where(is_bound, 0.0, terms**2 / np.maximum(sizes - 1.0, 1e-9))
    with np.errstate(divide="ignore"):
        return terms.sum(axis=0), np.minimum(terms.sum(axis=0) ** 2 / used.sum(axis=0), 1e10)


def _check_scores(name: str, *given: Any) -> Any:
    """Return what `check_scored` does; errors name the parameter."""
    try:
        return check_scored(*given)
    except MaucError as error:
        error.args = (str(error).replace("y_score", name),)
        raise
