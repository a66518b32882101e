"""A layout as a Markdown table."""

import re

from mauc.report.layout import Layout, Value

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$#])")


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it stands, also inside a table.

    Examples
    --------
    >>> from mauc.report.as_markdown import escape_markdown
    >>> print(escape_markdown("a_b|c"))
    a\_b\|c
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def render_markdown(layout: Layout) -> str:
    """Return a table in Markdown that ends with a newline."""
    n_labels = 2 if layout.is_grouped else 1
    heads = [escape_markdown(head) for head in (*layout.heads[2 - n_labels :], *layout.columns)]
    rule = [":--"] * n_labels + ["--:"] * len(layout.columns)
    # Markdown has no heading over several columns.
    caption = layout.caption + (f" Columns: {layout.over.lower()}." if layout.over else "")
    lines = [escape_markdown(caption), "", _line(heads), _line(rule)]
    for group in layout.groups:
        name = escape_markdown(group.name)
        for label, values in group.rows:
            names = [name] if layout.is_grouped else []
            lines.append(_line([*names, escape_markdown(label), *map(_value, values)]))
            name = ""
    for note in layout.notes:
        lines += ["", escape_markdown(note)]
    return "\n".join(lines) + "\n"


def _line(entries: list[str]) -> str:
    return "| " + " | ".join(entries) + " |"


def _value(value: Value) -> str:
    text = escape_markdown(value.text)
    return (f"**{text}**" if value.is_bold else text) + value.marks
