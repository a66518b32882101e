"""Every path to the wins of a block of columns equals the literal double loop."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.data.problem import make_problem
from mauc.selectors import pair_auc
from mauc.selectors.pair_auc import ColumnReader, dense_wins, sparse_wins, weighted_wins
from tests.helpers import oracles, strategies


def columns_of(X):
    """Return the columns as the kernels take them."""
    XT = np.ascontiguousarray(X.T)
    XT.flags.writeable = False
    return XT


def dense(X, y):
    return dense_wins(columns_of(X), y, np.bincount(y))


def weighted(X, y, weights):
    return weighted_wins(columns_of(X), y, weights, np.bincount(y, weights))


def stored(X, y, weights):
    S = sparse.csc_array(X)
    parts = (S.data.astype(np.float64), S.indices.astype(np.int32), S.indptr.astype(np.int64))
    for part in parts:
        part.flags.writeable = False
    return sparse_wins(*parts, y, weights, np.bincount(y, weights))


def no_column_has_levels(XT):
    nothing = np.zeros(len(XT), np.int64)
    return np.zeros(XT.shape, np.uint8), nothing, nothing


def assert_all_paths(X, y):
    """Compare dense (chosen path and forced sort), ordered and sparse with the oracle."""
    n_classes = int(y.max()) + 1
    wanted = oracles.long_pair_wins(X, y, n_classes)
    unit = np.ones(len(y))
    assert_array_equal(dense(X, y), wanted)
    assert_array_equal(weighted(X, y, unit), wanted)
    assert_array_equal(stored(X, y, unit), wanted)
    if X.dtype != np.uint8:
        with mock.patch.object(pair_auc, "find_levels", no_column_has_levels):
            assert_array_equal(dense(X, y), wanted)
    return wanted


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_by_hand(dtype):
    # 1 < 2, 1 < 3, 2 = 2, 2 < 3: class 0 wins nothing and ties once.
    X = np.array([[1], [2], [2], [3]], dtype)
    assert_array_equal(dense(X, np.array([0, 0, 1, 1], np.int32)), [[1]])
    assert_array_equal(dense(X, np.array([1, 1, 0, 0], np.int32)), [[7]])


@settings(max_examples=150)
@given(strategies.problems())
def test_dense_equals_the_double_loop(problem):
    X, y = problem
    assert_array_equal(dense(X, y), oracles.pair_wins(X, y, int(y.max()) + 1))


@settings(max_examples=150)
@given(strategies.problems())
def test_sorted_keys_equal_the_double_loop(problem):
    X, y = problem
    with mock.patch.object(pair_auc, "find_levels", no_column_has_levels):
        wins = dense(X, y)
    assert_array_equal(wins, oracles.pair_wins(X, y, int(y.max()) + 1))


@settings(max_examples=60)
@given(strategies.long_problems())
def test_several_hundred_rows_by_every_path(problem):
    assert_all_paths(*problem)


@given(strategies.problems(strategies.integer_tables))
def test_bytes_equal_the_double_loop(problem):
    X, y = problem
    X = X.astype(np.uint8)
    assert_array_equal(dense(X, y), oracles.pair_wins(X, y, int(y.max()) + 1))


@given(strategies.problems(allow_missing=True))
def test_unit_weights_are_exact(problem):
    X, y = problem
    wanted = oracles.pair_wins(X, y, int(y.max()) + 1)
    assert_array_equal(weighted(X, y, np.ones(len(y))), wanted)


@given(st.data())
def test_weights_equal_the_double_loop(data):
    X, y = data.draw(strategies.problems(max_samples=25))
    w = data.draw(strategies.weights(len(y)))
    wanted = oracles.pair_wins(X, y, int(y.max()) + 1, w)
    scale = max(1.0, w.sum() ** 2)
    assert_allclose(weighted(X, y, w) / scale, wanted / scale, rtol=0, atol=1e-12)
    assert_allclose(stored(X, y, w) / scale, wanted / scale, rtol=0, atol=1e-12)


@given(st.data())
def test_sparse_equals_the_double_loop(data):
    X, y = data.draw(strategies.problems())
    is_zero = data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)))
    X = np.where(np.array(is_zero)[:, np.newaxis], X.dtype.type(0), X)
    wanted = oracles.pair_wins(X, y, int(y.max()) + 1)
    assert_array_equal(stored(X, y, np.ones(len(y))), wanted)


def test_stored_zeros_tie_with_the_others(rng):
    # Every third row is stored whatever its value, zeros among them.
    X, y = rng.integers(-1, 2, (60, 1)).astype(float), rng.integers(0, 3, 60).astype(np.int32)
    rows = np.flatnonzero((X[:, 0] != 0) | (np.arange(60) % 3 == 0)).astype(np.int32)
    parts = (X[rows, 0], rows, np.array([0, len(rows)]))
    for part in parts:
        part.flags.writeable = False
    wins = sparse_wins(*parts, y, np.ones(60), np.bincount(y).astype(float))
    assert_array_equal(wins, oracles.pair_wins(X, y, 3))


@pytest.mark.parametrize("n_classes", [16, 17, 64, 65, 70, 256, 257, 300])
def test_many_classes(rng, n_classes):
    # 16 and 64 are the widths of the vector sweep, 256 is the last that is counted in bytes.
    n_samples = 3 * n_classes
    y = rng.permutation(np.arange(n_samples) % n_classes).astype(np.int32)
    mixed = np.column_stack(
        (
            rng.normal(size=n_samples),
            rng.integers(0, 9, n_samples),
            np.where(rng.random(n_samples) < 0.2, np.nan, rng.normal(size=n_samples).round(1)),
        )
    )
    assert_all_paths(mixed, y)
    assert_all_paths(rng.integers(0, 256, (n_samples, 2), dtype=np.uint8), y)


@pytest.mark.parametrize("n_samples", [46_341, 100_001])
def test_more_rows_than_32_bits_can_count(rng, n_samples):
    # From 46341 rows on 2 n n passes 2**32; with 100001 rows so does the first column's count.
    y = (np.arange(n_samples) % 2).astype(np.int32)
    X = np.column_stack(
        (
            np.where(y == 0, 2.0, 1.0) + rng.random(n_samples),
            np.where(y == 0, 2.0, 1.0),
            rng.normal(size=n_samples).round(3),
            np.where(rng.random(n_samples) < 0.1, np.nan, rng.normal(size=n_samples)),
        )
    )
    # Both directions: a kernel may count the wins of either class.
    wanted = assert_all_paths(np.column_stack((X, -X)), y)
    assert wanted[0, 0] == 2 * (n_samples // 2) * (n_samples - n_samples // 2)
    assert wanted[4, 0] == 0
    assert_all_paths(rng.integers(0, 3, (n_samples, 1), dtype=np.uint8), y)


def test_many_rows_of_many_classes(rng):
    y = rng.integers(0, 70, 50_000).astype(np.int32)
    X = np.column_stack((rng.normal(size=50_000), rng.integers(0, 40, 50_000)))
    assert_array_equal(dense(X, y), oracles.long_pair_wins(X, y, 70))


def test_a_block_of_counted_and_sorted_columns_keeps_its_order(rng):
    y = (np.arange(300) % 3).astype(np.int32)
    X = rng.normal(size=(300, 6))
    X[:, [1, 2, 5]] = X[:, [1, 2, 5]].round(1)
    assert_array_equal(dense(X, y), oracles.pair_wins(X, y, 3))


class Noted:
    """A writer that notes which columns it was given."""

    def __init__(self):
        self.levels, self.sorted = [], []

    def write_levels(self, LT, columns):
        assert LT.dtype == np.uint8
        self.levels.extend(columns)

    def write_sorted(self, keys, n_known, row_bits, columns):
        assert len(keys) == len(n_known) == len(columns)
        self.sorted.extend(columns)


def test_wins_are_those_of_the_engine(rng):
    X = rng.normal(size=(200, 9))
    X[:, 1] = X[:, 1].round(1) / 3
    X[:, 2] = np.exp(40 * X[:, 2])
    X[::7, 3] = np.nan
    X[:, 4] = np.where(rng.random(200) < 0.4, X[0, 4], np.exp(40 * X[:, 4]))
    X[:, 5], X[:, 6] = np.nan, rng.integers(0, 9, 200)
    X[::9, 6] = np.nan
    X[:, 0], X[:, 8] = rng.integers(0, 9, 200), np.where(X[:, 8] > 0, 0.0, -0.0)
    problem = make_problem(BaseEstimator(), X, rng.integers(0, 5, 200))
    for order in (np.arange(200), np.argsort(problem.codes, kind="stable")):
        noted = Noted()
        reader = ColumnReader(problem, noted, order.astype(np.int32))
        wins = np.concatenate([reader.read(slice(0, 4)), reader.read(slice(4, 9))])
        XT = problem.ordered_columns(slice(0, 9))
        assert_array_equal(wins, dense_wins(XT, problem.codes, problem.class_counts))
        assert sorted(noted.levels + noted.sorted) == list(range(9))
        assert {0, 8} <= set(noted.levels)
        assert {1, 2, 3, 4, 5, 6, 7} == set(noted.sorted)
