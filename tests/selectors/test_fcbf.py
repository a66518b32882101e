"""FCBF: the search on coded features and the estimator, equal to the definition."""

from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine

from mauc import ARCO, FCBF, JMI, SymmetricalUncertainty
from mauc.binning.states import BINNINGS
from mauc.measure import information as measure
from mauc.measure.information import binned_features
from mauc.selectors import fcbf as fcbf_module
from tests.helpers import oracle_further as oracle
from tests.helpers import oracle_mrmr, rival_strategies
from tests.helpers.strategies import examples


def fcbf_ranking(D, n_states, y, n_classes, k, threshold=0.0, n_threads=1):
    """Rank discretised features by FCBF."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        ranking, rounds, relevance = fcbf_module.fcbf_search(features, k, threshold)
    return SimpleNamespace(ranking=ranking, rounds=rounds, relevance=relevance)


def test_one_of_two_copies_is_kept():
    y = np.array([0, 1, 2, 2] * 2)
    X = np.column_stack([[0, 0, 1, 1] * 2, [5, 5, 3, 3] * 2, [0, 1, 0, 1] * 2])
    found = FCBF("all", binning="none").fit(X, y)
    assert found.ranking_.tolist() == [0, 2, 1]
    assert FCBF("all", binning="none", max_rounds=1).fit(X, y).ranking_.tolist() == [0, 2]
    assert found.rounds_.tolist() == [1, 1, 2]
    # H(y) = 1.5 bits, H(f) = 1 bit, I = 1 and 0.5 bits
    assert_allclose(found.scores_, [0.8, 0.8, 0.4])


@examples(80)
@given(
    rival_strategies.coded_features(max_states=10),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([1, 3]),
)
def test_equals_the_definition(problem, threshold, n_threads):
    D, n_states, y, n_classes, k = problem
    with pytest.MonkeyPatch.context() as patch:
        if n_threads > 1:
            patch.setattr(measure, "BLOCK_WORK", 1)
            patch.setattr(fcbf_module, "BLOCK_WORK", 1)
        found = fcbf_ranking(D, n_states, y, n_classes, k, threshold, n_threads)
    fixed = oracle_mrmr.fixed_information(len(y))
    rounds, rest, relevance = oracle.fcbf(D, y, threshold, fixed)
    assert_array_equal(found.relevance, relevance)
    assert_array_equal(found.ranking, [*chain(*rounds), *rest][:k])
    number = {f: 1 + r for r, kept in enumerate(rounds) for f in kept if relevance[f] > 0}
    assert_array_equal(found.rounds, [number.get(f, 0) for f in found.ranking])


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize("max_rounds", [1, 3])
def test_selects_at_least_one(max_rounds, rng):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    strict = FCBF("all", threshold=0.999, max_rounds=max_rounds).fit(X + y[:, np.newaxis], y)
    assert strict.ranking_.tolist() == [np.argmax(strict.scores_)]
    assert FCBF("all", max_rounds=max_rounds).fit(np.ones((60, 4)), y).ranking_.tolist() == [0]


def test_scores_are_symmetrical_uncertainties():
    X, y = load_wine(return_X_y=True)
    wanted = SymmetricalUncertainty().fit(X, y).scores_
    assert_allclose(FCBF().fit(X, y).scores_, wanted, rtol=1e-9)


@pytest.mark.parametrize("binning", BINNINGS)
def test_every_binning(binning):
    X, y = load_wine(return_X_y=True)
    states, fixed = oracle_mrmr.states_of(X, y, binning, 6), oracle_mrmr.fixed_information(len(y))
    selector = FCBF("all", binning=binning, n_bins=6).fit(X, y)
    rounds, _, relevance = oracle.fcbf(states, y, 0.0, fixed)
    assert_array_equal(selector.ranking_, [*chain(*rounds)])
    assert_array_equal(selector.trace_.scores, np.array(relevance)[selector.ranking_])
    selector = FCBF("all", binning=binning, n_bins=6, max_rounds=1).fit(X, y)
    assert_array_equal(selector.ranking_, rounds[0])
    assert_array_equal(selector.get_support(indices=True), sorted(rounds[0]))
    assert selector.transform(X).shape == (178, len(rounds[0]))


def test_ten_classes_constant_columns_and_many_ties():
    X, y = load_digits(return_X_y=True)
    X, y = X[:150, ::3], y[:150]
    fixed = oracle_mrmr.fixed_information(len(y))
    states = oracle_mrmr.states_of(X, y, "three_states", 0)
    assert_array_equal(JMI(8).fit(X, y).ranking_, oracle.jmi(states, y, 8, fixed)[0])
    assert_array_equal(ARCO(8).fit(X, y).ranking_, oracle.arco(X, y, 10, 8, 1.0)[0])
    states = oracle_mrmr.states_of(X, y, "mdl", 0)
    rounds, _, _ = oracle.fcbf(states, y, 0.0, fixed)
    assert_array_equal(FCBF("all").fit(X, y).ranking_, [*chain(*rounds)])


@pytest.mark.filterwarnings("ignore::mauc.exceptions.NoEvidenceWarning")
@pytest.mark.parametrize("seed", range(10))
def test_one_feature_is_selected_where_none_is_significant(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 3, 60)
    selector = FCBF("fdr", max_rounds=1, binning="equal_width").fit(X, y)
    assert len(selector.ranking_) == len(selector.rounds_) == 1
    assert_array_equal(selector.trace_.scores, selector.scores_[selector.ranking_])


def test_rounds_are_those_of_the_selected_features():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(178, 5))])
    every, some = FCBF("all").fit(X, y), FCBF("fdr").fit(X, y)
    assert len(some.rounds_) == len(some.ranking_) < len(every.ranking_)
    assert_array_equal(some.rounds_, every.rounds_[np.isin(every.ranking_, some.ranking_)])
