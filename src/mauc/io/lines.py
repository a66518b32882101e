"""Text files: encoding, format, separator and titles by their content, rows with line numbers."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from mauc.data.columns import default_names
from mauc.exceptions import MaucError, option
from mauc.io.files import (
    BEGINNINGS,
    UNICODE_MARKS,
    content_error,
    describe_content,
    find_archive,
    open_binary,
    read_beginning,
    zip_members,
)
from mauc.io.options import ReadOptions
from mauc.io.table import check_unique, find_place

#: the separator that stands for any run of blanks and tabs
WHITESPACE = "whitespace"
_SNIFFED_BYTES = 1 << 16
_SNIFFED_LINES = 50
_SEARCHED_ROWS = 100_000  # for a word that may stand for a missing value
_MAX_COLUMNS = 150_000  # they take 1.6 GB and 12 seconds, most of it in Arrow
_COMPARED_ROWS, _COMPARED_COLUMNS = 25, 1000  # that tell whether the first row is one of names
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_ANY_NUMBER = rf"({NUMBER}|[+-]?inf|nan)"
#: a row of an svmlight file
SVMLIGHT_ROW = re.compile(
    rf"\s*{_ANY_NUMBER}(\s+qid:\d+)?(\s+\d+:{_ANY_NUMBER})*\s*(#.*)?", re.IGNORECASE
)
# A comma that can only be a decimal one, and a point likewise: neither is before three digits.
_COMMA = re.compile(
    r"[+-]?(\d{1,3}(\.\d{3})+,\d+|(0|\d{4,})?,\d+|\d+,(?!\d{3}\b)\d+)([eE][+-]?\d+)?"
)
_POINT = re.compile(rf"(?=.*\.)(?![+-]?\d{{1,3}}(\.\d{{3}})+$){NUMBER}")
# Orange (https://orange3-data-mining-library.readthedocs.io, "Loading and saving data") has types
# and flags of columns in a second and third row, or in front of their names: ``cD#iris``.
_NOMINAL = re.compile(r"d|discrete|categorical|s|string|text|\S+( \S+)+")  # or its values
_NUMERIC = re.compile(r"c|continuous|n|numeric|t|time|")
_FLAG = re.compile(r"(class|c|ignore|i|meta|m|weight|w|)((^| )[^\s=]+=\S*)*")
_PREFIX = re.compile(r"([cimw]?)([CDNST]?)#(?=.)")
# How rows below the data begin: their first cell is such a word, or such a note.
_FOOTERS = {
    "sum": re.compile(r"((grand |sub-?)?totals?|sum) ?:?", re.IGNORECASE),
    "mean": re.compile(r"(mean|average) ?:?", re.IGNORECASE),
    "note": re.compile(
        r"(((data )?sources?|(foot)?notes?|remarks?|data from [\w ]+|(last )?updated|copyright) ?:"
        r"|©|\(c\) ).*",
        re.IGNORECASE | re.DOTALL,
    ),
}
Rows = list[tuple[int, list[str]]]  # with the numbers of their (last) lines


@contextmanager
def open_lines(path: Path, encoding: str, newline: str | None = "") -> Iterator[io.TextIOWrapper]:
    """Open a file of text; a byte order mark is skipped, wrong bytes are named by offset."""
    with open_binary(path, has_lines=True) as binary:
        text = io.TextIOWrapper(binary, encoding=skip_mark(encoding), newline=newline)
        try:
            yield text
        except UnicodeError as error:
            raise encoding_error(path, encoding) from error
        finally:
            text.detach()


def skip_mark(encoding: str) -> str:
    """Return the codec that skips a byte order mark at the beginning."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        raise MaucError(
            f"{option('encoding')} must be one that Python knows, such as utf-8, latin-1 or "
            f"cp1252, got {encoding!r}."
        ) from error
    return "utf-8-sig" if name == "utf-8" else encoding


