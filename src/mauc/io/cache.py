"""Columns of files that lie by rows, kept on disk: a file for each, whole or not there at all.

It is an Arrow IPC stream, batches of rows in which the values of a column are neighbours, and so
are neighbouring columns: a stripe of columns is one run of bytes in each batch. Behind it stands
the note that tells what it was made of, and the length of the note in 8 bytes.
"""

import contextlib
import errno
import hashlib
import json
import mmap
import os
import shutil
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from mauc.data.source import ColumnSource, default_memory, empty_columns
from mauc.exceptions import MaucError
from mauc.files import locked, make_private, replacing
from mauc.io.table import first_few
from mauc.memory import format_bytes
from mauc.progress import track

VERSION = 5  # of the format; tables of another are made anew
_COLUMNS, _TABLE, _PART, _LOCK = "columns", ".arrow", ".part", ".lock"
_LENGTH = 8  # bytes at the end that hold the length of the note
_DIGEST_BYTES = 2**20  # smaller files may be changed within one tick of the file system's clock
_FULL = (errno.ENOSPC, errno.EDQUOT)
_DAY = 86_400
_WAY_OUT = (
    "free some (mauc cache clear --all), or name a folder on another disk in the environment "
    "variable MAUC_CACHE."
)
# A block of an array in memory: as it is read, and by columns; further reads of a chunk.
_BLOCK_SHARE = 4
MAX_BLOCK_BYTES = 2**26

Array = np.ndarray[Any, Any]
Stamp = dict[str, Any]
Note = dict[str, Any]


def cache_folder() -> Path:
    """Return the folder MAUC_CACHE, or the user's cache folder; it need not exist yet."""
    folder = os.environ.get("MAUC_CACHE")
    if folder:
        return Path(folder)
    import pooch

    return Path(pooch.os_cache("mauc"))


def private_folder(name: str = "") -> Path:
    """Make the cache folder, or one in it; raise if other users can change what is there."""
    folder = cache_folder()
    try:
        return make_private(make_private(folder) / name)
    except OSError as error:
        raise MaucError(
            f"the cache folder {folder} cannot be used: {error.strerror or error}. Name another "
            f"folder in the environment variable MAUC_CACHE."
        ) from error


def columns_folder() -> Path:
    """Return the folder of all cached tables; it need not exist yet."""
    return cache_folder() / _COLUMNS


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_stamp(path: Path) -> Stamp:
    """Return what tells whether a file is still the same: size, time, digest of a small one."""
    try:
        status = path.stat()
        stamp: Stamp = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        if status.st_size <= _DIGEST_BYTES:
            stamp["sha256"] = file_digest(path)
    except OSError as error:
        raise MaucError(f"{path} cannot be read: {error.strerror}.") from error
    return stamp


class BatchColumns(ColumnSource):
    """Columns of batches of Arrow in memory, as their note tells, and of `types` when read."""

    def __init__(
        self, batches: Sequence[Any] | None, note: Note, types: Sequence[Any], memory: int | None
    ) -> None:
        self._batches, self._edges = batches, note["edges"]
        self._stored = [np.dtype(kind) for kind in note["types"]]
        n, names = self._edges[-1], note["names"]
        super().__init__(note["source"], n, types, feature_names=names, memory=memory)

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        chosen = [int(j) for j in columns]
        stop = min(stop, self.shape[0])
        found = empty_columns([self.types[j] for j in chosen], max(0, stop - start))
        batches = self._open()
        for number in range(max(0, bisect_right(self._edges, start) - 1), len(batches)):
            offset = self._edges[number]
            begin, end = max(start, offset), min(stop, self._edges[number + 1])
            if begin >= end:
                break
            for j, values in zip(chosen, found, strict=True):
                buffer = batches[number].column(j).buffers()[1]
                stored = np.frombuffer(buffer, self._stored[j])
                values[begin - start : end - start] = stored[begin - offset : end - offset]
        return found

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return list(pairwise(self._edges))

    def _open(self) -> Sequence[Any]:
        assert self._batches is not None
        return self._batches


