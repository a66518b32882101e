"""The features of a table that is not in memory: raw columns in, what `load_dataset` makes out."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.datasets.features import feature_column
from mauc.datasets.first_rows import N_FIRST, late_reason, may_be_left_out
from mauc.datasets.left_out import column_reason
from mauc.datasets.readers.table import Table, check_precision
from mauc.exceptions import LateLeftOutError
from mauc.parallel import track
from mauc.sources.large_columns import is_large, reason_by_parts

_HEAD_BYTES = 2**26  # of the first rows that are looked at together
Array = np.ndarray[Any, Any]


class FeatureColumns(ColumnSource):
    """The features of a table: numbers as they are, dates as seconds, the others as categories.

    Parameters
    ----------
    table : Table
        Names and where rows are; it holds no values.
    source : ColumnSource
        All columns of the table.
    places : sequence of int
        Columns that are features.
    marked : collection of int
        Columns that are nominal whatever they hold.
    unsettled : collection of int
        Columns that only by their first rows are features: `LateLeftOutError` is raised when one
        is read and proves to be none.
    """

    def __init__(
        self,
        table: Table,
        source: ColumnSource,
        places: Sequence[int],
        marked: Collection[int] = (),
        unsettled: Collection[int] = (),
    ) -> None:
        self._table, self._source = table, source
        self._read_like(source)
        self._places = np.asarray(places, np.int64)
        self._marked, self._unsettled = frozenset(marked), frozenset(unsettled)
        super().__init__(
            source.name, source.shape[0],
            [_feature_type(source.types[j], j in self._marked) for j in self._places],
            feature_names=[table.names[j] for j in self._places], memory=source.memory,
        )  # fmt: skip
        self.widths = np.maximum(self.widths, source.widths[self._places])

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        chosen = self._places[places]
        columns = self._source.read(chosen)
        for j, values in zip(chosen.tolist(), columns, strict=True):
            if j in self._unsettled:
                self._check_late(j, values)
        return self._features(chosen, columns)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns."""
        chosen = self._places[places]
        return self._features(chosen, self._source.read_rows(start, stop, chosen))

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()

    def _features(self, chosen: Array, columns: list[Any]) -> list[Any]:
        # Each column is let go as soon as it is converted.
        for at, j in enumerate(chosen.tolist()):
            columns[at] = self._feature(j, columns[at])
        return columns

    def _feature(self, j: int, values: Any) -> Any:
        table, kind = self._table, self._source.types[j]
        if j not in self._marked and not hasattr(values, "iloc") and kind.kind in "iuf":
            if values.dtype.char in "mg" or values.dtype.itemsize == 8:
                _check_exact(table, j, values)
            return values
        import pandas

        column = as_series(values, kind, is_declared=_is_declared(self._source, j))
        found = feature_column(table, j, column, is_marked=j in self._marked)
        is_category = isinstance(found, pandas.Categorical)
        return pandas.Series(found) if is_category else np.ascontiguousarray(found)

    def _check_late(self, j: int, values: Any) -> None:
        name = self._table.names[j]
        reason = late_reason(as_series(values, self._source.types[j]), name, j)
        if reason is not None:
            raise LateLeftOutError(
                f"{self.name}: column {name!r} is no feature ({reason}), though its first rows "
                f"look like one; leave it out (drop={name!r}), or keep it (keep_ids=True)."
            )


