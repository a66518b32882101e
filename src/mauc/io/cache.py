"""Columns of files that lie by rows, kept on disk: a folder for each, whole or not there at all.

``columns.arrow`` is an Arrow IPC stream: batches of rows, in which the values of a column are
neighbours, and so are neighbouring columns. It is written once from front to back, and a stripe of
columns is one run of bytes in each batch. ``note.json`` tells what it was made of.
"""

import contextlib
import errno
import hashlib
import json
import mmap
import os
import shutil
import time
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mauc.checks import is_real
from mauc.data.source import ColumnSource, default_memory
from mauc.exceptions import MaucError
from mauc.files import write_atomic
from mauc.memory import format_bytes
from mauc.progress import track

VERSION = 2  # of the format; tables of another are made anew
COLUMNS, NOTE = "columns.arrow", "note.json"
_USED = "used"  # an empty file whose time says when a table was last opened
_PART, _LOCK = ".part", ".lock"
_PART_SECONDS = 86_400  # without locks, a part that nobody touched for so long is given up
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


def cache_folder() -> Path:
    """Return the folder MAUC_CACHE, or the user's cache folder; it need not exist yet."""
    folder = os.environ.get("MAUC_CACHE")
    if folder:
        return Path(folder)
    import pooch

    return Path(pooch.os_cache("mauc"))


def columns_folder() -> Path:
    """Return the folder of all cached tables; it need not exist yet."""
    return cache_folder() / "columns"


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
    """Columns of batches of rows of Arrow, in memory.

    `stored` are the types of the values in the batches, `types` those that are read.
    """

    def __init__(
        self, name: str, batches: Sequence[Any], stored: Sequence[Any], types: Sequence[Any],
        names: Sequence[str] | None, memory: int | None = None, edges: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self._batches: Sequence[Any] | None = batches
        if edges is None:
            edges = np.cumsum([0, *(batch.num_rows for batch in batches)]).tolist()
        self._edges = list(edges)
        self._stored = [np.dtype(kind) for kind in stored]
        super().__init__(name, self._edges[-1], types, feature_names=names, memory=memory)

    def read(self, columns: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], columns)

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        chosen = [int(j) for j in columns]
        kinds = [self.types[j] for j in chosen]
        stop = min(stop, self.shape[0])
        n_rows = max(0, stop - start)
        # Columns of one type are rows of one array.
        stacks = {
            kind: iter(np.empty((kinds.count(kind), n_rows), kind)) for kind in dict.fromkeys(kinds)
        }
        found = [next(stacks[kind]) for kind in kinds]
        batches = self._open()
        for number in range(max(0, bisect_right(self._edges, start) - 1), len(batches)):
            begin, end = max(start, self._edges[number]), min(stop, self._edges[number + 1])
            if begin >= end:
                break
            offset = self._edges[number]
            for j, values in zip(chosen, found, strict=True):
                buffer = batches[number].column(j).buffers()[1]
                stored = np.frombuffer(buffer, self._stored[j])
                values[begin - start : end - start] = stored[begin - offset : end - offset]
        return list(found)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return list(zip(self._edges[:-1], self._edges[1:], strict=True))

    def _open(self) -> Sequence[Any]:
        assert self._batches is not None
        return self._batches


