"""Columns of any type as floats: the same value, the same float, in any batch and unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.sketch.rows import ordered_floats


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_dates_of_any_unit_are_seconds(unit):
    dates = np.array([["1969-12-31", "2024-02-29", "NaT"]], dtype=f"datetime64[{unit}]")
    seconds, is_rounded = ordered_floats(dates)
    assert_array_equal(seconds, [[-86400.0, 1709164800.0, np.nan]])
    assert not is_rounded[0]


@pytest.mark.parametrize("unit", ["Y", "M"])
def test_months_and_years_have_a_first_second(unit):
    seconds, is_rounded = ordered_floats(np.array([["1970", "1971"]], dtype=f"datetime64[{unit}]"))
    assert_array_equal(seconds, [[0.0, 365 * 86400.0]])
    assert not is_rounded[0]


def test_values_that_may_share_a_float_are_rounded():
    cases = {
        "nanoseconds": (np.array([[10**18 + 1, 5]]).view("datetime64[ns]"), True),
        "microseconds": (np.array([[10**15 + 1, 5]]).view("datetime64[us]"), False),
        "microseconds in ns": (np.array([[10**18 + 1000, 5000]]).view("datetime64[ns]"), False),
        "large integers": (np.array([[2**53 + 1, 0]]), True),
        "integers": (np.array([[2**53, 0]]), False),
        "unsigned": (np.array([[2**64 - 1, 0]], np.uint64), True),
        "durations": (np.array([[7, 5]]).view("timedelta64[h]"), False),
        "extended": (np.array([[1, 1 + np.finfo(np.longdouble).eps]], np.longdouble), True),
    }
    for name, (values, wanted) in cases.items():
        if values.dtype.itemsize > 8 and np.finfo(np.longdouble).eps == np.finfo(float).eps:
            continue
        XT, is_rounded = ordered_floats(values)
        assert is_rounded[0] == wanted, name
        assert XT.dtype == np.float64
        assert not XT.flags.writeable


def test_narrow_types_become_single_precision():
    for dtype in (bool, np.int8, np.uint16, np.float16, np.float32):
        XT, is_rounded = ordered_floats(np.array([[0, 1], [1, 1]]).astype(dtype))
        assert XT.dtype == np.float32
        assert_array_equal(XT, [[0, 1], [1, 1]])
        assert not is_rounded.any()
