"""Scores of categories, and what GreedyMAUC makes of nominal features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.measure.effects import EffectEstimator, measure
from mauc.measure.nominal_scores import (
    category_scores,
    class_signs,
    further_axes,
    rank_scores,
)
from mauc.measure.normal_scores import (
    resolve_shrinkage,
    score_table,
)
from mauc.measure.pair_auc import category_counts
from tests.helpers.oracle_greedy import normal_scores
from tests.helpers.selector_cases import assert_same_fit


def counts_of(x, y):
    selector = GreedyMAUC(categorical_features=[0])
    problem = make_problem(np.asarray(x, float)[:, np.newaxis], y, selector.fit_options)
    return category_counts(problem, 0)


def test_two_classes_order_categories_by_their_share():
    # Shares of the second class: 0.9, 0.5, 0.1, 0.7 of ten rows each.
    y = np.concatenate([np.arange(10) < ones for ones in (9, 5, 1, 7)]).astype(int)
    counts = counts_of(np.repeat([0, 1, 2, 3], 10), y)
    ranks = rank_scores(category_scores(counts))
    assert ranks.tolist() in ([3, 1, 0, 2], [0, 2, 3, 1])
    # The class with the higher mean score has the sign of the effect.
    assert class_signs(counts, ranks) == (1 if ranks[2] > ranks[0] else -1)


def test_scores_are_those_of_the_correspondence_analysis(rng):
    y = rng.integers(0, 4, 600)
    x = (y + rng.integers(0, 3, 600) * rng.integers(0, 2, 600)) % 6
    table = np.zeros((6, 4))
    np.add.at(table, (x, y), 1)
    P = table / 600
    r, c = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    left, values, _ = np.linalg.svd(S, full_matrices=False)
    means, n_v = left[:, 0] * values[0] / np.sqrt(r), table.sum(axis=1)
    variance = (600 * values[0] ** 2 - (np.sqrt(5) + np.sqrt(3)) ** 2) / (
        600 - (n_v**2).sum() / 600
    )
    wanted = means * n_v / (1 + n_v * variance)
    found = category_scores(counts_of(x, y))
    wanted *= np.sign(wanted @ found) / np.abs(wanted).max()
    assert_allclose(found, wanted, atol=1e-6)


def test_further_axes_are_those_of_the_correspondence_analysis_without_the_scores(rng):
    codes = np.sort(rng.integers(0, 4, 900))
    groups = (codes + rng.integers(0, 2, 900)) % 4
    scores = np.array([-40, 3, 20, 55], np.int8)[groups]
    counts = np.bincount(codes)
    found = further_axes(scores, counts, np.ones(900))
    P = np.zeros((4, 4))
    np.add.at(P, (codes, groups), 1 / 900)
    c, r = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(c, r)) / np.sqrt(np.outer(c, r))
    own = np.array([-40, 3, 20, 55]) - r @ [-40, 3, 20, 55]
    own = own * np.sqrt(r) / np.linalg.norm(own * np.sqrt(r))
    axes = np.linalg.svd(S - np.outer(S @ own, own))[2][:2]
    assert found.shape == (2, 900)  # four categories have three axes
    for row, axis in zip(found, axes, strict=True):
        wanted = np.clip(32 * axis / np.sqrt(r), -127, 127)[groups]
        assert_allclose(row * np.sign(row @ wanted), wanted, atol=0.51)
    # Copies of the rows are weights of 2; an absent class changes nothing.
    assert_array_equal(further_axes(scores, counts, np.full(900, 2.0)), found)
    assert_array_equal(further_axes(scores, np.insert(counts, 2, 0), np.ones(900)), found)


def test_further_axes_are_none_of_two_classes_or_of_noise(rng):
    scores = rng.integers(0, 6, 600).astype(np.int8)
    assert further_axes(scores, np.array([300, 300]), np.ones(600)).shape == (0, 600)
    n_noise = [
        len(further_axes(rng.integers(0, 12, 600).astype(np.int8), np.full(6, 100), np.ones(600)))
        for _ in range(20)
    ]
    assert np.mean(n_noise) < 1  # three would be possible


def test_categories_that_tell_the_class_have_scores_of_their_own():
    y = np.repeat(np.arange(6), 10)
    assert len(np.unique(rank_scores(category_scores(counts_of(y, y))))) == 6


def test_rare_categories_lie_in_the_middle(rng):
    # Two common categories and many of one row, whose class is pure: not shrunk, they were ends.
    y = rng.integers(0, 2, 400)
    x = np.where(rng.random(400) < 0.75, (y + (rng.random(400) < 0.2)) % 2 * 2, 0)
    x[300:] = 10 + np.arange(100)
    scores = np.abs(category_scores(counts_of(x, y)))
    codes = np.unique(x, return_inverse=True)[1]
    assert scores[codes[300:]].max() < 0.5 * scores[codes[:300]].min()


def mixed(rng, n=900):
    """A number, the same in eight categories without order, a number apart, and much noise."""
    y = rng.integers(0, 3, n)
    first = rng.normal(size=n) + y
    other = rng.normal(size=n) + np.array([0.0, 1.0, 0.0])[y]
    bins = np.searchsorted(np.quantile(first, np.arange(1, 8) / 8), first)
    noise = rng.integers(0, n // 2, n)
    return np.column_stack([first, rng.permutation(8)[bins], other, noise]), y


def test_scores_of_a_copy_correlate_and_those_of_noise_do_not(rng):
    X, y = mixed(rng)
    selector = GreedyMAUC("all", categorical_features=[1, 3]).fit(X, y)
    assert set(selector.ranking_[:2]) in ({0, 2}, {1, 2})  # the copy adds little
    assert selector.ranking_[-1] == 3
    problem = make_problem(X, y, selector.fit_options)
    scores = measure(problem)[1].scores.astype(float)
    codes = np.sort(y)
    for k in range(3):
        scores[:, codes == k] -= scores[:, codes == k].mean(axis=1, keepdims=True)
    r = np.abs(np.corrcoef(scores))
    assert r[0, 1] > 0.8
    assert r[3, :3].max() < 0.1


def test_noise_of_many_categories_correlates_with_nothing():
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 2000)
        X = np.column_stack([rng.normal(size=(2000, 4)) + y[:, None], rng.integers(0, 1000, 2000)])
        selector = GreedyMAUC("all", shrinkage=0.1, categorical_features=[4]).fit(X, y)
        assert selector.ranking_[-1] == 4
        plain = GreedyMAUC("all", shrinkage=0.1).fit(X[:, :4], y)
        assert_array_equal(plain.ranking_, selector.ranking_[:4])
        found.append(selector.predicted_mauc_[4] - plain.predicted_mauc_[3])
    assert np.mean(found) < 0.001


def test_effects_are_those_of_the_auc_with_the_sign_of_the_scores(rng):
    X, y = mixed(rng)
    selector = GreedyMAUC("all", categorical_features=[1, 3]).fit(X, y)
    problem = make_problem(X, y, selector.fit_options)
    effects, _ = measure(problem)
    auc = selector.pair_auc_[np.argsort(selector.ranking_)]
    estimator = EffectEstimator(problem)
    for column in (1, 3):
        assert_allclose(np.abs(effects[column]), estimator.nominal(auc[column], 1.0), rtol=1e-9)
    # Classes 0, 1, 2 ascend: all differences of the copy have one sign.
    assert len(set(np.sign(effects[1]))) == 1


def test_two_categories_are_numbers(rng):
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    X[:, 2] = X[:, 2] + y > 1
    assert_same_fit(
        GreedyMAUC("all").fit(X, y), GreedyMAUC("all", categorical_features=[2]).fit(X, y)
    )


def test_normal_scores_are_those_of_average_ranks(rng):
    X, y = rng.normal(size=(41, 6)).round(1), rng.integers(0, 3, 41)
    X[:, 1] = X[:, 1].round()
    X[::5, 2] = np.nan
    X[:, 3] = rng.normal(size=41) * 1e30
    X[0, 3], X[1, 3] = np.inf, -np.inf
    order = np.argsort(y, kind="stable")
    for data in (
        X,
        X[:, [0, 1, 4, 5]],
        X.astype(np.float32),
        (X[:, :2] * 10 + 100).astype(np.uint8),
    ):
        _, scores = measure(make_problem(data, y))
        for j in range(data.shape[1]):
            assert_array_equal(scores.scores[j], normal_scores(data[:, j].astype(float))[order])


def test_scores_of_many_rows_reach_every_step_and_mirror(rng):
    table = score_table(50_000)
    assert table[1] == -127
    assert table[-2] == 127
    assert_array_equal(table[1:-1], -table[1:-1][::-1])
    x = rng.normal(size=50_000).astype(np.float32)
    _, scores = measure(make_problem(x[:, None], rng.integers(0, 2, len(x))))
    ranks = np.argsort(np.argsort(x)) + 0.5
    wanted = np.clip(np.rint(32 * ndtri(ranks / len(x))), -127, 127)
    assert_array_equal(np.sort(scores.scores[0]), np.sort(wanted))


def test_shrinkage_follows_samples_and_classes(rng):
    base = rng.normal(size=(2000, 1))
    y = np.arange(2000) % 2
    alike = base + 0.5 * rng.normal(size=(2000, 8))
    # In the second class every other feature turns round: its correlations change sign.
    turned = alike * np.where((y == 1)[:, None] & (np.arange(8) % 2 == 0), -1, 1)
    # sqrt(2 ln 8 / 1998) = 0.046: what chance makes of the largest of eight correlations.
    floor = np.sqrt(2 * np.log(8) / 1998)
    assert_allclose(GreedyMAUC().fit(alike, y).shrinkage_, floor)
    floor = np.sqrt(2 * np.log(8) / 38)
    assert_allclose(GreedyMAUC().fit(alike[:40], y[:40]).shrinkage_, floor)
    assert GreedyMAUC().fit(turned, y).shrinkage_ > 0.3
    assert GreedyMAUC().fit(rng.normal(size=(40, 8)), y[:40]).shrinkage_ > 0.4
    # The floor is never more than 1/2.
    assert GreedyMAUC().fit(np.tile(alike[:10], 4), y[:10]).shrinkage_ == 0.5


@pytest.mark.parametrize(("n_classes", "doubt"), [(2, 0.75), (3, 0.5), (10, 0.15)])
def test_correlations_are_doubted_more_with_few_classes_unless_shrinkage_is_given(
    rng, n_classes, doubt
):
    y = np.arange(60) % n_classes
    problem = make_problem(rng.normal(size=(60, 3)), y)
    _, scores = measure(problem)
    assert resolve_shrinkage(None, scores)[1] == doubt
    assert resolve_shrinkage(0.3, scores) == (0.3, 0.0)


def test_a_copy_of_a_chosen_feature_adds_nothing_whatever_is_doubted(rng):
    # Two classes, where medium correlations are doubted the most; column 3 is weak but new.
    y = np.arange(2000) % 2
    X = rng.normal(size=(2000, 4)) + np.outer(y, [1.5, 0.0, 0.0, 0.4])
    X[:, 1] = np.exp(X[:, 0])
    X[:, 2] = X[:, 0] + 0.02 * rng.normal(size=2000)
    assert_array_equal(GreedyMAUC(2).fit(X, y).ranking_[1:], [3])
