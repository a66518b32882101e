"""A layout as plain text: columns of equal width, the digits of a column below each other."""

import textwrap

from mauc.report.layout import Layout, Value

_WIDTH = 100  # of captions and notes


def render_text(layout: Layout) -> str:
    """Return a table as plain text that ends with a newline; bold is written as ``**``."""
    labels = _label_columns(layout)
    rows = [values for group in layout.groups for _, values in group.rows]
    columns = [
        _value_column(head, [row[at] for row in rows]) for at, head in enumerate(layout.columns)
    ]
    body = ["  ".join(parts).rstrip() for parts in zip(*labels, *columns, strict=True)]
    lines = [*textwrap.wrap(layout.caption, _WIDTH), ""]
    if layout.over:
        lines.append(" " * sum(len(column[0]) + 2 for column in labels) + layout.over)
    lines.append(body[0])
    at = 1
    for group in layout.groups:
        lines.append("-" * max(len(line) for line in body))
        lines += body[at : at + len(group.rows)]
        at += len(group.rows)
    if layout.notes:
        lines.append("")
    for note in layout.notes:
        lines += textwrap.wrap(note, _WIDTH)
    return "\n".join(lines) + "\n"


def _label_columns(layout: Layout) -> list[list[str]]:
    names, labels = [layout.heads[0]], [layout.heads[1]]
    for group in layout.groups:
        names += [group.name] + [""] * (len(group.rows) - 1)
        labels += [label for label, _ in group.rows]
    columns = [names, labels] if layout.is_grouped else [labels]
    return [[entry.ljust(max(map(len, column))) for entry in column] for column in columns]


def _value_column(head: str, values: list[Value]) -> list[str]:
    stars = 2 if any(value.is_bold for value in values) else 0
    width = max([len(head) - stars, *(len(value.text) for value in values)])
    shown = []
    for value in values:
        star = "**" if value.is_bold else ""
        left = stars - len(star) + width - len(value.text)
        shown.append(" " * left + star + value.text + star + value.marks)
    # heads end where the digits end
    head = head.rjust(stars + width)
    longest = max(map(len, [head, *shown]))
    return [entry.ljust(longest) for entry in [head, *shown]]
