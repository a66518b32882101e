"""`mauc select`: the table, and errors on stderr without a traceback."""

import pandas as pd
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from mauc import MDFS
from mauc.cli.app import app
from mauc.selectors import SELECTORS


def run(*words):
    return CliRunner().invoke(app, ["select", *words])


@pytest.fixture
def wine_file(tmp_path):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "label"})
    frame["label"] = frame["label"].map({0: "red", 1: "rose", 2: "white"})
    frame.to_csv(tmp_path / "wine.csv", index=False)
    return tmp_path / "wine.csv"


def test_the_table_shows_the_choice_and_who_asked(wine_file):
    result = run(str(wine_file), "--target", "label", "-k", "3")
    assert result.exit_code == 0
    assert "178 samples, 13 features, 3 classes; mdfs chose 3" in result.stdout
    X, y = load_wine(return_X_y=True, as_frame=True)
    for column in X.columns[MDFS(3, random_state=0).fit(X, y).ranking_]:
        assert column in result.stdout
    assert "red vs" in result.stdout


@pytest.mark.parametrize("method", SELECTORS)
def test_every_method_runs_on_a_bundled_set(method):
    result = run("iris", "--method", method)
    assert result.exit_code == 0
    assert f"{method} chose 4" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv is neither a file nor a bundled data set"),
        (["wine", "--target", "x"], "has its labels already"),
        (["wine", "-k", "99"], r"-k must be in [1, 13] (the number of features), got 99."),
        (["wine", "--method", "magic"], "--method must be one of mdfs,"),
        (["wine", "--method", "chi", "--ties", "mauc"], "--ties goes with --method mdfs"),
        (["wine", "--schedule", "never"], "schedule must be one of 'random'"),
    ],
)
def test_errors_are_one_line_on_stderr(words, message):
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_wrong_target_names_the_nearest_column(wine_file):
    result = run(str(wine_file), "--target", "labels")
    assert "has no column 'labels'; did you mean 'label'?" in result.stderr.replace("\n", " ")


def test_warnings_go_to_stderr(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "y": list("uuv")}).to_csv(tmp_path / "d.csv", index=False)
    result = run(str(tmp_path / "d.csv"), "--target", "y")
    assert result.exit_code == 0
    assert "warning: 1 of 2 classes have a single sample ('v')" in result.stderr
