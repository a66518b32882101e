"""The lazy search: what it counts, and what changes no bit of its choice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.measure import information
from mauc.measure.information import binned_features
from mauc.search import lazy
from mauc.search.lazy import DIFFERENCE, QUOTIENT, SUM, LazySearch, Rule, Terms
from tests.helpers import rival_strategies
from tests.helpers.strategies import examples


def search_states(problem, rule, n_threads=1, max_rows=None):
    """Search coded features; with `max_rows` they are read as if they were in a file."""
    D, n_states, y, n_classes, k = problem
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        if max_rows is not None:
            vars(features).update(max_rows=max_rows)
        search = LazySearch(features, k, Rule(rule))
        if rule == SUM:
            return search.run(lambda last: Terms(features.arrays, features.merge(last)))
        return search.run(Terms(features.arrays))


@examples(60)
@given(
    rival_strategies.coded_features(),
    st.sampled_from([DIFFERENCE, QUOTIENT, SUM]),
    st.sampled_from([1, 3]),
    st.sampled_from([1, 2, 5]),
)
def test_threads_and_parts_change_no_bit(problem, rule, n_threads, max_rows):
    whole = search_states(problem, rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(information, "BLOCK_WORK", 1)
        found = search_states(problem, rule, n_threads, max_rows)
    assert_array_equal(found.ranking, whole.ranking)
    assert_array_equal(found.scores, whole.scores)


def test_a_term_is_counted_only_while_its_feature_can_win(rng):
    # Of the class with noise every feature tells more than of another one; the last 20 are noise.
    y = rng.integers(0, 3, 2000).astype(np.int32)
    share = np.repeat([0.5, 1.0], 20)[:, np.newaxis]
    D = np.where(rng.random((40, 2000)) < share, rng.integers(0, 3, (40, 2000)), y)
    with binned_features(D.astype(np.uint8), 3, y, 3) as features:
        search = LazySearch(features, 20, Rule(DIFFERENCE)).run(Terms(features.arrays))
        assert sorted(search.ranking) == [*range(20)]
        assert_array_equal(search._sums.n_counted[search.ranking], np.arange(20))
        assert (search._sums.n_counted[20:] == 0).all()
        joint = LazySearch(features, 20, Rule(SUM))
        joint.run(lambda last: Terms(features.arrays, features.merge(last)))
        is_left = np.isin(np.arange(40), joint.ranking, invert=True)
        assert (joint._sums.n_counted[is_left] == 19).all()


@pytest.mark.parametrize("rule", [DIFFERENCE, QUOTIENT, SUM])
def test_constant_features_come_last_by_column(rng, rule):
    D = rng.integers(0, 2, (6, 50)).astype(np.uint8)
    D[[1, 4]] = 0
    y = rng.integers(0, 2, 50).astype(np.int32)
    search = search_states((D, 2, y, 2, 6), rule)
    assert search.ranking[4:].tolist() == [1, 4]
    assert (search.scores[4:] == -np.inf).all()
    assert np.isfinite(search.scores[:4]).all()


def test_scores_go_on_from_earlier_calls(rng):
    D = rng.integers(0, 3, (8, 200)).astype(np.uint8)
    y = rng.integers(0, 3, 200).astype(np.int32)
    with binned_features(D, 3, y, 3) as features:
        terms = Terms(features.arrays)
        search = LazySearch(features, 5, Rule(DIFFERENCE))
        chosen = [[], [2], [2, 0, 5], [], [7, 1]]
        found = [search.scores_given(given, terms) for given in chosen]
        alone = [LazySearch(features, 5, Rule(DIFFERENCE)).scores_given(c, terms) for c in chosen]
    for scores, wanted in zip(found, alone, strict=True):
        assert_array_equal(scores, wanted)


def test_the_example_of_the_kernel():
    relevance, sums = np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.1, 0.0])
    bounds = [lazy.score_of.py_func(DIFFERENCE, 1.0, relevance, None, sums, 2, f) for f in range(3)]
    np.testing.assert_allclose(bounds, [0.5, 0.75, 0.7])
