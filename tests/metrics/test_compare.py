"""`compare_mauc`: a paired test of two MAUCs, by hand, by the definition, and by its laws."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from mauc import compare_mauc, mauc_interval, mauc_score, pair_auc_scores
from mauc.exceptions import MaucError


def make_scores(sizes=(20, 15, 12), seed=0, shift=1.0):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    common = generator.normal(size=(len(y), len(sizes))) + shift * np.eye(len(sizes))[y]
    return y, *(common + generator.normal(size=common.shape) for _ in range(2))


def components(y, scores, i, j):
    """DeLong's components of two classes by one column, of class i."""
    own, other = scores[y == i, i], scores[y == j, i]
    wins = np.sign(own[:, np.newaxis] - other) / 2 + 0.5
    return wins.mean(axis=1), wins.mean(axis=0)


def test_two_classes_are_delongs_test():
    y, a, b = make_scores((25, 30))
    a, b = (np.column_stack([-scores[:, 1], scores[:, 1]]) for scores in (a, b))
    parts = [components(y, scores, 1, 0) for scores in (a, b)]
    of_one, of_zero = (parts[0][at] - parts[1][at] for at in (0, 1))
    difference = of_one.mean()
    variance = np.var(of_one, ddof=1) / 30 + np.var(of_zero, ddof=1) / 25
    terms = np.var(of_one, ddof=1) / 30, np.var(of_zero, ddof=1) / 25
    freedom = variance**2 / (terms[0] ** 2 / 29 + terms[1] ** 2 / 24)
    found = compare_mauc(y, a, b)
    assert found.difference == pytest.approx(difference, abs=1e-12)
    # Beside Student's t: what 25 rows of a class do not show with a probability of 0.05.
    seen, unseen = stats.t.ppf(0.975, freedom) * np.sqrt(variance), 1 - 0.05 ** (1 / 25)
    assert found.lower == pytest.approx(difference - np.hypot(seen, unseen * found.mauc_a))
    assert found.upper == pytest.approx(difference + np.hypot(seen, unseen * found.mauc_b))


def test_the_difference_is_that_of_mauc_score():
    y, a, b = make_scores()
    found = compare_mauc(y, a, b, pair_weight={(0, 1): 3})
    mauc = [mauc_score(y, scores, pair_weight={(0, 1): 3}) for scores in (a, b)]
    assert (found.mauc_a, found.mauc_b) == pytest.approx(mauc, abs=1e-12)
    assert found.difference == pytest.approx(mauc[0] - mauc[1], abs=1e-12)
    frame = found.to_frame()
    assert len(frame) == 3
    assert np.allclose(frame["auc_a"] - frame["auc_b"], frame["difference"])


def test_exchanged_models_give_the_mirrored_interval():
    y, a, b = make_scores()
    there, back = compare_mauc(y, a, b), compare_mauc(y, b, a)
    assert there.p_value == pytest.approx(back.p_value)
    assert (there.lower, there.upper) == pytest.approx((-back.upper, -back.lower))


def test_order_of_rows_and_monotone_maps_do_not_matter():
    y, a, b = make_scores()
    order = np.random.default_rng(1).permutation(len(y))
    found = compare_mauc(y, a, b, method="delong")
    again = compare_mauc(y[order], np.exp(a[order]), b[order], method="delong")
    assert again.p_value == pytest.approx(found.p_value, rel=1e-9)
    assert (again.lower, again.upper) == pytest.approx((found.lower, found.upper), rel=1e-9)


def test_equal_scores_do_not_differ_and_have_an_interval():
    y, a, _ = make_scores()
    found = compare_mauc(y, a, a)
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert found.lower < 0.0 < found.upper
    assert not found.is_significant


def test_paired_scores_are_told_apart_better_than_by_two_intervals():
    y, a, _ = make_scores((60, 60, 60))
    b = a + 0.7 * np.random.default_rng(2).normal(size=a.shape)
    found, alone = compare_mauc(y, a, b), mauc_interval(y, a)
    assert found.upper - found.lower < alone.upper - alone.lower


def test_noninferiority_is_one_sided():
    y, a, b = make_scores((80, 80, 80))
    found = compare_mauc(y, a, b, alternative="noninferior", margin=0.2)
    assert found.upper == 1.0
    assert found.p_value < 0.001
    assert found.lower > -0.2
    assert "no more than 0.2 worse" in str(found)
    ends = compare_mauc(y, a, b, alternative="noninferior", margin=-min(found.lower, 0.0))
    assert ends.p_value == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("method", ["delong", "permutation"])
