"""Labels: distinct values and their codes in linear time, as a sort finds them."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.data.labels import encode_labels, factorize, factorize_linear, missing_mask

sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))
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


def test_missing_values_of_any_kind():
    pd = pytest.importorskip("pandas")
    values = np.array([None, np.nan, pd.NA, pd.NaT, "a", 0, ""], dtype=object)
    assert_array_equal(missing_mask(values), [True] * 4 + [False] * 3)
    assert_array_equal(missing_mask(np.array([np.nan, 1.0])), [True, False])
    assert_array_equal(missing_mask(np.array([1, 2])), [False, False])
