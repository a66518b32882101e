"""The first lines of a text file: its separator, decimal comma, title rows and Orange's header.

Orange (https://orange3-data-mining-library.readthedocs.io, "Loading and saving data") has types and
flags of columns in a second and third row, or in front of their names: ``cD#iris``.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mauc.io.lines import NUMBER, WHITESPACE, first_lines, split_rows
from mauc.io.options import ReadOptions

_SEPARATORS = ("\t", ";", "|", ",")
# A comma that can only be a decimal one, and a point likewise: neither is before three digits.
_COMMA = re.compile(
    r"[+-]?(\d{1,3}(\.\d{3})+,\d+|(0|\d{4,})?,\d+|\d+,(?!\d{3}\b)\d+)([eE][+-]?\d+)?"
)
_POINT = re.compile(rf"(?=.*\.)(?![+-]?\d{{1,3}}(\.\d{{3}})+$){NUMBER}")
_NUMERIC = ("c", "continuous", "n", "numeric", "t", "time")  # types of Orange
_NOMINAL = ("d", "discrete", "categorical", "s", "string", "text")
_VALUES = re.compile(r"\S+( \S+)+|")  # of a discrete column, in the place of its type
_FLAG = re.compile(r"(class|c|ignore|i|meta|m|weight|w|\S+=\S*)( \S+=\S*)*|")
_PREFIXED = re.compile(r"([cimw]?)([CDNST]?)#(.+)")
Rows = list[tuple[int, list[str]]]  # with the numbers of their (last) lines


@dataclass(frozen=True)
class Head:
    """How a text file is read, as far as its first lines tell."""

    separator: str
    decimal: str
    skipped: frozenset[int] = frozenset()  #: lines that are neither names nor data, from 1
    notes: tuple[str, ...] = ()
    #: names of columns by Orange, whether they are nominal, and their flags ("c" for the class)
    orange: tuple[tuple[str, bool, str], ...] = ()


def find_head(path: Path, options: ReadOptions, encoding: str) -> Head:
    """Return what the first lines of a csv, tsv or txt file tell, and what the user says."""
    n_skip, is_txt = options.skip_rows or 0, options.format == "txt"
    lines = ["" if j < n_skip else line for j, line in enumerate(first_lines(path, encoding))]
    default = "\t" if options.format == "tsv" else ";" if options.decimal == "," else ","
    choices = [options.separator or default]
    if options.separator is None:
        marks = [*_SEPARATORS, WHITESPACE] if is_txt else [default, *_SEPARATORS]
        choices = [mark for mark in marks if mark != options.decimal]
    may_be_titled = options.skip_rows is None and options.header is not False
    for min_width in (3, 1) if may_be_titled else (10**9,):  # of title rows, with empty cells
        for separator in choices:
            rows = _split(lines, separator)
            n_titles = count_titles([cells for _, cells in rows], min_width)
            if _is_table([len(cells) for _, cells in rows[n_titles:]]):
                head = _describe(rows[n_titles:], separator, options)
                n_skip = rows[n_titles - 1][0] if n_titles else n_skip
                notes = titles_note([cells[0] for _, cells in rows[:n_titles]])
                if separator != default and not is_txt and options.separator is None:
                    notes.append(f"the separator {separator!r} was found")
                skipped = head.skipped.union(range(1, n_skip + 1))
                return replace(head, skipped=skipped, notes=(*notes, *head.notes))
    separator = options.separator or default
    return Head(separator, options.decimal or ".", frozenset(range(1, n_skip + 1)))


def _split(lines: list[str], separator: str) -> Rows:
    reader = split_rows(lines, separator)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error:
        return []
    return [(line, cells) for line, cells in rows if any(cells)]


def _is_table(widths: list[int]) -> bool:
    """Whether rows have equally many cells; the first one less if R wrote names of rows."""
    rest = set(widths[1:]) or set(widths)
    return len(rest) == 1 and widths[0] > 1 and widths[0] - max(rest) in (0, -1)


def count_titles(rows: Sequence[Sequence[str]], min_width: int = 3) -> int:
    """Return how many first rows have nothing but a word in their first cell, above other rows."""
    for n, row in enumerate(rows):
        is_alone = row[0] and not any(row[1:]) and len(row) >= min_width and len(row) != 2
        if not is_alone or re.fullmatch(NUMBER, row[0]):
            return n
    return 0


def titles_note(titles: Sequence[str]) -> list[str]:
    """Return the note on title rows that were left out."""
    what = "a title row" if len(titles) == 1 else f"{len(titles)} title rows"
    return [f"{what} above the names left out: {titles[0][:60]!r}"] if titles else []


def _describe(rows: Rows, separator: str, options: ReadOptions) -> Head:
    """Return what rows without titles tell: a decimal comma, and the header of Orange."""
    head = Head(separator, options.decimal or ".")
    texts = [cell for _, cells in rows[1:] for cell in cells]
    may_be_comma = "," not in (separator, options.thousands) and options.decimal is None
    is_comma = may_be_comma and any(map(_COMMA.fullmatch, texts))
    if is_comma and not any(map(_POINT.fullmatch, texts)):
        head = replace(head, decimal=",", notes=("the decimal comma was found",))
    if options.header is False or len(rows) < 2:
        return head
    (_, names), *below = rows
    found = [_PREFIXED.fullmatch(name) for name in names]
    if any(found):
        orange = [(one[3], one[2] in "DS", one[1]) if one else (name, False, "")
                  for one, name in zip(found, names, strict=True)]  # fmt: skip
        return replace(head, orange=tuple(orange))
    if len(below) > 2 and _is_orange(types := below[0][1], flags := below[1][1]):
        kinds = [kind in _NOMINAL or " " in kind for kind in types]
        marks = [flag[:1] * ("=" not in flag.split(" ")[0]) for flag in flags]
        orange = list(zip(names, kinds, marks, strict=True))
        return replace(head, orange=tuple(orange), skipped=frozenset((below[0][0], below[1][0])))
    return head


def _is_orange(types: list[str], flags: list[str]) -> bool:
    """Whether a second and a third row have types and flags of columns."""
    is_known = [kind in _NUMERIC + _NOMINAL for kind in types]
    return (
        any(is_known)
        and all(
            known or _VALUES.fullmatch(kind) for known, kind in zip(is_known, types, strict=True)
        )
        and all(map(_FLAG.fullmatch, flags))
    )
