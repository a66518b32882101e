"""Columns of any type for the kernels: wide values and distinct values."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.data.columns import (
    as_floats,
    float_columns,
    is_wide,
    ordered_columns,
    ordered_entries,
    rank_wide,
    scale_wide,
    value_columns,
    with_missing,
)
from mauc.data.labels import encode_labels, factorize, factorize_linear

HAS_EXTENDED = np.finfo(np.longdouble).nmant > 52
NAT = np.datetime64("NaT")

sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))


def test_which_values_are_wide():
    assert not is_wide(np.array([2**53, -(2**53)]))
    assert is_wide(np.array([2**53 + 1]))
    assert is_wide(np.array([-(2**53) - 1]))
    assert is_wide(np.array([2**63], np.uint64))
    assert not is_wide(np.array([1.5, np.nan, np.inf], np.longdouble))
    assert not is_wide(np.array([1e300]))
    assert not is_wide(np.empty(0, np.int64))
    assert is_wide(np.array(["2001"], "datetime64[D]"))


@pytest.mark.skipif(not HAS_EXTENDED, reason="longdouble is float64 here")
def test_extended_precision_is_wide_where_it_matters():
    assert is_wide(np.array([1, np.nan], np.longdouble) + np.finfo(np.longdouble).eps)
    assert is_wide(np.array([1], np.longdouble) * np.longdouble("1e400"))


@pytest.mark.parametrize("dtype", ["i8", "u8", "m8[ns]", "M8[ns]"])
def test_neighbours_stay_apart(dtype):
    k = np.array([5, 3, 4, 4, 1000])
    values = (k + 2**60).astype("i8").view(dtype)
    assert_array_equal(rank_wide(values), [2, 0, 1, 1, 3])
    assert_array_equal(scale_wide(values), [2, 0, 1, 1, 997])
    assert_array_equal(ordered_columns(values[np.newaxis])[0], [2, 0, 1, 1, 3])
    assert_array_equal(float_columns(values[np.newaxis])[0], [2, 0, 1, 1, 997])


def test_a_common_factor_is_dropped():
    # 300 years of days in nanoseconds: beyond 2**53, but multiples of a day
    days = np.array([0, 3, 109_000])
    values = (np.datetime64("1700-01-01", "ns") + days.astype("m8[D]")).astype("M8[ns]")
    assert_array_equal(scale_wide(values), days / np.gcd.reduce(days))


def test_the_whole_range_of_integers():
    values = np.array([-(2**63), 2**63 - 1, 0, 1])
    assert_array_equal(rank_wide(values), [0, 3, 1, 2])
    scaled = scale_wide(values)
    assert scaled[0] < scaled[2] <= scaled[3] < scaled[1]


def test_nat_is_missing():
    values = np.array(["2001-01-03", NAT, "2001-01-01"], "datetime64[ns]")
    for found in (rank_wide(values), scale_wide(values), as_floats(values)):
        assert np.isnan(found).tolist() == [False, True, False]
        assert found[0] > found[2]
    nothing = np.array([NAT, NAT])
    assert np.isnan(rank_wide(nothing)).all()
    assert np.isnan(scale_wide(nothing)).all()


@pytest.mark.skipif(not HAS_EXTENDED, reason="longdouble is float64 here")
def test_extended_precision():
    k = np.array([2, 0, 1, 1, 7], np.longdouble)
    for values in (k + np.longdouble(2) ** 62, 1 + k * np.finfo(np.longdouble).eps):
        assert_array_equal(rank_wide(values), [2, 0, 1, 1, 3])
        scaled = scale_wide(values)
        assert_array_equal(scaled / scaled[2], k.astype(float))
    huge = k * np.longdouble("1e4000")
    assert_array_equal(rank_wide(huge), [2, 0, 1, 1, 3])
    assert np.isfinite(scale_wide(huge) ** 2).all()
    assert_array_equal(scale_wide(huge)[[0, 1]] / scale_wide(huge)[2], [2, 0])


def test_only_wide_columns_are_changed():
    XT = np.array([[1, 5, 3], [2**60, 2**60 + 1, 2**60 + 3]])
    assert_array_equal(float_columns(XT), [[1, 5, 3], [0, 1, 3]])
    assert_array_equal(value_columns(XT), XT.astype(float))


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns", "M", "Y"])
def test_seconds_do_not_depend_on_the_unit(unit):
    values = np.array(["1970-01-01", "2001-01-01", NAT], f"datetime64[{unit}]")
    assert_array_equal(as_floats(values), [0, 978307200, np.nan])
    if unit not in "MY":
        durations = values - np.datetime64("2001-01-01", unit)
        assert_array_equal(as_floats(durations), [-978307200, 0, np.nan])


def test_missing_entries_beside_wide_integers():
    is_missing = np.array([False, True, False])
    for offset in (2**60, 2**63 + 2**60):
        values = np.array([offset + 2, 0, offset + 1], np.uint64)
        found = with_missing(values, is_missing)
        assert_array_equal(rank_wide(found), [1, np.nan, 0])
    assert_array_equal(with_missing(np.array([3, 9, 2]), is_missing), [3, np.nan, 2])
    assert_array_equal(with_missing(np.array([True, True, False]), is_missing), [1, np.nan, 0])
    single = with_missing(np.array([1, 2, 3], np.float32), is_missing)
    assert single.dtype == np.float32
    assert_array_equal(single, [1, np.nan, 3])


def test_wide_integers_with_missing_entries_keep_their_unit():
    values = with_missing(np.array([2**60, 5, -(2**60)]), np.array([False, True, False]))
    assert_array_equal(value_columns(values[np.newaxis])[0], [2.0**60, np.nan, -(2.0**60)])


def test_sparse_entries_keep_their_place_beside_zero():
    assert_array_equal(ordered_entries(np.array([2**60, 2**60 + 1, -(2**60)])), [1, 2, -1])
    assert_array_equal(ordered_entries(np.array([2**60, 0, 2**60 + 1])), [1, 0, 2])
    if HAS_EXTENDED:
        data = np.array([1, np.nan, -2, 0], np.longdouble) * (1 + np.finfo(np.longdouble).eps)
        assert_array_equal(ordered_entries(data), [1, np.nan, -1, 0])


CODES = np.array([3, 0, 2, 3, 3, 0, 5])


def assert_as_sorted(values):
    distinct, codes, counts = factorize(values)
    wanted = np.unique(values, return_inverse=True, return_counts=True)
    assert distinct.dtype == wanted[0].dtype
    assert (codes.dtype, counts.dtype) == (np.int32, np.int64)
    for found, sorted_one in zip((distinct, codes, counts), wanted, strict=True):
        assert_array_equal(found, sorted_one)


def test_by_hand():
    distinct, codes, counts = factorize(np.array([7, 5, 7, -1]))
    assert distinct.tolist() == [-1, 5, 7]
    assert codes.tolist() == [2, 1, 2, 0]
    assert counts.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "values",
    [
        CODES,
        CODES.astype(np.uint64) + np.uint64(2**63),
        np.array([127, -128, 0], np.int8),
        CODES > 2,
        CODES - 2.0,
        CODES.astype(np.float32),
        CODES.astype(">i4"),
        np.array(["b", "", "aa", "b", "ä", "a"]),
        np.array(["x" * k for k in CODES]),
        np.array(["a", "b"]).astype(">U1"),
        np.array(["b", "a", "b"], dtype=object),
    ],
)
def test_no_sort_is_needed(values):
    assert factorize_linear(values) is not None
    assert_as_sorted(values)


@pytest.mark.parametrize(
    "values",
    [
        np.array([-(2**63), 2**63 - 1]),
        np.array([0.5, 1.0]),
        np.array([0.0, 1e300]),
        np.array([2, 1, 2], dtype=object),
        np.array([], dtype=np.int64),
    ],
)
def test_what_must_be_sorted(values):
    assert factorize_linear(values) is None
    assert_as_sorted(values)


@given(st.lists(st.text(max_size=4), min_size=1, max_size=40))
def test_any_strings(texts):
    texts = [text.replace("\0", "") for text in texts]  # NumPy strips it at the end
    assert_as_sorted(np.array(texts))
    assert_as_sorted(np.array(texts, dtype=object))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40))
def test_any_integers(numbers):
    assert_as_sorted(np.array(numbers))
    assert_as_sorted(np.array(numbers, dtype=np.float64))


@pytest.mark.skipif(sklearn_version < (1, 7), reason="scikit-learn 1.7 began to warn")
def test_mostly_distinct_labels_are_still_questioned():
    with pytest.warns(UserWarning, match="could represent a regression problem"):
        encode_labels(np.arange(30))
