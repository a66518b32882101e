"""All columns of a source in memory or in a file: a source in, an array, frame or path out."""

from pathlib import Path

import numpy as np

from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import open_atomic
from mauc.memory import check_memory
from mauc.problem.frame_columns import common_type
from mauc.problem.wide_columns import as_floats

_COPIES = 2  # a column is read before it is put where it belongs
_GROUP_BYTES = 2**27  # of a row group that is written


def load_columns(source, kind="default"):
    """Return all columns of a source in memory, if they fit.

    Parameters
    ----------
    source : ColumnSource
    kind : {"default", "pandas", "polars"}, default="default"
        The words of ``set_output``.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples, n_features)
        By default an array, but a pandas frame where columns are words or dates; columns of a frame
        keep their types.
    """
    n, m = source.shape
    check_memory(
        source.n_bytes + _COPIES * n * max(kind.itemsize for kind in source.types),
        f"{source.name}: {m:,} columns of {n:,} rows",
        "select fewer features, or write them to a file: "
        'source.take(selector.get_support(indices=True)).write("reduced.parquet")',
    )
    keeps_types = any(kind.kind in "OmM" for kind in source.types)
    if kind == "default" and not keeps_types:
        return _as_array(source)
    pandas = optional_import("pandas", "data frames")
    names = source.feature_names
    columns = [
        _frame_column(pandas, column, of_source)
        for column, of_source in zip(_read_all(source), source.types, strict=True)
    ]
    frame = pandas.DataFrame(dict(enumerate(columns)), copy=False)
    frame.columns = [f"x{j}" for j in range(m)] if names is None else names
    if kind == "polars":
        return optional_import("polars", "polars data frames").from_pandas(frame)
    return frame


def _as_array(source):
    """Return numbers as one array of the type that holds all of them, column by column."""
    n, m = source.shape
    columns = _read_all(source)
    kind = common_type({column.dtype for column in columns})
    is_read_so = kind.char == "g" and all(held.char != "g" for held in source.types)
    if kind.kind in "mM" or is_read_so:  # whole numbers beyond float64 with missing values
        kind = np.dtype(np.float64)
    X = np.empty((n, m), kind, order="F")
    for j in range(m):
        X[:, j] = as_floats(columns[j]) if columns[j].dtype.kind == "m" else columns[j]
        columns[j] = None
    return X


def _frame_column(pandas, column, kind):
    """Return a column for pandas: integers beyond float64 with missing values are integers."""
    if kind.kind not in "iu" or column.dtype.char not in "mg":
        return column
    is_missing, values = _whole_numbers(column, kind)
    return pandas.arrays.IntegerArray(values, is_missing)


def _whole_numbers(column, kind):
    """Return which values are missing, and all as integers, 0 where missing."""
    is_missing = column != column
    values = column.view(np.int64) if column.dtype.kind == "m" else column
    return is_missing, np.where(is_missing, 0, values).astype(kind)


def _read_all(source):
    columns = []
    for j in range(source.shape[1]):
        columns += source.read(np.array([j]))
    source.check_unchanged()
    return columns


def write_columns(source, path, *, y=None, target_name="class", force=False):
    """Write a source to a Parquet file, see `ColumnSource.write`."""
    arrow = optional_import("pyarrow", "Parquet files")
    parquet = optional_import("pyarrow.parquet", "Parquet files")
    n, m = source.shape
    if n == 0:
        raise MaucError(f"{source.name} has no rows to write.")
    names = [f"x{j}" for j in range(m)] if source.feature_names is None else source.feature_names
    names = [str(name) for name in names]
    labels = None
    if y is not None:
        labels = np.asarray(y)
        if labels.shape != (n,):
            raise MaucError(f"y must hold {n} labels (the rows of the source), got {labels.shape}.")
        if target_name in names:
            raise MaucError(f"target_name is {target_name!r}, which is the name of a feature.")
        names.append(target_name)
    schema = None
    with open_atomic(path, force=force) as file:
        writer = None
        try:
            for start, stop in _row_steps(source):
                columns = source.read_rows(start, stop, np.arange(m))
                arrays = [
                    _arrow_column(arrow, c, k) for c, k in zip(columns, source.types, strict=True)
                ]
                if labels is not None:
                    arrays.append(arrow.array(labels[start:stop]))
                if writer is None:
                    kinds = [a.type for a in arrays]
                    for j in np.flatnonzero(source.is_word):
                        if arrow.types.is_null(kinds[j]):  # no word in the first rows
                            kinds[j] = _word_type(arrow, source, j)
                    schema = arrow.schema(list(zip(names, kinds, strict=True)))
                    writer = parquet.ParquetWriter(file, schema)
                table = arrow.table(
                    [a.cast(kind) for a, kind in zip(arrays, schema.types, strict=True)],
                    schema=schema,
                )
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        source.check_unchanged()
    return Path(path)


def _row_steps(source):
    """Yield ranges of rows that fit into the memory of a source, several parts at once."""
    width = max(1, sum(kind.itemsize for kind in source.types))
    most = max(1, min(_GROUP_BYTES, source.memory // 4) // width)
    first, last = 0, 0
    for start, stop in source.row_parts():
        if last > first and stop - first > most:
            yield first, last
            first = start
        last = stop
        while last - first > most:
            yield first, first + most
            first += most
    if last > first:
        yield first, last


def _word_type(arrow, source, j):
    """Return the Arrow type of a column of words, by the first rows that have one."""
    for start, stop in _row_steps(source):
        (column,) = source.read_rows(start, stop, np.array([j]))
        kind = _arrow_column(arrow, column, source.types[j]).type
        if not arrow.types.is_null(kind):
            return kind
    return arrow.string()


def _arrow_column(arrow, column, kind):
    """Return a column for Arrow: integers with missing values are integers again."""
    if hasattr(column, "iloc"):
        # Objects: categories of integers have no type for a missing one.
        return arrow.array(column.astype(object), from_pandas=True)
    if kind.kind in "biu" and column.dtype.kind != kind.kind:
        is_missing, values = _whole_numbers(column, kind)
        return arrow.array(values, mask=is_missing)
    if column.dtype.kind == "f":
        return arrow.array(column, from_pandas=True)
    if kind == np.dtype("datetime64[D]"):
        return arrow.array(column.astype("datetime64[D]"))
    return arrow.array(column)
