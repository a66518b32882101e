"""Write files whole or not at all."""

import contextlib
import os
import re
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
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}{_MARK}")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _check_target(path, force)
        os.replace(part, path)
    except OSError as error:
        raise MaucError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)


def write_atomic(path: str | Path, content: bytes | str, *, force: bool = False) -> Path:
    """Write a file so that no reader, and no crash, ever sees a part of it; return its path."""
    with open_atomic(path, force=force) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


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
