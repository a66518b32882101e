"""`mauc select`: the table, the files, and errors on stderr without a traceback."""

import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine

from mauc import MAUCD, MDFS
from mauc.cli.app import app
from mauc.datasets import load_dataset
from tests.helpers.cli_helpers import refusal, run, run_json


def test_the_table_shows_the_choice_and_who_asked(wine_file):
    result = run("select", wine_file, "--target", "label", "-k", "3", "-m", "mdfs")
    assert "178 samples, 13 features, 3 classes; mdfs chose 3" in result.stdout
    X, y = load_wine(return_X_y=True, as_frame=True)
    for column in X.columns[MDFS(3, random_state=0).fit(X, y).ranking_]:
        assert column in result.stdout
    assert "red vs" in result.stdout


def test_what_adds_nothing_adds_no_negative_zero(tmp_path):
    text = run("select", "wine", "-k", "all").stdout
    assert "0.000" in text
    assert "-0.000" not in text
    frame = pd.DataFrame({"x": [1.5, 2.0, 0.5, 3.0], "label": list("uvuv")})
    frame.to_csv(tmp_path / "one.csv", index=False)
    text = run("select", tmp_path / "one.csv", "-t", "label", "-k", "1").stdout
    assert "4 samples, 1 feature, 2 classes" in text


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("select --topk 5", "Did you mean '-k'?"),
        ("rank --top-k 5", "Did you mean '-k'?"),
        ("select --n_features 5", "Did you mean '-k'?"),
        ("select --taget label", "Did you mean '--target'?"),
        ("select --grops-of a", "'--groups-of'"),
        ("columns --topk 5", "No such option '--topk'."),
    ],
)
def test_an_unknown_option_names_the_one_that_is_meant(words, hint):
    said = refusal(*words.split())
    assert hint in said
    assert "--drop" not in said


def test_json_has_the_numbers_of_the_library(wine_file):
    got = run_json(
        "select",
        wine_file,
        "-t",
        "label",
        "-k",
        4,
        "--seed",
        3,
        "-m",
        "mdfs",
        "--set",
        "schedule=hardest",
        "--set",
        "ties=mauc",
    )
    dataset = load_dataset(wine_file, "label")
    selector = MDFS(4, schedule="hardest", ties="mauc", random_state=3)
    selector.fit(dataset.X, dataset.y)
    assert [row["column"] for row in got["features"]] == selector.ranking_.tolist()
    assert [row["score"] for row in got["features"]] == [s.score for s in selector.trace_]
    assert [row["score_alone"] for row in got["features"]] == (
        selector.scores_[selector.ranking_].tolist()
    )
    assert [row["chosen_for"] for row in got["features"]] == [
        step.subproblem_name for step in selector.trace_
    ]


def test_without_data_the_bundled_default_is_used():
    assert run_json("select", "-k", 2)["data"] == "siren"


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "tsv", "parquet", "arff", "npz"])
def test_the_reduced_file_has_the_choice_and_the_labels(wine_file, tmp_path, extension):
    path = tmp_path / f"small.{extension}"
    got = run_json("select", wine_file, "-t", "label", "-k", 3, "-o", path)
    assert got["files"] == [str(path)]
    target = "label" if extension.startswith(("csv", "tsv", "parquet")) else None
    small, whole = load_dataset(path, target), load_dataset(wine_file, "label")
    assert small.feature_names == [row["feature"] for row in got["features"]]
    assert small.y.tolist() == whole.y.tolist()
    assert [p for p in tmp_path.iterdir() if p.suffix in (".tmp", ".part")] == []


