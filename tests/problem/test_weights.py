"""Weights of each class are scaled by powers of two, and only where that is needed."""

import numpy as np
from numpy.testing import assert_array_equal

from mauc.problem.weights import scale_weights

CODES = np.array([0, 0, 1, 1], np.int32)


def scaled(weights):
    weights = np.array(weights)
    return weights, scale_weights(weights, CODES, np.bincount(CODES, weights))


def test_ordinary_weights_stay_as_they_are():
    weights, (found, totals, exponents) = scaled([1e-50, 2.0, 3e50, 4.0])
    assert found is weights
    assert_array_equal(totals, [2.0, 3e50])
    assert_array_equal(exponents, [0, 0])
    assert scale_weights(None, CODES, np.array([2.0, 2.0]))[0] is None


def test_extreme_weights_come_near_one():
    weights, (found, totals, exponents) = scaled([2.0**700, 2.0**700, 2.0**-701, 2.0**-701])
    assert_array_equal(found, [0.25, 0.25, 0.25, 0.25])
    assert_array_equal(totals, [0.5, 0.5])
    assert_array_equal(np.ldexp(found, exponents[CODES]), weights)


def test_one_extreme_class_scales_both():
    _, (found, totals, exponents) = scaled([1.0, 3.0, 2.0**600, 2.0**600])
    assert_array_equal(found, [0.125, 0.375, 0.25, 0.25])
    assert_array_equal(totals, [0.5, 0.5])
    assert_array_equal(exponents, [3, 602])
