"""Write files whole or not at all, one process at a time, in folders that others cannot change."""

import contextlib
import errno
import os
import re
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mauc.exceptions import MaucError

_MARK = ".part"
_PART = re.compile(r"\..+\.[0-9a-f]{32}\.part")


@contextlib.contextmanager
def open_atomic(path: str | Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file next to `path` for writing; it is renamed when all is written.

    `force` says whether an existing file may be replaced.
    """
    path = Path(path)
    _check_target(path, force)
    try:
        with replacing(path) as file:
            yield file
            _check_target(path, force)
    except OSError as error:
        raise MaucError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a part of a file, which gets its name when it is complete and on disk."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}{_MARK}")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_atomic(path: str | Path, content: bytes | str, *, force: bool = False) -> Path:
    """Write a file so that no reader, and no crash, ever sees a part of it; return its path."""
    with open_atomic(path, force=force) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextlib.contextmanager
def locked(path: Path, timeout: float = -1) -> Iterator[None]:
    """Hold a lock, which dies with the process; its file is gone when it is released."""
    from filelock import FileLock

    with FileLock(path, timeout):
        try:
            yield
        finally:
            # Still held: whoever waits finds that the file has no name any more, and makes another.
            with contextlib.suppress(OSError):  # on Windows the lock itself removes it
                path.unlink()


def make_private(folder: Path) -> Path:
    """Make a folder of this user alone; `PermissionError` if others can change what is in it."""
    for missing in [part for part in (*reversed(folder.parents), folder) if not part.exists()]:
        missing.mkdir(0o700, exist_ok=True)
    if hasattr(os, "getuid"):
        found = folder.stat()
        owners = {folder.lstat().st_uid, found.st_uid}  # of a link, too
        if owners - {0, os.getuid()} or found.st_mode & stat.S_IWOTH:
            raise PermissionError(
                errno.EPERM, "other users can change what is in it (chmod o-w if it is yours)"
            )
    return folder


def _check_target(path: Path, force: bool) -> None:
    if path.is_dir():
        raise MaucError(f"{path} is a folder; the name of a file is wanted.")
    if path.exists() and not force:
        raise MaucError(f"{path} exists already; force replaces it.")
    if not path.parent.is_dir():
        raise MaucError(f"{path}: the folder {path.parent} does not exist.")


def remove_parts(folder: Path) -> None:
    """Remove files of killed writers in a folder and below; no other process may write there."""
    for part in folder.rglob(f".*{_MARK}"):
        if is_part(part):
            with contextlib.suppress(OSError):
                part.unlink()


def is_part(path: Path) -> bool:
    """Whether a file was left by a killed `write_atomic`."""
    return _PART.fullmatch(path.name) is not None
