"""Tables: one value, and its four renderers for terminals, Markdown, LaTeX and pages."""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from typing import Any

from mauc.exceptions import printable

GAP = "—"  # a value that was not measured
#: As `bold` of `render_text` it has no width: what prints the text makes it a style.
HIDDEN = "\ue000"

_WIDTH = 100  # of captions and notes in text
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.]+$)")  # what spreadsheets run; -1 is a number
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~$#&])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "—": "---",
    "−": "$-$",
}
_LATEX_MARKS = {"†": r"\dag", "‡": r"\ddag", "§": r"\S"}


@dataclass(frozen=True)
class Value:
    """One entry of a table."""

    text: str  #: the number as it is printed, or "—" for a gap
    is_bold: bool = False
    marks: str = ""  #: † worse than the reference, ‡ better, § mean over some of the splits
    is_math: bool = False  #: in LaTeX, as the paper has it outside the row of MDFS


@dataclass(frozen=True)
class Group:
    """Rows under a common name."""

    name: str
    rows: tuple[tuple[str, tuple[Value, ...]], ...]  #: label and values of each


@dataclass(frozen=True)
class Layout:
    """A table without a format; one without a caption is part of a text and has no rules."""

    name: str  #: short name, for LaTeX's label
    caption: str
    columns: tuple[str, ...]  #: heads of the value columns
    groups: tuple[Group, ...]  #: one of the name "" in a table without groups
    over: str = ""  #: what the value columns are, written above their heads
    heads: tuple[str, str] = ("", "")  #: of the group names and of the row labels
    notes: tuple[str, ...] = ()  #: sentences below the table
    scale: float = 1.0  #: size in LaTeX; 1 for tables that fit the page
    right: tuple[str, ...] | None = None  #: columns aligned to the right; None: all of values

    @property
    def is_grouped(self) -> bool:
        """Whether the groups have names."""
        return any(group.name for group in self.groups)

    def is_right(self, head: str) -> bool:
        """Whether the values below a head are aligned to the right."""
        return self.right is None or head in self.right

    def to_dict(self) -> dict[str, Any]:
        """Return what a page shows as plain values; `layout_of` is its inverse."""
        return {
            "caption": self.caption,
            "over": self.over,
            "heads": list(self.heads),
            "columns": list(self.columns),
            "groups": [
                {
                    "name": group.name,
                    "rows": [
                        {"label": label, "values": [asdict(value) for value in values]}
                        for label, values in group.rows
                    ],
                }
                for group in self.groups
            ],
            "notes": list(self.notes),
        }


def layout_of(table: dict[str, Any]) -> Layout:
    """Return the layout that `Layout.to_dict` has made plain."""
    groups = (
        Group(
            group["name"],
            tuple(
                (row["label"], tuple(Value(**v) for v in row["values"])) for row in group["rows"]
            ),
        )
        for group in table["groups"]
    )
    return Layout(**{**table, "name": "", "groups": tuple(groups)})


def plain_layout(
    heads: Sequence[str], rows: Iterable[Sequence[str]], n_rows: int = 0, right: Sequence[str] = ()
) -> Layout:
    """Return a table without a caption of rows of texts, some of `n_rows` if that is larger."""
    lines = tuple((row[0], tuple(map(Value, row[1:]))) for row in rows)
    n_left = n_rows - len(lines)
    notes = (f"... and {n_left:,} more",) if n_left > 0 else ()
    first, *others = heads
    return Layout(
        "",
        "",
        tuple(others),
        (Group("", lines),),
        heads=("", first),
        notes=notes,
        right=tuple(right),
    )


def _escaped(part: Any, how: Callable[[str], str]) -> Any:
    """Return a table, or a part of it, with all texts escaped: any of them may hold a name."""
    if isinstance(part, str):
        return how(part)
    if isinstance(part, tuple | list):  # lists are those of `layout_of`
        return tuple(_escaped(one, how) for one in part)
    if not isinstance(part, Layout | Group | Value):
        return part
    texts = {one.name: getattr(part, one.name) for one in fields(part) if one.name != "marks"}
    return replace(part, **{key: _escaped(text, how) for key, text in texts.items()})


_Columns = list[list[str]]


def render_text(layout: Layout, width: int | None = None, bold: str = "**") -> str:
    """Return a table as plain text that ends with a newline; columns beyond a width go below."""
    layout = _escaped(layout, printable)
    labels = _label_columns(layout)
    rows = [values for group in layout.groups for _, values in group.rows]
    columns = [
        _value_column(head, [row[at] for row in rows], bold, is_right=layout.is_right(head))
        for at, head in enumerate(layout.columns)
    ]
    blank = [""] if layout.caption else []
    lines = [*textwrap.wrap(layout.caption, width or _WIDTH), *blank]
    for part in _split_columns(labels, columns, width):
        lines += [*_text_lines(layout, labels, part), *blank]
    if not layout.notes and blank:
        lines.pop()
    for note in layout.notes:
        lines += textwrap.wrap(note, width or _WIDTH)
    return "\n".join(lines) + "\n"


