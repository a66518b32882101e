"""The counting path: tables of levels instead of a sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine.levels import count_levels, write_levels
from tests.helpers import oracles, strategies


def counted(X, y, is_missing=None):
    """Count the levels of X; missing ones stand as level 0, as the kernel wants them."""
    n_classes = int(y.max()) + 1
    n_missing = np.zeros((X.shape[1], n_classes), np.int64)
    LT = np.ascontiguousarray(X.T)
    if is_missing is not None:
        LT[is_missing.T] = 0
        for j in range(X.shape[1]):
            n_missing[j] = np.bincount(y[is_missing[:, j]], minlength=n_classes)
    LT.flags.writeable = False
    n_levels = LT.max(axis=1) + np.int64(1)
    return count_levels(LT, y, np.bincount(y), n_levels, n_missing)


def test_by_hand():
    # Levels 0, 0, 2 of class 0 against 0, 1 of class 1: two ties and two wins.
    X, y = np.array([[0], [0], [2], [0], [1]], np.uint8), np.array([0, 0, 0, 1, 1], np.int32)
    assert_array_equal(counted(X, y), [[2 + 2 * 2]])


@given(st.data())
def test_equals_the_double_loop(data):
    X, y = data.draw(strategies.problems(strategies.integer_tables))
    X = X.astype(np.uint8)
    seed = data.draw(st.integers(0, 2**32 - 1))
    is_missing = np.random.default_rng(seed).random(X.shape) < data.draw(st.sampled_from([0, 0.3]))
    holed = np.where(is_missing, np.nan, X)
    assert_array_equal(counted(X, y, is_missing), oracles.pair_wins(holed, y, int(y.max()) + 1))


@pytest.mark.parametrize("n_samples", [7, 8, 9, 64, 1001])
def test_rows_are_read_in_eights(rng, n_samples):
    # Mostly background, as in an image, and a number of rows around a multiple of eight.
    y = rng.permutation(np.arange(n_samples) % 3).astype(np.int32)
    X = np.where(rng.random((n_samples, 5)) < 0.8, 0, rng.integers(0, 256, (n_samples, 5)))
    assert_array_equal(counted(X.astype(np.uint8), y), oracles.long_pair_wins(X, y, 3))


@pytest.mark.parametrize("n_classes", [2, 15, 16, 17, 33, 256])
def test_number_of_classes(rng, n_classes):
    y = rng.permutation(np.arange(2 * n_classes) % n_classes).astype(np.int32)
    X = rng.integers(0, 6, (2 * n_classes, 2), dtype=np.uint8)
    assert_array_equal(counted(X, y), oracles.long_pair_wins(X, y, n_classes))


def test_a_column_does_not_see_the_levels_of_the_one_before(rng):
    y = (np.arange(60) % 3).astype(np.int32)
    X = np.column_stack((rng.integers(0, 256, 60), rng.integers(0, 2, 60), np.zeros(60)))
    X = np.column_stack((X, rng.integers(0, 256, 60))).astype(np.uint8)
    assert_array_equal(counted(X, y), oracles.pair_wins(X, y, 3))


def test_counts_beyond_32_bits():
    y = np.repeat([0, 1], 50_000).astype(np.int32)
    X = np.where(y == 0, 255, 254).astype(np.uint8)[:, np.newaxis]
    assert_array_equal(counted(X, y), [[2 * 50_000 * 50_000]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_of_decimals(dtype):
    XT = np.array([[-0.1, 0.2, np.nan, 0.0], [3, 1, 2, 3]], dtype)
    XT.flags.writeable = False
    levels, n_missing = np.empty(XT.shape, np.uint8), np.empty((2, 2), np.int64)
    y = np.array([0, 0, 1, 1], np.int32)
    write_levels(XT, np.array([-1.0, 1.0]), np.array([10.0, 1.0]), y, levels, n_missing)
    assert_array_equal(levels, [[0, 3, 0, 1], [2, 0, 1, 2]])
    assert_array_equal(n_missing, [[0, 1], [0, 0]])
