"""Class weights, means and scatters of every feature, by columns and by rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mauc.data.columns import DenseColumns
from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem, group_by_class
from mauc.data.validate import encode_labels
from mauc.engine import moments as moments_module
from mauc.engine.arrays import read_only
from mauc.selectors.relevance import class_moments, subproblem_moments


def moments(XT, y, n_classes, sample_weight=None):
    order, starts, weights = group_by_class(y, n_classes, sample_weight)
    shift, shape = np.empty(len(XT)), (len(XT), n_classes)
    count, offset, scatter = np.empty(shape), np.empty(shape), np.empty(shape)
    XT = read_only(np.ascontiguousarray(XT))
    class_moments(XT, order, starts, weights, shift, count, offset, scatter)
    return shift, count, offset, scatter


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_of_classes(rng, dtype):
    y = np.array([0, 2, 2, 0, 2, 3, 2, 2, 2], np.int32)
    XT = (rng.normal(size=(2, 9)) + 50).astype(dtype)
    XT[1, 5] = np.nan
    shift, count, offset, scatter = moments(XT, y, 4)
    assert count.tolist() == [[2, 0, 6, 1], [2, 0, 6, 0]]
    for k in (0, 2):
        own = XT[:, y == k].astype(np.float64)
        assert_allclose(shift + offset[:, k], own.mean(axis=1))
        assert_allclose(scatter[:, k], own.var(axis=1) * own.shape[1])
    assert_array_equal(scatter[:, [1, 3]], 0.0)


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1, -1e-300, 0.0])
def test_a_constant_feature_is_its_own_shift(value):
    y = np.arange(50, dtype=np.int32) % 3
    XT = np.full((1, 50), value)
    XT[0, [0, 7]] = np.nan
    shift, _, offset, scatter = moments(XT, y, 3)
    assert shift[0] == value
    assert_array_equal(offset, 0.0)
    assert_array_equal(scatter, 0.0)


def test_no_known_value():
    shift, count, offset, scatter = moments(np.full((1, 4), np.nan), np.zeros(4, np.int32), 2)
    assert_array_equal([shift[0], *count[0], *offset[0], *scatter[0]], 0.0)


def moments_of(X, y, weights, chosen):
    classes, codes, counts = encode_labels(y)
    problem = Problem(DenseColumns(X), codes, classes, counts, np.zeros(X.shape[1], bool), weights)
    return next(subproblem_moments(problem, Decomposition("whole", len(classes)), chosen))


def assert_same_bits(X, y, weights=None, chosen=slice(1, 6)):
    by_rows = moments_of(X, y, weights, chosen)
    by_columns = moments_of(np.asfortranarray(X), y, weights, chosen)
    for ours, theirs in zip(by_rows, by_columns, strict=True):
        assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8", "int64", "int16", "bool"])
@pytest.mark.parametrize("n_samples", [7, 50, 203])
def test_rows_have_the_bits_of_columns(rng, dtype, n_samples):
    X = (100 * rng.normal(size=(n_samples, 7))).astype(dtype)
    assert_same_bits(X, np.arange(n_samples) % 3)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.95])
@pytest.mark.parametrize("has_weights", [False, True])
def test_rows_with_missing_values_and_weights(rng, share, has_weights):
    X = rng.normal(size=(400, 7)) + 1e6
    X[rng.random(X.shape) < share] = np.nan
    X[:, 2] = np.nan
    y = np.r_[0, 1, 2, rng.integers(0, 3, 397)]
    X[y == 1, 3] = np.nan
    weights = np.r_[1, 1, 1, rng.integers(0, 4, 397)] * 0.3 if has_weights else None
    assert_same_bits(X, y, weights)


def test_a_class_in_one_piece_and_a_class_of_one(rng):
    assert_same_bits(rng.normal(size=(21, 7)), np.r_[np.zeros(9), np.ones(11), 2])


def test_strided_rows_in_tiles(rng, monkeypatch):
    monkeypatch.setattr(moments_module, "_TILE_ROWS", 10)
    X = rng.normal(size=(90, 20))
    for view in (X[::2, ::2], X[::-1, 3:], X[:, ::-1]):
        assert_same_bits(view, rng.permutation(np.arange(len(view)) % 4))