def find_encoding(path: Path, given: str | None) -> str:
    """Return the encoding of a file of text: that which is given, or that of a UTF-16 mark."""
    with open_binary(path) as file:
        what = describe_content(file.read(4))
    # The mark says which byte is first, also where "utf-16-le" or "utf-16-be" is given.
    is_wanted = given is None or codecs.lookup(skip_mark(given)).name.startswith("utf-16")
    return "utf-16" if what == "UTF-16 text" and is_wanted else given or "utf-8"


def check_text(path: Path, wanted: str, encoding: str) -> None:
    """Raise if the first bytes of a file are not text."""
    name = codecs.lookup(skip_mark(encoding)).name
    with open_binary(path) as file:
        beginning = file.read(4096)
    if not beginning:
        raise MaucError(f"{path} is empty (after decompression); {wanted} is wanted.")
    what = describe_content(beginning)
    marked = what.removesuffix(" text").lower()
    if marked in UNICODE_MARKS:
        if not name.startswith(marked):
            raise MaucError(
                f"{path} is {what}; pass {option('encoding', marked)}, or save it as UTF-8."
            )
        return
    is_binary = what == "a binary file of an unknown kind"
    if is_binary and name.startswith(tuple(UNICODE_MARKS)):
        return
    if is_binary or what not in ("text", wanted):
        raise content_error(path, wanted, beginning)


def encoding_error(path: Path, encoding: str) -> MaucError:
    """Return the error that names the first byte which the encoding does not know."""
    decoder = codecs.getincrementaldecoder(skip_mark(encoding))()
    offset = 0
    with open_binary(path, has_lines=True) as file:
        for line, raw in enumerate(chain(file, [b""]), start=1):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(raw, final=not raw)
            except UnicodeError as error:
                position = getattr(error, "start", 0) - pending
                byte = raw[max(0, position) :][:1].hex()
                what = f"byte 0x{byte}" if byte else "the end"
                return MaucError(
                    f"{path} is not {encoding.upper()} text: {what} at offset "
                    f"{offset + position} (line {line - (not raw)}) does not fit. Pass its "
                    f"encoding, such as {option('encoding', 'latin-1')} or "
                    f"{option('encoding', 'cp1252')}, or save it as UTF-8."
                )
            offset += len(raw)
    return MaucError(f"{path} cannot be read as {encoding.upper()} text.")


def sniff_format(path: Path, encoding: str) -> str:
    """Return the format of a file by its content; that of rows of text is csv."""
    beginning = read_beginning(path, 16)
    for start, _, name in BEGINNINGS:
        if name and beginning.startswith(start):
            return name
    members = [] if find_archive(path) else zip_members(path)
    if members:
        return "xlsx" if {"[Content_Types].xml", "content.xml"} & set(members) else "npz"
    lines = [line for line in first_lines(path, encoding) if line.strip()]
    told = [line for line in lines if not line.lstrip().startswith(("%", "#"))]
    if told and told[0].lower().startswith(("@relation", "@attribute")):
        return "arff"
    if told and re.match(r"\{|\[\s*($|[{\[])", told[0].lstrip()):
        return "json"
    is_row = [":" in line and SVMLIGHT_ROW.fullmatch(line) for line in told]
    return "svmlight" if told and all(is_row) else "csv"


def first_lines(path: Path, encoding: str) -> list[str]:
    """Return the first lines of a text file."""
    with open_binary(path) as file:
        content = file.read(_SNIFFED_BYTES)
    text = io.StringIO(content.decode(skip_mark(encoding), "replace"), newline=None)
    lines = [line.rstrip("\n") for line in text]  # splitlines knows eight more ends of lines
    if len(content) == _SNIFFED_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut off
    return lines[:_SNIFFED_LINES]


def split_rows(lines: Iterable[str], separator: str, *, strict: bool = False) -> Any:
    """Return a reader of `csv`; blanks behind a separator are not part of a value."""
    if separator == WHITESPACE:
        plain = (line.replace("\t", " ").strip() + "\n" for line in lines)
        return csv.reader(plain, delimiter=" ", skipinitialspace=True, strict=strict)
    skips = separator != " "
    return csv.reader(lines, delimiter=separator, skipinitialspace=skips, strict=strict)


