"""Write files whole or not at all."""

import contextlib
import os
import re
import uuid
from pathlib import Path

from mauc.exceptions import MaucError

_MARK = ".part"
_PART = re.compile(r"\..+\.[0-9a-f]{32}\.part")


def write_atomic(path: str | Path, content: bytes | str, *, force: bool = False) -> Path:
    """Write a file so that no reader, and no crash, ever sees a part of it.

    Parameters
    ----------
    path : str or Path
    content : bytes or str
    force : bool, default=False
        Whether a file that is there may be replaced.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    if path.exists() and not force:
        raise MaucError(f"{path} exists already; it is replaced only by force.")
    data = content.encode("utf-8") if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}{_MARK}")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return path


def remove_parts(folder: Path) -> None:
    """Remove what killed writers left in a folder and below; nobody else may write there."""
    for part in folder.rglob(f".*{_MARK}"):
        if is_part(part):
            with contextlib.suppress(OSError):
                part.unlink()


def is_part(path: Path) -> bool:
    """Whether a file is what a killed `write_atomic` left."""
    return _PART.fullmatch(path.name) is not None
