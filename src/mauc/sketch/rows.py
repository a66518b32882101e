"""Rows for a sketch: tables in memory, sources by parts of their rows, and Dask data frames."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.data.columns import (
    SparseColumns,
    default_names,
    is_frame,
    is_wide,
    may_be_wide,
    value_columns,
)
from mauc.data.frames import has_number_columns
from mauc.data.source import ColumnSource
from mauc.data.validate import check_labels, check_number_frame, check_table, encode_labels
from mauc.engine.arrays import contiguous_columns, read_only, take_columns
from mauc.exceptions import MaucError
from mauc.io.objects import as_source, as_vector
from mauc.progress import track
from mauc.sketch.bins import Column

_PART_SHARE = 4  # of the memory, for the rows that are counted and for those that are read ahead
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}


class RowBatch(NamedTuple):
    """Rows with their classes."""

    X: Any  #: ndarray or csc_array of shape (n_rows, n_features), or a list of columns
    codes: np.ndarray  #: shape (n_rows,), int32
    is_rounded: np.ndarray | None = None  #: shape (n_features,), bool; known of copies as floats

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
        return sparse.issparse(self.X)

    def with_codes(self, slots: np.ndarray) -> "RowBatch":
        """Return the same rows with class k written as ``slots[k]``."""
        return self._replace(codes=slots[self.codes])

    def part(self, rows: slice) -> "RowBatch":
        """Return some of the rows."""
        X = self.X
        X = [values[rows] for values in X] if isinstance(X, list) else X[rows]
        return self._replace(X=X, codes=np.ascontiguousarray(self.codes[rows]))

    def as_floats(self) -> "RowBatch":
        """Return a copy of dense rows as floats, and sparse ones unchanged."""
        if self.is_sparse:
            return self
        XT, is_rounded = self._floats(slice(None))
        return self._replace(X=np.array(XT).T, is_rounded=is_rounded)

    def columns(self, chosen: slice, n_classes: int) -> list[Column]:
        """Return columns with the classes of their rows."""
        if not self.is_sparse:
            return [
                Column(values, self.codes, n_classes, None, bool(is_rounded))
                for values, is_rounded in zip(*self._floats(chosen), strict=True)
            ]
        X, class_counts, found = self.X, np.bincount(self.codes, minlength=n_classes), []
        for j in range(chosen.start, chosen.stop):
            part = slice(X.indptr[j], X.indptr[j + 1])
            values, is_rounded = ordered_floats(X.data[np.newaxis, part])
            codes = self.codes[X.indices[part]]
            zeros = class_counts - np.bincount(codes, minlength=n_classes)
            found.append(Column(values[0], codes, n_classes, zeros, bool(is_rounded[0])))
        return found

    def _floats(self, chosen):
        """Return dense columns as `ordered_floats` does."""
        if isinstance(self.X, list):
            columns = map(np.ascontiguousarray, self.X[chosen])
            parts = [ordered_floats(values[np.newaxis]) for values in columns]
            XT = read_only(np.concatenate([values for values, _ in parts]))
            return XT, np.concatenate([is_rounded for _, is_rounded in parts])
        XT, is_rounded = ordered_floats(take_columns(self.X, chosen))
        return XT, is_rounded if self.is_rounded is None else self.is_rounded[chosen]


class CheckedRows(NamedTuple):
    """Rows with class codes, the labels of these, and the number and names of the columns."""

    batch: RowBatch
    classes: np.ndarray
    n_features: int
    feature_names: np.ndarray | None


def check_rows(X: Any, y: Any, names: list[str] | None = None) -> CheckedRows:
    """Check a table in memory, or with `names` a list of columns, and encode its labels."""
    holder = BaseEstimator()  # is given the names of the columns
    if names is not None:
        y, n_features = check_labels(y), len(X)
    elif is_frame(X) and has_number_columns(X):
        frame, y = check_number_frame(X, y, estimator=holder, accept_infinite=True)
        n_features = frame.shape[1]
        X = [frame.column(j) for j in range(n_features)]
    else:
        X, y = check_table(
            X, y, estimator=holder, accept_sparse="csc", accept_infinite=True, dtype="numeric",
            keep_dates=True,
        )  # fmt: skip
        n_features = X.shape[1]
        X = SparseColumns(X).matrix if sparse.issparse(X) else X
    names = getattr(holder, "feature_names_in_", names)
    classes, codes, _ = encode_labels(np.asarray(y), min_classes=1)
    found = None if names is None else np.array(names, dtype=object)
    return CheckedRows(RowBatch(X, codes), classes, n_features, found)


def join_batches(batches: list[RowBatch]) -> list[RowBatch]:
    """Return the same rows with all copies as floats in one batch, the first."""
    floats = [rows for rows in batches if rows.is_rounded is not None]
    if len(floats) < 2:
        return batches
    XT = np.concatenate([rows.X.T for rows in floats], axis=1)
    codes = np.concatenate([rows.codes for rows in floats])
    is_rounded = np.any([np.asarray(rows.is_rounded) for rows in floats], axis=0)
    others = [rows for rows in batches if rows.is_rounded is None]
    return [RowBatch(XT.T, codes, is_rounded), *others]


def ordered_floats(XT: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of any type as floats in the same order, and which of them are rounded.

    A batch is converted without knowledge of the others, so the float of a value depends on that
    value alone. Where two different values share a float (whole numbers beyond 2**53, nanoseconds,
    extended precision) the column is rounded: equal floats may be different values. Missing
    values are NaN; the array, of shape (n_columns, n_rows), is contiguous and read-only.
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
    kind, unit = column.dtype.kind, np.datetime_data(column.dtype)[0]
    if unit in ("W", "D", "h", "m") or (kind == "M" and unit in ("Y", "M")):
        column = column.astype(f"{kind}8[s]")  # a month of a date has a first second
    unit, step = np.datetime_data(column.dtype)
    is_known, ticks, n_ticks = ~np.isnat(column), column.view(np.int64), _TICKS.get(unit, 1)
    if unit == "ns" and not (ticks[is_known] * step % 1000).any():
        ticks, step, n_ticks = ticks * step // 1000, 1, 10**6
    # Extended precision holds any ticks: the quotient depends on the instant, not on its unit.
    seconds = (ticks.astype(np.longdouble) * step / n_ticks).astype(np.float64)
    again = np.rint(seconds.astype(np.longdouble) * n_ticks / step)
    seconds[~is_known] = np.nan
    return seconds, bool((again != ticks)[is_known].any())


def as_row_source(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a Dask collection as a source, and anything else unchanged; labels as an array.

    Arrays on disk are not made sources: row-major ones would be transposed first.
    """
    return as_source(X) if is_of_dask(X) else X, as_vector(y)


