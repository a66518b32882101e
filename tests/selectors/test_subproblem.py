"""The free combination of decompositions and schedules."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from mauc import SubproblemSelector
from mauc.data.decomposition import DECOMPOSITIONS
from mauc.exceptions import MaucError
from mauc.selectors.lists import SCHEDULES
from tests.helpers import oracles, strategies

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


@pytest.mark.parametrize("ties", ["index", "mauc"])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_every_combination_ranks_all_features(rng, decomposition, schedule, ties):
    X, y = rng.normal(size=(40, 25)).round(1), rng.permutation(np.arange(40) % 4)
    selector = SubproblemSelector(
        "all", decomposition=decomposition, schedule=schedule, ties=ties, random_state=0
    ).fit(X, y)
    assert sorted(selector.ranking_) == list(range(25))
    relevance = {
        "one-vs-one": oracles.folded_auc(X, y, 4),
        "one-vs-rest": oracles.rest_auc(X, y, 4),
        "whole": oracles.exact_mean(oracles.folded_auc(X, y, 4))[:, np.newaxis],
    }[decomposition]
    for step in selector.trace_:
        assert step.score == relevance[step.feature, step.subproblem]
        n_better = (relevance[:, step.subproblem] > step.score).sum()
        n_equal = (relevance[:, step.subproblem] == step.score).sum()
        assert n_better < step.rank <= n_better + n_equal
    means = relevance[:, 0] if decomposition == "whole" else oracles.exact_mean(relevance)
    assert_array_equal(selector.scores_, means)


@given(strategies.problems(max_features=10, max_samples=12))
def test_classes_in_turn_give_their_next_feature(problem):
    X, y = problem
    n_classes = int(y.max()) + 1
    relevance = oracles.rest_auc(X, y, n_classes)
    wanted = oracles.algorithm_1(relevance, X.shape[1], itertools.cycle(range(n_classes)))
    selector = SubproblemSelector("all", decomposition="one-vs-rest", schedule="round_robin")
    assert_array_equal(selector.fit(X, y).ranking_, [feature for feature, _, _ in wanted])


@pytest.mark.parametrize("name", ["decomposition", "relevance", "schedule", "ties"])
@pytest.mark.parametrize("value", ["nonsense", None, 3])
def test_an_unknown_choice_is_answered_with_all_choices(name, value):
    choices = {
        "decomposition": "'one-vs-one', 'one-vs-rest', 'whole'",
        "relevance": "'auc'",
        "schedule": "'random', 'round_robin', 'rand_robin', 'hardest'",
        "ties": "'index', 'mauc'",
    }[name]
    with pytest.raises(MaucError, match=f"^{name} must be one of {choices}.*, got {value!r}"):
        SubproblemSelector(1, **{name: value}).fit(np.eye(4), [0, 0, 1, 1])
