"""The search that leaves near-ties to the halves, against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mauc import GreedyMAUC
from mauc.data.problem import make_problem
from mauc.selectors.consensus import Votes, rank_near_ties
from mauc.selectors.greedy_mauc.search import measure_state
from tests.helpers.oracle_greedy import model_correlations


@pytest.fixture
def samples(rng):
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 12)) + rng.normal(size=(3, 12))[y]
    X[:, 5] = X[:, 2] + 0.1 * rng.normal(size=90)
    X[:, 6] = X[:, 3] + 0.1 * rng.normal(size=90)
    X[:, 11] = 1.0
    return X, y


def state_of(X, y, prior=None):
    state = measure_state(GreedyMAUC(), make_problem(BaseEstimator(), X, y), 12)
    return state.with_prior(prior)


def rank(state, rankings):
    return rank_near_ties(state, Votes(rankings, 12))


def oracle(model, rankings, k, weights):
    """Each step inverts the correlations anew and counts the votes anew."""
    effects, R = model.effects.copy(), model_correlations(model)

    def loss(chosen):
        d = effects[chosen]
        squares = (d * np.linalg.solve(R[np.ix_(chosen, chosen)], d)).sum(axis=0)
        return np.exp(-model.rate * squares).sum()

    chosen, gains = [], []
    for step in range(k):
        before = loss(chosen)
        found = {
            f: weights[f] * (before - loss([*chosen, f])) / before
            for f in range(11)  # 11 is constant
            if f not in chosen
        }
        near = [f for f, gain in found.items() if gain >= 0.9 * max(found.values())]
        votes = {f: sum(f in ranking[: step + 1] for ranking in rankings) for f in near}
        best = max(near, key=lambda f: (votes[f], found[f]))
        chosen.append(best)
        gains.append(found[best])
    return chosen, gains


@pytest.mark.parametrize("has_prior", [False, True])
def test_equals_the_definition(samples, rng, has_prior):
    X, y = samples
    weights = rng.uniform(0.5, 1, 12) if has_prior else np.ones(12)
    n_other = 0
    for _ in range(5):
        rankings = np.array([rng.permutation(12)[:7] for _ in range(6)])
        expected, gains = oracle(state_of(X, y), rankings, 7, weights)
        for blocks in ([(0, 12)], [(0, 5), (5, 12)]):
            state = state_of(X, y, weights if has_prior else None)
            state.blocks = blocks  # one per thread
            ranking, found = rank(state, rankings)
            assert_array_equal(ranking, expected)
            assert_allclose(found, gains, rtol=1e-6)
        plain = GreedyMAUC(7, prior=weights).fit(X, y).ranking_
        n_other += (np.array(expected) != plain).any()
    assert n_other > 0  # there were near-ties, and the votes decided


@pytest.mark.parametrize("prior", [None, np.linspace(0.1, 1, 12)])
def test_halves_that_agree_with_the_search_change_nothing(samples, prior):
    X, y = samples
    plain = GreedyMAUC("all", prior=prior).fit(X, y).ranking_
    ranking, _ = rank(state_of(X, y, prior), np.tile(plain, (4, 1)))
    assert_array_equal(ranking, plain)
    assert ranking[-1] == 11  # the constant one


def test_of_copies_the_one_with_the_votes_is_taken(samples):
    X, y = samples
    best = GreedyMAUC(1).fit(X, y).ranking_[0]
    X[:, [8, 9]] = X[:, [best, best]]
    for wanted in (best, 8, 9):
        ranking, _ = rank(state_of(X, y), np.array([[wanted]]))
        assert_array_equal(ranking, [wanted])


def test_votes_cannot_make_a_weak_feature_first(samples, rng):
    X, y = samples
    X[:, 0] = 3 * y + rng.normal(size=90)
    ranking, _ = rank(state_of(X, y), np.array([[9, 0]] * 3))
    assert ranking[0] == 0
