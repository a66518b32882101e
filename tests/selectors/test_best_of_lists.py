"""The heaps of the best K: the same as sorting everything, however the blocks are cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.selectors.lists import offer_block


def best(scores, seconds, k, cuts=()):
    """Offer all features in blocks cut at `cuts`, and sort what is held."""
    n_features, n_lists = scores.shape
    held = np.empty((n_lists, k)), np.empty((n_lists, k)), np.empty((n_lists, k), np.int64)
    n_held = 0
    edges = [0, *sorted(cuts), n_features]
    for start, stop in itertools.pairwise(edges):
        block = np.ascontiguousarray(scores[start:stop])
        n_held = offer_block(block, seconds[start:stop], start, n_held, *held)
    assert n_held == min(k, n_features)
    order = np.lexsort((held[2], -held[1], -held[0]))
    return np.take_along_axis(held[2], order, axis=1)


def sorted_best(scores, seconds, k):
    features = range(len(scores))
    return [
        sorted(features, key=lambda f, p=p: (-scores[f, p], -seconds[f], f))[:k]
        for p in range(scores.shape[1])
    ]


def test_by_hand():
    # Features 0 and 2 tie in the list; 2 has the better second score.
    scores, seconds = np.array([[0.9], [0.5], [0.9], [1.0]]), np.array([0.1, 0.9, 0.2, 0.0])
    assert_array_equal(best(scores, seconds, 2), [[3, 2]])
    assert_array_equal(best(scores, np.zeros(4), 2), [[3, 0]])


@given(st.data())
def test_equals_sorting_everything(data):
    n_features, n_lists = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(0, data.draw(st.sampled_from([1, 3, 100])), (n_features, n_lists)) / 8
    seconds = rng.integers(0, 3, n_features) / 2
    k = data.draw(st.integers(1, n_features))
    cuts = data.draw(st.lists(st.integers(0, n_features), max_size=6))
    assert_array_equal(best(scores, seconds, k, cuts), sorted_best(scores, seconds, k))


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_many_features_of_equal_score_go_by_number(k):
    scores = np.full((1000, 3), 0.5)
    assert_array_equal(best(scores, np.zeros(1000), k, range(0, 1000, 64)), [range(k)] * 3)
