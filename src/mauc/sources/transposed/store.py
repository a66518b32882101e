"""The folder of transposed tables: one folder for each, which appears whole or not at all."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mauc.datasets.cache import cache_folder, file_digest
from mauc.exceptions import MaucError
from mauc.files import write_atomic
from mauc.memory import format_bytes

VERSION = 1  # of the format; tables of another are made anew
NOTE = "note.json"
_USED = "used"  # an empty file whose time says when a table was last opened
_PART, _LOCK = ".part", ".lock"
_PART_SECONDS = 86_400  # without locks, a part that nobody touched for so long is given up
_DIGEST_BYTES = 2**20  # smaller files may be changed within one tick of the file system's clock
_FULL = (errno.ENOSPC, errno.EDQUOT)


def columns_folder() -> Path:
    """Return the folder of all transposed tables; it need not exist yet."""
    return cache_folder() / "columns"


def file_stamp(path: Path) -> dict[str, Any]:
    """Return what tells whether a file is still the same: size, time, digest of a small one."""
    try:
        status = path.stat()
        stamp: dict[str, Any] = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        if status.st_size <= _DIGEST_BYTES:
            stamp["sha256"] = file_digest(path)
    except OSError as error:
        raise MaucError(f"{path} cannot be read: {error.strerror}.") from error
    return stamp


def table_key(source: str, options: dict[str, Any]) -> str:
    """Return the same short text for the same source and options."""
    text = json.dumps([VERSION, source, options], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def tables_of(base: str) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Yield the folders of one source and way of reading it, with their notes."""
    for folder in sorted(columns_folder().glob(f"{base}-*")):
        yield folder, read_note(folder)


def remove_stale(base: str, stamp: dict[str, Any]) -> None:
    """Remove the tables of a source as it was before it changed, and broken ones."""
    for folder, note in tables_of(base):
        if note is None or note["stamp"] != stamp:
            remove_table(folder)


def read_note(folder: Path) -> dict[str, Any] | None:
    """Return the note of a whole table, or None if the folder holds none of this version."""
    try:
        note: dict[str, Any] = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        if note["version"] != VERSION:
            return None
        for name, size in note["files"].items():
            if (folder / name).stat().st_size != size:
                return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return note


def touch(folder: Path) -> None:
    """Write down that a table is used now."""
    with contextlib.suppress(OSError):
        (folder / _USED).touch()


def last_used(folder: Path) -> float:
    """Return when a table was last opened, in seconds since 1970."""
    for name in (_USED, NOTE):
        with contextlib.suppress(OSError):
            return (folder / name).stat().st_mtime
    return 0.0


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def make_folder(source: str) -> None:
    """Make the folder of all tables."""
    try:
        columns_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _writing_error(source, error) from error


def check_room(source: str, n_bytes: int) -> None:
    """Raise if the disk of the cache has less room than a table needs."""
    folder = columns_folder()
    present = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(present).free
    if n_bytes > free:
        raise MaucError(
            f"{source}: its columns take about {format_bytes(n_bytes)} on disk, but {folder} has "
            f"{format_bytes(free)} left; free some (mauc cache clear --all), or name a folder on "
            f"another disk in the environment variable MAUC_CACHE."
        )


@contextlib.contextmanager
def locked(key: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a table, so that one process builds it and the others wait for it.

    Yields False if there are no locks here, or if another holds it and `wait` is False: then two
    may build the same table, and the first one that is whole stays.
    """
    try:
        from filelock import FileLock, Timeout
    except ImportError:
        yield False
        return
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
def building(key: str, source: str) -> Iterator[Path]:
    """Make a folder to build a table in; it is removed unless `commit` renames it.

    Parameters
    ----------
    key : str
    source : str
        What the table is made of, for errors.
    """
    folder = columns_folder()
    part = folder / f".{key}.{uuid.uuid4().hex}{_PART}"
    try:
        part.mkdir(parents=True)
        yield part
    except OSError as error:
        if error.filename is None or not _is_below(error.filename, folder):
            raise  # of the source, not of the cache
        if error.errno not in _FULL:
            raise _writing_error(source, error) from error
        shutil.rmtree(part, ignore_errors=True)
        free = format_bytes(shutil.disk_usage(folder).free)
        raise MaucError(
            f"{source}: the disk of {folder} is full ({free} are free now that the unfinished "
            f"columns are removed); free some (mauc cache clear --all), or name a folder on "
            f"another disk in the environment variable MAUC_CACHE."
        ) from error
    finally:
        if part.exists():
            shutil.rmtree(part, ignore_errors=True)


def commit(part: Path, key: str, note: dict[str, Any]) -> Path:
    """Make a built table visible under its key: files to disk, then the note, then the name.

    A table that another process finished in the meantime stays.
    """
    note = {"version": VERSION, "created": time.time(), **note}
    note["files"] = {path.name: path.stat().st_size for path in part.iterdir()}
    for path in part.iterdir():
        _sync(path)
    write_atomic(part / NOTE, json.dumps(note, ensure_ascii=False))
    touch(part)
    target = part.with_name(key)
    for _ in range(10):
        if read_note(target) is not None:
            return target
        remove_table(target)
        try:
            os.rename(part, target)
        except OSError as error:
            if target.exists():
                continue  # another process was faster
            raise error
        _sync(target.parent)
        return target
    raise MaucError(f"{target} cannot be replaced: others keep writing it. Try again.")


def remove_table(folder: Path) -> None:
    """Remove a table; no process ever sees a part of it under its name."""
    dying = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}{_PART}")
    try:
        os.rename(folder, dying)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MaucError(f"{folder} cannot be removed: {error.strerror}.") from error
    shutil.rmtree(dying, ignore_errors=True)


def remove_dead_parts(held: str = "") -> int:
    """Remove what killed processes left behind; return its bytes.

    Parameters
    ----------
    held : str
        The key whose lock the caller holds, if any.
    """
    freed = 0
    for part in columns_folder().glob(f".*{_PART}"):
        key = part.name.split(".")[1].partition("-")[0]
        with locked(key, wait=False) as is_mine, contextlib.suppress(OSError):
            if is_mine or key == held or time.time() - _newest(part) > _PART_SECONDS:
                n_bytes = folder_bytes(part)
                shutil.rmtree(part)
                freed += n_bytes
    return freed


def remove_locks() -> None:
    """Remove locks that nobody holds, of tables that are no more."""
    for path in columns_folder().glob(f".*{_LOCK}"):
        key = path.name.split(".")[1]
        with locked(key, wait=False) as is_mine:
            if is_mine and not any(columns_folder().glob(f"{key}-*")):
                path.unlink(missing_ok=True)


def _writing_error(source: str, error: OSError) -> MaucError:
    return MaucError(
        f"{source}: its columns cannot be written to {columns_folder()}: "
        f"{error.strerror or error}. Name another folder in the environment variable MAUC_CACHE."
    )


def _newest(folder: Path) -> float:
    return max([folder.stat().st_mtime, *(path.stat().st_mtime for path in folder.iterdir())])


def _is_below(path: Any, folder: Path) -> bool:
    return os.fsdecode(path).startswith(str(folder))


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
