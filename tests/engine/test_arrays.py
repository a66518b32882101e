"""Columns of any layout come out contiguous and unchanged; v log v, in floats and fixed point."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.data.columns import contiguous_columns, take_columns
from mauc.engine.arrays import LN2, SHORT, count_rows, log_table

LAYOUTS = {
    "C order": lambda X: X,
    "F order": np.asfortranarray,
    "some columns": lambda X: np.hstack((X, X))[:, 3 : 3 + X.shape[1]],
    "rows 1024 values apart": lambda X: np.tile(X, 1024)[:, :1024][:, : X.shape[1]],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "upside down": lambda X: X[::-1],
    "right to left": lambda X: X[:, ::-1],
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
}


@pytest.mark.parametrize("shape", [(1, 7), (130, 1), (131, 11), (300, 90)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_are_unchanged(rng, layout, dtype, shape):
    X = LAYOUTS[layout](rng.integers(0, 200, shape).astype(dtype))
    XT = contiguous_columns(X.T)
    assert XT.flags.c_contiguous
    assert not XT.flags.writeable
    assert XT.dtype == dtype
    assert_array_equal(XT, X.T)


@pytest.mark.parametrize(
    ("weights", "units", "step"),
    [
        ([2.0, 0, 4], [2, 0, 4], 1.0),
        ([0.1, 0, 0.3, 0.7], [1, 0, 3, 7], 0.1),
        ([0.5, 0.75], [2**42, 3 * 2**41], 2.0**-43),
        ([2.0**900, 2.0**-900], [2**43, 1], 2.0**857),
    ],
)
def test_weights_become_whole_numbers(weights, units, step):
    rows = count_rows(len(weights), np.array(weights))
    assert (rows.weights.tolist(), rows.n, rows.step) == (units, sum(units), step)


def test_logs_of_weights_have_the_bits_of_the_table():
    counts, weighted = np.arange(7), count_rows(2, np.array([2.0, 4.0]))
    assert_array_equal(weighted.fixed_logs(counts), count_rows(6).fixed_logs(counts))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("chosen", [[], [4], [2, 3, 4], [5, 0, 1, 9, 3], slice(2, 7)])
def test_chosen_columns(rng, layout, chosen):
    X = LAYOUTS[layout](rng.normal(size=(150, 10)))
    assert_array_equal(take_columns(X, chosen), X[:, chosen].T)


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
