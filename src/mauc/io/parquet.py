"""Columns of Parquet files: projected, and decoded straight into the arrays that are worked on."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mauc.exceptions import MaucError, option
from mauc.io.arrow import (
    WORDS,
    ArrowColumns,
    ColumnFill,
    add_widths,
    arrow_table,
    cut_batches,
    feature_type,
    index_names,
    is_words,
    numpy_type,
    reading,
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
)
from mauc.io.formats import FORMATS
from mauc.io.options import ReadOptions
from mauc.io.table import Table

# Decoded bytes of one call of pyarrow: they lie in Arrow's memory beside the array they go to.
_CALL_BYTES = 2**21
_FILE_BYTES = 2**20  # of a stripe, that are worth opening a file
_MIN_BATCH = 2**16  # rows
_FEW = 8  # a part of a row group that is worth a reader of batches, at its beginning
_MAX_CHUNKS = 2**18  # column chunks in the footers of open files, about 0.5 kB each
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
    """Columns of one or more Parquet files with the same columns."""

    def __init__(
        self, system: FileSystem, files: Sequence[File], *, memory: int | None = None
    ) -> None:
        self._system, self._files = system, tuple(files)
        self._readers, footers = read_footers(system, self._files)
        self._groups = [footer.group_rows for footer in footers]
        stored, self.type_errors = unify_schemas(
            [file.name for file in self._files], [footer.schema for footer in footers]
        )
        self._stored = list(stored)
        self.arrow_types: list[Any] = list(stored.values())
        # Leaves of the columns in each file, and which have another type; most files share them.
        shared: dict[int, Any] = {}  # by their leaves: schemas with metadata may have no hash
        for key, footer in {id(footer.leaves): footer for footer in footers}.items():
            leaves = footer.leaves
            kinds = [storage_type(footer.schema.field(name).type) for name in self._stored]
            pairs = enumerate(zip(kinds, self.arrow_types, strict=True))
            other = [j for j, (one, wider) in pairs if one != wider and not is_words(wider)]
            shared[key] = [leaves.get(name, -1) for name in self._stored], frozenset(other)
        self._layouts = [shared[id(footer.leaves)] for footer in footers]
        self.index_names: list[str] = index_names(footers[0].schema)
        counts = [sum(rows) for rows in self._groups]
        self._file_edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        # A file is opened for every stripe, which takes milliseconds where it has many columns.
        self.waits: bool = not system.is_local
        self.stripe_bytes: int = max(self.stripe_bytes, _FILE_BYTES * len(self._files))
        self._partitions = partition_columns(self._files, set(self._stored))
        types = [feature_type(kind) for kind in self.arrow_types]
        super().__init__(
            system.address,
            int(self._file_edges[-1]),
            [*types, *(WORDS for _ in self._partitions)],
            feature_names=[*self._stored, *self._partitions],
            memory=memory,
        )
        missing = set[str]().union(*(footer.missing for footer in footers))
        may_miss = [j for j, name in enumerate(self._stored) if name in missing]
        add_widths(self, may_miss)
        #: columns whose statistics tell that no value is missing; a float may be NaN all the same
        self.complete: set[int] = {j for j, kind in enumerate(types) if kind.kind in "iu"} - set(
            may_miss
        )

    def _fill(self, start: int, stop: int, fills: dict[int, ColumnFill]) -> None:
        for file, group, first, last in self._ranges(start, stop) if fills else ():
            self._read_group(file, group, first, last, fills)

    def _read_partition(self, j: int, start: int, stop: int) -> Any:
        import pandas

        values = self._partitions[self.name_of(j)]  # one per file
        n_rows = np.diff(np.clip(self._file_edges, start, stop)).astype(np.int64)
        return pandas.Series(values.take(np.repeat(np.arange(len(values)), n_rows)))

    def row_parts(self) -> list[tuple[int, int]]:
        """Return the rows of the row groups."""
        rows = [n for groups in self._groups for n in groups if n]
        return list(pairwise(np.cumsum([0, *rows]).tolist()))

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
        leaves, other = self._layouts[file]
        n, columns = self._groups[file][group], list(fills)
        width = max(self.types[j].itemsize for j in columns)
        step = max(1, _CALL_BYTES // (n * width))
        with self._readers.borrow(self._files[file]) as reader:
            for at in range(0, len(columns), step):
                chosen = columns[at : at + step]
                adders = [
                    partial(self._add_cast, file, j, fills[j]) if j in other else fills[j].add
                    for j in chosen
                ]
                indices = [leaves[j] for j in chosen]
                _decode(reader, group, indices, first, last, n, adders, n * width * len(chosen))

    def _add_cast(self, file: int, j: int, fill: ColumnFill, chunk: Any) -> None:
        """Take values of another type than the whole column has, exactly or not at all."""
        import pyarrow as arrow

        kind, column = self.arrow_types[j], self._stored[j]
        try:
            fill.add(chunk.cast(kind))  # checks that nothing is lost
        except arrow.ArrowInvalid as error:
            raise MaucError(
                f"{self._files[file].name}: column {column!r} is {chunk.type} here and {kind} "
                f"together with the other files, which does not hold all its values ({error}); "
                f"write it with one type in all files, or leave it out ({option('drop', column)})."
            ) from error


def _decode(
    reader: Any,
    group: int,
    indices: list[int],
    first: int,
    last: int,
    n: int,
    adders: Sequence[Callable[[Any], None]],
    size: int,
) -> None:
    """Read columns of a row group and hand their chunks on."""
    is_long = size > 4 * _CALL_BYTES and len(adders) == 1
    if not is_long and _FEW * last > n:
        table = reader.reader.read_row_group(group, column_indices=indices, use_threads=False)
        for column, add in zip(table.slice(first, last - first).columns, adders, strict=True):
            add(column)
        return
    # One long column: never whole beside the array that it goes to. Few rows at the beginning:
    # the pages behind them are not decoded.
    step = min(max(_MIN_BATCH, _CALL_BYTES * n // size), last)
    batches = reader.reader.iter_batches(
        step, row_groups=[group], column_indices=indices, use_threads=False
    )
    for columns in cut_batches(batches, 0, first, last):
        for column, add in zip(columns, adders, strict=True):
            add(column)


class Readers:
    """Open files, each for one thread at a time, kept as far as their footers allow."""

    def __init__(self, system: FileSystem, words: Sequence[str] = ()) -> None:
        self._system, self._words = system, list(words)
        self._lock = threading.Lock()
        self._idle: list[tuple[File, Any]] = []  # the one that was used last at the end

    def __reduce__(self) -> Any:
        return Readers, (self._system, self._words)

    @contextmanager
    def borrow(self, file: File) -> Iterator[Any]:
        """Give out a pyarrow.parquet.ParquetFile that no other thread uses."""
        with self._lock:
            known = [at for at, (held, _) in enumerate(self._idle) if held == file]
            opened = self._idle.pop(known[-1])[1] if known else None
        check = partial(check_unchanged, self._system, [file])
        with reading(file.name, check, " as a Parquet file"):
            if opened is None:
                opened = self._open(file)
            yield opened
        with self._lock:
            self._idle.append((file, opened))
            n_chunks = sum(_n_chunks(held.metadata) for _, held in self._idle)
            while len(self._idle) > 1 and (n_chunks > _MAX_CHUNKS or len(self._idle) > _MAX_OPEN):
                n_chunks -= _n_chunks(self._idle.pop(0)[1].metadata)

    def _open(self, file: File) -> Any:
        import pyarrow.parquet as parquet

        return parquet.ParquetFile(
            self._system.open(file),
            pre_buffer=not self._system.is_local,
            read_dictionary=self._words or None,
            page_checksum_verification=True,
        )


def _n_chunks(footer: Any) -> int:
    return int(footer.num_columns * footer.num_row_groups)


class Footer(NamedTuple):
    """What is kept of every file."""

    schema: Any
    group_rows: list[int]  #: of its row groups
    leaves: dict[str, int]  #: numbers of plain columns: names with dots are not found by pyarrow
    missing: set[str]  #: integers and booleans that may have missing values


def read_footers(system: FileSystem, files: Sequence[File]) -> tuple[Readers, list[Footer]]:
    """Return readers for the columns of files, and the footers of the files in their order."""
    from pyarrow import types

    known: dict[bytes, tuple[dict[str, int], list[str]]] = {}  # by schema: most files share it

    def read(readers: Readers, file: File) -> Footer:
        with readers.borrow(file) as reader:
            schema, metadata = reader.schema_arrow, reader.metadata
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            key = schema.serialize().to_pybytes()
            if key not in known:
                kinds = {field.name: storage_type(field.type) for field in schema if field.nullable}
                is_whole = (types.is_integer, types.is_boolean)
                whole = [name for name, kind in kinds.items() if any(is_(kind) for is_ in is_whole)]
                paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
                known[key] = {path: i for i, path in enumerate(paths)}, whole
            leaves, missing = known[key]
            if len(files) * _n_chunks(metadata) <= _MAX_CHUNKS:  # otherwise all of them may
                missing = [
                    name
                    for name in missing
                    if any(_may_miss(group.column(leaves[name])) for group in groups)
                ]
            return Footer(schema, [group.num_rows for group in groups], leaves, set(missing))

    first = read(Readers(system), files[0])
    words = [field.name for field in first.schema if numpy_type(field.type) == WORDS]
    readers = Readers(system, words)
    with ThreadPoolExecutor(_OPENERS) as threads:
        return readers, [first, *threads.map(partial(read, readers), files[1:])]


def _may_miss(chunk: Any) -> bool:
    found = chunk.statistics
    return found is None or not found.has_null_count or bool(found.null_count)


def partition_columns(files: Sequence[File], stored: set[str]) -> dict[str, Any]:
    """Return columns in the names of folders, but `stored` ones: Categoricals, a value per file."""
    import pandas

    wanted = [key for key, _ in files[0].parts]
    for file in files:
        found = [key for key, _ in file.parts]
        if found != wanted:
            raise MaucError(
                f"{file.name} lies in folders that name the columns {found}, but {files[0].name} "
                f"in folders that name {wanted}; files of one table need the same."
            )
    columns = {}
    for level, key in enumerate(wanted):
        texts = [file.parts[level][1] for file in files]
        values: list[Any] = [None if text == NO_PARTITION else text for text in texts]
        if all(text is None or text.removeprefix("-").isdecimal() for text in values):
            values = [None if text is None else int(text) for text in values]
        if key not in stored:
            columns[key] = pandas.Categorical(values)
    return columns
