"""The folder of downloaded data sets: one .npz and one note of its origin for each."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from mauc.exceptions import MaucError


def cache_folder() -> Path:
    """Return the folder MAUC_CACHE, or the user's cache folder; it need not exist yet."""
    folder = os.environ.get("MAUC_CACHE")
    if folder:
        return Path(folder)
    try:
        import pooch
    except ImportError:
        # Without pooch nothing was ever downloaded there; the same rule for Linux is enough.
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mauc"
    return Path(pooch.os_cache("mauc"))


def cached_path(name: str) -> Path | None:
    """Return the file of a downloaded data set, or None.

    Its digest must be the one that was recorded with it.
    """
    path = cache_folder() / f"{name}.npz"
    if not path.is_file():
        return None
    note = read_note(name)
    if note is None or note.get("npz_sha256") != file_digest(path):
        raise MaucError(
            f"{path} is not what was recorded when {name!r} was fetched (it was changed or is "
            f"broken); download it again with `mauc datasets fetch {name} --force`."
        )
    return path


def read_note(name: str) -> dict[str, Any] | None:
    """Return what was recorded of a download, or None."""
    path = cache_folder() / f"{name}.json"
    try:
        note: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return note


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
