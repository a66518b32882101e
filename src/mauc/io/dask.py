"""Columns of Dask collections, computed where they lie, or with the scheduler that is active."""

import sys
from itertools import pairwise
from typing import Any

import numpy as np

from mauc.data.nominal import find_nominal
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucTypeError
from mauc.extras import optional_import
from mauc.io.arrays import WORDS, as_words, column_values

_PARTS = 8  # partitions that are computed together
Array = np.ndarray[Any, Any]


class DaskSource(ColumnSource):
    """Columns of a Dask `collection`, whose blocks of rows begin at `edges`."""

    def __init__(
        self,
        collection: Any,
        name: str,
        lengths: Any,
        types: list[Any],
        *,
        names: Any = None,
        memory: int | None = None,
    ) -> None:
        self.collection = collection
        self._edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        super().__init__(name, self._edges[-1], types, feature_names=names, memory=memory)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return the rows of the blocks."""
        return [(a, b) for a, b in pairwise(self._edges.tolist()) if a < b]


class DaskArraySource(DaskSource):
    """Columns of a Dask array."""

    def __init__(self, array: Any, memory: int | None = None) -> None:
        if array.ndim != 2 or array.dtype.kind not in "biufmM":
            raise MaucTypeError(
                f"a Dask array must hold numbers in two dimensions (samples, features), got "
                f"{array.dtype} of shape {array.shape}."
            )
        _check_no_task(array, "the Dask array")
        if any(size != size for sizes in array.chunks for size in sizes):
            array = array.copy()
            dask = optional_import("dask", "Dask arrays")
            with dask.config.set(scheduler=home_of(array)):
                array.compute_chunk_sizes()
        types = [array.dtype.newbyteorder("=")] * array.shape[1]
        super().__init__(array, "the Dask array", array.chunks[0], types, memory=memory)

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns, a few blocks of rows at a time."""
        columns = np.asarray(columns)
        out = np.empty((len(columns), max(0, stop - start)), self.types[0])
        is_run = len(columns) and bool((np.diff(columns) == 1).all())
        chosen = slice(int(columns[0]), int(columns[-1]) + 1) if is_run else columns
        scheduler = scheduler_of(self.collection)
        for first, last in pairwise([*self._edges[:-1:_PARTS].tolist(), self.shape[0]]):
            first, last = max(first, start), min(last, stop)
            if first < last:
                part = self.collection[first:last, chosen].compute(scheduler=scheduler)
                out[:, first - start : last - start] = np.asarray(part).T
        return list(out)


class DaskFrameSource(DaskSource):
    """Columns of a Dask data frame; its partitions follow one another."""

    def __init__(self, frame: Any, memory: int | None = None) -> None:
        _check_no_task(frame, "the Dask data frame")
        meta = frame._meta_nonempty
        types = [
            WORDS if word else column_values(meta.iloc[:0, j]).dtype
            for j, word in enumerate(find_nominal(meta))
        ]
        lengths, names = part_lengths(frame), list(meta.columns)
        super().__init__(frame, "the Dask data frame", lengths, types, names=names, memory=memory)

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns, a few partitions at a time."""
        import pandas

        dask = optional_import("dask", "Dask data frames")
        numbers = [int(j) for j in columns]
        first = max(0, int(np.searchsorted(self._edges, start, "right")) - 1)
        last = int(np.searchsorted(self._edges, stop, "left"))
        frame = self.collection
        parts = frame[[frame.columns[j] for j in dict.fromkeys(numbers)]].to_delayed()
        pieces: dict[int, list[Any]] = {j: [] for j in numbers}
        for at in range(first, last, _PARTS):
            chosen = parts[at : min(at + _PARTS, last)]
            for number, part in enumerate(dask.compute(*chosen, scheduler=scheduler_of(frame)), at):
                edge = int(self._edges[number])
                rows = part.iloc[max(0, start - edge) : max(0, stop - edge)]
                for place, j in enumerate(pieces):
                    pieces[j].append(rows.iloc[:, place])
        found = {}
        for j in list(pieces):
            column = _join(pandas, pieces.pop(j), frame._meta.iloc[:, j])
            found[j] = as_words(column) if self.types[j] == WORDS else column_values(column)
        return [found[j] for j in numbers]


def part_lengths(frame: Any) -> list[int]:
    """Return the number of rows of each partition of a data frame; one column is computed."""
    column = frame[frame.columns[:1].tolist()]
    lengths = column.map_partitions(len, meta=("n", "int64"))
    return [int(n) for n in lengths.compute(scheduler=home_of(frame))]


def holds_futures(source: ColumnSource) -> bool:
    """Whether a source is of a collection that lies on a cluster already (``persist``)."""
    collection = getattr(innermost(source), "collection", None)
    return collection is not None and home_of(collection) is not None


def home_of(collection: Any) -> Any:
    """Return the client of the cluster that parts of a collection lie on, or None."""
    if "distributed" not in sys.modules:
        return None  # nor are there futures
    from distributed.client import futures_of

    return next((future.client for future in futures_of(collection)), None)


def is_dask(source: Any) -> bool:
    """Whether a source is of a Dask collection, or of some of its columns or rows."""
    return isinstance(innermost(source), DaskSource)


def innermost(source: Any) -> Any:
    """Return the source whose columns or rows a source takes."""
    while hasattr(source, "_source"):
        source = source._source
    return source


def _check_no_task(collection: Any, name: str) -> None:
    """Raise where a task would wait for other tasks, for ever if all threads do."""
    if home_of(collection) is None:
        return
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return
    raise MaucError(
        f"{name} lies on workers already (persist), and a task cannot wait for what they would "
        f"compute; give the collection as it was before persist, or compute it first."
    )


def scheduler_of(collection: Any) -> Any:
    """Return who computes parts of a collection: its own client, or None for who is active."""
    home = home_of(collection)
    if home is not None:
        return home
    # A worker computes itself: one that waits for others, which wait for it, waits for ever.
    module = sys.modules.get("distributed.worker")
    workers = () if module is None else module.Worker._instances
    is_worker = any(worker.status.name not in ("closed", "failed") for worker in list(workers))
    return "synchronous" if is_worker else None


def _join(pandas: Any, pieces: list[Any], empty: Any) -> Any:
    """Return the pieces of a column as one Series."""
    if not pieces:
        return empty
    if str(pieces[0].dtype) == "category":
        return pandas.Series(pandas.api.types.union_categoricals(pieces))
    return pandas.concat(pieces, ignore_index=True)