class Head(NamedTuple):
    """How a text file is read, as far as its first lines tell."""

    separator: str
    decimal: str
    skipped: set[int]  #: lines that are neither names nor data, from 1
    notes: list[str]
    #: names of columns by Orange, whether they are nominal, and their flags ("c" for the class)
    orange: list[tuple[str, bool, str]]


def find_head(path: Path, options: ReadOptions, encoding: str) -> Head:
    """Return what the user and the first lines of a csv, tsv or txt file tell."""
    n_skip = options.skip_rows or 0
    lines = ["" if j < n_skip else line for j, line in enumerate(first_lines(path, encoding))]
    default = "\t" if options.format == "tsv" else ";" if options.decimal == "," else ","
    marks = ["\t", ";", "|", ",", WHITESPACE] if options.format == "txt" else [default, *"\t;|,"]
    marks = [options.separator] if options.separator else marks
    may_be_titled = options.skip_rows is None and options.header is not False
    found: list[Any] = []
    for separator in marks:
        rows = _split(lines, separator) if separator != options.decimal else []
        rows = rows[: max(2, len(rows) - count_likely_footers([cells for _, cells in rows]))]
        n_titles = count_titles([cells for _, cells in rows]) if may_be_titled else 0
        widths = [len(cells) for _, cells in rows]
        if _is_table(widths[n_titles:]):
            n_short = sum(width < widths[-1] for width in widths[:n_titles])
            found.append((n_short, len(found), separator, n_titles, rows))
        elif max(widths[:1], default=0) > 1:  # whose rows have errors
            found.append((99, len(found), separator, 0, rows))
    # Fewest titles: the names of a table with semicolons may be the only row without a comma.
    *_, separator, n_titles, rows = min(found, default=(marks[0], 0, []))
    titles: Rows = rows[:n_titles]
    rows = rows[n_titles:]
    notes = titles_note([cells[0] for _, cells in titles])
    if separator != marks[0] and options.format != "txt":
        notes.append(f"the separator {separator!r} was found")
    decimal, texts = options.decimal, [cell for _, cells in rows[1:] for cell in cells]
    is_comma = any(map(_COMMA.fullmatch, texts)) and not any(map(_POINT.fullmatch, texts))
    if is_comma and decimal is None and "," not in (separator, options.thousands):
        decimal = ","
        notes.append("the decimal comma was found")
    orange, n_more = _find_orange(rows) if options.header is not False else ([], 0)
    skipped = {*range(1, n_skip + 1), *(line for line, _ in [*titles, *rows[1 : 1 + n_more]])}
    return Head(separator, decimal or ".", skipped, notes, orange)


def _split(lines: list[str], separator: str) -> Rows:
    try:
        reader = split_rows(lines, separator)
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except (csv.Error, TypeError):  # a separator of several letters, which the caller refuses
        return []
    return [(line, cells) for line, cells in rows if any(cells)]


def _is_table(widths: list[int]) -> bool:
    """Whether rows have equally many cells; the first one less if R wrote names of rows."""
    rest = set(widths[1:]) or set(widths)
    return len(rest) == 1 and widths[0] > 1 and widths[0] - max(rest) in (0, -1)


