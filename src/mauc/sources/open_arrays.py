"""Open arrays on disk or elsewhere: memmaps, .npy files, HDF5 datasets and Zarr arrays."""

import mmap
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource, default_memory
from mauc.engine.arrays import is_row_major
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.sources.arrays import ArraySource, check_array, is_broad
from mauc.sources.files import FileSystem, stamped, unreadable_error


def open_array(
    array: Any, name: str, *, reopen: Callable[[], Any] | None = None,
    stamp: Callable[[], dict[str, Any]] | None = None, waits: bool = False,
    memory: int | None = None,
) -> ColumnSource:  # fmt: skip
    """Return a source of the columns of an array, transposed on disk if it lies by rows.

    An array on disk that lies by rows, or in chunks that are too wide, would be read whole for
    every few columns; if it is larger than the memory, its columns are taken from a cache.

    Parameters as in `ArraySource`; an array without a stamp is not transposed.
    """
    check_array(array, name)
    limit = default_memory() if memory is None else memory
    n_bytes = int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize
    if stamp is not None and n_bytes > limit and lies_by_rows(array, limit):
        from mauc.sources.transposed import open_transposed_array

        given = None if os.path.isfile(name) else stamp  # a file is stamped by itself
        return open_transposed_array(array, name, memory=limit, stamp=given)
    return ArraySource(array, name, reopen=reopen, stamp=stamp, waits=waits, memory=memory)


def _file_stamp(path: str) -> dict[str, Any]:
    size, time = stamped(FileSystem(path), path).stamp
    return {"size": size, "mtime_ns": time}


def lies_by_rows(array: Any, memory: int) -> bool:
    """Whether a column of an array on disk cannot be read without most of the others."""
    if isinstance(array, np.memmap):
        return bool(is_row_major(array))
    if isinstance(array, np.ndarray):
        return False
    return getattr(array, "chunks", None) is None or is_broad(array, memory)


def open_npy(path: str, memory: int | None = None) -> ColumnSource:
    """Return the columns of a .npy file, which is mapped into memory."""
    return open_array(
        _load_npy(path),
        path,
        reopen=partial(_load_npy, path),
        stamp=partial(_file_stamp, path),
        memory=memory,
    )


def load_labels(target: Any) -> Any:
    """Return labels; those of a .npy file if a path of one is given."""
    if not isinstance(target, str | os.PathLike) or not str(target).lower().endswith(".npy"):
        return target
    labels = _load_npy(str(target))
    if labels.ndim != 1:
        raise MaucError(f"{target} must hold labels in one dimension, got shape {labels.shape}.")
    return np.array(labels)


def open_memmap(array: Any, memory: int | None = None) -> ColumnSource:
    """Return the columns of a memmap."""
    path = None if array.filename is None else str(array.filename)
    reopen = None
    if path is not None and isinstance(array.base, mmap.mmap):  # all of what was mapped
        order = "C" if array.flags.c_contiguous else "F"
        reopen = partial(np.memmap, path, array.dtype, "r", array.offset, array.shape, order)
    stamp = None if path is None else partial(_file_stamp, path)
    return open_array(array, path or "the memmap", reopen=reopen, stamp=stamp, memory=memory)


def open_hdf5(path: str, place: str | None = None, memory: int | None = None) -> ColumnSource:
    """Return the columns of a dataset of an HDF5 file; of the only one if none is named."""
    place = place or _only_dataset(path)
    return open_array(
        load_hdf5(path, place), f"{path}::{place}", reopen=partial(load_hdf5, path, place),
        stamp=partial(_file_stamp, path), memory=memory,
    )  # fmt: skip


def open_dataset(dataset: Any, memory: int | None = None) -> ColumnSource:
    """Return the columns of a dataset of h5py."""
    path, place = dataset.file.filename, dataset.name
    is_file = os.path.isfile(path)
    return open_array(
        dataset, f"{path}::{place}", reopen=partial(load_hdf5, path, place) if is_file else None,
        stamp=partial(_file_stamp, path) if is_file else None, memory=memory,
    )  # fmt: skip


