"""Rows for a sketch: tables in memory, and sources by parts of their rows."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauc.data.arguments import MatrixLike
from mauc.data.columns import (
    Columns,
    DenseColumns,
    as_floats,
    contiguous_columns,
    default_names,
    float_columns,
)
from mauc.data.door import FitOptions, check_input
from mauc.data.doubles import merges_values, warn_of_merged
from mauc.data.frames import as_block
from mauc.data.labels import check_labels, encode_labels
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.io.objects import as_source, as_vector
from mauc.progress import track
from mauc.results import plural

_PART_SHARE = 6  # of the memory: rows at work, as read and as floats, and those that are read ahead


class RowBatch(NamedTuple):
    """Rows with their classes."""

    table: Columns  #: in memory
    codes: np.ndarray  #: shape (n_rows,), int32

    def part(self, rows: slice) -> "RowBatch":
        """Return some of the rows."""
        return RowBatch(self.table.take_rows(rows), np.ascontiguousarray(self.codes[rows]))

    def as_floats(self) -> "RowBatch":
        """Return a copy as floats."""
        return self._replace(table=DenseColumns(np.array(self.table.floats(slice(None))).T))

    def columns(self, chosen: slice) -> np.ndarray:
        """Return columns of floats, shape (n_chosen, n_rows), for the block at hand only."""
        return self.table.block(
            chosen, lambda XT: float_columns(contiguous_columns(XT, is_scratch=True))
        )


def join_batches(batches: list[RowBatch]) -> RowBatch:
    """Return rows in one batch of floats."""
    if len(batches) == 1:
        return batches[0]
    XT = np.concatenate([rows.table.floats(slice(None)) for rows in batches], axis=1)
    return RowBatch(DenseColumns(XT.T), np.concatenate([rows.codes for rows in batches]))


def as_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a Dask collection as a source, and anything else unchanged; labels as an array."""
    return as_source(X) if is_of_dask(X) else X, as_vector(y)


def is_of_dask(data: object) -> bool:
    """Whether data are a collection of Dask, which is not imported."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")


def check_rows(
    X: MatrixLike, y: ArrayLike
) -> Iterator[tuple[RowBatch, np.ndarray, np.ndarray | None]]:
    """Yield rows with codes, labels and names of the columns; of a source in parts."""
    if isinstance(X, ColumnSource):
        yield from _read_parts(X, check_labels(y))
        return
    checked = check_input(X, y, FitOptions())
    yield _encode(checked.columns, checked.y, checked.names)


def _encode(
    table: Columns, y: np.ndarray, names: np.ndarray | None
) -> tuple[RowBatch, np.ndarray, np.ndarray | None]:
    """Return rows with codes, labels and names."""
    classes, codes, _ = encode_labels(y, min_classes=1)
    return RowBatch(table, codes), classes, names


def _read_parts(
    source: ColumnSource, labels: np.ndarray
) -> Iterator[tuple[RowBatch, np.ndarray, np.ndarray | None]]:
    """Yield the rows of a source in parts, the next one read ahead."""
    n, m = source.shape
    if len(labels) != n:
        raise MaucError(
            f"{source.name} has {plural(n, 'row')}, but y has {plural(len(labels), 'label')}."
        )
    names = source.feature_names
    names = np.array(default_names(range(m)), object) if names is None else names
    if source.is_text.any():
        raise MaucError(
            f"{source.name}: column {names[int(np.argmax(source.is_text))]!r} holds text, which "
            f"has no order to sketch; leave it out (drop), or read the data by columns."
        )
    parts, columns = parts_of_rows(source), np.arange(m)
    row_bytes = sum(kind.itemsize for kind in source.types)
    sizes = [row_bytes * (stop - start) for start, stop in parts]
    is_warned = False
    with ThreadPoolExecutor(1, "mauc-read") as reader:
        ahead = reader.submit(source.read_rows, *parts[0], columns)
        for at, (start, stop) in enumerate(track(parts, "parts of rows", n_bytes=sizes)):
            values = ahead.result()
            if at + 1 < len(parts):
                ahead = reader.submit(source.read_rows, *parts[at + 1], columns)
            if not is_warned and (merged := [j for j in columns if merges_values(values[j])]):
                is_warned = True
                warn_of_merged(source.name, names[merged], is_all=False)
            values = [as_floats(one) if one.dtype.kind in "mM" else one for one in values]
            table = DenseColumns(as_block(values, stop - start, float_columns).T)
            yield _encode(table, labels[start:stop], names)
    source.check_unchanged()


def parts_of_rows(source: ColumnSource) -> list[tuple[int, int]]:
    """Return the ranges of rows that are read at once."""
    return source.parts_within(source.memory // _PART_SHARE)