def count_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many first rows have too few cells for names, or nothing behind the first one."""
    width = len(rows[-1]) if rows else 0
    for n, row in enumerate(rows[: len(rows) // 2 + 1]):
        is_alone = len(row) > 2 and row[0] and not any(row[1:])
        if not (is_alone or len(row) < max(width - 1, 2)) or re.fullmatch(NUMBER, row[0]):
            return n
    return 0


def titles_note(titles: Sequence[str]) -> list[str]:
    """Return the note on title rows that were left out."""
    what = "a title row" if len(titles) == 1 else f"{len(titles)} title rows"
    return [f"{what} above the names left out: {titles[0][:60]!r}"] if titles else []


def first_text(cells: Sequence[str]) -> str:
    """Return the first cell of a row that holds something."""
    return next(filter(None, map(str.strip, cells)), "")


def footer_kind(cells: Sequence[str]) -> str:
    """Return whether a row begins as a "sum", "mean" or "note" below the data; "" otherwise."""
    first = first_text(cells)
    return next((kind for kind, known in _FOOTERS.items() if known.fullmatch(first)), "")


def count_likely_footers(rows: Sequence[Sequence[str]]) -> int:
    """Return how many last rows begin as footers do, blank ones beside them as well."""
    n_last, has_footer = 0, False
    for cells in reversed(rows):
        kind = footer_kind(cells)
        if not kind and any(map(str.strip, cells)):
            break
        n_last, has_footer = n_last + 1, has_footer or kind != ""
    return n_last if has_footer else 0


def _find_orange(rows: Rows) -> tuple[list[tuple[str, bool, str]], int]:
    """Return what Orange tells of columns, and in how many rows below the names."""
    names, types, flags = (cells for _, cells in rows[:3]) if len(rows) > 3 else ([], [], [])
    prefixes = [_PREFIX.match(name) for name in names]
    if any(prefixes):
        pairs = zip(names, prefixes, strict=True)
        return [
            (n[p.end() :], p[2] in ("D", "S"), p[1]) if p else (n, False, "") for n, p in pairs
        ], 0
    is_nominal = [_NOMINAL.fullmatch(kind) is not None for kind in types]
    is_known = all(n or _NUMERIC.fullmatch(kind) for n, kind in zip(is_nominal, types, strict=True))
    marks = [_FLAG.fullmatch(flag) for flag in flags]
    is_flagged = all(marks) and ("" in flags or "class" in flags)  # else letters of nominal data
    if is_known and is_flagged and any(kind and " " not in kind for kind in types):
        return list(zip(names, is_nominal, (m[1][:1] for m in marks if m), strict=True)), 2
    return [], 0


class Lines:
    """The rows of a text file with their line numbers, for its beginning and for errors."""

    def __init__(
        self,
        path: Path,
        separator: str,
        encoding: str,
        has_header: bool | None,
        decimal: str = ".",
        skipped: Collection[int] = (),
    ) -> None:
        self.path: Path = path
        self.separator: str = separator
        self.encoding: str = encoding
        self.has_header, self._decimal = has_header, decimal  # None: `find_names` decides
        self._skipped = skipped  # lines to leave out, from 1
        self.note: str = ""  #: how a first line of numbers is taken, and what takes it otherwise

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the (last) line number and the cells of every row that is not blank."""
        with open_lines(self.path, self.encoding) as file:
            lines = enumerate(file, start=1)
            kept = ("\n" if number in self._skipped else line for number, line in lines)
            reader = split_rows(kept if self._skipped else file, self.separator)
            try:
                for cells in reader:
                    if cells and (len(cells) > 1 or cells[0].strip()):
                        yield reader.line_num, cells
            except csv.Error as error:
                raise MaucError(f"{self.path}, line {reader.line_num}: {error}.") from error

    def locate_row(self, row: int) -> str:
        """Return on which line a data row (counted from 0) is."""
        line, _ = next(islice(self.rows(), row + bool(self.has_header), None))
        return f"line {line}"

    def data_rows(self) -> Iterator[list[str]]:
        """Yield the cells of every row below the names, footers as well."""
        return (cells for _, cells in islice(self.rows(), bool(self.has_header), None))

    def column(self, column: int, n_rows: int) -> Iterator[str]:
        """Yield the text of a column in each of the first `n_rows` rows of data."""
        for cells in islice(self.data_rows(), n_rows):
            yield cells[column].strip()

    def count(self) -> int:
        """Return how many lines there are."""
        with open_lines(self.path, self.encoding) as file:
            return sum(1 for _ in file)

    def has_word(self, word: str, besides: int) -> bool:
        """Whether a word is a cell of the first rows, in another column than `besides`."""
        rows = (cells for _, cells in islice(self.rows(), _SEARCHED_ROWS))
        return any(cells.count(word) > cells[besides : besides + 1].count(word) for cells in rows)

    def find_names(
        self, missing: Collection[str] = (), given: Iterable[object] = ()
    ) -> tuple[list[str], int]:
        """Return the names of the columns, `given` among them, and how many lines they take."""
        rows = islice(self.rows(), _COMPARED_ROWS)
        line, first = next(rows, (0, []))
        if not first:
            raise MaucError(f"{self.path} is empty; a header line and rows are wanted.")
        if len(first) > _MAX_COLUMNS + 1:  # the target
            raise MaucError(
                f"{self.path}, line {line}: at most {_MAX_COLUMNS:,} columns are read from text, "
                f"got {len(first):,}; write parquet, npy or svmlight, or transpose the file."
            )
        # From the last column, which may well be the target, every so many of a wide table.
        step = 1 + len(first) // _COMPARED_COLUMNS
        others = [cells for _, cells in rows]
        others = others[: max(1, len(others) - count_likely_footers(others))]
        below = [(len(cells), cells[::-step]) for cells in others]
        has_row_names = bool(below) and below[0][0] == len(first) + 1 > 2  # as R writes them
        default, names = default_names(range(len(first))), [cell.strip() for cell in first]
        if self.has_header is None:
            is_named = any(word in names and find_place(default, word) is None for word in given)
            is_data = self._is_data(first[::-step], [cells for _, cells in below], missing)
            self.has_header = has_row_names or is_named or not is_data
            if not self.has_header or 2 * sum(map(is_number, names)) >= len(names):
                taken, other = ("names", "data") if self.has_header else ("data", "names")
                self.note = (
                    f"the first line is taken for {taken}; if it holds {other}, pass "
                    f"{option('header', not self.has_header)}"
                )
        if not self.has_header:
            return default, 0
        names = [name or f"column{j + 1}" for j, name in enumerate([""] * has_row_names + names)]
        check_unique(self.path, names, self.hint)
        if not below:
            raise MaucError(f"{self.path} has a header line but no rows.")
        return names, line

    def _is_data(self, first: list[str], rows: list[list[str]], missing: Collection[str]) -> bool:
        """Whether the first row is like those below: numbers in their range, words among them."""
        numbers, in_range, words = [], [], []
        for column in zip(first, *rows, strict=False):
            own, *texts = map(str.strip, column)
            known = [text for text in texts if text not in missing]
            if own in missing or not known:
                continue
            plain = [text.replace(self._decimal, ".") for text in (own, *known)]
            if not all(map(is_number, plain[1:])):
                words.append(own in known)
            elif not is_number(plain[0]):
                return False  # a word above numbers is a name
            else:
                number, *values = map(float, plain)
                numbers.append(number)
                is_alike = not own.isdigit() or any(map(str.isdigit, known))  # 7 is above 3.5
                in_range.append(is_alike and min(values) <= number <= max(values))
        steps = {after - before for before, after in pairwise(numbers)}
        if len(numbers) > 2 and len(steps) == 1 and steps != {0}:  # 0, 1, 2, ... or years
            return False
        alike, is_twice = [*in_range, *words], len(set(numbers)) < len(numbers)
        return (is_twice or 2 * sum(alike) >= len(alike) > 0) and (not words or any(words))

    @property
    def hint(self) -> str:
        """What a user may have overlooked, as a sentence."""
        return self.note and f" {self.note[:1].upper()}{self.note[1:]}."

    def ragged_error(self, wanted: int) -> MaucError | None:
        """Return the error for the first row that has more or fewer cells than are wanted."""
        first_line, _ = next(self.rows())
        for line, cells in islice(self.rows(), bool(self.has_header), None):
            if len(cells) != wanted:
                return MaucError(
                    f"{self.path}, line {line}: the row has {len(cells)} "
                    f"value{'s' if len(cells) > 1 else ''}, but line {first_line} has {wanted}. "
                    f"Correct the line, or quote values that hold {self.separator!r}."
                )
        return None

    def check_quotes(self) -> None:
        """Raise if a quoted cell is never closed."""
        with open_lines(self.path, self.encoding) as file:
            try:
                for _ in split_rows(file, self.separator, strict=True):
                    pass
            except csv.Error as error:
                if "end of data" in str(error):
                    raise MaucError(
                        f"{self.path} cannot be read as rows and columns: it ends inside a quoted "
                        f"value; look for a quote that is never closed."
                    ) from error


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
