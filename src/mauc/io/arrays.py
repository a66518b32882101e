"""Columns of arrays: in memory, memmaps, .npy files, HDF5 datasets and Zarr arrays; of frames."""

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import contiguous_columns, default_names, is_row_major, take_columns
from mauc.data.frames import pandas_values, polars_values
from mauc.data.nominal import find_nominal, get_column
from mauc.data.source import ColumnSource, default_memory
from mauc.exceptions import MaucError, MaucTypeError, option
from mauc.extras import optional_import
from mauc.io.cache import cache_array, drop_pages, file_stamp
from mauc.io.files import unreadable_error
from mauc.io.formats import split_array
from mauc.io.options import ReadOptions
from mauc.io.table import Table
from mauc.memory import check_memory

WORDS = np.dtype(object)  # of columns that are text or categories
_PART_BYTES = 2**24  # of rows that are transposed together
_COLUMN_BYTES = 100  # of the name and the type of a column
_CHUNK_SHARE = 8  # of the memory, for the chunks that one column lies in
Array = np.ndarray[Any, Any]


class ArraySource(ColumnSource):
    """Columns of an array, memmap, Zarr array or h5py dataset, which `reopen` opens elsewhere."""

    def __init__(
        self,
        array: Any,
        name: str,
        *,
        reopen: Callable[[], Any] | None = None,
        stamp: Callable[[], dict[str, Any]] | None = None,
        waits: bool = False,
        memory: int | None = None,
    ) -> None:
        self._array, self._reopen = check_array(array, name), reopen
        self._stamp, self._mark = stamp, None if stamp is None else stamp()
        self.waits = waits
        self._band: tuple[int, Array] | None = None  # first column and values of the last chunks
        self._is_broad = is_broad(array, default_memory() if memory is None else memory)
        kind = array.dtype.newbyteorder("=")
        super().__init__(name, array.shape[0], [kind] * array.shape[1], memory=memory)

    def __getstate__(self) -> dict[str, Any]:
        is_reopened = self._reopen is not None
        return self.__dict__ | {"_band": None, "_array": None if is_reopened else self._array}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._reopen is not None:
            self._array = self._reopen()

    @property
    def matrix(self) -> Any:
        """The array itself if it is in memory, None otherwise."""
        return self._array if type(self._array) is np.ndarray else None

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns."""
        columns = np.asarray(columns)
        try:
            if isinstance(self._array, np.ndarray):
                return list(self._copy(start, stop, columns))
            return list(self._read_chunks(start, stop, columns))
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self.check_unchanged()
            raise MaucError(f"{self.name} cannot be read: {error}") from error

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows: as many chunks as are cheap to read one by one."""
        n, m = self.shape
        step = _row_step(self._array, m * self.types[0].itemsize)
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def check_unchanged(self) -> None:
        """Raise if the file changed since the source was opened."""
        if self._stamp is not None and self._stamp() != self._mark:
            raise MaucError(
                f"{self.name} changed while it was being read; what was computed from it is not "
                f"valid. Open it again."
            )

    def _copy(self, start: int, stop: int, columns: Array) -> Array:
        rows = np.asarray(self._array)[start:stop]
        found: Array = contiguous_columns(take_columns(rows, columns))
        if isinstance(self._array, np.memmap):
            if np.may_share_memory(found, rows):
                found = found.copy()  # read here, not where it is worked on
            drop_pages(self._array)
        return found

    def _read_chunks(self, start: int, stop: int, columns: Array) -> Array:
        """Read columns by bands of chunks; the last band is kept, so that none is read twice."""
        out: Array = np.empty((len(columns), stop - start), self.types[0])
        is_whole = (start, stop) == (0, self.shape[0]) and not self._is_broad
        width = _chunks_of(self._array)[1]
        bands = columns // width
        for number in dict.fromkeys(bands.tolist()):
            mine = np.flatnonzero(bands == number)
            first, band = (-1, out[:0]) if self._band is None else self._band
            if not is_whole:
                first, last = int(columns[mine].min()), int(columns[mine].max()) + 1
                band = self._read_band(start, stop, first, last)
            elif first != number * width:
                first, self._band = number * width, None
                band = self._read_band(start, stop, first, min(first + width, self.shape[1]))
                self._band = first, band
            out[mine] = band[columns[mine] - first]
        return out

    def _read_band(self, start: int, stop: int, first: int, last: int) -> Array:
        """Read neighbouring columns, a few chunks at a time."""
        out: Array = np.empty((last - first, stop - start), self.types[0])
        step = _row_step(self._array, (last - first) * out.itemsize)
        for row in range(start // step * step, stop, step):
            begin, end = max(row, start), min(row + step, stop)
            out[:, begin - start : end - start] = self._array[begin:end, first:last].T
        return out


def check_array(array: Any, name: str) -> Any:
    """Return an array if it has numbers in two dimensions; raise otherwise."""
    if len(array.shape) != 2 or array.dtype.kind not in "biufmM":
        raise MaucTypeError(
            f"{name} must be an array of numbers with two dimensions (samples, features), got "
            f"{array.dtype} of shape {tuple(array.shape)}."
        )
    advice = "arrays have samples as rows and features as columns"
    check_memory(_COLUMN_BYTES * array.shape[1], f"{name}: {array.shape[1]:,} columns", advice)
    return array


def _chunks_of(array: Any) -> tuple[int, int]:
    """Return the rows and columns of the pieces in which an array is stored, or is read."""
    if isinstance(array, np.ndarray):
        return 1, 1
    chunks = getattr(array, "chunks", None)
    if chunks is None:  # row after row
        n_rows, n_columns = array.shape
        width = _PART_BYTES // max(1, n_rows * array.dtype.itemsize)
        return max(1, min(n_rows, 1024)), max(1, min(width, n_columns))
    return int(chunks[0]), int(chunks[1])


def _row_step(array: Any, row_bytes: int) -> int:
    """Return how many rows are read together: whole chunks."""
    n_rows, _ = _chunks_of(array)
    return max(1, _PART_BYTES // max(1, row_bytes * n_rows)) * n_rows


def is_broad(array: Any, memory: int) -> bool:
    """Whether the pieces that one column lies in take too large a part of the memory."""
    _, width = _chunks_of(array)
    n_bytes = int(array.shape[0] * min(width, array.shape[1]) * array.dtype.itemsize)
    return n_bytes * _CHUNK_SHARE > memory


class FrameSource(ColumnSource):
    """Columns of a frame of pandas or polars."""

    def __init__(
        self, frame: Any, name: str = "the data frame", *, memory: int | None = None
    ) -> None:
        self._frame = frame
        self._is_word = find_nominal(frame)
        types = [
            WORDS
            if word
            else kind
            if getattr(kind, "char", "") in ("d", "f")
            else column_values(get_column(frame, j)[:0]).dtype
            for j, (word, kind) in enumerate(zip(self._is_word, frame.dtypes, strict=True))
        ]
        super().__init__(
            name, frame.shape[0], types, feature_names=list(frame.columns), memory=memory
        )

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns."""
        found = []
        for j in columns:
            column = get_column(self._frame, int(j))
            if stop - start < self.shape[0]:
                column = column[start:stop]
            found.append(as_words(column) if self._is_word[j] else column_values(column))
        return found


class SparseSource(ColumnSource):
    """Columns of a sparse matrix, which are made dense as they are read."""

    def __init__(
        self, matrix: Any, name: str = "the sparse matrix", *, memory: int | None = None
    ) -> None:
        self.matrix: Any = sparse.csc_array(matrix)
        super().__init__(name, matrix.shape[0], [matrix.dtype] * matrix.shape[1], memory=memory)

    def read(self, columns: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return list(self.matrix[:, np.asarray(columns)].toarray(order="F").T)


def column_values(column: Any) -> Array:
    """Return a column of numbers or dates of a data frame as an array."""
    is_polars = not hasattr(column, "iloc")
    values: Array = polars_values(column) if is_polars else pandas_values(column)
    if values.dtype.kind in "biufmM":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise MaucError(
            f"column {column.name!r} has the type {column.dtype}, which is neither a number, a "
            f"date nor words; leave it out ({option('drop', column.name)})."
        ) from error


def as_words(column: Any) -> Any:
    """Return a column of words or categories as a pandas Series."""
    import pandas

    if hasattr(column, "iloc"):
        return column.reset_index(drop=True)
    return pandas.Series(pandas.Categorical(column.cast(str).to_list()))


def open_array(
    array: Any,
    name: str,
    memory: int | None,
    *,
    stamp: Callable[[], dict[str, Any]] | None = None,
    **how: Any,
) -> ColumnSource:
    """Return the columns of an array, from the cache if it is large, on disk and lies by rows."""
    check_array(array, name)
    limit = default_memory() if memory is None else memory
    n_bytes = int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize
    if stamp is not None and n_bytes > limit and _lies_by_rows(array, limit):
        return cache_array(array, name, stamp, memory=limit, layout=_layout(array))
    return ArraySource(array, name, memory=memory, stamp=stamp, **how)


def _lies_by_rows(array: Any, memory: int) -> bool:
    """Whether a column of an array on disk cannot be read without most of the others."""
    if isinstance(array, np.memmap):  # mode "c": the file lacks what was changed
        return array.mode != "c" and bool(is_row_major(array))
    if isinstance(array, np.ndarray):
        return False
    return getattr(array, "chunks", None) is None or is_broad(array, memory)


def _layout(array: Any) -> list[int]:
    """Return where in its file a memory map begins, and how it goes on; nothing for others."""
    held = getattr(array, "_mmap", None)
    if held is None:
        return []
    pages = np.frombuffer(held, np.uint8).__array_interface__["data"][0]
    first = array.__array_interface__["data"][0]
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    return [begin + first - pages, *array.strides]


def open_npy(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open a .npy file, which is mapped into memory if it is not read whole."""
    array = _load_npy(str(path))
    if memory is None:
        source: ColumnSource = ArraySource(np.array(array), str(path))
    else:
        source = open_array(
            array,
            str(path),
            memory,
            reopen=partial(_load_npy, str(path)),
            stamp=partial(file_stamp, Path(path)),
        )
    return _array_table(source, options.target)


def _array_table(
    source: ColumnSource, target: str | int | None, load: Callable[[str], Any] | None = None
) -> Table:
    """Return the table of an array; labels are a column, a .npy file or what `load` returns."""
    labels = None
    if isinstance(target, str) and target.lower().endswith(".npy"):
        labels = np.array(_load_npy(target))
        if labels.ndim != 1:
            raise MaucError(
                f"{target} must hold labels in one dimension, got shape {labels.shape}."
            )
    elif load is not None and isinstance(target, str) and not target.removeprefix("-").isdigit():
        labels = load(target)[:]
    return Table(
        source.name,
        source,
        default_names(range(source.shape[1])),
        labels=labels,
        is_named=False,
        has_named_labels=labels is not None,
    )


def _load_npy(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise unreadable_error(path, error) from error
    except ValueError as error:
        raise MaucError(f"{path} cannot be read as a .npy file: {error}") from error


def open_memmap(array: Any, memory: int | None = None) -> ColumnSource:
    """Return the columns of a memmap."""
    path = None if array.filename is None else str(array.filename)
    reopen = None
    if path is not None and isinstance(array.base, mmap.mmap):  # all of what was mapped
        order = "C" if array.flags.c_contiguous else "F"
        reopen = partial(np.memmap, path, array.dtype, "r", array.offset, array.shape, order)
    stamp = None if path is None else partial(file_stamp, Path(path))
    return open_array(array, path or "the memmap", memory, reopen=reopen, stamp=stamp)


def open_hdf5(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open a dataset of an HDF5 file; the only one of two dimensions if none is named."""
    file, name = split_array(str(path))
    name = name or _only_one(file, _datasets(file, 2))
    source = open_h5py(_load_hdf5(file, name), memory, name)
    return _array_table(source, options.target, partial(_load_hdf5, file))


def open_h5py(dataset: Any, memory: int | None = None, name: str | None = None) -> ColumnSource:
    """Return the columns of a dataset of h5py, called by its own name if there is none."""
    path, name = dataset.file.filename, name or dataset.name
    how: dict[str, Any] = {}
    if os.path.isfile(path):
        how = {"reopen": partial(_load_hdf5, path, name), "stamp": partial(file_stamp, Path(path))}
    return open_array(dataset, f"{path}::{name}", memory, **how)


@contextmanager
def _open_hdf5(path: str) -> Iterator[Any]:
    """Open an HDF5 file, which stays open as long as one of its datasets is used."""
    h5py = optional_import("h5py", "HDF5 files")
    try:
        yield h5py.File(path, "r")
    except (FileNotFoundError, PermissionError) as error:
        raise unreadable_error(path, error) from error
    except OSError as error:
        raise MaucError(f"{path} cannot be read as an HDF5 file: {error}") from error


def _load_hdf5(path: str, name: str) -> Any:
    try:
        with _open_hdf5(path) as file:
            return file[name]
    except KeyError as error:
        listed = ", ".join(_datasets(path)) or "none"
        raise MaucError(f"{path} has no dataset {name!r}. Its datasets: {listed}.") from error


def _datasets(path: str, n_dimensions: int | None = None) -> list[str]:
    found: list[str] = []

    def visit(name: str, held: Any) -> None:
        if hasattr(held, "dtype") and n_dimensions in (None, held.ndim):
            found.append(name)

    with _open_hdf5(path) as file, file:
        file.visititems(visit)
    return found


def _only_one(path: str, tables: list[str]) -> str:
    if len(tables) != 1:
        listed = ", ".join(tables) or "none"
        raise MaucError(
            f"{path} must name one array of two dimensions, as in {path}::X. It holds: {listed}."
        )
    return tables[0]


def open_zarr(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open a Zarr array; the only one of two dimensions of a group if none is named."""
    address, name = split_array(str(path))
    load = partial(_load_zarr, address, dict(options.storage_options or {}))
    return _array_table(open_zarr_array(load(name), memory), options.target, load)


def open_zarr_array(array: Any, memory: int | None = None) -> ColumnSource:
    """Return the columns of a Zarr array."""
    name = str(getattr(array, "store_path", "the Zarr array"))
    waits = hasattr(array.store, "fs")  # its chunks come by way of fsspec
    return open_array(array, name, memory, stamp=partial(_zarr_stamp, array), waits=waits)


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


def _load_zarr(address: str, options: dict[str, Any], name: str | None) -> Any:
    """Return an array of a Zarr store; the only one of a group if none is named."""
    zarr = optional_import("zarr", "Zarr arrays")
    known = {"mode": "r", "storage_options": options or None}
    try:
        found = zarr.open(address, path=name or "", **known)
    except (OSError, ValueError, KeyError) as error:
        try:
            arrays = sorted(key for key, _ in zarr.open_group(address, **known).arrays())
        except (OSError, ValueError, KeyError):
            arrays = []
        if name is not None and arrays:
            raise MaucError(
                f"{address} has no array {name!r}. Its arrays: {', '.join(arrays)}."
            ) from error
        called = address if name is None else f"{address}::{name}"
        raise MaucError(f"{called} cannot be opened as a Zarr array: {error}") from error
    if hasattr(found, "arrays"):
        found = found[_only_one(address, [key for key, held in found.arrays() if held.ndim == 2])]
    if "pickle" in str([found.filters, found.compressors]).lower():  # older numcodecs run them
        raise MaucError(f"{address} holds pickles, which are never read; store numbers or texts.")
    return found
