"""How to reproduce: the code of the page, pasted into a fresh process, finds the same features."""

import ast
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from mauc import MDFS, ChiSquare, GreedyMAUC, SpreadFx
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.report.html import selection_report
from mauc.report.html.recipe import call_of, short_name
from tests.helpers.run_tools import PATIENCE


def paste(code, folder):
    """Run code as if it were pasted into a fresh Python."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def test_code_of_a_csv_with_words_runs_when_pasted(tmp_path, rng):
    y = np.repeat(["u", "v", "w"], 20)
    table = pd.DataFrame(
        {
            "label": y,
            "id": [f"n{row}" for row in range(60)],
            "colour": np.where(rng.random(60) < 0.8, np.repeat(["red", "blue", "red"], 20), "grey"),
            "size": rng.normal(size=60) + np.arange(60) // 20,
            "noise": rng.normal(size=60),
        }
    )
    table.to_csv(tmp_path / "my.csv", index=False)
    source = "load_dataset('my.csv', 'label', drop=['id'])"
    dataset = load_dataset(tmp_path / "my.csv", "label", drop=["id"])
    selector = ChiSquare(2).fit(dataset.X, dataset.y)
    report = selection_report(
        selector, dataset.X, dataset.y, feature_names=dataset.feature_names, source=source
    )
    chosen = [one["name"] for one in report.to_dict()["features"]]
    assert paste(report.to_dict()["reproduce"]["code"], tmp_path) == chosen
    assert set(chosen) == {"colour", "size"}
    assert "before running this" not in report.to_html()


def test_code_without_a_source_leaves_the_data_open():
    X, y = load_wine(return_X_y=True)
    selector = MDFS(2, random_state=0).fit(X, y)
    report = selection_report(selector, X, y, source="")
    code = report.to_dict()["reproduce"]["code"]
    assert "X, y = ..." in code
    ast.parse(code)
    assert "Replace <code>...</code> before running this" in report.to_html()
    weight = np.ones(len(y))
    selector = MDFS(2, random_state=0).fit(X, y, sample_weight=weight)
    report = selection_report(selector, X, y, sample_weight=weight, source="load_dataset('wine')")
    assert "sample_weight = ..." in report.to_dict()["reproduce"]["code"]
    assert ".fit(X, y, sample_weight)" in report.to_dict()["reproduce"]["code"]


def test_a_source_that_is_no_expression_is_refused():
    X, y = load_wine(return_X_y=True)
    selector = MDFS(2, random_state=0).fit(X, y)
    with pytest.raises(MaucError, match="source must be a Python expression that reads"):
        selection_report(selector, X, y, source="X = 1")


def test_calls_are_whole():
    mask = np.zeros(400, bool)
    mask[7] = True
    call = call_of(ChiSquare(5, categorical_features=mask))
    assert "..." not in call
    made = eval(call, {"ChiSquare": ChiSquare})
    assert made.categorical_features == mask.tolist()
    assert call_of(MDFS(5), n_features_to_select="auto") == "MDFS(n_features_to_select='auto')"


def test_short_names_are_those_of_the_command_line():
    assert short_name(SpreadFx(relevance="su")) == "ssu"
    assert short_name(GreedyMAUC()) == "greedy"
    assert short_name(GreedyMAUC(), ["mdfs"]) is None
