"""Sorted keys keep their contract: one value part for one value, ascending, NaN left out."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine import keys as module
from mauc.engine.arrays import read_only
from mauc.engine.keys import argsort_columns, label_bits_of, sort_columns, sort_with_rows
from tests.helpers import strategies
from tests.helpers.strategies import examples

N = 1000


def assert_contract(X, y):
    bits = np.uint64(label_bits_of(int(y.max()) + 1))
    keys, n_known = sort_columns(read_only(np.ascontiguousarray(X.T)), y, int(bits))
    for j, x in enumerate(X.T):
        is_known = x == x
        assert n_known[j] == is_known.sum()
        row = np.sort(keys[j, : n_known[j]])
        parts = row >> bits
        assert_array_equal(parts, keys[j, : n_known[j]] >> bits)
        order = np.lexsort((y[is_known], x[is_known]))
        values, labels = x[is_known][order], y[is_known][order]
        assert_array_equal(parts[1:] == parts[:-1], values[1:] == values[:-1])
        assert_array_equal(row & ((np.uint64(1) << bits) - np.uint64(1)), labels)


@examples(100)
@given(strategies.problems())
def test_contract_of_short_columns(problem):
    assert_contract(*problem)


@examples(60)
@given(strategies.long_problems(max_classes=300))
def test_contract_of_long_columns(problem):
    assert_contract(*problem)


def every_exponent(rng):
    """Doubles of both signs and of every exponent: their value parts need all 64 bits."""
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


def test_a_negative_nan_is_missing():
    nan = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]
    assert_contract(np.array([[1.0], [nan], [-1.0]]), np.array([0, 1, 1], np.int32))


def test_only_tied_columns_of_lost_bits_are_looked_at_again(rng):
    y = (np.arange(N) % 9).astype(np.int32)
    tied = every_exponent(rng)
    tied[::2] = tied[1::2]
    separate = mock.Mock(side_effect=module._separate_values)
    with mock.patch.object(module, "_separate_values", separate):
        for name, make in COLUMNS.items():
            if name != "largest":  # whose values are 1e308 times apart, and tied
                assert_contract(make(rng)[:, np.newaxis], y)
        assert separate.call_count == 0
        assert_contract(tied[:, np.newaxis], y)
        assert separate.call_count == 1


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


def columns_of_all_kinds(rng, n, dtype):
    """Return columns whose keys keep or lose bits, with and without ties."""
    XT = rng.normal(size=(9, n))
    width = 40 if dtype == np.float64 else 15
    XT[1] = XT[1].round(1) / 3  # ties on no grid
    XT[2] = np.exp(width * XT[2])  # all magnitudes
    XT[3] = np.where(rng.random(n) < 0.4, XT[3, 0], np.exp(width * XT[3]))
    XT[4, ::7] = np.nan
    XT[5] = 1.0 + np.arange(n)[::-1] * 2.0**-52  # neighbours that differ in the last bit
    XT[5, :2] = 1e30, -1e-30
    XT[6] = np.nan
    XT[7, :2] = np.inf, -np.inf
    XT[8] = np.where(XT[8] > 0, 0.0, -0.0)
    return read_only(XT.astype(dtype))


@pytest.mark.parametrize("n", [2, 3, 60, 700, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_numbers_give_order_and_ties(rng, n, dtype):
    XT = columns_of_all_kinds(rng, n, dtype)
    rows = rng.permutation(n).astype(np.int32)
    labels = np.empty(n, np.int32)
    labels[rows] = np.arange(n)
    keys, n_known, row_bits = sort_with_rows(XT, labels, rows)
    for x, row, n_here in zip(XT, keys, n_known, strict=True):
        parts, numbers = row[:n_here] >> row_bits, row[:n_here] & ((1 << row_bits) - 1)
        values = x[rows[numbers.astype(np.int64)]]
        assert_array_equal(values, np.sort(x[~np.isnan(x)]))
        assert_array_equal(np.sort(numbers), np.sort(labels[~np.isnan(x)]))
        assert_array_equal(np.diff(parts.astype(object)) > 0, np.diff(values) != 0)


@pytest.mark.parametrize("n", [1, 2, 1000, 60_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_orders_are_stable_sorts_with_missing_values_last(n, dtype):
    rng = np.random.default_rng(n)
    X = np.stack(
        [
            rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n),
            rng.integers(-2, 3, n),
            np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            np.where(rng.random(n) < 0.5, -0.0, 0.0),
            -np.sort(rng.random(n)),
        ]
    ).astype(dtype)
    X.flags.writeable = False
    expected = np.argsort(X, axis=1, kind="stable")
    assert_array_equal(argsort_columns(X), expected)