class CachedColumns(BatchColumns):
    """Columns of a table in the cache, whose file is mapped; `look` returns its stamp now."""

    def __init__(
        self,
        path: Path,
        note: Note,
        memory: int | None,
        look: Callable[[], Stamp],
        types: Sequence[Any],
    ) -> None:
        self.path, self._stamp, self._look = path, note["stamp"], look
        self._map: mmap.mmap | None = None
        super().__init__(None, note, types, memory)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is needed to open the table again."""
        return {**self.__dict__, "_batches": None, "_map": None}

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        found = super().read_rows(start, stop, columns)
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)
        return found

    def check_unchanged(self) -> None:
        """Raise if what was cached changed since."""
        if self._look() != self._stamp:
            raise _changed_error(self.name, "its columns were read")

    def _open(self) -> Sequence[Any]:
        if self._batches is None:
            import pyarrow as arrow

            try:
                with self.path.open("rb") as file:
                    self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._batches = list(arrow.ipc.open_stream(arrow.py_buffer(self._map)))
            except (OSError, ValueError) as error:  # those of Arrow are of the latter
                raise MaucError(
                    f"{self.name}: its columns in {self.path} cannot be read ({error}); were "
                    f"they removed by `mauc cache clear`, or replaced because the file changed? "
                    f"Open the file again."
                ) from error
        return self._batches


def _changed_error(name: str, what: str) -> MaucError:
    return MaucError(
        f"{name} changed while {what} (its size or time of change is another one); run again when "
        f"it is complete."
    )


class ColumnWriter:
    """A table that is being built, in a file or in memory: batches of columns of given types."""

    def __init__(self, file: IO[bytes] | None, types: Sequence[Any]) -> None:
        import pyarrow as arrow

        # Arrow's types have the same width; what they stand for is in the note.
        kinds = [np.dtype(kind) for kind in types]
        plain = [kind if kind.kind == "f" else f"i{kind.itemsize}" for kind in kinds]
        fields = [(str(j), arrow.from_numpy_dtype(kind)) for j, kind in enumerate(plain)]
        self._schema = arrow.schema(fields)
        self.batches: list[Any] = []  #: those in memory
        self.edges: list[int] = [0]
        self._stream = None if file is None else arrow.ipc.new_stream(file, self._schema)

    def add(self, columns: Sequence[Array]) -> None:
        """Append rows: a contiguous array for each column."""
        import pyarrow as arrow

        arrays = [
            arrow.Array.from_buffers(
                field.type, len(values), [None, arrow.py_buffer(values.view(np.uint8))]
            )
            for field, values in zip(self._schema, columns, strict=True)
        ]
        batch = arrow.record_batch(arrays, schema=self._schema)
        if self._stream is None:
            self.batches.append(batch)
        else:
            self._stream.write_batch(batch)
        self.edges.append(self.edges[-1] + batch.num_rows)

    def close(self) -> None:
        """Complete the stream."""
        if self._stream is not None:
            self._stream.close()


def find_or_build(
    source: str,
    options: Mapping[str, Any],
    *,
    path: str | None,
    look: Callable[[], Stamp],
    n_bytes: int,
    build: Callable[[IO[bytes]], Note],
    serves: Callable[[Note], bool] = lambda note: True,
) -> tuple[Path, Note]:
    """Return file and note of a cached table; `build` writes it if there is none that serves."""
    folder, stamp = private_folder(_COLUMNS), look()
    key = json.dumps([VERSION, path or source, options], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    table = folder / f"{digest}{_TABLE}"

    def find() -> Note | None:
        note = read_note(table)
        return note if note is not None and note["stamp"] == stamp and serves(note) else None

    note = find()
    if note is None:
        held = ""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError, NotImplementedError):  # there may be no locks
                stack.enter_context(locked(table.with_name(f".{table.stem}{_LOCK}")))
                held = table.stem
            note = find()  # another process may have built it
            if note is None:
                _remove_dead_parts(held)
                free = shutil.disk_usage(folder).free
                if n_bytes > free:
                    raise MaucError(
                        f"{source}: its columns take about {format_bytes(n_bytes)} on disk, but "
                        f"{folder} has {format_bytes(free)} left; {_WAY_OUT}"
                    )
                try:
                    with replacing(table) as file:
                        note = build(file)
                        if look() != stamp:
                            raise _changed_error(source, "it was read")
                        note |= {"source": source, "path": path, "stamp": stamp}
                        note |= {"options": options, "version": VERSION, "created": time.time()}
                        text = json.dumps(note, ensure_ascii=False).encode()
                        file.write(text + len(text).to_bytes(_LENGTH, "little"))
                except OSError as error:  # errors of the source are of another type
                    raise _writing_error(source, error) from error
    with contextlib.suppress(OSError):
        os.utime(table)  # when it was last used
    return table, {**note, "source": source}


def read_note(table: Path) -> Note | None:
    """Return the note of a whole table, or None if the file holds none of this version."""
    try:
        with table.open("rb") as file:
            file.seek(-_LENGTH, os.SEEK_END)
            length = int.from_bytes(file.read(), "little")
            file.seek(-_LENGTH - length, os.SEEK_END)
            note: Note = json.loads(file.read(length))
        return note if note["version"] == VERSION else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def _writing_error(source: str, error: OSError) -> MaucError:
    folder = columns_folder()
    if error.errno in _FULL:
        return MaucError(f"{source}: the disk of {folder} is full; {_WAY_OUT}")
    return MaucError(
        f"{source}: its columns cannot be written to {folder}: {error.strerror or error}. Name "
        f"another folder in the environment variable MAUC_CACHE."
    )


def _remove_dead_parts(held: str = "") -> None:
    """Remove what killed processes left: of the table whose lock is `held`, or a day old."""
    for part in columns_folder().glob(f".*{_PART}"):
        with contextlib.suppress(OSError):
            is_mine = part.name.split(".")[1] == held
            if is_mine or time.time() - part.stat().st_mtime > _DAY:
                part.unlink()


def cache_array(
    array: Any,
    name: str,
    look: Callable[[], Stamp],
    *,
    memory: int | None = None,
    layout: Sequence[int] = (),
) -> CachedColumns:
    """Return the columns of an array that lies by rows; `layout` tells parts of a file apart."""
    memory = default_memory() if memory is None else int(memory)
    path = str(Path(name).resolve()) if os.path.isfile(name) else None
    kind = np.dtype(array.dtype).newbyteorder("=")
    n_rows, n_columns = array.shape
    options = {
        "shape": [n_rows, n_columns],
        "dtype": np.dtype(array.dtype).str,
        "layout": list(layout),
    }
    types = [kind.newbyteorder("<").str] * n_columns

    def build(file: IO[bytes]) -> Note:
        writer = ColumnWriter(file, types)
        with contextlib.closing(writer):
            step = _block_rows(array, memory)
            for start in track(range(0, n_rows, step), "blocks of rows"):
                block = _read_rows(array, start, min(start + step, n_rows), name)
                writer.add(list(np.ascontiguousarray(block.T.astype(kind, copy=False))))
        return {"edges": writer.edges, "types": types, "names": None}

    table, note = find_or_build(
        name, options, path=path, look=look, build=build, n_bytes=n_rows * n_columns * kind.itemsize
    )
    return CachedColumns(table, note, memory, look, types)


def _read_rows(array: Any, start: int, stop: int, name: str) -> Array:
    try:
        # A memory map is copied: pages of the file would count as memory of this process.
        block: Array = np.array(array[start:stop])
    except (OSError, RuntimeError, ValueError) as error:
        raise MaucError(f"{name}: rows {start} to {stop} cannot be read: {error}.") from error
    if block.shape[0] != stop - start:
        raise MaucError(f"{name} changed while it was read: it has fewer rows than before.")
    drop_pages(array)
    return block


def drop_pages(array: Any) -> None:
    """Tell the system that the pages of a mapped file are not needed; they would count as used."""
    held = getattr(array, "_mmap", None)
    if held is not None and getattr(array, "mode", None) != "c" and hasattr(held, "madvise"):
        held.madvise(mmap.MADV_DONTNEED)


def _block_rows(array: Any, memory: int) -> int:
    """Return how many rows are read at once: whole chunks, if the array has any and they fit."""
    n_bytes = min(MAX_BLOCK_BYTES, memory // _BLOCK_SHARE)
    step = max(1, n_bytes // (max(1, array.shape[1]) * np.dtype(array.dtype).itemsize))
    chunks = getattr(array, "chunks", None)
    height = chunks[0] if chunks and isinstance(chunks[0], int) else 1
    return int(max(1, step // height * height if step >= height else step))


@dataclass(frozen=True)
class CachedTable:
    """A table in the cache."""

    name: str
    source: str  #: the file or array that it was made of
    n_samples: int
    n_features: int  #: columns, labels included; 0 of a broken table, as the rows
    n_bytes: int
    created: float  #: seconds since 1970
    last_used: float
    #: whether the source is as it was: current, changed, gone, or unknown if it is not a file; a
    #: broken table is never used
    state: str
    options: dict[str, Any]  #: how the source was read


def list_caches() -> list[CachedTable]:
    """Return the tables in the cache, the one that was used last first."""
    tables = []
    for path in columns_folder().glob(f"[!.]*{_TABLE}"):
        with contextlib.suppress(FileNotFoundError):  # it may be removed meanwhile
            tables.append(_describe(path))
    return sorted(tables, key=lambda table: (-table.last_used, table.name))


def clear_caches(
    names: Iterable[str] | None = None, *, older_than: float | None = None
) -> list[CachedTable]:
    """Remove tables by name or source, or that were not used for some days; return them."""
    tables = list_caches()
    limit = time.time() - (older_than or 0) * _DAY
    chosen = tables if names is None else _named(tables, names)
    chosen = [table for table in chosen if older_than is None or table.last_used <= limit]
    for table in chosen:
        path = columns_folder() / f"{table.name}{_TABLE}"
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise MaucError(f"{path} cannot be removed: {error.strerror}.") from error
    _remove_dead_parts()
    return chosen


def _named(tables: list[CachedTable], names: Iterable[str]) -> list[CachedTable]:
    """Return the tables that are meant: by name, or by the path of their source."""
    found: dict[str, CachedTable] = {}
    for name in names:
        path = str(Path(name).resolve())
        meant = [
            table
            for table in tables
            if name in (table.name, table.source) or str(Path(table.source).resolve()) == path
        ]
        if not meant:
            listed = first_few([table.name for table in tables]) or "none"
            raise MaucError(
                f"the cache {columns_folder()} has no table {name!r}, nor one of a file of that "
                f"path. Its tables: {listed}."
            )
        found |= {table.name: table for table in meant}
    return list(found.values())


def _describe(table: Path) -> CachedTable:
    note, status = read_note(table), table.stat()
    size, used = status.st_size, status.st_mtime
    if note is None:
        return CachedTable(table.stem, "?", 0, 0, size, used, used, "broken", {})
    state = "unknown"
    if note["path"] is not None:
        path = Path(note["path"])
        state = "changed" if path.is_file() else "gone"
        with contextlib.suppress(MaucError):
            state = "current" if file_stamp(path) == note["stamp"] else state
    return CachedTable(
        table.stem,
        note["source"],
        note["edges"][-1],
        len(note["types"]),
        size,
        note["created"],
        used,
        state,
        note["options"],
    )
