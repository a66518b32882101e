"""The first lines of a text file: its separator, decimal comma, title rows and Orange's header.

Orange (https://orange3-data-mining-library.readthedocs.io, "Loading and saving data") has types and
flags of columns in a second and third row, or in front of their names: ``cD#iris``.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mauc.io.lines import NUMBER, WHITESPACE, first_lines, split_rows
from mauc.io.options import ReadOptions

# A comma that can only be a decimal one, and a point likewise: neither is before three digits.
_COMMA = re.compile(
    r"[+-]?(\d{1,3}(\.\d{3})+,\d+|(0|\d{4,})?,\d+|\d+,(?!\d{3}\b)\d+)([eE][+-]?\d+)?"
)
_POINT = re.compile(rf"(?=.*\.)(?![+-]?\d{{1,3}}(\.\d{{3}})+$){NUMBER}")
_NOMINAL = re.compile(r"d|discrete|categorical|s|string|text|\S+( \S+)+")  # or its values
_NUMERIC = re.compile(r"c|continuous|n|numeric|t|time|")
_FLAG = re.compile(r"(class|c|ignore|i|meta|m|weight|w|)((^| )[^\s=]+=\S*)*")
_PREFIX = re.compile(r"([cimw]?)([CDNST]?)#(?=.)")
Rows = list[tuple[int, list[str]]]  # with the numbers of their (last) lines


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
