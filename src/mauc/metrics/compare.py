"""A paired test of two MAUCs: interval and p-value by DeLong's covariance, p-value by swaps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.utils import gen_batches

from mauc.checks import check_choice, check_level, check_real
from mauc.data.arguments import PairWeight, Seed, TableLike
from mauc.data.door import check_generator
from mauc.data.labels import encode_groups
from mauc.data.weights import pair_mean
from mauc.exceptions import MaucError, format_labels
from mauc.metrics.interval import (
    check_pairs_meet,
    class_variances,
    compare_within,
    fold_factor,
    fold_parts,
    pair_components,
)
from mauc.metrics.mauc import ClassPairs, check_scored
from mauc.results import Result, measure_name

ALTERNATIVES = ("two-sided", "noninferior")
METHODS = ("auto", "delong", "permutation")
_MIN_ROWS = 20  # of the smallest class, for which "auto" is "delong"
_MAX_UNITS = 10_000  # rows or groups, for which "auto" may be "permutation"
_N_FIRST = 14  # rows or groups that matter most, whose swaps are all taken if others are drawn
_N_SWAPS = 2**_N_FIRST
_MAX_EXACT = 16  # rows or groups that the models rank differently, all of whose swaps are taken
_LOG_MIN_P = np.log(1e-280)
_N_HALVINGS = 40
_MAX_FREEDOM = 1e10  # beyond, Student's t is the normal distribution


def compare_mauc(
    y_true: ArrayLike,
    scores_a: TableLike,
    scores_b: TableLike,
    *,
    groups: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
    alternative: str = "two-sided",
    margin: float = 0.005,
    level: float = 0.95,
    folds: ArrayLike | None = None,
    method: str = "auto",
    random_state: Seed = 0,
) -> "MAUCComparison":
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
    method : {"auto", "delong", "permutation"}, default="auto"
        How the p-values are found; the bounds are always those of "delong". "permutation" swaps
        the scores of the two models within rows, or within whole groups. It tests whether the
        MAUCs are equal, so that "noninferior" needs ``margin=0`` with it, and scores should have
        one scale, such as probabilities. "auto" is "permutation" where a class has fewer than 20
        rows, else "delong" (see Notes for the exceptions).
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the swaps, if there are too many to take them all.

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
    averaged within each [2]_.

    A variance knows nothing of disagreements that no sample shows: a model may put samples of a
    class on the wrong side of all others, at a rate p of which n samples show none with probability
    :math:`(1 - p)^n`. The loss by the largest p that leaves this probability at 0.05 (0.025 for
    "noninferior"; at other levels accordingly) is about 3 / n of what the class adds to MAUC [3]_,
    less if the scores of a row always have the same sum, as probabilities do, so that the sample is
    taken for one other class only. The distance of a bound from the difference is the root of the
    sum of the squares of this loss and of the distance by Student's t. A p-value is the level at
    which the bound meets 0 or the margin, and 1 where the difference is worse than the margin.

    "permutation" swaps the scores of the two models in a row, or in all rows of a group [4]_; with
    f the difference of MAUC, p is the share of swaps with \|f\| ("noninferior": f) at least that
    observed. All swaps are taken if at most 16 rows or groups matter, else all of the 14 that
    matter most, with random ones of the others, and p = (1 + b) / 16,385. It is exact where the
    models are exchangeable; it may reject equal MAUCs of models of another kind too often, such as
    predicted labels against probabilities. Hence "auto" does not take it if one model has more than
    twice as many different scores as the other; nor with `folds`, as it knows nothing of training
    sets; nor for a `margin` above 0 or more than 10,000 rows or groups. The interval is not made by
    swaps and may disagree with the p-value; the printed line then says so.

    Error rates and coverage, by benchmarks/coverage_compare.py, are in docs/answers/compare.md.

    The test is about these scores on samples like these. It does not cover what another training
    set would change, but for the factor that goes with `folds`.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    .. [2] N. A. Obuchowski, "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53,
       1997.
    .. [3] J. A. Hanley, A. Lippman-Hand, "If Nothing Goes Wrong, Is Everything All Right?", JAMA
       249, 1983.
    .. [4] A. I. Bandos, H. E. Rockette, D. Gur, "A Permutation Test Sensitive to Differences in
       Areas for Comparing ROC Curves from a Paired Design", Statistics in Medicine 24, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mauc import compare_mauc
    >>> X, y = load_wine(return_X_y=True)
    >>> few, one = (GaussianNB().fit(X[::2, :k], y[::2]).predict_proba(X[1::2, :k]) for k in (4, 1))
    >>> found = compare_mauc(y[1::2], few, one)
    >>> print(f"{found.difference:.4f}, {found.lower:.4f} to {found.upper:.4f}")
    0.0453, -0.0401 to 0.1280
    >>> found.is_significant
    False
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("method", method, METHODS)
    check_real("margin", margin, 0, 1)
    check_level("level", level)
    is_equality = alternative == "two-sided" or margin == 0.0
    if method == "permutation" and not is_equality:
        raise MaucError(
            f'method="permutation" tests whether MAUCs are equal: alternative="noninferior" must '
            f'have margin=0 with it, got margin={margin}; method="delong" takes any margin.'
        )
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
    codes = np.searchsorted(known, pairs.codes[kept])
    mean, by_pair = component_test(
        (components - components_b)[np.ix_(kept, known)],
        codes,
        pairs.weights[kept],
        auc_a[pairs.is_present],
        auc_b[pairs.is_present],
        pairs.pair_weights[pairs.is_present],
        tested,
        fold_factor(parts),
        None if groups is None else groups[kept],
        all(_is_shared_out(ST[:, kept]) for ST in (ST_a, ST_b)),
    )
    units = np.arange(len(kept)) if groups is None else groups[kept]
    if method == "auto":
        is_few = np.bincount(codes).min() < _MIN_ROWS and len(np.unique(units)) <= _MAX_UNITS
        is_swapped = is_equality and is_few and folds is None
        is_swapped = is_swapped and _are_alike(ST_a[:, kept], ST_b[:, kept])
        method = "permutation" if is_swapped else "delong"
    if method == "permutation":
        effects = _swap_effects(ST_a, ST_b, pairs, parts)[np.ix_(kept, known)]
        weights = pairs.pair_weights[pairs.is_present]
        columns = _unit_effects(effects, codes, weights, units)
        p_values = _swap_p_values(columns, alternative != "two-sided", random_state)
        mean[2], by_pair[2] = p_values[0], p_values[1:]
    pair_values = np.full((3, len(auc_a)), np.nan)
    pair_values[:, pairs.is_present] = by_pair
    pair_values[:, ~found] = np.nan
    mauc_a, mauc_b = pairs.mean(auc_a), pairs.mean(auc_b)
    lower, upper, p_value = map(float, mean)
    return MAUCComparison(
        mauc_a,
        mauc_b,
        mauc_a - mauc_b,
        lower,
        upper,
        p_value,
        alternative,
        tested.margin,
        tested.level,
        classes,
        auc_a,
        auc_b,
        pair_values[0],
        pair_values[1],
        pair_values[2],
        None if groups is None else len(np.unique(groups)),
        method,
    )


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
    method : {"delong", "permutation"}
        How the p-values were found. The bounds are always those of "delong".
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
    method: str = "delong"

    @property
    def is_significant(self) -> bool:
        """Whether the p-value is below one less the level."""
        return self.p_value < 1.0 - self.level

    @property
    def _bounds_exclude(self) -> bool:
        """Whether the bounds, too, speak against equal MAUCs or a loss as large as the margin."""
        if self.alternative == "two-sided":
            return self.lower > 0.0 or self.upper < 0.0
        return self.lower > -self.margin

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: classes, AUCs, difference and bounds of every pair."""
        first, second = np.triu_indices(len(self.classes), 1)
        return {
            "class_i": self.classes[first],
            "class_j": self.classes[second],
            "auc_a": self.pair_auc_a,
            "auc_b": self.pair_auc_b,
            "difference": self.pair_auc_a - self.pair_auc_b,
            "lower": self.pair_lower,
            "upper": self.pair_upper,
            "p_value": self.pair_p_value,
        }

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
        by = " by permutation" if self.method == "permutation" else ""
        by += "" if self.n_groups is None else f", {self.n_groups} groups"
        if self._bounds_exclude != self.is_significant:
            which = "interval" if self.alternative == "two-sided" else "bound"
            shows = "would show it" if self._bounds_exclude else "does not show it"
            verdict += f" (the {which}, by DeLong's variance, {shows})"
        return [f"{line} (p = {self.p_value:.3g}{by}): {verdict}"]


