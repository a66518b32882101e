"""Columns of Dask collections, computed with the scheduler that is active, or on one worker."""

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from mauc.exceptions import MaucTypeError
from mauc.extras import optional_import
from mauc.problem.nominal import find_nominal
from mauc.problem.source import ColumnSource
from mauc.problem.stripe_memory import stripe_array
from mauc.sources.arrow_types import WORDS
from mauc.sources.frames import as_words, column_values

_PARTS = 8  # partitions that are computed together
Array = np.ndarray[Any, Any]


class DaskArraySource(ColumnSource):
    """Columns of a Dask array.

    Parameters
    ----------
    array : dask.array.Array of shape (n_samples, n_features)
    memory : int, optional
    """

    def __init__(self, array: Any, *, memory: int | None = None) -> None:
        if array.ndim != 2 or array.dtype.kind not in "biufmM":
            raise MaucTypeError(
                f"a Dask array must hold numbers in two dimensions (samples, features), got "
                f"{array.dtype} of shape {array.shape}."
            )
        if any(size != size for sizes in array.chunks for size in sizes):
            array = array.copy()
            array.compute_chunk_sizes()
        self._array = array
        self._edges = np.concatenate([[0], np.cumsum(array.chunks[0])]).astype(np.int64)
        kind = array.dtype.newbyteorder("=")
        super().__init__("the Dask array", array.shape[0], [kind] * array.shape[1], memory=memory)

    @property
    def collection(self) -> Any:
        """The Dask array."""
        return self._array

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns, a few blocks of rows at a time."""
        places = np.asarray(places)
        out = stripe_array((len(places), max(0, stop - start)), self.types[0])
        is_run = len(places) and bool((np.diff(places) == 1).all())
        chosen = slice(int(places[0]), int(places[-1]) + 1) if is_run else places
        for first, last in self._row_steps(start, stop):
            part = self._array[first:last, chosen].compute(scheduler=_scheduler())
            out[:, first - start : last - start] = np.asarray(part).T
        return list(out)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return the rows of the blocks."""
        edges = self._edges.tolist()
        return [(a, b) for a, b in pairwise(edges) if a < b]

    def _row_steps(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        edges = self._edges[::_PARTS].tolist()
        for first, last in zip(edges, [*edges[1:], self.shape[0]], strict=True):
            first, last = max(first, start), min(last, stop)
            if first < last:
                yield first, last


class DaskFrameSource(ColumnSource):
    """Columns of a Dask data frame; its partitions follow one another.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    memory : int, optional
    """

    def __init__(self, frame: Any, *, memory: int | None = None) -> None:
        self._frame = frame
        lengths = frame.map_partitions(len, meta=("n", "int64")).compute()
        self._edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        meta = frame._meta_nonempty
        found = find_nominal(meta)
        is_word = np.zeros(meta.shape[1], bool) if found is None else found
        types = [
            WORDS if word else column_values(meta.iloc[:0, j]).dtype
            for j, word in enumerate(is_word)
        ]
        super().__init__(
            "the Dask data frame", int(self._edges[-1]), types, feature_names=list(meta.columns),
            memory=memory,
        )  # fmt: skip

    @property
    def collection(self) -> Any:
        """The Dask data frame."""
        return self._frame

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns, a few partitions at a time."""
        pandas = optional_import("pandas", "Dask data frames")
        dask = optional_import("dask", "Dask data frames")
        numbers = [int(j) for j in places]
        first = max(0, int(np.searchsorted(self._edges, start, "right")) - 1)
        last = int(np.searchsorted(self._edges, stop, "left"))
        parts = self._frame[[self._frame.columns[j] for j in dict.fromkeys(numbers)]].to_delayed()
        pieces: dict[int, list[Any]] = {j: [] for j in numbers}
        for at in range(first, last, _PARTS):
            frames = dask.compute(*parts[at : min(at + _PARTS, last)], scheduler=_scheduler())
            for number, frame in enumerate(frames, at):
                edge = int(self._edges[number])
                rows = frame.iloc[max(0, start - edge) : max(0, stop - edge)]
                for place, j in enumerate(pieces):
                    pieces[j].append(rows.iloc[:, place])
        found = {}
        for j in list(pieces):
            column = _join(pandas, pieces.pop(j), self._frame._meta.iloc[:, j])
            found[j] = as_words(column) if self.types[j] == WORDS else column_values(column)
        return [found[j] for j in numbers]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return the rows of the partitions."""
        edges = self._edges.tolist()
        return [(a, b) for a, b in pairwise(edges) if a < b]


def holds_futures(source: ColumnSource) -> bool:
    """Whether a source is of a collection that lies on a cluster already (``persist``)."""
    from distributed.client import futures_of

    collection = getattr(innermost(source), "collection", None)
    return collection is not None and bool(futures_of(collection))


def is_dask(source: Any) -> bool:
    """Whether a source is of a Dask collection, or of some of its columns or rows."""
    return isinstance(innermost(source), DaskArraySource | DaskFrameSource)


def innermost(source: Any) -> Any:
    """Return the source whose columns or rows a source takes."""
    while hasattr(source, "_source"):
        source = source._source
    return source


def _scheduler() -> str | None:
    """Return who computes: this thread in a process that is a worker, otherwise who is active.

    A worker that waited for others, which wait for it, would wait for ever.
    """
    worker = sys.modules.get("distributed.worker")
    return "synchronous" if worker is not None and len(worker.Worker._instances) else None


def _join(pandas: Any, pieces: list[Any], empty: Any) -> Any:
    """Return the pieces of a column as one Series."""
    if not pieces:
        return empty
    if str(pieces[0].dtype) == "category":
        return pandas.Series(pandas.api.types.union_categoricals(pieces))
    return pandas.concat(pieces, ignore_index=True)
