"""Give the columns of a table their types: numbers in one array, or a frame with categories."""

from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame, is_wide
from mauc.datasets.dataset import MAX_DENSE_CELLS
from mauc.datasets.readers.table import Table, check_precision
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


def feature_matrix(table: Table, chosen: list[int], marked: set[int]) -> Any:
    """Return the features of a table.

    Parameters
    ----------
    table : Table
    chosen : list of int
        Columns that are features.
    marked : set of int
        Those that are nominal whatever they hold.

    Returns
    -------
    X : ndarray, csr_array or DataFrame of shape (n_samples, n_chosen)
        A frame with categorical columns if there are nominal columns; columns of text and of
        booleans are nominal as well.
    """
    for j in chosen:
        if j not in marked:
            table.check_column(j)
    if is_frame(table.values):
        return _from_frame(table, chosen, marked)
    values = table.values[:, chosen]
    is_nominal = {j for j in chosen if j in marked or table.names[j] in table.categories}
    _check_wide(table, chosen, values, is_nominal)
    if not is_nominal:
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        return values
    return _from_matrix(table, chosen, values, is_nominal)


def _check_wide(table: Table, chosen: list[int], values: Any, is_nominal: set[int]) -> None:
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return
    if not is_wide(values.data if sparse.issparse(values) else values):
        return
    for place, j in enumerate(chosen):
        column = values[:, [place]]
        column = column.data if sparse.issparse(column) else column.ravel()
        if j not in is_nominal and is_wide(column):
            check_precision(table.path, table.names[j], column.tolist())


def _from_matrix(table: Table, chosen: list[int], values: Any, is_nominal: set[int]) -> Any:
    import pandas

    if sparse.issparse(values):
        if values.shape[0] * values.shape[1] > MAX_DENSE_CELLS:
            name = table.names[min(is_nominal)]
            raise MaucError(
                f"{table.path}: column {name!r} is nominal, and a sparse table of "
                f"{values.shape[0]} x {values.shape[1]} is too large to be made dense for it; "
                f"say drop={name!r}."
            )
        values = values.toarray()
    columns = {}
    for place, j in enumerate(chosen):
        name, column = table.names[j], values[:, place]
        if name in table.categories:
            codes = np.where(np.isnan(column), -1, column).astype(np.int64)
            declared = list(table.categories[name])
            columns[name] = pandas.Categorical.from_codes(codes, categories=declared)
        elif j in is_nominal:
            columns[name] = pandas.Categorical(column)
        else:
            columns[name] = column
    return pandas.DataFrame(columns)


def _from_frame(table: Table, chosen: list[int], marked: set[int]) -> Any:
    import pandas

    frame = table.values.iloc[:, chosen]
    kinds = [getattr(dtype, "kind", "O") for dtype in frame.dtypes]
    is_plain = all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)
    if not marked and is_plain and set(kinds) <= set("fiu"):
        for place, kind in enumerate(kinds):
            if kind in "iu":
                _check_wide(table, [chosen[place]], frame.iloc[:, [place]].to_numpy(), set())
        return frame.to_numpy()
    columns = {
        table.names[j]: feature_column(table, j, table.values.iloc[:, j], is_marked=j in marked)
        for j in chosen
    }
    if any(str(column.dtype) == "category" for column in columns.values()):
        return pandas.DataFrame(columns)
    return np.column_stack(list(columns.values()))


def feature_column(table: Table, j: int, column: "pd.Series[Any]", *, is_marked: bool) -> Any:
    """Return one column of a frame as numbers or as categories.

    Parameters
    ----------
    table : Table
        Its values are not looked at.
    j : int
        Number of the column, for errors.
    column : Series of shape (n_samples,)
    is_marked : bool
        Whether it is nominal whatever it holds.

    Returns
    -------
    values : ndarray or Categorical of shape (n_samples,)
    """
    import pandas as pd

    types = pd.api.types
    is_category = str(column.dtype) == "category" or types.is_bool_dtype(column.dtype)
    if is_marked or is_category or types.is_string_dtype(column):
        return pd.Categorical(column)
    if types.is_integer_dtype(column.dtype):
        known = column.dropna().to_numpy()
        _check_wide(table, [j], known[:, None], set())
        if len(known) == len(column):
            return known
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in "mM":
        return _seconds(column)
    if types.is_float_dtype(column.dtype):
        return column.to_numpy(
            dtype=column.dtype.numpy_dtype if hasattr(column.dtype, "numpy_dtype") else None,
            na_value=np.nan,
        )
    return _object_column(table, j, column)


def _seconds(column: "pd.Series[Any]") -> np.ndarray[Any, Any]:
    """Return dates as seconds since 1970, and times as seconds; NaN where there is none.

    The column keeps its unit: dates in nanoseconds would end in 2262.
    """
    import pandas as pd

    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert(None)
    values = column.to_numpy()
    if values.dtype.kind == "O":
        values = np.array([_plain_date(value) for value in values], dtype="datetime64[us]")
    if values.dtype.kind == "M":
        values = values - np.datetime64(0, "s")
    seconds: np.ndarray[Any, Any] = values / np.timedelta64(1, "s")
    return seconds


def _plain_date(value: Any) -> date | None:
    """Return a date without a time zone, None if it is missing."""
    if not isinstance(value, date) or value != value:  # NaT is a date
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _object_column(table: Table, j: int, column: "pd.Series[Any]") -> Any:
    import pandas as pd

    name = table.names[j]
    known = column.dropna()
    kinds = known.map(_kind)
    if len(known) == 0:
        return np.full(len(column), np.nan)
    if known.map(lambda value: isinstance(value, date)).all():
        return _seconds(column.astype(object))
    counts = kinds.value_counts()
    if "other" in counts:
        example = known[kinds == "other"].iloc[0]
        raise MaucError(
            f"{table.path}: column {name!r} holds values that are neither numbers nor text, such "
            f"as {str(example)!r} ({type(example).__name__}); turn them into numbers or say "
            f"drop={name!r}."
        )
    if len(counts) > 1:
        row = int(np.flatnonzero((column.map(_kind) == counts.index[-1]) & column.notna())[0])
        raise MaucError(
            f"{table.path}: column {name!r} mixes {' and '.join(counts.index)}; the first odd "
            f"value is {column.iloc[row]!r} in {table.locate_row(row)}. Correct it, or say "
            f"categorical_features={name!r}."
        )
    if counts.index[0] != "numbers":
        return pd.Categorical(column)
    check_precision(table.path, name, (value for value in known if isinstance(value, int)))
    return column.astype(object).map(float, na_action="ignore").to_numpy(dtype=np.float64)


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "booleans"
    return "numbers" if isinstance(value, Real | Decimal) else "other"
