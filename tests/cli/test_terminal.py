"""The command as a process: on a pseudo-terminal, in a pipe, stopped by Ctrl-C."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers.pseudo_terminal import RECORDED, run_on_terminal
from tests.helpers.run_tools import PATIENCE, wait_for

pytest.importorskip("pty", reason="needs a Unix terminal")

PROGRAM = "from mauc.cli import main; main()"
MAUC = [sys.executable, "-c", PROGRAM]


def in_pipe(*words, **environment):
    return subprocess.run(
        [*MAUC, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **environment},
        encoding="utf-8",
        check=False,
    )


def test_ctrl_c_stops_a_run_with_one_line_and_no_orphans(tmp_path):
    code, output, session = run_on_terminal(
        PROGRAM,
        "compare",
        "digits",
        "--repeats",
        50,
        "-j",
        2,
        "-o",
        tmp_path / "run",
        stop_at=b"0/250 cells",
    )
    assert code == 130
    assert "Traceback" not in output
    assert "━" in output  # the bar
    last = output.strip().splitlines()[-1]
    assert "mauc: stopped; finished cells are in" in last
    wait_for(lambda: not _processes_of(session))


def _processes_of(session):
    """Return the processes of a session: workers are in that of the command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(path.parent.name)
    return found


def test_a_narrow_terminal_shows_all_and_no_colours():
    code, output, _ = run_on_terminal(PROGRAM, "select", "iris", "-k", 2, columns=40, NO_COLOR="1")
    assert code == 0
    # A bar, drawn where the machine is slow, moves the cursor; nothing is styled.
    assert re.search(r"\x1b\[[\d;]*m", output) is None
    assert "petal length (cm)" in output
    assert "chosen for" in output


def test_a_pipe_gets_lines_without_colours_and_json_alone():
    result = in_pipe(
        "compare",
        "iris",
        "-m",
        "mdfs,su",
        "-c",
        "nb",
        "--sizes",
        "2",
        "--repeats",
        1,
        "--folds",
        2,
        "-j",
        1,
        "--json",
    )
    assert result.returncode == 0
    assert json.loads(result.stdout)["data"] == "iris"
    assert "mauc: 2/2 cells are done" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr


def test_a_reader_that_leaves_ends_it_quietly():
    command = " ".join(f"'{word}'" for word in MAUC)
    result = subprocess.run(
        ["bash", "-c", f"{command} rank digits -m maucd | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout.endswith("\n0\n")


def test_completion_knows_the_commands():
    result = in_pipe(_MAUC_COMPLETE="bash_complete", COMP_WORDS="mauc sco", COMP_CWORD="1")
    assert result.stdout.split() == ["plain,score"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed(shell, tmp_path):
    given = {"SHELL": f"/bin/{shell}", "HOME": str(tmp_path)}
    shown = in_pipe("--show-completion", **given)
    assert "_MAUC_COMPLETE" in shown.stdout
    for _ in range(2):
        assert in_pipe("--install-completion", **given).returncode == 0
    (file,) = [path for path in tmp_path.rglob("*mauc*") if path.is_file()]
    assert file.read_text() == shown.stdout.rstrip("\n") or file.read_text() == shown.stdout[:-1]
    if shell == "zsh":
        assert (tmp_path / ".zshrc").read_text().count("fpath") == 1


def test_a_shell_without_completion_is_named():
    assert "got 'tcsh'" in in_pipe("--show-completion", SHELL="/bin/tcsh").stderr


def test_help_imports_nothing_heavy_of_its_own():
    code = (
        "import sys, mauc; before = set(sys.modules); import mauc.cli.app; "
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"matplotlib", "pyarrow", "jinja2", "dask"} & set(result.stdout.split())


# Reading ends when the bar was seen; in a pipe, where none is, after a while.
SLOW = (
    RECORDED
    + """
from mauc import progress
from mauc.io import load as reading
known = reading.load_dataset
def load(*arguments, **options):
    if sys.stderr.isatty():
        wait_until_shown("reading iris")
    else:
        time.sleep(0.5)
    return known(*arguments, **options)
reading.load_dataset = load
progress.DELAY_SECONDS = 0.05
"""
)


def test_a_terminal_is_told_what_is_read_and_fitted():
    code, output, _ = run_on_terminal(SLOW + PROGRAM, "select", "iris", "-k", 2, "--json")
    assert code == 0, output
    assert re.search(r"reading iris 0:0\d:\d\d", output)
    shown = output.replace("\x1b[2K", "\n").split("\n{")[-1]
    assert json.loads("{" + shown)["data"] == "iris"  # the bar is gone when the result is printed


def test_a_pipe_gets_no_bar():
    done = subprocess.run(
        [sys.executable, "-c", SLOW + PROGRAM, "rank", "iris", "-m", "chi", "--json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["data"] == "iris"


BLOCKS = (
    RECORDED
    + """
from mauc import progress
from mauc.cli.app import app
from mauc.io.parquet import ParquetSource

progress.DELAY_SECONDS, progress._MIN_SECONDS = 0.05, 0.1
read = ParquetSource.read


def slow(self, places):
    time.sleep(0.05 * len(places))
    if progress.current is not None:
        wait_until_redrawn()
    return read(self, places)


ParquetSource.read = slow
app()
"""
)


def test_a_terminal_shows_bytes_and_time_left(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 40))).add_prefix("f")
    frame["label"] = rng.integers(0, 3, len(frame))
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path, index=False)
    code, output, _ = run_on_terminal(
        BLOCKS, "select", path, "--target", "label", "-m", "mdfs", "-k", 2, "--memory", "3MB"
    )
    assert code == 0, output
    shown = re.search(
        r"MDFS 0:0\d:\d\d, \d\.\d/6\.4 MB, \d+/\d+ blocks of columns, 0:0\d:\d\d left", output
    )
    assert shown, output