def test_copies_in_groups_are_no_evidence(method):
    y, a, b = make_scores()
    twice = np.repeat(np.arange(len(y)), 2)
    once, grouped, naive = (
        compare_mauc(y, a, b, method=method),
        compare_mauc(y[twice], a[twice], b[twice], groups=twice, method=method),
        compare_mauc(y[twice], a[twice], b[twice], method=method),
    )
    assert grouped.n_groups == len(y)
    assert grouped.p_value == pytest.approx(once.p_value, rel=0.02)
    # That rows of a group are copies is estimated, too: the interval is a little wider.
    assert 1.0 <= (grouped.upper - grouped.lower) / (once.upper - once.lower) < 1.1
    assert naive.p_value < once.p_value


def test_one_group_says_nothing():
    y, a, b = make_scores()
    for method in ("delong", "permutation"):
        found = compare_mauc(y, a, b, groups=np.zeros(len(y)), method=method)
        assert (found.lower, found.upper, found.p_value) == (-1.0, 1.0, 1.0)


def test_scores_of_folds_are_compared_within_them():
    y, a, b = make_scores((40, 40, 40))
    folds = np.arange(len(y)) % 4
    shifted = b + 10.0 * (folds == 1)[:, np.newaxis] * [1, 0, 0]  # a fold on another scale
    there, again = (compare_mauc(y, a, scores, folds=folds) for scores in (b, shifted))
    assert again.difference == pytest.approx(there.difference, abs=1e-12)
    assert again.p_value == pytest.approx(there.p_value, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alternative": "greater"}, "alternative must be"),
        ({"margin": -0.1}, "margin must be"),
        ({"level": 2}, "level must be"),
        ({"folds": np.zeros(47)}, "at least 2 folds"),
        ({"method": "bootstrap"}, "method must be"),
        ({"method": "permutation", "alternative": "noninferior"}, "margin=0 with it, got .*0.005"),
    ],
)
def test_wrong_options_are_named(options, message):
    y, a, b = make_scores()
    with pytest.raises(MaucError, match=message):
        compare_mauc(y, a, b, **options)


def test_scores_of_another_shape_are_named():
    y, a, b = make_scores()
    with pytest.raises(MaucError, match="scores_b"):
        compare_mauc(y, a, b[:, :2])


def draw_labels(generator, y, rate):
    """Return predicted labels as scores, of which a share is wrong."""
    return np.eye(2)[np.where(generator.random(len(y)) < rate, 1 - y, y)]


@pytest.mark.parametrize("n", [5, 30, 200])
def test_what_no_row_shows_may_still_be(n):
    y = np.repeat([0, 1], n)
    perfect = np.eye(2)[y]
    options = {"alternative": "noninferior", "margin": 0.01, "method": "delong"}
    found = compare_mauc(y, perfect, perfect, **options)
    assert found.lower == pytest.approx(-(1 - 0.025 ** (1 / n)))
    assert found.p_value == pytest.approx(min(1.0, 2 * 0.99**n))
    assert not found.is_significant or n == 200
    two_sided = compare_mauc(y, perfect, perfect)
    unseen = 1 - 0.05 ** (1 / n)
    assert (two_sided.lower, two_sided.upper) == pytest.approx((-unseen, unseen))


def test_more_classes_lose_less_by_one_of_them():
    y = np.repeat(np.arange(4), [40, 50, 60, 30])
    unseen, perfect = 1 - 0.05 ** (1 / 30), 9.0 * np.eye(4)[y]
    # A row of a class is in 3 of 6 pairs. Of one column each, its own, all are lost; of the others
    # it loses all if it is high for all of them, and that of one class if scores have a fixed sum.
    free = perfect + np.arange(len(y))[:, np.newaxis] / len(y)
    found = compare_mauc(y, free, free)
    assert found.lower == pytest.approx(-unseen * 3 / 6)
    assert found.pair_lower[0] == pytest.approx(-(1 - 0.05 ** (1 / 40)))
    shared_out = compare_mauc(y, perfect, perfect)
    assert shared_out.lower == pytest.approx(-unseen * (3 / 2 + 1 / 2) / 6)
    assert shared_out.pair_lower[0] == pytest.approx(found.pair_lower[0])


