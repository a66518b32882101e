"""Weights of any unit: the AUC of features and of one class against the rest."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from mauc import MDFS, ReliefF, feature_pair_auc
from mauc.data.door import check_generator, make_problem
from mauc.data.problem import Decomposition
from mauc.datasets import make_control_charts
from mauc.lab import tune_rbf_svm
from mauc.measure.relevance import auc_relevance


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("factor", [1e200, 1e-200, 5e-324])
def test_feature_auc_does_not_depend_on_the_unit_of_weights(rng, make, factor):
    X, y = rng.normal(size=(60, 4)).round(1), np.arange(60) % 3
    weights = rng.integers(1, 9, 60).astype(float)
    wanted = feature_pair_auc(make(X), y, sample_weight=weights)
    for unit in (2.0**400, factor):
        scaled = feature_pair_auc(make(X), y, sample_weight=unit * weights)
        assert_allclose(scaled, wanted, rtol=1e-12)
    mixed = weights * np.array([1e200, 1e-200, 1.0])[y]
    assert_allclose(feature_pair_auc(make(X), y, sample_weight=mixed), wanted, rtol=1e-12)
    first, second = (
        MDFS("all", random_state=0).fit(make(X), y, sample_weight=unit * weights).ranking_
        for unit in (1.0, factor)
    )
    assert_array_equal(first, second)


@pytest.mark.parametrize("factor", [1.0, 1e200, 1e-200])
def test_one_versus_rest_keeps_the_weights_between_classes(rng, factor):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    weights = rng.random(60) * np.array([0.1, 1.0, 30.0])[y]
    problem = make_problem(X, y, sample_weight=factor * weights)
    got = auc_relevance(problem, Decomposition("one-vs-rest", 3), slice(None))
    for feature in range(4):
        for label in range(3):
            auc = roc_auc_score(y == label, X[:, feature], sample_weight=weights)
            assert got[feature, label] == pytest.approx(max(auc, 1 - auc), abs=1e-12)


def test_a_seed_sequence_is_a_seed_and_a_generator_goes_on():
    sequence, generator = np.random.SeedSequence(1), np.random.default_rng(1)
    draws = [check_generator(sequence).randint(10**9) for _ in range(2)]
    assert draws[0] == draws[1] != check_generator(np.random.SeedSequence(2)).randint(10**9)
    check_generator(generator)  # a check draws nothing
    assert generator.random() == np.random.default_rng(1).random()
    draws = [check_generator(generator).randint(10**9) for _ in range(2)]
    assert draws[0] != draws[1]


@pytest.mark.parametrize("make", [np.random.SeedSequence, np.random.default_rng])
@pytest.mark.parametrize("kind", [MDFS, ReliefF])
def test_selectors_take_generators_of_numpy(rng, kind, make):
    X, y = rng.normal(size=(50, 30)), np.arange(50) % 5
    options = {"n_iterations": 7} if kind is ReliefF else {}
    selectors = [kind(10, random_state=make(seed), **options) for seed in (0, 0, 1)]
    copies = clone(selectors[0]), pickle.loads(pickle.dumps(selectors[0]))
    wanted, same, other = (one.fit(X, y).ranking_.tolist() for one in selectors)
    assert wanted == same != other
    for copy in copies:
        assert copy.fit(X, y).ranking_.tolist() == wanted


@pytest.mark.parametrize("make", [np.random.SeedSequence, np.random.default_rng])
def test_functions_take_generators_of_numpy(rng, make):
    one, same = (make_control_charts(2, 12, make(3)).X for _ in range(2))
    assert_array_equal(one, same)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    grid = {"C_values": [1, 8], "gamma_values": [0.1]}
    scores = [tune_rbf_svm(X, y, random_state=make(3), **grid).scores for _ in range(2)]
    assert_array_equal(*scores)
