"""Names of columns, classes and methods come from unknown files: each output shows them as text."""

import html
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from mauc import MDFS
from mauc.cli.app import app
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
    "clear": "\x1b[2J", "title": "\x1b]0;t\x07", "line": "a\nmauc: wrote b", "return": "a\rb",
    "c1": "\x9b31m", "bidi": "\u202egpj.exe", "zero width": "a\u200bb", "separator": "a\u2028b",
    "private": "\ue000b", "script": "</script><script>alert(1)</script>", "jinja": "{{7*7}}",
    "input": "\\input{/etc/passwd}", "maths": "$x^2_3$", "dollar": "5 $", "frac": "$\\frac{$",
    "signs": "100 % & # ~ \"a\" | `b` *c* <d>", "entity": "&lt;b&gt;", "option": "[2em]x",
    "star": "*x", "formula": "=cmd|' /C calc'!A0", "plus": "+1", "minus": "-1", "at": "@SUM(1)",
    "tab": "\t=1", "error": "#N/A", "underscore": "_x", "markup": "[red]x[/red]",
    "long": "L" * 10_000,
}  # fmt: skip
SURROGATE = "lone\ud800"
hostile = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
CODES = np.arange(60) % 3
VALUES = np.random.default_rng(0).normal(size=(60, 2)) + CODES[:, None] * [2.0, 0.1]


def is_plain(text):
    return all(line.isprintable() for line in text.split("\n"))


def make_data(name, label="A"):
    y = np.array([label, "B", "C"])[CODES]
    return Dataset("data", VALUES, y, ["other", name], target_name="label")


def make_table(name):
    """Return a table with a name in every place that can hold one."""
    group = Group(name, ((name, (Value(name, is_bold=True),)), ("other", (Value("-1.5"),))))
    layout = Layout(name, name, (name,), (group,), name, (name, name), (name,))
    return FrameTable(pd.DataFrame({"name": [name, "b"], "value": [-1.5, 2.0]}), (layout,))


@hostile
def test_a_terminal_shows_escapes(name, tmp_path, capsys):
    path = write_table(make_data(name, name), tmp_path / "data.parquet")
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
    assert is_plain(capsys.readouterr().err)


def test_json_escapes_what_is_not_printable_and_brings_it_back(capsys):
    names = [*NAMES.values(), SURROGATE, "\U000e0001", "naïve 漢"]
    print_json({"names": names})
    text = capsys.readouterr().out
    assert is_plain(text)
    assert "naïve 漢" in text
    assert json.loads(text)["names"] == names


@hostile
def test_errors_and_warnings_of_the_library_are_printable(name):
    assert is_plain(str(MaucError(f"no column {name}")))
    with pytest.warns(ColumnWarning) as caught:
        warn_user(f"column {name}", ColumnWarning)
    assert is_plain(str(caught[0].message))


@hostile
def test_tables_of_reports_hold_text(name):
    table = make_table(name)
    latex, text, csv = table.to_latex(), table.to_text(), table.to_csv()
    assert is_plain(latex + text + csv)
    assert is_plain(table.to_markdown())
    cells = [line for line in table.to_markdown().splitlines() if line.startswith("| ")]
    assert {line.replace(r"\|", "").count("|") for line in cells} == {4}
    assert not any(line.startswith(("[", "*")) for line in latex.splitlines())
    assert r"\input" not in latex
    assert latex.count("$") - latex.count(r"\$") == 0
    page = table._repr_html_()
    assert page.count("<") == make_table("plain")._repr_html_().count("<")
    assert not csv.splitlines()[1].lstrip('"').startswith(("=", "+", "-", "@", "\t", "\r"))
    assert ",-1.5" in csv


@hostile
@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "arff", "svm", "parquet", "npz"])
def test_files_of_data_bring_names_back_or_refuse_them(name, ending, tmp_path):
    path, target = tmp_path / f"data.{ending}", None if ending in ("svm", "npz") else "label"
    unheld = {"csv": "\r", "tsv": "\r", "xlsx": "\r\x1b"}.get(ending, "")
    if set(name) & set(unheld):
        with pytest.raises(MaucError, match="cannot hold"):
            write_table(make_data(name, name), path)
        assert not path.exists()
        return
    write_table(make_data(name, name), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = load_dataset(path, target)
    if ending in ("csv", "tsv", "xlsx"):  # blanks around a name are not a part of it
        name = name.strip()
    if ending in ("csv", "tsv"):  # Orange puts flags and # before a name
        again.feature_names[1] = name[: name.startswith("#")] + again.feature_names[1]
    assert again.feature_names == ["other", name]
    assert name.strip() in {label.strip() for label in again.y}
    if ending == "xlsx":
        import openpyxl

        cells = [cell for row in openpyxl.load_workbook(path).active for cell in row]
        assert {cell.data_type for cell in cells} == {"n", "s"}


@pytest.mark.parametrize("ending", ["csv", "xlsx", "arff", "svm", "parquet", "npz"])
def test_names_that_are_not_unicode_are_refused(ending, tmp_path):
    with pytest.raises(MaucError, match=r"cannot hold 'lone\\ud800'"):
        write_table(make_data(SURROGATE), tmp_path / f"data.{ending}")


@hostile
@pytest.mark.filterwarnings("error")
def test_figures_draw_names_as_text(name):
    selector = MDFS("all", random_state=0).fit(VALUES, np.array([name, "B", "C"])[CODES])
    display = PairMapDisplay.from_selector(selector)
    display.figure_.canvas.draw()
    labels = display.ax_.get_xticklabels() + display.ax_.get_yticklabels()
    assert not any(label.get_usetex() for label in labels)
    plt.close(display.figure_)
    with plt.rc_context({"text.usetex": True}):
        assert shorten(name, 20_000) == escape_latex(name)


def test_the_page_and_the_files_of_a_run_hold_text(tmp_path):
    names = [*NAMES.values(), SURROGATE]
    X, y = load_iris(return_X_y=True)
    X = np.random.default_rng(0).permuted(np.tile(X, 8)[:, : len(names)], axis=0)
    y = np.array([names[0], SURROGATE, "</title>" + names[5]])[y]
    selector = MDFS(5, random_state=0).fit(X, y)
    report = selection_report(selector, X, y, feature_names=names, title=names[1], notes=names)
    page = report.to_html()
    assert is_plain(page)
    assert page.count("</script") == 2
    assert page.count("</title>") == page.count("<title>")
    data = page.split('id="data">')[1].split("</script")[0]
    assert json.loads(data)["classes"] == sorted(set(y))
    assert html.escape(printable(names[1])) in page
    assert is_plain(report._repr_html_())
    rows = small_run()
    rows["versions"] = "mauc 1\n\\input{x}"
    for path in write_tables(rows, tmp_path):
        assert "\n\\input" not in path.read_text()
