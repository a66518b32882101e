"""Effects of features with ties and of small classes: by hand, the definition, gates, laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from mauc import GreedyMAUC
from mauc.data.problem import make_problem
from mauc.selectors.greedy_mauc.effects import (
    auc_effects,
    measure,
    shrink_effects,
)
from tests.helpers.oracle_greedy import effects
from tests.helpers.selector_cases import assert_same_fit


def effects_of(X, y, noise_correction=0.0, **options):
    selector = GreedyMAUC()
    problem = make_problem(selector, X, y, accepts=selector.accepts)
    return measure(problem, noise_correction=noise_correction, **options)[0]


def tied_data(rng, n=240, c=4):
    """Binary, rare, few levels, sparse counts, one value in half of the rows, missing, no ties."""
    y = np.concatenate([np.arange(c).repeat(2), rng.integers(0, c, n - 2 * c)])
    X = rng.normal(size=(n, 12)) + y[:, None] * rng.normal(size=12) / 2
    X[:, 0] = X[:, 0] > 1
    X[:, 1] = (y == 1) & (rng.random(n) < 0.15)
    X[:, 2] = X[:, 2].round()
    X[:, 3] = (2 * X[:, 3]).round()
    X[:, 4] = rng.poisson(0.1 + 0.2 * y)
    X[:, 5] = np.maximum(X[:, 5], np.median(X[:, 5]))
    X[rng.random(n) < 0.3, 6] = np.nan
    X[:, 7] = np.where(rng.random(n) < 0.2, np.nan, X[:, 7].round())
    X[:, 8] = y == 2
    X[:, 9] = 3.0
    return X, y


def test_a_rare_binary_feature_by_hand():
    # Rates 0.2 and 0, 1000 rows each: AUC 0.6, so 0.358; (0.2 - 0) / sqrt(0.2 * 0.8 / 2) = 0.707.
    y = np.repeat([1, 0], 1000)
    x = np.zeros(2000)
    x[:200] = 1
    (found,) = effects_of(x[:, None], y)[0]
    auc_effect = np.sqrt(2) * ndtri(0.6)
    weight = 1000 / 1030  # t = 0.9^2 + 0.1^2 is beyond 1/2
    # Two values are two scores: the standard deviation of one is as of the other, up to its scale.
    difference = 0.2 / np.sqrt((1000 * 0.2 * 0.8 * (1 + 40 / 1998)) / (1998 + 40))
    assert_allclose(-found, weight * difference + (1 - weight) * auc_effect, rtol=1e-9)
    assert_allclose(auc_effect, 0.358, atol=0.001)
    assert 0.69 < -found < 0.71


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_equals_the_definition(rng, noise):
    for c in (2, 4, 7):
        X, y = tied_data(rng, c=c)
        found = effects_of(X, y, noise)
        for column in range(X.shape[1]):
            wanted = effects(X[:, column], y, noise)
            assert_allclose(found[column], wanted, rtol=1e-9, atol=1e-9, err_msg=f"{column}")
        counts = np.nan_to_num(X[:, :5] - X[:, :5].min(axis=0)).astype(np.uint8)
        found = effects_of(counts, y, noise)
        for column in range(5):
            wanted = effects(counts[:, column].astype(float), y, noise)
            assert_allclose(found[column], wanted, rtol=1e-9, atol=1e-9, err_msg=f"{column}")


def test_few_samples_with_a_table_of_effects_equal_the_definition(rng):
    # 30 rows have few numbers of wins: effects without ties are looked up.
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 900))
    X[:, ::2] = X[:, ::2].round()
    found = effects_of(X, y, 1.0)
    for column in range(0, 900, 45):
        assert_allclose(found[column], effects(X[:, column], y, 1.0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_many_samples_without_ties_are_rated_by_their_auc_alone(rng, noise):
    n = 200 if noise == 0.0 else 400  # without a correction small classes are not helped
    X, y = rng.normal(size=(n, 6)), np.arange(n) % 4
    X[:, 1] = np.arange(n) * 10 // n  # ten equally frequent values: t = 1/10, the limit
    X[: n // 25, 2] = np.nan  # t = 1 - 0.96^2 + 0.96 / n
    X[: n // 4, 3] = 7.0  # t = 1/16 + 3/4 / n
    selector = GreedyMAUC()
    problem = make_problem(selector, X, y, accepts=selector.accepts)
    counts = np.bincount(y)
    first, second = np.triu_indices(4, 1)
    pairs = list(zip(first, second, strict=True))
    auc = np.array([[_auc(x[y == i], x[y == j]) for i, j in pairs] for x in X.T])
    wins = np.rint(auc * problem.max_wins)
    wanted = auc_effects(wins, problem.max_wins)
    shrink_effects(wanted, 1 / counts[first] + 1 / counts[second], noise)
    assert_array_equal(measure(problem, noise_correction=noise)[0], wanted)


@pytest.mark.parametrize("n_class", [3, 10, 50, 99, 100])
def test_gate_by_class_size(rng, n_class):
    y = np.arange(2 * n_class) % 2
    x = rng.normal(size=2 * n_class) + y
    difference, auc_effect = parts(x, y)
    share = 0.5 * (1 - n_class / 100)
    d = share * difference + (1 - share) * auc_effect
    noise = 2 / n_class * (1 + min(d * d, 11) / 8) + 0.05
    (found,) = effects_of(x[:, None], y, 1.0)[0]
    assert_allclose(found, d - np.sign(d) * min(noise / abs(d), abs(d)), rtol=1e-9, atol=1e-12)


def test_small_samples_tell_perfect_features_apart():
    # Both separate all samples; the scores of the second are further apart within a third class.
    y = np.repeat([0, 1, 2], 6)
    wide = np.r_[np.arange(6), np.arange(6) + 12, np.arange(6) + 6]
    narrow = np.r_[np.arange(6) * 2, np.arange(6) * 2 + 12, np.arange(6) * 4 + 1]
    d = effects_of(np.column_stack([wide, narrow]), y, 1.0)[:, 0]
    assert abs(d[0]) > abs(d[1])


def _auc(a, b):
    return 0.5 + ((a[:, None] > b).sum() - (a[:, None] < b).sum()) / (2 * len(a) * len(b))


def test_a_row_is_not_tied_with_itself():
    # Of six rows each is 1/6 of them, which is more than 1/10.
    x, y = np.array([[1.0], [2.0], [4.0], [3.0], [5.0], [6.0]]), [0, 0, 0, 1, 1, 1]
    assert_allclose(effects_of(x, y), [[-np.sqrt(2) * ndtri(8 / 9)]], rtol=1e-12)


@pytest.mark.parametrize("n_levels", [20, 10, 5, 4, 2])
@pytest.mark.parametrize("n_class", [10, 30, 300])
def test_gates_by_ties_and_class_size(n_levels, n_class):
    # Equally frequent values: t = 1 / n_levels.
    x = np.arange(2 * n_class) * n_levels // (2 * n_class) * 1.0
    y = np.arange(2 * n_class) % 2
    y[: n_class // 2] = 0
    y[-(n_class // 2) :] = 1
    n_i, n_j = np.bincount(y)
    difference, auc_effect = parts(x, y)
    (found,) = effects_of(x[:, None], y)[0]
    by_ties = {20: 0.0, 10: 0.0, 5: 0.25, 4: 0.375, 2: 1.0}[n_levels]
    assert abs(difference - auc_effect) > 1e-4
    weight = (found - auc_effect) / (difference - auc_effect)
    h = 2 / (1 / n_i + 1 / n_j)
    assert_allclose(weight, by_ties * h / (h + 30), atol=1e-9)


def parts(x, y):
    """Return the standardised difference of two classes, and the effect of their AUC."""
    ranks = rankdata(x)
    z = np.clip(np.rint(32 * ndtri((ranks - 0.5) / len(x))), -127, 127)
    a, b = z[y == 0], z[y == 1]
    squares = len(a) * a.var() + len(b) * b.var()
    deviation = np.sqrt(squares * (1 + 40 / (len(z) - 2)) / (len(z) - 2 + 40))
    difference = np.clip((a.mean() - b.mean()) / max(deviation, 1e-9), -5.26, 5.26)
    auc = (ranks[y == 0].sum() - len(a) * (len(a) + 1) / 2) / (len(a) * len(b))
    return difference, np.sqrt(2) * ndtri(np.clip(auc, 1e-4, 1 - 1e-4))


@pytest.mark.parametrize("transform", [np.exp, lambda x: x**3, lambda x: -x, np.arctan])
def test_monotone_maps_and_order_of_rows_change_nothing(rng, transform):
    X, y = tied_data(rng)
    plain = GreedyMAUC("all", prior=None)
    assert_same_fit(clone(plain).fit(transform(X), y), plain.fit(X, y))
    order = rng.permutation(len(y))
    one = GreedyMAUC("all", max_samples=100).fit(X, y)
    assert_same_fit(GreedyMAUC("all", max_samples=100).fit(X[order], y[order]), one)


def test_effects_are_of_all_samples(rng):
    X, y = tied_data(rng)
    assert_array_equal(effects_of(X, y, 1.0, max_samples=40), effects_of(X, y, 1.0))


def test_sums_of_many_rows_of_bytes_are_exact(rng):
    # More rows than one word sums up, at both ends of the scores and in the middle.
    n = 2**20 + 70_001
    y = np.sort(rng.integers(0, 2, n))
    X = np.column_stack([rng.random(n) < 0.5, rng.choice([0, 1, 200, 255], n), y]).astype(np.uint8)
    found = effects_of(X, y)[:, 0]
    n_i, n_j = np.bincount(y)
    h = 2 / (1 / n_i + 1 / n_j)
    for column in range(3):
        x = X[:, column].astype(np.float64)
        difference, auc_effect = parts(x, y)
        t = ((np.bincount(X[:, column]) / n) ** 2).sum()
        weight = min(1.0, (t - 0.1) / 0.4) * h / (h + 30)
        wanted = weight * difference + (1 - weight) * auc_effect
        assert_allclose(found[column], wanted, rtol=1e-9)


def test_more_classes_than_a_byte_counts(rng):
    y = np.arange(900) % 300
    X = rng.integers(0, 3, (900, 4)).astype(np.uint8)
    X[:, 0] = y > 100
    assert_array_equal(effects_of(X, y, 1.0), effects_of(X * np.pi, y, 1.0))


def test_rare_words_of_every_class_are_found(rng):
    """Words that only texts of one class have come before numbers of a weak trend."""
    y = np.arange(1200) % 4
    words = (rng.random((1200, 8)) < 0.25) & (y[:, None] == np.arange(8) % 4)
    trends = rng.normal(size=(1200, 8)) + 0.12 * y[:, None]
    selector = GreedyMAUC(8).fit(np.hstack([trends, words]), y)
    assert (selector.ranking_[:6] >= 8).all()
