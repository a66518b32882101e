"""Frequencies and mean ranks of rankings, counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mauc.selectors.consensus import Votes, rank_by_votes

RANKINGS = np.array([[0, 1, 2], [0, 2, 1], [3, 1, 0], [3, 1, 2]])


def test_votes_by_hand():
    votes = Votes(RANKINGS, 5)
    votes.extend()
    votes.extend()
    assert_array_equal(votes.frequencies, [0.5, 0.75, 0.25, 0.5, 0])
    # Feature 0: ranks 1, 1, 3, 3; feature 4 is never among the first 2.
    assert_array_equal(votes.mean_ranks, [2, 2.25, 2.75, 2, 3])
    votes.extend()
    assert_array_equal(votes.frequencies, [0.75, 1, 0.75, 0.5, 0])


def test_frequency_by_hand():
    # 0 and 3 are first twice each: the lower column; then 1 (3 of 4), then 0, 1, 2 of 3: 2.
    ranking, scores = rank_by_votes(Votes(RANKINGS, 5), "frequency")
    assert_array_equal(ranking, [0, 1, 2])
    assert_allclose(scores, [0.5, 0.75, 0.75])


def test_rank_by_hand():
    # Sums of ranks: at 1 1.5 (0) and 1.5 (3); at 2 3 has 2, 1 has 2.25; at 3 1 has 2.25.
    ranking, scores = rank_by_votes(Votes(RANKINGS, 5), "rank")
    assert_array_equal(ranking, [0, 3, 1])
    assert_allclose(scores, [1.5, 2, 2.25])


@pytest.mark.parametrize("rule", ["frequency", "rank"])
def test_rankings_are_nested(rng, rule):
    rankings = np.array([rng.permutation(30)[:12] for _ in range(8)])
    whole = rank_by_votes(Votes(rankings, 30), rule)[0]
    assert len(set(whole)) == 12
    for k in (1, 4, 9):
        assert_array_equal(rank_by_votes(Votes(rankings[:, :k], 30), rule)[0], whole[:k])
