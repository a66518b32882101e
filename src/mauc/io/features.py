"""The features of a table: raw columns in, numbers and categories out, in memory or not."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.doubles import is_beyond_doubles
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, option
from mauc.io.dataset import MAX_DENSE_CELLS, ConvertedColumns
from mauc.io.table import Table, check_precision
from mauc.memory import check_memory

Array = np.ndarray[Any, Any]


class HeldColumns(ColumnSource):
    """Some columns of a source, read into memory at once; they keep their numbers."""

    def __init__(self, source: ColumnSource, columns: Sequence[int]) -> None:
        super().__init__(
            source.name,
            source.shape[0],
            source.types,
            feature_names=source.feature_names,
            memory=source.memory,
        )
        n_rows, width = source.shape[0], sum(source.types[j].itemsize for j in columns)
        check_memory(
            2 * n_rows * width,
            f"{source.name}: {n_rows:,} rows of {len(columns):,} columns",
            f"read them in blocks ({option('open_columns')})",
        )
        self.arrow_types: Any = getattr(source, "arrow_types", None)
        self._columns = dict(zip(columns, source.read(np.array(columns)), strict=True))
        source.check_unchanged()

    def read(self, columns: Array) -> list[Any]:
        """Return whole columns."""
        return [self._columns[int(j)] for j in columns]


class FeatureColumns(ConvertedColumns):
    """Features: numbers, dates as seconds (as they are if raw), the others as categories."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[int],
        categorical: Collection[int] = (),
        *,
        is_raw: bool = False,
    ) -> None:
        self._path, self._is_raw, self._categories = table.path, is_raw, table.categories
        self._is_named = table.is_named
        self._categorical = frozenset(categorical)
        names = [table.names[j] for j in columns]
        types = [self._type(table.names[j], j, table.source.types[j]) for j in columns]
        super().__init__(table.source, columns, types, names)

    def _type(self, name: str, j: int, kind: np.dtype[Any]) -> np.dtype[Any]:
        if j in self._categorical or name in self._categories:
            return np.dtype(object)
        if self._is_raw or kind.kind not in "bmM":
            return kind
        if kind.kind == "b":
            return np.dtype(object if self._is_named else np.uint8)
        return np.dtype(np.float64)

    def _convert(self, j: int, values: Any) -> Any:
        """Return a column as numbers or as a Series of categories."""
        import pandas as pd

        name, j = self.name_of(j), int(self._columns[j])
        kind, is_categorical = self._source.types[j], j in self._categorical
        if name in self._categories:
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            return pd.Series(pd.Categorical.from_codes(codes, list(self._categories[name])))
        if self._is_raw and not is_categorical:
            return values
        if hasattr(values, "iloc"):
            if str(values.dtype) == "category":
                return _in_order(values, self._source, j)
            return pd.Series(pd.Categorical(values))
        if kind.kind == "b" and values.dtype.kind != "b":  # with missing values
            codes = np.where(np.isnan(values), -1, values).astype(np.int8)
            found = pd.Categorical.from_codes(codes, categories=[False, True])
            return pd.Series(found.remove_unused_categories())
        if kind.kind == "b" and not self._is_named and not is_categorical:
            return values.astype(np.uint8)
        if is_categorical and values.dtype.char in "mg" and kind.kind in "iu":
            # Integers beyond float64 with missing values, see `exact_with_missing`, as floats.
            numbers = values.view(np.int64) if values.dtype.kind == "m" else values
            values = np.where(values == values, numbers.astype(np.float64), np.nan)
        if is_categorical or kind.kind == "b":
            return pd.Series(pd.Categorical(values))
        if kind.kind in "mM":
            return seconds(values)
        if kind.kind in "iu":
            _check_exact(self._path, name, values)
        return np.ascontiguousarray(values)


def feature_matrix(
    table: Table, source: ColumnSource, chosen: list[int], categorical: Collection[int] = ()
) -> Any:
    """Return the features of a table in memory: an array, or a frame if some are nominal."""
    import pandas

    matrix = getattr(table.source, "matrix", None)
    if matrix is not None:
        values = matrix[:, chosen]
        is_nominal = {j for j in chosen if j in categorical or table.names[j] in table.categories}
        if not is_nominal:
            _check_matrix(table, chosen, values)
            if sparse.issparse(values):
                return sparse.csr_array(values)
            return values.astype(np.uint8) if values.dtype.kind == "b" else values
        if sparse.issparse(values) and values.shape[0] * values.shape[1] > MAX_DENSE_CELLS:
            name = table.names[min(is_nominal)]
            raise MaucError(
                f"{table.path}: column {name!r} is nominal, and a sparse table of "
                f"{values.shape[0]} x {values.shape[1]} is too large to be made dense for it; "
                f"leave it out ({option('drop', name)})."
            )
    held = replace(table, source=source)
    features = FeatureColumns(held, chosen, categorical)
    columns = features.read(np.arange(len(chosen)))
    if any(hasattr(column, "cat") for column in columns):
        names = [table.names[j] for j in chosen]
        return pandas.DataFrame(dict(zip(names, columns, strict=True)), copy=False)
    return np.column_stack(columns)


def _check_matrix(table: Table, chosen: list[int], values: Any) -> None:
    """Raise if integers of a matrix are beyond what float64 holds."""
    if values.dtype.kind in "iu" and is_beyond_doubles(
        values.data if sparse.issparse(values) else values
    ):
        for at, j in enumerate(chosen):
            column = values[:, [at]]
            column = column.data if sparse.issparse(column) else column.ravel()
            check_precision(table.path, table.names[j], column.tolist())


def _in_order(column: Any, source: ColumnSource, j: int) -> Any:
    """Return a column whose categories are put in order if they are text of a file of Arrow."""
    types = getattr(source, "arrow_types", None) or ()
    if j >= len(types) or hasattr(types[j], "value_type"):  # a file may declare another order
        return column
    return column.cat.reorder_categories(column.cat.categories.sort_values())


def _check_exact(path: Any, name: str, values: Array) -> None:
    """Raise if integers are beyond what float64 holds."""
    if values.dtype.char in "mg":
        known = values[values == values]
        numbers = known.view(np.int64) if known.dtype.kind == "m" else known
        check_precision(path, name, map(int, numbers))
    elif values.dtype.kind in "iu" and is_beyond_doubles(values):
        check_precision(path, name, np.unique(values).tolist())


def seconds(values: Array) -> Array:
    """Return dates as seconds since 1970, and times as seconds; NaN where there is none."""
    if values.dtype.kind == "M":
        values = values - np.datetime64(0, "s")
    found: Array = values / np.timedelta64(1, "s")
    return found
