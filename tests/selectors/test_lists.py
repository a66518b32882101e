"""Ranking lists, the schedules that draw from them and the selection that results."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import BaseEstimator

from mauc.data import columns as block_width_module
from mauc.data.decomposition import Decomposition
from mauc.data.problem import make_problem
from mauc.selectors.lists import (
    SCHEDULES,
    Hardest,
    Random,
    RandRobin,
    RoundRobin,
    TopK,
    draw_features,
    fill_lists,
    push_block,
    rank_features,
)
from mauc.selectors.relevance import auc_relevance
from tests.helpers import oracles, strategies

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")

PAIRS = Decomposition("one-vs-one", 4)
COUNTS = np.array([100, 100, 10, 10])


def sorted_lists(scores, tie_breaks, length):
    """Sort all features of every list: score, then tie break, then column."""
    features = range(len(scores))
    return [
        sorted(features, key=lambda f, p=p: (-scores[f, p], -tie_breaks[f], f))[:length]
        for p in range(scores.shape[1])
    ]


def rank(X, y, length, ties="index", n_jobs=None, name="one-vs-one"):
    problem = make_problem(BaseEstimator(), X, y)
    decomposition = Decomposition(name, problem.n_classes)
    return rank_features(problem, decomposition, auc_relevance, length, ties, n_jobs)


def test_lists_by_hand():
    # Columns 0 and 2 separate the classes perfectly, column 1 not at all.
    X = np.array([[1, 5, 8], [2, 5, 9], [3, 5, 1], [4, 5, 2]])
    lists, means = rank(X, [0, 0, 1, 1], 3)
    assert_array_equal(lists.features, [[0, 2, 1]])
    assert_array_equal(lists.scores, [[1.0, 1.0, 0.5]])
    assert_array_equal(means, [1.0, 0.5, 1.0])


@pytest.mark.parametrize("ties", ["index", "mauc"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_streamed_lists_equal_sorting(ties, monkeypatch, data):
    X, y = data.draw(strategies.problems(max_features=12, min_samples=4, max_samples=12))
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    length = data.draw(st.integers(1, X.shape[1]))
    monkeypatch.setattr(block_width_module, "_BLOCK_SCORES", data.draw(st.integers(1, 200)))
    lists, means = rank(X, y, length, ties)
    tie_breaks = relevance.mean(axis=1) if ties == "mauc" else np.zeros(len(relevance))
    assert_array_equal(lists.features, sorted_lists(relevance, tie_breaks, length))
    assert_array_equal(lists.scores, np.take_along_axis(relevance.T, lists.features, axis=1))
    assert_array_equal(means, relevance.mean(axis=1))


def best(scores, tie_breaks, k, cuts=()):
    """Push all features in blocks cut at `cuts`, and sort what is held."""
    n_features, n_lists = scores.shape
    lists = None
    edges = [0, *sorted(cuts), n_features]
    for start, stop in itertools.pairwise(edges):
        block = np.ascontiguousarray(scores[start:stop])
        if lists is not None:
            push_block(block, tie_breaks[start:stop], start, *lists)
        elif stop >= min(k, n_features):
            lists = fill_lists(scores[:stop], tie_breaks[:stop], k)
    assert lists.scores.shape == (n_lists, min(k, n_features))
    return lists.first(k).features


def test_heaps_by_hand():
    # Features 0 and 2 tie in the list; 2 has the larger tie break.
    scores, tie_breaks = np.array([[0.9], [0.5], [0.9], [1.0]]), np.array([0.1, 0.9, 0.2, 0.0])
    assert_array_equal(best(scores, tie_breaks, 2), [[3, 2]])
    assert_array_equal(best(scores, np.zeros(4), 2), [[3, 0]])


@given(st.data())
def test_equals_sorting_everything(data):
    n_features, n_lists = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(0, data.draw(st.sampled_from([1, 3, 100])), (n_features, n_lists)) / 8
    tie_breaks = rng.integers(0, 3, n_features) / 2
    k = data.draw(st.integers(1, n_features))
    cuts = data.draw(st.lists(st.integers(0, n_features), max_size=6))
    assert_array_equal(best(scores, tie_breaks, k, cuts), sorted_lists(scores, tie_breaks, k))


def draws(schedule, n_turns, is_open=None):
    is_open = np.ones(PAIRS.n_subproblems, bool) if is_open is None else is_open
    return [schedule.next_list(is_open) for _ in range(n_turns)]


def test_random_draws_batches_of_256():
    rng = np.random.RandomState(7)
    drawn = np.concatenate([rng.randint(6, size=256) for _ in range(3)])
    assert_array_equal(draws(Random(PAIRS, COUNTS, np.random.RandomState(7)), 700), drawn[:700])


def test_rand_robin_draws_by_the_share_of_the_samples():
    drawn = draws(RandRobin(PAIRS, COUNTS, np.random.RandomState(0)), 20_000)
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    assert_allclose(shares, PAIRS.shares(COUNTS), atol=0.01)


def test_round_robin_takes_turns():
    schedule = RoundRobin(PAIRS, COUNTS, None)
    order = PAIRS.rounds().tolist()
    assert draws(schedule, 13) == order * 2 + order[:1]


def test_hardest_follows_the_least_separation():
    schedule = Hardest(PAIRS, COUNTS, None)
    scores = [
        np.array([0.9, 0.5, 0.6, 0.7, 0.8, 0.99]),
        np.array([0.5, 0.7, 0.6, 0.8, 0.9, 1.0]),
        np.array([0.6, 0.5, 0.9, 0.5, 0.5, 0.5]),
    ]
    assert draws(schedule, 1) == [0]  # nothing is collected, the first of equals is drawn
    separation = np.zeros(6)
    for feature_scores in scores:
        schedule.observe(feature_scores)
        separation += norm.ppf(np.minimum(feature_scores, 1 - 1e-4)) ** 2
        assert_allclose(schedule.separation, separation)
        assert draws(schedule, 2) == [int(np.argmin(separation))] * 2
    is_open = separation > separation.min()
    closed_least = np.flatnonzero(is_open)[np.argmin(separation[is_open])]
    assert draws(schedule, 1, is_open) == [closed_least]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest", "whole"])
def test_only_open_lists_are_drawn(name, decomposition):
    decomposition = Decomposition(decomposition, 3)
    n_lists = decomposition.n_subproblems
    for is_open in itertools.product([False, True], repeat=n_lists):
        if any(is_open):
            schedule = SCHEDULES[name](decomposition, [5, 5, 5], np.random.RandomState(0))
            is_open = np.array(is_open)
            assert all(is_open[schedule.next_list(is_open)] for _ in range(20))


class Script:
    """A schedule that draws the lists as written."""

    needs_scores = False

    def __init__(self, turns):
        self.turns = iter(turns)

    def next_list(self, is_open):
        return next(turn for turn in self.turns if is_open[turn])


class Observer(Script):
    needs_scores = True

    def __init__(self, turns):
        super().__init__(turns)
        self.seen = []

    def observe(self, scores):
        self.seen.append(scores)


LISTS = TopK(
    scores=np.array([[0.9, 0.8, 0.7], [0.95, 0.85, 0.6]]),
    tie_breaks=np.zeros((2, 3)),
    features=np.array([[0, 1, 2], [0, 2, 1]]),
)


def drawn(turns, n_wanted):
    features, lists, ranks, scores = draw_features(LISTS, Script(turns), n_wanted, None)
    return list(
        zip(features.tolist(), lists.tolist(), ranks.tolist(), scores.tolist(), strict=True)
    )


def test_a_feature_already_selected_is_dropped():
    # The second turn brings feature 0 again and is lost; the third goes on in the list.
    assert drawn([0, 1, 1, 0], 3) == [(0, 0, 1, 0.9), (2, 1, 2, 0.85), (1, 0, 2, 0.8)]


def test_round_robin_drops_what_is_selected():
    # Two lists, 0 1 2 and 0 2 1: 0 of the first; 0 of the second is dropped; 1; 2.
    schedule = RoundRobin(Decomposition("one-vs-rest", 2), [5, 5], None)
    assert draw_features(LISTS, schedule, 3, None).features.tolist() == [0, 1, 2]


def test_an_exhausted_list_is_closed():
    assert drawn([0] * 3, 3) == [(0, 0, 1, 0.9), (1, 0, 2, 0.8), (2, 0, 3, 0.7)]
    # Lists of two cannot bring a third feature: list 0 closes, then list 1, and the selection ends.
    short = TopK(*(part[:, :2] for part in LISTS))
    features, *_ = draw_features(short, Script([0, 0, 0, 0, 1, 1, 1]), 3, None)
    assert features.tolist() == [0, 1, 2]


def test_a_schedule_is_told_the_scores_of_what_is_selected():
    schedule = Observer([0, 1, 1])
    draw_features(LISTS, schedule, 2, lambda feature: feature * 10)
    assert schedule.seen == [0, 20]
