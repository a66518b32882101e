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
from mauc.sources.transposed.pieces import describe

Array = np.ndarray[Any, Any]
_WORD_BYTES = 160  # of a different text in memory, beside its characters: three tables of them


class TypedColumn(NamedTuple):
    """A column with its type.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, or codes of categories with -1 for a missing value.
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

    values: Array
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

    def join(self, place: int, n_rows: int, memory: int) -> tuple[Array, list[Any]] | None:
        """Return codes and different values of a whole column, None if these take too much memory.

        Rows that were not added are missing, -1.
        """
        codes = np.full(n_rows, -1, np.int32)
        place_of: dict[Any, int] = {}
        n_bytes = 0
        for start, part, distinct in self._parts(place):
            known = len(place_of)
            at = [place_of.setdefault(word, len(place_of)) for word in distinct]
            if len(place_of) > known:
                n_bytes += sum(len(str(word)) for word in distinct)
                if n_bytes + _WORD_BYTES * len(place_of) > memory:
                    return None
            # The last one serves the code -1.
            codes[start : start + len(part)] = np.array([*at, -1], np.int32)[part]
        return codes, list(place_of)

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
    layout: Delimited, place: int, codes: Array, distinct: list[Any], *, may_be_numbers: bool
) -> TypedColumn:
    """Give a column the type that the reader in memory gives it.

    Parameters
    ----------
    layout : Delimited
    place : int
        Number of the column.
    codes : ndarray of shape (n_rows,), int32
        Place of each value in `distinct`, -1 where it is missing.
    distinct : list
        The different values in the order of their appearance.
    may_be_numbers : bool
        Whether some piece of the file held numbers or truth values: then `distinct` are the texts
        of the file, missing values included, and the parser decides about all of them together.
    """
    import pandas as pd

    name = layout.names[place]
    if may_be_numbers:
        column = _parse_texts(layout, place, distinct)
    else:
        # The code -1 finds the last one.
        values = [*distinct, None] if (codes < 0).any() else distinct
        column = pd.Series(values) if values else pd.Series(values, dtype=object)
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
        return TypedColumn(numbers[codes], None, "", describe(numbers)[2], is_plain, notes)
    categorical = pd.Categorical(column)
    kept = categorical.codes.astype(np.int32)
    found = kept[codes] if len(kept) else codes
    categories = categorical.categories
    return TypedColumn(found, categories.tolist(), str(categories.dtype), False, is_plain, notes)


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
