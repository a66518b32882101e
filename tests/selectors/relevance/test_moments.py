"""Class weights, means and scatters of every feature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mauc.data.problem import group_by_class
from mauc.engine.moments import shift_of
from mauc.selectors.relevance import class_moments


def moments(XT, y, n_classes, sample_weight=None):
    order, starts, weights = group_by_class(y, n_classes, sample_weight)
    shift, shape = np.empty(len(XT)), (len(XT), n_classes)
    count, offset, scatter = np.empty(shape), np.empty(shape), np.empty(shape)
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


def test_weights_are_frequencies(rng):
    y, XT = rng.integers(0, 3, 40).astype(np.int32), rng.normal(size=(3, 40))
    XT[0, :5] = np.nan
    weight = rng.integers(0, 4, 40)
    shift, *weighted = moments(XT, y, 3, weight.astype(float))
    again, *repeated = moments(np.repeat(XT, weight, axis=1), np.repeat(y, weight), 3)
    assert_array_equal(weighted[0], repeated[0])
    assert_allclose(shift[:, np.newaxis] + weighted[1], again[:, np.newaxis] + repeated[1])
    assert_allclose(weighted[2], repeated[2])


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1, -1e-300, 0.0])
def test_a_constant_feature_is_its_own_shift(value):
    y = np.arange(50, dtype=np.int32) % 3
    XT = np.full((1, 50), value)
    XT[0, [0, 7]] = np.nan
    assert shift_of(XT[0], None) == value
    _, _, offset, scatter = moments(XT, y, 3)
    assert_array_equal(offset, 0.0)
    assert_array_equal(scatter, 0.0)


def test_no_known_value():
    shift, count, offset, scatter = moments(np.full((1, 4), np.nan), np.zeros(4, np.int32), 2)
    assert_array_equal([shift[0], *count[0], *offset[0], *scatter[0]], 0.0)
