"""Columns of any type as floats: which of them are rounded, and the same float in any unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.data.columns import as_floats
from mauc.sketch.rows import check_rows, may_round


def test_values_that_may_share_a_float_are_rounded():
    cases = {
        "nanoseconds": (np.array([10**18 + 1, 5]).view("datetime64[ns]"), True),
        "seconds in ns": (np.array([10**18, 5 * 10**9]).view("datetime64[ns]"), False),
        "days": (np.array(["2024-02-29", "NaT"], "datetime64[D]"), False),
        "years": (np.array(["1970", "1971"], "datetime64[Y]"), False),
        "large integers": (np.array([2**53 + 1, 0]), True),
        "integers": (np.array([2**53, 0]), False),
        "unsigned": (np.array([2**64 - 1, 0], np.uint64), True),
        "large integers, some missing": (np.array([2**60, 0]).view("timedelta64"), True),
        "durations": (np.array([7, 5]).view("timedelta64[h]"), False),
        "extended": (np.array([1, 1 + np.finfo(np.longdouble).eps], np.longdouble), True),
        "bytes": (np.array([7, 5], np.uint8), False),
    }
    for name, (values, wanted) in cases.items():
        if values.dtype.itemsize > 8 and np.finfo(np.longdouble).eps == np.finfo(float).eps:
            continue
        assert may_round(values) == wanted, name
        flags = [found[1] for found in check_rows(values[:, np.newaxis], [0, 1])]
        assert_array_equal(flags, [[wanted]])


@pytest.mark.parametrize("micros", [1577836800123457, -1, 1, 10**15 + 1])
def test_the_float_of_a_date_does_not_depend_on_its_unit(micros):
    in_micros = np.array([micros]).view("datetime64[us]")
    assert as_floats(in_micros) == as_floats(in_micros.astype("datetime64[ns]"))
    assert as_floats(in_micros)[0] == pytest.approx(micros / 1e6, rel=1e-15)