def _label_columns(layout: Layout) -> _Columns:
    names, labels = [layout.heads[0]], [layout.heads[1]]
    for group in layout.groups:
        names += [group.name] + [""] * (len(group.rows) - 1)
        labels += [label for label, _ in group.rows]
    if layout.right and labels[0] in layout.right:
        width = max(map(len, labels))
        labels = [label.rjust(width) for label in labels]
    return [names, labels] if layout.is_grouped else [labels]


def _value_column(head: str, values: list[Value], bold: str, *, is_right: bool) -> list[str]:
    """Return head and values with the digits below each other, marks to the right of them."""
    if not is_right:
        return [head, *(value.text for value in values)]
    before = _shown_length(bold) if any(value.is_bold for value in values) else 0
    width = max([len(head) - before, *(len(value.text) for value in values)])
    cells = []
    for value in values:
        star = bold if value.is_bold else ""
        left = before - _shown_length(star) + width - len(value.text)
        cells.append(" " * left + star + value.text + star + value.marks)
    return [head.rjust(before + width), *cells]  # heads end where the digits end


def _split_columns(labels: _Columns, columns: _Columns, width: int | None) -> list[_Columns]:
    """Split the value columns so that each part fits the width beside the labels."""
    if width is None or not columns:
        return [columns]
    room = width - sum(_width(column) + 2 for column in labels)
    parts: list[_Columns] = [[]]
    used = 0
    for column in columns:
        if parts[-1] and used + _width(column) > room:
            parts.append([])
            used = 0
        parts[-1].append(column)
        used += _width(column) + 2
    return parts


def _text_lines(layout: Layout, labels: _Columns, columns: _Columns) -> list[str]:
    """Return the lines of some value columns beside the labels."""
    shown = [*labels, *columns]
    widths = [_width(column) for column in shown]
    body = [
        "  ".join(
            cell + " " * (width - _shown_length(cell))
            for cell, width in zip(cells, widths, strict=True)
        ).rstrip()
        for cells in zip(*shown, strict=True)
    ]
    if not layout.caption:
        return body
    lines = []
    if layout.over:
        lines.append(" " * sum(width + 2 for width in widths[: len(labels)]) + layout.over)
    lines.append(body[0])
    rule = "-" * _width(body)
    at = 1
    for group in layout.groups:
        lines.append(rule)
        lines += body[at : at + len(group.rows)]
        at += len(group.rows)
    return lines


def _shown_length(text: str) -> int:
    return len(text.replace(HIDDEN, ""))


def _width(column: list[str]) -> int:
    return max(map(_shown_length, column))


