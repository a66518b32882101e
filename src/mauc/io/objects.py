"""Objects that hold columns: what selectors are given in the place of an array, as a source."""

from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucTypeError
from mauc.memory import free_memory


def open_object(data: Any, *, memory: int | None = None) -> ColumnSource | None:
    """Return a source for data that are not in memory as arrays or frames; None for others."""
    if isinstance(data, ColumnSource):
        return data if memory is None else data.with_memory(memory)
    package, opener = type(data).__module__.partition(".")[0], ""
    if isinstance(data, np.memmap):
        opener = "arrays:open_memmap"
    elif package == "zarr" and hasattr(data, "chunks"):
        opener = "arrays:open_zarr_array"
    elif package == "h5py" and hasattr(data, "chunks"):
        opener = "arrays:open_h5py"
    elif package == "pyarrow" and hasattr(data, "schema"):
        is_table = hasattr(data, "num_rows") or hasattr(data, "count_rows")
        opener = "arrow:open_arrow" if is_table else ""
    elif package in ("dask", "dask_expr") and hasattr(data, "dask") and len(data.shape) == 2:
        opener = f"dask:{'DaskFrameSource' if hasattr(data, 'columns') else 'DaskArraySource'}"
    if not opener:
        return None
    module, _, function = opener.partition(":")
    source: ColumnSource = getattr(import_module(f"mauc.io.{module}"), function)(data, memory)
    return source


def open_in_memory(data: Any, memory: int | None) -> ColumnSource:
    """Return the columns of a data frame, a sparse matrix or an array."""
    from mauc.io.arrays import ArraySource, FrameSource, SparseSource

    if is_frame(data):
        return FrameSource(data, memory=memory)
    if sparse.issparse(data):
        return SparseSource(data, memory=memory)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise MaucTypeError(f"data cannot be made an array: {error}") from error
    return ArraySource(array, "the array", memory=memory)


def as_source(X: Any) -> Any:
    """Return X as a source if it need not fit into memory, otherwise as it is."""
    if type(X) is np.ndarray or isinstance(X, ColumnSource | list) or sparse.issparse(X):
        return X
    if isinstance(X, np.memmap):  # it stays an array if it fits into half of the free memory
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
