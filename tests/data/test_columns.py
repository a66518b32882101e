"""Columns of any type for the kernels: numbers as doubles, dates as seconds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.data.columns import as_floats, float_columns, ordered_columns, with_missing

NAT = np.datetime64("NaT")


def test_numbers_are_read_as_doubles():
    XT = np.array([[1, 5, 3], [2**60, 2**60 + 1, 2**60 + 4096]])
    for convert in (ordered_columns, float_columns):
        assert_array_equal(convert(XT), XT.astype(float))


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
