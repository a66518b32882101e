"""Columns of tables and datasets of pyarrow, and of Feather (Arrow IPC) files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.datasets.readers.table import check_unique
from mauc.exceptions import MaucError
from mauc.sources.arrow_types import (
    add_widths,
    feature_type,
    make_fills,
    no_feature_error,
    numpy_type,
)
from mauc.sources.files import File, FileSystem, check_unchanged, stamped
from mauc.sources.schemas import unify_schemas

_BATCH_ROWS = 2**17
Array = np.ndarray[Any, Any]


class ArrowSource(ColumnSource):
    """Columns of a table or dataset of pyarrow.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
    name : str
    system : FileSystem, optional
    files : sequence of File
        Files that must not change.
    type_errors : mapping of str to MaucError
        Columns whose types in several files do not go together.
    memory : int, optional

    Attributes
    ----------
    arrow_types : list of pyarrow.DataType
    """

    def __init__(
        self, data: Any, name: str, *, system: FileSystem | None = None,
        files: Sequence[File] = (), type_errors: Mapping[str, MaucError] = {},
        memory: int | None = None,
    ) -> None:  # fmt: skip
        self._data, self._system, self._files = data, system, tuple(files)
        self.type_errors = dict(type_errors)
        check_unique(name, data.schema.names)  # type: ignore[arg-type]
        self.arrow_types = list(data.schema.types)
        self._is_table = hasattr(data, "num_rows")
        self.waits = system is not None and not system.is_local
        self.name = name
        with self._reading():
            n_samples = data.num_rows if self._is_table else data.count_rows()
            self._edges = self._find_edges(n_samples)
        super().__init__(
            name, n_samples, [feature_type(kind) for kind in self.arrow_types],
            feature_names=data.schema.names, memory=memory,
        )  # fmt: skip
        counts = [data.column(j).null_count for j in range(self.shape[1])] if self._is_table else ()
        add_widths(self, [j for j in range(self.shape[1]) if not counts or counts[j]])

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns."""
        numbers = [int(j) for j in places]
        names = self._data.schema.names
        for j in numbers:
            if names[j] in self.type_errors:
                raise self.type_errors[names[j]]
            if numpy_type(self.arrow_types[j]) is None:
                raise no_feature_error(self.name, names[j], self.arrow_types[j])
        distinct = sorted(set(numbers))
        fills = make_fills([self.types[j] for j in distinct], max(0, stop - start))
        with self._reading():
            for columns in self._batches(start, stop, [names[j] for j in distinct]):
                for fill, column in zip(fills, columns, strict=True):
                    fill.add_all(column) if hasattr(column, "chunks") else fill.add(column)
            found = dict(zip(distinct, (fill.result() for fill in fills), strict=True))
        return [found[j] for j in numbers]

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows, each within one file."""
        edges = sorted({*self._edges, *(stop for _, stop in super().row_parts())})
        return list(pairwise(edges))

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        if self._system is not None:
            check_unchanged(self._system, self._files)

    def _batches(self, start: int, stop: int, names: list[str]) -> Iterator[list[Any]]:
        if self._is_table:
            part = self._data.select(names)
            yield part.slice(start, stop - start).columns
            return
        # In order and without reading ahead: that is done for whole stripes of columns.
        options = {
            "columns": names, "batch_size": _BATCH_ROWS, "batch_readahead": 1,
            "fragment_readahead": 1, "use_threads": False,
        }  # fmt: skip
        if len(self._edges) == 2:
            yield from _cut(self._data.to_batches(**options), 0, start, stop)
            return
        for fragment, (first, last) in zip(
            self._data.get_fragments(), pairwise(self._edges), strict=True
        ):
            if first < stop and last > start:
                batches = fragment.to_batches(schema=self._data.schema, **options)
                yield from _cut(batches, first, start, stop)

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
    def _reading(self) -> Iterator[None]:
        import pyarrow as arrow

        try:
            yield
        except MaucError:
            raise
        except (arrow.ArrowException, OSError) as error:
            self.check_unchanged()
            raise MaucError(
                f"{self.name} cannot be read, it is truncated or damaged: {str(error).rstrip('.')}."
            ) from error


def _cut(batches: Iterable[Any], row: int, start: int, stop: int) -> Iterator[list[Any]]:
    """Yield the columns of batches, the first of which begins with `row`, from start to stop."""
    for batch in batches:
        begin, end = max(start - row, 0), min(stop - row, len(batch))
        if begin < end:
            yield batch.slice(begin, end - begin).columns
        row += len(batch)
        if row >= stop:
            return


def local_files(data: Any) -> dict[str, Any]:
    """Return the files of a dataset of pyarrow, which must not change, if they are local ones."""
    paths = getattr(data, "files", None)
    if not paths or type(data.filesystem).__name__ != "LocalFileSystem":
        return {}
    system = FileSystem(paths[0])
    return {"system": system, "files": [stamped(system, path) for path in paths]}


def open_feather(
    system: FileSystem, files: Sequence[File], memory: int | None = None
) -> ColumnSource:
    """Return the columns of Feather (Arrow IPC) files with the same columns."""
    import pyarrow as arrow
    import pyarrow.dataset as dataset

    paths = [file.path for file in files]
    try:
        found = dataset.dataset(
            paths, format="ipc", filesystem=system.arrow_system(),
            partitioning="hive" if files[0].parts else None, partition_base_dir=system.root,
        )  # fmt: skip
        schemas = [fragment.physical_schema for fragment in found.get_fragments()]
    except (arrow.ArrowException, OSError) as error:
        check_unchanged(system, files)
        raise MaucError(
            f"{_culprit(files, error)} cannot be read as a Feather (Arrow IPC) file, it is "
            f"truncated or damaged: {str(error).rstrip('.')}."
        ) from error
    types, errors = unify_schemas([file.name for file in files], schemas)
    if any(not schema.equals(schemas[0]) for schema in schemas):
        fields = [
            arrow.field(field.name, types.get(field.name, field.type)) for field in found.schema
        ]
        found = found.replace_schema(arrow.schema(fields))
    return ArrowSource(
        found, system.address, system=system, files=files, type_errors=errors, memory=memory
    )


def _culprit(files: Sequence[File], error: Exception) -> str:
    """Return the name of the file that an error of Arrow is about, the first if it names none."""
    return next((file.name for file in files if file.path in str(error)), files[0].name)
