"""What commands print fits a terminal of 80 columns, without parted words and with real bold."""

import re

import pytest
from click.testing import CliRunner

from mauc.cli.app import app
from mauc.cli.show import add_row, make_table, print_report_table, print_table
from mauc.report import FrameTable, Group, Layout, Value
from tests.helpers.cli_helpers import run

STYLE = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(params=[80, 100])
def terminal(request, monkeypatch):
    """Sit at a terminal of so many columns; the tests themselves have none."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return request.param


def lines_of(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout.splitlines()


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    plan = folder.with_name("plan.toml")
    plan.write_text(
        'datasets = ["wine", {name = "synthetic", source = "control_charts"}]\n'
        'selectors = ["mdfs", "su", "chi"]\nclassifiers = ["nb", "1nn"]\n'
        "sizes = {from = 1, to = 13, step = 1}\nrepeats = 1\nfolds = 2\n"
    )
    run("run", plan, "-o", folder, "--engine", "serial", "--progress", "quiet")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("select", "digits", "-k", 5),
        ("select", "digits", "-k", 5, "-m", "greedy"),
        ("select", "wine", "-k", 3, "-m", "consensus", "--set", "n_resamples=2"),
        ("rank", "iris"),
        ("score",),
        ("methods",),
        ("datasets", "list"),
        ("datasets", "info", "wine"),
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_commands_fit(terminal, words):
    for line in lines_of(*words):
        assert len(STYLE.sub("", line)) <= terminal, line
        assert "**" not in line


@pytest.mark.parametrize("command", ["tables", "compare"])
def test_tables_of_runs_fit_and_are_bold(terminal, command, finished_run):
    words = [command, finished_run]
    if command == "compare":
        words = [
            "compare",
            "iris",
            "-m",
            "mdfs,su",
            "-c",
            "nb",
            "--sizes",
            "1,2,3",
            "--repeats",
            1,
            "--folds",
            2,
            "-j",
            1,
            "--progress",
            "quiet",
        ]
    lines = lines_of(*words)
    for line in lines:
        assert len(STYLE.sub("", line)) <= terminal, line
        assert "**" not in line
    assert any(re.search(r"\x1b\[1m[\d.]+\x1b\[0m", li) for li in lines)


def test_a_pipe_keeps_stars_and_whole_lines(finished_run):
    text = run("tables", finished_run).stdout
    assert re.search(r"\*\*[\d.]+\*\*", text)
    assert "\x1b" not in text


def test_methods_part_no_word(terminal):
    words = {word for line in lines_of("methods") for word in STYLE.sub("", line).split()}
    for whole in ("subtree_raising=True", "min_samples_leaf=2,", "SubproblemSelector"):
        assert whole in words


def test_columns_get_what_their_words_need_first(terminal, capsys):
    table = make_table("name", "text", "number", right=("number",))
    add_row(table, "a" * 30, "some words " * 20, "1,234,567")
    print_table(table)
    lines = [STYLE.sub("", line) for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= terminal
    assert any("a" * 30 in line and "1,234,567" in line for line in lines)


def test_words_that_do_not_fit_make_records(terminal, capsys):
    table = make_table("name", "text")
    add_row(table, "a" * 60, "b" * 60)
    add_row(table, "c", "word " * 40)
    print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"name: {'a' * 60}", f"  text: {'b' * 60}"]
    assert lines[2] == "name: c"
    assert all(len(line) <= terminal and "wor\n" not in line for line in lines)


def test_without_styles_one_star_stands_for_bold(terminal, monkeypatch, capsys):
    monkeypatch.setenv("NO_COLOR", "1")
    group = Group("", (("MDFS", (Value("0.9", is_bold=True), Value("0.8"))),))
    layout = Layout("t", "A caption.", ("10", "20"), (group,))
    print_report_table(FrameTable(None, (layout,)))
    text = capsys.readouterr().out
    assert "*0.9*" in text
    assert "**" not in text
    assert "\x1b" not in text
