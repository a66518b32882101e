"""Sorted words keep their contract: one key for one value, codes ascending, NaN left out."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import strategies
from mauc.auc import sort_columns
from mauc.auc.keys import BITWISE, EXACT, LINEAR, choose_keys, fits_words, label_bits_of
from mauc.auc.sort_columns import sort_block

N = 1000


def read_only(XT):
    XT = np.ascontiguousarray(XT)
    XT.flags.writeable = False
    return XT


def assert_contract(X, y):
    n_classes = int(y.max()) + 1
    bits = label_bits_of(n_classes)
    XT = read_only(X.T)
    words, n_known = sort_block(XT, y, bits, choose_keys(XT, 32 - bits))
    for j, x in enumerate(X.T):
        is_known = x == x
        assert n_known[j] == is_known.sum()
        row = words[j, : n_known[j]]
        order = np.lexsort((y[is_known], x[is_known]))
        values, labels = x[is_known][order], y[is_known][order]
        assert_array_equal(row & np.uint32(2**bits - 1), labels)
        keys = row >> np.uint32(bits)
        assert (keys[1:] >= keys[:-1]).all()
        assert_array_equal(keys[1:] == keys[:-1], values[1:] == values[:-1])


@settings(max_examples=100)
@given(strategies.problems())
def test_contract_of_short_columns(problem):
    assert_contract(*problem)


@settings(max_examples=60)
@given(strategies.long_problems(max_classes=300))
def test_contract_of_long_columns(problem):
    assert_contract(*problem)


def clustered(rng):
    """Two tight clusters very far apart: no 31-bit image tells the values apart."""
    steps = rng.permutation(np.arange(N))
    return np.where(steps % 2, 1.0, 1e30) * (1 + steps * 2.0**-50)


def nearly_linear(rng):
    """Reals of one magnitude, a few of them so close that they share a key."""
    x = rng.normal(size=N)
    x[:20] = np.nextafter(x[20:40], np.inf)
    return x


COLUMNS = {
    "whole": (EXACT, lambda rng: rng.integers(-(10**6), 10**6, N).astype(float)),
    "decimal": (EXACT, lambda rng: rng.normal(size=N).round(4)),
    "negative zero": (EXACT, lambda rng: rng.choice([0.0, -0.0, 1.0], N)),
    "constant": (EXACT, lambda rng: np.full(N, 7.0)),
    "large whole": (EXACT, lambda rng: 1e15 + rng.integers(0, 1000, N)),
    "once float32": (EXACT, lambda rng: rng.normal(size=N).round(2).astype("f4").astype("f8")),
    "normal": (LINEAR, lambda rng: rng.normal(size=N)),
    "few shared keys": (LINEAR, nearly_linear),
    "tied reals": (LINEAR, lambda rng: rng.normal(size=50)[rng.integers(0, 50, N)]),
    "heavy tail": (LINEAR, lambda rng: np.exp(10 * rng.normal(size=N))),
    "clusters": (LINEAR, clustered),
    "infinities": (BITWISE, lambda rng: np.append(rng.normal(size=N - 2), [np.inf, -np.inf])),
    "too wide": (BITWISE, lambda rng: rng.choice([-1.5e308, 1.5e308, 0.1], N)),
    "subnormal": (BITWISE, lambda rng: rng.integers(0, 9, N) * 5e-324),
}


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("name", COLUMNS)
def test_contract_of_every_kind_of_key(rng, name, share_missing):
    kind, make = COLUMNS[name]
    x = make(rng)
    x[rng.random(N) < share_missing] = np.nan
    assert choose_keys(read_only(x[np.newaxis]), 30).kinds == [kind]
    assert_contract(x[:, np.newaxis], rng.integers(0, 4, N).astype(np.int32))


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_contract_of_a_block_of_every_kind(rng, share_missing):
    X = np.column_stack([make(rng) for _, make in COLUMNS.values()])
    X[rng.random(X.shape) < share_missing] = np.nan
    for n_classes in (2, 5, 300):
        assert_contract(X, rng.permutation(np.arange(N) % n_classes).astype(np.int32))


def test_columns_that_no_key_fits_are_sorted_by_value(rng):
    with mock.patch.object(
        sort_columns, "rank_words", side_effect=sort_columns.rank_words
    ) as rank_words:
        assert_contract(clustered(rng)[:, np.newaxis], np.zeros(N, np.int32) + np.arange(N) % 2)
        assert rank_words.call_count == 1
        assert_contract(rng.normal(size=(N, 1)), (np.arange(N) % 2).astype(np.int32))
        assert rank_words.call_count == 1


def test_heavy_tails_need_no_argsort(rng):
    x = 10.0 ** rng.uniform(-100, 100, N)
    with mock.patch.object(sort_columns, "rank_words") as rank_words:
        assert_contract(x[:, np.newaxis], (np.arange(N) % 2).astype(np.int32))
    assert not rank_words.called


@given(st.integers(1, 2**31), st.integers(2, 2**16))
def test_words_hold_ranks_and_codes(n_samples, n_classes):
    bits = label_bits_of(n_classes)
    assert 2**bits >= n_classes
    assert n_classes <= 2 or 2 ** (bits - 1) < n_classes
    if fits_words(n_samples, n_classes):
        assert n_samples <= 2 ** (32 - bits)


def test_all_missing():
    assert_contract(np.full((5, 2), np.nan), np.array([0, 1, 0, 1, 1], np.int32))


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_contract_of_a_column_with_one_value_that_many_rows_share(rng, share):
    # Few neighbours are equal, yet too many share one key to be sorted by insertion.
    n = 20000
    x = np.where(rng.random(n) < share, 0.0, rng.standard_normal(n))
    folded = np.where(x == 0.0, rng.choice([0.0, 1e-12], n), x)
    assert_contract(np.column_stack((x, folded)), rng.integers(0, 5, n).astype(np.int32))