@dataclass(frozen=True)
class _Spread:
    """What is known of the error of differences: of the mean, or one column per pair.

    `losses_a` are what the MAUC of a loses by each class if a puts its samples on the wrong side of
    all others, `losses_b` those of b. `n_seen` samples did not show it.
    """

    variance: np.ndarray
    freedom: np.ndarray
    losses_a: np.ndarray
    losses_b: np.ndarray
    n_seen: np.ndarray

    def distance(self, alpha: float | np.ndarray, n_tails: int, losses: np.ndarray) -> np.ndarray:
        """Return how far a bound is from the difference at a level of 1 - alpha."""
        quantile = np.maximum(-stdtrit(self.freedom, alpha / n_tails), 0.0)
        quantile = np.where(self.freedom > 0.0, quantile, np.inf)  # one group says nothing
        seen = np.where(self.variance > 0.0, quantile, 0.0) * np.sqrt(self.variance)
        # Errors that go unseen make one bound fail, so that two-sided ones need not halve alpha.
        # One-sided ones do: if few disagreements are seen, their variance is estimated too low, for
        # which two tails leave room. benchmarks/coverage_compare.py shows that both hold.
        unseen = -losses * np.expm1(np.log(alpha * n_tails / 2) / self.n_seen)
        return np.hypot(seen, unseen.max(axis=0))

    def p_value(self, excess: np.ndarray, n_tails: int, losses: np.ndarray) -> np.ndarray:
        """Return the alpha at which the distance is the excess; 1 if it never is as small."""
        low, high = np.full(np.shape(excess), _LOG_MIN_P), np.zeros(np.shape(excess))
        for _ in range(_N_HALVINGS):  # the distance falls with alpha
            middle = (low + high) / 2
            is_above = ~(self.distance(np.exp(middle), n_tails, losses) <= excess)
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return np.where(np.isnan(excess), np.nan, np.exp(high))


