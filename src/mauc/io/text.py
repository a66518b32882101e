"""Open csv, tsv and txt files: rows of text in, a source of their columns out.

pyarrow.csv parses them batch by batch, into memory or into the cache. Numbers are float64, those
beyond 2**53 int64, other columns codes of their distinct texts, see `mauc.io.words`. A word late in
a column of numbers restarts the conversion with that column as texts.
"""

import codecs
import csv
import io
import re
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from mauc.data.labels import MAX_EXACT_INTEGER
from mauc.exceptions import MaucError, NotEnoughMemoryError, option
from mauc.io.cache import BatchColumns, CachedColumns, ColumnWriter, file_stamp, find_or_build
from mauc.io.dataset import ConvertedColumns
from mauc.io.files import MAX_LINE, content_size, open_binary, unreadable_error
from mauc.io.footers import MAX_FOOTERS, FooterRule, footers_note
from mauc.io.formats import check_options, open_table
from mauc.io.lines import (
    WHITESPACE,
    Lines,
    check_text,
    count_likely_footers,
    encoding_error,
    find_encoding,
    find_head,
    is_number,
    skip_mark,
    sniff_format,
    split_rows,
)
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_precision, find_place
from mauc.io.words import MISSING, TypedWords, check_words, type_words
from mauc.memory import check_memory, format_bytes
from mauc.progress import track

# Arrow reads up to 32 blocks of text ahead; with less text per column it takes longer.
_BLOCK_SHARE = 64
MIN_BLOCK_BYTES, MAX_BLOCK_BYTES, CELL_BYTES = 2**16, 2**21, 2**11
# Values of a batch that is written, and those of one of its columns: fewer take longer to read.
BATCH_BYTES, COLUMN_BYTES = 2**24, 2**14
_BATCH_SHARE = 8  # of the memory, for a batch
_MEMORY_SHARE = 4  # of the memory, for columns that are held
_COLUMN_BYTES = 12_000  # of a column of few rows, most of them of its converter in Arrow
_RELEASE_SECONDS = 1  # that threads of Arrow have to let go of what Python read
_MAX_ROW_LINES = 10_000  # of a quoted value; a quote that is not closed by then is a letter
_WORD_BYTES = 160  # of a distinct text in memory, beside its characters
# At the end of a file, in which footers are looked for: so many and so many per column.
_END_BYTES, _END_CELL_BYTES = 2**13, 64
_SPARE_BYTES = 2**29  # beside the memory that is allowed, for the libraries and for small things
_WIDE = "convert the file to parquet, which is read by columns"
# What a column is taken for; a column that proves to be something else goes on to the next.
_WHOLE, _INTEGER, _FLOAT, _TEXT = range(4)
_STORED = ("<f8", "<i8", "<f8", "<i4")
_CONVERSION_ERROR = re.compile(r"In CSV column #(\d+): .*CSV conversion error to (double|int64)")

Array = np.ndarray[Any, Any]


