"""Runs show how far they are: a bar on a terminal, plain lines elsewhere, silence on demand."""

import os
import re

import pytest

from mauc.experiments import run_plan
from tests.helpers.pseudo_terminal import run_on_terminal
from tests.helpers.run_tools import ROOT, make_plan, run_quietly

PLAN = make_plan(selectors=("chi", "maucd"), classifiers=("nb",))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@pytest.mark.parametrize("kind", ["auto", "lines", "bar"])
def test_what_is_no_terminal_gets_lines_without_control_characters(tmp_path, capsys, kind):
    plan = make_plan(selectors=("chi",), sizes=(2, 20))
    run_plan(plan, tmp_path, engine="serial", progress=kind)
    out, said = capsys.readouterr()
    assert out == ""
    assert not CONTROL.search(said), repr(said)
    assert "mauc: wine has 13 features: sizes 20 are left out." in said
    assert "mauc: 6 cells, 0 done before\n" in said
    assert re.search(r"mauc: 6/6 cells are done; mean MAUC chi 0\.\d{3}\n", said)
    assert all(line.startswith("mauc: ") for line in said.splitlines())


def test_means_are_those_of_the_rows_best_first(capsys):
    rows = run_plan(PLAN, engine="serial", progress="lines").rows
    means = rows.groupby("selector").mauc.mean().sort_values(ascending=False)
    text = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    assert f"6/6 cells are done; mean MAUC {text}\n" in capsys.readouterr().err


def test_cells_that_were_done_before_count(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mauc.progress.DELAY_SECONDS", 0.0)
    run_plan(make_plan(datasets=("wine",)), tmp_path, engine="serial", progress="quiet")
    capsys.readouterr()
    run_plan(make_plan(), tmp_path, engine="serial", progress="lines")
    said = capsys.readouterr().err
    assert "mauc: 6 cells, 3 done before\n" in said


def test_quiet_says_nothing(tmp_path, capfd):
    run_quietly(PLAN, tmp_path)
    assert capfd.readouterr() == ("", "")


CODE = """
import sys
import mauc.progress
from tests.helpers.run_tools import make_plan
from mauc.exceptions import MaucError
from mauc.experiments import run_plan
mauc.progress.DELAY_SECONDS = 0.0
plan = make_plan(selectors=("chi",), classifiers=("nb",))
try:
    if sys.argv[2] == "dask":
        run_plan(plan, sys.argv[1], engine="dask", scheduler="nonsense")
    else:
        run_plan(plan, sys.argv[1], engine="serial")
except MaucError as error:
    print("refused", error)
"""


def show_on_terminal(*arguments):
    """Run the code above on a pseudo-terminal; return all it writes there."""
    folders = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    code, said, _ = run_on_terminal(CODE, *arguments, columns=100, PYTHONPATH=folders, NO_COLOR="")
    assert code == 0, said
    return said


@pytest.mark.processes
def test_a_terminal_gets_a_bar_and_its_cursor_back(tmp_path):
    said = show_on_terminal(tmp_path / "run", "serial")
    assert re.search("[0-6]/6 cells", said)
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1
    assert "6/6 cells are done; mean MAUC chi" in said


@pytest.mark.processes
@pytest.mark.slow
def test_a_refused_start_gives_the_cursor_back(tmp_path):
    pytest.importorskip("distributed")
    said = show_on_terminal(tmp_path / "run", "dask")
    assert "refused no Dask scheduler answers at nonsense" in said
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h")
