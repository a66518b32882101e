"""Sub-problems: their order, names, roles and the rounds of a tournament."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mauc.data.problem import DECOMPOSITIONS, Decomposition
from mauc.engine.arrays import pair_index

N_CLASSES = st.integers(2, 30)


@given(N_CLASSES)
def test_pairs_stand_in_order(n_classes):
    pairs = list(itertools.combinations(range(n_classes), 2))
    decomposition = Decomposition("one-vs-one", n_classes)
    assert decomposition.n_subproblems == len(pairs)
    assert_array_equal(decomposition.members, pairs)
    assert [pair_index(i, j, n_classes) for i, j in pairs] == list(range(len(pairs)))


def test_by_hand():
    pairs = Decomposition("one-vs-one", 3)
    assert pairs.names(["a", "b", "c"]) == ["a vs b", "a vs c", "b vs c"]
    assert_array_equal(pairs.roles, [[0, 1, -1], [0, -1, 1], [-1, 0, 1]])
    # 30 + 20, 30 + 10, 20 + 10 of 120.
    assert_allclose(pairs.shares([30, 20, 10]), [50 / 120, 40 / 120, 30 / 120])
    rest = Decomposition("one-vs-rest", 3)
    assert rest.n_subproblems == 3
    assert rest.names(["a", "b", "c"]) == ["a vs rest", "b vs rest", "c vs rest"]
    assert_array_equal(rest.members, [[0, -1], [1, -1], [2, -1]])
    assert_array_equal(rest.roles, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert_allclose(rest.shares([30, 20, 10]), [1 / 2, 1 / 3, 1 / 6])
    assert_array_equal(rest.rounds(), [0, 1, 2])
    whole = Decomposition("whole", 3)
    assert whole.n_subproblems == 1
    assert whole.names(["a", "b", "c"]) == ["all classes"]
    assert_array_equal(whole.roles, [[0, 1, 2]])
    assert_array_equal(whole.shares([30, 20, 10]), [1.0])
    assert_array_equal(whole.rounds(), [0])


@given(N_CLASSES)
def test_a_round_touches_every_class_once(n_classes):
    decomposition = Decomposition("one-vs-one", n_classes)
    order = decomposition.rounds()
    assert sorted(order) == list(range(decomposition.n_subproblems))
    per_round = n_classes // 2
    for start in range(0, len(order), per_round):
        seen = decomposition.members[order[start : start + per_round]].ravel()
        assert len(set(seen.tolist())) == 2 * per_round


@given(st.sampled_from(DECOMPOSITIONS), st.lists(st.integers(1, 100), min_size=2, max_size=9))
def test_shares_sum_to_one(name, class_counts):
    decomposition = Decomposition(name, len(class_counts))
    shares = decomposition.shares(np.array(class_counts))
    assert shares.shape == (decomposition.n_subproblems,)
    assert shares.sum() == pytest.approx(1.0)
    assert decomposition.roles.shape == (decomposition.n_subproblems, len(class_counts))
    assert len(decomposition.names(range(len(class_counts)))) == decomposition.n_subproblems