@pytest.mark.parametrize(("rate", "n"), [(0.03, 30), (0.01, 100)])
def test_rare_errors_are_not_shown_to_be_harmless(rate, n):
    generator, y = np.random.default_rng(0), np.repeat([0, 1], n)
    perfect, errors = np.eye(2)[y], []
    for _ in range(200):  # MAUC is 1 and 1 - rate: the margin is the true loss
        a = draw_labels(generator, y, rate)
        found = compare_mauc(y, a, perfect, alternative="noninferior", margin=rate)
        errors.append(found.is_significant)
    assert np.mean(errors) <= 0.065


@pytest.mark.parametrize("alternative", ["two-sided", "noninferior"])
@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_p_values_are_below_alpha_where_bounds_exclude(alternative, shift):
    y, a, b = make_scores((30, 25, 8), shift=shift)
    b[:3] = -9.0
    options = {"alternative": alternative, "margin": 0.01, "method": "delong"}
    for scores in ((a, b), (b, a), (a, a)):
        for level in (0.5, 0.8, 0.95, 0.999):
            found = compare_mauc(y, *scores, level=level, **options)
            null = 0.0 if alternative == "two-sided" else -0.01
            excludes = found.lower > null or found.upper < null
            assert found.is_significant == excludes
            of_pairs = (found.pair_lower > null) | (found.pair_upper < null)
            assert np.array_equal(found.pair_p_value < 1 - level, of_pairs)


@pytest.mark.parametrize("value", [np.inf, 1e308])
def test_scores_may_be_infinite_or_huge(value):
    y, a, b = make_scores((6, 7, 8))
    large = np.where(a > 1.0, value, a)
    found, finite = (
        compare_mauc(y, scores, b, method="delong") for scores in (large, np.minimum(large, 99.0))
    )
    assert (found.lower, found.upper, found.p_value) == (finite.lower, finite.upper, finite.p_value)
    assert 0.0 < compare_mauc(y, large, b, method="permutation").p_value <= 1.0


def test_p_values_rise_with_the_loss_that_is_seen():
    y = np.repeat([0, 1], 40)
    p_values = []
    for n_wrong in range(10):
        a = np.eye(2)[np.where(np.arange(80) < n_wrong, 1 - y, y)]
        found = compare_mauc(y, a, np.eye(2)[y], alternative="noninferior", margin=0.1)
        p_values.append(found.p_value)
    assert np.all(np.diff(p_values) >= 0.0)
    assert p_values[0] < 0.05 < p_values[-1]


def swap_p_values(y, a, b, groups, folds, is_one_sided, **options):
    """Return the p-values of all swaps within rows or groups, by the definition."""

    def differences(a, b):
        parts = [
            pair_auc_scores(y[folds == fold], a[folds == fold], **options).auc
            - pair_auc_scores(y[folds == fold], b[folds == fold], **options).auc
            for fold in np.unique(folds)
        ]
        report = pair_auc_scores(y, a, **options)
        return np.append(np.mean(parts, axis=0) @ report.pair_weights, np.mean(parts, axis=0))

    observed, found = differences(a, b), []
    for swaps in product((False, True), repeat=groups.max() + 1):
        is_swapped = np.array(swaps)[groups][:, np.newaxis]
        found.append(differences(np.where(is_swapped, b, a), np.where(is_swapped, a, b)))
    if is_one_sided:
        return np.mean(np.array(found) >= observed - 1e-9, axis=0)
    return np.mean(np.abs(found) >= np.abs(observed) - 1e-9, axis=0)


@pytest.mark.parametrize("digits", [0, 3])
@pytest.mark.parametrize("case", ["rows", "one-sided", "groups", "folds", "pair weights"])
def test_swaps_are_counted_as_by_the_definition(case, digits):
    y, a, b = make_scores((3, 3, 2), seed=3)
    a, b = np.round(a, digits), np.round(b, digits)
    groups, folds = np.arange(8), np.zeros(8, int)
    options, weights = {}, {}
    if case == "one-sided":
        options = {"alternative": "noninferior", "margin": 0}
    if case == "groups":
        groups = np.array([0, 1, 2, 3, 0, 1, 4, 4])
        options = {"groups": np.array(list("abcde"))[groups]}
    if case == "folds":
        folds = np.arange(8) % 2
        options = {"folds": folds}
    if case == "pair weights":
        weights = {"pair_weight": {(0, 1): 3, (1, 2): 0}}
    found = compare_mauc(y, a, b, method="permutation", **options, **weights)
    expected = swap_p_values(y, a, b, groups, folds, case == "one-sided", **weights)
    assert found.method == "permutation"
    assert found.p_value == pytest.approx(expected[0], abs=1e-12)
    assert found.pair_p_value == pytest.approx(expected[1:], abs=1e-12)


