"""Ranking lists that blocks of columns fill equal sorting."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.data import columns as block_width_module
from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.measure.relevance import auc_relevance
from mauc.search.lists import rank_features
from tests.helpers import oracles, strategies

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def sorted_lists(scores, tie_breaks, length):
    """Sort all features of every list: score, then tie break, then column."""
    features = range(len(scores))
    return [
        sorted(features, key=lambda f, p=p: (-scores[f, p], -tie_breaks[f], f))[:length]
        for p in range(scores.shape[1])
    ]


def rank(X, y, length, ties="index", n_jobs=None, name="one-vs-one"):
    problem = make_problem(X, y)
    decomposition = Decomposition(name, problem.n_classes)
    return rank_features(problem, decomposition, auc_relevance, length, ties, n_jobs)


def test_lists_by_hand():
    # Columns 0 and 2 separate the classes perfectly, column 1 not at all.
    X = np.array([[1, 5, 8], [2, 5, 9], [3, 5, 1], [4, 5, 2]])
    lists, means = rank(X, [0, 0, 1, 1], 3)
    assert_array_equal(lists.features, [[0, 2, 1]])
    assert_array_equal(lists.scores, [[1.0, 1.0, 0.5]])
    assert_array_equal(means, [1.0, 0.5, 1.0])


@pytest.mark.parametrize("ties", ["index", "mauc"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_streamed_lists_equal_sorting(ties, monkeypatch, data):
    X, y = data.draw(strategies.problems(max_features=30, min_samples=4, max_samples=12))
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    length = data.draw(st.integers(1, X.shape[1]))
    monkeypatch.setattr(block_width_module, "_BLOCK_SCORES", data.draw(st.integers(1, 200)))
    lists, means = rank(X, y, length, ties)
    tie_breaks = relevance.mean(axis=1) if ties == "mauc" else np.zeros(len(relevance))
    assert_array_equal(lists.features, sorted_lists(relevance, tie_breaks, length))
    assert_array_equal(lists.scores, np.take_along_axis(relevance.T, lists.features, axis=1))
    assert_array_equal(means, relevance.mean(axis=1))
