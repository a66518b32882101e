"""Rows for a sketch: tables in memory, sources by parts of their rows, and Dask data frames."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.data.columns import default_names, is_frame, is_wide, may_be_wide, value_columns
from mauc.data.frames import has_number_columns
from mauc.data.source import ColumnSource
from mauc.data.validate import check_labels, check_number_frame, check_table, encode_labels
from mauc.engine.arrays import contiguous_columns, read_only, take_columns
from mauc.exceptions import MaucError
from mauc.progress import track
from mauc.sketch.bins import Column
from mauc.sources import as_source, as_vector

_PART_SHARE = 4  # of the memory, for the rows that are counted and for those that are read ahead
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}


class RowBatch:
    """Checked rows of an array, sparse matrix, frame or list of columns, with their labels."""

    def __init__(self, X: Any, y: Any, names: list[str] | None = None):
        holder = BaseEstimator()  # is given the names of the columns
        if names is not None:
            y, self.shape = check_labels(y), (len(X[0]), len(X))
        elif is_frame(X) and has_number_columns(X):
            frame, y = check_number_frame(X, y, estimator=holder, accept_infinite=True)
            X, self.shape = [frame.column(j) for j in range(frame.shape[1])], frame.shape
        else:
            X, y = check_table(
                X, y, estimator=holder, accept_sparse="csc", accept_infinite=True,
                dtype="numeric", keep_dates=True,
            )  # fmt: skip
            self.shape = X.shape
        if names is None:
            names = getattr(holder, "feature_names_in_", None)
        self.is_sparse = sparse.issparse(X)
        if self.is_sparse:
            X = sparse.csc_array(X, copy=not X.has_canonical_format)
            X.sum_duplicates()
        self._X = X
        self._is_rounded = None  # known of copies as floats
        self.feature_names = None if names is None else np.array(names, dtype=object)
        self.classes, self.codes, _ = encode_labels(np.asarray(y), min_classes=1)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def nbytes(self) -> int:
        """Bytes of the values of an array."""
        return self._X.nbytes

    def class_counts(self, n_classes: int) -> np.ndarray:
        """Return the number of rows of each class."""
        return np.bincount(self.codes, minlength=n_classes)

    def with_codes(self, slots: np.ndarray) -> "RowBatch":
        """Return the same rows with class k written as ``slots[k]``."""
        return self._replaced(self._X, slots[self.codes], self._is_rounded)

    def part(self, rows: slice) -> "RowBatch":
        """Return some of the rows."""
        X = self._X
        X = [values[rows] for values in X] if isinstance(X, list) else X[rows]
        return self._replaced(X, np.ascontiguousarray(self.codes[rows]), self._is_rounded)

    def as_floats(self) -> "RowBatch":
        """Return a copy of dense rows as floats; sparse ones stay as they are."""
        if self.is_sparse:
            return self
        XT, is_rounded = self._floats(slice(0, self.shape[1]))
        return self._replaced(np.array(XT).T, self.codes, is_rounded)

    def columns(self, chosen: slice, n_classes: int) -> list[Column]:
        """Return columns with the classes of their rows."""
        if not self.is_sparse:
            return [
                Column(values, self.codes, n_classes, None, bool(is_rounded))
                for values, is_rounded in zip(*self._floats(chosen), strict=True)
            ]
        X, class_counts, found = self._X, self.class_counts(n_classes), []
        for j in range(chosen.start, chosen.stop):
            part = slice(X.indptr[j], X.indptr[j + 1])
            values, is_rounded = ordered_floats(X.data[np.newaxis, part])
            codes = self.codes[X.indices[part]]
            zeros = class_counts - np.bincount(codes, minlength=n_classes)
            found.append(Column(values[0], codes, n_classes, zeros, bool(is_rounded[0])))
        return found

    def _floats(self, chosen):
        """Return dense columns as `ordered_floats` does."""
        if isinstance(self._X, list):
            columns = map(np.ascontiguousarray, self._X[chosen])
            parts = [ordered_floats(values[np.newaxis]) for values in columns]
            XT = read_only(np.concatenate([values for values, _ in parts]))
            return XT, np.concatenate([is_rounded for _, is_rounded in parts])
        XT, is_rounded = ordered_floats(take_columns(self._X, chosen))
        return XT, is_rounded if self._is_rounded is None else self._is_rounded[chosen]

    def _replaced(self, X, codes, is_rounded):
        made = copy(self)
        made._X, made.codes, made._is_rounded = X, codes, is_rounded
        return made


def join_batches(batches: list[RowBatch]) -> list[RowBatch]:
    """Return the same rows with all copies as floats in one batch, the first."""
    floats = [rows for rows in batches if rows._is_rounded is not None]
    others = [rows for rows in batches if rows._is_rounded is None]
    if len(floats) < 2:
        return batches
    XT = np.concatenate([rows._X.T for rows in floats], axis=1)
    codes = np.concatenate([rows.codes for rows in floats])
    is_rounded = np.any([rows._is_rounded for rows in floats], axis=0)
    return [floats[0]._replaced(XT.T, codes, is_rounded), *others]


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
    """Return a Dask collection as a source, and whatever else as it is; labels as an array.

    Arrays on disk are not made sources: those that lie by rows would be transposed first.
    """
    return as_source(X) if is_of_dask(X) else X, as_vector(y)


def read_parts(source: ColumnSource, y: Any) -> Iterator[RowBatch]:
    """Yield the rows of a source in parts within its memory, the next one read ahead."""
    labels = np.asarray(y)
    n, m = source.shape
    if len(labels) != n:
        raise MaucError(f"{source.name} has {n} rows, but y has {len(labels)} labels.")
    names = source.feature_names
    names = default_names(range(m)) if names is None else list(names)
    if source.is_text.any():
        raise MaucError(
            f"{source.name}: column {names[int(np.argmax(source.is_text))]!r} holds words, which "
            f"have no order to sketch; leave it out (drop), or read the data by columns."
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
            yield RowBatch(values, labels[start:stop], names)
    source.check_unchanged()


def parts_of_rows(source: ColumnSource) -> list[tuple[int, int]]:
    """Return the ranges of rows that are read at once: two of them take half of the memory."""
    return source.parts_within(source.memory // _PART_SHARE)


def is_of_dask(data: Any) -> bool:
    """Whether data are a collection of Dask, which is not imported."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
