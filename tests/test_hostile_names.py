"""Names of columns, classes and methods come from unknown files: each output shows them as text."""

import json
from itertools import chain

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt

from mauc import MDFS
from mauc.cli.app import app
from mauc.cli.outputs import write_frame
from mauc.cli.show import print_json
from mauc.datasets import Dataset, load_dataset, write_table
from mauc.exceptions import ColumnWarning, MaucError, printable, warn_user
from mauc.layout import Group, Layout, Value, escape_latex
from mauc.plotting import PairMapDisplay
from mauc.plotting.axes import shorten
from mauc.progress import note
from mauc.report import selection_report, write_tables
from mauc.report.tables import FrameTable
from tests.helpers.cli_helpers import refusal, run, run_json
from tests.helpers.report_rows import small_run

NAMES = {
    "clear": "\x1b[2J",
    "title": "\x1b]0;t\x07",
    "line": "a\nmauc: wrote b",
    "return": "a\rb",
    "c1": "\x9b31m",
    "bidi": "\u202egpj.exe",
    "zero width": "a\u200bb",
    "separator": "a\u2028b",
    "private": "\ue000b",
    "script": "</script><script>alert(1)</script>",
    "jinja": "{{7*7}}",
    "input": "\\input{/etc/passwd}",
    "maths": "$x^2_3$",
    "dollar": "5 $",
    "frac": "$\\frac{$",
    "signs": '100 % & # ~ "a" | `b` *c* <d>',
    "entity": "&lt;b&gt;",
    "option": "[2em]x",
    "star": "*x",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(1)",
    "tab": "\t=1",
    "error": "#N/A",
    "underscore": "_x",
    "markup": "[red]x",
    "long": "L" * 10_000,
}
TARGETS = {"svm": None, "npz": None}  # these files know their labels
SURROGATE = "lone\ud800"
hostile = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
CODES = np.arange(60) % 3
VALUES = np.random.default_rng(0).normal(size=(60, 2)) + CODES[:, None] * [2.0, 0.1]


def is_plain(text):
    return all(line.isprintable() for line in text.split("\n"))


def make_data(name):
    y = np.array([name, "B", "C"])[CODES]
    return Dataset("data", VALUES, y, ["other", name], target_name="label")


def make_table(name):
    group = Group(name, ((name, (Value(name, is_bold=True),)), ("other", (Value("-1.5"),))))
    layout = Layout(name, name, (name,), (group,), name, (name, name), (name,))
    return FrameTable(pd.DataFrame({"name": [name, "b"], "value": [-1.5, 2.0]}), (layout,))


@hostile
def test_a_terminal_shows_escapes(name, tmp_path, capsys):
    path = write_table(make_data(name), tmp_path / "data.parquet")
    for words in (["select", path, "-k", "all"], ["columns", path]):
        result = run(*words, "--target", "label")
        assert is_plain(result.stdout + result.stderr)
        assert printable(name)[:30].strip() in result.stdout
    got = run_json("select", path, "-t", "label", "-k", "all")
    assert name in {row["feature"] for row in got["features"]}
    message = CliRunner().invoke(app, ["select", str(path), "--target", "none", "--debug"]).stderr
    assert "Traceback" in message
    assert is_plain(message)
    assert "\nmauc: wrote" not in message
    assert "\x1b" not in refusal("select", path, f"x{name}")  # click's own message
    note(name)
    with pytest.warns(ColumnWarning) as caught:
        warn_user(f"column {name}", ColumnWarning)
    assert is_plain(capsys.readouterr().err + str(caught[0].message) + str(MaucError(name)))


def test_pairs_of_classes_hold_text(tmp_path):
    frame = pd.DataFrame({"name": ["=1+1", "\x1b[2J", "@b"], "n": -1})
    write_frame(frame, tmp_path / "pairs.csv", force=False)
    assert pd.read_csv(tmp_path / "pairs.csv")["name"].tolist() == ["'=1+1", r"\x1b[2J", "'@b"]
    sheet = openpyxl.load_workbook(write_frame(frame, tmp_path / "pairs.xlsx", force=False)).active
    assert [row[0].value for row in sheet][1:] == ["'=1+1", r"\x1b[2J", "'@b"]


def test_json_escapes_what_is_not_printable_and_brings_it_back(capsys):
    print_json(names := [*NAMES.values(), SURROGATE, "\U000e0001"])
    assert is_plain(text := capsys.readouterr().out)
    assert json.loads(text) == names


@hostile
def test_tables_of_reports_hold_text(name):
    table = make_table(name)
    latex, markdown, csv = table.to_latex(), table.to_markdown(), table.to_csv()
    assert is_plain(latex + markdown + csv + table.to_text())
    cells = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {line.replace(r"\|", "").count("|") for line in cells} == {4}
    assert not any(line.startswith(("[", "*")) for line in latex.splitlines())
    assert r"\input" not in latex
    assert latex.count("$") - latex.count(r"\$") == 0
    assert table._repr_html_().count("<") == make_table("plain")._repr_html_().count("<")
    cell = csv.splitlines()[1].lstrip('"')
    assert name in ("+1", "-1") or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert ",-1.5" in csv


@pytest.mark.parametrize("name", [*NAMES.values(), SURROGATE])
@pytest.mark.filterwarnings("ignore::mauc.exceptions.ColumnWarning")
@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "arff", "svm", "parquet", "npz"])
def test_files_of_data_bring_names_back_or_refuse_them(name, ending, tmp_path):
    path = tmp_path / f"data.{ending}"
    unheld = {"csv": "\r", "tsv": "\r", "xlsx": "\r\x1b"}.get(ending, "")
    if set(name) & {*unheld, "\ud800"}:
        with pytest.raises(MaucError, match="cannot hold"):
            write_table(make_data(name), path)
        assert not path.exists()
        return
    again = load_dataset(write_table(make_data(name), path), TARGETS.get(ending, "label"))
    # blanks around a name are not a part of it in a table, nor what Orange puts before a name
    is_same = again.feature_names == ["other", name.strip() if unheld else name]
    assert is_same or (name[0] == "#" and again.feature_names[1] == name[1:])
    assert name.strip() in {label.strip() for label in again.y}
    if ending == "xlsx":
        cells = chain.from_iterable(openpyxl.load_workbook(path).active)
        assert {cell.data_type for cell in cells} == {"n", "s"}


@hostile
def test_figures_draw_names_as_text(name):
    selector = MDFS("all", random_state=0).fit(VALUES, np.array([name, "B", "C"])[CODES])
    display = PairMapDisplay.from_selector(selector)
    display.figure_.canvas.draw()
    labels = "".join(label.get_text() for label in display.ax_.get_xticklabels())
    assert labels.count("$") == labels.count(r"\$")
    plt.close(display.figure_)
    with plt.rc_context({"text.usetex": True}):
        assert shorten(name, 20_000) == escape_latex(name)


def test_the_page_and_the_files_of_a_run_hold_text(tmp_path):
    y = np.array([NAMES["clear"], SURROGATE, NAMES["script"]])[CODES]
    options = {"feature_names": [NAMES["bidi"], "</title>"], "notes": [*NAMES.values(), SURROGATE]}
    report = selection_report(MDFS(2).fit(VALUES, y), VALUES, y, title=NAMES["title"], **options)
    page = report.to_html()
    assert is_plain(page + report._repr_html_())
    assert page.count("</script") == 2
    assert page.count("</title>") == page.count("<title>")
    rows = small_run().assign(versions="mauc 1\n\\input{x}")  # would leave a comment of LaTeX
    for path in write_tables(rows, tmp_path):
        assert "\n\\input" not in path.read_text()
