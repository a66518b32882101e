"""The search on an averaged loss, against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mauc import GreedyMAUC
from mauc.problem.make import make_problem
from mauc.selectors.consensus.averaged import averaged_ranking
from mauc.selectors.greedy_mauc.judging.model import measure_model
from oracle_greedy import model_correlations


@pytest.fixture
def samples(rng):
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 9)) + rng.normal(size=(3, 9))[y]
    X[:, 5] += 2 * X[:, 2]
    X[:, 8] = 1.0
    return X, y


def models_of(X, y, n_parts):
    parts = zip(np.split(X, n_parts), np.split(y, n_parts), strict=True)
    return [measure_model(GreedyMAUC(), make_problem(BaseEstimator(), *part)) for part in parts]


def oracle(models, k, weights):
    """Each step inverts the correlations anew."""
    rates = [(model.effects.copy(), model_correlations(model), model.rate) for model in models]

    def losses(chosen):
        found = []
        for effects, R, rate in rates:
            d = effects[chosen]
            squares = (d * np.linalg.solve(R[np.ix_(chosen, chosen)], d)).sum(axis=0)
            found.append(np.exp(-rate * squares).sum())
        return np.array(found)

    chosen, gains = [], []
    before = losses(chosen)
    for _ in range(k):
        left = [f for f in range(8) if f not in chosen]  # 8 is constant
        found = [
            (weights[:, f] * (before - losses([*chosen, f]))).sum() / before.sum() for f in left
        ]
        best = left[int(np.argmax(found))]
        gains.append(max(found))
        chosen.append(best)
        before = losses(chosen)
    return chosen, gains


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("has_prior", [False, True])
def test_equals_the_definition(samples, rng, n_parts, has_prior):
    X, y = samples
    weights = rng.uniform(0.2, 1, (n_parts, 9)) if has_prior else np.ones((n_parts, 9))
    expected, gains = oracle(models_of(X, y, n_parts), 6, weights)
    for n_threads in (1, 2):
        models = models_of(X, y, n_parts)
        if has_prior:
            pairs = zip(models, weights, strict=True)
            models = [model._replace(prior=prior) for model, prior in pairs]
        found = averaged_ranking(models, 6, n_threads=n_threads)
        assert_array_equal(found.ranking, expected)
        assert_allclose(found.gains, gains, rtol=1e-6)


@pytest.mark.parametrize("prior", [None, np.linspace(0.1, 1, 9)])
def test_of_one_sample_it_is_the_search_of_greedy_mauc(samples, prior):
    X, y = samples
    found = averaged_ranking([models_of(X, y, 1)[0]._replace(prior=prior)], 9)
    assert_array_equal(found.ranking, GreedyMAUC("all", prior=prior).fit(X, y).ranking_)
    assert found.ranking[-1] == 8  # the constant one
