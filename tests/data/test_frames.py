"""A frame of several types gives what its float64 array gives, and is not copied as a whole."""

from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc import FSDD, MAUCD, FisherScore, feature_pair_auc
from mauc.data.door import FitOptions, make_problem
from mauc.data.frames import FrameColumns, has_number_columns
from mauc.exceptions import MaucError
from mauc.registry import Accepts

pd = pytest.importorskip("pandas")
ACCEPTS = Accepts(infinite=True)


def columns(rng, n=60):
    return {
        "double": rng.normal(size=n),
        "single": rng.normal(size=n).astype(np.float32),
        "long": rng.integers(-(10**6), 10**6, n),
        "byte": rng.integers(0, 200, n).astype(np.uint8),
        "flag": rng.random(n) < 0.5,
        "short": rng.integers(-500, 500, n).astype(np.int16),
        "double again": rng.normal(size=n),
    }


def as_polars(values):
    return pytest.importorskip("polars").DataFrame(values)


def as_array(values):
    return np.column_stack([np.asarray(column, np.float64) for column in values.values()])


@pytest.mark.parametrize("make", [pd.DataFrame, as_polars])
def test_blocks_hold_the_values(rng, make):
    values = columns(rng)
    X, frame = as_array(values), FrameColumns(make(values))
    assert frame.shape == X.shape
    assert frame.dtype == np.float64
    for chosen in (slice(None), slice(2, 5), slice(3, 4), [5, 0], np.array([1, 2])):
        assert_array_equal(frame.floats(chosen), X[:, chosen].T)
    # Values decide the type of a block, not the common type of all columns.
    assert frame.ordered(slice(3, 5)).dtype == np.uint8
    assert frame.ordered([1, 5]).dtype == np.float32
    assert frame.ordered(slice(4, 7)).dtype == np.float64


def test_columns_of_one_type_are_views(rng):
    frame = pd.DataFrame({"a": rng.normal(size=5), "b": np.arange(5)})
    problem = make_problem(frame, [0, 0, 1, 1, 1], FitOptions(ACCEPTS))
    assert np.shares_memory(problem.columns.ordered(slice(0, 1)), frame["a"].to_numpy())


def test_missing_entries_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"flag": [True, None, False], "whole": [1, None, 3], "real": [1.0, 2.0, None]}
    )
    assert_array_equal(
        FrameColumns(frame).floats(slice(None)).T, [[1, 1, 1], [np.nan, np.nan, 2], [0, 3, np.nan]]
    )


def test_which_frames_are_read_by_columns(rng):
    assert has_number_columns(pd.DataFrame(columns(rng)))
    assert not has_number_columns(pd.DataFrame(rng.normal(size=(3, 2))))  # an array already
    assert not has_number_columns(pd.DataFrame({"a": [1.0], "b": ["text"]}))
    assert has_number_columns(pd.DataFrame({"a": [1.0], "b": pd.array([1], "Int64")}))
    assert has_number_columns(pd.DataFrame({"a": pd.array([1], "Int64")}))
    assert has_number_columns(pd.DataFrame({"a": pd.to_datetime(["2001"])}))
    assert not has_number_columns(pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}))
    assert not has_number_columns(pd.DataFrame())


STEPS = [0, 2, 1, 3]  # three of four pairs in order


@pytest.mark.parametrize(
    ("other", "auc"),
    [
        ([Decimal("1.5"), 2, 3, 4], 1.0),
        (pd.Series([1, 2.5, 3, None], dtype=object), 0.75),
        (pd.Series(STEPS, dtype=object), 0.75),
        (pd.arrays.SparseArray([0, 0, 1, np.nan]), 0.75),
        (pd.arrays.SparseArray([0, 0, 1, 2]), 1.0),
    ],
)
def test_other_columns_are_numbers(other, auc):
    dates = pd.to_datetime(["2001-01-01", "2001-01-03", "2001-01-02", "2001-01-04"])
    frame = pd.DataFrame({"whole": STEPS, "other": other, "dates": dates})
    assert_array_equal(feature_pair_auc(frame, [0, 0, 1, 1]), [[0.75], [auc], [0.75]])
    assert feature_pair_auc(frame[["other"]], [0, 0, 1, 1]) == auc


def test_long_integers_and_decimals_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"whole": STEPS, "decimal": [Decimal(1), Decimal(2), Decimal(3), None]}
    ).with_columns(long=pl.Series(STEPS, dtype=pl.Int128), nothing=pl.Series([None] * 4))
    assert_array_equal(feature_pair_auc(frame, [0, 0, 1, 1]).T, [[0.75, 0.75, 0.75, 0.5]])
    alone = frame[["long"]]
    assert FisherScore("all").fit(alone, [0, 0, 1, 1]).transform(alone).equals(alone)
    with pytest.raises(MaucError, match="column 'lists'"):
        MAUCD().fit(frame.with_columns(lists=[[1], [2], [3], [4]]), [0, 0, 1, 1])


def test_errors_are_those_of_arrays(rng):
    frame = pd.DataFrame({"a": [1.0, np.inf, 2.0], "b": [1, 2, 3]})
    with pytest.raises(MaucError, match="Input X contains infinity"):
        FSDD().fit(frame, [0, 1, 1])
    with pytest.raises(MaucError, match="inconsistent numbers of samples"):
        MAUCD().fit(frame, [0, 1])
    with pytest.raises(MaucError, match=r"0 sample\(s\)"):
        MAUCD().fit(frame[:0], [])
