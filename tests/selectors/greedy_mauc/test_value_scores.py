"""Values in robust standard deviations: by hand, against NumPy, laws, values that are far out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc import GreedyMAUC
from mauc.data.problem import make_problem
from mauc.selectors.greedy_mauc.effects import measure
from mauc.selectors.greedy_mauc.prior import value_scores
from tests.helpers.array_source import CountingSource


def scores_of(X, y=None, **options):
    y = np.arange(X.shape[0]) % 2 if y is None else y
    selector = GreedyMAUC(**options)
    problem = make_problem(selector, X, y, accepts=selector.accepts)
    _, scores = measure(problem, max_samples=selector.max_samples)
    found = value_scores(problem, scores)
    return found[:, np.argsort(scores.rows)].T


def test_by_hand():
    # Median 2, quartiles 1 and 3: the unit is 2 / 1.349.
    x = np.array([0.0, 1, 2, 3, 4])
    assert_array_equal(scores_of(x[:, None])[:, 0], np.rint(32 * (x - 2) * 1.349 / 2))


def test_equals_numpy(rng):
    X = rng.normal(size=(101, 7)) * 10.0 ** rng.integers(-5, 5, 7) + 3
    q1, q2, q3 = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    wanted = np.rint(np.clip(32 * (X - q2) * 1.349 / (q3 - q1), -127, 127))
    assert_array_equal(scores_of(X), wanted)


def test_mostly_equal_values_are_measured_by_their_deviation(rng):
    x = np.zeros(200)
    x[:30] = rng.integers(1, 4, 30)
    wanted = np.rint(np.clip(32 * x / x.std(), -127, 127))
    assert_array_equal(scores_of(x[:, None])[:, 0], wanted)


def test_missing_constant_and_infinite_values(rng):
    X = rng.normal(size=(60, 5))
    known = scores_of(X[:45])
    X[45:, 0] = np.nan
    X[:, 1] = 7.0
    X[:, 2] = np.nan
    X[0, 3], X[1, 3] = np.inf, -np.inf
    X[0, 4] = 1e308
    finite = scores_of(X[:, 3:4].clip(-4, 4))
    found = scores_of(X)
    assert_array_equal(found[:45, 0], known[:, 0])
    assert not found[45:, 0].any()
    assert not found[:, 1:3].any()
    assert found[0, 3] == 127
    assert found[1, 3] == -127
    assert found[0, 4] == 127
    # Two infinite values leave the unit of the others as it was.
    assert_array_equal(found[2:, 3], finite[2:, 0])
    assert not found[1:, 4].any()  # where s is the standard deviation


@pytest.mark.parametrize("values", [[np.inf, -np.inf, 0.0], [np.inf, np.inf, -np.inf]])
def test_mostly_infinite_values_keep_their_order(values):
    x = np.repeat(values, 20)
    found = scores_of(x[:, None])[:, 0].astype(int)
    for low, high in ((0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf)):
        if low in values and high in values:
            assert found[x == low].max() < found[x == high].min()


@pytest.mark.parametrize("factor", [2.0**-900, 0.5, 2.0**900, 2.0**1020])
def test_units_do_not_matter(rng, factor):
    X = rng.normal(size=(80, 4))
    X[:, 1] = rng.random(80) < 0.1  # by its deviation
    assert_array_equal(scores_of(X * factor), scores_of(X))
    assert_array_equal(scores_of(-X), -scores_of(X))


def test_rows_blocks_and_kinds_do_not_matter(rng):
    X = np.where(rng.random((90, 30)) < 0.5, 0, rng.normal(size=(90, 30)).round(2))
    X = X.astype(np.float32)
    one = scores_of(X)
    order = rng.permutation(90)
    assert_array_equal(scores_of(X[order]), one[order])
    for other in (X.astype(float), np.asfortranarray(X), sparse.csr_array(X)):
        assert_array_equal(scores_of(other), one)
    assert_array_equal(scores_of(CountingSource(X, memory=30_000), np.arange(90) % 2), one)


def test_kept_rows_are_scored_by_all(rng):
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 3
    selector = GreedyMAUC(max_samples=30)
    problem = make_problem(selector, X, y)
    _, scores = measure(problem, max_samples=30)
    found = value_scores(problem, scores)
    assert found.shape == (3, 30)
    assert_array_equal(found, scores_of(X, y).T[:, scores.rows])


def test_nominal_features_keep_the_scores_of_their_categories(rng):
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 1] = rng.integers(0, 5, 90)
    selector = GreedyMAUC(categorical_features=[1])
    problem = make_problem(selector, X, y, accepts=selector.accepts)
    _, scores = measure(problem)
    assert_array_equal(value_scores(problem, scores)[1], scores.scores[1])
