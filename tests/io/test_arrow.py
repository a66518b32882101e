"""Parquet and Feather files keep types; bad ones get an error that names the column."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError

SAVE = {
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
}


@pytest.fixture(params=sorted(SAVE))
def load(request, tmp_path):
    def load(columns, target="label", **options):
        path = tmp_path / f"data.{request.param}"
        SAVE[request.param](pd.DataFrame(columns), path)
        return load_dataset(path, target, **options)

    return load


def test_numbers_text_and_categories(load):
    dataset = load(
        {
            "a": [1, 2, 3],
            "b": [0.5, np.nan, 1.5],
            "color": ["red", None, "blue"],
            "size": pd.Categorical(["s", "m", "s"], categories=["s", "m", "l"]),
            "is_new": [True, False, True],
            "label": ["u", "v", "u"],
        }
    )
    assert dataset.nominal_features == ["color", "size", "is_new"]
    assert dataset.categories["color"] == ("blue", "red")
    assert dataset.categories["size"] == ("s", "m", "l")
    assert_array_equal(dataset.X[["a", "b"]], [[1, 0.5], [2, np.nan], [3, 1.5]])
    assert dataset.y.tolist() == ["u", "v", "u"]


def test_numbers_alone_come_as_an_array(load):
    dataset = load(
        {"a": np.array([1, 2], np.uint8), "b": np.array([3, 4], np.uint8), "label": [5, 6]}
    )
    assert dataset.X.dtype == np.uint8
    assert dataset.y.tolist() == [5, 6]


def test_integers_with_gaps_and_categorical_labels(load):
    dataset = load({"a": pd.array([1, None], "Int64"), "label": pd.Categorical(["v", "u"])})
    assert_array_equal(dataset.X, [[1], [np.nan]])
    assert dataset.y.tolist() == ["v", "u"]


def test_decimals_are_numbers(load):
    dataset = load({"a": [decimal.Decimal("1.5"), decimal.Decimal("2")], "label": [0, 1]})
    assert_array_equal(dataset.X, [[1.5], [2]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [2**53 + 1, 2**54], "label": [0, 1]}, r"column 'a' holds integers beyond 2\*\*53"),
        ({"a": pd.array([2**54, None, 2**55], "Int64"), "label": [0, 1, 1]}, "column 'a' holds in"),
        ({"a": [datetime.date(2001, 1, 1)] * 2, "label": [0, 1]}, "left out: 'a', dates"),
        ({"a": pd.to_datetime(["2001", "2002"]), "label": [0, 1]}, "left out: 'a', dates"),
        ({"a": [[1, 2], [3]], "label": [0, 1]}, "column 'a' has the type list.* neither a number"),
        ({"a": [1.0, 2.0], "label": ["u", None]}, "column 'label' has no label in row 2"),
        ({"a": [1.0, 2.0], "Label": ["u", "v"]}, "did you mean 'Label'"),
        ({"a": np.zeros(0), "label": np.zeros(0)}, "has columns but no rows"),
    ],
)
def test_bad_tables(load, columns, message):
    with pytest.raises(MaucError, match=message):
        load(columns)


@pytest.mark.parametrize(
    "days", [[datetime.date(1970, 1, 2), None], pd.to_datetime(["1970-01-02", None])]
)
def test_dates_that_are_kept_are_seconds(load, days):
    dataset = load({"a": days, "label": [0, 1]}, keep_ids=True)
    assert_array_equal(dataset.X, [[86400.0], [np.nan]])


YEARS = ["1500-01-01", "1969-12-31", None, "3000-01-01"]
SECONDS = np.array([-171664, -1, np.nan, 376200]) * 86400.0


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_dates_of_any_year_keep_their_order(load, unit, zone):
    days = pd.Series(np.array(YEARS, f"datetime64[{unit}]")).dt.tz_localize(zone)
    dataset = load({"a": days, "label": [0, 1, 0, 1]}, keep_ids=True)
    assert_array_equal(dataset.X.ravel(), SECONDS)


@pytest.mark.parametrize("dtype", ["date32[day][pyarrow]", "timestamp[us, UTC][pyarrow]"])
def test_days_and_durations_of_any_length(load, dtype):
    days = [day and datetime.date.fromisoformat(day) for day in YEARS]
    columns = {
        "days": days,
        "arrow": pd.Series(np.array(YEARS, "datetime64[us]")).astype(dtype),
        "times": np.array([day and (day - days[1]).days for day in days], "timedelta64[D]").astype(
            "timedelta64[us]"
        ),
        "label": [0, 1, 0, 1],
    }
    dataset = load(columns, keep_ids=True)
    assert_array_equal(dataset.X, np.column_stack([SECONDS, SECONDS, SECONDS + 86400]))


def test_columns_of_the_same_name(tmp_path):
    table = pa.table([[1], [2], [0]], names=["a", "a", "label"])
    with (
        (tmp_path / "data.feather").open("wb") as file,
        pyarrow.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table)
    with pytest.raises(MaucError, match="both have the name 'a'"):
        load_dataset(tmp_path / "data.feather", "label")