class CachedColumns(BatchColumns):
    """Columns of a table in the cache.

    The file is mapped, and its pages are given back after each read, so that they do not count as
    memory of this process. `look` returns the stamp that what was cached has now.
    """

    def __init__(
        self, folder: Path, note: Mapping[str, Any], memory: int | None = None,
        look: Callable[[], Stamp] | None = None, types: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.folder, self._stamp = folder, note["stamp"]
        if look is None and note["path"] is not None:
            look = partial(file_stamp, Path(note["path"]))
        self._look = look
        super().__init__(
            note["source"], (), note["types"], note["types"] if types is None else types,
            note["names"], memory, note["edges"],
        )  # fmt: skip
        self._batches = None
        self._map: mmap.mmap | None = None

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
        if self._look is not None and self._look() != self._stamp:
            raise MaucError(
                f"{self.name} changed while its columns were read (its size or time of change is "
                f"another one); run again when it is complete."
            )

    def _open(self) -> Sequence[Any]:
        if self._batches is None:
            import pyarrow as arrow

            try:
                with open(self.folder / COLUMNS, "rb") as file:
                    self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                reader = arrow.ipc.open_stream(arrow.py_buffer(self._map))
                self._batches = list(reader)
            except (OSError, ValueError) as error:  # those of Arrow are of the latter
                raise MaucError(
                    f"{self.name}: its columns in {self.folder} cannot be read ({error}); were "
                    f"they removed by `mauc cache clear`, or replaced because the file changed? "
                    f"Open the file again."
                ) from error
        return self._batches


class ColumnWriter:
    """A table that is being built, in a folder or in memory: batches of columns of given types."""

    def __init__(self, folder: Path | None, types: Sequence[Any]) -> None:
        import pyarrow as arrow

        fields = [(str(j), _arrow_type(np.dtype(kind))) for j, kind in enumerate(types)]
        self._schema = arrow.schema(fields)
        self.batches: list[Any] = []  #: those in memory
        self.edges = [0]
        self._file: Any = None
        if folder is not None:
            self._file = open(folder / COLUMNS, "wb", buffering=0)  # noqa: SIM115 - see close
            self._stream = arrow.ipc.new_stream(self._file, self._schema)

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
        if self._file is None:
            self.batches.append(batch)
        else:
            with self._writing():
                self._stream.write_batch(batch)
        self.edges.append(self.edges[-1] + batch.num_rows)

    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            with self._writing(), self._file:
                self._stream.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self._file.name  # the cache is at fault, not the source
            raise


def _arrow_type(kind: np.dtype[Any]) -> Any:
    """Return the Arrow type of the same width; what it stands for is in the note."""
    import pyarrow as arrow

    return arrow.from_numpy_dtype(kind if kind.kind == "f" else f"i{kind.itemsize}")


def find_or_build(
    source: str, options: dict[str, Any], stamp: Stamp, *, path: str | None, variant: Any = None,
    serves: Callable[[dict[str, Any]], bool] = lambda note: True, n_bytes: int,
    build: Callable[[Path], dict[str, Any]], look: Callable[[], Stamp] | None = None,
) -> tuple[Path, dict[str, Any]]:  # fmt: skip
    """Return the folder and the note of a cached table; build it if there is none that serves.

    `source` is what errors call the data, `path` the file that they are, if they are one; `options`
    are how they are read, `variant` is what else is told when the table is built. `stamp` tells
    whether they are still the same, and `look` returns it as it is now. The table takes about
    `n_bytes`; `build` writes it to a folder and returns a note with at least ``edges``, ``types``
    and ``names``.
    """
    base = _table_key(path or source, options)
    known = _find(base, stamp, serves)
    if known is None:
        try:
            columns_folder().mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _writing_error(source, error) from error
        with _locked(base) as is_held:
            known = _find(base, stamp, serves)  # another process may have built it
            if known is None:
                _remove_dead_parts(base if is_held else "")
                key = f"{base}-{_table_key('', {'variant': variant, **stamp})[:6]}"
                for folder, note in _tables_of(base):
                    if note is None or note["stamp"] != stamp or folder.name == key:
                        _remove_table(folder)
                free = shutil.disk_usage(columns_folder()).free
                if n_bytes > free:
                    raise MaucError(
                        f"{source}: its columns take about {format_bytes(n_bytes)} on disk, but "
                        f"{columns_folder()} has {format_bytes(free)} left; {_WAY_OUT}"
                    )
                with _building(key, source) as part:
                    note = build(part)
                    if look is not None and look() != stamp:
                        raise MaucError(
                            f"{source} changed while it was read (its size or time of change is "
                            f"another one); run again when it is complete."
                        )
                    note |= {"source": source, "path": path, "stamp": stamp, "options": options}
                    _commit(part, key, note)
                known = _find(base, stamp, serves)
    if known is None:
        raise MaucError(f"{source}: its columns were removed as soon as they were written.")
    with contextlib.suppress(OSError):
        (known[0] / _USED).touch()
    return known[0], {**known[1], "source": source}


def _find(
    base: str, stamp: Stamp, serves: Callable[[dict[str, Any]], bool]
) -> tuple[Path, dict[str, Any]] | None:
    for folder, note in _tables_of(base):
        if note is not None and note["stamp"] == stamp and serves(note):
            return folder, note
    return None


def _table_key(source: str, options: Mapping[str, Any]) -> str:
    """Return the same short text for the same source and options."""
    text = json.dumps([VERSION, source, options], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _tables_of(base: str) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Yield the folders of one source and way of reading it, with their notes."""
    for folder in sorted(columns_folder().glob(f"{base}-*")):
        yield folder, read_note(folder)


def read_note(folder: Path) -> dict[str, Any] | None:
    """Return the note of a whole table, or None if the folder holds none of this version."""
    try:
        note: dict[str, Any] = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        if note["version"] != VERSION or (folder / COLUMNS).stat().st_size != note["n_bytes"]:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note


@contextlib.contextmanager
def _locked(key: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a table, so that one process builds it and the others wait for it.

    Yields False if the file system has no locks, or if another holds it and `wait` is False: then
    two may build the same table, and the first one that is whole stays.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(columns_folder() / f".{key}{_LOCK}", timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except (Timeout, OSError, NotImplementedError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextlib.contextmanager
def _building(key: str, source: str) -> Iterator[Path]:
    """Make a folder to build a table in; it is removed unless `_commit` renames it."""
    folder = columns_folder()
    part = folder / f".{key}.{uuid.uuid4().hex}{_PART}"
    try:
        part.mkdir(parents=True)
        yield part
    except OSError as error:
        if error.filename is None or not os.fsdecode(error.filename).startswith(str(folder)):
            raise  # of the source, not of the cache
        if error.errno not in _FULL:
            raise _writing_error(source, error) from error
        shutil.rmtree(part, ignore_errors=True)
        free = format_bytes(shutil.disk_usage(folder).free)
        raise MaucError(
            f"{source}: the disk of {folder} is full ({free} are free now that the unfinished "
            f"columns are removed); {_WAY_OUT}"
        ) from error
    finally:
        if part.exists():
            shutil.rmtree(part, ignore_errors=True)


def _writing_error(source: str, error: OSError) -> MaucError:
    return MaucError(
        f"{source}: its columns cannot be written to {columns_folder()}: "
        f"{error.strerror or error}. Name another folder in the environment variable MAUC_CACHE."
    )


def _commit(part: Path, key: str, note: dict[str, Any]) -> None:
    """Make a built table visible under its key: columns to disk, then the note, then the name.

    A table that another process finished in the meantime stays.
    """
    _sync(part / COLUMNS)
    note |= {"version": VERSION, "created": time.time()}
    note["n_bytes"] = (part / COLUMNS).stat().st_size
    write_atomic(part / NOTE, json.dumps(note, ensure_ascii=False))
    target = part.with_name(key)
    if read_note(target) is None:
        _remove_table(target)
        try:
            os.rename(part, target)
        except OSError:
            if read_note(target) is None:  # unless another process was faster
                raise
        _sync(target.parent)


def _sync(path: Path) -> None:
    """Have a file or folder written to disk, where the system can."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        return  # a folder cannot be opened there
    handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)


def _remove_table(folder: Path) -> None:
    """Remove a table; no process ever sees a part of it under its name."""
    dying = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}{_PART}")
    try:
        os.rename(folder, dying)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MaucError(f"{folder} cannot be removed: {error.strerror}.") from error
    shutil.rmtree(dying, ignore_errors=True)


