"""Columns of few levels are found, no two values share a level, and tables of them are counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine.arrays import read_only
from mauc.engine.levels import MAX_LEVELS, count_levels, find_levels
from tests.helpers import oracles, strategies
from tests.helpers.strategies import examples

N = 1000


def levels_of(X):
    """Return `n_levels`, and the columns that have levels with them."""
    XT = read_only(np.ascontiguousarray(X.T))
    LT, n_levels, n_missing = find_levels(XT)
    has_levels = n_levels > 0
    assert_array_equal(n_missing[has_levels], np.isnan(XT[has_levels]).sum(axis=1))
    assert not LT[has_levels][np.isnan(XT[has_levels])].any()
    return n_levels, XT[has_levels], LT[has_levels]


def assert_levels(X):
    n_levels, columns, LT = levels_of(X)
    for x, levels, n in zip(columns, LT, n_levels[n_levels > 0], strict=True):
        is_known = x == x
        if is_known.any():
            assert levels[is_known].min() == 0
            assert levels[is_known].max() == n - 1
        order = np.argsort(x[is_known], kind="stable")
        values, ranks = x[is_known][order], levels[is_known][order].astype(int)
        assert (np.diff(ranks) >= 0).all()
        assert_array_equal(np.diff(ranks) > 0, values[1:] != values[:-1])
    return n_levels


@examples(100)
@given(strategies.problems())
def test_levels_of_short_columns(problem):
    assert_levels(problem[0])


WITH_LEVELS = {
    "counts": lambda rng: rng.poisson(4, N).astype(float),
    "negative": lambda rng: rng.integers(-100, 100, N).astype(float),
    "decimals": lambda rng: rng.integers(0, 200, N) / 1000,
    "large": lambda rng: 1e9 + rng.integers(0, 200, N),
    "negative zero": lambda rng: rng.choice([-0.0, 0.0, 3.0], N),
    "once float32": lambda rng: (rng.integers(0, 200, N) / 100).astype("f4").astype("f8"),
    "constant": lambda rng: np.full(N, 0.3),
    "late rise": lambda rng: np.append(np.zeros(N - 1), MAX_LEVELS - 1),
    "late fall": lambda rng: np.append(np.full(N - 1, 7.0), 8 - MAX_LEVELS),
}
WITHOUT = {
    "reals": lambda rng: rng.normal(size=N),
    "too many": lambda rng: np.append(np.zeros(N - 1), MAX_LEVELS),
    "too many on both sides": lambda rng: np.append(np.zeros(N - 2), [-200, 100]),
    "off the grid": lambda rng: rng.integers(0, 5, N) / 7,
    "late real": lambda rng: np.append(np.zeros(N - 1), np.pi),
    "infinite": lambda rng: np.append(np.zeros(N - 1), np.inf),
    "all infinite": lambda rng: np.full(N, -np.inf),
    "subnormal": lambda rng: rng.integers(1, 9, N) * 5e-324,
    "largest": lambda rng: rng.choice([-1.5e308, 1.5e308], N),
}


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
@pytest.mark.parametrize("name", [*WITH_LEVELS, *WITHOUT])
def test_which_columns_have_levels(rng, name, share_missing):
    x = {**WITH_LEVELS, **WITHOUT}[name](rng)
    x[: N // 2][rng.random(N // 2) < share_missing] = np.nan
    assert (assert_levels(x[:, np.newaxis])[0] > 0) == (name in WITH_LEVELS)


def test_a_missing_column_has_one_level():
    assert assert_levels(np.full((5, 1), np.nan)) == [1]


def test_no_more_levels_than_rows():
    assert_array_equal(assert_levels(np.array([[0.0, 0.0], [2.0, 3.0], [1.0, 0.0]])), [3, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_of_decimals(dtype):
    XT = read_only(np.array([[-0.1, 0.2, np.nan, 0.0], [3, 1, 2, 3]], dtype))
    LT, n_levels, n_missing = find_levels(XT)
    assert_array_equal(LT, [[0, 3, 0, 1], [2, 0, 1, 2]])
    assert_array_equal(n_levels, [4, 3])
    assert_array_equal(n_missing, [1, 0])


def counted(X, y, is_missing=None):
    """Count the levels of X; missing ones stand as level 0, as the kernel wants them."""
    n_classes = int(y.max()) + 1
    n_missing = np.zeros((X.shape[1], n_classes), np.int64)
    LT = np.ascontiguousarray(X.T)
    if is_missing is not None:
        LT[is_missing.T] = 0
        for j in range(X.shape[1]):
            n_missing[j] = np.bincount(y[is_missing[:, j]], minlength=n_classes)
    LT.flags.writeable = False
    n_levels = LT.max(axis=1) + np.int64(1)
    return count_levels(LT, y, np.bincount(y), n_levels, n_missing)


def test_counted_by_hand():
    # Levels 0, 0, 2 of class 0 against 0, 1 of class 1: two ties and two wins.
    X, y = np.array([[0], [0], [2], [0], [1]], np.uint8), np.array([0, 0, 0, 1, 1], np.int32)
    assert_array_equal(counted(X, y), [[2 + 2 * 2]])


@given(st.data())
def test_equals_the_double_loop(data):
    X, y = data.draw(strategies.problems(strategies.integer_tables))
    X = X.astype(np.uint8)
    seed = data.draw(st.integers(0, 2**32 - 1))
    is_missing = np.random.default_rng(seed).random(X.shape) < data.draw(st.sampled_from([0, 0.3]))
    holed = np.where(is_missing, np.nan, X)
    assert_array_equal(counted(X, y, is_missing), oracles.pair_wins(holed, y, int(y.max()) + 1))


@pytest.mark.parametrize("n_samples", [7, 8, 9, 64, 1001])
def test_rows_are_read_in_eights(rng, n_samples):
    # Mostly background, as in an image, and a number of rows around a multiple of eight.
    y = rng.permutation(np.arange(n_samples) % 3).astype(np.int32)
    X = np.where(rng.random((n_samples, 5)) < 0.8, 0, rng.integers(0, 256, (n_samples, 5)))
    assert_array_equal(counted(X.astype(np.uint8), y), oracles.long_pair_wins(X, y, 3))


def test_counts_beyond_32_bits():
    y = np.repeat([0, 1], 50_000).astype(np.int32)
    X = np.where(y == 0, 255, 254).astype(np.uint8)[:, np.newaxis]
    assert_array_equal(counted(X, y), [[2 * 50_000 * 50_000]])
