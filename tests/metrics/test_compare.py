"""`compare_mauc`: a paired test of two MAUCs, by hand, by the definition, and by its laws."""

import numpy as np
import pytest
from scipy import stats

from mauc import compare_mauc, mauc_interval, mauc_score
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
    expected = 2 * stats.t.sf(abs(difference) / np.sqrt(variance), freedom)
    assert found.p_value == pytest.approx(expected, abs=1e-9)
    width = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    assert (found.lower, found.upper) == pytest.approx((difference - width, difference + width))


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
    found, again = compare_mauc(y, a, b), compare_mauc(y[order], np.exp(a[order]), b[order])
    assert again.p_value == pytest.approx(found.p_value, rel=1e-9)


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


def test_copies_in_groups_are_no_evidence():
    y, a, b = make_scores()
    twice = np.repeat(np.arange(len(y)), 2)
    once, grouped, naive = (
        compare_mauc(y, a, b),
        compare_mauc(y[twice], a[twice], b[twice], groups=twice),
        compare_mauc(y[twice], a[twice], b[twice]),
    )
    assert grouped.n_groups == len(y)
    assert grouped.p_value == pytest.approx(once.p_value, rel=0.02)
    assert naive.p_value < once.p_value


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
