"""Keys come out sorted by value, whatever the distribution, with every label still there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine.keys import sort_keys


def assert_sorted(keys, label_bits):
    bits = np.uint64(label_bits)
    n_known = np.array([len(keys), max(0, len(keys) - 1)])
    got = np.array([keys, keys])  # the second row is sorted but for its last word
    sort_keys(got, n_known, label_bits)
    assert_array_equal(got[0], keys[np.argsort(keys >> bits, kind="stable")])
    assert_array_equal(got[1, :-1] >> bits, np.sort(keys[:-1]) >> bits)
    assert_array_equal(got[1, -1:], keys[-1:])


VALUES = {
    "uniform": lambda rng, n: rng.integers(0, 2**60, n, dtype=np.uint64),
    "few": lambda rng, n: rng.integers(0, 3, n, dtype=np.uint64) << np.uint64(50),
    "one": lambda rng, n: np.full(n, 2**59, np.uint64),
    "small": lambda rng, n: rng.integers(0, 50, n, dtype=np.uint64),
    "lowest bits": lambda rng, n: np.uint64(2**59) + rng.integers(0, 9, n, dtype=np.uint64),
    "heavy tail": lambda rng, n: np.uint64(2) ** rng.integers(0, 60, n, dtype=np.uint64),
    "clusters": lambda rng, n: (
        (rng.integers(0, 5, n, dtype=np.uint64) << np.uint64(57))
        + rng.integers(0, 2**20, n, dtype=np.uint64)
    ),
    "one crowd": lambda rng, n: np.where(
        rng.random(n) < 0.3, 2**58 + rng.integers(0, 999, n), rng.integers(0, 2**60, n)
    ).astype(np.uint64),
    "nested crowds": lambda rng, n: np.minimum(2.0**59 * rng.random(n) ** 40, 2.0**60 - 1).astype(
        np.uint64
    ),
    "extremes": lambda rng, n: rng.choice(np.array([0, 2**60 - 1], np.uint64), n),
    "ascending": lambda rng, n: np.arange(n, dtype=np.uint64) << np.uint64(30),
    "descending": lambda rng, n: np.arange(n, 0, -1, dtype=np.uint64),
}


@pytest.mark.parametrize("n", [0, 1, 2, 32, 33, 1000, 20_000, 300_000])
@pytest.mark.parametrize("name", VALUES)
def test_sorted(rng, name, n):
    keys = (VALUES[name](rng, n) << np.uint64(4)) | rng.integers(0, 16, n, dtype=np.uint64)
    assert_sorted(keys, 4)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=200), st.integers(1, 40))
def test_any_keys(numbers, label_bits):
    assert_sorted(np.array(numbers, np.uint64), label_bits)


@given(st.integers(0, 2**32 - 1), st.integers(0, 63), st.integers(33, 3000))
def test_any_number_of_varying_bits(seed, n_bits, n):
    keys = np.random.default_rng(seed).integers(0, 2**n_bits, n, dtype=np.uint64, endpoint=True)
    assert_sorted(keys, 1)
