"""The radix sort: stable, the tags travel with their values."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.engine.sort import sort_tagged


def sort(values):
    values = np.array(values, dtype=np.float64)
    n = len(values)
    tags = np.arange(n, dtype=np.int32)
    sort_tagged(values, tags, n, np.empty(n, np.uint64), np.empty(n, np.uint64))
    return values, tags


def test_three_values_by_hand():
    values, tags = sort([2.0, -1.0, 2.0])
    assert_array_equal(values, [-1.0, 2.0, 2.0])
    assert_array_equal(tags, [1, 0, 2])


@pytest.mark.parametrize("n", [0, 1, 63, 64, 700, 9000])
@pytest.mark.parametrize(
    "kind", ["whole", "single", "double", "constant", "infinite", "clusters", "close"]
)
def test_it_is_a_stable_sort(rng, n, kind):
    values = {
        "whole": rng.integers(-3, 4, n).astype(float),
        "single": rng.normal(size=n).astype(np.float32).astype(float),
        "double": rng.normal(size=n) * 10.0 ** rng.integers(-200, 200, n),
        "constant": np.full(n, 0.1),
        "clusters": np.round(rng.normal(size=n), 2) + 1e9 * rng.integers(0, 2, n),
        "close": 1e300 * rng.integers(0, 2, n) + np.where(np.arange(n) % 2, 1.0, 1.0 + 2.0**-52),
        "infinite": rng.choice([-np.inf, -0.1, 0.1, np.inf], n),
    }[kind]
    order = np.argsort(values, kind="stable")
    found, tags = sort(values)
    assert_array_equal(found, values[order])
    assert_array_equal(tags, order)
