"""What the cache of transposed tables holds, and how to free it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mauc.checks import is_real
from mauc.exceptions import MaucError
from mauc.sources.transposed.store import (
    columns_folder,
    file_stamp,
    folder_bytes,
    last_used,
    read_note,
    remove_dead_parts,
    remove_locks,
    remove_table,
)

_DAY = 86_400


@dataclass(frozen=True)
class CachedTable:
    """A table in the cache.

    Parameters
    ----------
    name : str
        Of its folder.
    source : str
        The file or array that it was made of.
    n_samples, n_features : int
        Rows and columns, labels included; 0 of a broken table.
    n_bytes : int
        On disk.
    created, last_used : float
        Seconds since 1970.
    state : {"current", "changed", "gone", "unknown", "broken"}
        Whether the source is as it was when it was transposed; of what is no file that is not
        known. A broken table is never used.
    options : dict
        How the source was read.
    """

    name: str
    source: str
    n_samples: int
    n_features: int
    n_bytes: int
    created: float
    last_used: float
    state: str
    options: dict[str, Any]


def list_caches() -> list[CachedTable]:
    """Return the tables in the cache, the one that was used last first.

    Examples
    --------
    >>> import tempfile
    >>> import pytest
    >>> from mauc.sources.transposed import list_caches
    >>> with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
    ...     patch.setenv("MAUC_CACHE", folder)
    ...     list_caches()
    []
    """
    folders = columns_folder().iterdir() if columns_folder().is_dir() else ()
    tables = [_describe(path) for path in folders if path.is_dir() and path.name[0] != "."]
    return sorted(tables, key=lambda table: (-table.last_used, table.name))


def clear_caches(
    names: Iterable[str] | None = None, *, older_than: float | None = None
) -> list[CachedTable]:
    """Remove tables from the cache, and what killed processes left there.

    Parameters
    ----------
    names : iterable of str, optional
        Names of tables or paths of the files they were made of; all by default.
    older_than : float, optional
        Only those that were not used for so many days.

    Returns
    -------
    removed : list of CachedTable
    """
    if older_than is not None and not (is_real(older_than) and older_than >= 0):
        raise MaucError(f"older_than must be a number of days, 0 or more, got {older_than!r}.")
    tables = list_caches()
    chosen = tables if names is None else _find(tables, names)
    if older_than is not None:
        limit = time.time() - older_than * _DAY
        chosen = [table for table in chosen if table.last_used <= limit]
    for table in chosen:
        remove_table(columns_folder() / table.name)
    remove_dead_parts()
    remove_locks()
    return chosen


def _find(tables: list[CachedTable], names: Iterable[str]) -> list[CachedTable]:
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
    note = read_note(folder)
    if note is None:
        return CachedTable(
            folder.name, "?", 0, 0, folder_bytes(folder), last_used(folder), last_used(folder),
            "broken", {},
        )  # fmt: skip
    return CachedTable(
        folder.name, note["source"], note["n_rows"], len(note["types"]), folder_bytes(folder),
        note["created"], last_used(folder), _state(note),
        {name: value for name, value in note["options"].items() if name != "names"},
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