def _remove_dead_parts(held: str = "") -> None:
    """Remove what killed processes left behind; `held` is the key whose lock the caller holds."""
    for part in columns_folder().glob(f".*{_PART}"):
        key = part.name.split(".")[1].partition("-")[0]
        with _locked(key, wait=False) as is_mine, contextlib.suppress(OSError):
            newest = max(path.stat().st_mtime for path in (part, *part.iterdir()))
            if is_mine or key == held or time.time() - newest > _PART_SECONDS:
                shutil.rmtree(part)


def cache_array(
    array: Any, name: str, *, memory: int | None = None,
    stamp: Stamp | Callable[[], Stamp] | None = None, names: Sequence[str] | None = None,
    layout: Sequence[int] = (),
) -> CachedColumns:  # fmt: skip
    """Return the columns of an array of numbers that lies by rows, from the cache.

    It is read in blocks of rows: a memory map, or anything with `shape`, `dtype` and slices of
    rows, such as an array of Zarr or HDF5 (where it has `chunks`, whole ones are read). `stamp` is
    by default that of a file called `name`; a function that returns it notices a change while the
    array is read. `layout` tells parts of one file apart.
    """
    memory = default_memory() if memory is None else int(memory)
    path = None
    if stamp is None:
        path = str(Path(name).resolve())
        stamp = partial(file_stamp, Path(path))
    look = stamp if callable(stamp) else None
    kind = np.dtype(array.dtype).newbyteorder("=")
    n_rows, n_columns = array.shape
    listed = None if names is None else [str(word) for word in names]
    options = {
        "shape": [n_rows, n_columns], "dtype": np.dtype(array.dtype).str, "layout": list(layout),
        "names": listed,
    }  # fmt: skip

    def build(part: Path) -> dict[str, Any]:
        writer = ColumnWriter(part, [kind] * n_columns)
        with contextlib.closing(writer):
            step = _block_rows(array, memory)
            for start in track(range(0, n_rows, step), "blocks of rows"):
                block = _read_rows(array, start, min(start + step, n_rows), name)
                writer.add(list(np.ascontiguousarray(block.T.astype(kind, copy=False))))
        types = [kind.newbyteorder("<").str] * n_columns
        return {"edges": writer.edges, "types": types, "names": listed}

    folder, note = find_or_build(
        name, options, stamp() if callable(stamp) else stamp, path=path, build=build, look=look,
        n_bytes=n_rows * n_columns * kind.itemsize,
    )  # fmt: skip
    return CachedColumns(folder, note, memory, look)


