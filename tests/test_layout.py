"""One table, four formats: alignment, marks, gaps and escaped names."""

import pytest

from mauc.layout import (
    HIDDEN,
    Group,
    Layout,
    Value,
    escape_latex,
    escape_markdown,
    layout_of,
    plain_layout,
    render_html,
    render_latex,
    render_markdown,
    render_text,
)

BEST, GAP = Value("0.95", is_bold=True, marks="‡", is_math=True), Value("—")


@pytest.fixture
def grouped():
    rows = (("MDFS", (Value("0.9"), Value("10"))), ("a_b<c", (BEST, GAP)))
    return Layout(
        "t", "A caption.", ("5", "100"), (Group("NB", rows),), "Size", ("by", "of"), ("A note.",)
    )


def test_text_has_digits_below_each_other_and_marks_beside_them(grouped):
    assert render_text(grouped).splitlines() == [
        "A caption.",
        "",
        "           Size",
        "by  of          5     100",
        "-" * 25,
        "NB  MDFS      0.9      10",
        "    a_b<c  **0.95**‡    —",
        "",
        "A note.",
    ]


def test_a_narrow_terminal_gets_the_columns_in_parts(grouped):
    lines = render_text(grouped, width=20, bold=HIDDEN).splitlines()
    assert [line for line in lines if line.startswith("by")] == [
        "by  of        5",
        "by  of     100",
    ]
    assert f"    a_b<c  {HIDDEN}0.95{HIDDEN}‡" in lines


def test_markdown(grouped):
    assert render_markdown(grouped).splitlines() == [
        "A caption. Columns: size.",
        "",
        "| by | of | 5 | 100 |",
        "| :-- | :-- | --: | --: |",
        "| NB | MDFS | 0.9 | 10 |",
        r"|  | a\_b\<c | **0.95**‡ | — |",
        "",
        "A note.",
    ]
    assert escape_markdown("x|y*z") == r"x\|y\*z"


def test_latex(grouped):
    lines = render_latex(grouped).splitlines()
    assert r"\multirow{2}{*}{NB}" in lines
    assert r"& a\_b\textless{}c & $\textbf{0.95}^{\ddag}$ & ---\\" in lines
    assert r"\scalebox" not in "".join(lines)
    assert escape_latex("a\\b{c}~^&#$") == (
        r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}\&\#\$"
    )


def test_html_names_rows_and_columns_and_survives_plain_values(grouped):
    html = render_html(grouped, "key")
    assert '<th scope="rowgroup" rowspan="2" class="name">NB</th>' in html
    assert '<th scope="row" class="name">a_b&lt;c</th>' in html
    assert '<td class="number" data-head="5"><b>0.95</b><span class="mark">‡</span></td>' in html
    assert html.count('aria-labelledby="key"') == 2
    assert render_html(layout_of(grouped.to_dict()), "key") == html


def test_a_table_without_a_caption_is_part_of_a_text():
    table = plain_layout(["n", "<b>"], [["1", "<script>"], ["10", "bcd"]], 5, right=("n",))
    assert render_text(table).splitlines() == [
        " n  <b>",
        " 1  <script>",
        "10  bcd",
        "... and 3 more",
    ]
    html = render_html(table)
    assert "<th" in html
    assert 'scope="row"' not in html
    assert '<td class="name">&lt;script&gt;</td>' in html
    assert '<p class="note">... and 3 more</p>' in html
    assert plain_layout(["n"], [["1"]], 1).notes == ()
