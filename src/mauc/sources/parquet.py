"""Columns of Parquet files: projected, and decoded straight into the arrays that are worked on."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.sources.arrow_types import (
    WORDS,
    ColumnFill,
    add_widths,
    feature_type,
    is_words,
    make_fills,
    no_feature_error,
    numpy_type,
    storage_type,
)
from mauc.sources.files import File, FileSystem, check_unchanged
from mauc.sources.parquet_files import Readers, column_leaves, index_names, read_footers
from mauc.sources.partitions import partition_columns
from mauc.sources.schemas import WideningFill, unify_schemas

# Decoded bytes of one call of pyarrow: they lie in Arrow's memory beside the array they go to.
_CALL_BYTES = 2**21
_FILE_BYTES = 2**20  # of a stripe, that are worth opening a file
_MIN_BATCH = 2**16  # rows
_FEW = 8  # a part of a row group that is worth a reader of batches, at its beginning


class ParquetSource(ColumnSource):
    """Columns of one or more Parquet files with the same columns.

    Parameters
    ----------
    system : FileSystem
    files : sequence of File
    memory : int, optional

    Attributes
    ----------
    index_names : list of str
        Columns in which pandas keeps the index of a frame; they are no features.
    arrow_types : list of pyarrow.DataType
    type_errors : dict of str to MaucError
        Columns whose types in several files do not go together.
    """

    def __init__(
        self, system: FileSystem, files: Sequence[File], *, memory: int | None = None
    ) -> None:
        self._system, self._files = system, tuple(files)
        self._readers = Readers(system)
        footers = read_footers(self._readers, self._files)
        self._groups = [footer.group_rows for footer in footers]
        schemas = [footer.schema for footer in footers]
        stored, self.type_errors = unify_schemas([file.name for file in self._files], schemas)
        self._stored = list(stored)
        self.arrow_types = list(stored.values())
        # Places and types of the columns in each file; most files share them.
        shared: dict[Any, Any] = {}
        self._layouts = []
        for schema in schemas:
            if schema not in shared:
                kinds = [storage_type(schema.field(name).type) for name in self._stored]
                other = [
                    j
                    for j, kind in enumerate(kinds)
                    if kind != self.arrow_types[j] and not is_words(kind)
                ]
                shared[schema] = column_leaves(schema, self._stored), frozenset(other)
            self._layouts.append(shared[schema])
        self.index_names = index_names(schemas[0])
        counts = [sum(rows) for rows in self._groups]
        self._file_edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        # A file is opened for every stripe, which takes milliseconds where it has many columns.
        self.waits = not system.is_local
        self.stripe_bytes = max(self.stripe_bytes, _FILE_BYTES * len(self._files))
        self._partitions = partition_columns(self._files, set(self._stored))
        types = [feature_type(kind) for kind in self.arrow_types]
        super().__init__(
            system.address, int(self._file_edges[-1]),
            [*types, *(WORDS for _ in self._partitions)],
            feature_names=[*self._stored, *(column.name for column in self._partitions)],
            memory=memory,
        )  # fmt: skip
        missing = frozenset[str]().union(*(footer.missing for footer in footers))
        add_widths(self, [j for j, name in enumerate(self._stored) if name in missing])

    def read(self, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns; row groups without one of them are not touched."""
        numbers = [int(j) for j in places]
        stored = [j for j in numbers if j < len(self._stored)]
        for j in stored:
            if self._stored[j] in self.type_errors:
                raise self.type_errors[self._stored[j]]
            if numpy_type(self.arrow_types[j]) is None:
                raise no_feature_error(self.name, self._stored[j], self.arrow_types[j])
        # The order of the file is the order of reading; a column may be asked for twice.
        distinct = sorted(set(stored))
        fills = dict(
            zip(
                distinct,
                make_fills([self.types[j] for j in distinct], max(0, stop - start)),
                strict=True,
            )
        )
        if fills:
            for file, group, first, last in self._ranges(start, stop):
                self._read_group(file, group, first, last, fills)
        found = {j: fill.result() for j, fill in fills.items()}
        for j in numbers:
            if j >= len(self._stored):
                column = self._partitions[j - len(self._stored)]
                found[j] = column.read(self._file_edges, start, stop)
        return [found[j] for j in numbers]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return the rows of the row groups."""
        rows = [n for groups in self._groups for n in groups if n]
        edges = np.concatenate([[0], np.cumsum(rows)]).tolist()
        return list(pairwise(edges))

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        check_unchanged(self._system, self._files)

    def _ranges(self, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield file, row group and the first and last wanted row of it, numbered within it."""
        for file, groups in enumerate(self._groups):
            first = int(self._file_edges[file])
            for group, n in enumerate(groups):
                if n and first < stop and first + n > start:
                    yield file, group, max(start - first, 0), min(stop - first, n)
                first += n

    def _read_group(
        self, file: int, group: int, first: int, last: int, fills: dict[int, ColumnFill]
    ) -> None:
        """Add the rows [first, last) of a row group to all columns, a few columns per call."""
        places, other = self._layouts[file]
        n = self._groups[file][group]
        columns = list(fills)
        widths = [self.types[j].itemsize for j in columns]
        with self._readers.borrow(self._files[file]) as reader:
            position = 0
            while position < len(columns):
                end, size = position, 0
                while end < len(columns) and (
                    end == position or size + n * widths[end] <= _CALL_BYTES
                ):
                    size += n * widths[end]
                    end += 1
                chosen = columns[position:end]
                takers = [fills[j] for j in chosen]
                if other:
                    takers = [
                        self._widening(file, j, fill) if j in other else fill
                        for j, fill in zip(chosen, takers, strict=True)
                    ]
                indices = [i for j in chosen for i in places[j]]
                _decode(reader, group, indices, first, last, n, takers, size)
                position = end

    def _widening(self, file: int, j: int, fill: ColumnFill) -> ColumnFill:
        return WideningFill(fill, self.arrow_types[j], self._files[file].name, self._stored[j])


def _decode(
    reader: Any, group: int, indices: list[int], first: int, last: int, n: int,
    takers: list[ColumnFill], size: int,
) -> None:  # fmt: skip
    """Read columns of a row group and hand their chunks on."""
    is_long = size > 4 * _CALL_BYTES and len(takers) == 1
    if is_long or _FEW * last <= n:
        # One long column: never whole beside the array that it goes to. Few rows at the beginning:
        # the pages behind them are not decoded.
        step = min(max(_MIN_BATCH, _CALL_BYTES * n // size), last)
        row = 0
        for batch in reader.reader.iter_batches(
            step, row_groups=[group], column_indices=indices, use_threads=False
        ):
            begin, end = max(first - row, 0), min(last - row, len(batch))
            if begin < end:
                for column, taker in zip(batch.columns, takers, strict=True):
                    taker.add(column.slice(begin, end - begin))
            row += len(batch)
            if row >= last:
                break
        return
    table = reader.reader.read_row_group(group, column_indices=indices, use_threads=False)
    if (first, last) != (0, n):
        table = table.slice(first, last - first)
    for column, taker in zip(table.columns, takers, strict=True):
        taker.add_all(column)
