"""Columns of Parquet files: projected, and decoded straight into the arrays that are worked on."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.io.arrow import (
    WORDS,
    ArrowColumns,
    ColumnFill,
    WideningFill,
    add_widths,
    arrow_table,
    feature_type,
    index_names,
    is_words,
    make_fills,
    numpy_type,
    storage_type,
    unify_schemas,
)
from mauc.io.files import (
    NO_PARTITION,
    File,
    FileSystem,
    check_unchanged,
    content_error,
    read_beginning,
    unreadable_error,
)
from mauc.io.formats import FORMATS
from mauc.io.options import ReadOptions
from mauc.io.table import Table

# Decoded bytes of one call of pyarrow: they lie in Arrow's memory beside the array they go to.
_CALL_BYTES = 2**21
_FILE_BYTES = 2**20  # of a stripe, that are worth opening a file
_MIN_BATCH = 2**16  # rows
_FEW = 8  # a part of a row group that is worth a reader of batches, at its beginning
_MAX_CHUNKS = 2**18  # column chunks in the footers that are kept, about 0.5 kB each
_MAX_OPEN = 256  # files
_OPENERS = 8  # footers that are read at once


def open_parquet(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open one or more Parquet files with the same columns."""
    system = FileSystem(str(path), options.storage_options)
    files = system.files(FORMATS["parquet"].endings)
    if system.is_local and len(files) == 1:
        file = Path(files[0].path)
        if read_beginning(file, 4) not in (b"PAR1", b"PARE"):
            raise content_error(file, "a Parquet file")
    source = ParquetSource(system, files, memory=memory)
    return arrow_table(source, source.index_names)


class ParquetSource(ArrowColumns):
    """Columns of one or more Parquet files with the same columns.

    `index_names` are the columns in which pandas keeps the index of a frame.
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
        may_miss = [j for j, name in enumerate(self._stored) if name in missing]
        add_widths(self, may_miss)
        #: columns whose statistics tell that no value is missing; a float may be NaN all the same
        self.complete = {j for j, kind in enumerate(types) if kind.kind in "iu"} - set(may_miss)

    def read_rows(self, start: int, stop: int, columns: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns; row groups without one of them are not touched."""
        numbers = [int(j) for j in columns]
        self.check_readable(numbers)
        # The order of the file is the order of reading; a column may be asked for twice.
        distinct = sorted({j for j in numbers if j < len(self._stored)})
        takers = make_fills([self.types[j] for j in distinct], max(0, stop - start))
        fills = dict(zip(distinct, takers, strict=True))
        if fills:
            for file, group, first, last in self._ranges(start, stop):
                self._read_group(file, group, first, last, fills)
        found = {j: fill.result() for j, fill in fills.items()}
        for j in set(numbers) - set(distinct):
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
        taker.add(column)


class Footer:
    """What is kept of every file: its schema, the rows of its row groups, and what may be missing.

    `first` is that of the first file, whose schema most files have. The statistics are only looked
    at if it `looks`: otherwise all integers may have missing values.
    """

    def __init__(self, reader: Any, first: "Footer | None", looks: bool) -> None:
        metadata = reader.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        self.schema = reader.schema_arrow
        self.group_rows = [group.num_rows for group in groups]
        is_known = first is not None and self.schema.equals(first.schema)
        self.whole: dict[str, int] = (
            first.whole if first and is_known else _whole_columns(self.schema)
        )
        self.missing: frozenset[str] = frozenset(
            name
            for name, leaf in self.whole.items()
            if not looks or any(_may_miss(group.column(leaf)) for group in groups)
        )


class Readers:
    """Open files, one for each thread that reads, as many as their footers allow to keep.

    Pickled without them.
    """

    def __init__(self, system: FileSystem) -> None:
        self._system = system
        self.words: list[str] = []
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: OrderedDict[File, list[Any]] = OrderedDict()
        self._footers: OrderedDict[File, Any] = OrderedDict()
        self._n_chunks = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"_system": self._system, "words": self.words}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    @contextmanager
    def borrow(self, file: File) -> Iterator[Any]:
        """Give out a pyarrow.parquet.ParquetFile that no other thread uses."""
        import pyarrow as arrow

        with self._lock:
            known = self._idle.get(file)
            reader = known.pop() if known else None
            footer = self._footers.get(file)
        try:
            if reader is None:
                reader = self._open(file, footer)
            yield reader
        except MaucError:
            raise
        except (FileNotFoundError, PermissionError) as error:
            raise unreadable_error(file.name, error) from error
        except (arrow.ArrowException, OSError) as error:
            raise self._broken(file, error) from error
        self._keep(file, reader)

    def _open(self, file: File, footer: Any) -> Any:
        import pyarrow.parquet as parquet

        return parquet.ParquetFile(
            self._system.open(file), metadata=footer, pre_buffer=not self._system.is_local,
            read_dictionary=self.words or None, page_checksum_verification=True,
        )  # fmt: skip

    def _broken(self, file: File, error: Exception) -> MaucError:
        try:
            check_unchanged(self._system, [file])
        except MaucError as changed:
            return changed
        return MaucError(
            f"{file.name} cannot be read as a Parquet file, it is truncated or damaged: "
            f"{str(error).rstrip('.')}."
        )

    def _keep(self, file: File, reader: Any) -> None:
        """Keep what was read last, within the limits."""
        with self._lock:
            if file not in self._footers:
                self._footers[file] = reader.metadata
                self._n_chunks += _n_chunks(reader.metadata)
            self._footers.move_to_end(file)
            self._idle.setdefault(file, []).append(reader)
            self._idle.move_to_end(file)
            while self._n_chunks > _MAX_CHUNKS and len(self._footers) > 1:
                known, footer = self._footers.popitem(last=False)
                self._n_chunks -= _n_chunks(footer)
                self._idle.pop(known, None)
            while len(self._idle) > _MAX_OPEN:
                self._idle.popitem(last=False)


