"""A layout as plain text: columns of equal width, the digits of a column below each other."""

import textwrap
from typing import NamedTuple

from mauc.report.layout import Layout, Value

_WIDTH = 100  # of captions and notes

#: Stands for `bold` where the mark takes no place: what shows the text turns it into a style.
UNSEEN = "\ue000"


class _Cell(NamedTuple):
    """A text and the number of places that it takes."""

    text: str
    width: int

    def ljust(self, width: int) -> str:
        return self.text + " " * (width - self.width)


def render_text(layout: Layout, width: int | None = None, bold: str = "**") -> str:
    """Return a table as plain text that ends with a newline.

    Parameters
    ----------
    layout : Layout
    width : int, optional
        Captions and notes are wrapped to it, and columns of values that would exceed it continue
        below. By default columns are not parted.
    bold : str, default="**"
        What stands around a bold value. `UNSEEN` takes no place in the columns.
    """
    labels = _label_columns(layout)
    rows = [values for group in layout.groups for _, values in group.rows]
    columns = [
        _value_column(head, [row[at] for row in rows], bold)
        for at, head in enumerate(layout.columns)
    ]
    wrapped = width or _WIDTH
    lines = [*textwrap.wrap(layout.caption, wrapped), ""]
    for part in _parts(labels, columns, width):
        lines += [*_body(layout, labels, part), ""]
    if not layout.notes:
        lines.pop()
    for note in layout.notes:
        lines += textwrap.wrap(note, wrapped)
    return "\n".join(lines) + "\n"


def _parts(
    labels: list[list[_Cell]], columns: list[list[_Cell]], width: int | None
) -> list[list[list[_Cell]]]:
    """Part the columns of values so that each part fits the width beside the labels."""
    if width is None or not columns:
        return [columns]
    room = width - sum(_width(column) + 2 for column in labels)
    parts: list[list[list[_Cell]]] = [[]]
    used = 0
    for column in columns:
        if parts[-1] and used + _width(column) > room:
            parts.append([])
            used = 0
        parts[-1].append(column)
        used += _width(column) + 2
    return parts


def _body(layout: Layout, labels: list[list[_Cell]], columns: list[list[_Cell]]) -> list[str]:
    """Return the lines of some columns of values beside the labels."""
    shown = [*labels, *columns]
    widths = [_width(column) for column in shown]
    body = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in zip(*shown, strict=True)
    ]
    lines = []
    if layout.over:
        lines.append(" " * sum(width + 2 for width in widths[: len(labels)]) + layout.over)
    lines.append(body[0])
    rule = "-" * max(len(line.replace(UNSEEN, "")) for line in body)
    at = 1
    for group in layout.groups:
        lines.append(rule)
        lines += body[at : at + len(group.rows)]
        at += len(group.rows)
    return lines


def _width(column: list[_Cell]) -> int:
    return max(cell.width for cell in column)


def _label_columns(layout: Layout) -> list[list[_Cell]]:
    names, labels = [layout.heads[0]], [layout.heads[1]]
    for group in layout.groups:
        names += [group.name] + [""] * (len(group.rows) - 1)
        labels += [label for label, _ in group.rows]
    columns = [names, labels] if layout.is_grouped else [labels]
    return [[_Cell(entry, len(entry)) for entry in column] for column in columns]


def _value_column(head: str, values: list[Value], bold: str) -> list[_Cell]:
    places = 0 if bold == UNSEEN else len(bold)  # that a mark takes
    stars = places if any(value.is_bold for value in values) else 0
    width = max([len(head) - stars, *(len(value.text) for value in values)])
    shown = []
    for value in values:
        star, taken = (bold, places) if value.is_bold else ("", 0)
        left = stars - taken + width - len(value.text)
        text = " " * left + star + value.text + star + value.marks
        shown.append(_Cell(text, len(text) - 2 * (len(star) - taken)))
    # heads end where the digits end
    return [_Cell(head.rjust(stars + width), stars + width), *shown]
