"""Joint counts of two features by bit planes and by histograms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_array_equal

from mauc.measure import information
from mauc.measure.information import pack_rows, popcount
from tests.helpers import rival_strategies


def callable_from_python(part):
    """Compile a kernel that is a part of others."""
    return njit(part.py_func)


count_joint = callable_from_python(information.count_joint)


def table_of(a, b, n_a, n_b, weights=None):
    joint = np.zeros((n_a, n_b), np.int64)
    weights = np.ones(len(a), int) if weights is None else weights
    for u, v, w in zip(a.tolist(), b.tolist(), weights.tolist(), strict=True):
        joint[u, v] += w
    return joint


def test_popcount_is_compiled():
    ones = njit(lambda word: popcount(word))
    assert [ones(np.uint64(w)) for w in (0, 1, 255, 2**64 - 1)] == [0, 1, 8, 64]


@given(rival_strategies.seeds(), st.integers(1, 300), st.integers(2, 8), st.integers(2, 8))
def test_planes_and_histograms_count_alike(seed, n, n_a, n_b):
    rng = np.random.default_rng(seed)
    D = np.stack([rng.integers(0, n_a, n), rng.integers(0, n_b, n)]).astype(np.uint8)
    wanted = table_of(D[0], D[1], n_a, n_b)
    n_states = np.array([n_a, n_b])
    starts = np.array([0, n_a - 1, n_a + n_b - 2])
    planes = np.empty((starts[-1], -(-n // 64)), np.uint64)
    counts, by_histogram = np.zeros((2, 2, 8), np.int64)
    pack_rows(D, starts, planes, counts)
    pack_rows(D, np.zeros(3, np.int64), planes[:0], by_histogram)
    assert_array_equal(counts, by_histogram)
    assert_array_equal(counts[0, :n_a], wanted.sum(axis=1))
    assert_array_equal(counts[1, :n_b], wanted.sum(axis=0))
    for n_planes in (n_b - 1, 0):
        joint = np.full((8, 8), -1, np.int64)
        count_joint(
            D,
            n_states,
            starts,
            planes,
            counts,
            None,
            0,
            D[1],
            n_b,
            planes,
            n_a - 1,
            n_planes,
            counts[1],
            joint,
        )
        assert_array_equal(joint[:n_a, :n_b], wanted)
    weights, starts = rng.integers(0, 2**40, n), np.zeros(3, np.int64)
    count_joint(
        D, n_states, starts, planes, counts, weights, 0, D[1], n_b, planes, 0, 0, counts[1], joint
    )
    assert_array_equal(joint[:n_a, :n_b], table_of(D[0], D[1], n_a, n_b, weights))


@pytest.mark.parametrize("n_states", [3, 4])
def test_counts_of_many_words(rng, n_states):
    D = rng.integers(0, n_states, (2, 70_000)).astype(np.uint8)
    starts = (n_states - 1) * np.arange(3)
    planes = np.empty((starts[-1], -(-D.shape[1] // 64)), np.uint64)
    counts, joint = np.zeros((2, n_states), np.int64), np.empty((n_states, n_states), np.int64)
    pack_rows(D, starts, planes, counts)
    count_joint(
        D,
        np.full(2, n_states),
        starts,
        planes,
        counts,
        None,
        0,
        D[1],
        n_states,
        planes,
        starts[1],
        n_states - 1,
        counts[1],
        joint,
    )
    assert_array_equal(joint, table_of(*D, n_states, n_states))
