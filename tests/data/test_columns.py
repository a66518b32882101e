"""Columns of any type for the kernels, and distinct values."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.data.columns import (
    as_floats,
    float_columns,
    is_beyond_doubles,
    ordered_columns,
    warn_of_merged_values,
    with_missing,
)
from mauc.data.labels import encode_labels, factorize, factorize_linear
from mauc.exceptions import TinyUnitsWarning

HAS_EXTENDED = np.finfo(np.longdouble).nmant > 52
NAT = np.datetime64("NaT")

sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))


def test_numbers_are_read_as_doubles():
    XT = np.array([[1, 5, 3], [2**60, 2**60 + 1, 2**60 + 4096]])
    for convert in (ordered_columns, float_columns):
        assert_array_equal(convert(XT), XT.astype(float))


@pytest.mark.parametrize(
    ("values", "is_beyond"),
    [
        (np.array([2**53, -(2**53)]), False),
        (np.array([2**53 + 1]), True),
        (np.array([-(2**53) - 1]), True),
        (np.array([2**63], np.uint64), True),
        (np.array([1.5, np.nan, np.inf], np.longdouble), False),
        (np.empty(0, np.int64), False),
    ],
)
def test_which_numbers_doubles_do_not_hold(values, is_beyond):
    assert is_beyond_doubles(values) == is_beyond


def test_values_that_doubles_merge_are_warned_of():
    table = np.array([[2**60, 2**60 + 4096], [2**60 + 1, 2**60], [2**60, 1]])
    with pytest.warns(TinyUnitsWarning, match="1 of 2 columns of X: some values differ by less"):
        warn_of_merged_values(table)
    warn_of_merged_values(table[:, 1])  # multiples of 4096 stay apart
    warn_of_merged_values(table.astype(float))
    if HAS_EXTENDED:
        with pytest.warns(TinyUnitsWarning, match="y_score: some values"):
            warn_of_merged_values(1 + np.arange(3) * np.finfo(np.longdouble).eps, "y_score")


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns", "M", "Y"])
def test_seconds_do_not_depend_on_the_unit(unit):
    values = np.array(["1970-01-01", "2001-01-01", NAT], f"datetime64[{unit}]")
    assert_array_equal(as_floats(values), [0, 978307200, np.nan])
    if unit not in "MY":
        durations = values - np.datetime64("2001-01-01", unit)
        assert_array_equal(as_floats(durations), [-978307200, 0, np.nan])


@pytest.mark.parametrize("micros", [1577836800123457, -1, 1, 10**15 + 1])
def test_the_float_of_a_date_does_not_depend_on_its_unit(micros):
    in_micros = np.array([micros]).view("datetime64[us]")
    assert as_floats(in_micros) == as_floats(in_micros.astype("datetime64[ns]"))
    assert as_floats(in_micros)[0] == pytest.approx(micros / 1e6, rel=1e-15)


def test_missing_entries_make_floats():
    is_missing = np.array([False, True, False])
    assert_array_equal(with_missing(np.array([3, 9, 2]), is_missing), [3, np.nan, 2])
    assert_array_equal(with_missing(np.array([True, True, False]), is_missing), [1, np.nan, 0])
    single = with_missing(np.array([1, 2, 3], np.float32), is_missing)
    assert single.dtype == np.float32
    assert_array_equal(single, [1, np.nan, 3])


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
