"""Sorted words keep their contract: one key for one value, keys ascend, NaN left out."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine import words as module
from mauc.engine.words import label_bits_of, sort_columns
from tests.helpers import strategies

N = 1000


def read_only(XT):
    XT = np.ascontiguousarray(XT)
    XT.flags.writeable = False
    return XT


def assert_contract(X, y):
    bits = np.uint64(label_bits_of(int(y.max()) + 1))
    words, n_known = sort_columns(read_only(X.T), y, int(bits))
    for j, x in enumerate(X.T):
        is_known = x == x
        assert n_known[j] == is_known.sum()
        row = np.sort(words[j, : n_known[j]])
        keys = row >> bits
        assert_array_equal(keys, words[j, : n_known[j]] >> bits)
        order = np.lexsort((y[is_known], x[is_known]))
        values, labels = x[is_known][order], y[is_known][order]
        assert_array_equal(keys[1:] == keys[:-1], values[1:] == values[:-1])
        assert_array_equal(row & ((np.uint64(1) << bits) - np.uint64(1)), labels)


@settings(max_examples=100)
@given(strategies.problems())
def test_contract_of_short_columns(problem):
    assert_contract(*problem)


@settings(max_examples=60)
@given(strategies.long_problems(max_classes=300))
def test_contract_of_long_columns(problem):
    assert_contract(*problem)


def every_exponent(rng):
    """Doubles of both signs and of every exponent: their keys need all 64 bits."""
    x = np.ldexp(rng.uniform(0.5, 1.0, N), np.linspace(-1070, 1023, N).astype(int))
    return rng.permutation(x * rng.choice([-1.0, 1.0], N))


COLUMNS = {
    "whole": lambda rng: rng.integers(-(10**6), 10**6, N).astype(float),
    "decimal": lambda rng: rng.normal(size=N).round(4),
    "negative zero": lambda rng: rng.choice([0.0, -0.0, 1.0], N),
    "constant": lambda rng: np.full(N, 7.0),
    "large whole": lambda rng: 1e15 + rng.integers(0, 1000, N),
    "once float32": lambda rng: rng.normal(size=N).astype("f4").astype("f8"),
    "normal": lambda rng: rng.normal(size=N),
    "neighbours": lambda rng: np.nextafter(
        rng.normal(size=20)[rng.integers(0, 20, N)], rng.choice([-9, 9], N)
    ),
    "heavy tail": lambda rng: np.exp(10 * rng.normal(size=N)),
    "every exponent": every_exponent,
    "clusters": lambda rng: rng.choice([1.0, 1e30], N) * (1 + np.arange(N) * 2.0**-50),
    "infinities": lambda rng: np.append(rng.normal(size=N - 2), [np.inf, -np.inf]),
    "largest": lambda rng: rng.choice([-1.5e308, 1.5e308, 0.1], N),
    "subnormal": lambda rng: rng.integers(-9, 9, N) * 5e-324,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("name", COLUMNS)
def test_contract_of_every_kind_of_column(rng, name, share_missing, dtype):
    x = COLUMNS[name](rng)
    x[rng.random(N) < share_missing] = np.nan
    with np.errstate(over="ignore"):
        X = x[:, np.newaxis].astype(dtype)
    assert_contract(X, rng.integers(0, 4, N).astype(np.int32))


@pytest.mark.parametrize("n_classes", [2, 5, 300])
def test_contract_of_a_block_of_every_kind(rng, n_classes):
    X = np.column_stack([make(rng) for make in COLUMNS.values()])
    X[rng.random(X.shape) < 0.1] = np.nan
    assert_contract(X, rng.permutation(np.arange(N) % n_classes).astype(np.int32))


def test_a_negative_nan_is_missing():
    nan = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]
    assert_contract(np.array([[1.0], [nan], [-1.0]]), np.array([0, 1, 1], np.int32))


def test_only_tied_columns_of_lost_bits_are_ranked(rng):
    y = (np.arange(N) % 9).astype(np.int32)
    tied = every_exponent(rng)
    tied[::2] = tied[1::2]
    with mock.patch.object(module, "rank_column", side_effect=module.rank_column) as rank_column:
        for name, make in COLUMNS.items():
            if name != "largest":  # whose values are 1e308 times apart, and tied
                assert_contract(make(rng)[:, np.newaxis], y)
        assert rank_column.call_count == 0
        assert_contract(tied[:, np.newaxis], y)
        assert rank_column.call_count == 1


@pytest.mark.parametrize("n_classes", [5, 100, 1000])
def test_values_that_differ_in_lost_bits_are_told_apart(rng, n_classes):
    x = every_exponent(rng)
    x[::2] = np.nextafter(x[1::2], np.inf)
    assert_contract(x[:, np.newaxis], rng.permutation(np.arange(N) % n_classes).astype(np.int32))


@given(st.integers(2, 2**16))
def test_codes_fit_their_bits(n_classes):
    bits = label_bits_of(n_classes)
    assert 2**bits >= n_classes
    assert n_classes <= 2 or 2 ** (bits - 1) < n_classes


def test_all_missing():
    assert_contract(np.full((5, 2), np.nan), np.array([0, 1, 0, 1, 1], np.int32))
