"""Weights of rows in any unit, and of class pairs in any container; wrong ones are named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import roc_auc_score

from mauc import MDFS, feature_pair_auc
from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.data.weights import PairWeights, pair_mean
from mauc.exceptions import MaucError
from mauc.measure.relevance import auc_relevance

CLASSES, TOTALS = np.array(["a", "b", "c"]), np.array([1.0, 2.0, 5.0])
TABLE = np.array([[9, 1, 2], [1, 9, 5], [2, 5, 9]])  # the diagonal does not count
SHUFFLED = pd.DataFrame(TABLE, CLASSES, CLASSES).loc[["c", "a", "b"], ["b", "c", "a"]]


def resolve(given, classes=CLASSES):
    return PairWeights(given).resolve(classes, TOTALS)


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        TABLE.tolist(),
        SHUFFLED,
        pl.DataFrame(TABLE, schema=["a", "b", "c"]),
        {("a", "b"): 1, ("c", "a"): 2, ("b", "c"): 5},
        {("c", "a"): 2, ("c", "b"): 5},  # a pair that is not named has 1
        {("a", "c"): 2, ("c", "a"): 2, ("b", "c"): 5},
        1e307 * TABLE,
    ],
)
def test_all_containers_give_the_same(given):
    assert_allclose(resolve(given), [1 / 8, 2 / 8, 5 / 8], rtol=1e-15)


def test_words_by_hand():
    # The classes have 1, 2 and 5 samples: 2 + 5 + 10 pairs of samples, and 3 + 6 + 7 in the pairs.
    assert_allclose(resolve("prior"), np.array([2, 5, 10]) / 17, rtol=1e-15)
    assert_allclose(resolve("prevalence"), np.array([3, 6, 7]) / 16, rtol=1e-15)
    assert_array_equal(resolve(None), np.full(3, 1 / 3))


def test_labels_of_a_file_are_text():
    names = SHUFFLED.rename(index=dict(zip("abc", "012", strict=True)))
    names.columns = ["1", "2", "0"]
    assert_allclose(resolve(names, np.arange(3)), [1 / 8, 2 / 8, 5 / 8])
    assert_allclose(resolve({(0.0, np.int64(2)): 0}, np.arange(3)), [1 / 2, 0, 1 / 2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("priors", "pair_weight must be one of 'prior', 'prevalence', got 'priors'; did you mean"),
        ({("a", "x"): 1}, r"pair_weight must name classes \('a', 'b', 'c'\), got 'x'"),
        (SHUFFLED.rename(columns={"a": "x"}), "must name classes .*, got 'x'"),
        ({"ab": 1}, "must have pairs of labels as keys, .* got 'ab'"),
        ({("a", "b", "c"): 1}, "must have pairs of labels as keys"),
        ({("a", "b"): -1}, "finite, >= 0 and symmetric, got -1 and -1 for 'a', 'b'"),
        ({("a", "b"): np.inf}, "finite, >= 0 and symmetric, got inf"),
        ({("a", "b"): "much"}, "pair_weight: could not convert string to float"),
        ({("a", "b"): 1, ("b", "a"): 2}, "symmetric, got 1 and 2 for 'a', 'b'"),
        (np.arange(9).reshape(3, 3), "symmetric, got 1 and 3 for 'a', 'b'"),
        (np.full((3, 3), np.nan), "got nan and nan"),
        (SHUFFLED.drop(index="c"), "got 2 and nan for 'a', 'c'"),
        (np.ones((2, 2)), r"must have shape \(3, 3\), got \(2, 2\)"),
        (np.ones(3), r"must have shape \(3, 3\), got \(3,\)"),
        (5, r"must have shape \(3, 3\), got \(\)"),
        (np.eye(3), "positive for at least one pair, got only zeros"),
    ],
)
def test_wrong_weights_are_named(given, message):
    with pytest.raises(MaucError, match=message):
        resolve(given)


def test_the_mean_of_equal_weights_has_the_bits_of_none(rng):
    auc = rng.random((5, 300))
    for weight in (1.0, 0.1, 1e-300, 7e250):
        assert pair_mean(auc[0], np.full(300, weight)) == np.mean(auc[0])
    auc[:, 7] = np.nan  # a pair without weight may have no AUC
    weights = rng.random(300) * (np.arange(300) != 7)
    wanted = np.average(np.delete(auc, 7, axis=1), axis=1, weights=np.delete(weights, 7))
    assert_allclose(pair_mean(auc, weights), wanted, rtol=1e-13)


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
