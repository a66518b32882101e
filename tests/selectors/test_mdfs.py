"""MDFS against a literal transcription of Algorithm 1 with the same draws."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.stats import norm
from sklearn.datasets import load_digits, load_iris

from mauc import MDFS, feature_pair_auc
from mauc.data import columns as block_width_module
from mauc.data.decomposition import Decomposition
from tests.helpers import oracles, strategies

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def steps_of(selector):
    return [(step.feature, step.subproblem, step.rank) for step in selector.trace_]


def assert_is_algorithm_1(X, y, n_wanted, seed, **options):
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    draws = oracles.uniform_draws(seed, relevance.shape[1])
    selector = MDFS(n_wanted, random_state=seed, **options).fit(X, y)
    wanted = oracles.algorithm_1(relevance, n_wanted, draws)
    assert steps_of(selector) == wanted
    assert_array_equal(selector.ranking_, [feature for feature, _, _ in wanted])
    assert_array_equal(selector.trace_.scores, [relevance[f, p] for f, p, _ in wanted])
    assert_array_equal(selector.scores_, oracles.exact_mean(relevance))
    assert_array_equal(selector.pair_auc_, relevance[selector.ranking_])


def test_by_hand():
    # Column 0 serves the pair (0, 1) best, column 1 the two pairs with class 2.
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [1, 1]])
    y = [0, 0, 1, 1, 2, 2]
    assert_array_equal(feature_pair_auc(X, y), [[1, 0.75, 0.75], [0.5, 1, 1]])
    for seed in range(20):
        first_pair = next(oracles.uniform_draws(seed, 3))
        selector = MDFS("all", random_state=seed).fit(X, y)
        assert selector.ranking_.tolist() == ([0, 1] if first_pair == 0 else [1, 0])
        assert selector.trace_[0].subproblem == first_pair
        assert selector.trace_[0].score == 1.0


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_equals_algorithm_1(monkeypatch, data):
    X, y = data.draw(strategies.problems(max_features=12, max_samples=15))
    n_wanted = data.draw(st.integers(1, X.shape[1]))
    monkeypatch.setattr(block_width_module, "_BLOCK_SCORES", data.draw(st.integers(1, 100)))
    assert_is_algorithm_1(X, y, n_wanted, data.draw(st.integers(0, 2**32 - 1)))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_wanted", [10, 100])
def test_equals_algorithm_1_on_many_columns(rng, n_wanted, n_jobs):
    X, y = rng.normal(size=(40, 300)).round(1), rng.permutation(np.arange(40) % 6)
    assert_is_algorithm_1(X, y, n_wanted, 5, n_jobs=n_jobs)


def test_equals_algorithm_1_to_the_last_column(rng):
    # All columns are wanted, so lists run empty and are drawn again.
    X, y = rng.normal(size=(30, 25)), rng.permutation(np.arange(30) % 3)
    for seed in range(5):
        assert_is_algorithm_1(X, y, 25, seed)


def test_equals_algorithm_1_on_digits():
    X, y = load_digits(return_X_y=True)
    relevance = feature_pair_auc(X, y)
    wanted = oracles.algorithm_1(relevance, 20, oracles.uniform_draws(1, 45))
    assert steps_of(MDFS(20, random_state=1).fit(X, y)) == wanted
    assert steps_of(MDFS(20, random_state=1).fit(X.astype(np.uint8), y)) == wanted


def test_first_ten_of_thirty_are_the_choice_for_ten(rng):
    X, y = rng.normal(size=(100, 60)), rng.integers(0, 8, 100)
    for seed in range(10):
        thirty = MDFS(30, random_state=seed).fit(X, y)
        ten = MDFS(10, random_state=seed).fit(X, y)
        assert_array_equal(thirty.ranking_[:10], ten.ranking_)
        assert list(thirty.trace_)[:10] == list(ten.trace_)


def test_ties_by_mauc():
    # Both columns separate the pair (0, 1) perfectly; only the second separates (0, 2), (1, 2).
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [0, 2], [1, 2]])
    y = [0, 0, 1, 1, 2, 2]
    relevance = feature_pair_auc(X, y)
    assert_array_equal(relevance[:, 0], [1.0, 1.0])
    for seed in range(5):
        assert MDFS(1, ties="mauc", random_state=seed).fit(X, y).ranking_ == [1]
    seed = next(s for s in range(50) if next(oracles.uniform_draws(s, 3)) == 0)
    assert MDFS(1, ties="index", random_state=seed).fit(X, y).ranking_ == [0]


@given(strategies.problems(max_features=12, min_samples=4, max_samples=10), st.integers(0, 99))
def test_ties_by_mauc_sort_by_three_keys(problem, seed):
    X, y = problem
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    # Columns in order of mean AUC: then ties of the literal algorithm go by it.
    order = np.argsort(-oracles.exact_mean(relevance), kind="stable")
    draws = oracles.uniform_draws(seed, relevance.shape[1])
    wanted = oracles.algorithm_1(relevance[order], len(order), draws)
    selector = MDFS("all", ties="mauc", random_state=seed).fit(X, y)
    assert_array_equal(selector.ranking_, order[[feature for feature, _, _ in wanted]])


def test_random_state(rng):
    X, y = rng.normal(size=(50, 30)), rng.integers(0, 5, 50)
    one, same = (MDFS(10, random_state=3).fit(X, y).ranking_ for _ in range(2))
    assert_array_equal(one, same)
    others = [MDFS(10, random_state=seed).fit(X, y).ranking_.tolist() for seed in range(8)]
    assert len(set(map(tuple, others))) > 1
    shared = np.random.RandomState(3)
    assert_array_equal(MDFS(10, random_state=shared).fit(X, y).ranking_, one)
    MDFS(10).fit(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_round_robin_goes_by_the_tournament(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 20)).round(1), rng.permutation(np.arange(40) % 5)
    relevance = oracles.folded_auc(X, y, 5)
    turns = itertools.cycle(Decomposition("one-vs-one", 5).rounds())
    selector = MDFS("all", schedule="round_robin").fit(X, y)
    assert steps_of(selector) == oracles.algorithm_1(relevance, 20, turns)


@pytest.mark.parametrize("seed", range(5))
def test_hardest_draws_the_least_separated_pair(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 20)), rng.permutation(np.arange(40) % 4)
    X[:, :5] += 3 * y[:, np.newaxis]
    relevance = oracles.folded_auc(X, y, 4)
    selected = []

    def turns():
        while True:
            collected = norm.ppf(np.minimum(relevance[selected], 1 - 1e-4)) ** 2
            yield int(np.argmin(collected.sum(axis=0)))

    drawn = turns()
    for _ in range(20):
        pair = next(drawn)
        order = sorted(range(20), key=lambda f, p=pair: (-relevance[f, p], f))
        selected.append(next(f for f in order if f not in selected))
    selector = MDFS("all", schedule="hardest").fit(X, y)
    assert_array_equal(selector.ranking_, selected)


def test_names_of_the_pairs():
    data = load_iris()
    selector = MDFS(2, random_state=0).fit(data.data, data.target_names[data.target])
    assert selector.subproblem_names_ == [
        "setosa vs versicolor", "setosa vs virginica", "versicolor vs virginica",
    ]  # fmt: skip
