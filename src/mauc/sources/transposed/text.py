"""Open a text file by columns: those of the cache, or transposed once into it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.source import default_memory
from mauc.datasets.readers.delimited import Delimited, plan_delimited
from mauc.datasets.readers.files import check_file
from mauc.datasets.readers.formats import find_text_options
from mauc.datasets.readers.lines import Lines
from mauc.datasets.readers.missing import find_place
from mauc.exceptions import MaucError
from mauc.sources.transposed.build_text import build_text
from mauc.sources.transposed.layout import TransposedSource
from mauc.sources.transposed.store import (
    file_stamp,
    locked,
    make_folder,
    remove_dead_parts,
    remove_stale,
    remove_table,
    table_key,
    tables_of,
    touch,
)

_DEFAULTS = {
    "separator": None, "encoding": "utf-8", "header": True, "decimal": ".", "thousands": None,
}  # fmt: skip
_NUMBER_WORDS = ("inf", "infinity", "nan")


class TextSource(TransposedSource):
    """The columns of a text file, labels and what is no feature included.

    Attributes
    ----------
    path : str
    target : int, optional
        The column of labels if nobody names it: the last if there is no header.
    notes : list of str
        What a user should know about how the file was read.
    hint : str
        What a user may have overlooked, for the error when the target is not found.
    missing_words : tuple of str
        Words that stand for a missing value in a feature, but not in a label.
    """

    def __init__(self, folder: Path, note: dict[str, Any], memory: int | None = None) -> None:
        super().__init__(folder, note, memory)
        options = note["options"]
        separator = options["separator"] or (";" if options["decimal"] == "," else ",")
        lines = Lines(Path(note["path"]), separator, options["encoding"], options["header"])
        names = note["names"]
        self._layout = Delimited(
            lines, names, label=note["label"],
            texts=frozenset(names[j] for j in note["texts"]), decimal=options["decimal"],
            thousands=options["thousands"], missing=tuple(options["missing"]),
        )  # fmt: skip
        self._is_wide = frozenset(note["wide"])
        self.target = None if options["header"] else len(names) - 1
        self.notes: list[str] = list(note["notes"])
        self.hint = lines.hint(names)
        self.missing_words = self._layout.missing_words

    def check_column(self, place: int) -> list[str]:
        """Return what is to be said of a column as a feature; raise if it cannot be one.

        As `mauc.datasets.load_dataset` checks it: numbers beyond 2**53, numbers with a few words
        among them, decimal commas.
        """
        import pandas as pd

        if not self.is_text[place] and place not in self._is_wide:
            return []
        (values,) = self.read(np.array([place]))
        column = values if self.is_text[place] else pd.Series(values)
        if self.is_text[place]:
            if not any(map(_may_be_number, column.cat.categories)):
                return []  # words alone: nothing to find row by row
            column = column.astype(column.cat.categories.dtype)
        return self._layout.check_column(place, column)

    def locate_row(self, row: int) -> str:
        """Return on which line of the file a row (counted from 0) is."""
        return self._layout.lines.locate_row(row)


def open_transposed_text(
    path: str | Path,
    *,
    memory: int | None = None,
    format: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: str | Sequence[str] | None = None,
    texts: Sequence[str | int] = (),
    label: str | int | None = None,
) -> TextSource:
    """Open a csv, tsv or txt file as a source of all its columns.

    The first time the file is parsed, piece by piece, and its columns are written to the cache
    (``mauc cache list``); from then on they are read from there until the file changes. Types and
    values are those of `mauc.datasets.load_dataset`, to the bit; a zero written as ``-0`` among
    integers has no sign.

    Parameters
    ----------
    path : str or Path
        Compressed by gzip or not.
    memory : int, optional
        Bytes that reading may take; a quarter of what is free by default.
    format, separator, encoding, header, decimal, thousands, missing
        As in `mauc.datasets.load_dataset`.
    texts : sequence of str or int
        Columns that are text whatever they hold: `categorical_features` of `load_dataset`.
    label : str or int, optional
        The column of labels, in which "NA" may be a class.

    Returns
    -------
    source : TextSource
        With a column for each of the file, the labels included.
    """
    path = Path(path)
    check_file(path)
    memory = default_memory() if memory is None else int(memory)
    words = [missing] if isinstance(missing, str) else missing
    found = find_text_options(
        path, format, separator=separator, encoding=encoding, header=header, decimal=decimal,
        thousands=thousands, missing=None if words is None else [str(word) for word in words],
    )  # fmt: skip
    if found is None:
        raise MaucError(f"{path} is no csv, tsv or txt file, which are read by rows.")
    options = {**_DEFAULTS, "missing": [], **found}
    base = table_key(str(path.resolve()), options)
    stamp = file_stamp(path)
    known = _find_table(base, stamp, label, texts, memory)
    if known is None:
        make_folder(str(path))
        with locked(base) as is_held:
            # Another process may have built it.
            known = _find_table(base, stamp, label, texts, memory)
            if known is None:
                remove_dead_parts(base if is_held else "")
                remove_stale(base, stamp)
                _remove_lacking(base, memory)
                layout = plan_delimited(path, **options, texts=texts, label=label)
                build_text(layout, options, base, stamp, memory)
                known = _find_table(base, stamp, label, texts, memory)
    if known is None:
        raise MaucError(f"{path}: its columns were removed as soon as they were written.")
    folder, note = known
    touch(folder)
    return TextSource(folder, {**note, "source": str(path)}, memory)


def _find_table(
    base: str,
    stamp: dict[str, Any],
    label: str | int | None,
    texts: Sequence[str | int],
    memory: int,
) -> tuple[Path, dict[str, Any]] | None:
    """Return a table of the same file whose columns are as they are wanted."""
    for folder, note in tables_of(base):
        if note is None or note["stamp"] != stamp or _lacks(note, memory):
            continue
        if _serves(note, label, texts):
            return folder, note
    return None


def _lacks(note: dict[str, Any], memory: int) -> bool:
    """Whether a column was given up for lack of memory, of which there is more now."""
    is_given_up = any("refused" in column for column in note["whole"].values())
    return is_given_up and bool(note["memory"] < memory)


def _remove_lacking(base: str, memory: int) -> None:
    """Remove tables without columns that were given up for lack of memory."""
    for folder, note in tables_of(base):
        if note is not None and _lacks(note, memory):
            remove_table(folder)


def _serves(note: dict[str, Any], label: str | int | None, texts: Sequence[str | int]) -> bool:
    """Whether columns were read as they are wanted: as labels, as text, as features.

    Most columns are the same in whatever way they are read; the note tells which.
    """
    names = note["names"]
    if label is None and not note["options"]["header"]:
        label = -1
    at = find_place(names, label)
    wanted = {find_place(names, text) for text in texts} - {None}
    held, plain = set(note["texts"]), set(note["plain"])
    if held - wanted:
        return False
    is_word = {int(j) for j, column in note["whole"].items() if "text" in column}
    if any(j not in is_word or (j == note["label"] and j not in plain) for j in wanted - held):
        return False
    changed = {at, note["label"]} - {None} if at != note["label"] else set()
    return all(j in plain or j in held for j in changed)


def _may_be_number(word: Any) -> bool:
    """Whether a text may be read as a number."""
    if not isinstance(word, str):
        return not isinstance(word, bool)
    return any(map(str.isdigit, word)) or word.strip().lstrip("+-").lower() in _NUMBER_WORDS