def _n_chunks(footer: Any) -> int:
    return int(footer.num_columns * footer.num_row_groups)


def _may_miss(chunk: Any) -> bool:
    found = chunk.statistics
    return found is None or not found.has_null_count or bool(found.null_count)


def _whole_columns(schema: Any) -> dict[str, int]:
    """Return the columns of integers and booleans that may be missing, and their leaves."""
    from pyarrow import types

    found, leaf = {}, 0
    for field in schema:
        kind = storage_type(field.type)
        if field.nullable and (types.is_integer(kind) or types.is_boolean(kind)):
            found[field.name] = leaf
        leaf += _n_leaves(kind)
    return found


def read_footers(readers: Readers, files: Sequence[File]) -> list[Footer]:
    """Return the footers of files, in their order; prepare the readers for their columns."""

    def read(file: File, first: Footer | None = None) -> Footer:
        with readers.borrow(file) as reader:
            is_small = len(files) * _n_chunks(reader.metadata) <= _MAX_CHUNKS
            return Footer(reader, first, is_small)

    first = read(files[0])
    # Columns of strings are decoded as dictionaries.
    readers.words = [field.name for field in first.schema if numpy_type(field.type) == WORDS]
    readers._reset()
    with ThreadPoolExecutor(_OPENERS) as threads:
        return [first, *threads.map(lambda file: read(file, first), files[1:])]


def column_leaves(schema: Any, names: list[str]) -> list[list[int]]:
    """Return the leaves of a Parquet file that belong to each column.

    By number: pyarrow takes the dot in a name for a level of nesting.
    """
    edges = np.concatenate([[0], np.cumsum([_n_leaves(field.type) for field in schema])])
    leaves = {
        field.name: list(range(int(edges[j]), int(edges[j + 1]))) for j, field in enumerate(schema)
    }
    return [leaves[name] for name in names]


def _n_leaves(kind: Any) -> int:
    kind = storage_type(kind)
    from pyarrow import types

    if types.is_nested(kind):
        return sum(_n_leaves(kind.field(j).type) for j in range(kind.num_fields))
    return 1


class PartitionColumn:
    """A column in the names of folders, as in ``label=a/part-0.parquet``: one value per file.

    They are whole numbers if all `values` are.
    """

    def __init__(self, name: str, values: Sequence[str]) -> None:
        self.name = name
        known = sorted({value for value in values if value != NO_PARTITION})
        self._codes = np.array(
            [known.index(value) if value != NO_PARTITION else -1 for value in values], np.int32
        )
        is_whole = all(value.removeprefix("-").isdecimal() for value in known)
        self._categories: list[Any] = [int(value) for value in known] if is_whole else known

    def read(self, edges: np.ndarray[Any, Any], start: int, stop: int) -> Any:
        """Return the values of some rows as categories; the files begin at `edges`."""
        import pandas

        bounds = np.clip(edges, start, stop)
        codes = np.repeat(self._codes, np.diff(bounds))
        categories = pandas.Index(self._categories)
        if not categories.is_unique:  # 1 and 01
            found = pandas.Categorical([self._categories[i] if i >= 0 else None for i in codes])
            return pandas.Series(found)
        return pandas.Series(pandas.Categorical.from_codes(codes, categories=categories))


def partition_columns(files: Sequence[File], stored: set[str]) -> list[PartitionColumn]:
    """Return the columns that the names of folders hold, but for `stored` ones of the files."""
    wanted = [key for key, _ in files[0].parts]
    for file in files:
        found = [key for key, _ in file.parts]
        if found != wanted:
            raise MaucError(
                f"{file.name} lies in folders that name the columns {found}, but {files[0].name} "
                f"in folders that name {wanted}; files of one table need the same."
            )
    return [
        PartitionColumn(key, [file.parts[level][1] for file in files])
        for level, key in enumerate(wanted)
        if key not in stored
    ]
