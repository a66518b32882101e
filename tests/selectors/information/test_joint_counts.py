"""Joint counts of two features by bit planes and by histograms, and v log v in fixed point."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import rival_strategies
from mauc.selectors.information import binned
from mauc.selectors.information.binned import feature_margins, log_table, pack_planes
from mauc.selectors.information.joint_counts import (
    complete_counts,
    fixed_log,
    histogram_counts,
    information,
    plane_counts,
    popcount,
)


def count_pairs(a, b, n_a, n_b):
    joint = np.zeros((n_a, n_b), np.int64)
    for u, v in zip(a.tolist(), b.tolist(), strict=True):
        joint[u, v] += 1
    return joint


def test_popcount_is_compiled():
    ones = njit(lambda word: popcount(word))
    assert [ones(np.uint64(w)) for w in (0, 1, 255, 2**64 - 1)] == [0, 1, 8, 64]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_planes_hold_one_bit_a_sample(rng, n, dtype):
    codes = rng.integers(0, 5, n).astype(dtype)
    planes = np.full((6, -(-n // 64)), 2**64 - 1, np.uint64)
    pack_planes(codes, 4, 1, planes)
    bits = np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")
    assert_array_equal(bits[1:5, :n], codes == np.arange(4)[:, np.newaxis])
    assert not bits[1:5, n:].any()
    assert bits[[0, 5]].all()  # planes of other features are left alone


@given(rival_strategies.seeds(), st.integers(1, 300), st.integers(2, 8), st.integers(2, 8))
def test_planes_and_histograms_count_alike(seed, n, n_a, n_b):
    rng = np.random.default_rng(seed)
    D = np.stack([rng.integers(0, n_a, n), rng.integers(0, n_b, n)]).astype(np.uint8)
    wanted = count_pairs(D[0], D[1], n_a, n_b)
    n_states = np.array([n_a, n_b])
    starts = np.array([0, n_a - 1, n_a + n_b - 2])
    planes = np.empty((starts[-1], -(-n // 64)), np.uint64)
    counts, logs = np.zeros((2, 8), np.int64), np.empty(2, np.int64)
    table, unit = log_table(n)
    feature_margins(D, n_states, starts, table, unit, planes, counts, logs)
    assert_array_equal(counts[0, :n_a], wanted.sum(axis=1))
    assert_array_equal(counts[1, :n_b], wanted.sum(axis=0))
    assert_array_equal(logs, table[counts].sum(axis=1))
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


@pytest.mark.parametrize("n", [1, 2, 10, 1000, 10**6])
def test_table_holds_v_log_v(n):
    table, unit = log_table(n)
    v = np.arange(len(table))
    wanted = np.array([c * math.log(c) if c else 0.0 for c in v.tolist()])
    # half a unit by rounding to whole numbers, and the last digit of the float
    assert (abs(table / unit - wanted) <= 0.5 / unit + 2e-16 * wanted).all()
    assert 4 * abs(int(table[-1])) < 2**63


def test_a_count_beyond_the_table_has_the_same_value(monkeypatch):
    whole, unit = log_table(3000)
    monkeypatch.setattr(binned, "MAX_TABLE", 20)
    short, same_unit = log_table(3000)
    assert (len(short), same_unit) == (20, unit)
    assert [fixed_log(v, short, unit) for v in (0, 19, 20, 3000)] == whole[
        [0, 19, 20, 3000]
    ].tolist()


def test_information_by_hand():
    table, unit = log_table(4)
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