def render_markdown(layout: Layout) -> str:
    """Return a table in Markdown that ends with a newline."""
    layout = _escaped(layout, escape_markdown)
    n_labels = 2 if layout.is_grouped else 1
    heads = [*layout.heads[2 - n_labels :], *layout.columns]
    # Markdown has no heading over several columns.
    caption = layout.caption + (f" Columns: {layout.over.lower()}." if layout.over else "")
    rows = []
    for group in layout.groups:
        name = group.name
        for label, values in group.rows:
            names = [name] if layout.is_grouped else []
            rows.append([*names, label, *map(_markdown_value, values)])
            name = ""
    return "\n\n".join([caption, markdown_table(heads, rows, n_labels), *layout.notes]) + "\n"


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


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, also inside a table."""
    return _MARKDOWN.sub(r"\\\1", printable(" ".join(text.split())))


def _markdown_value(value: Value) -> str:
    return (f"**{value.text}**" if value.is_bold else value.text) + value.marks


def render_latex(layout: Layout) -> str:
    """Return a table environment (booktabs, multirow, graphicx) that ends with a newline."""
    name = re.sub("[^a-zA-Z0-9]+", "-", layout.name).strip("-")
    layout = _escaped(layout, escape_latex)
    n_labels = 2 if layout.is_grouped else 1
    n_values = len(layout.columns)
    skip = "& " * n_labels
    opening, closing = "", ""
    if layout.scale != 1.0:
        opening, closing = rf"\scalebox{{{layout.scale:g}}}{{%", "}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{layout.caption}}}",
        rf"\label{{tab:{name}}}",
        r"\smallskip",  # many classes leave no space between a caption and what is below it
        *([opening] if opening else []),
        rf"\begin{{tabular}}{{{'l' * (n_labels - 1)}r*{{{n_values}}}{{c}}}}",
        r"\toprule",
    ]
    if layout.over:
        lines += [
            rf"{skip}\multicolumn{{{n_values}}}{{c}}{{{layout.over}}}\\",
            rf"\cmidrule(r){{{n_labels + 1}-{n_labels + n_values}}}",
        ]
    lines.append(skip + " & ".join(layout.columns) + r"\\")
    for group in layout.groups:
        lines.append(r"\midrule")
        if layout.is_grouped:
            lines.append(rf"\multirow{{{len(group.rows)}}}{{*}}{{{group.name}}}")
        start = "& " * (n_labels - 1)
        for label, values in group.rows:
            lines.append(start + " & ".join([label, *map(_latex_value, values)]) + r"\\")
    lines += [r"\bottomrule", rf"\end{{tabular}}{closing}"]
    if layout.notes:
        # a paragraph each, as wide as the page
        lines += ["", r"\medskip", r"\parbox{\linewidth}{\footnotesize"]
        lines += [note + r"\par" for note in layout.notes]
        lines.append("}")
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    text = printable(" ".join(text.split()))
    # LaTeX would read a bracket or a star behind the end of a row as an option of the row.
    return "{}" * text.startswith(("[", "*")) + "".join(_LATEX.get(sign, sign) for sign in text)


def _latex_value(value: Value) -> str:
    if value.text == _LATEX[GAP]:
        return value.text
    text = rf"\textbf{{{value.text}}}" if value.is_bold else value.text
    raised = "".join(_LATEX_MARKS[mark] for mark in value.marks)
    if value.is_math:
        return f"${text}^{{{raised}}}$" if raised else f"${text}$"
    return f"{text}$^{{{raised}}}$" if raised else text


def spreadsheet_text(value: Any) -> Any:
    """Return a value for a CSV file that spreadsheets open: texts printable, none a formula."""
    if not isinstance(value, str):
        return value
    return "'" * bool(_FORMULA.match(value)) + printable(value)


def render_html(layout: Layout, key: str = "") -> str:
    """Return a table in HTML; with a key, an id, it can be scrolled and is named by its caption."""
    layout = _escaped(layout, escape_html)
    n_labels = 2 if layout.is_grouped else 1  # classes are those of the page's style sheet
    named = f' aria-labelledby="{escape(key)}"' if key else ""
    opening, closing = ("", "")
    if key:
        opening, closing = f'<div class="scroll" tabindex="0" role="region"{named}>\n', "\n</div>"
    lines = []
    if layout.caption:
        mark = f' id="{escape(key)}"' if key else ""
        lines.append(f'<p class="note caption"{mark}>{layout.caption}</p>')
    # what has no caption is a list of records: its rows have no heads
    kind = "numbers" if layout.caption else "numbers plain"
    lines.append(f'{opening}<table class="{kind}"{named}>\n<thead>')
    if layout.over:
        over = f'<th scope="colgroup" colspan="{len(layout.columns)}">{layout.over}</th>'
        lines.append(f'<tr><td colspan="{n_labels}"></td>{over}</tr>')
    heads = [_head(head, is_number=False) for head in layout.heads[2 - n_labels :]]
    heads += [_head(head, is_number=layout.is_right(head)) for head in layout.columns]
    lines.append(f"<tr>{''.join(heads)}</tr>\n</thead>")
    for group in layout.groups:
        lines.append("<tbody>")
        for at, (label, values) in enumerate(group.rows):
            name = ""
            if layout.is_grouped and at == 0:
                span = f'scope="rowgroup" rowspan="{len(group.rows)}"'
                name = f'<th {span} class="name">{group.name}</th>'
            tag, scope = ("th", ' scope="row"') if layout.caption else ("td", "")
            kind = "number" if layout.heads[1] in (layout.right or ()) else "name"
            name += f'<{tag}{scope} class="{kind}">{label}</{tag}>'
            cells = zip(layout.columns, values, strict=True)
            lines.append(f"<tr>{name}{''.join(_html_value(layout, *cell) for cell in cells)}</tr>")
        lines.append("</tbody>")
    lines.append(f"</table>{closing}")
    lines += [f'<p class="note">{note}</p>' for note in layout.notes]
    return "\n".join(lines)


def escape_html(text: str) -> str:
    """Return text that a page shows as it is, also inside an attribute."""
    return escape(printable(text))


def _head(head: str, *, is_number: bool) -> str:
    kind = ' class="number"' if is_number else ""
    return f'<th scope="col"{kind}>{head}</th>'


def _html_value(layout: Layout, head: str, value: Value) -> str:
    if not layout.is_right(head):
        return f'<td class="name">{value.text}</td>'
    text = f"<b>{value.text}</b>" if value.is_bold else value.text
    mark = f'<span class="mark">{value.marks}</span>' if layout.caption else ""
    return f'<td class="number" data-head="{head}">{text}{mark}</td>'
