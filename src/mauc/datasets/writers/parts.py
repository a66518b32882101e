"""Write a data set that is not in memory, a part of the rows at a time."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, Any

import numpy as np

from mauc.datasets.dataset import Dataset
from mauc.datasets.writers.frames import as_frame, check_texts, write_text_part
from mauc.memory import check_memory
from mauc.parallel import track

_COPIES = 4  # of a part of the rows: as it is read, as a frame, as Arrow and as it is written


def row_parts(dataset: Dataset) -> Iterator[Dataset]:
    """Yield the rows in parts that are in memory, within the memory of the source."""
    source = dataset.X
    width = sum(kind.itemsize for kind in source.types)
    ranges = source.parts_within(source.memory // _COPIES)
    sizes = [width * (stop - start) for start, stop in ranges]
    for start, stop in track(ranges, "parts of the rows", n_bytes=sizes):
        yield _rows(dataset, start, stop)


def in_memory(dataset: Dataset, path: str) -> Dataset:
    """Return a data set whose columns were all read; raise if they take more memory than is free.

    Parameters
    ----------
    dataset : Dataset
        With a source as `X`.
    path : str
        The file that it is read for.
    """
    n, m = dataset.X.shape
    check_memory(
        _COPIES * dataset.X.n_bytes, f"{path}: {n:,} rows x {m:,} columns, written at once,",
        "write parquet, feather, csv or tsv, which are written in parts",
    )  # fmt: skip
    read = _rows(dataset, 0, n)
    X = read.X if read.nominal_features else np.column_stack([read.X[name] for name in read.X])
    return replace(read, X=X)


def write_text_parts(dataset: Dataset, file: IO[bytes], separator: str = ",") -> None:
    """Write a csv or tsv file."""
    for number, part in enumerate(row_parts(dataset)):
        frame = as_frame(part)
        check_texts(part, frame)
        write_text_part(frame, file, separator, has_header=number == 0)


def write_parquet_parts(dataset: Dataset, file: IO[bytes]) -> None:
    """Write a Parquet file, a row group for each part."""
    import pyarrow.parquet as parquet

    _write_arrow(dataset, file, parquet.ParquetWriter)


def write_feather_parts(dataset: Dataset, file: IO[bytes]) -> None:
    """Write a Feather (Arrow IPC) file."""
    import pyarrow as arrow

    _write_arrow(dataset, file, arrow.ipc.new_file)


def _write_arrow(dataset: Dataset, file: IO[bytes], open_writer: Callable[..., Any]) -> None:
    schema = _schema(dataset)
    with open_writer(file, schema) as writer:
        for part in row_parts(dataset):
            writer.write_table(_as_arrow(part, schema))


def _rows(dataset: Dataset, start: int, stop: int) -> Dataset:
    import pandas

    columns = dataset.X.read_rows(start, stop, np.arange(dataset.n_features))
    frame = pandas.DataFrame(dict(zip(dataset.feature_names, columns, strict=True)))
    return replace(dataset, X=frame, y=dataset.y[start:stop])


def _schema(dataset: Dataset) -> Any:
    """Return the columns of the file: a part may lack what another has, missing values say."""
    import pyarrow as arrow

    source = dataset.X
    fields = []
    for j, (name, kind) in enumerate(zip(dataset.feature_names, source.types, strict=True)):
        if kind.kind == "O":
            fields.append(arrow.field(name, _word_type(source, j)))
        else:
            fields.append(arrow.field(name, arrow.from_numpy_dtype(kind)))
    labels = arrow.array(dataset.y[:1])
    return arrow.schema([*fields, arrow.field(dataset.target_name, labels.type)])


def _word_type(source: Any, j: int) -> Any:
    """Return the Arrow type of the values of a nominal column, by the first rows that have one."""
    import pyarrow as arrow

    for start, stop in source.row_parts():
        known = source.read_rows(start, stop, np.array([j]))[0].dropna()
        if len(known):
            values = np.asarray(known.cat.categories)
            return arrow.array(values[:1].tolist()).type
    return arrow.string()


def _as_arrow(part: Dataset, schema: Any) -> Any:
    import pyarrow as arrow

    columns = [*(part.X[name] for name in part.feature_names), part.y]
    arrays = []
    for column, field in zip(columns, schema, strict=True):
        if str(column.dtype) == "category":
            column = column.astype(object)
        array = arrow.array(column, from_pandas=True)
        arrays.append(array if array.type == field.type else array.cast(field.type))
    return arrow.table(arrays, schema=schema)
