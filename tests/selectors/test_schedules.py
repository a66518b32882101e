"""Which list speaks next, for each schedule."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from mauc.data.decomposition import Decomposition
from mauc.selectors.lists import (
    SCHEDULES,
    Hardest,
    Random,
    RandRobin,
    RankingLists,
    RoundRobin,
    draw_features,
)

PAIRS = Decomposition("one-vs-one", 4)
COUNTS = np.array([100, 100, 10, 10])


def speakers(schedule, n_turns, is_open=None):
    is_open = np.ones(PAIRS.n_subproblems, bool) if is_open is None else is_open
    return [schedule.next_list(is_open) for _ in range(n_turns)]


def test_random_draws_batches_of_256():
    rng = np.random.RandomState(7)
    drawn = np.concatenate([rng.randint(6, size=256) for _ in range(3)])
    assert_array_equal(speakers(Random(PAIRS, COUNTS, np.random.RandomState(7)), 700), drawn[:700])


def test_random_passes_over_closed_lists():
    is_open = np.array([True, False, True, False, False, True])
    rng = np.random.RandomState(7)
    drawn = [p for p in np.concatenate([rng.randint(6, size=256) for _ in range(3)]) if is_open[p]]
    schedule = Random(PAIRS, COUNTS, np.random.RandomState(7))
    assert_array_equal(speakers(schedule, 300, is_open), drawn[:300])


def test_rand_robin_draws_by_the_share_of_the_samples():
    drawn = speakers(RandRobin(PAIRS, COUNTS, np.random.RandomState(0)), 20_000)
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    assert_allclose(shares, PAIRS.shares(COUNTS), atol=0.01)


def test_round_robin_takes_turns():
    schedule = RoundRobin(PAIRS, COUNTS, None)
    order = PAIRS.rounds().tolist()
    assert speakers(schedule, 13) == order * 2 + order[:1]


def test_round_robin_passes_over_closed_lists():
    order = PAIRS.rounds().tolist()
    is_open = np.ones(6, bool)
    is_open[order[1]] = False
    left = [p for p in order if is_open[p]]
    assert speakers(RoundRobin(PAIRS, COUNTS, None), 10, is_open) == left * 2


def test_a_turn_that_meets_a_selected_feature_is_lost():
    # Two lists, 0 1 2 and 0 2 1. In turn, each adding a new one: 0, 2 (of the second), 1.
    # Dropping: 0; the second's 0 is dropped; 1; 2.
    lists = RankingLists(np.array([[0, 1, 2], [0, 2, 1]]), np.zeros((2, 3)))
    halves = Decomposition("one-vs-rest", 2)
    walks = {
        name: draw_features(lists, SCHEDULES[name](halves, [5, 5], None), 3, None)
        for name in ("round_robin", "round_robin_drop")
    }
    assert walks["round_robin"].features.tolist() == [0, 2, 1]
    assert walks["round_robin_drop"].features.tolist() == [0, 1, 2]


def test_hardest_follows_the_least_separation():
    schedule = Hardest(PAIRS, COUNTS, None)
    scores = [
        np.array([0.9, 0.5, 0.6, 0.7, 0.8, 0.99]),
        np.array([0.5, 0.7, 0.6, 0.8, 0.9, 1.0]),
        np.array([0.6, 0.5, 0.9, 0.5, 0.5, 0.5]),
    ]
    assert speakers(schedule, 1) == [0]  # nothing is collected, the first of equals speaks
    separation = np.zeros(6)
    for feature_scores in scores:
        schedule.observe(feature_scores)
        separation += norm.ppf(np.minimum(feature_scores, 1 - 1e-4)) ** 2
        assert_allclose(schedule.separation, separation)
        assert speakers(schedule, 2) == [int(np.argmin(separation))] * 2
    is_open = separation > separation.min()
    closed_least = np.flatnonzero(is_open)[np.argmin(separation[is_open])]
    assert speakers(schedule, 1, is_open) == [closed_least]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest", "whole"])
def test_only_open_lists_speak(name, decomposition):
    decomposition = Decomposition(decomposition, 3)
    n_lists = decomposition.n_subproblems
    for is_open in itertools.product([False, True], repeat=n_lists):
        if any(is_open):
            schedule = SCHEDULES[name](decomposition, [5, 5, 5], np.random.RandomState(0))
            is_open = np.array(is_open)
            assert all(is_open[schedule.next_list(is_open)] for _ in range(20))
