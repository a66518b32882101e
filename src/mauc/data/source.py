"""The contract of column sources: tables whose columns are read when they are needed."""

from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mauc.data.columns import as_floats, default_names
from mauc.data.frames import common_type
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import open_atomic
from mauc.memory import check_memory, free_memory
from mauc.progress import track
from mauc.results import plural

_COPIES = 2  # a column is read before it is put where it belongs
_GROUP_BYTES = 2**27  # of a row group that is written
_DEFAULT_SHARE = 4  # a pass takes a quarter of the free memory by default
_DEFAULT_MEMORY = 2**30  # where it is not known what is free
_COPY_BYTES = 2**23  # of columns whose rows are chosen in one pass
_ROW_PART_BYTES = 2**26  # of a part of the rows, where a source has no parts of its own


class ColumnSource:
    """Columns of a table in files, on other machines, or in an array too large to copy.

    Every selector that looks at columns one by one fits on a source as on an array. A source is
    made by `mauc.open_columns`; further kinds derive from this class and implement `read` or
    `read_rows`. Sources are not changed once they are made, are pickled as what is needed to open
    them again (a path, not the data), and may be read by several threads at once.

    Parameters
    ----------
    name : str
        What errors call it: a path or an address.
    n_samples : int
    types : sequence of dtype
        Type of the values of each column; object for text. Integers with missing values are read
        as floats all the same: the type says how wide a value is, not what is read.
    feature_names : sequence of str, optional
    memory : int, optional
        Bytes that a pass over the columns may take; a quarter of what is free by default.

    Attributes
    ----------
    name, types, feature_names, memory
        As given, or by default.
    shape : tuple of int
        (n_samples, n_features).
    widths : ndarray of shape (n_features,), int64
        Bytes that a value takes while it is read and held; more than those of its type where
        integers have missing values.
    stripe_bytes : int
        Columns that are read at once where the memory allows: with more, reading is not faster.
    waits : bool
        Whether reading waits for another machine more than it takes a core.
    """

    # Nobody works while the first stripe is read.
    stripe_bytes = 2**26
    waits = False
    complete: Collection[int] = ()  #: columns that are known to miss no value

    def __init__(
        self,
        name: object,
        n_samples: int,
        types: Iterable[DTypeLike],
        *,
        feature_names: Iterable[object] | None = None,
        memory: int | None = None,
    ):
        self.name: str = str(name)
        self.types: list[np.dtype] = [np.dtype(kind) for kind in types]
        self.widths: np.ndarray = np.array([kind.itemsize for kind in self.types], np.int64)
        self.shape: tuple[int, int] = (int(n_samples), len(self.types))
        self.feature_names: np.ndarray | None = None
        if feature_names is not None:
            self.feature_names = np.array([str(name) for name in feature_names], dtype=object)
        self.memory: int = default_memory() if memory is None else int(memory)

    def read(self, columns: np.ndarray) -> list[Any]:
        """Read whole columns, given by their int64 numbers in any order.

        They are returned as a data frame would hold them: booleans, numbers or dates as contiguous
        arrays with NaN or NaT for missing values; text and categories as a pandas Series.
        """
        return self.read_rows(0, self.shape[0], columns)

    def read_rows(self, start: int, stop: int, columns: np.ndarray) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        return [column[start:stop] for column in self.read(columns)]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that together are all rows and are cheap to read one by one."""
        width = sum(kind.itemsize for kind in self.types)
        step = max(1, _ROW_PART_BYTES // max(width, 1))
        n = self.shape[0]
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def parts_within(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return the ranges of `row_parts`, divided evenly where they take more than `n_bytes`."""
        most = max(1, n_bytes // max(1, int(self.widths.sum())))
        ranges = []
        for start, stop in self.row_parts():
            step = -(-(stop - start) // -(-(stop - start) // most))
            ranges += [(row, min(row + step, stop)) for row in range(start, stop, step)]
        return ranges

    def check_unchanged(self) -> None:
        """Raise a `MaucError` that names the file if it changed since the source was opened."""

    def take(self, columns: list[int] | np.ndarray) -> "ColumnSource":
        """Return a source of some of the columns, in the order of `columns`."""
        return ChosenColumns(self, columns)

    def take_rows(self, rows: np.ndarray) -> "ColumnSource":
        """Return a source of the rows of a mask, in their order."""
        return _ChosenRows(self, rows)

    def write(
        self,
        path: str | Path,
        *,
        y: ArrayLike | None = None,
        target_name: str = "class",
        force: bool = False,
    ) -> Path:
        """Write the columns, and labels if they are given, to a Parquet file; return its path.

        It is written part by part within `memory`, under another name until it is complete. An
        existing file is only replaced with `force`.
        """
        import pyarrow.parquet as parquet

        with open_atomic(path, force=force) as file:
            write_arrow(self, partial(parquet.ParquetWriter, file), y, target_name)
        return Path(path)

    def with_memory(self, memory: int) -> "ColumnSource":
        """Return the same source with another limit of memory, in bytes."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, memory=int(memory))
        return other

    def name_of(self, j: int) -> Any:
        """Return the name of a column, its number where it has none."""
        return j if self.feature_names is None else self.feature_names[j]

    @property
    def is_text(self) -> np.ndarray:
        """Mask of the columns of text and categories, which are nominal."""
        return np.array([kind.kind == "O" for kind in self.types], bool)

    @property
    def n_bytes(self) -> int:
        """Bytes of all values in memory; text counts as codes."""
        return self.shape[0] * sum(kind.itemsize for kind in self.types)

    def __repr__(self) -> str:
        """Return the name and the shape."""
        shape = f"{plural(self.shape[0], 'row')}, {plural(self.shape[1], 'column')}"
        return f"<{type(self).__name__.lstrip('_')} {self.name}: {shape}>"


class _View(ColumnSource):
    """A part of another source, which is read as that one is."""

    def __init__(self, source: ColumnSource, n_samples: int, columns: np.ndarray):
        self._source = source
        self.stripe_bytes: int = source.stripe_bytes
        self.waits: bool = source.waits
        names = source.feature_names
        super().__init__(
            source.name,
            n_samples,
            [source.types[j] for j in columns],
            feature_names=None if names is None else names[columns],
            memory=source.memory,
        )
        self.widths: np.ndarray = source.widths[columns]

    def check_unchanged(self) -> None:
        self._source.check_unchanged()


class ChosenColumns(_View):
    """Some columns of a source, in any order."""

    def __init__(self, source: ColumnSource, columns: list[int] | np.ndarray):
        self._columns = np.arange(source.shape[1])[columns]
        super().__init__(source, source.shape[0], self._columns)

    def read(self, columns: np.ndarray) -> list[Any]:
        """Read whole columns."""
        return self._source.read(self._columns[columns])

    def read_rows(self, start: int, stop: int, columns: np.ndarray) -> list[Any]:
        """Read some rows of columns."""
        return self._source.read_rows(start, stop, self._columns[columns])

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()


class _ChosenRows(_View):
    """Some rows of a source, in their order."""

    def __init__(self, source: ColumnSource, rows: np.ndarray) -> None:
        self._rows = np.flatnonzero(rows)
        super().__init__(source, len(self._rows), np.arange(source.shape[1]))

    def read(self, columns: np.ndarray) -> list[Any]:
        """Read whole columns, of all rows of the source, and take the rows."""
        # A few at a time, for they are there twice; into one array for each type.
        columns = np.asarray(columns)
        n = max(1, self._source.shape[0])
        kinds = [self.types[j] for j in columns]
        outs = empty_columns(kinds, len(self._rows))
        step = max(1, _COPY_BYTES // (n * max((kind.itemsize for kind in kinds), default=1)))
        found = []
        for start in range(0, len(columns), step):
            whole = self._source.read(columns[start : start + step])
            for out, column in zip(outs[start : start + step], whole, strict=True):
                if out is None or column.dtype != out.dtype:
                    found.append(_take(column, self._rows))
                else:
                    found.append(np.take(column, self._rows, out=out))
        return found

    def read_rows(self, start: int, stop: int, columns: np.ndarray) -> list[Any]:
        """Read some rows of columns."""
        rows = self._rows[start:stop]
        if len(rows) == 0:
            return [column[:0] for column in self._source.read_rows(0, 1, columns)]
        first, last = int(rows[0]), int(rows[-1]) + 1
        parts = self._source.read_rows(first, last, columns)
        return [_take(column, rows - first) for column in parts]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return what is left of the ranges of the source."""
        edges = np.searchsorted(self._rows, [stop for _, stop in self._source.row_parts()])
        starts = np.concatenate([[0], edges[:-1]])
        return [(int(a), int(b)) for a, b in zip(starts, edges, strict=True) if a < b]


def empty_columns(kinds: list[np.dtype], n_rows: int) -> list[Any]:
    """Return arrays to fill, None for text; those of one type are rows of one array."""
    stacks = {
        kind: iter(np.empty((kinds.count(kind), n_rows), kind))
        for kind in dict.fromkeys(kinds)
        if kind.kind != "O"
    }
    return [next(stacks[kind]) if kind in stacks else None for kind in kinds]


def _take(column: Any, rows: np.ndarray) -> Any:
    """Return rows of an array or of a pandas Series."""
    if hasattr(column, "iloc"):
        return column.iloc[rows].reset_index(drop=True)
    return column[rows]


def default_memory() -> int:
    """Return the default memory, in bytes, of a pass over a source."""
    free = free_memory()
    return _DEFAULT_MEMORY if free is None else max(free // _DEFAULT_SHARE, 2**26)


def load_columns(source: ColumnSource, kind: str = "default") -> Any:
    """Return all columns in memory, if they fit: an array, a frame or a `kind` of set_output."""
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
    import pandas

    names = source.feature_names
    columns = [
        _frame_column(pandas, column, of_source)
        for column, of_source in zip(_read_all(source), source.types, strict=True)
    ]
    frame = pandas.DataFrame(dict(enumerate(columns)), copy=False)
    frame.columns = default_names(range(m)) if names is None else names
    if kind == "polars":
        return optional_import("polars", "polars data frames").from_pandas(frame)
    return frame


def _as_array(source: ColumnSource) -> np.ndarray:
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


def _frame_column(pandas: Any, column: Any, kind: np.dtype) -> Any:
    """Return a column for pandas: integers beyond float64 with missing values are integers."""
    if kind.kind not in "iu" or column.dtype.char not in "mg":
        return column
    is_missing, values = _whole_numbers(column, kind)
    return pandas.arrays.IntegerArray(values, is_missing)


def _whole_numbers(column: np.ndarray, kind: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return which values are missing, and all as integers, 0 where missing."""
    is_missing = column != column
    values = column.view(np.int64) if column.dtype.kind == "m" else column
    return is_missing, np.where(is_missing, 0, values).astype(kind)


def _read_all(source: ColumnSource) -> list[Any]:
    """Read all columns, one by one."""
    columns = []
    for j in range(source.shape[1]):
        columns += source.read(np.array([j]))
    source.check_unchanged()
    return columns


def write_arrow(
    source: ColumnSource, open_writer: Any, y: ArrayLike | None = None, target_name: str = "class"
) -> None:
    """Write a source and its labels part by part; `open_writer` makes the writer of a schema."""
    import pyarrow as arrow

    n, m = source.shape
    if n == 0:
        raise MaucError(f"{source.name} has no rows to write.")
    names = default_names(range(m)) if source.feature_names is None else source.feature_names
    names = [str(name) for name in names]
    labels = None
    if y is not None:
        labels = np.asarray(y)
        if labels.shape != (n,):
            raise MaucError(f"y must hold {n} labels (the rows of the source), got {labels.shape}.")
        if target_name in names:
            raise MaucError(f"target_name is {target_name!r}, which is the name of a feature.")
        names.append(target_name)
    steps = source.parts_within(min(_GROUP_BYTES, source.memory // 4))
    width = sum(kind.itemsize for kind in source.types)
    sizes = [width * (stop - start) for start, stop in steps]
    writer = None
    try:
        for start, stop in track(steps, "parts of the rows", n_bytes=sizes):
            columns = source.read_rows(start, stop, np.arange(m))
            arrays = [
                _arrow_column(arrow, c, k) for c, k in zip(columns, source.types, strict=True)
            ]
            if labels is not None:
                arrays.append(arrow.array(labels[start:stop]))
            if writer is None:
                kinds = [a.type for a in arrays]
                for j in np.flatnonzero(source.is_text).tolist():
                    if arrow.types.is_null(kinds[j]):  # no text in the first rows
                        kinds[j] = _text_type(arrow, source, j)
                schema = arrow.schema(list(zip(names, kinds, strict=True)))
                writer = open_writer(schema)
            arrays = [a.cast(kind) for a, kind in zip(arrays, kinds, strict=True)]
            writer.write_table(arrow.table(arrays, schema=schema))
    finally:
        if writer is not None:
            writer.close()
    source.check_unchanged()


def _text_type(arrow: Any, source: ColumnSource, j: int) -> Any:
    """Return the Arrow type of a column of text, by the first rows that have one."""
    for start, stop in source.row_parts():
        (column,) = source.read_rows(start, stop, np.array([j]))
        kind = _arrow_column(arrow, column, source.types[j]).type
        if not arrow.types.is_null(kind):
            return kind
    return arrow.string()


def _arrow_column(arrow: Any, column: Any, kind: np.dtype) -> Any:
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
