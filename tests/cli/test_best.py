"""`mauc best`: what it writes can be used without it."""

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

from mauc.datasets import load_dataset
from tests.helpers.cli_helpers import refusal, run, run_json

QUICK = ("-t", "label", "-m", "maucd", "--time", "none")
LOAD = """
import sys, pandas, skops.io
path, table = sys.argv[1:]
model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
print(*model.predict(pandas.read_csv(table)[model.feature_names_in_]))
"""


@pytest.fixture
def visits_file(tmp_path):
    """Words, missing values, and four visits of each patient."""
    rng, codes = np.random.default_rng(0), np.arange(120) % 3
    frame = pd.DataFrame({"patient": np.arange(120) // 4, "dose": rng.normal(size=120) + codes})
    frame["colour"] = np.where(rng.random(120) < 0.7, np.array(["r", "g", "b"])[codes], "r")
    frame.loc[::9, "dose"], frame.loc[::7, "colour"] = np.nan, None
    frame["label"] = np.array(["u", "v", "w"])[codes]
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


@pytest.mark.processes
def test_pipeline_predicts_in_a_new_process_from_the_table_as_it_is(visits_file, tmp_path):
    pytest.importorskip("skops")
    models = [tmp_path / "model.skops", tmp_path / "model.joblib"]
    for model in models:
        run("best", visits_file, *QUICK, "-c", "logistic", "--groups", "patient", "-o", model)
    loaded = joblib.load(models[1])
    frame = pd.read_csv(visits_file)
    expected = loaded.predict(frame[loaded.feature_names_in_])
    assert list(loaded.feature_names_in_) == ["dose", "colour"]
    words = [sys.executable, "-c", LOAD, str(models[0]), str(visits_file)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert printed.split() == expected.tolist()
    assert np.mean(expected == frame["label"]) > 0.6


def test_json_and_page(wine_file, tmp_path):
    page = tmp_path / "page.html"
    found = run_json("best", wine_file, *QUICK, "-c", "nb,1nn", "--report", page)
    assert found["interval"][0] < found["mauc"] <= found["interval"][1]
    assert len(found["features"]) == found["size"]
    assert found["features"][0] in page.read_text(encoding="utf-8")


def test_same_result_as_the_function(wine_file):
    from mauc import best_subset

    dataset = load_dataset(wine_file, "label")
    X = pd.DataFrame(dataset.X, columns=dataset.feature_names)
    best = best_subset(X, dataset.y, selectors=["maucd"], classifiers=["nb"], time=None)
    assert run("best", wine_file, *QUICK, "-c", "nb").stdout == f"wine: {best}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "model.pkl"], "must be one of .skops, .joblib, got '.pkl'"),
        (["-o", "no/model.joblib"], "there is no folder no"),
        (["--time", "soon"], "time must be seconds above 0"),
        (["-c", "nothing"], "classifier must be one of"),
    ],
)
def test_refusals(wine_file, words, message):
    assert message in refusal("best", wine_file, "-t", "label", *words)