def test_drawn_swaps_come_near_all_of_them(monkeypatch):
    y, a, b = make_scores((8, 11), seed=4)
    drawn, other = (compare_mauc(y, a, b, random_state=seed) for seed in (0, 1))
    monkeypatch.setattr("mauc.metrics.compare._MAX_EXACT", 19)
    every = compare_mauc(y, a, b)
    assert len({drawn.p_value, other.p_value, every.p_value}) == 3
    assert (drawn.p_value, other.p_value) == pytest.approx((every.p_value,) * 2, abs=0.005)


@pytest.mark.parametrize("sizes", [(4, 6), (20, 15, 12)])
def test_swaps_do_not_depend_on_the_order_of_rows_or_models(sizes):
    y, a, b = make_scores(sizes)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    groups = np.arange(len(y)) // 2
    order = np.random.default_rng(1).permutation(len(y))
    for options in ({}, {"groups": groups}, {"sample_weight": weights}):
        moved = {name: values[order] for name, values in options.items()}
        found = compare_mauc(y, a, b, method="permutation", **options)
        again = compare_mauc(y[order], a[order], b[order], method="permutation", **moved)
        back = compare_mauc(y, b, a, method="permutation", **options)
        assert found.p_value == again.p_value == back.p_value
        assert np.array_equal(found.pair_p_value, again.pair_p_value)
        assert np.array_equal(found.pair_p_value, back.pair_p_value)


def test_rows_without_weight_are_not_swapped():
    y, a, b = make_scores((6, 8))
    weights = np.where(np.arange(14) % 3, 1.0, 0.0)
    found = compare_mauc(y, a, b, sample_weight=weights, method="permutation")
    alone = compare_mauc(y[weights > 0], a[weights > 0], b[weights > 0], method="permutation")
    assert found.p_value == alone.p_value


@pytest.mark.parametrize(("kind", "sizes"), [("normal", (5, 30)), ("labels", (8, 8))])
def test_swaps_of_equal_models_reject_rarely(kind, sizes):
    generator, y, p_values = np.random.default_rng(0), np.repeat([0, 1], sizes), []
    for _ in range(200):
        if kind == "labels":
            scores = [draw_labels(generator, y, 0.1) for _ in range(2)]
        else:
            scores = [y + generator.normal(size=len(y)) for _ in range(2)]
        p_values.append(compare_mauc(y, *scores).p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.065
    if kind == "normal":
        assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_a_perfect_model_is_told_from_chance_by_three_rows():
    generator, y = np.random.default_rng(0), np.repeat([0, 1], [40, 3])
    for _ in range(20):
        perfect, chance = 0.01 * generator.random(43) + 0.98 * y, generator.random(43)
        assert compare_mauc(y, perfect, chance).p_value < 0.05


@pytest.mark.parametrize(
    ("sizes", "options", "method"),
    [
        ((20, 19), {}, "permutation"),
        ((20, 20), {}, "delong"),
        ((20, 19), {"alternative": "noninferior"}, "delong"),
        ((20, 19), {"alternative": "noninferior", "margin": 0}, "permutation"),
        ((20, 19), {"folds": np.arange(39) % 3}, "delong"),
        ((20, 19), {"method": "delong"}, "delong"),
        ((20, 20), {"method": "permutation"}, "permutation"),
    ],
)
def test_auto_swaps_where_a_class_is_small_and_it_is_valid(sizes, options, method):
    y, a, b = make_scores(sizes)
    found, by_hand = (
        compare_mauc(y, a, b, **{**options, **more}) for more in ({}, {"method": method})
    )
    assert found.method == method
    assert found.p_value == by_hand.p_value
    assert ("by permutation" in str(found)) == (method == "permutation")


def test_auto_does_not_swap_labels_and_probabilities():
    y, a, _ = make_scores((15, 15))
    assert compare_mauc(y, a, np.eye(2)[y]).method == "delong"
    assert compare_mauc(y, np.eye(2)[y], np.eye(2)[y]).method == "permutation"


def test_the_line_says_where_bounds_and_p_value_disagree():
    generator, y = np.random.default_rng(0), np.repeat([0, 1], [40, 3])
    found = compare_mauc(y, 0.01 * generator.random(43) + 0.98 * y, generator.random(43))
    assert found.lower < 0.0
    assert found.is_significant
    assert str(found).endswith("they differ (the interval, by DeLong's variance, does not show it)")