def find_features(
    table: Table,
    source: ColumnSource,
    places: Sequence[int],
    marked: Collection[int],
    *,
    settle: bool = False,
) -> tuple[list[int], dict[int, str], set[int]]:
    """Return which columns of a table that is not in memory are features.

    Their first rows decide about most columns; those that these leave open are read whole, one at
    a time.

    Parameters
    ----------
    table : Table
        Names; it holds no values.
    source : ColumnSource
    places : sequence of int
        Columns to look at.
    marked : collection of int
        Columns that are features in any case.
    settle : bool, default=False
        Whether to read all columns, so that none is unsettled.

    Returns
    -------
    kept : list of int
    reasons : dict of int to str
        The others, and why, as `mauc.datasets.left_out.find_left_out` has them.
    unsettled : set of int
        Those kept that only were looked at in their first rows.
    """
    reasons: dict[int, str] = {}
    unsettled: set[int] = set()
    open_ones: list[int] = []
    n_first = min(N_FIRST, source.shape[0])
    step = max(1, _HEAD_BYTES // (8 * n_first))
    looked_at = [j for j in places if j not in marked]
    for start in range(0, len(looked_at), step):
        part = looked_at[start : start + step]
        heads = source.read_rows(0, n_first, np.array(part))
        for j, head in zip(part, heads, strict=True):
            first = as_series(head, source.types[j])
            if n_first == source.shape[0] or source.types[j].kind == "M":
                reason = column_reason(first, table.names[j], j)
                if reason is not None:
                    reasons[j] = reason
            elif settle or may_be_left_out(first, table.names[j], j):
                open_ones.append(j)
            else:
                unsettled.add(j)
    sizes = [source.shape[0] * source.types[j].itemsize for j in open_ones]
    for j in track(open_ones, "columns", n_bytes=sizes):
        if is_large(source, j):
            reason = reason_by_parts(source, j, table.names[j])
        else:
            column = as_series(source.read(np.array([j]))[0], source.types[j])
            reason = column_reason(column, table.names[j], j)
        if reason is not None:
            reasons[j] = reason
    kept = [j for j in places if j not in reasons]
    return kept, {j: reasons[j] for j in sorted(reasons)}, unsettled


def as_series(values: Any, kind: np.dtype[Any], *, is_declared: bool = True) -> Any:
    """Return a column of a source as pandas would have read it.

    Parameters
    ----------
    values : ndarray or Series of shape (n_rows,)
    kind : dtype
        Type that the source names for the column.
    is_declared : bool, default=True
        Whether the order of categories is that of the file; they are sorted otherwise.
    """
    import pandas

    if hasattr(values, "iloc"):
        if is_declared or str(values.dtype) != "category":
            return values
        try:
            return values.cat.reorder_categories(values.cat.categories.sort_values())
        except TypeError:  # values that cannot be compared
            return values
    if kind.kind == "b" and values.dtype.kind != "b":  # with missing values
        codes = np.where(np.isnan(values), -1, values).astype(np.int8)
        found = pandas.Categorical.from_codes(codes, categories=[False, True])
        return pandas.Series(found.remove_unused_categories())
    if kind.kind in "iu" and values.dtype.char in "mg":  # beyond what float64 holds, some missing
        known = ~np.isnat(values) if values.dtype.kind == "m" else values == values
        numbers = values.view(np.int64) if values.dtype.kind == "m" else values
        return pandas.Series(np.where(known, numbers.astype(np.float64), np.nan))
    return pandas.Series(values, copy=False)


def _feature_type(kind: np.dtype[Any], is_marked: bool) -> np.dtype[Any]:
    if is_marked or kind.kind in "Ob":
        return np.dtype(object)
    return np.dtype(np.float64) if kind.kind in "mM" else kind


def _is_declared(source: ColumnSource, j: int) -> bool:
    """Whether a file declares the categories of a column, in an order of its own."""
    types = getattr(source, "arrow_types", None)
    return types is None or j >= len(types) or hasattr(types[j], "value_type")


def _check_exact(table: Table, j: int, values: Array) -> None:
    """Raise if integers are beyond what float64 holds."""
    if values.dtype.char in "mg":
        is_known = ~np.isnat(values) if values.dtype.kind == "m" else values == values
        values = values.view(np.int64) if values.dtype.kind == "m" else values
        check_precision(table.path, table.names[j], map(int, values[is_known]))
    elif values.dtype.kind in "iu" and len(values):
        check_precision(table.path, table.names[j], [int(values.max()), int(values.min())])
