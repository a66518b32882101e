"""Class weights, means and scatters by rows have the bits of those by columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.data.columns import DenseColumns
from mauc.data.labels import encode_labels
from mauc.data.problem import Decomposition, Problem
from mauc.engine import moments as moments_module
from mauc.measure.relevance import subproblem_moments


def moments_of(X, y, weights, chosen):
    classes, codes, counts = encode_labels(y)
    problem = Problem(DenseColumns(X), codes, classes, counts, np.zeros(X.shape[1], bool), weights)
    return next(subproblem_moments(problem, Decomposition("whole", len(classes)), chosen))


def assert_same_bits(X, y, weights=None, chosen=slice(1, 6)):
    by_rows = moments_of(X, y, weights, chosen)
    by_columns = moments_of(np.asfortranarray(X), y, weights, chosen)
    for ours, theirs in zip(by_rows, by_columns, strict=True):
        assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


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
