"""Which source opens what: a path, address or object in, a source with all columns out."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from mauc.exceptions import MaucError
from mauc.problem.source import ColumnSource
from mauc.sources.files import FileSystem, find_files


def open_any(
    data: Any, target: Any, *, memory: int | None, format: str | None,
    storage_options: Mapping[str, Any] | None, reading: Mapping[str, Any],
) -> tuple[ColumnSource, Any]:  # fmt: skip
    """Return a source with all columns, the target among them, and the target.

    Parameters and returns as in `mauc.open_columns`.
    """
    if not isinstance(data, str | PathLike):
        raise MaucError("not yet")
    system = FileSystem(fspath(data), storage_options)
    format, files = find_files(system, format)
    if format == "parquet":
        from mauc.sources.parquet import ParquetSource

        return ParquetSource(system, files, memory=memory), target
    raise MaucError("not yet")
