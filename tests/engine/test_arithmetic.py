"""Arithmetic of kernels: exact products, and an exponential to 1e-14."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from mauc.engine.arithmetic import dot, exp_minus


def test_exponential_is_right_to_1e_14():
    x = np.concatenate([[0.0, 5e-324, 1e-300], np.linspace(0, 40, 4001), np.linspace(40, 700, 999)])
    exponential = njit(lambda v: exp_minus(v))
    assert_allclose([exponential(v) for v in x], np.exp(-x), rtol=2e-14)
    assert exponential(1e300) == exponential(700.0)


@pytest.mark.parametrize("n", [1, 15, 64, 65536, 140_001])
def test_products_are_exact(rng, n):
    a, b = rng.choice(np.array([-127, 127, 3], np.int8), (2, n))
    product = njit(lambda v, w: dot(v, w))
    assert product(a.astype(np.int16), a) == (a.astype(np.int64) ** 2).sum()
    assert product(a.astype(np.int16), b) == (a.astype(np.int64) * b).sum()
