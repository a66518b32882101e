"""Parquet files: what their footers tell, and open readers of them for threads to share."""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.sources.arrow_types import WORDS, numpy_type, storage_type
from mauc.sources.files import File, FileSystem, check_unchanged, unreadable_error

_MAX_CHUNKS = 2**18  # column chunks in the footers that are kept, about 0.5 kB each
_MAX_OPEN = 256  # files
_OPENERS = 8  # footers that are read at once


class Footer:
    """What is kept of every file: its schema, the rows of its row groups, and what may be missing.

    Parameters
    ----------
    reader : pyarrow.parquet.ParquetFile
    first : Footer, optional
        Of the first file, whose schema most files have.
    looks : bool
        Whether the statistics are looked at: otherwise all integers may have missing values.
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
        except FileNotFoundError as error:
            raise unreadable_error(file.name, error) from error
        except PermissionError as error:
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


def index_names(schema: Any) -> list[str]:
    """Return the columns in which pandas keeps the index of a frame."""
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return []
    return [str(name) for name in found.get("index_columns", []) if isinstance(name, str)]
