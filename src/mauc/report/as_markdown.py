"""A layout as a Markdown table."""

import re
from collections.abc import Iterable, Sequence

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
    # Markdown has no heading over several columns.
    caption = layout.caption + (f" Columns: {layout.over.lower()}." if layout.over else "")
    rows = []
    for group in layout.groups:
        name = escape_markdown(group.name)
        for label, values in group.rows:
            names = [name] if layout.is_grouped else []
            rows.append([*names, escape_markdown(label), *map(_value, values)])
            name = ""
    parts = [escape_markdown(caption), markdown_table(heads, rows, n_labels)]
    return "\n\n".join([*parts, *map(escape_markdown, layout.notes)]) + "\n"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], n_labels: int = 1) -> str:
    """Return entries in Markdown as a table, the columns of labels to the left, others right.

    Parameters
    ----------
    heads : sequence of str
    rows : iterable of sequences of str
        As many entries as heads.
    n_labels : int, default=1
        How many columns, the first ones, are labels.

    Returns
    -------
    table : str
        Without a newline at its end.

    Examples
    --------
    >>> from mauc.report import markdown_table
    >>> print(markdown_table(["size", "MAUC"], [["10", "**0.9**"]]))
    | size | MAUC |
    | :-- | --: |
    | 10 | **0.9** |
    """
    rule = [":--"] * n_labels + ["--:"] * (len(heads) - n_labels)
    return "\n".join("| " + " | ".join(entries) + " |" for entries in (heads, rule, *rows))


def _value(value: Value) -> str:
    text = escape_markdown(value.text)
    return (f"**{text}**" if value.is_bold else text) + value.marks
