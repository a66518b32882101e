"""`mauc compare`, `run`, `tables`: run folders in and out."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mauc import load_run
from mauc.experiments import plan_schema
from mauc.stats import Comparison, compare_to, mean_mauc
from tests.helpers.cli_helpers import refusal, run, run_json

pytestmark = pytest.mark.long

COMPARE = (
    "-m",
    "mdfs,su",
    "-c",
    "nb,1nn",
    "--sizes",
    "2,4",
    "--repeats",
    1,
    "--folds",
    3,
    "-j",
    1,
    "--progress",
    "quiet",
)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The folder of a run, and what the command said of it."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    return folder, run_json("compare", "wine", *COMPARE, "-o", folder)


def test_compare_gives_the_means_and_tests_of_the_library(compared):
    folder, got = compared
    rows = load_run(folder)
    assert [row["mean"] for row in got["means"]] == mean_mauc(rows)["mean"].tolist()
    comparison = compare_to(rows, Comparison("mdfs", "corrected_t"))
    assert [row["p_value"] for row in got["comparison"]] == comparison["p_value"].tolist()


def test_compare_goes_on_with_its_folder(compared, tmp_path):
    folder, _ = compared
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    figure = tmp_path / "curves.svg"
    result = run("compare", "wine", *COMPARE, "-o", folder, "--figure", figure)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")} == before
    assert "mdfs wins / draws / loses" in result.stdout
    assert "<svg" in figure.read_text()
    error = refusal("compare", "wine", *COMPARE, "--folds", 4, "-o", folder)
    assert "holds a run of another plan" in error


@pytest.mark.parametrize("words", [(), ("--report", "page.html"), ("-o", "run")])
def test_compare_reads_the_file_once_and_writes_nothing_unasked(
    nominal_file, tmp_path, monkeypatch, words
):
    from mauc.io import load

    n_reads = 0

    def read_and_count(*arguments, **options):
        nonlocal n_reads
        n_reads += 1
        return open_table(*arguments, **options)

    open_table = load.open_table
    monkeypatch.setattr(load, "open_table", read_and_count)
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    run("compare", nominal_file, "-t", "label", *COMPARE, "--sizes", "2", *words)
    assert n_reads == 1
    assert [path.name for path in folder.iterdir()] == list(words[1:])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--test", "t"], "--test must be one of 'wilcoxon', 'corrected_t', got 't'"),
        (["--alpha", "5"], "--alpha must be a number in (0, 1)"),
        (["--reference", "chi"], "--reference must be one of mdfs, su"),
        (["--sizes", "5,50"], "--sizes must be in [1, 13]"),
        (["--sizes", "a"], "--sizes must be whole numbers separated by commas"),
        (["-m", "mdfs,magic"], "selector must be one of"),
        (["-c", "magic"], "classifier must be one of"),
        (["--figure", "f.bmp"], "the extension of --figure must be one of .png"),
        (["--progress", "loud"], "--progress must be one of auto"),
        (["--folds", "1"], "folds"),
    ],
)
def test_compare_refuses_before_it_runs(words, message, tmp_path):
    assert message in refusal("compare", "wine", *COMPARE, "-o", tmp_path / "run", *words)
    assert not (tmp_path / "run" / "cells").exists()


def test_compare_takes_a_file_with_any_name(hostile_file, tmp_path):
    path = hostile_file.rename(tmp_path / "a [b] ? * è.csv")
    got = run_json("compare", path, "-t", "label", *COMPARE)
    assert got["data"] == "a [b] ? * è"
    assert {row["selector"] for row in got["means"]} == {"mdfs", "su"}


def test_failed_combinations_give_exit_code_1(nominal_file):
    # Naive Bayes of categories refuses negative values.
    words = ("compare", nominal_file, "-t", "label", *COMPARE, "--sizes", "2")
    failing = "sklearn.naive_bayes.CategoricalNB"
    result = run(*words, "-c", f"nb,{failing}", code=1)
    assert "some combinations failed:" in result.stderr
    assert f"mdfs, {failing}: ValueError" in result.stderr
    assert "Naive Bayes" in result.stdout
    assert "every combination failed" in refusal(*words, "-c", failing)


def test_tables_of_a_run(compared):
    folder, _ = compared
    result = run("tables", folder)
    assert "MDFS" in result.stdout
    assert "Mean ranks of the selectors" in result.stdout
    assert "\\begin{" in run("tables", folder, "-f", "latex").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--figures"], "--figures needs --output"),
        (["--dataset", "wines"], "--dataset must be one of wine, got 'wines'"),
        (["--reference", "mfds"], "did you mean 'mdfs'?"),
        (["--format", "html"], "--format must be one of text"),
    ],
)
def test_tables_refuses(compared, words, message):
    assert message in refusal("tables", compared[0], *words)


def test_a_folder_without_a_run_is_refused(tmp_path):
    assert "is not a run folder" in refusal("tables", tmp_path)


def test_run_takes_a_plan_goes_on_and_gives_tables(tmp_path):
    plan = tmp_path / "tiny.toml"
    plan.write_text(
        'datasets = ["iris", "wine"]\nselectors = ["mdfs", "su"]\nclassifiers = ["nb"]\n'
        "sizes = [1, 2]\nrepeats = 1\nfolds = 2\n"
    )
    words = ("run", plan, "-o", tmp_path / "run", "--engine", "serial", "--progress", "quiet")
    assert run_json(*words)["n_run"] == 4
    assert (tmp_path / "run" / "plan.toml").read_text() == plan.read_text()
    assert run_json(*words)["n_run"] == 0
    assert "see: mauc tables" in run(*words).stdout
    assert "ranks" in run_json("tables", tmp_path / "run")["tables"]
    words = ("tables", tmp_path / "run", "-o", tmp_path / "tables")
    files = run_json(*words, "--figures")["files"]
    assert all((tmp_path / "tables" / file).is_file() for file in files)
    assert len(files) > 20
    run(*words, code=2)
    run(*words, "--force")


def test_run_gives_the_schema_of_plans():
    assert json.loads(run("run", "--schema").stdout) == plan_schema()


def test_run_needs_the_file_of_a_plan():
    assert "PLAN must be a TOML file" in refusal("run")
    assert "the plan none.toml cannot be read: No such file" in refusal("run", "none.toml")


def test_one_command_runs_a_plan_and_writes_its_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(
        'datasets = ["wine"]\nselectors = ["chi", "maucd"]\nclassifiers = ["nb"]\n'
        "sizes = [2, 5]\nrepeats = 1\nfolds = 3\n"
    )
    words = ("run", "small.toml", "--engine", "serial")
    assert "--force goes with --tables" in refusal(*words, "--force")
    said = run(*words, "--tables", "tables").stderr
    assert "wrote tables/table_wine.md" in said
    assert "3 splits are too few for the Wilcoxon signed-rank test" in said
    assert "3 splits are too few" in Path("tables/table_wine.md").read_text()
    assert "worse (better) than CHI" in Path("tables/table_wine.md").read_text()
    stopped = refusal(*words, "--tables", "tables")
    assert "--tables tables is a folder with files; name another one, or say --force" in stopped
    done = run_json(*words, "--tables", "tables", "--force")
    assert done["n_run"] == 0
    assert "tables/table_wine.md" in done["files"]


@pytest.mark.parametrize(
    ("words", "reference", "test"),
    [
        ((), "MDFS", "corrected resampled t-test at 5 %"),
        (
            ("--test", "wilcoxon", "--alpha", 0.1, "--reference", "su"),
            "SU",
            "Wilcoxon signed-rank test at 10 %",
        ),
    ],
)
def test_page_and_terminal_name_the_same_comparison(compared, tmp_path, words, reference, test):
    folder, _ = compared
    page = tmp_path / "page.html"
    result = run("compare", "wine", *COMPARE, "-o", folder, "--report", page, *words)
    shown = " ".join(result.stdout.split())
    text = " ".join(page.read_text(encoding="utf-8").split())
    marks = f"worse (better) than {reference} by the {test};"
    assert marks in shown
    assert f"{reference.lower()} wins / draws / loses" in shown
    assert marks in text
    assert f"Win/draw/loss of {reference} against each selector" in text
    assert f"Differences from {reference} and their p-values ({test})" in text
    other = "Wilcoxon" if "corrected" in test else "corrected resampled"
    assert other not in shown
    assert other not in text
    assert "flavanoids" in text


def test_tables_prints_what_it_writes(compared, tmp_path):
    folder, _ = compared
    printed = run_json("tables", folder)["tables"]
    assert list(printed) == [
        "mauc wine",
        "runtime",
        "ranks",
        "stability",
        "win/draw/loss",
        "summary",
    ]
    files = run_json("tables", folder, "-o", tmp_path / "tables")["files"]
    names = [name.replace("mauc ", "table_").replace("/", "_") for name in printed]
    assert [Path(file).name for file in files if file.endswith(".csv")] == [
        f"{name}.csv" for name in names
    ]


def test_a_table_that_cannot_be_made_is_left_out_of_both(compared, tmp_path, monkeypatch):
    folder, _ = compared
    rows = load_run(folder).drop(columns="features")
    monkeypatch.setattr("mauc.experiments.load_run", lambda _: rows)
    result = run("tables", folder)
    assert "warning: no table of stability: " in result.stderr
    assert "Mean ranks of the selectors" in result.stdout
    result = run("tables", folder, "-o", tmp_path / "tables")
    assert "warning: no table of stability: " in result.stderr
    assert (tmp_path / "tables" / "ranks.txt").is_file()
    assert not (tmp_path / "tables" / "stability.txt").exists()


def test_the_page_of_compare_has_the_columns_of_its_table(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(["u", "v", "w"], 20)
    colours = np.where(rng.random(60) < 0.7, labels, rng.choice(["u", "v", "w", "x"], 60))
    frame = pd.DataFrame({"size": rng.normal(size=60), "colour": colours, "label": labels})
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    words = ("compare", tmp_path / "mixed.csv", "-t", "label", *COMPARE, "--sizes", "2")
    for reference, how in (("fisher", " as codes, as fisher takes numbers only"), ("greedy", "")):
        page = tmp_path / f"{reference}.json"
        run(*words, "-m", "fisher,greedy", "--reference", reference, "--report", page)
        summary = json.loads(page.read_text())
        assert summary["data"]["n_features"] == 2
        assert {one["name"] for one in summary["features"]} == {"size", "colour"}
        assert summary["data"]["notes"] == [
            f"1 number, 1 nominal{how}",
            "1 nominal column as such for greedy, nb, 1nn; as codes 0, 1, ... for fisher",
        ]
    assert "encode_dataset" not in summary["reproduce"]["code"]
    code = json.loads((tmp_path / "fisher.json").read_text())["reproduce"]["code"]
    assert ", 'ordinal')" in code
