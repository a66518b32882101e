"""Columns of a data frame whose types differ: converted a block at a time, never all at once."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from mauc.data.columns import ColumnBlock, Columns, as_floats, is_frame, is_polars, with_missing
from mauc.data.nominal import find_nominal, get_column, is_categorical, replace_columns
from mauc.exceptions import LeftOutWarning, MaucError, format_labels, warn_user

_POLARS_TYPES = (
    "Boolean",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
    "Date",
    "Datetime",
    "Duration",
    "Time",
)
_POLARS_DATES = ("Date", "Datetime", "Duration")  # arrays of NumPy with NaT
_NO_DATES = (
    "New rows have new dates: make features of them, such as the month or the days since an event, "
    "or pass numbers."
)


class FrameColumns(Columns):
    """The numbers of a data frame; its `dtype` is float64 where booleans meet numbers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._is_polars = is_polars(frame)
        self.shape: tuple[int, int] = frame.shape
        # Columns that lie in the frame: they take no memory.
        self._views: dict[int, np.ndarray] = {}
        types = set()
        for j in range(frame.shape[1]):
            values = self.column(j)
            types.add(values.dtype)
            if values.base is not None:
                self._views[j] = values
        self.dtype: np.dtype = common_type(types)

    def column(self, j: int) -> np.ndarray:
        """Return the values of one column, without a copy where the frame allows it."""
        if j in self._views:
            return self._views[j]
        if self._is_polars:
            values = polars_values(self._frame.to_series(j))
        else:
            values = pandas_values(self._frame.iloc[:, j])
        return as_floats(values) if values.dtype.kind in "mM" else values

    def block(self, chosen: ColumnBlock, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return chosen columns as rows of an array, in the narrowest type that holds them."""
        columns = [self.column(j) for j in np.arange(self.shape[1])[chosen]]
        return as_block(columns, self.shape[0], convert)

    def take_rows(self, rows: np.ndarray | slice) -> "FrameColumns":
        """Return some of the rows, by their numbers."""
        return FrameColumns(self._frame[rows] if self._is_polars else self._frame.iloc[rows])

    def replace(self, values: dict[int, np.ndarray]) -> "FrameColumns":
        """Return the columns with others in place of some."""
        return FrameColumns(replace_columns(self._frame, values))


def as_block(
    columns: list[np.ndarray], n_samples: int, convert: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return columns of any types as rows of an array of the narrowest type that holds them."""
    types = {values.dtype for values in columns}
    if len(types) == 1:
        return convert(_stack(columns))
    # The type must not decide how values are rounded: that would depend on the block.
    out = np.empty((len(columns), n_samples), _float_type(types))
    for values, column in zip(out, columns, strict=True):
        values[:] = column
    return convert(out)


def _stack(columns: list[np.ndarray]) -> np.ndarray:
    """Return columns as rows of an array, without a copy if they are neighbours in one already."""
    first, step = columns[0], columns[0].nbytes
    if len(columns) == 1:
        return first[np.newaxis]
    start = first.__array_interface__["data"][0]
    is_view = all(
        column.base is not None
        and column.base is first.base
        and column.flags.c_contiguous
        and column.__array_interface__["data"][0] == start + j * step
        for j, column in enumerate(columns)
    )
    if not is_view:
        return np.stack(columns)
    shape, strides = (len(columns), len(first)), (step, first.itemsize)
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def has_number_columns(frame: Any) -> bool:
    """Whether columns are numbers or dates that are better read one by one than as an array."""
    kinds = set(frame.dtypes)
    return len(kinds) > 0 and not is_uniform(frame) and all(map(is_number_type, kinds))


def is_uniform(frame: Any) -> bool:
    """Whether all columns of a data frame are numbers of one type of NumPy: it is an array."""
    kinds = set(frame.dtypes)
    return len(kinds) == 1 and all(
        isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds
    )


def with_numbers(frame: Any) -> Any:
    """Return a frame whose decimals, objects, sparse and 128-bit columns are plain numbers.

    The others keep their types; what is not a number stays as it is, and so does a frame of sparse
    columns alone whose values are mostly 0.
    """
    kinds, found = list(frame.dtypes), {}
    if all(getattr(kind, "fill_value", None) == 0 for kind in kinds):
        return frame
    for j, kind in enumerate(kinds):
        if not is_number_type(kind):
            with suppress(TypeError, ValueError):
                found[j] = _numbers_of(get_column(frame, j))
    return replace_columns(frame, found) if found else frame


def _numbers_of(column: Any) -> np.ndarray:
    """Return a column as float64, whole numbers without missing ones as 64-bit integers."""
    import pandas as pd

    if hasattr(column, "sparse"):
        return column.sparse.to_dense().to_numpy()
    objects = np.fromiter(column.to_list(), object, len(column))
    if all(isinstance(value, int) and abs(value) < 2**63 for value in objects):
        return objects.astype(np.int64)
    return np.where(pd.isna(objects), np.nan, objects).astype(np.float64)


def dates_to_seconds(X: Any) -> Any:
    """Return X; dates and durations of an array or data frame are seconds, see `as_floats`."""
    if isinstance(X, np.ndarray):
        return as_floats(X) if X.dtype.kind in "mM" else X
    dated = _dated_columns(X) if is_frame(X) else []
    if not dated:
        return X
    values_of = polars_values if is_polars(X) else pandas_values
    return replace_columns(X, {j: as_floats(values_of(get_column(X, j))) for j in dated})


def leave_out_dates(X: Any, *, warns: bool = True) -> tuple[Any, np.ndarray]:
    """Return X with 0 in place of dates, times and durations, and their columns.

    It is what selectors make of tables in memory; a source has what it was opened with.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise MaucError(f"X must hold numbers, got dates or durations ({X.dtype}). {_NO_DATES}")
    dated = np.array(_dated_columns(X) if is_frame(X) else [], np.int64)
    if len(dated) == 0:
        return X, dated
    named = format_labels([X.columns[j] for j in dated])
    if len(dated) == X.shape[1]:
        raise MaucError(f"X must have a column that holds no dates or durations, got {named}.")
    if warns:
        warn_user(
            f"{len(dated)} of {X.shape[1]} columns hold dates or durations ({named}) and are left "
            f"out. {_NO_DATES}",
            LeftOutWarning,
        )
    return replace_columns(X, {j: np.zeros(len(X)) for j in dated.tolist()}), dated


def _dated_columns(frame: Any) -> list[int]:
    """Return the columns of a data frame that hold dates, times or durations."""
    dates = (*_POLARS_DATES, "Time")
    return [
        j
        for j, kind in enumerate(frame.dtypes)
        if getattr(kind, "kind", "O") in "mM" or _base_type(kind) in dates
    ]


def _base_type(kind: Any) -> str:
    """Return the name of a polars type without its unit and time zone."""
    return str(kind).partition("(")[0]


def is_number_type(kind: Any) -> bool:
    """Whether a type is one of numbers, dates or durations, and not of sparse ones."""
    is_known = _base_type(kind) in _POLARS_TYPES or getattr(kind, "kind", "O") in "biufmM"
    return is_known and not hasattr(kind, "fill_value")


def polars_values(series: Any) -> np.ndarray:
    """Return a column of numbers or dates of polars, see `FrameColumns.column`."""
    name = _base_type(series.dtype)
    if name == "Time":
        import polars as pl

        series, name = series.cast(pl.Duration("ns")), "Duration"
    if name in _POLARS_DATES or series.null_count() == 0 or name in ("Float32", "Float64"):
        return series.to_numpy()
    filled = series.fill_null(False if name == "Boolean" else 0)
    return with_missing(filled.to_numpy(), series.is_null().to_numpy())


def pandas_values(series: Any) -> np.ndarray:
    """Return a column of numbers or dates of pandas, see `FrameColumns.column`."""
    kind = series.dtype
    if isinstance(kind, np.dtype):
        return series.to_numpy()
    if kind.kind in "mM":
        if hasattr(kind, "numpy_dtype"):  # of Arrow
            if getattr(kind.pyarrow_dtype, "tz", None):
                series = series.dt.tz_convert("UTC").dt.tz_localize(None)
            series = series.astype(kind.numpy_dtype)
        return series.to_numpy(series.dtype.base)  # without its time zone
    is_missing = series.isna().to_numpy()
    if not is_missing.any():
        return series.to_numpy(kind.numpy_dtype)
    filled = series.fillna(False if kind.kind == "b" else 0)
    return with_missing(filled.to_numpy(kind.numpy_dtype), is_missing)


def common_type(types: Collection[Any]) -> np.dtype:
    """Return the type that holds the values of all types."""
    if any(kind.kind in "mM" for kind in types) or (len(types) > 1 and np.dtype(bool) in types):
        return np.dtype(np.float64)
    return np.result_type(*types)


def _float_type(types: set[np.dtype]) -> np.dtype:
    """Return the narrowest type of uint8, float32 and float64 that holds the values of all."""
    if types <= {np.dtype(bool), np.dtype(np.uint8)}:
        return np.dtype(np.uint8)
    is_narrow = all(
        kind.itemsize <= 2 or (kind.kind == "f" and kind.itemsize == 4) for kind in types
    )
    return np.dtype(np.float32 if is_narrow else np.float64)


def is_run(columns: Sequence[int] | np.ndarray) -> bool:
    """Whether columns follow each other."""
    return columns[-1] - columns[0] + 1 == len(columns) and (np.diff(columns) == 1).all()


def needs_types(frame: Any) -> bool:
    """Whether an array would lose the types of columns: categories, text, dates, 128 bits."""
    is_long = any(str(kind) in ("Int128", "UInt128") for kind in frame.dtypes)
    return is_long or len(_dated_columns(frame)) > 0 or bool(find_nominal(frame).any())


def take_columns(frame: Any, chosen: np.ndarray, kind: str = "default") -> Any:
    """Return columns of a data frame as one of the same kind, or the `kind` of ``set_output``."""
    if is_polars(frame):
        part = frame[:, chosen.tolist()]
        return _to_pandas(part) if kind == "pandas" else part
    part = frame.iloc[:, chosen]
    return _with_text_categories(part) if kind == "polars" else part


def _to_pandas(frame: Any) -> Any:
    """Return a data frame of polars as one of pandas."""
    import pandas as pd

    # DataFrame.to_pandas would need pyarrow.
    return pd.DataFrame({series.name: _pandas_column(series) for series in frame})


def _pandas_column(series: Any) -> Any:
    """Return a column of polars as what pandas makes the same column of."""
    import pandas as pd

    name = str(series.dtype)
    if is_categorical(series.dtype):
        # Categories of polars may be shared by frames; only an Enum declares its own.
        declared = series.dtype.categories.to_list() if name.startswith("Enum") else None
        return pd.Categorical(series.cast(str).to_list(), categories=declared)
    if series.null_count() and (name == "Boolean" or name.startswith(("Int", "UInt"))):
        return pd.array(series.to_list(), dtype=name.replace("Boolean", "boolean"))
    if name.startswith(("String", "Utf8")):
        return series.to_list()
    if name == "Time":
        import polars as pl

        series = series.cast(pl.Duration("ns"))
    return series.to_numpy()


def _with_text_categories(frame: Any) -> Any:
    """Return a pandas frame whose categories are strings; scikit-learn makes it one of polars."""
    frame = frame.copy(deep=False)
    for j, kind in enumerate(frame.dtypes):
        if is_categorical(kind) and not all(isinstance(v, str) for v in kind.categories):
            column = frame.iloc[:, j]
            texts = np.array([str(value) for value in kind.categories], dtype=object)
            frame.isetitem(j, column.cat.rename_categories(texts))
    return frame
