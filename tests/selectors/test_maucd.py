"""MAUCD: one list by mean folded AUC."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from mauc import MAUCD, MDFS
from tests.helpers import oracles, strategies

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def test_by_hand():
    # Column 1 separates all three pairs, column 0 one of them, column 2 none.
    X = np.array([[0, 1, 5], [0, 1, 5], [1, 2, 5], [1, 2, 5], [0, 3, 5], [1, 3, 5]])
    selector = MAUCD("all").fit(X, [0, 0, 1, 1, 2, 2])
    assert_array_equal(selector.ranking_, [1, 0, 2])
    assert_array_equal(selector.scores_, [(1 + 0.75 + 0.75) / 3, 1.0, 0.5])
    assert_array_equal(selector.trace_.scores, selector.scores_[[1, 0, 2]])
    assert_array_equal(selector.trace_.ranks, [1, 2, 3])
    assert selector.subproblem_names_ == ["all classes"]


@given(strategies.problems(max_features=12))
def test_sorts_by_the_mean_over_the_pairs(problem):
    X, y = problem
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    means = oracles.exact_mean(relevance)
    wanted = sorted(range(len(means)), key=lambda f: (-means[f], f))
    selector = MAUCD("all").fit(X, y)
    assert_array_equal(selector.scores_, means)
    assert_array_equal(selector.ranking_, wanted)
    assert_array_equal(selector.pair_auc_, relevance[wanted])


def test_equal_scores_go_by_column():
    X = np.tile(np.array([[1.0], [2.0], [3.0], [4.0]]), 70)
    assert_array_equal(MAUCD(10).fit(X, [0, 0, 1, 1]).ranking_, range(10))


def test_scores_are_those_of_mdfs():
    X, y = load_iris(return_X_y=True)
    assert_array_equal(MAUCD().fit(X, y).scores_, MDFS(random_state=0).fit(X, y).scores_)
