"""Types of Arrow as types of NumPy: a column of a schema in, how its chunks are read out.

Numbers, booleans, dates and durations become arrays of NumPy; missing values are NaN or NaT, of
integers and booleans as `mauc.data.columns.with_missing` has them. Times of the day are
durations, decimals the nearest float64. Strings and dictionaries are categories.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from mauc.data.columns import with_missing
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError

_FLOAT_BYTES = 9  # a float64, and whether it is missing
WORDS = np.dtype(object)  # of columns that become categories
Array = np.ndarray[Any, Any]


def numpy_type(kind: Any) -> np.dtype[Any] | None:
    """Return the type of NumPy for the values of an Arrow type, None if there is none.

    Parameters
    ----------
    kind : pyarrow.DataType

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mauc.sources.arrow_types import numpy_type
    >>> numpy_type(pa.float32()), numpy_type(pa.timestamp("us", "UTC"))
    (dtype('float32'), dtype('<M8[us]'))
    >>> numpy_type(pa.decimal128(10, 2)), numpy_type(pa.list_(pa.int8()))
    (dtype('float64'), None)
    """
    kind = storage_type(kind)
    from pyarrow import types

    if is_words(kind):
        return WORDS
    if types.is_boolean(kind):
        return np.dtype(bool)
    if types.is_integer(kind) or types.is_floating(kind):
        plain: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return plain
    if types.is_null(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_date32(kind):
        return np.dtype("datetime64[D]")
    if types.is_date64(kind):
        return np.dtype("datetime64[ms]")
    if types.is_timestamp(kind):
        return np.dtype(f"datetime64[{kind.unit}]")
    if types.is_duration(kind) or types.is_time(kind):
        return np.dtype(f"timedelta64[{kind.unit}]")
    return None


def feature_type(kind: Any) -> np.dtype[Any]:
    """Return the type of NumPy that a source names for a column; object where there is none."""
    found = numpy_type(kind)
    return WORDS if found is None else found


def storage_type(kind: Any) -> Any:
    """Return an Arrow type, that of its storage for an extension type."""
    return getattr(kind, "storage_type", kind)


def is_words(kind: Any) -> bool:
    """Whether an Arrow type is one of strings or of a dictionary of plain values."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_words(kind.value_type) or numpy_type(kind.value_type) is not None
    is_view = getattr(types, "is_string_view", None)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or (is_view is not None and is_view(kind))
    )


def no_feature_error(name: str, column: str, kind: Any) -> MaucError:
    """Return the error for a column of a type that no feature has."""
    return MaucError(
        f"{name}: column {column!r} has the type {kind}, which is neither a number, a date nor "
        f"words; leave it out (drop={column!r})."
    )


class ColumnFill:
    """One column that is read chunk by chunk.

    Parameters
    ----------
    values : ndarray of shape (n_samples,), or None
        Where numbers go; None for words, which are gathered.
    """

    def __init__(self, values: Array | None) -> None:
        self._values = values
        self._missing: Array | None = None
        self._words: list[Any] = []
        self._position = 0

    def add(self, chunk: Any) -> None:
        """Take the values of the next rows.

        Parameters
        ----------
        chunk : pyarrow.Array
        """
        if hasattr(chunk, "storage"):
            chunk = chunk.storage
        if self._values is None:
            self._words.append(chunk if hasattr(chunk, "dictionary") else _encode(chunk))
            return
        start, stop = self._position, self._position + len(chunk)
        self._position = stop
        out = self._values[start:stop]
        if chunk.null_count and out.dtype.kind not in "fmM":
            if self._missing is None:
                self._missing = np.zeros(len(self._values), bool)
            self._missing[start:stop] = chunk.is_null().to_numpy(zero_copy_only=False)
            chunk = chunk.fill_null(False if out.dtype.kind == "b" else 0)
        out[...] = chunk_values(chunk)

    def add_all(self, column: Any) -> None:
        """Take the chunks of a ChunkedArray."""
        for chunk in column.chunks:
            self.add(chunk)

    def result(self) -> Any:
        """Return the column as `ColumnSource.read` does."""
        if self._values is None:
            return _categories(self._words)
        if self._missing is None:
            return self._values
        return with_missing(self._values, self._missing)


def add_widths(source: ColumnSource, may_miss: Collection[int]) -> None:
    """Count what columns take whose missing values are told only when they are read.

    Parameters
    ----------
    source : ColumnSource
    may_miss : collection of int
        Columns that may have missing values; those of integers and booleans become floats.
    """
    for j in may_miss:
        if source.types[j].kind in "biu":
            source.widths[j] += _FLOAT_BYTES


def chunk_values(chunk: Any) -> Array:
    """Return numbers, dates or durations of Arrow as an array; missing floats and dates only.

    Parameters
    ----------
    chunk : pyarrow.Array
    """
    kind = str(chunk.type)
    if kind.startswith(("time32", "time64")):
        chunk = chunk.view("int32" if kind.startswith("time32") else "int64")
        ticks = chunk.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        ticks[chunk.is_null().to_numpy(zero_copy_only=False)] = np.iinfo(np.int64).min
        unit = kind.partition("[")[2].rstrip("]")
        times: Array = ticks.view(f"timedelta64[{unit}]")
        return times
    if kind.startswith("decimal"):
        chunk = chunk.cast("float64")
    elif kind == "null":
        return np.full(len(chunk), np.nan)
    values: Array = chunk.to_numpy(zero_copy_only=False)
    return values


def make_fills(types: list[np.dtype[Any]], n_samples: int) -> list[ColumnFill]:
    """Return what takes columns of given types; those of one type lie in one array.

    Parameters
    ----------
    types : list of dtype
        In the order of the columns.
    n_samples : int
    """
    stacks = {
        kind: iter(np.empty((types.count(kind), n_samples), kind))
        for kind in dict.fromkeys(types)
        if kind != WORDS
    }
    return [ColumnFill(None if kind == WORDS else next(stacks[kind])) for kind in types]


def _encode(chunk: Any) -> Any:
    from pyarrow import types

    if types.is_null(chunk.type):
        chunk = chunk.cast("string")
    return chunk.dictionary_encode()


def _categories(chunks: list[Any]) -> Any:
    """Return chunks of dictionaries as a pandas Series of categories."""
    import pandas
    import pyarrow as arrow

    if not chunks:
        return pandas.Series(pandas.Categorical([]))
    value_type = next((c.type.value_type for c in chunks if len(c.dictionary)), None)
    kind = arrow.dictionary(arrow.int32(), value_type or chunks[0].type.value_type)
    chunks = [chunk if chunk.type == kind else chunk.cast(kind) for chunk in chunks]
    return arrow.chunked_array(chunks, type=kind).to_pandas()
