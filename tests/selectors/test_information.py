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
from mauc.measure import information as measure
from mauc.measure.information import binned_features
from mauc.search.lazy import DIFFERENCE, QUOTIENT, SUM, LazySearch, Rule, Terms
from tests.helpers import oracle_further as oracle
from tests.helpers import oracle_mrmr, rival_strategies
from tests.helpers.strategies import examples


def mrmr_ranking(D, n_states, y, n_classes, k, quotient=False, n_threads=1):
    """Rank discretised features by mRMR."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        search = LazySearch(features, k, Rule(QUOTIENT if quotient else DIFFERENCE))
        search.run(Terms(features.arrays))
    return SimpleNamespace(
        ranking=search.ranking, scores=search.scores, relevance=features.relevance
    )


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


def assert_equals(found, wanted):
    assert_array_equal(found.ranking, wanted[0])
    assert_array_equal(found.scores, wanted[1])
    assert_array_equal(found.relevance, wanted[2])


@examples(100)
@given(rival_strategies.coded_features(), st.booleans(), st.booleans())
def test_mrmr_equals_the_eager_definition_to_the_bit(problem, quotient, by_histograms):
    D, n_states, y, n_classes, k = problem
    with pytest.MonkeyPatch.context() as patch:
        if by_histograms:
            patch.setattr(measure, "MAX_PLANE_STATES", 0)
        result = mrmr_ranking(D, n_states, y, n_classes, k, quotient)
    fixed = oracle_mrmr.fixed_information(len(y))
    assert_equals(result, oracle_mrmr.mrmr(D, y, k, quotient, fixed))
    literal = [oracle_mrmr.mutual_information(row.tolist(), y.tolist()) for row in D]
    assert_allclose(result.relevance, literal, rtol=1e-12, atol=1e-14)


def test_many_states(rng):
    D = rng.integers(0, 256, (3, 3000)).astype(np.uint8)
    y = (D[0] // 64).astype(np.int32)
    result = mrmr_ranking(D, 256, y, 4, 3)
    assert_equals(result, oracle_mrmr.mrmr(D, y, 3, False, oracle_mrmr.fixed_information(3000)))


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


@pytest.mark.parametrize("criterion", ["difference", "quotient"])
@pytest.mark.parametrize("binning", BINNINGS)
def test_mrmr_with_every_binning(wine, binning, criterion):
    X, y = wine
    selector = MRMR("all", binning=binning, criterion=criterion, n_bins=6).fit(X, y)
    states = oracle_mrmr.states_of(X, y, binning, 6)
    is_quotient = criterion == "quotient"
    ranking, scores, relevance = oracle_mrmr.mrmr(
        states, y, 13, is_quotient, oracle_mrmr.fixed_information(len(y))
    )
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)


def jmi_ranking(D, n_states, y, n_classes, k, n_threads=1):
    """Rank discretised features by JMI."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        search = LazySearch(features, k, Rule(SUM))
        search.run(lambda last: Terms(features.arrays, features.merge(last)))
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
@given(rival_strategies.coded_features(max_states=10), st.sampled_from([1, 3]))
def test_jmi_equals_the_definition_to_the_bit(problem, n_threads):
    D, n_states, y, n_classes, k = problem
    with pytest.MonkeyPatch.context() as patch:
        if n_threads > 1:
            patch.setattr(measure, "BLOCK_WORK", 1)
            patch.setattr(measure, "MAX_CLASS_PRODUCTS", 0)
        found = jmi_ranking(D, n_states, y, n_classes, k, n_threads)
    assert_equals(found, oracle.jmi(D, y, k, oracle_mrmr.fixed_information(len(y))))
    literal = oracle.jmi(D, y.tolist(), 1, oracle_mrmr.mutual_information)[2]
    assert_allclose(found.relevance, literal, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("binning", BINNINGS)
def test_jmi_with_every_binning(binning):
    X, y = load_wine(return_X_y=True)
    states, fixed = oracle_mrmr.states_of(X, y, binning, 6), oracle_mrmr.fixed_information(len(y))
    selector = JMI("all", binning=binning, n_bins=6).fit(X, y)
    ranking, scores, relevance = oracle.jmi(states, y, 13, fixed)
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)