def open_zarr(array: Any, memory: int | None = None) -> ColumnSource:
    """Return the columns of a Zarr array."""
    name = str(getattr(array, "store_path", "the Zarr array"))
    return open_array(
        array, name, stamp=partial(_zarr_stamp, array), waits=_is_remote(array), memory=memory
    )


def _is_remote(array: Any) -> bool:
    """Whether the chunks of a Zarr array come by way of fsspec, and not from a local disk."""
    system = getattr(array.store, "fs", None)  # none of the other stores has one
    if system is None:
        return False
    local = optional_import("fsspec.implementations.local", "addresses of files")
    within = getattr(system, "sync_fs", system)  # Zarr makes systems asynchronous
    return not isinstance(within, local.LocalFileSystem)


def _zarr_stamp(array: Any) -> dict[str, Any]:
    """Return what tells whether a Zarr array is still the same: its files, or its bytes."""
    root = getattr(array.store, "root", None)
    if not isinstance(root, os.PathLike):
        return {"size": int(array.nbytes_stored())}
    found = [file.stat() for file in (Path(root) / array.path).rglob("*") if file.is_file()]
    return {
        "files": len(found),
        "size": sum(status.st_size for status in found),
        "mtime_ns": max((status.st_mtime_ns for status in found), default=0),
    }


def load_zarr(address: str, place: str | None, options: dict[str, Any] | None = None) -> Any:
    """Return an array of a Zarr store; the only one of a group if none is named."""
    zarr = optional_import("zarr", "Zarr arrays")
    try:
        found = zarr.open(address, mode="r", path=place or "", storage_options=options or None)
    except (OSError, ValueError, KeyError) as error:
        called = address if place is None else f"{address}::{place}"
        known = [] if place is None else _zarr_arrays(address, options)
        if known:
            raise MaucError(
                f"{address} has no array {place!r}. Its arrays: {', '.join(known)}."
            ) from error
        raise MaucError(f"{called} cannot be opened as a Zarr array: {error}") from error
    if not hasattr(found, "arrays"):
        return found
    tables = [name for name, held in found.arrays() if held.ndim == 2]
    return found[_only_one(address, tables)]


def _zarr_arrays(address: str, options: dict[str, Any] | None) -> list[str]:
    """Return the names of the arrays of a Zarr group, none if there is no group."""
    zarr = optional_import("zarr", "Zarr arrays")
    try:
        group = zarr.open_group(address, mode="r", storage_options=options or None)
    except (OSError, ValueError, KeyError):
        return []
    return sorted(name for name, _ in group.arrays())


def load_hdf5(path: str, place: str) -> Any:
    """Return a dataset of an HDF5 file."""
    h5py = optional_import("h5py", "HDF5 files")
    try:
        return h5py.File(path, "r")[place]
    except KeyError as error:
        listed = ", ".join(_datasets(path, None)) or "none"
        raise MaucError(f"{path} has no dataset {place!r}. Its datasets: {listed}.") from error
    except OSError as error:
        raise _hdf5_error(path, error) from error


def _hdf5_error(path: str, error: OSError) -> MaucError:
    if isinstance(error, FileNotFoundError | PermissionError):
        return unreadable_error(path, error)
    return MaucError(f"{path} cannot be read as an HDF5 file: {error}")


def _only_dataset(path: str) -> str:
    return _only_one(path, _datasets(path, 2))


def _only_one(path: str, tables: list[str]) -> str:
    if len(tables) != 1:
        listed = ", ".join(tables) or "none"
        raise MaucError(
            f"{path} must name one array of two dimensions, as in {path}::X. It holds: {listed}."
        )
    return tables[0]


def _datasets(path: str, n_dimensions: int | None) -> list[str]:
    h5py = optional_import("h5py", "HDF5 files")
    found: list[str] = []

    def visit(name: str, held: Any) -> None:
        if isinstance(held, h5py.Dataset) and n_dimensions in (None, held.ndim):
            found.append(name)

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except OSError as error:
        raise _hdf5_error(path, error) from error
    return found


def _load_npy(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise unreadable_error(path, error) from error
    except ValueError as error:
        raise MaucError(f"{path} cannot be read as a .npy file: {error}") from error