def _read_rows(array: Any, start: int, stop: int, name: str) -> Array:
    try:
        # A memory map is copied: pages of the file would count as memory of this process.
        block: Array = np.array(array[start:stop])
    except (OSError, RuntimeError, ValueError) as error:
        raise MaucError(f"{name}: rows {start} to {stop} cannot be read: {error}.") from error
    if block.shape[0] != stop - start:
        raise MaucError(f"{name} changed while it was read: it has fewer rows than before.")
    held = getattr(array, "_mmap", None)
    if held is not None and hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)
    return block


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

    name: str  #: of its folder
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
    folders = columns_folder().iterdir() if columns_folder().is_dir() else ()
    tables = [_describe(path) for path in folders if path.is_dir() and path.name[0] != "."]
    return sorted(tables, key=lambda table: (-table.last_used, table.name))


def clear_caches(
    names: Iterable[str] | None = None, *, older_than: float | None = None
) -> list[CachedTable]:
    """Remove tables from the cache, and what killed processes left there; return the tables.

    `names` are names of tables or paths of the files they were made of, all by default; with
    `older_than` only those are removed that were not used for this many days.
    """
    if older_than is not None and not (is_real(older_than) and older_than >= 0):
        raise MaucError(f"older_than must be a number of days, 0 or more, got {older_than!r}.")
    tables = list_caches()
    chosen = tables if names is None else _named(tables, names)
    if older_than is not None:
        limit = time.time() - older_than * _DAY
        chosen = [table for table in chosen if table.last_used <= limit]
    for table in chosen:
        _remove_table(columns_folder() / table.name)
    _remove_dead_parts()
    for path in columns_folder().glob(f".*{_LOCK}"):
        key = path.name.split(".")[1]
        with _locked(key, wait=False) as is_mine:
            if is_mine and not any(columns_folder().glob(f"{key}-*")):
                path.unlink(missing_ok=True)
    return chosen


def _named(tables: list[CachedTable], names: Iterable[str]) -> list[CachedTable]:
    """Return the tables that are meant: by name, or by the path of their source."""
    found: dict[str, CachedTable] = {}
    for name in names:
        path = str(Path(name).resolve())
        meant = [
            table for table in tables
            if name in (table.name, table.source) or str(Path(table.source).resolve()) == path
        ]  # fmt: skip
        if not meant:
            listed = ", ".join(table.name for table in tables[:5]) or "none"
            raise MaucError(
                f"the cache {columns_folder()} has no table {name!r}, nor one of a file of that "
                f"path. Its tables: {listed}{', ...' * (len(tables) > 5)}."
            )
        found |= {table.name: table for table in meant}
    return list(found.values())


def _describe(folder: Path) -> CachedTable:
    times: dict[str, float] = {}
    n_bytes = 0
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # it may be removed meanwhile
            times[path.name] = path.stat().st_mtime
            n_bytes += path.stat().st_size
    used = times.get(_USED, times.get(NOTE, 0.0))
    note = read_note(folder)
    if note is None:
        return CachedTable(folder.name, "?", 0, 0, n_bytes, used, used, "broken", {})
    options = {name: value for name, value in note["options"].items() if name != "names"}
    return CachedTable(
        folder.name, note["source"], note["edges"][-1], len(note["types"]), n_bytes,
        note["created"], used, _state(note), options,
    )  # fmt: skip


def _state(note: dict[str, Any]) -> str:
    if note["path"] is None:
        return "unknown"
    path = Path(note["path"])
    if not path.is_file():
        return "gone"
    try:
        return "current" if file_stamp(path) == note["stamp"] else "changed"
    except MaucError:
        return "unknown"
