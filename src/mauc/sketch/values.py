"""Columns of any type as floats that keep their order from one batch of rows to the next.

A batch is converted without knowledge of the others, so the float of a value depends on that value
alone. Where two different values share a float (whole numbers beyond 2**53, nanoseconds, extended
precision) the column is *rounded*: its order is right, but equal floats may be different values.
"""

import numpy as np

from mauc.data.columns import is_wide, may_be_wide, value_columns
from mauc.engine.arrays import contiguous_columns, read_only

_MAX_TICKS = 2**52  # of a date, up to which different dates have different floats of seconds
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
_EXACT_TICKS = ("ms", "us")


def sketch_columns(XT):
    """Convert a block of columns.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_rows)
        Of any numeric type; dates and durations too.

    Returns
    -------
    XT : ndarray of shape (n_columns, n_rows), float32 or float64
        Contiguous and read-only; missing values are NaN.
    is_rounded : ndarray of shape (n_columns,), bool
    """
    if XT.dtype.kind in "mM":
        converted = [_seconds(column) for column in XT]
        values = np.array([column for column, _ in converted]).reshape(XT.shape)
        return read_only(values), np.array([flag for _, flag in converted], bool)
    if not may_be_wide(XT.dtype):
        return value_columns(contiguous_columns(XT, is_scratch=True)), np.zeros(len(XT), bool)
    return value_columns(XT), np.array([is_wide(column) for column in XT], bool)


def _seconds(column):
    """Return dates or durations in seconds, and whether different ones may share a float."""
    unit, step = np.datetime_data(column.dtype)
    is_known = ~np.isnat(column)
    if column.dtype.kind == "M":
        if unit in ("Y", "M"):  # months have a first second, but no length in seconds
            unit, step, column = "s", 1, column.astype("datetime64[s]")
        column = column - np.zeros(1, column.dtype)  # ticks since 1970
    elif unit in ("Y", "M"):
        unit, step, column = "generic", 1, column.astype(f"timedelta64[{unit}]")
    n_ticks = _TICKS.get(unit, 1)
    if n_ticks == 1 and unit != "generic":
        column = column.astype("timedelta64[s]")
        step = 1
    ticks = column.view(np.int64)
    known = ticks[is_known]
    if unit == "ns" and step == 1 and not (known % 1000).any():
        ticks, known, unit, n_ticks = ticks // 1000, known // 1000, "us", 10**6
    # Extended precision holds any ticks: the quotient depends on the instant, not on its unit.
    seconds = (ticks.astype(np.longdouble) * step / n_ticks).astype(np.float64)
    seconds[~is_known] = np.nan
    is_exact = n_ticks == 1 or unit in _EXACT_TICKS
    is_large = len(known) and int(np.abs(known).max()) * step >= _MAX_TICKS
    return seconds, not is_exact or bool(is_large)
