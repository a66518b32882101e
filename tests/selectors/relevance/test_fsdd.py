"""FSDD against its formula in rational arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mauc import FSDD
from mauc.data.decomposition import DECOMPOSITIONS, Decomposition
from mauc.data.problem import make_problem
from mauc.exceptions import ConstantInputWarning
from mauc.registry import Accepts
from mauc.selectors.relevance import fsdd_of_moments, fsdd_relevance, merge_classes
from tests.helpers import oracle_fsdd as oracle
from tests.helpers import rival_strategies

ACCEPTS = Accepts(sparse=True, infinite=True)

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def fsdd(X, y, beta=2.0, weight=None, decomposition="whole"):
    problem = make_problem(BaseEstimator(), X, y, weight, accepts=ACCEPTS)
    parts = Decomposition(decomposition, problem.n_classes)
    return fsdd_relevance(problem, parts, slice(None), beta)


def definition(X, y, beta=2.0, weight=None, decomposition="whole"):
    y = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(y)) if weight is None else np.asarray(weight)
    scores = []
    for role in Decomposition(decomposition, y.max() + 1).roles:
        inside = role[y] >= 0
        parts = role[y][inside], beta, weight[inside]
        scores.append([oracle.fsdd(column, *parts) for column in np.asarray(X)[inside].T])
    return np.transpose(scores)


def test_by_hand():
    # means 0 and 4 about 2, within-class variances 2, variance 20 / 3
    X = np.array([[-1.0, 3.0], [1.0, 3.0], [3.0, 3.0], [5.0, 3.0]])
    y = [0, 0, 1, 1]
    assert_allclose(fsdd(X, y), [[0.0], [-np.inf]], atol=1e-15)
    assert_allclose(fsdd(X, y, beta=1.0), [[2.0 / (20 / 3)], [-np.inf]])


@settings(max_examples=150)
@given(rival_strategies.moment_problems(), st.sampled_from([0.0, 1.0, 2.0]))
def test_equals_the_definition(problem, beta):
    X, y, weight = problem
    assert_allclose(
        fsdd(X, y, beta, weight), definition(X, y, beta, weight), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@given(problem=rival_strategies.moment_problems())
def test_equals_the_definition_on_every_subproblem(decomposition, problem):
    X, y, weight = problem
    # Values that a float holds exactly in all sums: what is constant is so without rounding.
    X = np.rint(X)
    got = fsdd(X, y, 2.0, weight, decomposition)
    assert_allclose(got, definition(X, y, 2.0, weight, decomposition), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-5, 1234.567])
def test_constant_on_a_subproblem_only(rng, decomposition, value):
    # Classes 0 and 1 share one value; class 2 has others.
    y = np.repeat([0, 1, 2], [13, 17, 19])
    X = np.full((49, 1), value)
    X[30:, 0] = rng.normal(size=19)
    got = fsdd(X, y, decomposition=decomposition)
    wanted = definition(X, y, decomposition=decomposition)
    assert_array_equal(np.isneginf(got), np.isneginf(wanted))
    assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, -1e9])
@pytest.mark.parametrize("sd", [1.0, 1e-3])
def test_a_large_offset_costs_no_digits(rng, offset, sd):
    y = rng.integers(0, 7, 1000)
    X = rng.normal(size=(1000, 3)) * sd + offset + 0.2 * sd * y[:, np.newaxis]
    for decomposition in DECOMPOSITIONS:
        got = fsdd(X, y, decomposition=decomposition)
        if decomposition == "whole":
            assert_allclose(got, definition(X, y), rtol=0, atol=1e-10)
        assert_allclose(got, fsdd(X - offset, y, decomposition=decomposition), rtol=0, atol=1e-9)


def test_one_outlier_as_first_value(rng):
    y = rng.integers(0, 3, 2000)
    X = rng.normal(size=(2000, 1))
    X[np.flatnonzero(y == 0)[0], 0] = 1e12
    assert_allclose(fsdd(X, y), definition(X, y), rtol=0, atol=1e-10)


@given(rival_strategies.moment_problems())
def test_a_weight_is_a_repeated_sample(problem):
    X, y, _ = problem
    weight = np.arange(len(y)) % 3
    weight[np.unique(y, return_index=True)[1]] = 2
    repeated = fsdd(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(fsdd(X, y, weight=weight), repeated, rtol=1e-9, atol=1e-9)


def test_float32_is_not_rounded_twice(rng):
    X, y = rng.normal(size=(300, 5)).astype(np.float32), rng.integers(0, 4, 300)
    assert_array_equal(fsdd(X, y), fsdd(X.astype(np.float64), y))


def test_fewer_than_two_known_values():
    X = np.array([[np.nan, np.nan, 1.0], [np.nan, 1.0, 2.0], [np.nan, np.nan, 3.0]])
    assert_array_equal(np.isneginf(fsdd(X, [0, 1, 0])[:, 0]), [True, True, False])


def test_merged_classes_are_one_class(rng):
    groups = [rng.normal(size=(n, 1)) for n in (5, 1, 9)]
    count = np.array([[len(g) for g in groups]], float)
    offset = np.array([[g.mean() for g in groups]])
    scatter = np.array([[((g - g.mean()) ** 2).sum() for g in groups]])
    merged = np.concatenate([groups[0], groups[2]])
    n, mean, spread = merge_classes(count, offset, scatter, np.array([True, False, True]))
    assert_allclose([n[0], mean[0]], [14, merged.mean()])
    assert_allclose(spread[0], ((merged - merged.mean()) ** 2).sum())


def test_an_absent_class_changes_nothing():
    count = np.array([[3.0, 2.0]])
    offset, scatter = np.array([[1.0, 4.0]]), np.array([[2.0, 1.0]])
    padded = (np.insert(part, 1, 0.0, axis=1) for part in (count, offset, scatter))
    assert_array_equal(fsdd_of_moments(*padded, 2.0), fsdd_of_moments(count, offset, scatter, 2.0))


def test_constant_features_rank_first_if_asked():
    X = np.array([[5.0, 0.0, 1.0], [5.0, 1.0, 3.0], [5.0, 9.0, 2.0], [5.0, 8.0, 4.0]])
    y = [0, 0, 1, 1]
    assert FSDD("all", constants="last").fit(X[:, 1:], y).ranking_.tolist() == [0, 1]
    with pytest.warns(ConstantInputWarning, match="they rank first"):
        selector = FSDD("all", constants="first").fit(X, y)
    assert selector.ranking_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="constants must be one of"):
        FSDD(constants="never").fit(X, y)