def open_text(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open a csv, tsv or txt file; a txt file may hold another format, which its content tells."""
    encoding = find_encoding(path, options.encoding)
    if options.format == "txt":
        name = sniff_format(path, encoding)
        if name != "csv":
            return open_table(str(path), replace(options, format=name), memory)
        check_options(path, name, options)
    check_text(path, "text of rows and columns", encoding)
    n_bytes = content_size(path)  # or an error, before all of it is read for a line
    head = find_head(path, options, encoding)
    _check_marks(head.separator, head.decimal, options.thousands)
    has_header = True if head.orange else options.header
    lines = Lines(path, head.separator, encoding, has_header, head.decimal, head.skipped)
    missing = options.missing or ()
    given = (options.target, *options.drop, *options.categorical_features, *(options.columns or ()))
    names, n_header = lines.find_names({*MISSING, *missing}, given)
    n_header = max([n_header, *head.skipped])
    orange = head.orange
    names = [own for own, _, _ in orange] or names
    chosen = [find_place(names, name) for name in options.categorical_features]
    texts = {j for j in chosen if j is not None}
    texts |= {j for j, (_, is_nominal, _) in enumerate(orange) if is_nominal}
    flagged = [j for j, (_, _, flag) in enumerate(orange) if flag]
    last = None if lines.has_header else len(names) - 1
    last = next((j for j in flagged if orange[j][2] == "c"), last)
    label = last if options.target is None else find_place(names, options.target)
    layout = Layout(
        lines,
        n_bytes,
        names,
        n_header,
        head.decimal,
        options.thousands,
        missing,
        sorted(texts),
        label,
        keeps_footers=options.skip_rows == 0,
    )
    source = _open_columns(layout, memory)
    return Table(
        path,
        source,
        names,
        target=last,
        locate_row=lines.locate_row,
        check_column=source.check_column,
        hint=lines.hint,
        notes=[*head.notes, *filter(None, [lines.note]), *source.notes],
        hidden=frozenset(flagged),
        missing_words=tuple(word for word in MISSING if word not in missing),
        uses_word=lambda word: label not in texts and lines.has_word(word, label or 0),
    )


@dataclass(frozen=True)
class Layout:
    """What is known of a text file before its rows are parsed."""

    lines: Lines
    n_bytes: int  #: of its text, about
    names: list[str]
    n_header: int  #: lines of the header
    decimal: str
    thousands: str | None
    missing: tuple[str, ...]
    texts: list[int]  #: columns that are text whatever they hold
    label: int | None  #: the column with the labels
    keeps_footers: bool  #: whether rows such as a total below the data are left where they are

    @property
    def options(self) -> dict[str, Any]:
        """What the columns depend on, as a note of the cache has it."""
        return {
            "separator": self.lines.separator,
            "encoding": self.lines.encoding,
            "header": self.n_header,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "missing": list(self.missing),
            "texts": self.texts,
            "footers": self.keeps_footers,
        }

    @property
    def footers(self) -> FooterRule:
        """What tells rows below the data."""
        return FooterRule(
            len(self.names),
            self.label,
            self.missing,
            self.decimal,
            self.thousands,
            self.lines.data_rows,
        )


def _check_marks(separator: str, decimal: str, thousands: str | None) -> None:
    if separator != WHITESPACE and not (len(separator) == 1 and separator.isascii()):
        raise MaucError(
            f"{option('separator')} must be one character of ASCII, or 'whitespace' for blanks and "
            f"tabs, got {separator!r}."
        )
    for name, value in (("decimal", decimal), ("thousands", thousands or ",")):
        if len(value) != 1:
            raise MaucError(f"{option(name)} must be one character, got {value!r}.")
    if separator == decimal:
        raise MaucError(
            f"{option('separator')} and {option('decimal')} must differ, got {separator!r} for "
            f"both."
        )
    if thousands == decimal:
        other = "," if decimal == "." else "."
        raise MaucError(
            f"{option('decimal')} and {option('thousands')} must differ, got {decimal!r} for both; "
            f"pass {option('decimal', other)}."
        )


def _open_columns(layout: Layout, memory: int | None) -> "TextColumns":
    """Parse a file into memory, or find its columns in the cache or parse it into the cache."""
    path = layout.lines.path
    n_bytes = _estimate_bytes(layout)
    needed, what = _COLUMN_BYTES * len(layout.names), f"{path}: its {len(layout.names):,} columns"
    if memory is not None and needed > memory + _SPARE_BYTES:
        raise NotEnoughMemoryError(f"{what} need {format_bytes(needed)}; allow it, or {_WIDE}.")
    check_memory(needed + n_bytes * (memory is None), what, _WIDE)
    if memory is None or n_bytes <= memory // _MEMORY_SHARE:
        writer, note = _Conversion(layout, memory).run(None)
        note["source"] = str(path)
        held = BatchColumns(writer.batches, note, _plain_types(note), memory)
        return TextColumns(held, layout, note)

    def build(file: IO[bytes]) -> dict[str, Any]:
        return _Conversion(layout, memory).run(file)[1]

    def serves(note: dict[str, Any]) -> bool:
        """Whether footers would be the same, and no texts were given up for lack of memory."""
        if note["judged"] not in ([], [layout.label]):
            return False
        return None not in note["words"].values() or note["memory"] >= memory

    look = partial(file_stamp, path)
    table, note = find_or_build(
        str(path),
        layout.options,
        path=str(path.resolve()),
        look=look,
        n_bytes=n_bytes,
        build=build,
        serves=serves,
    )
    return TextColumns(CachedColumns(table, note, memory, look, _plain_types(note)), layout, note)


def _plain_types(note: dict[str, Any]) -> list[Any]:
    """Return the types that stored columns are read as: whole numbers are integers."""
    is_whole = set(note["whole"])
    return [np.int64 if j in is_whole else kind for j, kind in enumerate(note["types"])]


def _estimate_bytes(layout: Layout) -> int:
    """Return the room that the columns of a file take, from its first lines."""
    path = layout.lines.path
    with open_binary(path) as file:
        lines = file.read(2**20).splitlines()[layout.n_header :]
    n_names = len(layout.names)
    width = max(n_names, sum(map(len, lines)) / max(1, len(lines)) + 1)
    return int(8 * n_names * layout.n_bytes / width)


class TextColumns(ConvertedColumns):
    """The columns of a text file: `held` has numbers, and codes where the file has words."""

    def __init__(self, held: BatchColumns, layout: Layout, note: dict[str, Any]) -> None:
        self.layout = layout
        self._is_wide, self._limit = frozenset(note["wide"]), note["memory"]
        #: columns of numbers without a missing value, which need not be read to count them
        self.complete: set[int] = set(range(held.shape[1])) - set(note["incomplete"])
        self._typed: dict[int, TypedWords | None] = {}  # of columns that hold codes
        self.notes = footers_note([(f"line {line}", text) for line, text in note["footers"]])
        types: list[Any] = list(held.types)
        for j, words in ((int(key), words) for key, words in note["words"].items()):
            types[j], self._typed[j] = object, None
            if words is not None:
                self._typed[j] = typed = type_words(
                    layout.names[j],
                    words,
                    layout.missing,
                    layout.decimal,
                    layout.thousands,
                    is_label=j == layout.label,
                    is_text=j in layout.texts,
                )
                types[j] = object if typed.categories is not None else typed.table.dtype
                self.notes += [typed.note] if typed.note else []
        super().__init__(held, range(held.shape[1]), types, layout.names)

    def check_column(self, column: int) -> list[str]:
        """Return what is to be said of a column as a feature; raise if it cannot be one."""
        lines, name = self.layout.lines, self.layout.names[column]
        if column in self._is_wide:
            check_precision(lines.path, name, lines.column(column, self.shape[0]))
        typed = self._typed.get(column)
        if typed is None or column in self.layout.texts:
            return []
        (codes,) = self._source.read(np.array([column]))
        return check_words(lines.path, name, typed, codes, self.layout.missing, lines.locate_row)

    def _convert(self, j: int, values: Array) -> Any:
        if j not in self._typed:
            return values
        typed = self._typed[j]
        if typed is None:
            name = self.layout.names[j]
            raise MaucError(
                f"{self.name}: column {name!r} has more different texts than fit into "
                f"{format_bytes(self._limit // 2)}, as an identifier has; leave it out "
                f"({option('drop', name)}), or allow more memory."
            )
        return typed.decode(values)


class _Restart(Exception):
    """The conversion has learnt something that its first rows did not tell."""


class _Conversion:
    """The rows of a file on their way to columns; what is learnt stays when it starts again."""

    def __init__(self, layout: Layout, memory: int | None) -> None:
        self._layout, self._memory = layout, memory
        self._end = _End([], False)
        self._block = max(MAX_BLOCK_BYTES, CELL_BYTES * len(layout.names))
        self._batch_rows = max(BATCH_BYTES // (8 * len(layout.names)), COLUMN_BYTES // 8)
        if memory is not None:
            self._block = max(MIN_BLOCK_BYTES, min(self._block, memory // _BLOCK_SHARE))
            limit = memory // (_BATCH_SHARE * 8 * len(layout.names))
            self._batch_rows = min(self._batch_rows, limit)
        self._n_late = 0
        # Numbers that stand for a missing value do so however they are written.
        self._gaps = [float(word) for word in layout.missing if is_number(word)]
        self._kinds: list[int] = []

    def run(self, file: IO[bytes] | None) -> tuple[ColumnWriter, dict[str, Any]]:
        """Write the columns to a file, or to memory; return the note of the table."""
        import pyarrow as arrow

        try:
            while True:
                with suppress(_Restart):
                    if not self._kinds:  # those of the first block
                        (schema,) = self._batches(only_schema=True)
                        kinds = {"int64": _WHOLE, "double": _FLOAT, "null": _FLOAT}
                        self._kinds = [kinds.get(str(field.type), _TEXT) for field in schema]
                        for j in self._layout.texts:
                            self._kinds[j] = _TEXT
                    return self._write(file)
        finally:  # the pool would keep what it once had
            arrow.default_memory_pool().release_unused()

    def _write(self, file: IO[bytes] | None) -> tuple[ColumnWriter, dict[str, Any]]:
        layout = self._layout
        if file is not None:  # it may hold what was written before a restart
            file.seek(0)
            file.truncate()
        self._is_whole = [kind == _WHOLE for kind in self._kinds]
        self._wide: set[int] = set()
        self._incomplete = {j for j, kind in enumerate(self._kinds) if kind == _TEXT}
        limit = None if self._memory is None else self._memory // 2
        words = {j: _Words(limit) for j, kind in enumerate(self._kinds) if kind == _TEXT}
        types = [_STORED[kind] for kind in self._kinds]
        writer = ColumnWriter(file, types)
        n_bytes = layout.lines.path.stat().st_size
        n_blocks = -(-n_bytes // self._block)
        sizes = [self._block] * (n_blocks - 1) + [n_bytes - (n_blocks - 1) * self._block]
        with closing(writer):
            blocks = track(self._batches(), "blocks of rows", n_blocks, n_bytes=sizes)
            for batch in self._join(blocks):
                writer.add(
                    [
                        words[j].encode(batch.column(j))
                        if j in words
                        else self._numbers(j, batch.column(j))
                        for j in range(len(types))
                    ]
                )
        n_lines = layout.lines.count() if self._end.footers else 0
        first = n_lines + 1 - len(self._end.footers)
        return writer, {
            # The label decides on rows that look like footers, if there are any.
            "judged": [layout.label] if self._end.is_doubtful else [],
            "footers": [[first + at, text] for at, text in enumerate(self._end.footers) if text],
            "names": layout.names,
            "edges": writer.edges,
            "types": types,
            "whole": [j for j, is_one in enumerate(self._is_whole) if is_one],
            "wide": sorted(self._wide),
            "incomplete": sorted(self._incomplete),
            "memory": self._memory,
            "words": {str(j): column.listed() for j, column in words.items()},
        }

    def _join(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of enough rows, made of several blocks."""
        import pyarrow as arrow

        held: list[Any] = []
        for block in chain(blocks, [None]):
            held += [] if block is None else [block]
            if held and (block is None or sum(map(len, held)) >= self._batch_rows):
                yield from arrow.Table.from_batches(held).combine_chunks().to_batches()
                held.clear()

    def _numbers(self, j: int, chunk: Any) -> Array:
        """Return the numbers of some rows; find out whether they are whole, and how large."""
        if self._kinds[j] == _INTEGER:
            if chunk.null_count:
                self._kinds[j] = _FLOAT
                raise _Restart
            self._wide.add(j)
            return np.asarray(chunk)
        if chunk.null_count:
            self._is_whole[j] = False
            chunk = chunk.fill_null(np.nan)
        values: Array = chunk.to_numpy()
        if self._gaps:
            is_gap = np.isin(values, self._gaps)
            if is_gap.any():
                self._is_whole[j] = False
                values = np.where(is_gap, np.nan, values)
        low, high = values.min(), values.max()
        if low != low:
            self._incomplete.add(j)
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if low <= -MAX_EXACT_INTEGER or high >= MAX_EXACT_INTEGER:
            if self._is_whole[j]:
                self._kinds[j] = _INTEGER
                raise _Restart
            self._wide.add(j)
        elif self._is_whole[j]:
            self._is_whole[j] = bool((np.floor(values) == values).all())
        return values

    def _batches(self, *, only_schema: bool = False, as_text: bool = False) -> Iterator[Any]:
        """Yield batches whose columns are as `_kinds` has them, or all text; or their schema."""
        import pyarrow as arrow
        from pyarrow import csv as arrow_csv

        layout, lines = self._layout, self._layout.lines
        names = [str(j) for j in range(len(layout.names))]
        words = arrow.dictionary(arrow.int32(), arrow.string())
        kinds = (arrow.float64(), arrow.int64(), arrow.float64(), words)
        types = (
            {}
            if only_schema
            else {
                name: arrow.string() if as_text else kinds[kind]
                for name, kind in zip(names, self._kinds, strict=True)
            }
        )
        lent: list[weakref.ref[Any]] = []
        stream: _Stream | None
        try:
            with open_binary(lines.path, has_lines=True) as file:
                stream = _Stream(file, layout, lent)
                batches = arrow_csv.open_csv(
                    stream,
                    arrow_csv.ReadOptions(
                        column_names=names, skip_rows=layout.n_header, block_size=self._block
                    ),
                    arrow_csv.ParseOptions(delimiter=stream.delimiter, newlines_in_values=True),
                    arrow_csv.ConvertOptions(
                        column_types=types,
                        null_values=[*MISSING, *layout.missing],
                        strings_can_be_null=as_text,
                        decimal_point=layout.decimal,
                    ),
                )
                if only_schema:
                    yield batches.schema
                    return
                for batch in batches:
                    if batch.num_rows:
                        yield batch
            self._end = stream.end
            if stream.n_quotes % 2:
                lines.check_quotes()
        except UnicodeError as error:
            raise encoding_error(lines.path, lines.encoding) from error
        except OSError as error:
            raise unreadable_error(str(lines.path), error) from error
        except arrow.ArrowInvalid as error:
            raise self._judge(str(error)) from error
        finally:
            stream = batches = None
            _wait_for_release(lent)

    def _judge(self, message: str) -> Exception:
        """Return what an error of Arrow means: another type of a column, or a bad file."""
        lines = self._layout.lines
        found = _CONVERSION_ERROR.match(message)
        if "invalid UTF8" in message:
            return encoding_error(lines.path, lines.encoding)
        if found:
            self._n_late += 1
            if self._n_late == 2:  # there may be more: find all of them at once
                self._find_words()
            self._kinds[int(found[1])] = _TEXT
            return _Restart()
        if "straddling" in message or "block size" in message:
            if self._block > MAX_LINE:
                what = f"{lines.path}: a row is longer than {format_bytes(MAX_LINE)}"
                return MaucError(f"{what}; look for a quote that is never closed.")
            self._block *= 4
            return _Restart()
        error = lines.ragged_error(len(self._layout.names))
        return error or MaucError(f"{lines.path} cannot be read as rows and columns: {message}")

    def _find_words(self) -> None:
        """Read all rows as text, and take the columns that hold a word for texts."""
        import pyarrow as arrow

        for batch in self._batches(as_text=True):
            for j, kind in enumerate(self._kinds):
                if kind != _TEXT:
                    try:
                        batch.column(j).cast(arrow.float64())
                    except arrow.ArrowInvalid:
                        self._kinds[j] = _TEXT


class _Words:
    """The distinct texts of a column, in the order of their appearance, within `limit` bytes."""

    def __init__(self, limit: int | None) -> None:
        self._codes: dict[str, int] | None = {}
        self._limit, self._n_bytes = limit, 0

    def encode(self, chunk: Any) -> Array:
        """Return the codes of the texts of some rows."""
        if self._codes is None:
            return np.zeros(len(chunk), np.int32)
        words = [word.lstrip(" ") for word in chunk.dictionary.to_pylist()]
        codes = self._codes
        n_before = len(codes)
        table = np.array([codes.setdefault(word, len(codes)) for word in words], np.int32)
        if self._limit is not None and len(codes) > n_before:
            self._n_bytes += sum(len(word) for word in words if codes[word] >= n_before)
            if self._n_bytes + _WORD_BYTES * len(codes) > self._limit:
                self._codes = None
        return np.asarray(table[np.asarray(chunk.indices)])

    def listed(self) -> list[str] | None:
        """Return the texts; None if they took too much memory."""
        return None if self._codes is None else list(self._codes)


def _wait_for_release(lent: list["weakref.ref[Any]"]) -> None:
    """Wait until Arrow's threads let go of objects of Python: at its end they would abort it."""
    deadline = time.monotonic() + _RELEASE_SECONDS
    while any(held() is not None for held in lent) and time.monotonic() < deadline:
        time.sleep(0.001)


@dataclass(frozen=True)
class _End:
    """The end of a text file."""

    footers: list[str]  #: lines below the data
    is_doubtful: bool  #: whether its last lines look like footers, be they any or not


class _Recoded:
    """A file of text as UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding=encoding, newline="")

    def read(self, size: int) -> bytes:
        """Return at most `size` characters."""
        return self._text.read(size).encode()

    def readline(self) -> bytes:
        """Return the rest of a line."""
        return self._text.readline().encode()


class _Stream(io.RawIOBase):
    """The rows of a text file as UTF-8, one byte between cells, none in front of quotes.

    Its end is held back until it is known where the footers begin.
    """

    def __init__(self, file: Any, layout: Layout, lent: list["weakref.ref[Any]"]) -> None:
        super().__init__()
        self._lent = lent  # what Arrow may hold: this file, and what was read of it
        lent.append(weakref.ref(self))
        self._layout, lines = layout, layout.lines
        is_utf8 = codecs.lookup(lines.encoding).name in ("utf-8", "utf-8-sig", "ascii")
        self._file = file if is_utf8 else _Recoded(file, skip_mark(lines.encoding))
        self.n_quotes = 0  #: in what was read so far
        self.end = _End([], False)  #: known when all is read
        self._separator = lines.separator
        self._is_blank = lines.separator == WHITESPACE
        self.delimiter = "\t" if self._is_blank else lines.separator
        # Blanks in front of a quote: Arrow takes the quote for a part of the cell then.
        self._late_quote = re.compile(
            rb"(?:^|[\r\n" + re.escape(self.delimiter.encode()) + rb']) +"'
        )
        self._parts = deque[bytes]()  # read, but not handed out
        self._is_begun = self._is_read = False  # anything handed out, all read
        self._n_end = _END_BYTES + _END_CELL_BYTES * len(layout.names)

    def readable(self) -> bool:
        """Return True: `RawIOBase` says no."""
        return True

    def read(self, size: int = -1) -> Any:
        """Return at most `size` bytes."""
        while not self._is_read and sum(map(len, islice(self._parts, 1, None))) < self._n_end:
            rows = self._next(size)
            self._is_read = not rows
            self._parts.append(rows)
            if self._is_read:
                self._parts = deque([self._without_footers(b"".join(self._parts))])
        rows = self._parts.popleft() if self._parts else b""
        if len(rows) > size:
            self._parts.appendleft(rows[size:])
        self._is_begun = True
        part = np.frombuffer(rows[:size], np.uint8)
        self._lent[:] = [*(held for held in self._lent if held() is not None), weakref.ref(part)]
        return part

    def _without_footers(self, content: bytes) -> bytes:
        """Return the end of the file, or all of it, up to the last row of data."""
        layout, is_whole = self._layout, not self._is_begun
        if layout.keeps_footers:
            return content
        lines = (content if is_whole else content[-self._n_end :]).splitlines(keepends=True)
        # Names and a row stay; the first line of an end may be a part of one.
        lines = lines[layout.n_header + 1 if is_whole else 1 :][-MAX_FOOTERS:]
        texts = [line.decode(errors="replace").rstrip("\r\n") for line in lines]
        try:
            rows = [
                next(csv.reader([text], delimiter=self.delimiter, skipinitialspace=True), [])
                for text in texts
            ]
        except csv.Error:
            return content
        n_footers = layout.footers.count(rows)
        first = len(lines) - n_footers
        named = [text * any(cells) for text, cells in zip(texts, rows, strict=True)]
        self.end = _End(named[first:], count_likely_footers(rows) > 0)
        return content[: len(content) - sum(map(len, lines[first:]))]

    def _next(self, size: int) -> bytes:
        raw: bytes = self._file.read(size)
        if not self._is_blank and b'"' not in raw and raw[-1:] != b" ":
            return raw
        parts, n_quotes, n_bytes = [raw], raw.count(b'"'), 0
        while rest := self._file.readline():
            parts.append(rest)
            n_quotes += rest.count(b'"')
            n_bytes += len(rest)
            if n_quotes % 2 == 0 or len(parts) > _MAX_ROW_LINES or n_bytes > MAX_LINE:
                break
        raw = b"".join(parts)
        self.n_quotes += n_quotes
        if self._is_blank and not n_quotes:
            return b"".join(b"\t".join(line.split()) + b"\n" for line in raw.splitlines())
        is_late = self.delimiter != " " and b' "' in raw and self._late_quote.search(raw)
        if not self._is_blank and not is_late:
            return raw
        found = io.StringIO(newline="")
        rows = split_rows(io.StringIO(raw.decode(), newline=""), self._separator)
        csv.writer(found, delimiter=self.delimiter, lineterminator="\n").writerows(rows)
        return found.getvalue().encode()