def test_files_are_replaced_only_by_force(wine_file, tmp_path):
    words = ("select", wine_file, "-t", "label", "-k", 2, "-o", tmp_path / "small.csv")
    (tmp_path / "small.csv").write_text("mine")
    assert "small.csv exists already; --force replaces it." in refusal(*words)
    assert (tmp_path / "small.csv").read_text() == "mine"
    run(*words, "--force")
    assert len(pd.read_csv(tmp_path / "small.csv").columns) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv is neither a file nor a bundled data set"),
        (["wine", "--target", "x"], "wine has its labels already"),
        (["wine", "-k", "99"], r"-k must be in [1, 13] (the number of features), got 99."),
        (
            ["wine", "-k", "many"],
            "-k must be a whole number, all, auto, predicted or fdr, got 'many'.",
        ),
        (["wine", "-m", "maucd", "--set", "ties=mauc"], "--set for the method maucd must be"),
        (["wine", "-m", "schi", "--set", "relevance=su"], "--set for the method schi must be"),
        (["wine", "-m", "mdfs", "-k", "predicted"], "-k predicted goes with the method greedy"),
        (["wine", "--set", "schedule"], "--set must be NAME=VALUE, got 'schedule'."),
        (["wine", "--set", "n_jobs=2"], "--set n_jobs: use --jobs instead."),
        (
            ["wine", "--set", "categorical_features=hue"],
            "--set categorical_features: use --categorical instead.",
        ),
        (["wine", "--set", "verbose=true"], "--set verbose: no option of the command line; bars"),
        (["wine", "--seed", "-1"], "--seed must be an int in [0, 4294967295], got -1."),
        (["wine", "--jobs", "0"], "--jobs must be at least 1, or -1 for all cores, got 0."),
        (["wine", "-o", "small.xyz"], "small.xyz: the extension '.xyz' is not a known format."),
        (["wine", "-o", "small.mat"], "small.mat: mat files are only read; write"),
        (["wine", "-o", "nowhere/small.csv"], "there is no folder nowhere"),
        (["wine", "--report", "page.pdf"], "the extension of --report must be one of .html"),
    ],
)
def test_errors_are_one_line_on_stderr(words, message):
    result = run("select", *words, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("mauc: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_debug_shows_the_traceback():
    result = CliRunner().invoke(app, ["select", "wine", "-k", "99", "--debug"])
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_an_internal_error_is_not_wrong_input(monkeypatch):
    monkeypatch.setattr("mauc.cli.fitting.fit_on", lambda *_: {}["x"])
    assert "internal error, KeyError" in run("select", "wine", code=70).stderr


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it now fails
    error = refusal("compare", "wine", "--figure", "curves.png")
    assert "package matplotlib: pip install 'mauc[plot]'" in error


def test_warnings_go_to_stderr(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "y": list("uuv")}).to_csv(tmp_path / "d.csv", index=False)
    result = run("select", tmp_path / "d.csv", "--target", "y")
    assert "warning: 1 of 2 classes have a single sample ('v')" in result.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["select", "-m", "magic"], "--method must be one of mdfs,"),
        (["select", "-m", "mdfs", "--set", "schedule=never"], "schedule must be one of 'random'"),
        (["rank", "-m", "magic"], "--method must be one of mdfs,"),
        (["rank", "-m", "mrmr", "--set", "binning=bins"], "binning must be one of"),
        (["compare", "-m", "mdfs,magic"], "selector must be one of"),
        (["compare", "-c", "magic"], "classifier must be one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_option_is_refused_before_the_file_is_read(words, text):
    command, *options = words
    assert text in refusal(command, "no_such_file.csv", *options)


def test_auto_says_how_the_size_was_chosen_and_a_best_at_the_edge(wine_file, tmp_path):
    words = "select", wine_file, "-t", "label", "-k", "auto", "--method", "maucd"
    X, y = load_wine(return_X_y=True)
    curve = MAUCD("auto").fit(X, y).size_curve_
    assert str(curve).splitlines()[0] in run(*words).stdout.replace("\n", " ")
    found = run_json(*words)["size_curve"]
    assert (found["chosen"], found["best"]) == (curve.size, curve.best_size)
    assert found["mauc"] == curve.mean.tolist()
    assert found["note"] == curve.edge_note
    assert run_json("rank", *words[1:])["size_curve"] == found
    assert len(run_json("select", "iris", "-k", "predicted")["features"]) >= 1
    found = run_json(*words[:5], "fdr", "--method", "maucd", "--set", "fdr_alpha=1e-9")["features"]
    wanted = MAUCD("fdr", fdr_alpha=1e-9).fit(X, y).ranking_
    assert [feature["column"] for feature in found] == wanted.tolist()
    assert 1 < len(wanted) < 13
    assert "size_curve" not in run_json(*words[:4], "-k", 3)
    assert "size_curve" not in run_json("rank", *words[1:4], "-k", 3)
    # Six features that are worth the same: the best is all of them.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    frame["label"] = np.where(frame.sum(axis=1) > 0, "yes", "no")
    frame.to_csv(tmp_path / "sum.csv", index=False)
    result = run("select", tmp_path / "sum.csv", "-t", "label", "-k", "auto", "--method", "maucd")
    assert "The best is at the edge: all 6 features." in result.stdout


def test_a_prior_is_for_python():
    message = refusal("select", "iris", "-k", 2, "--set", "prior=sklearn.svm.LinearSVC")
    assert "--set prior: no option of the command line; it takes an estimator" in message


@pytest.mark.parametrize(
    ("rule", "head"), [("frequency", "frequency"), ("rank", "mean rank"), ("loss", "gain")]
)
def test_a_consensus_tells_what_its_rule_says_and_how_stable_it_is(wine_file, rule, head):
    words = ("select", wine_file, "-t", "label", "-m", "consensus", "--set", "n_resamples=4")
    shown = run(*words, "-k", 3, "--set", f"rule={rule}").stdout
    assert f"{head} when chosen   mean frequency" in shown
    assert "stability over 4 halves of the samples: " in shown
    # Of a choice of all features there is nothing to tell.
    every = run(*words, "-k", "all", "--set", f"rule={rule}").stdout
    assert "nan" not in every
    assert "stability" not in every
