"""Open an array that lies by rows as columns: blocks of rows in, a table of the cache out."""

import mmap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from mauc.data.source import default_memory
from mauc.engine.arrays import contiguous_columns
from mauc.exceptions import MaucError
from mauc.parallel import track
from mauc.sources.transposed.layout import TransposedSource
from mauc.sources.transposed.store import (
    building,
    check_room,
    columns_folder,
    commit,
    file_stamp,
    locked,
    make_folder,
    read_note,
    remove_dead_parts,
    remove_stale,
    table_key,
    touch,
)
from mauc.sources.transposed.writer import TableWriter

# A block in memory: as it is read, and by columns; further reads of a compressed chunk.
_BLOCK_SHARE = 4
MAX_BLOCK_BYTES = 2**26
_KINDS = "biufmM"


def open_transposed_array(
    array: Any,
    name: str | None = None,
    *,
    memory: int | None = None,
    stamp: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
    feature_names: Any = None,
) -> TransposedSource:
    """Open an array that lies by rows as a source of its columns.

    The first time it is read from front to back in blocks of rows, and its columns are written to
    the cache (``mauc cache list``); from then on they are read from there until it changes.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_features)
        A memory map (not one of mode "c"), or anything with `shape`, `dtype` and slices of rows,
        such as an array of Zarr or HDF5 (where it has `chunks`, whole ones are read).
    name : str, optional
        Path or address, which errors name; a memory map has its own.
    memory : int, optional
        Bytes that reading may take; a quarter of what is free by default.
    stamp : dict or callable, optional
        What tells whether the array is still the same, of values that JSON holds, or a function
        that returns it: only then is a change noticed while the array is read. By default that of
        a file called `name`.
    feature_names : sequence of str, optional

    Returns
    -------
    source : TransposedSource
    """
    name = str(getattr(array, "filename", None) or "") if name is None else str(name)
    if not name:
        raise MaucError("name must tell what the array is called: a path or an address, got none.")
    kind = np.dtype(array.dtype)
    if len(array.shape) != 2 or kind.kind not in _KINDS:
        raise MaucError(
            f"{name}: numbers in two dimensions are wanted, got an array of {kind} with "
            f"{len(array.shape)} dimensions."
        )
    if getattr(array, "mode", None) == "c":
        raise MaucError(
            f"{name} is mapped with mode 'c', so that its values need not be those of the file; "
            f"map it with mode 'r'."
        )
    memory = default_memory() if memory is None else int(memory)
    path = Path(name)
    is_file = stamp is None and path.is_file()
    source = str(path.resolve()) if is_file else name
    look = partial(file_stamp, Path(source)) if is_file else stamp if callable(stamp) else None
    stamp = look() if callable(look) else cast("dict[str, Any] | None", stamp)
    if stamp is None:
        raise MaucError(
            f"{name} is no file; say stamp=..., what tells whether the array is still the same."
        )
    # A slice of a memory map is another table than the whole map.
    options = {
        "shape": list(array.shape), "dtype": kind.str, "place": _place(array),
        "names": None if feature_names is None else [str(word) for word in feature_names],
    }  # fmt: skip
    base = table_key(source, options)
    key = f"{base}-{table_key('', stamp)[:6]}"
    folder = columns_folder() / key
    note = _valid_note(folder, stamp)
    if note is None:
        make_folder(name)
        with locked(base) as is_held:
            note = _valid_note(folder, stamp)  # another process may have built it
            if note is None:
                remove_dead_parts(base if is_held else "")
                remove_stale(base, stamp)
                about = {
                    "source": name, "path": source if is_file else None, "stamp": stamp,
                    "options": options, "names": options["names"],
                }  # fmt: skip
                _build_array(array, key, about, memory, look)
                note = _valid_note(folder, stamp)
    if note is None:
        raise MaucError(f"{name}: its columns were removed as soon as they were written.")
    touch(folder)
    return TransposedSource(folder, {**note, "source": name}, memory, look)


def _valid_note(folder: Path, stamp: dict[str, Any]) -> dict[str, Any] | None:
    note = read_note(folder)
    return note if note is not None and note["stamp"] == stamp else None


def _build_array(
    array: Any, key: str, about: dict[str, Any], memory: int,
    look: Callable[[], dict[str, Any]] | None,
) -> None:  # fmt: skip
    n_rows, n_columns = array.shape
    kind = np.dtype(array.dtype).newbyteorder("=")
    name = about["source"]
    check_room(name, n_rows * n_columns * kind.itemsize)
    step = _block_rows(array, memory)
    with building(key, name) as part:
        writer = TableWriter(part)
        try:
            for start in track(range(0, n_rows, step), "blocks of rows"):
                block = _read_rows(array, start, min(start + step, n_rows), name)
                writer.add_group(len(block), [contiguous_columns(block.T)])
        finally:
            writer.close()
        if look is not None and look() != about["stamp"]:
            raise MaucError(
                f"{name} changed while it was read (its size or time of change is another one); "
                f"run again when it is complete."
            )
        stored = kind.newbyteorder("<").str
        commit(part, key, {
            **about, "n_rows": n_rows, "groups": writer.groups, "types": [stored] * n_columns,
            "slots": list(range(n_columns)), "whole": {},
        })  # fmt: skip


def _read_rows(array: Any, start: int, stop: int, name: str) -> np.ndarray[Any, Any]:
    try:
        # A memory map is copied: pages of the file would count as memory of this process.
        block: np.ndarray[Any, Any] = np.array(array[start:stop])
    except (OSError, RuntimeError, ValueError) as error:
        raise MaucError(f"{name}: rows {start} to {stop} cannot be read: {error}.") from error
    if block.shape[0] != stop - start:
        raise MaucError(f"{name} changed while it was read: it has fewer rows than before.")
    _drop_pages(array)
    return block


def _drop_pages(array: Any) -> None:
    """Have the system forget the pages of a memory map that were read."""
    held = getattr(array, "_mmap", None)
    if held is not None and hasattr(held, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)


def _place(array: Any) -> list[int]:
    """Return where in its file a memory map begins, and how it goes on; nothing for others."""
    held = getattr(array, "_mmap", None)
    if held is None:
        return []
    pages = np.frombuffer(held, np.uint8).__array_interface__["data"][0]
    first = array.__array_interface__["data"][0]
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    return [begin + first - pages, *array.strides]


def _block_rows(array: Any, memory: int) -> int:
    """Return how many rows are read at once: whole chunks, if the array has any and they fit."""
    n_columns = max(1, array.shape[1])
    n_bytes = min(MAX_BLOCK_BYTES, memory // _BLOCK_SHARE)
    step = max(1, n_bytes // (n_columns * np.dtype(array.dtype).itemsize))
    chunks = getattr(array, "chunks", None)
    height = chunks[0] if chunks and isinstance(chunks[0], int) else 1
    return int(max(1, step // height * height if step >= height else step))
