"""Progress: a bar on a terminal, plain lines elsewhere, silence on demand."""

import os
import re
import sys

import pytest

from mauc.exceptions import MaucError
from mauc.experiments import progress, run_plan
from mauc.experiments.progress import BarProgress, LineProgress, Progress, make_progress
from mauc.experiments.rows import schema
from tests.helpers.pseudo_terminal import run_on_terminal
from tests.helpers.run_tools import ROOT, make_plan, start_driver

PLAN = make_plan(selectors=("chi", "maucd"), classifiers=("nb",))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def table(**columns):
    n_rows = len(columns["mauc"])
    empty = {field.name: [None] * n_rows for field in schema()}
    import pyarrow as pa

    return pa.table({**empty, **columns}, schema=schema())


def test_means_and_counts_of_a_case_done_by_hand(capsys):
    shown = make_progress("quiet")
    shown.start(4, 1)
    rows = table(
        selector=["a", "a", "b", "b"], mauc=[0.5, 1.0, 0.25, float("nan")],
        status=["ok", "ok", "ok", "failed"],
    )  # fmt: skip
    shown.add(rows)
    assert shown.pace() == "-"
    shown.advance()
    assert shown.means() == {"a": 0.75, "b": 0.25}
    assert shown.n_done == 2
    shown.began -= 60  # one cell a minute, two to go
    assert re.fullmatch(r"[01]\.\d cells/min, 0:0[12]:\d\d left", shown.pace())
    shown.note("nothing")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["auto", "lines", "bar"])
def test_what_is_no_terminal_gets_lines_without_control_characters(tmp_path, capsys, kind):
    plan = make_plan(selectors=("chi",), sizes=(2, 20))
    run_plan(plan, tmp_path, engine="serial", progress=kind)
    out, said = capsys.readouterr()
    assert out == ""
    assert not CONTROL.search(said), repr(said)
    assert "mauc: wine has 13 features: sizes 20 are left out." in said
    if kind != "bar":
        assert "mauc: 6 cells, 0 done before\n" in said
        assert re.search(r"mauc: 6/6 cells, .* left; mean MAUC chi 0\.\d{3}\n", said)
        assert all(line.startswith("mauc: ") for line in said.splitlines())


def test_quiet_says_nothing(tmp_path, capfd):
    run_plan(PLAN, tmp_path, engine="serial", progress="quiet")
    assert capfd.readouterr() == ("", "")


def test_kinds_go_by_the_terminal_and_by_what_is_installed(monkeypatch):
    assert type(make_progress("lines")) is LineProgress
    assert type(make_progress("quiet")) is Progress
    assert type(make_progress("bar")) is BarProgress
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert type(make_progress("auto")) is BarProgress
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert type(make_progress("auto")) is LineProgress
    with pytest.raises(MaucError, match="did you mean 'quiet'"):
        make_progress("quite")
    monkeypatch.setattr(progress, "_has_rich", lambda: False)
    assert type(make_progress("auto")) is LineProgress
    monkeypatch.setitem(sys.modules, "rich", None)  # importing it now fails
    with pytest.raises(MaucError, match=r"bar needs the package rich: pip install 'mauc\[cli\]'"):
        make_progress("bar")


CODE = """
import sys
from tests.helpers.run_tools import make_plan
from mauc.exceptions import MaucError
from mauc.experiments import run_plan
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


def test_a_terminal_gets_a_bar_and_its_cursor_back(tmp_path):
    said = show_on_terminal(tmp_path / "run", "serial")
    assert "6/6 cells" in said
    assert "mean MAUC so far" in said
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1
    assert said.rindex("\x1b[?25h") > said.rindex("6/6 cells")
    # Nothing is left to draw when all is there.
    assert "cells" not in show_on_terminal(tmp_path / "run", "serial")


def test_a_refused_start_gives_the_cursor_back(tmp_path):
    pytest.importorskip("distributed")
    said = show_on_terminal(tmp_path / "run", "dask")
    assert "refused no Dask scheduler answers at nonsense" in said
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h")


def test_a_real_process_without_terminal_writes_plain_lines(tmp_path):
    driver = start_driver(PLAN, tmp_path / "run", engine="serial")
    out, said = driver.communicate(timeout=120)
    assert driver.returncode == 0, said
    assert out == ""
    assert not CONTROL.search(said), repr(said)
    assert "mauc: 6/6 cells" in said
