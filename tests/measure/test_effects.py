"""Effects of features with ties and of small classes: by hand, the definition, exact sums."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from scipy.stats import rankdata

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.measure.effects import measure
from tests.helpers.oracle_greedy import effects


def effects_of(X, y, **options):
    selector = GreedyMAUC()
    problem = make_problem(X, y, selector.fit_options)
    return measure(problem, **options)[0]


def shrunk(effect, n_i, n_j):
    """Return an effect freed of noise: by a line through 0 that touches 1 - 1 / x at 2."""
    ratio = effect**2 / ((1 / n_i + 1 / n_j) * (1 + min(effect**2, 11) / 8) + 0.05)
    return effect * (ratio / 4 if ratio < 2 else 1 - 1 / ratio)


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
    effect = weight * difference + (1 - weight) * auc_effect
    assert_allclose(-found, shrunk(effect, 1000, 1000), rtol=1e-9)
    assert_allclose(auc_effect, 0.358, atol=0.001)
    assert 0.69 < effect < 0.71
    assert 0.61 < -found < 0.63  # 0.052 / 0.7^2 of it, a ninth, may be noise


def test_equals_the_definition(rng):
    for c in (2, 4, 7):
        X, y = tied_data(rng, c=c)
        found = effects_of(X, y)
        for column in range(X.shape[1]):
            wanted = effects(X[:, column], y)
            assert_allclose(found[column], wanted, rtol=1e-9, atol=1e-9, err_msg=f"{column}")
        counts = np.nan_to_num(X[:, :5] - X[:, :5].min(axis=0)).astype(np.uint8)
        found = effects_of(counts, y)
        for column in range(5):
            wanted = effects(counts[:, column].astype(float), y)
            assert_allclose(found[column], wanted, rtol=1e-9, atol=1e-9, err_msg=f"{column}")


def test_few_samples_with_a_table_of_effects_equal_the_definition(rng):
    # 30 rows have few numbers of wins: effects without ties are looked up.
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 900))
    X[:, ::2] = X[:, ::2].round()
    found = effects_of(X, y)
    for column in range(0, 900, 45):
        assert_allclose(found[column], effects(X[:, column], y), rtol=1e-9, atol=1e-9)


def test_small_samples_tell_perfect_features_apart():
    # Both separate all samples; the scores of the second are further apart within a third class.
    y = np.repeat([0, 1, 2], 6)
    wide = np.r_[np.arange(6), np.arange(6) + 12, np.arange(6) + 6]
    narrow = np.r_[np.arange(6) * 2, np.arange(6) * 2 + 12, np.arange(6) * 4 + 1]
    d = effects_of(np.column_stack([wide, narrow]), y)[:, 0]
    assert abs(d[0]) > abs(d[1])


def test_a_row_is_not_tied_with_itself():
    # Of six rows each is 1/6 of them, which is more than 1/10.
    x, y = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 6.0]), np.array([0, 0, 0, 1, 1, 1])
    difference, auc_effect = parts(x, y)
    assert_allclose(auc_effect, -np.sqrt(2) * ndtri(8 / 9))
    small = 0.5 * (1 - 3 / 100)  # three samples of each class; a tie would add to it
    wanted = shrunk(small * difference + (1 - small) * auc_effect, 3, 3)
    assert_allclose(effects_of(x[:, None], y), [[wanted]], rtol=1e-12)


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
        wanted = shrunk(weight * difference + (1 - weight) * auc_effect, n_i, n_j)
        assert_allclose(found[column], wanted, rtol=1e-9)


def test_more_classes_than_a_byte_counts(rng):
    y = np.arange(900) % 300
    X = rng.integers(0, 3, (900, 4)).astype(np.uint8)
    X[:, 0] = y > 100
    assert_array_equal(effects_of(X, y), effects_of(X * np.pi, y))


def test_rare_words_of_every_class_are_found(rng):
    """Words that only texts of one class have come before numbers of a weak trend."""
    y = np.arange(1200) % 4
    words = (rng.random((1200, 8)) < 0.25) & (y[:, None] == np.arange(8) % 4)
    trends = rng.normal(size=(1200, 8)) + 0.12 * y[:, None]
    selector = GreedyMAUC(8).fit(np.hstack([trends, words]), y)
    assert (selector.ranking_[:6] >= 8).all()
