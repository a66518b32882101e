"""The mRMR ranking of discrete features."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mauc.selectors.information import greedy as greedy_module
from mauc.selectors.information.greedy import binned_features, mrmr_search
from tests.helpers import oracle_mrmr as oracle
from tests.helpers import rival_strategies


def mrmr_ranking(D, n_states, y, n_classes, k, quotient=False, n_threads=1):
    """Rank discretised features by mRMR."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        search = mrmr_search(features, k, quotient)
    return SimpleNamespace(
        ranking=search.ranking, scores=search.scores, relevance=features.relevance
    )


def assert_same(one, other):
    for name in ("ranking", "scores", "relevance"):
        assert_array_equal(getattr(one, name), getattr(other, name))


def test_by_hand():
    # f0 splits y perfectly in two: log 2. f1 is independent of both.
    D = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    y = np.array([0, 0, 1, 1], dtype=np.int32)
    result = mrmr_ranking(D, 2, y, 2, 2)
    assert result.ranking.tolist() == [0, 1]
    assert_allclose(result.relevance, [math.log(2), 0.0], atol=1e-15)
    assert_allclose(result.scores, [math.log(2), 0.0], atol=1e-15)


def test_no_redundancy_is_no_division_by_zero():
    # f1 is independent of f0 and as relevant
    D = np.array([[0, 0, 1, 1] * 4, [0, 1, 0, 1] * 4], dtype=np.uint8)
    y = (D[0] * 2 + D[1]).astype(np.int32)
    result = mrmr_ranking(D, 2, y, 4, 2, quotient=True)
    assert result.scores[1] == result.relevance[1] / 1e-9


@settings(max_examples=120)
@given(rival_strategies.coded_features(), st.booleans())
def test_equals_the_eager_definition_to_the_bit(problem, quotient):
    D, n_states, y, n_classes, k = problem
    result = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    ranking, scores, relevance = oracle.mrmr(D, y, k, quotient, oracle.fixed_information(len(y)))
    assert_array_equal(result.ranking, ranking)
    assert_array_equal(result.scores, scores)
    assert_array_equal(result.relevance, relevance)


@given(rival_strategies.coded_features())
def test_relevance_is_the_mutual_information(problem):
    D, n_states, y, n_classes, _ = problem
    result = mrmr_ranking(D, n_states, y, n_classes, 1)
    literal = [oracle.mutual_information(row.tolist(), y.tolist()) for row in D]
    assert_allclose(result.relevance, literal, rtol=1e-12, atol=1e-14)


@given(rival_strategies.coded_features(max_states=8), st.booleans())
def test_planes_and_histograms_agree_to_the_bit(problem, quotient):
    D, n_states, y, n_classes, k = problem
    by_planes = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_module, "MAX_PLANE_STATES", 0)
        by_histograms = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    assert_same(by_planes, by_histograms)


@given(rival_strategies.coded_features(), st.booleans(), st.integers(2, 4))
def test_agnostic_to_threads(problem, quotient, n_threads):
    D, n_states, y, n_classes, k = problem
    alone = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_module, "BLOCK_WORK", 1)
        shared = mrmr_ranking(D, n_states, y, n_classes, k, quotient, n_threads)
    assert_same(alone, shared)


@given(rival_strategies.coded_features(), st.randoms(use_true_random=False))
def test_names_of_states_and_row_order_are_irrelevant(problem, random):
    D, n_states, y, n_classes, k = problem
    order = list(range(len(y)))
    random.shuffle(order)
    renamed = np.empty_like(D)
    for j, s in enumerate(n_states):
        names = list(range(s))
        random.shuffle(names)
        renamed[j] = np.array(names, dtype=np.uint8)[D[j]]
    first = mrmr_ranking(D, n_states, y, n_classes, k)
    renamed = np.ascontiguousarray(renamed[:, order])
    assert_same(first, mrmr_ranking(renamed, n_states, y[order], n_classes, k))


def test_equal_features_go_by_column_index(rng):
    y = rng.integers(0, 3, 200).astype(np.int32)
    row = ((y + (rng.random(200) < 0.3)) % 3).astype(np.uint8)
    result = mrmr_ranking(np.stack([row] * 5), 3, y, 3, 5)
    assert result.ranking.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("quotient", [False, True])
def test_constant_features_come_last(rng, quotient):
    y = rng.integers(0, 2, 100).astype(np.int32)
    D = rng.integers(0, 3, (6, 100)).astype(np.uint8)
    D[1], D[4] = 0, 2
    result = mrmr_ranking(D, 3, y, 2, 6, quotient)
    assert result.ranking[-2:].tolist() == [1, 4]
    assert np.isneginf(result.scores).tolist() == [False] * 4 + [True] * 2
    assert_array_equal(result.relevance[[1, 4]], 0.0)


def test_many_states(rng):
    D = rng.integers(0, 256, (3, 3000)).astype(np.uint8)
    y = (D[0] // 64).astype(np.int32)
    result = mrmr_ranking(D, 256, y, 4, 3)
    ranking, scores, _ = oracle.mrmr(D, y, 3, False, oracle.fixed_information(3000))
    assert_array_equal(result.ranking, ranking)
    assert_array_equal(result.scores, scores)


def test_large_n_keeps_its_digits(rng):
    n = 200_000
    y = rng.integers(0, 3, n).astype(np.int32)
    row = np.where(rng.random(n) < 0.01, y, rng.integers(0, 3, n)).astype(np.uint8)
    result = mrmr_ranking(row[np.newaxis], 3, y, 3, 1)
    literal = oracle.mutual_information(row.tolist(), y.tolist())
    assert_allclose(result.relevance[0], literal, rtol=0, atol=1e-14)
