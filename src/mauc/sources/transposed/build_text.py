"""Transpose a text file: rows of text in, a table of the cache out."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.delimited import Delimited
from mauc.datasets.readers.files import open_binary
from mauc.exceptions import MaucError
from mauc.parallel import count_threads, track
from mauc.sources.transposed.pieces import EMPTY, FLOAT, TRUTH, WHOLE, WORDS, Piece, read_pieces
from mauc.sources.transposed.store import building, check_room, commit, file_stamp, table_key
from mauc.sources.transposed.words import WordSpill, too_many_words, type_column
from mauc.sources.transposed.writer import TableWriter

Array = np.ndarray[Any, Any]
# A piece of text in memory: the text itself, its cells, their values, and these side by side.
_PIECE_SHARE = 16
MIN_PIECE_BYTES, MAX_PIECE_BYTES = 2**16, 2**23
# Text per column of a piece below which it takes longer to make a column than to parse it.
COLUMN_BYTES = 2**14
_GZIP_GROWTH = 4  # characters from a byte of gzip, for the progress


def build_text(
    layout: Delimited, options: dict[str, Any], base: str, stamp: dict[str, Any], memory: int
) -> Path:
    """Write the columns of a text file to the cache.

    Parameters
    ----------
    layout : Delimited
        Of the file.
    options : dict
        Of reading it, for the note.
    base : str
        Key of the file and these options.
    stamp : dict
        Of the file, see `file_stamp`.
    memory : int
        Bytes.

    Returns
    -------
    folder : Path
    """
    path = layout.lines.path
    place_of = {name: j for j, name in enumerate(layout.names)}
    texts = sorted(place_of[name] for name in layout.texts)
    key = f"{base}-{table_key('', {'label': layout.label, 'texts': texts, **stamp})[:6]}"
    check_room(str(path), _estimate_bytes(layout, stamp["size"]))
    with building(key, str(path)) as part:
        table = _TextTable(layout, part, memory)
        try:
            note = table.build()
        finally:
            table.close()
        if file_stamp(path) != stamp:
            raise MaucError(
                f"{path} changed while it was read (its size or time of change is another one); "
                f"run again when it is complete."
            )
        note |= {
            "source": str(path), "path": str(path.resolve()), "stamp": stamp, "options": options,
            "names": layout.names, "label": layout.label, "texts": texts, "memory": memory,
        }  # fmt: skip
        return commit(part, key, note)


class _TextTable:
    """A table that is being built.

    The columns that hold numbers (or nothing) in the first piece have a slot in every group of
    rows. A column turns out to be no numbers if words come later; then its slot is not used.
    """

    def __init__(self, layout: Delimited, part: Path, memory: int) -> None:
        self._layout, self._memory, self._part = layout, memory, part
        self._n_threads, self._n_bytes = _plan_pieces(len(layout.names), memory)
        self._writer = TableWriter(part)
        self._spill = WordSpill(part / "words")
        self._slots: list[int] = []
        self._slot_of = np.zeros(0, np.int64)
        self._kinds: list[Array] = []  # of the columns in each group

    def close(self) -> None:
        """Close the files."""
        self._writer.close()

    def build(self) -> dict[str, Any]:
        """Write all columns; return the note of the table."""
        n_columns = len(self._layout.names)
        has_missing, is_wide = np.zeros(n_columns, bool), np.zeros(n_columns, bool)
        for piece in self._pieces():
            if not self._kinds:
                self._slots = sorted(int(j) for places, _ in piece.numbers for j in places)
                self._slot_of = np.full(n_columns, -1)
                self._slot_of[self._slots] = np.arange(len(self._slots))
            self._add(piece)
            has_missing |= piece.has_missing
            is_wide |= piece.is_wide
        kinds = np.array(self._kinds)
        is_number: Array = np.asarray(np.isin(kinds, [EMPTY, WHOLE, FLOAT]).all(axis=0))
        types = np.where((kinds == WHOLE).all(axis=0), "<i8", "<f8").tolist()
        self._convert_integers(kinds, is_number)
        plain = (is_number & ~has_missing).tolist()
        whole, notes = self._type_words(kinds, is_number, types, plain, is_wide)
        shutil.rmtree(self._spill.folder)
        return {
            "n_rows": self._writer.n_rows, "groups": self._writer.groups, "types": types,
            "slots": [j if is_number[j] else -1 for j in self._slots], "whole": whole,
            "wide": np.flatnonzero(is_wide).tolist(), "notes": notes,
            "plain": [j for j in range(n_columns) if plain[j]],
        }  # fmt: skip

    def _pieces(self, texts: list[str] | None = None) -> Any:
        layout = self._layout
        n_characters = layout.lines.path.stat().st_size
        if _is_compressed(layout):
            n_characters *= _GZIP_GROWTH
        n_pieces = -(-n_characters // self._n_bytes)
        pieces = read_pieces(layout, self._n_bytes, self._n_threads, texts=texts)
        last = n_characters - (n_pieces - 1) * self._n_bytes
        sizes = [self._n_bytes] * (n_pieces - 1) + [last]
        return track(pieces, "blocks of rows", n_pieces, n_bytes=sizes)

    def _add(self, piece: Piece) -> None:
        block = np.zeros((len(self._slots), piece.n_rows), np.int64)
        for places, values in piece.numbers:
            slots = self._slot_of[places]
            block[slots[slots >= 0]] = values[slots >= 0].view(np.int64)
        for j, (codes, distinct) in piece.words.items():
            self._spill.add(j, self._writer.n_rows, codes, distinct)
        self._kinds.append(piece.kinds)
        self._writer.add_group(piece.n_rows, [block])

    def _convert_integers(self, kinds: Array, is_number: Array) -> None:
        """Turn integers into floats where other rows of the column hold floats."""
        for slot, j in enumerate(self._slots):
            of_column = kinds[:, j]
            if is_number[j] and not (of_column == WHOLE).all():
                for group in np.flatnonzero(of_column == WHOLE).tolist():
                    self._writer.convert_slot(group, slot)

    def _type_words(
        self, kinds: Array, is_number: Array, types: list[str], plain: list[bool], is_wide: Array
    ) -> tuple[dict[str, Any], list[str]]:
        """Write the columns that are no plain numbers; complete `types`, `plain` and `is_wide`."""
        names, n_rows = self._layout.names, self._writer.n_rows
        clear = [(kinds == EMPTY) | (kinds == kind) for kind in (WORDS, TRUTH)]
        is_clear = clear[0].all(axis=0) | clear[1].all(axis=0)
        # Numbers before, or behind, the first word: their text is needed after all.
        mixed = np.flatnonzero(~is_number & ~is_clear).tolist()
        if mixed:
            self._read_texts(mixed)
        whole: dict[str, Any] = {}
        notes: list[str] = []
        for j in np.flatnonzero(~is_number).tolist():
            found = self._spill.distinct(j, n_rows, self._memory // 2)
            types[j] = "<i4"
            if found is None:
                reason = too_many_words(names[j], self._memory // 2)
                whole[str(j)] = {"refused": reason, "categories": None}
                continue
            column = type_column(self._layout, j, *found, may_be_numbers=j in mixed)
            types[j] = column.table.dtype.newbyteorder("<").str
            plain[j], is_wide[j] = column.is_plain, column.is_wide
            notes += column.notes
            rows = self._spill.spread(j, n_rows, found[0], column.table)
            whole[str(j)] = held = self._writer.add_column(rows)
            self._spill.forget(j)
            if column.categories is not None:
                held["categories"] = self._writer.add_categories(column.categories, column.kind)
                if all(isinstance(word, str) for word in column.categories):
                    held["text"] = True
        return whole, notes

    def _read_texts(self, places: list[int]) -> None:
        """Read columns once more, as text."""
        for j in places:
            self._spill.forget(j)
        start = 0
        for piece in self._pieces([self._layout.names[j] for j in places]):
            for j, (codes, distinct) in piece.words.items():
                self._spill.add(j, start, codes, distinct)
            start += piece.n_rows


def _plan_pieces(n_columns: int, memory: int) -> tuple[int, int]:
    """Return how many threads parse, and how much text is a piece.

    A parser for each piece costs more than one for all: two threads are better used to parse and
    to write, and so are many in a table of many columns.
    """
    least = COLUMN_BYTES * n_columns
    largest = max(MAX_PIECE_BYTES, least)
    n_threads = min(count_threads(-1), memory // (_PIECE_SHARE * max(least, 1)))
    if n_threads <= 2:
        n_threads = 1
    room = min(memory // (_PIECE_SHARE * n_threads), largest)
    return n_threads, max(MIN_PIECE_BYTES, room)


def _is_compressed(layout: Delimited) -> bool:
    with open(layout.lines.path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _estimate_bytes(layout: Delimited, n_bytes: int) -> int:
    """Return the room that the columns of a file take on disk, from its first lines.

    Of a compressed file it is the least that it can be.
    """
    with open_binary(layout.lines.path) as file:
        lines = file.read(2**20).splitlines()[1:-1]
    width = sum(map(len, lines)) / max(1, len(lines))
    return int(8 * len(layout.names) * n_bytes / width) if width else n_bytes
