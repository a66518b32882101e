r"""A layout as a LaTeX table, in the paper's arrangement (booktabs, multirow, graphicx)."""

import re

from mauc.report.layout import GAP, Layout, Value

_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}", '"': r"\textquotedbl{}",
    "†": r"\dag{}", "‡": r"\ddag{}", "§": r"\S{}", "×": r"$\times$", "±": r"$\pm$", "—": "---",
    "−": "$-$",
}  # fmt: skip
_MATH_MARKS = {"†": r"\dag", "‡": r"\ddag", "§": r"\S"}


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX sets as it stands.

    Examples
    --------
    >>> from mauc.report.as_latex import escape_latex
    >>> print(escape_latex("a_b|c"))
    a\_b\textbar{}c
    """
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.split()))


def render_latex(layout: Layout) -> str:
    """Return a table environment that ends with a newline."""
    n_labels = 2 if layout.is_grouped else 1
    n_values = len(layout.columns)
    skip = "& " * n_labels
    opening, closing = "", ""
    if layout.scale != 1.0:
        opening, closing = rf"\scalebox{{{layout.scale:g}}}{{%", "}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(layout.caption)}}}",
        rf"\label{{tab:{re.sub('[^a-zA-Z0-9]+', '-', layout.name).strip('-')}}}",
        r"\smallskip",  # many classes leave no space between a caption and what is below it
        *([opening] if opening else []),
        rf"\begin{{tabular}}{{{'l' * (n_labels - 1)}r*{{{n_values}}}{{c}}}}",
        r"\toprule",
    ]
    if layout.over:
        lines += [
            rf"{skip}\multicolumn{{{n_values}}}{{c}}{{{escape_latex(layout.over)}}}\\",
            rf"\cmidrule(r){{{n_labels + 1}-{n_labels + n_values}}}",
        ]
    lines.append(skip + " & ".join(map(escape_latex, layout.columns)) + r"\\")
    for group in layout.groups:
        lines.append(r"\midrule")
        if layout.is_grouped:
            lines.append(rf"\multirow{{{len(group.rows)}}}{{*}}{{{escape_latex(group.name)}}}")
        start = "& " * (n_labels - 1)
        for label, values in group.rows:
            lines.append(start + " & ".join([escape_latex(label), *map(_value, values)]) + r"\\")
    lines += [r"\bottomrule", rf"\end{{tabular}}{closing}"]
    if layout.notes:
        # a paragraph each, as wide as the page
        lines += ["", r"\medskip", r"\parbox{\linewidth}{\footnotesize"]
        lines += [escape_latex(note) + r"\par" for note in layout.notes]
        lines.append("}")
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _value(value: Value) -> str:
    if value.text == GAP:
        return "---"
    text = escape_latex(value.text)
    if value.is_bold:
        text = rf"\textbf{{{text}}}"
    raised = "".join(_MATH_MARKS[mark] for mark in value.marks)
    if value.is_math:
        return f"${text}^{{{raised}}}$" if raised else f"${text}$"
    return f"{text}$^{{{raised}}}$" if raised else text
