"""One schema for several files: their types column by column, widened where nothing is lost."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mauc.datasets.readers.table import check_unique
from mauc.exceptions import MaucError
from mauc.sources.arrow_types import ColumnFill, feature_type, is_words, storage_type

_UNITS = ("s", "ms", "us", "ns")


def unify_schemas(
    names: Sequence[str], schemas: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, MaucError]]:
    """Return the Arrow type of each column of files that belong together.

    Parameters
    ----------
    names : sequence of str
        Of the files, for errors.
    schemas : sequence of pyarrow.Schema
        All files need the columns of the first; a file that lacks one or has a further one is
        refused.

    Returns
    -------
    types : dict of str to pyarrow.DataType
        In the order of the first file.
    errors : dict of str to MaucError
        Columns whose types do not go together, which cannot be read.
    """
    first = schemas[0]
    check_unique(names[0], first.names)  # type: ignore[arg-type]
    types = {field.name: storage_type(field.type) for field in first}
    origin = dict.fromkeys(types, names[0])
    errors: dict[str, MaucError] = {}
    for name, schema in zip(names[1:], schemas[1:], strict=True):
        if schema is first or schema.equals(first):
            continue
        check_unique(name, schema.names)  # type: ignore[arg-type]
        _check_columns(name, schema.names, names[0], first.names)
        for column, known in types.items():
            other = storage_type(schema.field(column).type)
            if other == known or column in errors:
                continue
            wider = widen(known, other)
            if wider is None:
                errors[column] = MaucError(
                    f"column {column!r} is {known} in {origin[column]} but {other} in {name}; "
                    f"write it with one type in all files, or leave it out (drop={column!r})."
                )
            elif wider != known:
                types[column], origin[column] = wider, name
    return types, errors


def _check_columns(name: str, found: list[str], first: str, wanted: list[str]) -> None:
    present, known = set(found), set(wanted)
    missing = [column for column in wanted if column not in present]
    if missing:
        raise MaucError(
            f"{name} lacks column {missing[0]!r}, which {first} has; files of one table need the "
            f"same columns."
        )
    further = [column for column in found if column not in known]
    if further:
        raise MaucError(
            f"{name} has column {further[0]!r}, which {first} lacks; files of one table need the "
            f"same columns."
        )


def widen(one: Any, other: Any) -> Any:
    """Return an Arrow type that holds the values of two, None if there is none.

    Integers and floats go together in float64: a value that it does not hold is an error when it is
    read, see `check_exact`.
    """
    import pyarrow as arrow

    kinds = arrow.types
    for a, b in ((one, other), (other, one)):
        if kinds.is_null(a):
            return b
    if is_words(one) and is_words(other):
        return arrow.string()
    if kinds.is_timestamp(one) and kinds.is_timestamp(other):
        if (one.tz is None) != (other.tz is None):
            return None
        return arrow.timestamp(_finer(one.unit, other.unit), one.tz)
    if kinds.is_duration(one) and kinds.is_duration(other):
        return arrow.duration(_finer(one.unit, other.unit))
    if all(kinds.is_integer(kind) or kinds.is_floating(kind) for kind in (one, other)):
        return arrow.from_numpy_dtype(np.promote_types(feature_type(one), feature_type(other)))
    if all(kinds.is_decimal(kind) or kinds.is_floating(kind) for kind in (one, other)):
        return arrow.float64()
    return None


def _finer(one: str, other: str) -> str:
    return max(one, other, key=_UNITS.index)


class WideningFill(ColumnFill):
    """Takes chunks of another type than that of the whole column, exactly or not at all.

    Parameters
    ----------
    fill : ColumnFill
        Of the whole column.
    kind : pyarrow.DataType
        Of the whole column.
    file, column : str
        For errors.
    """

    def __init__(self, fill: ColumnFill, kind: Any, file: str, column: str) -> None:
        self._fill, self._kind = fill, kind
        self._file, self._column = file, column

    def add(self, chunk: Any) -> None:
        """Take the values of the next rows, cast to the type of the column."""
        if is_words(self._kind):
            self._fill.add(chunk)
            return
        import pyarrow as arrow

        try:
            self._fill.add(chunk.cast(self._kind))  # checks that nothing is lost
        except arrow.ArrowInvalid as error:
            raise MaucError(
                f"{self._file}: column {self._column!r} is {chunk.type} here and {self._kind} "
                f"together with the other files, which does not hold all its values ({error}); "
                f"write it with one type in all files, or leave it out (drop={self._column!r})."
            ) from error