@dataclass(frozen=True)
class _Tested:
    """What is tested, and at which level."""

    alternative: str
    margin: float
    level: float

    def results(self, difference: float | np.ndarray, spread: _Spread) -> np.ndarray:
        """Return bounds and p-value, (3,) or (3, n_pairs)."""
        difference = np.asarray(difference)
        n_tails, alpha = 2 if self.alternative == "two-sided" else 1, 1.0 - self.level
        lower = difference - spread.distance(alpha, n_tails, spread.losses_a)
        if self.alternative == "two-sided":
            upper = np.minimum(difference + spread.distance(alpha, 2, spread.losses_b), 1.0)
            losses = np.where(difference > 0.0, spread.losses_a, spread.losses_b)
            p_value = spread.p_value(np.abs(difference), 2, losses)
        else:
            upper = np.ones(np.shape(difference))
            p_value = spread.p_value(difference + self.margin, 1, spread.losses_a)
        return np.stack((np.maximum(lower, -1.0), upper, p_value))


def component_test(
    components: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    auc_a: np.ndarray,
    auc_b: np.ndarray,
    pair_weights: np.ndarray,
    tested: _Tested,
    factor: float = 1.0,
    groups: np.ndarray | None = None,
    is_shared_out: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds and p-value of the mean and of every pair, given differences of components."""
    table, sizes, variances, pair_variances, effects = class_variances(
        components, codes, weights, pair_weights, groups
    )
    effect, pair_effects, n_groups, n_in_pairs = effects
    first, second = np.triu_indices(len(table), 1)
    is_used, total = table.any(axis=1), table[first, second].sum()
    means = [pair_mean(auc, pair_weights) for auc in (auc_a, auc_b)]
    variance, freedom = _total_variance(
        variances[is_used], sizes[is_used], (table[is_used].sum(axis=1) / total) ** 2
    )
    losses_a, losses_b = (
        _class_losses(auc, table, is_shared_out)[is_used] for auc in (auc_a, auc_b)
    )
    mean = tested.results(
        means[0] - means[1],
        _Spread(
            factor * effect * variance,
            np.minimum(freedom, n_groups - 1.0),
            np.append(losses_a, losses_a.sum()),  # the last is that of a group in all classes
            np.append(losses_b, losses_b.sum()),
            np.append(sizes[is_used], n_groups),
        ),
    )
    in_pairs = np.stack((sizes[first], sizes[second]))
    variance, freedom = _total_variance(
        np.stack((pair_variances[first, second], pair_variances[second, first])),
        in_pairs,
        np.ones((2, 1)),
    )
    n_in_pairs = np.maximum(n_in_pairs, 2.0) + np.zeros(len(first))
    by_pair = tested.results(
        auc_a - auc_b,
        _Spread(
            factor * pair_effects * variance,
            np.minimum(freedom, n_in_pairs - 1.0),
            np.stack((auc_a, auc_a, 2.0 * auc_a)),
            np.stack((auc_b, auc_b, 2.0 * auc_b)),
            np.concatenate((in_pairs, n_in_pairs[np.newaxis])),
        ),
    )
    return mean, by_pair


def _is_shared_out(ST: np.ndarray) -> bool:
    """Whether the scores of every row have the same sum, as probabilities, votes and labels do."""
    if not np.isfinite(ST).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        sums = ST.sum(axis=0)
        return bool(np.ptp(sums) <= 1e-6 * np.abs(sums).max())


def _class_losses(auc: np.ndarray, table: np.ndarray, is_shared_out: bool) -> np.ndarray:
    """Return what MAUC loses by each class if all of its samples are put on the wrong side.

    Scores with a fixed sum cannot be high for all other classes: samples are lost in the column of
    their own class, which is half of every pair, and in that of one other class.
    """
    first, second = np.triu_indices(len(table), 1)
    added = np.zeros(table.shape)
    added[first, second] = added[second, first] = np.nan_to_num(auc) * table[first, second]
    losses: np.ndarray = added.sum(axis=1)
    if is_shared_out:
        losses = (losses + added.max(axis=1)) / 2
    return losses / table[first, second].sum()


def _total_variance(
    variances: np.ndarray, sizes: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance summed over classes, the first axis, and its degrees of freedom.

    `limits` are the variances of classes of one sample, whose variance is unknown.
    """
    is_bound = ~np.isfinite(variances)  # of one sample: a bound, it takes no degrees of freedom
    terms = np.where(is_bound, limits, variances) / sizes
    used = np.where(is_bound, 0.0, terms**2 / np.maximum(sizes - 1.0, 1e-9)).sum(axis=0)
    freedom = np.full(used.shape, _MAX_FREEDOM)
    np.divide(terms.sum(axis=0) ** 2, used, out=freedom, where=used > 0.0)
    return terms.sum(axis=0), np.minimum(freedom, _MAX_FREEDOM)


def _are_alike(ST_a: np.ndarray, ST_b: np.ndarray) -> bool:
    """Whether the scores of two models are of one kind: about as many of them are different."""
    fewer, more = sorted(len(np.unique(ST)) for ST in (ST_a, ST_b))
    return more <= 2 * fewer


def _swap_effects(
    ST_a: np.ndarray, ST_b: np.ndarray, pairs: ClassPairs, parts: list[np.ndarray]
) -> np.ndarray:
    """Return what each row adds to the difference of its pairs, shape (n_samples, n_classes).

    With K(a, a') whether model a ranks a row above another one, K(a, b') the same for its score
    under a and that of the other row under b: K(a, a') - K(b, b') is half of
    K(a, a') + K(a, b') - K(b, a') - K(b, b'), whose sign turns where the first row is swapped,
    whatever happens to the other, and half of the same for the other row. So a swap turns the sign
    of what its row adds: the share of the scores of both models in a class that it is ranked
    correctly against, under a less under b.
    """
    n_classes = len(ST_a)
    effects = np.zeros((len(pairs.codes), n_classes))
    n_parts = np.zeros((n_classes, n_classes))
    for rows in parts:
        codes, n = np.tile(pairs.codes[rows], 2), len(rows)
        both = ClassPairs(codes, np.arange(n_classes), np.tile(pairs.weights[rows], 2))
        components = pair_components(np.hstack((ST_a[:, rows], ST_b[:, rows])), both)
        totals = np.where(both.totals > 0, both.scaled_totals, 1.0)
        shares = 2.0 * both.weights[:n] / totals[codes[:n]]  # the totals have every row twice
        effects[rows] = shares[:, np.newaxis] * (components[:n] - components[n:])
        n_parts += np.outer(both.totals > 0, both.totals > 0)
    return effects / np.maximum(n_parts, 1.0)[pairs.codes]


def _unit_effects(
    effects: np.ndarray, codes: np.ndarray, pair_weights: np.ndarray, units: np.ndarray
) -> list[np.ndarray]:
    """Return what rows or groups add to the differences of the mean and of every pair."""
    first, second = np.triu_indices(effects.shape[1], 1)
    table = np.zeros((effects.shape[1],) * 2)
    table[first, second] = table[second, first] = pair_weights
    columns = [np.bincount(units, (effects * table[codes]).sum(axis=1))]
    for i, j in zip(first, second, strict=True):
        rows = np.flatnonzero((codes == i) | (codes == j))
        other = np.where(codes[rows] == i, j, i)
        columns.append(np.bincount(units[rows], effects[rows, other]))
    return columns


def _swap_p_values(columns: list[np.ndarray], is_one_sided: bool, random_state: Seed) -> np.ndarray:
    """Return the share of sums with signs turned that are as large as the sum, of every column.

    Signs go by size: neither the order of rows nor which model is a makes a difference.
    """
    p_values, drawn = np.empty(len(columns)), {}
    for at, values in enumerate(columns):
        sizes = np.sort(np.abs(values))[::-1]
        rounding = 1e-9 * sizes.sum()  # sums that are equal but for rounding are
        sizes = sizes[sizes > rounding / len(sizes)]
        least = (values.sum() if is_one_sided else abs(values.sum())) - rounding
        if len(sizes) > _MAX_EXACT:
            drawn[at] = sizes, least
            continue
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums - size, sums + size))
        p_values[at] = np.mean((sums if is_one_sided else np.abs(sums)) >= least)
    if not drawn:
        return p_values
    counts, first = dict.fromkeys(drawn, 1), np.arange(_N_FIRST)
    generator = check_generator(random_state)
    n_bytes = -(-max(len(sizes) for sizes, _ in drawn.values()) // 32) * 4
    for batch in gen_batches(_N_SWAPS, max(2**18 // n_bytes, 1)):
        bits = np.frombuffer(generator.bytes((batch.stop - batch.start) * n_bytes), np.uint8)
        is_swapped = np.unpackbits(bits.reshape(-1, n_bytes), axis=1)
        is_swapped[:, :_N_FIRST] = np.arange(batch.start, batch.stop)[:, np.newaxis] >> first & 1
        signs = 2.0 * is_swapped - 1.0
        for at, (sizes, least) in drawn.items():
            sums = signs[:, : len(sizes)] @ sizes
            counts[at] += int(np.count_nonzero((sums if is_one_sided else np.abs(sums)) >= least))
    for at, count in counts.items():
        p_values[at] = count / (_N_SWAPS + 1)
    return p_values


def _check_scores(name: str, *given: Any) -> tuple[np.ndarray, np.ndarray, ClassPairs]:
    """Return what `check_scored` does; errors name the parameter."""
    try:
        return check_scored(*given)
    except MaucError as error:
        error.args = (str(error).replace("y_score", name),)
        raise
