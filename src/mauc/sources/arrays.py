"""Columns of arrays that lie on disk or elsewhere: memmaps, Zarr arrays, HDF5 datasets."""

import mmap
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mauc.exceptions import MaucError, MaucTypeError
from mauc.extras import optional_import
from mauc.problem.columns import contiguous_columns, is_by_rows, take_columns
from mauc.problem.source import ColumnSource, default_memory
from mauc.problem.stripe_memory import stripe_array
from mauc.sources.files import FileSystem, stamped, unreadable_error

_PART_BYTES = 2**24  # of rows that are transposed together
_CHUNK_SHARE = 8  # of the memory, for the chunks that one column lies in
Array = np.ndarray[Any, Any]


class ArraySource(ColumnSource):
    """Columns of a two-dimensional array: of NumPy, a memmap, of Zarr or of h5py.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_features)
        With `shape`, `dtype`, slices and, if it is stored in chunks, `chunks`.
    name : str
    reopen : callable, optional
        Opens the array again in another process; without it the array itself is pickled.
    stamp : callable, optional
        Returns what must not change while the array is read: the size of its file and the like.
    memory : int, optional
    """

    def __init__(
        self, array: Any, name: str, *, reopen: Callable[[], Any] | None = None,
        stamp: Callable[[], dict[str, Any]] | None = None, memory: int | None = None,
    ) -> None:  # fmt: skip
        self._array, self._reopen = _check_array(array, name), reopen
        self._stamp, self._mark = stamp, None if stamp is None else stamp()
        self._lock = threading.Lock()
        self._rest: tuple[int, Array] | None = None
        limit = default_memory() if memory is None else memory
        self._is_broad = _column_bytes(array) * _CHUNK_SHARE > limit
        kind = array.dtype.newbyteorder("=")
        super().__init__(name, array.shape[0], [kind] * array.shape[1], memory=memory)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_rest": None}
        del state["_lock"]
        if self._reopen is not None:
            del state["_array"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        if self._reopen is not None:
            self._array = self._reopen()

    def __copy__(self) -> "ArraySource":
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | {"_lock": threading.Lock(), "_rest": None})
        return other

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns."""
        places = np.asarray(places)
        try:
            if isinstance(self._array, np.ndarray):
                return list(self._copy(start, stop, places))
            return list(self._read_chunks(start, stop, places))
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self.check_unchanged()
            raise MaucError(f"{self.name} cannot be read: {error}") from error

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows: as many chunks as are cheap to read one by one."""
        n, m = self.shape
        step = max(1, _PART_BYTES // max(1, m * self.types[0].itemsize))
        n_rows, _ = _chunks_of(self._array)
        step = max(1, step // n_rows) * n_rows
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def check_unchanged(self) -> None:
        """Raise if the file changed since the source was opened."""
        if self._stamp is not None and self._stamp() != self._mark:
            raise MaucError(
                f"{self.name} changed while it was being read; what was computed from it is not "
                f"valid. Open it again."
            )

    def _copy(self, start: int, stop: int, places: Array) -> Array:
        rows = np.asarray(self._array)[start:stop]
        found: Array = contiguous_columns(take_columns(rows, places))
        if isinstance(self._array, np.memmap):
            if np.may_share_memory(found, rows):
                found = found.copy()  # read here, not where it is worked on
            _let_go(self._array)
        return found

    def _read_chunks(self, start: int, stop: int, places: Array) -> Array:
        """Read columns run by run, and each run chunk by chunk."""
        out: Array = stripe_array((len(places), stop - start), self.types[0])
        if len(places) == 0:
            return out
        cuts = np.flatnonzero(np.diff(places) != 1) + 1
        position = 0
        for run in np.split(places, cuts):
            target = out[position : position + len(run)]
            self._read_run(start, stop, int(run[0]), int(run[-1]) + 1, target)
            position += len(run)
        return out

    def _read_run(self, start: int, stop: int, first: int, last: int, out: Array) -> None:
        """Fill `out` with neighbouring columns.

        No chunk is decompressed twice in a pass over the columns in their order: what the last
        chunks hold beyond the run is kept for the next call.
        """
        is_whole = (start, stop) == (0, self.shape[0]) and not self._is_broad
        done = 0
        if is_whole:
            with self._lock:
                rest, self._rest = self._rest, None
            if rest is not None and rest[0] <= first < rest[0] + len(rest[1]):
                kept = rest[1][first - rest[0] :][: last - first]
                out[: len(kept)] = kept
                done = len(kept)
                if first + done < rest[0] + len(rest[1]):
                    with self._lock:
                        self._rest = rest
        if first + done == last:
            return
        _, width = _chunks_of(self._array)
        edge = min(-(-last // width) * width, self.shape[1]) if is_whole else last
        more = np.empty((edge - last, stop - start), out.dtype)
        self._fill(start, stop, first + done, last, out[done:], more)
        if len(more):
            with self._lock:
                self._rest = last, more

    def _fill(self, start: int, stop: int, first: int, last: int, out: Array, more: Array) -> None:
        n_rows, _ = _chunks_of(self._array)
        row_bytes = (last - first + len(more)) * out.itemsize
        step = max(1, _PART_BYTES // max(1, row_bytes * n_rows)) * n_rows
        row = start
        while row < stop:
            end = min((row // n_rows) * n_rows + step, stop)
            part = np.asarray(self._array[row:end, first : last + len(more)])
            out[:, row - start : end - start] = part[:, : last - first].T
            more[:, row - start : end - start] = part[:, last - first :].T
            row = end


def open_array(
    array: Any, name: str, *, reopen: Callable[[], Any] | None = None,
    stamp: Callable[[], dict[str, Any]] | None = None, memory: int | None = None,
) -> ColumnSource:  # fmt: skip
    """Return a source of the columns of an array, transposed on disk if it lies by rows.

    An array on disk that lies by rows, or in chunks that are too wide, would be read whole for
    every few columns; if it is larger than the memory, its columns are taken from a cache.

    Parameters as in `ArraySource`; an array without a stamp is not transposed.
    """
    _check_array(array, name)
    limit = default_memory() if memory is None else memory
    n_bytes = int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize
    if stamp is not None and n_bytes > limit and lies_by_rows(array, limit):
        from mauc.sources.transposed import open_transposed_array

        given = None if os.path.isfile(name) else stamp  # a file is stamped by itself
        return open_transposed_array(array, name, memory=limit, stamp=given)
    return ArraySource(array, name, reopen=reopen, stamp=stamp, memory=memory)


def _file_stamp(path: str) -> dict[str, Any]:
    size, time = stamped(FileSystem(path), path).stamp
    return {"size": size, "mtime_ns": time}


def lies_by_rows(array: Any, memory: int) -> bool:
    """Whether a column of an array on disk cannot be read without most of the others."""
    if isinstance(array, np.memmap):
        return bool(is_by_rows(array))
    if isinstance(array, np.ndarray):
        return False
    return getattr(array, "chunks", None) is None or _column_bytes(array) * _CHUNK_SHARE > memory


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
    return open_array(array, name, stamp=partial(_zarr_stamp, array), memory=memory)


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


def _check_array(array: Any, name: str) -> Any:
    if len(array.shape) != 2 or array.dtype.kind not in "biufmM":
        raise MaucTypeError(
            f"{name} must be an array of numbers with two dimensions (samples, features), got "
            f"{array.dtype} of shape {tuple(array.shape)}."
        )
    return array


def _chunks_of(array: Any) -> tuple[int, int]:
    """Return the rows and columns of the pieces in which an array is stored."""
    if isinstance(array, np.ndarray):
        return 1, 1
    chunks = getattr(array, "chunks", None)
    if chunks is None:  # row after row
        return max(1, min(array.shape[0], 1024)), 1
    return int(chunks[0]), int(chunks[1])


def _column_bytes(array: Any) -> int:
    """Return the bytes of the pieces that one column lies in."""
    _, width = _chunks_of(array)
    return int(array.shape[0] * min(width, array.shape[1]) * array.dtype.itemsize)


def _let_go(array: Array) -> None:
    """Tell the system that the pages of a mapped file are not needed; they would count as used."""
    held = getattr(array, "_mmap", None)
    if held is not None and getattr(array, "mode", None) != "c" and hasattr(held, "madvise"):
        held.madvise(mmap.MADV_DONTNEED)
