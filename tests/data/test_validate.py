"""Weights of any unit: the AUC of features and of one class against the rest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from mauc import MDFS, feature_pair_auc
from mauc.data.decomposition import Decomposition
from mauc.data.problem import make_problem
from mauc.selectors.relevance import auc_relevance


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("factor", [1e200, 1e-200, 5e-324])
def test_feature_auc_does_not_depend_on_the_unit_of_weights(rng, make, factor):
    X, y = rng.normal(size=(60, 4)).round(1), np.arange(60) % 3
    weights = rng.integers(1, 9, 60).astype(float)
    wanted = feature_pair_auc(make(X), y, sample_weight=weights)
    assert_array_equal(feature_pair_auc(make(X), y, sample_weight=2.0**400 * weights), wanted)
    assert_allclose(
        feature_pair_auc(make(X), y, sample_weight=factor * weights), wanted, rtol=1e-12
    )
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
    problem = make_problem(BaseEstimator(), X, y, factor * weights)
    got = auc_relevance(problem, Decomposition("one-vs-rest", 3), slice(None))
    for feature in range(4):
        for label in range(3):
            auc = roc_auc_score(y == label, X[:, feature], sample_weight=weights)
            assert got[feature, label] == pytest.approx(max(auc, 1 - auc), abs=1e-12)
