"""v log v, as floats and in fixed point."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.engine.special import LN2, SHORT, log_table


@pytest.mark.parametrize("n", [1, 2, 10, 1000, 10**6])
def test_table_holds_v_log_v(n):
    logs, table, unit = log_table(n, 1.0)
    v = np.arange(len(table))
    wanted = np.array([c * math.log(c) if c else 0.0 for c in v.tolist()])
    assert_array_equal(logs, wanted)
    # half a unit by rounding to whole numbers, and the last digit of the float
    assert (abs(table / unit - wanted) <= 0.5 / unit + 2e-16 * wanted).all()
    assert 4 * abs(int(table[-1])) < 2**63


def test_bits_by_hand():
    logs, table, unit = log_table(8, LN2)
    assert_array_equal(logs[[0, 1, 2, 4, 8]], [0.0, 0.0, 2.0, 8.0, 24.0])
    assert_array_equal(table[[2, 8]], [2 * unit, 24 * unit])


def test_short_and_long_tables_agree_to_the_bit():
    short, long = log_table(SHORT - 1, 1.0)[0], log_table(SHORT, 1.0)[0]
    assert_array_equal(short, long[:SHORT])