def read_parts(source: ColumnSource, y: Any) -> Iterator[CheckedRows]:
    """Yield the rows of a source in parts within its memory, the next one read ahead."""
    labels = np.asarray(y)
    n, m = source.shape
    if len(labels) != n:
        raise MaucError(f"{source.name} has {n} rows, but y has {len(labels)} labels.")
    names = source.feature_names
    names = default_names(range(m)) if names is None else list(names)
    if source.is_text.any():
        raise MaucError(
            f"{source.name}: column {names[int(np.argmax(source.is_text))]!r} holds text, which "
            f"has no order to sketch; leave it out (drop), or read the data by columns."
        )
    parts, columns = parts_of_rows(source), np.arange(m)
    row_bytes = sum(kind.itemsize for kind in source.types)
    sizes = [row_bytes * (stop - start) for start, stop in parts]
    with ThreadPoolExecutor(1, "mauc-read") as reader:
        ahead = reader.submit(source.read_rows, *parts[0], columns)
        for at, (start, stop) in enumerate(track(parts, "parts of rows", n_bytes=sizes)):
            values = ahead.result()
            if at + 1 < len(parts):
                ahead = reader.submit(source.read_rows, *parts[at + 1], columns)
            yield check_rows(values, labels[start:stop], names)
    source.check_unchanged()


def parts_of_rows(source: ColumnSource) -> list[tuple[int, int]]:
    """Return the ranges of rows that are read at once: two of them take half of the memory."""
    return source.parts_within(source.memory // _PART_SHARE)


def is_of_dask(data: Any) -> bool:
    """Whether data are a collection of Dask, which is not imported."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
