"""Columns that are no plain numbers: kept aside while a file is parsed, given a type at the end.

The rules of the reader in memory are applied to the different values of a column in the order of
their appearance, which decide its type as all its cells do.
"""

import csv
import io
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mauc.datasets.readers.delimited import Delimited
from mauc.datasets.readers.missing import MISSING
from mauc.datasets.readers.sniff import WHITESPACE
from mauc.memory import format_bytes
from mauc.sources.transposed.pieces import are_wide

Array = np.ndarray[Any, Any]
_WORD_BYTES = 160  # of a different text in memory, beside its characters: three tables of them


class TypedColumn(NamedTuple):
    """The values of a column with their type.

    Parameters
    ----------
    table : ndarray
        For each different value, and for a missing one if there is any: a number, or the code of a
        category, -1 where it is missing.
    categories : list, optional
    kind : str
        Type of the categories as pandas calls it.
    is_wide : bool
        Whether a number is beyond what float64 holds exactly.
    is_plain : bool
        Whether the column would be the same if it were read as labels rather than as a feature,
        or the other way round.
    notes : list of str
        What is to be said of how it was read.
    """

    table: Array
    categories: list[Any] | None
    kind: str
    is_wide: bool
    is_plain: bool
    notes: list[str]


class WordSpill:
    """Words of columns on disk, until all of them are known.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def add(self, place: int, start: int, codes: Array, distinct: list[Any]) -> None:
        """Keep the words of a column from row `start` on."""
        path = self._path(place)
        try:
            with path.open("ab") as file:
                pickle.dump((start, codes, distinct), file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            error.filename = str(path)
            raise

    def forget(self, place: int) -> None:
        """Drop what is kept of a column."""
        self._path(place).unlink(missing_ok=True)

    def distinct(self, place: int, n_rows: int, memory: int) -> tuple[list[Any], bool] | None:
        """Return the different values of a column in the order of their appearance.

        And whether a row has none: rows that were not added are missing. None if the values take
        more than `memory`.
        """
        found: dict[Any, None] = {}
        n_bytes = n_known = 0
        for _, codes, values in self._parts(place):
            n_known += int((codes >= 0).sum())
            n_before = len(found)
            found.update(dict.fromkeys(values))
            if len(found) > n_before:
                n_bytes += sum(len(str(value)) for value in values)
                if n_bytes + _WORD_BYTES * len(found) > memory:
                    return None
        return list(found), n_known < n_rows

    def spread(self, place: int, n_rows: int, distinct: list[Any], table: Array) -> Iterator[Array]:
        """Yield the rows of a column, a part at a time.

        Parameters
        ----------
        place, n_rows
            The column and its length.
        distinct : list
            Its different values.
        table : ndarray
            What stands for each of them, and, as the last one, for a missing value if there is any.
        """
        place_of = {value: code for code, value in enumerate(distinct)}
        row = 0
        for start, codes, values in self._parts(place):
            yield np.broadcast_to(table[-1], start - row)
            at = np.array([*(place_of[value] for value in values), -1], np.int64)
            yield table[at[codes]]  # the code -1 finds the last one
            row = start + len(codes)
        yield np.broadcast_to(table[-1], n_rows - row)

    def _parts(self, place: int) -> Iterator[tuple[int, Array, list[Any]]]:
        path = self._path(place)
        if not path.exists():
            return
        with path.open("rb") as file:
            while file.peek(1):
                yield pickle.load(file)

    def _path(self, place: int) -> Path:
        return self.folder / f"{place}.words"


def type_column(
    layout: Delimited, place: int, distinct: list[Any], has_missing: bool, *, may_be_numbers: bool
) -> TypedColumn:
    """Give a column the type that the reader in memory gives it.

    Parameters
    ----------
    layout : Delimited
    place : int
        Number of the column.
    distinct : list
        The different values in the order of their appearance.
    has_missing : bool
        Whether a row has none.
    may_be_numbers : bool
        Whether some piece of the file held numbers or truth values: then `distinct` are the texts
        of the file, missing values included, and the parser decides about all of them together.
    """
    import pandas as pd

    name = layout.names[place]
    if may_be_numbers or not distinct:
        column = _parse_texts(layout, place, distinct or [""])
    else:
        column = pd.Series([*distinct, None] if has_missing else distinct)
    frame = pd.DataFrame({name: column})
    notes = layout.convert(frame)
    column = frame[name]
    is_plain = not notes and not column.isna().any()
    if name not in layout.texts and place == layout.label:
        # As a feature, "NA" is missing and "1,234,567" may be a number.
        is_plain &= not any(
            isinstance(word, str) and (word in MISSING or word[-1:].isdigit()) for word in distinct
        )
    if column.dtype.kind in "iuf":
        numbers = column.to_numpy()
        return TypedColumn(numbers, None, "", bool(are_wide(numbers)), is_plain, notes)
    categorical = pd.Categorical(column)
    categories = categorical.categories
    return TypedColumn(
        categorical.codes.astype(np.int32), categories.tolist(), str(categories.dtype), False,
        is_plain, notes,
    )  # fmt: skip


def too_many_words(name: str, memory: int) -> str:
    """Return why a column cannot be read."""
    return (
        f"column {name!r} has more different texts than fit into {format_bytes(memory)}, as an "
        f"identifier has; leave it out (drop={name!r}), or allow more memory."
    )


def _parse_texts(layout: Delimited, place: int, texts: list[str]) -> Any:
    """Return the texts of a column as the parser reads them if they are all of it."""
    name = layout.names[place]
    separator = layout.lines.separator
    lines = io.StringIO(newline="")
    writer = csv.writer(
        lines, delimiter=" " if separator == WHITESPACE else separator, quoting=csv.QUOTE_ALL,
        lineterminator="\n",
    )  # fmt: skip
    writer.writerows([text] for text in texts)
    lines.seek(0)
    alone = replace(layout, names=[name], label=0 if place == layout.label else None)
    return alone.parse(lines, has_header=False)[name]
