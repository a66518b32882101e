"""mRMR and JMI: the search on coded features and the estimators, equal to their definitions."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from mauc import JMI, MRMR
from mauc.binning.states import BINNINGS
from mauc.selectors.information import greedy as greedy_module
from mauc.selectors.information.greedy import binned_features, mrmr_search
from tests.helpers import oracle_further as oracle
from tests.helpers import oracle_mdl, oracle_mrmr, rival_strategies
from tests.helpers.strategies import examples


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


def test_mrmr_by_hand():
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


@examples(120)
@given(rival_strategies.coded_features(), st.booleans())
def test_mrmr_equals_the_eager_definition_to_the_bit(problem, quotient):
    D, n_states, y, n_classes, k = problem
    result = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    ranking, scores, relevance = oracle_mrmr.mrmr(
        D, y, k, quotient, oracle_mrmr.fixed_information(len(y))
    )
    assert_array_equal(result.ranking, ranking)
    assert_array_equal(result.scores, scores)
    assert_array_equal(result.relevance, relevance)


@given(rival_strategies.coded_features())
def test_relevance_is_the_mutual_information(problem):
    D, n_states, y, n_classes, _ = problem
    result = mrmr_ranking(D, n_states, y, n_classes, 1)
    literal = [oracle_mrmr.mutual_information(row.tolist(), y.tolist()) for row in D]
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
def test_mrmr_is_agnostic_to_threads(problem, quotient, n_threads):
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
    ranking, scores, _ = oracle_mrmr.mrmr(D, y, 3, False, oracle_mrmr.fixed_information(3000))
    assert_array_equal(result.ranking, ranking)
    assert_array_equal(result.scores, scores)


def test_large_n_keeps_its_digits(rng):
    n = 200_000
    y = rng.integers(0, 3, n).astype(np.int32)
    row = np.where(rng.random(n) < 0.01, y, rng.integers(0, 3, n)).astype(np.uint8)
    result = mrmr_ranking(row[np.newaxis], 3, y, 3, 1)
    literal = oracle_mrmr.mutual_information(row.tolist(), y.tolist())
    assert_allclose(result.relevance[0], literal, rtol=0, atol=1e-14)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def states_of(X, y, binning, n_bins):
    n_classes = y.max() + 1
    make = {
        "three_states": lambda x: oracle_mrmr.three_states(x)[0],
        "mdl": lambda x: oracle_mdl.bins_of(x, oracle_mdl.cut_points(x, y, n_classes)),
        "equal_width": lambda x: oracle_mrmr.equal_width(x, n_bins),
        "equal_frequency": lambda x: oracle_mrmr.equal_frequency(x, n_bins),
        "none": lambda x: np.unique(x, return_inverse=True)[1],
    }[binning]
    return [make(column).tolist() for column in X.T]


@pytest.mark.parametrize("criterion", ["difference", "quotient"])
@pytest.mark.parametrize("binning", BINNINGS)
def test_mrmr_with_every_binning(wine, binning, criterion):
    X, y = wine
    selector = MRMR("all", binning=binning, criterion=criterion, n_bins=6).fit(X, y)
    states = states_of(X, y, binning, 6)
    is_quotient = criterion == "quotient"
    ranking, scores, relevance = oracle_mrmr.mrmr(
        states, y, 13, is_quotient, oracle_mrmr.fixed_information(len(y))
    )
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)
    # and the information itself, from probabilities
    literal = [oracle_mrmr.mutual_information(row, y.tolist()) for row in states]
    assert_allclose(selector.scores_, literal, rtol=1e-12)
    assert_allclose(
        selector.trace_.scores,
        oracle_mrmr.mrmr(states, y.tolist(), 13, is_quotient)[1],
        rtol=1e-9,
        atol=1e-13,
    )


@pytest.mark.parametrize("criterion", ["difference", "quotient"])
@pytest.mark.parametrize("binning", BINNINGS)
def test_constant_features_are_last_for_mrmr(wine, binning, criterion):
    X, y = wine
    X = np.insert(X, [0, 5], 3.0, axis=1)
    selector = MRMR("all", binning=binning, criterion=criterion).fit(X, y)
    n_useless = np.isneginf(selector.trace_.scores).sum()
    assert n_useless >= 2
    assert {0, 6} <= set(selector.ranking_[-n_useless:])


def jmi_ranking(D, n_states, y, n_classes, k, n_threads=1):
    """Rank discretised features by JMI."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        search = greedy_module.jmi_search(features, k)
    return SimpleNamespace(
        ranking=search.ranking, scores=search.scores, relevance=features.relevance
    )


def test_jmi_sees_what_two_features_tell_together():
    # the class is a xor b; no column tells anything alone
    a, b, c = np.array([[0, 0, 1, 1] * 2, [0, 1, 0, 1] * 2, [0] * 4 + [1] * 4])
    found = JMI("all").fit(np.column_stack([a, c, b]), a ^ b)
    assert found.ranking_.tolist() == [0, 2, 1]
    assert_allclose(found.scores_, 0.0, atol=1e-15)
    # I(c, a; y) + I(c, b; y) = 0
    assert_allclose(found.trace_.scores, [0.0, math.log(2), 0.0], atol=1e-15)


@examples(80)
@given(rival_strategies.coded_features(max_states=10))
def test_jmi_equals_the_definition_to_the_bit(problem):
    D, n_states, y, n_classes, k = problem
    found = jmi_ranking(D, n_states, y, n_classes, k)
    fixed = oracle_mrmr.fixed_information(len(y))
    ranking, scores, relevance = oracle.jmi(D, y, k, fixed)
    assert_array_equal(found.ranking, ranking)
    assert_array_equal(found.scores, scores)
    assert_array_equal(found.relevance, relevance)
    literal = oracle.jmi(D, y.tolist(), 1, oracle_mrmr.mutual_information)[2]
    assert_allclose(found.relevance, literal, rtol=1e-12, atol=1e-14)


@given(rival_strategies.coded_features(max_states=8), st.integers(2, 4))
def test_jmi_is_agnostic_to_planes_and_threads(problem, n_threads):
    D, n_states, y, n_classes, k = problem
    found = jmi_ranking(D, n_states, y, n_classes, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_module, "BLOCK_WORK", 1)
        patch.setattr(greedy_module, "MAX_CLASS_PRODUCTS", 0)
        other = jmi_ranking(D, n_states, y, n_classes, k, n_threads)
    for name in ("ranking", "scores", "relevance"):
        assert_array_equal(getattr(found, name), getattr(other, name))


def test_merged_codes_leave_no_gaps(rng):
    codes, y = np.array([4, 0, 4, 7, 7], np.uint8), np.array([2, 1, 0, 2, 2], np.int32)
    z, counts, groups = greedy_module.merge_classes(codes, y, 3)
    assert z.tolist() == [2, 0, 1, 3, 3]
    assert counts.tolist() == [1, 1, 1, 2]
    assert groups.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("binning", BINNINGS)
def test_jmi_with_every_binning(binning):
    X, y = load_wine(return_X_y=True)
    states, fixed = states_of(X, y, binning, 6), oracle_mrmr.fixed_information(len(y))
    selector = JMI("all", binning=binning, n_bins=6).fit(X, y)
    ranking, scores, relevance = oracle.jmi(states, y, 13, fixed)
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)
