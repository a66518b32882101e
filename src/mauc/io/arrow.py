"""Columns of Arrow: its types as types of NumPy, tables and datasets of pyarrow, Feather files.

Times of the day are durations, decimals the nearest float64, strings and dictionaries categories.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.doubles import is_beyond_doubles
from mauc.data.source import ColumnSource, empty_columns
from mauc.exceptions import MaucError, option
from mauc.io.files import (
    File,
    FileSystem,
    check_unchanged,
    content_error,
    read_beginning,
    unreadable_error,
)
from mauc.io.formats import FORMATS
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_unique

WORDS = np.dtype(object)  # of columns that become categories
_FLOAT_BYTES = 9  # a float64, and whether it is missing
_BATCH_ROWS = 2**17
_FEATHER = "a Feather (Arrow IPC) file"
Array = np.ndarray[Any, Any]


def numpy_type(kind: Any) -> np.dtype[Any] | None:
    """Return the type of NumPy for the values of an Arrow type, None if there is none."""
    from pyarrow import types

    kind = storage_type(kind)
    if is_words(kind):
        return WORDS
    if types.is_null(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_duration(kind) or types.is_time(kind):
        return np.dtype(f"timedelta64[{kind.unit}]")
    if types.is_date32(kind):
        return np.dtype("datetime64[D]")
    if types.is_timestamp(kind):
        return np.dtype(f"datetime64[{kind.unit}]")
    is_plain = types.is_primitive(kind) and not types.is_interval(kind)
    return np.dtype(kind.to_pandas_dtype()) if is_plain else None


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
    return str(kind) in ("string", "large_string", "string_view")


class ColumnFill:
    """One column that is read chunk by chunk into `values`, or gathered if these are None."""

    def __init__(self, values: Array | None) -> None:
        self._values = values
        self._missing: Array | None = None
        self._words: list[Any] = []
        self._position = 0

    def add(self, chunk: Any) -> None:
        """Take the values of the next rows, a pyarrow.Array or ChunkedArray."""
        if hasattr(chunk, "chunks"):
            for part in chunk.chunks:
                self.add(part)
            return
        if hasattr(chunk, "storage"):
            chunk = chunk.storage
        if self._values is None:
            if str(chunk.type) == "null":
                chunk = chunk.cast("string")
            is_encoded = hasattr(chunk, "dictionary")
            self._words.append(chunk if is_encoded else chunk.dictionary_encode())
            return
        start, stop = self._position, self._position + len(chunk)
        self._position = stop
        out = self._values[start:stop]
        if chunk.null_count and out.dtype.kind not in "fmM":
            if self._missing is None:
                self._missing = np.zeros(len(self._values), bool)
            self._missing[start:stop] = chunk.is_null().to_numpy(zero_copy_only=False)
            chunk = chunk.fill_null(False if out.dtype.kind == "b" else 0)
        out[...] = _chunk_values(chunk)

    def result(self) -> Any:
        """Return the column as `ColumnSource.read` does."""
        if self._values is None:
            return _categories(self._words)
        if self._position != len(self._values):
            raise OSError(f"{len(self._values):,} rows are wanted, {self._position:,} are there")
        if self._missing is None:
            return self._values
        return exact_with_missing(self._values, self._missing)


def exact_with_missing(values: np.ndarray, is_missing: np.ndarray) -> np.ndarray:
    """Return numbers with NaN where they are missing, in a type that keeps the others exactly.

    Wide integers are timedelta64 without a unit, which has a missing value, or extended precision.
    """
    if not is_beyond_doubles(values[~is_missing]) or values.dtype.kind == "f":
        kept = values.astype(np.float64 if values.dtype.kind != "f" else values.dtype)
        kept[is_missing] = np.nan
        return kept
    if values[~is_missing].max() > np.iinfo(np.int64).max:
        return np.where(is_missing, np.longdouble(np.nan), values)
    ticks = values.astype(np.int64).view("timedelta64")
    ticks[is_missing] = np.timedelta64("NaT")
    return ticks


def add_widths(source: ColumnSource, may_miss: Collection[int]) -> None:
    """Count what columns take that may have missing values: integers then become floats."""
    for j in may_miss:
        if source.types[j].kind in "biu":
            source.widths[j] += _FLOAT_BYTES


def _chunk_values(chunk: Any) -> Array:
    """Return numbers, dates or durations of Arrow as an array; missing floats and dates only."""
    import pyarrow as arrow

    kind = chunk.type
    if arrow.types.is_time(kind):
        chunk = chunk.cast(f"int{kind.bit_width}").cast("int64").cast(arrow.duration(kind.unit))
    elif arrow.types.is_decimal(kind) or arrow.types.is_null(kind):
        chunk = chunk.cast("float64")
    values: Array = chunk.to_numpy(zero_copy_only=False)
    return values


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


class ArrowColumns(ColumnSource):
    """A source of columns whose Arrow types are known, those that cannot be read among them."""

    arrow_types: list[Any]
    type_errors: dict[str, MaucError]  #: columns whose types in several files do not go together

    def check_readable(self, columns: Iterable[int]) -> Sequence[str]:
        """Raise if one of the columns has a type that no feature has; there are no other notes."""
        assert self.feature_names is not None
        for j in columns:
            name = self.feature_names[j]
            if name in self.type_errors:
                raise self.type_errors[name]
            if j < len(self.arrow_types) and numpy_type(self.arrow_types[j]) is None:
                raise MaucError(
                    f"{self.name}: column {name!r} has the type {self.arrow_types[j]}, which is "
                    f"neither a number, a date nor words; leave it out ({option('drop', name)})."
                )
        return ()

    def read_rows(self, start: int, stop: int, columns: Array) -> list[Any]:
        """Read some rows of columns."""
        numbers = [int(j) for j in columns]
        self.check_readable(numbers)
        # The order of the file is the order of reading; a column may be asked for twice.
        distinct = sorted({j for j in numbers if j < len(self.arrow_types)})
        with reading(self.name, self.check_unchanged):
            outs = empty_columns([self.types[j] for j in distinct], max(0, stop - start))
            fills = {j: ColumnFill(out) for j, out in zip(distinct, outs, strict=True)}
            self._fill(start, stop, fills)
            found = {j: fill.result() for j, fill in fills.items()}
        found |= {j: self._read_partition(j, start, stop) for j in set(numbers) - set(distinct)}
        return [found[j] for j in numbers]

    def _fill(self, start: int, stop: int, fills: dict[int, ColumnFill]) -> None:
        """Add some rows to columns, which are in their order."""
        raise NotImplementedError

    def _read_partition(self, j: int, start: int, stop: int) -> Any:
        """Return some rows of a column that is in the names of folders."""
        raise NotImplementedError


class ArrowSource(ArrowColumns):
    """Columns of a pyarrow Table or Dataset, whose `files` must not change."""

    def __init__(
        self,
        data: Any,
        name: str,
        *,
        system: FileSystem | None = None,
        files: Sequence[File] = (),
        type_errors: Mapping[str, MaucError] = {},
        memory: int | None = None,
    ) -> None:
        self._data, self._system, self._files = data, system, tuple(files)
        self.type_errors: dict[str, MaucError] = dict(type_errors)
        check_unique(name, data.schema.names)
        self.arrow_types: list[Any] = list(data.schema.types)
        self._is_table = hasattr(data, "num_rows")
        self.waits: bool = system is not None and not system.is_local
        with reading(name, self.check_unchanged):
            n_samples = data.num_rows if self._is_table else data.count_rows()
            self._edges = self._find_edges(n_samples)
        super().__init__(
            name,
            n_samples,
            [feature_type(kind) for kind in self.arrow_types],
            feature_names=data.schema.names,
            memory=memory,
        )
        counts = [data.column(j).null_count for j in range(self.shape[1])] if self._is_table else ()
        add_widths(self, [j for j in range(self.shape[1]) if not counts or counts[j]])

    def _fill(self, start: int, stop: int, fills: dict[int, ColumnFill]) -> None:
        for batch in self._batches(start, stop, list(fills)):
            for fill, column in zip(fills.values(), batch, strict=True):
                if not self._is_table:  # offsets and codes of a broken file point anywhere
                    column.validate(full=True)
                fill.add(column)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows, each within one file."""
        edges = sorted({*self._edges, *(stop for _, stop in super().row_parts())})
        return list(pairwise(edges))

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        if self._system is not None:
            check_unchanged(self._system, self._files)

    def _batches(self, start: int, stop: int, columns: list[int]) -> Iterator[list[Any]]:
        if self._is_table:
            yield self._data.select(columns).slice(start, stop - start).columns
            return
        # In order and without reading ahead: that is done for whole stripes of columns.
        names = self._data.schema.names  # made anew when it is asked for
        options = {
            "columns": [names[j] for j in columns],
            "batch_size": _BATCH_ROWS,
            "batch_readahead": 1,
            "fragment_readahead": 1,
            "use_threads": False,
        }
        if len(self._edges) == 2:
            yield from cut_batches(self._data.to_batches(**options), 0, start, stop)
            return
        for fragment, (first, last) in zip(
            self._data.get_fragments(), pairwise(self._edges), strict=True
        ):
            if first < stop and last > start:
                batches = fragment.to_batches(schema=self._data.schema, **options)
                yield from cut_batches(batches, first, start, stop)

    def _find_edges(self, n_samples: int) -> list[int]:
        """Return where the files of a dataset begin, and the end of the last."""
        try:
            fragments = [] if self._is_table else list(self._data.get_fragments())
        except ValueError:  # rows are filtered
            fragments = []
        counts = [fragment.count_rows() for fragment in fragments]
        if len(counts) > 1 and sum(counts) == n_samples:
            return [0, *accumulate(counts)]
        return [0, n_samples]


