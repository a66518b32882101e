"""Class weights, means and scatters: their definition, and what a large offset costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mauc.data.columns import DenseColumns
from mauc.data.labels import encode_labels
from mauc.data.problem import Decomposition, Problem
from mauc.measure.relevance import subproblem_moments


def moments_of(X, y, weights=None):
    classes, codes, counts = encode_labels(y)
    problem = Problem(DenseColumns(X), codes, classes, counts, np.zeros(X.shape[1], bool), weights)
    return next(subproblem_moments(problem, Decomposition("whole", len(classes)), slice(None)))


def test_by_hand():
    X, y = np.array([[1.0], [3.0], [np.nan], [7.0]]), np.array([0, 0, 0, 1])
    count, offset, scatter = moments_of(X, y)
    assert count.tolist() == [[2.0, 1.0]]
    assert offset[0, 1] - offset[0, 0] == 5.0
    assert scatter.tolist() == [[2.0, 0.0]]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.95])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("common", [0.0, 1e6])
def test_missing_values_weights_and_an_offset(rng, share, has_weights, common):
    values = rng.integers(-99, 99, (400, 7)) / 8.0
    values[rng.random(values.shape) < share] = np.nan
    values[:, 2] = np.nan
    y = np.r_[0, 1, 2, rng.integers(0, 3, 397)]
    weights = np.r_[1, 1, 1, rng.integers(0, 4, 397)] * 0.25 if has_weights else None
    count, offset, scatter = moments_of(values + common, y, weights)
    for k in range(3):
        x, w = values[y == k], np.ones(400)[y == k] if weights is None else weights[y == k]
        known = np.where(np.isnan(x), 0.0, w[:, np.newaxis])
        total = known.sum(axis=0)
        mean = np.nansum(known * x, axis=0) / np.where(total > 0, total, 1.0)
        assert_array_equal(count[:, k], total)
        assert_allclose(scatter[:, k], np.nansum(known * (x - mean) ** 2, axis=0), atol=1e-7)
        # Offsets are from a shift that the classes share.
        gap = np.where((count[:, 0] > 0) & (total > 0), offset[:, k] - offset[:, 0], 0.0)
        first = np.where(y == 0, 1.0, 0.0) if weights is None else np.where(y == 0, weights, 0.0)
        first = np.where(np.isnan(values), 0.0, first[:, np.newaxis])
        size = np.where(first.sum(axis=0) > 0, first.sum(axis=0), 1.0)
        wanted = mean - np.nansum(first * values, axis=0) / size
        assert_allclose(gap, np.where((count[:, 0] > 0) & (total > 0), wanted, 0.0), atol=1e-9)


def test_the_memory_order_changes_no_bit(rng):
    X, y = rng.normal(size=(90, 20)), np.r_[np.zeros(40), np.ones(49), 2]
    for view in (X, X[:, ::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        for ours, theirs in zip(
            moments_of(view, y), moments_of(np.asfortranarray(view), y), strict=True
        ):
            assert_array_equal(ours.view(np.int64), theirs.view(np.int64))
