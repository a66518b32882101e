"""Judge columns that are not in memory by their first rows: which may be no features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER
from mauc.datasets.left_out import MAX_MISSING, MIN_ROWS, column_reason, is_id_name

if TYPE_CHECKING:
    import pandas as pd

N_FIRST = 1024  # rows that are looked at
_MIN_VARIETY = 0.5  # share of distinct texts from which a column may name its rows


def may_be_left_out(first: "pd.Series[Any]", name: str, place: int) -> bool:
    """Whether the first rows of a column leave it open that `column_reason` leaves it out.

    A column that is nearly empty below its first rows is not noticed, nor are texts that begin to
    differ there: `late_reason` looks for them when the column is read.

    Parameters
    ----------
    first : Series of shape (n_first,)
        As `column_reason` takes it.
    name : str
    place : int
        Its number in the table.
    """
    import pandas as pd

    types = pd.api.types
    if len(first) < MIN_ROWS:
        return True
    known = first.dropna()
    if len(known) < MIN_ROWS or len(known) < 2 * (1 - MAX_MISSING) * len(first):
        return True
    if str(first.dtype) == "category" or not types.is_numeric_dtype(first.dtype):
        distinct = int(known.nunique())
        is_varied = distinct >= _MIN_VARIETY * len(known)
        return distinct < 2 or is_varied or column_reason(first, name, place) is not None
    if types.is_bool_dtype(first.dtype):
        return int(known.nunique()) < 2
    values = known.to_numpy()
    if name == f"column{place + 1}" or is_id_name(name, is_range=True) or "date" in name.lower():
        return bool((values == np.floor(values)).all())
    is_wide = bool((np.abs(values.astype(np.float64)) > MAX_EXACT_INTEGER).all())
    return bool((values == values[0]).all() or (np.diff(values) == 1).all() or is_wide)


def late_reason(column: "pd.Series[Any]", name: str, place: int) -> str | None:
    """Return why a column whose first rows look like a feature is none, as `column_reason` does.

    Parameters
    ----------
    column : Series of shape (n_samples,)
    name : str
    place : int
    """
    if column.dtype.kind in "iub":
        return None
    if column.dtype.kind == "f":
        n_known = len(column) - int(np.isnan(column.to_numpy()).sum())
        if n_known >= (1 - MAX_MISSING) * len(column):
            return None
    return column_reason(column, name, place)
