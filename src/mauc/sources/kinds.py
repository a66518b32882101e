"""Which source opens what: a path, address or object in, a source with all columns out."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mauc.checks import check_choice
from mauc.data.columns import default_names, is_frame
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucTypeError
from mauc.memory import free_memory
from mauc.sources.files import ENDINGS, FileSystem, ending, find_files, is_address

#: formats of text files
TEXTS = ("csv", "tsv", "txt")
_WHOLE = ("arff", "envi", "mat", "npz", "svmlight", "xlsx")  # read whole by load_dataset
FORMATS = ("parquet", "feather", "npy", "zarr", "hdf5", *TEXTS, *_WHOLE)
#: options of files that are text
READING = ("encoding", "separator", "decimal", "thousands", "header", "missing", "sheet")
#: the format by the ending of a file of arrays
ARRAYS = {".npy": "npy", ".zarr": "zarr", ".h5": "hdf5", ".hdf5": "hdf5", ".he5": "hdf5"}
_ROWS = {".csv": "csv", ".tsv": "tsv", ".txt": "txt", ".data": "csv"}


def open_any(
    data: Any, target: Any, *, memory: int | None, format: str | None,
    storage_options: Mapping[str, Any] | None, reading: Mapping[str, Any],
    texts: Sequence[str | int] = (), rules: Mapping[str, Any] = {},
) -> tuple[ColumnSource, Any]:  # fmt: skip
    """Return a source with all columns, the target among them, and the target.

    Parameters and returns as in `mauc.open_columns`; a target that is a file or an array of the
    same file is read.

    Parameters
    ----------
    texts : sequence of str or int
        Columns of text files that are text whatever they hold.
    rules : mapping
        How `load_dataset` checks labels of files that are read whole.
    """
    if isinstance(data, str | PathLike):
        return _open_path(
            fspath(data), target, memory, format, storage_options, dict(reading), texts, rules
        )
    for option, value in {"format": format, "storage_options": storage_options, **reading}.items():
        if value is not None:
            raise MaucError(f"{option} goes with files, not with a {type(data).__name__}.")
    source = open_object(data, memory=memory)
    if source is None:
        source = _open_in_memory(data, memory)
    return source, target


def open_object(data: Any, *, memory: int | None = None) -> ColumnSource | None:
    """Return a source for data that are not in memory as arrays or frames; None for others.

    Parameters
    ----------
    data : object
        A memmap, a Zarr array, an h5py dataset, a table or dataset of pyarrow, a Dask array or
        data frame, or a source.
    memory : int, optional
    """
    if isinstance(data, ColumnSource):
        return data if memory is None else data.with_memory(memory)
    if isinstance(data, np.memmap):
        from mauc.sources.open_arrays import open_memmap

        return open_memmap(data, memory)
    package = type(data).__module__.partition(".")[0]
    kind = type(data).__name__
    if package == "zarr" and hasattr(data, "chunks"):
        from mauc.sources.open_arrays import open_zarr

        return open_zarr(data, memory)
    if package == "h5py" and kind == "Dataset":
        from mauc.sources.open_arrays import open_dataset

        return open_dataset(data, memory)
    if package == "pyarrow" and hasattr(data, "schema"):
        from mauc.sources.arrow import ArrowSource, local_files

        if kind == "RecordBatch":
            import pyarrow

            data = pyarrow.Table.from_batches([data])
        if hasattr(data, "num_rows") or hasattr(data, "count_rows"):
            name = "the Arrow table" if hasattr(data, "num_rows") else "the Arrow dataset"
            return ArrowSource(data, name, **local_files(data), memory=memory)
    if package in ("dask", "dask_expr") and hasattr(data, "dask") and len(data.shape) == 2:
        from mauc.sources.dask import DaskArraySource, DaskFrameSource

        is_table = hasattr(data, "columns")
        return (DaskFrameSource if is_table else DaskArraySource)(data, memory=memory)
    return None


def as_source(X: Any) -> Any:
    """Return X as a source if it is data that need not fit into memory, otherwise as it is.

    A memmap that fits into half of the free memory stays an array. No package is imported for
    arrays, frames and sparse matrices.
    """
    if type(X) is np.ndarray or isinstance(X, ColumnSource | list) or sparse.issparse(X):
        return X
    if isinstance(X, np.memmap):
        free = free_memory()
        if X.ndim != 2 or free is None or 2 * X.nbytes <= free:
            return X
    found = open_object(X)
    return X if found is None else found


def as_vector(values: Any) -> Any:
    """Return labels or weights in memory: those of a Dask collection, of Zarr and the like."""
    package = type(values).__module__.partition(".")[0]
    if package in ("dask", "dask_expr") and hasattr(values, "compute"):
        return values.compute()
    if package == "pyarrow" and hasattr(values, "to_pandas"):
        return values.to_pandas()
    if package in ("zarr", "h5py"):
        return values[:]
    return values


def _open_in_memory(data: Any, memory: int | None) -> ColumnSource:
    from mauc.sources.arrays import ArraySource
    from mauc.sources.frames import FrameSource, SparseSource

    if is_frame(data):
        return FrameSource(data, memory=memory)
    if sparse.issparse(data):
        return SparseSource(data, memory=memory)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise MaucTypeError(f"data cannot be made an array: {error}") from error
    return ArraySource(array, "the array", memory=memory)


def _open_path(
    address: str, target: Any, memory: int | None, format: str | None,
    storage_options: Mapping[str, Any] | None, reading: dict[str, Any],
    texts: Sequence[str | int], rules: Mapping[str, Any],
) -> tuple[ColumnSource, Any]:  # fmt: skip
    if format is not None:
        check_choice("format", format, FORMATS)
    path, place = _split(address)
    kind = format or ARRAYS.get(ending(path)) or _ROWS.get(ending(path.removesuffix(".gz")))
    if kind is None and not is_address(path) and _is_zarr(Path(path)):
        kind = "zarr"
    if kind not in TEXTS and kind not in _WHOLE:
        for option, value in reading.items():
            if value is not None:
                raise MaucError(f"{option} goes with csv, tsv and txt files, not with {address}.")
    if kind in ("npy", "hdf5", *TEXTS) and is_address(path):
        raise MaucError(f"{address}: files of this format are read from a disk; copy it there.")
    if kind == "npy":
        from mauc.sources.open_arrays import load_labels, open_npy

        return open_npy(path, memory), load_labels(target)
    if kind in ("hdf5", "zarr"):
        return _open_stored(kind, path, place, target, memory, storage_options)
    if kind in TEXTS:
        from mauc.sources.transposed import open_transposed_text

        label = target if isinstance(target, str | int) else None
        source = open_transposed_text(
            path, memory=memory, format=kind, label=label, texts=texts, **reading
        )
        return source, target
    return _open_files(address, target, memory, format, storage_options, reading, rules)


def _open_files(
    address: str, target: Any, memory: int | None, format: str | None,
    storage_options: Mapping[str, Any] | None, reading: dict[str, Any], rules: Mapping[str, Any],
) -> tuple[ColumnSource, Any]:  # fmt: skip
    system = FileSystem(address, storage_options)
    kind, files = (format, ()) if format in _WHOLE else find_files(system, format)
    if kind == "parquet":
        from mauc.sources.parquet import ParquetSource

        return ParquetSource(system, files, memory=memory), target
    if kind == "feather":
        from mauc.sources.arrow import open_feather

        return open_feather(system, files, memory), target
    if system.is_local and Path(address).is_file():
        from mauc.datasets.load import load_dataset

        found = load_dataset(address, target, format=format, keep_ids=True, **reading, **rules)
        source = _open_in_memory(found.X, memory)
        source.name = address
        if found.feature_names != default_names(range(len(found.feature_names))):
            source.feature_names = np.array(found.feature_names, dtype=object)
        return source, found.y
    wanted = ", ".join(ENDINGS)
    raise MaucError(
        f"{address} holds no file whose ending is known ({wanted}); name its format, as in "
        f"format='parquet'."
    )


def _open_stored(
    kind: str, path: str, place: str | None, target: Any, memory: int | None,
    storage_options: Mapping[str, Any] | None,
) -> tuple[ColumnSource, Any]:  # fmt: skip
    """Return an array of an HDF5 file or Zarr store, and the labels if they are one as well."""
    from mauc.sources.open_arrays import load_hdf5, load_labels, load_zarr, open_hdf5, open_zarr

    target = load_labels(target)
    is_name = isinstance(target, str) and not target.removeprefix("-").isdigit()
    if kind == "hdf5":
        source = open_hdf5(path, place, memory)
        return source, load_hdf5(path, target)[:] if is_name else target
    options = dict(storage_options or {})
    source = open_zarr(load_zarr(path, place, options), memory)
    return source, load_zarr(path, target, options)[:] if is_name else target


def _split(address: str) -> tuple[str, str | None]:
    """Return a path and what follows it after ``::``, the name of an array in the file."""
    path, mark, place = address.rpartition("::")
    if mark and "://" not in place and ending(path) in ARRAYS:
        return path, place
    return address, None


def _is_zarr(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))