@contextmanager
def reading(name: str, check: Callable[[], None], what: str = "") -> Iterator[None]:
    """Raise errors of Arrow as those of a damaged file, unless `check` raises that it changed."""
    import pyarrow as arrow

    try:
        yield
    except (arrow.ArrowException, OSError, MemoryError) as error:
        check()
        raise unreadable_error(name, error, what) from error


def cut_batches(batches: Iterable[Any], row: int, start: int, stop: int) -> Iterator[list[Any]]:
    """Yield the columns of batches, the first of which begins with `row`, from start to stop."""
    for batch in batches:
        begin, end = max(start - row, 0), min(stop - row, len(batch))
        if begin < end:
            yield batch.slice(begin, end - begin).columns
        row += len(batch)
        if row >= stop:
            return


def open_arrow(data: Any, memory: int | None = None) -> ArrowSource:
    """Return the columns of a table, record batch or dataset of pyarrow."""
    import pyarrow

    if isinstance(data, pyarrow.RecordBatch):
        data = pyarrow.Table.from_batches([data])
    if hasattr(data, "num_rows"):
        return ArrowSource(data, "the Arrow table", memory=memory)
    known: dict[str, Any] = {}
    paths = getattr(data, "files", None)
    if paths and type(data.filesystem).__name__ == "LocalFileSystem":  # that must not change
        system = FileSystem(paths[0])
        known = {"system": system, "files": [system.file(path) for path in paths]}
    return ArrowSource(data, "the Arrow dataset", **known, memory=memory)


