"""Fisher score and F are infinite where their documentation says so, in any unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc import FSDD, AnovaF, FisherScore
from mauc.data.decomposition import Decomposition
from mauc.data.problem import make_problem
from mauc.selectors.relevance import anova_relevance, fisher_relevance

LAYOUTS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "sparse": sparse.csc_array,
}


@pytest.mark.parametrize("selector", [FisherScore("all"), AnovaF("all")])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_perfect_and_constant_features(selector, layout, is_weighted):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.tile(np.arange(3), 2), rng.integers(0, 3, 40)])
        levels = rng.choice([0.1, 0.2, 0.3, 0.7, 1.1], 3, replace=False)
        X = np.column_stack([levels[y], np.full(len(y), 0.1), levels[y], rng.normal(size=len(y))])
        X[rng.random(len(y)) < 0.3, 2] = np.nan
        X[:6, 2] = levels[y[:6]]  # every class keeps known values
        weight = rng.random(len(y)) * 3 + 1 if is_weighted else None
        scores = selector.fit(LAYOUTS[layout](X), y, sample_weight=weight).scores_
        assert_array_equal(scores[:3], [np.inf, 0, np.inf])
        assert 0 < scores[3] < np.inf


@pytest.mark.parametrize("relevance", [fisher_relevance, anova_relevance])
def test_sides_that_are_constant(relevance):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.tile(np.arange(3), 2), rng.integers(0, 3, 40)])
        first, second = rng.random(2)
        X = np.array([first, second, second])[y][:, np.newaxis]
        problem = make_problem(BaseEstimator(), X, y)
        pairs = relevance(problem, Decomposition("one-vs-one", 3), slice(None))
        assert_array_equal(pairs, [[np.inf, np.inf, 0]])
        rest = relevance(problem, Decomposition("one-vs-rest", 3), slice(None))
        assert rest[0, 0] == np.inf
        assert np.isfinite(rest[0, 1:]).all()


@pytest.mark.parametrize("selector", [FisherScore("all"), AnovaF("all"), FSDD(3)])
@pytest.mark.parametrize("exponent", [-1000, -700, -540, 540, 700, 1000])
@pytest.mark.parametrize("layout", ["C order", "F order", "sparse"])
def test_units_beyond_the_squares_of_doubles(rng, selector, exponent, layout):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4))
    X[:, 1] += y
    X[:, 2] = 0.1 * y
    X[:, 3] = 0.1
    scores = selector.fit(X, y).scores_
    found = selector.fit(LAYOUTS[layout](np.ldexp(X, exponent)), y).scores_
    assert_array_equal(found, scores)


def test_one_ordinary_column_beside_extreme_ones(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3))
    wanted = AnovaF("all").fit(X, y).scores_
    assert_array_equal(AnovaF("all").fit(X * [1.0, 2.0**900, 2.0**-900], y).scores_, wanted)
