"""Numbers beyond float64: which values it does not hold, and a warning where it makes some equal.

All values are read as float64. That is no loss of order but for integers beyond 2**53, long
doubles, decimals, and dates to the nanosecond, whose seconds since 1970 are of 0.2 microseconds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import as_floats, is_frame, is_polars
from mauc.data.frames import is_number_type, is_uniform, pandas_values, polars_values
from mauc.data.labels import MAX_EXACT_INTEGER
from mauc.data.nominal import get_column
from mauc.exceptions import TinyUnitsWarning, format_labels, warn_user
from mauc.results import plural

_MAX_MICROSECONDS = 2**52  # since 1970, up to which their floats in seconds differ
_NARROW = {f"{kind}{n}" for kind in ("int", "uint", "float") for n in (8, 16, 32)}
_NARROW |= {"bool", "boolean", "float64", "float", "double", "category", "str", "string"}


def warn_of_merged_values(X: Any, name: str = "X") -> None:
    """Warn where values of an array, sparse matrix or frame that differ are the same float64."""
    merged = find_merged(X)
    if merged and len(X.shape) == 1:
        warn_of_merged(name)
    elif merged:
        warn_of_merged(name, [X.columns[j] for j in merged] if is_frame(X) else merged)


def warn_of_merged(
    name: str, columns: Sequence[Any] | np.ndarray = (), *, is_all: bool = True
) -> None:
    """Warn of values that float64 makes equal, in the columns of a table that are named.

    `is_all` says that no others are left to look at.
    """
    of_columns = ""
    if len(columns):
        of_columns = f" in {plural(len(columns), 'column')} ({format_labels(columns)})"
        of_columns += "" if is_all else ", and maybe in further ones,"
    warn_user(
        f"{name}: some values{of_columns} differ by less than float64 holds, and count as equal; "
        f"subtract what they share, or pass them as categories.",
        TinyUnitsWarning,
    )


def find_merged(X: Any) -> list[int]:
    """Return the columns of a table in which values that differ are the same float64."""
    if is_frame(X):
        if is_uniform(X):
            return find_merged(X.to_numpy()) if _is_wide(X.dtypes.iloc[0]) else []
        wide = {kind for kind in set(X.dtypes) if _type_name(kind) not in _NARROW}
        return [
            j
            for j, kind in enumerate(X.dtypes if wide else [])
            if kind in wide and merges_values(_exact_values(get_column(X, j), is_polars(X)))
        ]
    if not _is_wide(X.dtype):
        return []
    if sparse.issparse(X):
        # A zero, which is not stored, is equal to no other number.
        X = sparse.csc_array(X)
        if X.dtype.kind in "iuf" and not is_beyond_doubles(X.data):
            return []
        ends = X.indptr[1:].tolist()
        stored = zip(X.indptr[:-1].tolist(), ends, strict=True)
        return [j for j, (a, b) in enumerate(stored) if merges_values(X.data[a:b])]
    if X.dtype.kind in "iuf" and not is_beyond_doubles(X):
        return []
    columns = [X] if len(X.shape) == 1 else X.T
    return [j for j, values in enumerate(columns) if merges_values(values)]


def merges_values(values: np.ndarray) -> bool:
    """Whether values of a column that differ are the same float64, as seconds if they are dates."""
    kind = values.dtype.kind
    if kind == "O":
        return _merges_objects(values)
    if not _is_wide(values.dtype):
        return False
    if kind in "mM":
        unit = np.datetime_data(values.dtype)[0]
        if unit == "generic":  # integers
            return merges_values(values.view(np.int64)[~np.isnat(values)])
        values = values[~np.isnat(values)]
        micros = values.astype(f"{kind}8[us]")
        ticks = micros.view(np.int64)
        is_coarse = bool((micros == values).all())
        if is_coarse and max(ticks.max(initial=0), -ticks.min(initial=0)) < _MAX_MICROSECONDS:
            return False
    elif not is_beyond_doubles(values):
        return False
    return len(np.unique(values)) > len(np.unique(as_floats(values)))


def is_beyond_doubles(values: np.ndarray) -> bool:
    """Whether float64 does not hold all of the numbers."""
    if values.size == 0:
        return False
    if values.dtype.kind in "iu":
        return bool(values.max() > MAX_EXACT_INTEGER or values.min() < -MAX_EXACT_INTEGER)
    with np.errstate(over="ignore"):
        held = values.astype(np.float64)
    return bool(((held != values) & (values == values)).any())


def _is_wide(kind: np.dtype) -> bool:
    """Whether float64 may not hold values of a type of NumPy."""
    return kind.kind in "OmM" or kind.itemsize > 8 or (kind.kind in "iu" and kind.itemsize == 8)


def _merges_objects(values: np.ndarray) -> bool:
    """Whether Python's numbers that differ are the same float64; False if not all are numbers."""
    items = values.tolist()
    if set(map(type, items)) <= {float, bool, type(None)}:
        return False
    try:
        distinct = {value for value in items if value == value and value is not None}
        return len(distinct) > len(set(map(float, distinct)))
    except (TypeError, ValueError, ArithmeticError):
        return False


def _exact_values(column: Any, is_of_polars: bool) -> np.ndarray:
    """Return the known values of a column of a data frame in a type that holds them."""
    if hasattr(column, "sparse"):
        return column.sparse.to_dense().to_numpy()
    if is_number_type(column.dtype):
        if is_of_polars:
            return polars_values(column.drop_nulls())
        return pandas_values(column.dropna())
    return np.fromiter(column.to_list(), object, len(column))


def _type_name(kind: Any) -> str:
    """Return the name of the type of a column without its unit, time zone or package."""
    return str(kind).lower().partition("[")[0].partition("(")[0]
