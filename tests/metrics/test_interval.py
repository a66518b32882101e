"""The confidence intervals of MAUC and of class pairs."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats

from mauc import mauc_interval, mauc_score, pair_auc_scores
from mauc.exceptions import AbsentClassWarning, MaucError
from mauc.metrics.interval import (
    _METHODS,
    _PRIOR_GROUPS,
    _PRIOR_SHARE,
    class_variances,
    component_bounds,
    pair_components,
)
from mauc.metrics.mauc import ClassPairs


@pytest.fixture
def scored(rng):
    y = np.repeat([0, 1, 2], [20, 30, 40])
    return y, np.eye(3)[y] + rng.normal(size=(90, 3))


def test_a_resample_is_the_mauc_of_its_samples(scored):
    y, scores = scored
    interval = mauc_interval(y, scores, method="percentile", n_bootstrap=3, random_state=5)
    for seed, value in zip(np.random.SeedSequence(5).spawn(3), interval.values, strict=True):
        generator = np.random.default_rng(seed)
        rows = []
        for code in range(3):
            members = np.flatnonzero(y == code)
            times = generator.multinomial(len(members), np.full(len(members), 1 / len(members)))
            rows.extend(np.repeat(members, times))
        assert value == pytest.approx(mauc_score(y[rows], scores[rows]), abs=1e-12)


@pytest.mark.parametrize("method", _METHODS)
def test_the_point_is_mauc_and_lies_within(scored, method):
    interval = mauc_interval(*scored, method=method)
    assert interval.mauc == mauc_score(*scored)
    assert interval.lower < interval.mauc < interval.upper
    auc = pair_auc_scores(*scored).auc
    assert (interval.pair_lower < auc).all()
    assert (auc < interval.pair_upper).all()
    assert "95% interval" in str(interval)
    assert {"delong": "DeLong variance", "percentile": "1000 resamples"}[method] in str(interval)


@pytest.mark.parametrize("size", [1, 2, 5, 20, 200])
def test_perfect_scores_have_an_interval(size):
    y = np.repeat([0, 1, 2], size)
    perfect = mauc_interval(y, np.eye(3)[y])
    assert perfect.upper == 1.0
    assert perfect.lower < 1.0
    assert perfect.pair_upper.tolist() == [1.0, 1.0, 1.0]
    assert (perfect.pair_lower < perfect.lower).all()
    inverted = mauc_interval(y, -np.eye(3)[y])
    assert inverted.lower == 0.0
    assert inverted.upper == pytest.approx(1 - perfect.lower)
    constant = mauc_interval(y, np.zeros((3 * size, 3)))
    assert constant.lower < constant.mauc < constant.upper


def test_perfect_scores_by_hand():
    # One third of 1 / n per class: 3 / (1 / 20 + 1 / 20) = 30 trials, less 3 % for 40 degrees of
    # freedom, none of them lost: 0.025 ** (1 / 28.2).
    interval = mauc_interval(np.repeat([0, 1], 20), np.arange(40))
    trials = 30 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 40)) ** 2
    assert interval.lower == pytest.approx(0.025 ** (1 / trials), abs=1e-9)
    assert interval.lower == pytest.approx(0.8774, abs=1e-4)
    assert_array_equal(interval.pair_lower, [interval.lower])


def test_more_samples_and_lower_levels_narrow_the_interval():
    widths = []
    for size in (3, 10, 30, 100):
        y = np.repeat([0, 1], size)
        interval = mauc_interval(y, np.arange(2 * size))
        widths.append(interval.upper - interval.lower)
    assert widths == sorted(widths, reverse=True)
    one, two = (mauc_interval(y, np.arange(len(y)) % 90, level=level) for level in (0.5, 0.99))
    assert two.lower < one.lower < one.upper < two.upper


def test_the_interval_of_a_pair_is_that_of_its_samples(scored):
    y, scores = scored
    interval = mauc_interval(y, scores)
    rows = y != 1
    alone = mauc_interval(y[rows], scores[rows][:, [0, 2]])
    assert interval.pair_lower[1] == pytest.approx(alone.lower, abs=1e-12)
    assert interval.pair_upper[1] == pytest.approx(alone.upper, abs=1e-12)


def test_rows_in_any_order_and_any_monotone_map_give_the_same(scored, rng):
    y, scores = scored
    first = mauc_interval(y, scores)
    rows = rng.permutation(len(y))
    second = mauc_interval(y[rows], np.exp(scores[rows]))
    assert (first.lower, first.upper) == pytest.approx((second.lower, second.upper), abs=1e-12)


@pytest.mark.parametrize(
    ("method", "size", "shift"),
    [("percentile", 40, 1.0), ("delong", 40, 1.0), ("delong", 10, 2.6), ("delong", 5, 4.0)],
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(rng, method, size, shift):
    # Normal scores of two classes d apart: AUC = Phi(d / sqrt(2)).
    truth, level = stats.norm.cdf(shift / np.sqrt(2)), 0.9
    options = {"n_bootstrap": 200} if method == "percentile" else {}
    covered = 0
    for _ in range(100):
        y = np.repeat([0, 1], size)
        scores = rng.normal(size=2 * size) + shift * y
        interval = mauc_interval(y, scores, method=method, level=level, **options)
        covered += interval.lower <= truth <= interval.upper
    assert 82 <= covered <= (97 if shift == 1.0 else 100)


@pytest.mark.parametrize("method", _METHODS)
def test_an_absent_class_is_left_out(scored, method):
    y, scores = scored
    with pytest.warns(AbsentClassWarning, match="1 of 3 pairs"):
        interval = mauc_interval(y[y < 2], scores[y < 2], labels=[0, 1, 2], method=method)
    assert np.isnan(interval.pair_lower).tolist() == [False, True, True]
    assert 0 < interval.lower <= interval.upper <= 1
    if method == "delong":
        alone = mauc_interval(y[y < 2], scores[y < 2][:, :2])
        assert (interval.lower, interval.upper) == (alone.lower, alone.upper)


@pytest.mark.parametrize("method", _METHODS)
def test_weights_of_zero_are_absent_and_equal_ones_change_nothing(scored, rng, method):
    y, scores = scored
    weights = np.r_[np.zeros(3), np.ones(87)]
    plain = mauc_interval(y[3:], scores[3:], method=method)
    for factor in (1.0, 7.0, 1e200, 1e-200, 5e-324):
        weighted = mauc_interval(y, scores, sample_weight=factor * weights, method=method)
        assert weighted.mauc == pytest.approx(plain.mauc, abs=1e-12)
        assert (weighted.lower, weighted.upper) == pytest.approx(
            (plain.lower, plain.upper), abs=1e-12
        )
        assert_allclose(weighted.pair_lower, plain.pair_lower, atol=1e-12)


def test_unequal_weights_widen_the_interval(scored):
    y, scores = scored
    weights = np.where(np.arange(90) % 5 == 0, 20.0, 1.0)
    weighted = mauc_interval(y, scores, sample_weight=weights)
    plain = mauc_interval(y, scores)
    assert weighted.mauc == mauc_score(y, scores, sample_weight=weights)
    assert weighted.upper - weighted.lower > 1.3 * (plain.upper - plain.lower)
    # A class whose weight is one sample's is treated as that sample.
    lone = np.where(y == 0, np.arange(90) == 0, 1.0)
    almost = np.where((y == 0) & (np.arange(90) > 0), 1e-300, 1.0)
    one, two = (mauc_interval(y, scores, sample_weight=given) for given in (lone, almost))
    assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstrap": 0}, "n_bootstrap must be"),
        ({"n_bootstrap": 100}, 'n_bootstrap is for method="percentile", got 100'),
        ({"method": "delon"}, "method must be one of 'delong', 'percentile', got 'delon'"),
        ({"sample_weight": [1.0]}, "inconsistent numbers of samples"),
        ({"level": 1.0}, r"level must be a number in \(0, 1\), got 1.0"),
        ({"groups": [0] * 90, "method": "percentile"}, 'groups are for method="delong"'),
        ({"groups": [0, 1]}, "groups must have a label for each of the 90 rows, got 2"),
        ({"groups": [None] * 90}, "groups must hold a label for every sample"),
        ({"groups": np.array([0, "a"] * 45, object)}, "groups must hold values of one kind"),
        ({"folds": [0, 1]}, "folds must name a fold for each of the 90 rows, got 2"),
        ({"folds": np.array([0, "a"] * 45, object)}, "folds must hold values of one kind, .*'str'"),
        ({"folds": np.array([0, None] * 45, object)}, "folds must hold a label for every sample"),
        ({"labels": np.array([0, 1, "c"], object)}, "labels must hold values of one kind"),
    ],
)
def test_bad_options_are_named(scored, options, message):
    with pytest.raises(MaucError, match=message):
        mauc_interval(*scored, **options)


@pytest.mark.parametrize("function", [mauc_interval, mauc_score, pair_auc_scores])
def test_labels_of_two_kinds_are_named(scored, function):
    y, scores = scored
    mixed = np.where(y == 2, "two", y.astype(object))
    with pytest.raises(MaucError, match=r"y_true must hold values of one kind, .* 'int', 'str'"):
        function(mixed, scores)


def test_the_simulated_coverage_is_high_enough_in_every_setting():
    # Written by benchmarks/coverage_intervals.py.
    text = (Path(__file__).parents[2] / "docs" / "intervals.md").read_text(encoding="utf-8")
    table = text.split("## Least coverage")[1].split("##")[0]
    values = [float(value) for value in re.findall(r"\b[01]\.\d{3}\b(?= [/|]|$)", table)]
    assert len(values) >= 2 * 16 * 5
    assert min(values) >= 0.93
    patients, few = text.split("## Samples in groups")[1].split("## Few groups")
    by_group = cells_of(patients, 12, 3)
    assert by_group.shape == (12, 4, 3)
    assert by_group[:, :, :2].min() >= 0.93 > 0.75 > by_group[:, :, 2].min()
    coverage = cells_of(few, 32, 5)
    assert coverage.shape == (32, 3, 4)
    assert coverage[:, :, :2].min() >= 0.93
    assert coverage[8:, :, 2].max() <= 2.0  # widths, from 8 groups on


def cells_of(part, n_rows, n_names):
    """Return the numbers of the last rows of a part, after the columns of names."""
    rows = [row.split("|")[n_names:-1] for row in part.strip().splitlines()[-n_rows:]]
    return np.array([[cell.split("/") for cell in row] for row in rows], dtype=float)


@pytest.mark.parametrize("seed", [-1, "zero"])
def test_a_wrong_seed_is_an_error_of_this_library(seed):
    y, scores = np.arange(12) % 2, np.arange(12.0)
    with pytest.raises(MaucError):
        mauc_interval(y, scores, method="percentile", n_bootstrap=3, random_state=seed)


def test_components_by_hand():
    # Column 1 ranks class 1 as 3 > 1 and 2 = 2; column 0 = -column 1 says the same.
    scores = np.array([1.0, 2.0, 2.0, 3.0])
    codes = np.array([0, 0, 1, 1], np.int32)
    got = pair_components(np.stack((-scores, scores)), ClassPairs(codes, np.arange(2)))
    assert got.tolist() == [[0, 1.0], [0, 0.75], [0.75, 0], [1.0, 0]]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_components_are_the_definition(rng, is_weighted):
    codes = rng.integers(0, 3, 30).astype(np.int32)
    ST = rng.integers(0, 5, (3, 30)).astype(float)
    weights = rng.random(30) if is_weighted else np.ones(30)
    got = pair_components(ST, ClassPairs(codes, np.arange(3), weights))
    for a in range(30):
        for j in set(range(3)) - {codes[a]}:
            i, others = codes[a], np.flatnonzero(codes == j)
            wins = (np.sign(ST[i, a] - ST[i, others]) + 1) / 2
            losses = (np.sign(ST[j, others] - ST[j, a]) + 1) / 2
            expected = np.average((wins + losses) / 2, weights=weights[others])
            assert got[a, j] == pytest.approx(expected, abs=1e-12)
    report = pair_auc_scores(codes, ST.T, sample_weight=weights)
    for auc, i, j in zip(report.auc, report.first, report.second, strict=True):
        for own, other in ((i, j), (j, i)):
            rows = codes == own
            assert np.average(got[rows, other], weights=weights[rows]) == pytest.approx(auc)


def test_the_bounds_are_binomial_ones_of_the_variance(rng):
    codes = np.repeat([0, 1, 2], [20, 30, 40]).astype(np.int32)
    ST = (np.eye(3)[codes] + rng.normal(size=(90, 3))).T.copy()
    weights, sizes = np.ones(90), np.array([20.0, 30.0, 40.0])
    components = pair_components(ST, ClassPairs(codes, np.arange(3)))
    auc = pair_auc_scores(codes, ST.T).auc
    bounds, pair_bounds = component_bounds(components, codes, weights, auc, np.ones(3), 0.9)

    def literal(theta, variances, sizes, share):
        mixed = (variances + share / sizes) / (theta * (1 - theta) + 1 / sizes) / sizes
        freedom = mixed.sum() ** 2 / (mixed**2 / sizes).sum()
        trials = (stats.norm.ppf(0.95) / stats.t.ppf(0.95, freedom)) ** 2 / mixed.sum()
        wins = theta * trials
        return (
            stats.beta.ppf(0.05, wins, trials - wins + 1),
            stats.beta.ppf(0.95, wins + 1, trials - wins),
        )

    own = [components[codes == code] for code in range(3)]
    for pair, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        variances = np.array([own[i][:, j].var(ddof=1), own[j][:, i].var(ddof=1)])
        expected = literal(auc[pair], variances, sizes[[i, j]], _PRIOR_SHARE)
        assert_allclose(pair_bounds[:, pair], expected, atol=1e-9)
    # MAUC is the mean of 3 pairs; 2 of them hold a class: (2 / 3)^2, between 1 and 1/2 of it.
    variances = np.array([(part.sum(axis=1) / 3).var(ddof=1) for part in own])
    share = _PRIOR_SHARE * 4 / 9 / 2**0.4
    assert_allclose(bounds, literal(auc.mean(), variances, sizes, share), atol=1e-9)


def test_scores_of_folds_have_a_wider_interval(scored):
    y, scores = scored
    order = np.argsort(y, kind="stable")
    y, scores = np.tile(y[order], 4), np.tile(scores[order], (4, 1))
    folds = np.repeat([0, 1, 2, 3], len(order))
    plain, folded = mauc_interval(y, scores), mauc_interval(y, scores, folds=folds)
    # Every fold is the same table: comparing within it changes nothing but the width.
    assert_allclose(folded.mauc, plain.mauc, rtol=1e-12)
    assert folded.lower < plain.lower < plain.upper < folded.upper
    # Scores of different models are not compared: those of a fold may have any scale.
    scaled = mauc_interval(y, scores * 10.0 ** folds[:, np.newaxis], folds=folds)
    assert_allclose([scaled.mauc, scaled.lower], [folded.mauc, folded.lower], rtol=1e-12)
    for wrong, words in ((np.zeros(len(y)), "at least 2 folds"), (y, "at least 2 classes")):
        with pytest.raises(MaucError, match=words):
            mauc_interval(y, scores, folds=wrong)
    with pytest.raises(MaucError, match='folds are for method="delong"'):
        mauc_interval(y, scores, folds=folds, method="percentile")


def test_a_few_wrong_labels_in_many_small_classes_are_covered():
    generator = np.random.default_rng(0)
    y, covered = np.repeat(np.arange(20), 10), []
    for _ in range(60):
        own = np.where(generator.random(200) < 0.03, generator.permutation(y), y)
        scores = generator.normal(size=(200, 20)) + 6.0 * (own[:, np.newaxis] == np.arange(20))
        interval = mauc_interval(y, scores)
        covered.append(interval.lower <= 0.9853 <= interval.upper)  # of 100,000 samples
    assert np.mean(covered) >= 0.88


@pytest.mark.parametrize("method", _METHODS)
def test_pair_weights_are_those_of_the_interval(scored, method):
    y, scores = scored
    options = {"method": method, "n_bootstrap": 50} if method == "percentile" else {}
    plain = mauc_interval(y, scores, **options)
    equal = mauc_interval(y, scores, pair_weight=np.full((3, 3), 0.7), **options)
    assert (equal.mauc, equal.lower, equal.upper) == (plain.mauc, plain.lower, plain.upper)
    # One pair alone: its own interval.
    one = {(0, 1): 0, (0, 2): 1, (1, 2): 0}
    alone = mauc_interval(y, scores, pair_weight=one, **options)
    assert alone.lower == pytest.approx(plain.pair_lower[1], abs=1e-12)
    assert alone.upper == pytest.approx(plain.pair_upper[1], abs=1e-12)
    assert_allclose(alone.pair_lower, plain.pair_lower, rtol=1e-12)
    mixed = {(0, 1): 4, (2, 1): 0.5}
    weighted = mauc_interval(y, scores, pair_weight=mixed, **options)
    assert weighted.mauc == mauc_score(y, scores, pair_weight=mixed)
    assert weighted.lower < weighted.mauc < weighted.upper


def test_the_weighted_variance_is_that_of_resamples(rng):
    y = np.repeat([0, 1, 2, 3], 150)
    scores = np.eye(4)[y] + rng.normal(size=(600, 4))
    weights = {(0, 1): 6, (0, 2): 3, (2, 3): 0}
    found = [mauc_interval(y, scores, pair_weight=weights, method=method) for method in _METHODS]
    widths = [one.upper - one.lower for one in found]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)
    plain = mauc_interval(y, scores)
    assert abs(widths[0] / (plain.upper - plain.lower) - 1.0) > 0.1  # the weights matter here


def test_pair_weights_with_folds(scored):
    y, scores = np.tile(scored[0], 4), np.tile(scored[1], (4, 1))
    folds = np.repeat([0, 1, 2, 3], len(scored[0]))
    weights = {(0, 1): 5, (1, 2): 0}
    plain = mauc_interval(y, scores, pair_weight=weights)
    folded = mauc_interval(y, scores, pair_weight=weights, folds=folds)
    assert_allclose(folded.mauc, plain.mauc, rtol=1e-12)
    assert folded.lower < plain.lower < plain.upper < folded.upper
    # Classes 1 and 2 never meet: an error, unless their pair does not count.
    apart = np.where(y == 1, folds % 2, np.where(y == 2, 2 + folds % 2, folds))
    with pytest.raises(MaucError, match="1 and 2 never meet"):
        mauc_interval(y, scores, folds=apart)
    interval = mauc_interval(y, scores, pair_weight=weights, folds=apart)
    assert interval.lower < interval.mauc < interval.upper
    assert np.isnan(interval.pair_lower).tolist() == [False, False, True]
    assert np.isnan(interval.pair_upper).tolist() == [False, False, True]


@pytest.mark.parametrize("make", [np.random.SeedSequence, np.random.default_rng])
def test_generators_of_numpy_are_taken(scored, make):
    options = {"method": "percentile", "n_bootstrap": 5}
    one, same, other = (
        mauc_interval(*scored, random_state=make(seed), **options).values for seed in (1, 1, 2)
    )
    assert_array_equal(one, same)
    assert (one != other).any()


def bounds_of(interval):
    return np.concatenate(
        [
            [interval.lower, interval.upper],
            interval.pair_lower,
            interval.pair_upper,
        ]
    )


def test_a_group_counts_as_a_sample(scored):
    """Groups of one change nothing, and neither do copies of a sample that are a group."""
    y, scores = scored
    plain = bounds_of(mauc_interval(y, scores))
    names = np.random.default_rng(0).permutation(90)
    assert_allclose(bounds_of(mauc_interval(y, scores, groups=names)), plain, rtol=1e-12)
    copied = mauc_interval(
        np.repeat(y, 4), np.repeat(scores, 4, axis=0), groups=np.repeat(names, 4)
    )
    assert_allclose(bounds_of(copied), plain, rtol=1e-9)
    assert "(DeLong variance of 90 groups)" in str(copied)
    half = np.repeat([2.0, 2.0], 45)  # weights of whole groups, in the place of copies
    folds = np.arange(90) % 3
    for given in ({"sample_weight": half}, {"folds": folds}):
        with_groups = mauc_interval(y, scores, groups=names, **given)
        assert_allclose(
            bounds_of(with_groups), bounds_of(mauc_interval(y, scores, **given)), rtol=1e-9
        )


def literal_groups(components, codes, groups):
    """Return what `class_variances` does of two classes, with the formulas of measures.md."""
    own = np.where(codes == 1, components[:, 0], components[:, 1])
    classes, trust = [], []
    for code in (0, 1):
        rows = np.flatnonzero(codes == code)
        names = np.unique(groups[rows])
        values = own[rows] - own[rows].mean()
        counts = np.array([(groups[rows] == name).sum() for name in names])
        means = np.array([values[groups[rows] == name].mean() for name in names])
        shares = counts / len(rows)
        classes.append((names, values, counts, means, shares))
        trust.append(
            ((values**2).mean() * (shares**2).sum(), (values**2).sum() ** 2 / (values**4).sum())
        )

    def scale(rho, code):  # of the mean, of means of groups, of a row
        _, values, counts, _, shares = classes[code]
        of_mean = rho * (shares**2).sum() + (1 - rho) / len(values)
        return of_mean, rho + (1 - rho) / counts, (values**2).mean() / (1 - of_mean)

    def excess(rho):
        found = 0.0
        for code, (names, _, _, means, _) in enumerate(classes):
            _, of_groups, total = scale(rho, code)
            center = np.average(means, weights=1 / of_groups)
            found += trust[code][0] * (
                ((means - center) ** 2 / of_groups).sum() / total / (len(names) - 1) - 1
            )
        return found

    rho = 0.0 if excess(0.0) <= 0 else 1.0 if excess(1.0) >= 0 else optimize.brentq(excess, 0, 1)
    most = np.array([weight for weight, _ in trust])
    evidence = most.sum() ** 2 / sum(weight**2 / n for weight, n in trust)
    share = evidence / (evidence + _PRIOR_GROUPS)
    used = share * rho + 1 - share
    of_mean = np.array([scale(used, code)[0] for code in (0, 1)])
    variances = np.array([(values**2).mean() for _, values, _, _, _ in classes]) / (1 - of_mean)
    added, squares, expected = np.zeros((3, groups.max() + 1))
    for code, (names, _, _, means, shares) in enumerate(classes):
        added[names] += means * shares
        squares[names] += (means * shares) ** 2
        expected[names] += scale(rho, code)[2] * shares**2 * scale(rho, code)[1]
    between = (added**2 / expected).sum() / (squares / expected).sum()
    independent = sum(variances / np.bincount(codes)) / sum(variances * of_mean)
    return 1 / of_mean, variances, max(share * between + 1 - share, min(independent, 1.0))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_the_variance_with_groups_is_the_definition(rng, share, is_mixed):
    groups = rng.permutation(np.repeat(np.arange(12), np.arange(4, 16)))
    codes = (rng.integers(0, 2, len(groups)) if is_mixed else groups % 2).astype(np.int32)
    noise = np.sqrt(share) * rng.normal(size=12)[groups]
    scores = codes + noise + np.sqrt(1 - share) * rng.normal(size=len(codes))
    pairs = ClassPairs(codes, np.arange(2))
    components = pair_components(np.stack([-scores, scores]), pairs)
    found = class_variances(components, codes, pairs.weights, np.ones(1), groups)
    _, sizes, variances, pair_variances, (effect, pair_effects, n_groups, n_in_pairs) = found
    wanted = literal_groups(components, codes, groups)
    assert_allclose(sizes, wanted[0], rtol=1e-5)
    assert_allclose(variances, wanted[1], rtol=1e-5)
    assert_allclose(pair_variances[[0, 1], [1, 0]], wanted[1], rtol=1e-5)
    assert_allclose([effect, *pair_effects], wanted[2], rtol=1e-5)
    terms = variances / sizes
    known = terms.sum() ** 2 / sum(terms**2 / [len(set(groups[codes == k])) for k in (0, 1)])
    assert_allclose([n_groups, *n_in_pairs], min(known, 12))


def test_names_of_groups_do_not_matter_to_the_bit(scored, rng):
    y = np.repeat([0, 1], 20)
    separated = np.random.default_rng(1)
    groups = separated.integers(0, 14, 40)
    for labels, scores, given in (
        (y, y + 0.0, groups),
        (*scored, rng.integers(0, 14, 90)),
        (scored[0], np.eye(3)[scored[0]], rng.integers(0, 14, 90)),
    ):
        wanted = bounds_of(mauc_interval(labels, scores, groups=given))
        for _ in range(3):
            renamed = separated.permutation(14)[given]
            assert_array_equal(bounds_of(mauc_interval(labels, scores, groups=renamed)), wanted)
            rows = separated.permutation(len(labels))
            moved = mauc_interval(labels[rows], scores[rows], groups=renamed[rows])
            assert_allclose(bounds_of(moved), wanted, rtol=0, atol=1e-9)


def test_of_separated_classes_the_groups_are_the_samples():
    # No variance is seen: nothing tells that the rows of a group are independent.
    y, groups = np.repeat([0, 1], 20), np.arange(40) // 4
    wanted = bounds_of(mauc_interval(np.repeat([0, 1], 5), np.arange(10)))
    assert_allclose(bounds_of(mauc_interval(y, np.arange(40), groups=groups)), wanted, rtol=1e-12)


@pytest.mark.parametrize(("n_groups", "is_equal", "most"), [(5, True, 1.9), (20, False, 1.4)])
def test_groups_of_independent_rows_do_not_multiply_the_width(n_groups, is_equal, most):
    generator = np.random.default_rng(0)
    y, ratios = np.repeat([0, 1, 2], 40), []
    for _ in range(20):
        scores = 1.2 * np.eye(3)[y] + generator.normal(size=(120, 3))
        shares = np.ones(n_groups) if is_equal else 0.8 ** np.arange(n_groups)
        groups = generator.choice(n_groups, 120, p=shares / shares.sum())
        plain, grouped = (mauc_interval(y, scores, groups=given) for given in (None, groups))
        ratios.append((grouped.upper - grouped.lower) / (plain.upper - plain.lower))
    assert 1.0 < np.mean(ratios) < most


def test_rows_of_next_to_no_weight_do_not_change_an_interval_of_groups(scored, rng):
    y, scores = scored
    groups = np.where(np.arange(90) % 3 == 0, 20, np.arange(90) % 20)
    weights = np.where(groups == 20, 1e-300, 1.0)
    almost = mauc_interval(y, scores, sample_weight=weights, groups=groups)
    none = mauc_interval(y, scores, sample_weight=np.rint(weights), groups=groups)
    assert almost.mauc == pytest.approx(none.mauc, abs=1e-12)
    assert_allclose(bounds_of(almost), bounds_of(none), rtol=0.02)


def test_a_class_in_one_group_is_not_known():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    scores = y + generator.normal(size=40)
    interval = mauc_interval(y, scores, groups=np.r_[np.arange(20) // 4, np.full(20, 9)])
    assert interval.upper - interval.lower > 0.8
