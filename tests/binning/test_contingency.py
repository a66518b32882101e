"""CHI, SU and IG of a table of bins and classes."""

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from mauc.binning.contingency import CHI, IG, SU, nominal_scores, table_scores
from mauc.engine.arrays import count_rows
from tests.helpers import oracle_mdl as oracle
from tests.helpers import rival_strategies
from tests.helpers.strategies import examples


def scores_of(counts, missing=None):
    counts = np.array(counts, np.int64)
    missing = np.zeros(counts.shape[1], np.int64) if missing is None else np.array(missing)
    return table_scores(counts, np.array([len(counts)]), missing[np.newaxis])[:, 0]


def test_table_by_hand():
    # classes parted: all expectations are 5, chi = 4 * 25 / 5; one bit of information
    assert_allclose(scores_of([[10, 0], [0, 10]]), [20.0, 1.0, 1.0], rtol=1e-15)
    # expectations 2 and 2, deviations 1: chi = 4 / 2
    assert_allclose(scores_of([[3, 1], [1, 3]])[CHI], 2.0, rtol=1e-15)
    # H(class) = 1, bins 1/4 and 3/4: I = 1 - 3/4 h(1/3)
    information = 1 - 0.75 * (-np.log2(1 / 3) / 3 - 2 * np.log2(2 / 3) / 3)
    bins = -0.25 * np.log2(0.25) - 0.75 * np.log2(0.75)
    got = scores_of([[1, 0], [1, 2]])
    assert_allclose(got[[SU, IG]], [2 * information / (1 + bins), information], rtol=1e-14)


def test_missing_values_are_shared_out_by_hand():
    # bins of 3 and 1 known values share the four missing ones of class 1 as 3 and 1
    assert_array_equal(scores_of([[2, 1], [1, 0]], [0, 4]), scores_of([[2, 4], [1, 1]]))


def test_tables_that_say_nothing():
    assert_array_equal(scores_of([[3, 5]]), 0.0)
    assert_array_equal(scores_of([[3, 0], [4, 0]]), 0.0)
    assert_array_equal(scores_of([[3, 5], [0, 0]]), 0.0)
    assert_array_equal(scores_of([[0, 0], [0, 0]], [2, 2]), 0.0)
    assert_allclose(scores_of([[2, 2], [3, 3]]), 0.0, atol=1e-15)


def test_weighted_tables_by_hand():
    # counts of half a row: chi halves, information stays
    counts = np.array([[3, 1], [1, 3]])
    halves = table_scores(counts, np.array([2]), np.zeros((1, 2)), 0.5)[:, 0]
    assert_allclose(halves, scores_of(counts) * [0.5, 1, 1], rtol=1e-14)
    roles, category, y = np.array([[0, 1]]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    rows = count_rows(4, np.array([3.0, 1, 1, 3]))
    assert_array_equal(nominal_scores(category, y, roles, rows)[:, 0], scores_of(counts))


@examples(80)
@given(rival_strategies.single_columns())
def test_nominal_scores_equal_the_definition(problem):
    x, y, n_classes = problem
    names, category = np.unique(x, return_inverse=True)
    n_categories = len(names)
    roles = rival_strategies.roles(n_classes)
    out = nominal_scores(category, y, roles)
    for s, role in enumerate(roles):
        bins, local = oracle.subproblem(category, y, role)
        wanted = oracle.scores(bins, local, n_categories, max(role.max() + 1, 1))
        assert_allclose(out[:, s], wanted, rtol=1e-9, atol=1e-12)
