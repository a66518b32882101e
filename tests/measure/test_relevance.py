"""Relevances: CHI, SU, IG, Fisher, F and FSDD on every decomposition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mauc import FSDD, MRMR, AnovaF, ChiSquare, FisherScore, SpreadFx
from mauc.binning.contingency import CHI, IG, SU
from mauc.data.door import AUCS, FitOptions, make_problem
from mauc.data.problem import DECOMPOSITIONS, Decomposition
from mauc.measure.relevance import (
    anova_relevance,
    contingency_scores,
    fisher_relevance,
    fsdd_relevance,
)
from mauc.registry import Accepts
from tests.helpers import oracle_fsdd, rival_strategies
from tests.helpers import oracle_mdl as oracle
from tests.helpers.strategies import examples

quiet = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def problem_of(X, y, categorical_features=None):
    return make_problem(X, y, FitOptions(AUCS, categorical_features=categorical_features))


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_categories_are_bins(rng, decomposition):
    y = rng.integers(0, 4, 80)
    X = np.column_stack([rng.integers(0, 5, 80), rng.normal(size=80), y % 2]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    problem, parts = problem_of(X, y, [0, 2]), Decomposition(decomposition, 4)
    scores = contingency_scores(problem, parts, slice(None), [CHI, SU, IG])
    plain = contingency_scores(problem_of(X, y), parts, slice(None), [CHI, SU, IG])
    assert_array_equal(scores[:, 1], plain[:, 1])
    for f, n_bins in ((0, 6), (2, 3)):  # a missing value is a category
        bins = np.where(np.isnan(X[:, f]), n_bins - 1, X[:, f]).astype(int)
        for s, role in enumerate(parts.roles):
            local_bins, local = oracle.subproblem(bins, y, role)
            wanted = oracle.scores(local_bins, local, n_bins, role.max() + 1)
            assert_allclose(scores[:, f, s], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("selector", [ChiSquare("all"), SpreadFx("all"), MRMR("all")])
def test_weights_of_categories_are_repeated_rows(rng, selector):
    X, y = rng.integers(0, 4, (50, 3)).astype(float), rng.integers(0, 3, 50)
    X[rng.random(X.shape) < 0.1] = np.nan
    times = rng.integers(0, 4, 50)
    selector = selector.set_params(categorical_features=[0, 2])
    wanted = clone(selector).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    found = clone(selector).fit(X, y, sample_weight=times)
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_array_equal(found.scores_, wanted.scores_)


def test_a_nominal_column_without_a_known_value_scores_nothing():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    problem = problem_of(X, [0, 0, 0, 1, 1, 1], [0])
    scores = contingency_scores(problem, Decomposition("whole", 2), slice(None), [CHI, SU, IG])
    assert_array_equal(scores[:, 0], 0.0)
    assert (scores[:, 1] > 0).all()


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "sparse": sparse.csc_array,
}


@pytest.mark.parametrize("selector", [FisherScore("all"), AnovaF("all")])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_perfect_and_constant_features(selector, layout, is_weighted):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.tile(np.arange(3), 2), rng.integers(0, 3, 40)])
        levels = rng.choice([0.1, 0.2, 0.3, 0.7, 1.1], 3, replace=False)
        X = np.column_stack([levels[y], np.full(len(y), 0.1), levels[y], rng.normal(size=len(y))])
        X[rng.random(len(y)) < 0.3, 2] = np.nan
        X[:6, 2] = levels[y[:6]]  # every class keeps known values
        weight = rng.random(len(y)) * 3 + 1 if is_weighted else None
        scores = selector.fit(LAYOUTS[layout](X), y, sample_weight=weight).scores_
        assert_array_equal(scores[:3], [np.inf, 0, np.inf])
        assert 0 < scores[3] < np.inf


@pytest.mark.parametrize("relevance", [fisher_relevance, anova_relevance])
def test_sides_that_are_constant(relevance):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.tile(np.arange(3), 2), rng.integers(0, 3, 40)])
        first, second = rng.random(2)
        X = np.array([first, second, second])[y][:, np.newaxis]
        problem = make_problem(X, y)
        pairs = relevance(problem, Decomposition("one-vs-one", 3), slice(None))
        assert_array_equal(pairs, [[np.inf, np.inf, 0]])
        rest = relevance(problem, Decomposition("one-vs-rest", 3), slice(None))
        assert rest[0, 0] == np.inf
        assert np.isfinite(rest[0, 1:]).all()


@pytest.mark.parametrize("selector", [FisherScore("all"), AnovaF("all"), FSDD(3)])
@pytest.mark.parametrize("exponent", [-1000, -700, -540, 540, 700, 1000])
@pytest.mark.parametrize("layout", ["C order", "F order", "sparse"])
def test_units_beyond_the_squares_of_doubles(rng, selector, exponent, layout):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4))
    X[:, 1] += y
    X[:, 2] = 0.1 * y
    X[:, 3] = 0.1
    scores = selector.fit(X, y).scores_
    found = selector.fit(LAYOUTS[layout](np.ldexp(X, exponent)), y).scores_
    assert_array_equal(found, scores)


def test_one_ordinary_column_beside_extreme_ones(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3))
    wanted = AnovaF("all").fit(X, y).scores_
    assert_array_equal(AnovaF("all").fit(X * [1.0, 2.0**900, 2.0**-900], y).scores_, wanted)


ACCEPTS = Accepts(sparse=True, infinite=True)


def fsdd(X, y, beta=2.0, weight=None, decomposition="whole"):
    problem = make_problem(X, y, FitOptions(ACCEPTS), weight)
    parts = Decomposition(decomposition, problem.n_classes)
    return fsdd_relevance(problem, parts, slice(None), beta)


def fsdd_by_definition(X, y, beta=2.0, weight=None, decomposition="whole"):
    y = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(y)) if weight is None else np.asarray(weight)
    scores = []
    for role in Decomposition(decomposition, y.max() + 1).roles:
        inside = role[y] >= 0
        parts = role[y][inside], beta, weight[inside]
        scores.append([oracle_fsdd.fsdd(column, *parts) for column in np.asarray(X)[inside].T])
    return np.transpose(scores)


@quiet
def test_fsdd_by_hand():
    # means 0 and 4 about 2, within-class variances 2, variance 20 / 3
    X = np.array([[-1.0, 3.0], [1.0, 3.0], [3.0, 3.0], [5.0, 3.0]])
    y = [0, 0, 1, 1]
    assert_allclose(fsdd(X, y), [[0.0], [-np.inf]], atol=1e-15)
    assert_allclose(fsdd(X, y, beta=1.0), [[2.0 / (20 / 3)], [-np.inf]])


@quiet
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@examples(60)
@given(problem=rival_strategies.moment_problems(), beta=st.sampled_from([0.0, 1.0, 2.0]))
def test_fsdd_equals_the_definition(decomposition, problem, beta):
    X, y, weight = problem
    if decomposition != "whole":
        # Values that a float holds exactly in all sums: what is constant is so without rounding.
        X = np.rint(X)
    wanted = fsdd_by_definition(X, y, beta, weight, decomposition)
    assert_allclose(fsdd(X, y, beta, weight, decomposition), wanted, rtol=1e-9, atol=1e-9)


@quiet
@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-5, 1234.567])
def test_constant_on_a_subproblem_only(rng, decomposition, value):
    # Classes 0 and 1 share one value; class 2 has others.
    y = np.repeat([0, 1, 2], [13, 17, 19])
    X = np.full((49, 1), value)
    X[30:, 0] = rng.normal(size=19)
    got = fsdd(X, y, decomposition=decomposition)
    wanted = fsdd_by_definition(X, y, decomposition=decomposition)
    assert_array_equal(np.isneginf(got), np.isneginf(wanted))
    assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)


@quiet
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, -1e9])
@pytest.mark.parametrize("sd", [1.0, 1e-3])
def test_a_large_offset_costs_no_digits(rng, offset, sd):
    y = rng.integers(0, 7, 1000)
    X = rng.normal(size=(1000, 3)) * sd + offset + 0.2 * sd * y[:, np.newaxis]
    for decomposition in DECOMPOSITIONS:
        got = fsdd(X, y, decomposition=decomposition)
        if decomposition == "whole":
            assert_allclose(got, fsdd_by_definition(X, y), rtol=0, atol=1e-10)
        assert_allclose(got, fsdd(X - offset, y, decomposition=decomposition), rtol=0, atol=1e-9)


@quiet
def test_one_outlier_as_first_value(rng):
    y = rng.integers(0, 3, 2000)
    X = rng.normal(size=(2000, 1))
    X[np.flatnonzero(y == 0)[0], 0] = 1e12
    assert_allclose(fsdd(X, y), fsdd_by_definition(X, y), rtol=0, atol=1e-10)


@quiet
def test_fewer_than_two_known_values():
    X = np.array([[np.nan, np.nan, 1.0], [np.nan, 1.0, 2.0], [np.nan, np.nan, 3.0]])
    assert_array_equal(np.isneginf(fsdd(X, [0, 1, 0])[:, 0]), [True, True, False])
