"""Joint counts of two features by bit planes and by histograms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from mauc.engine.arrays import log_table
from mauc.selectors.information import joint_counts
from mauc.selectors.information.joint_counts import pack_row, pack_rows, popcount
from tests.helpers import rival_strategies


def callable_from_python(part):
    """Compile a kernel that is a part of others."""
    return njit(part.py_func)


complete_counts = callable_from_python(joint_counts.complete_counts)
histogram_counts = callable_from_python(joint_counts.histogram_counts)
information = callable_from_python(joint_counts.information)
plane_counts = callable_from_python(joint_counts.plane_counts)


def count_pairs(a, b, n_a, n_b):
    joint = np.zeros((n_a, n_b), np.int64)
    for u, v in zip(a.tolist(), b.tolist(), strict=True):
        joint[u, v] += 1
    return joint


def test_popcount_is_compiled():
    ones = njit(lambda word: popcount(word))
    assert [ones(np.uint64(w)) for w in (0, 1, 255, 2**64 - 1)] == [0, 1, 8, 64]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_planes_hold_one_bit_a_sample(rng, n):
    codes = rng.integers(0, 5, n).astype(np.uint8)
    planes = pack_row(codes, 4)
    bits = np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")
    assert_array_equal(bits[:, :n], codes == np.arange(4)[:, np.newaxis])
    assert not bits[:, n:].any()


@given(rival_strategies.seeds(), st.integers(1, 300), st.integers(2, 8), st.integers(2, 8))
def test_planes_and_histograms_count_alike(seed, n, n_a, n_b):
    rng = np.random.default_rng(seed)
    D = np.stack([rng.integers(0, n_a, n), rng.integers(0, n_b, n)]).astype(np.uint8)
    wanted = count_pairs(D[0], D[1], n_a, n_b)
    starts = np.array([0, n_a - 1, n_a + n_b - 2])
    planes = np.empty((starts[-1], -(-n // 64)), np.uint64)
    counts = np.zeros((2, 8), np.int64)
    pack_rows(D, starts, planes, counts)
    assert_array_equal(counts[0, :n_a], wanted.sum(axis=1))
    assert_array_equal(counts[1, :n_b], wanted.sum(axis=0))
    by_planes, by_histogram = np.full((2, 8, 8), -1, np.int64)
    plane_counts(planes, 0, n_a - 1, planes, n_a - 1, n_b - 1, by_planes)
    complete_counts(by_planes, counts[0], n_a, counts[1], n_b)
    histogram_counts(D[0], n_a, D[1], n_b, by_histogram)
    assert_array_equal(by_planes[:n_a, :n_b], wanted)
    assert_array_equal(by_histogram[:n_a, :n_b], wanted)


def test_plane_counts_of_many_words(rng):
    planes = rng.integers(0, 2**63, (6, 1200)).astype(np.uint64)
    joint = np.empty((3, 3), dtype=np.int64)
    plane_counts(planes, 0, 3, planes, 3, 3, joint)
    bits = np.unpackbits(planes.view(np.uint8), axis=1).astype(np.int64)
    assert_array_equal(joint, bits[:3] @ bits[3:].T)


def test_information_by_hand():
    _, table, unit = log_table(4, 1.0)
    log_n, halves = table[4], 2 * table[2]
    # two equal halves: log 2; independent halves: 0
    same, apart = np.diag([2, 2]), np.ones((2, 2), np.int64)
    assert_allclose(
        [
            information(joint, 2, 2, halves, halves, log_n, 4, table, unit)
            for joint in (same, apart)
        ],
        [math.log(2), 0.0],
        atol=1e-16,
    )