def arrow_table(source: ArrowColumns, hidden: Collection[str] = ()) -> Table:
    """Return the table of a source of Arrow columns; columns `hidden` are no features."""
    assert source.feature_names is not None
    names = source.feature_names.tolist()
    if source.shape[0] == 0:
        raise MaucError(f"{source.name} has columns but no rows.")

    return Table(
        source.name,
        source,
        names,
        check_column=lambda column: source.check_readable([column]),
        hidden=frozenset(j for j, name in enumerate(names) if name in hidden),
    )


def open_feather(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open Feather (Arrow IPC) files with the same columns."""
    import pyarrow as arrow
    import pyarrow.dataset as dataset

    system = FileSystem(str(path), options.storage_options)
    files = system.files(FORMATS["feather"].endings)
    is_file = system.is_local and len(files) == 1
    if is_file and read_beginning(Path(files[0].path), 6) != b"ARROW1":
        raise content_error(Path(path), _FEATHER)
    schemas = []
    for file in files:
        with reading(file.name, partial(check_unchanged, system, files), f" as {_FEATHER}"):
            opened = system.open(file)
            with arrow.OSFile(opened) if system.is_local else arrow.PythonFile(opened) as held:
                reader = arrow.ipc.open_file(
                    held, options=arrow.ipc.IpcReadOptions(use_threads=False)
                )
                schemas.append(reader.schema)
                # The scanner of datasets, whose threads may crash at an error, must not meet one.
                for i in range(reader.num_record_batches if system.is_local else 0):
                    reader.get_batch(i).validate(full=True)
    types, errors = unify_schemas([file.name for file in files], schemas)
    found = dataset.dataset(
        [file.path for file in files],
        format="ipc",
        filesystem=None if system.is_local else system.fs,
        partitioning="hive" if files[0].parts else None,
        partition_base_dir=system.root,
    )
    if any(not schema.equals(schemas[0]) for schema in schemas):
        kinds = [types.get(field.name, field.type) for field in found.schema]
        pairs = zip(found.schema.names, kinds, strict=True)
        found = found.replace_schema(arrow.schema(list(pairs)))
    source = ArrowSource(
        found, system.address, system=system, files=files, type_errors=errors, memory=memory
    )
    return arrow_table(source, index_names(schemas[0]))


def index_names(schema: Any) -> list[str]:
    """Return the columns in which pandas keeps the index of a frame."""
    found = (schema.pandas_metadata or {}).get("index_columns", [])
    return [str(name) for name in found if isinstance(name, str)]


def unify_schemas(
    names: Sequence[str], schemas: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, MaucError]]:
    """Return the common Arrow type of each column of files, and an error where there is none."""
    first = schemas[0]
    check_unique(names[0], first.names)
    types = {field.name: storage_type(field.type) for field in first}
    origin = dict.fromkeys(types, names[0])
    errors: dict[str, MaucError] = {}
    for name, schema in zip(names[1:], schemas[1:], strict=True):
        if schema is first or schema.equals(first):
            continue
        check_unique(name, schema.names)
        _check_columns(name, schema.names, names[0], first.names)
        for column, known in types.items():
            other = storage_type(schema.field(column).type)
            if other == known or column in errors:
                continue
            wider = widen(known, other)
            if wider is None:
                errors[column] = MaucError(
                    f"column {column!r} is {known} in {origin[column]} but {other} in {name}; "
                    f"write it with one type in all files, or leave it out "
                    f"({option('drop', column)})."
                )
            elif wider != known:
                types[column], origin[column] = wider, name
    return types, errors


def _check_columns(name: str, found: list[str], first: str, wanted: list[str]) -> None:
    for verb, other, one, two in (("lacks", "has", wanted, found), ("has", "lacks", found, wanted)):
        known = set(two)
        odd = next((column for column in one if column not in known), None)
        if odd is not None:
            raise MaucError(
                f"{name} {verb} column {odd!r}, which {first} {other}; files of one table need the "
                f"same columns."
            )


def widen(one: Any, other: Any) -> Any:
    """Return an Arrow type that holds the values of two, None if there is none."""
    import pyarrow as arrow

    if is_words(one) and is_words(other):
        return arrow.string()
    schemas = [arrow.schema([("column", kind)]) for kind in (one, other)]
    try:
        return arrow.unify_schemas(schemas, promote_options="permissive").field(0).type
    except arrow.ArrowTypeError:
        return None
