"""Columns or rows: the cheaper way is taken and told, and a sketch tells its error."""

import numpy as np
import pandas as pd
import pytest

from mauc.io.features import FeatureColumns
from tests.helpers.cli_helpers import refusal, run, run_json

N = 6000


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    frame = pd.DataFrame(rng.normal(size=(N, 8)) + codes[:, None] * np.linspace(0, 1, 8))
    frame = frame.add_prefix("f")
    frame["level"] = rng.integers(0, 5, N) + codes
    frame["colour"] = rng.choice(["red", "green", "blue"], N)
    frame["label"] = np.array(["u", "v", "w"])[codes]
    path = tmp_path_factory.mktemp("sketch") / "rows.parquet"
    frame.to_parquet(path, index=False, row_group_size=500)
    return path


def test_enough_memory_reads_columns(file):
    result = run("select", file, "--target", "label", "-m", "mdfs", "--memory", "1MB")
    assert "rows: read by columns: exact" in result.stderr
    assert "AUCs by a sketch" not in result.stdout


@pytest.mark.parametrize("method", ["mdfs", "maucd"])
def test_too_little_memory_for_a_column_sketches_rows(file, method):
    words = ("select", file, "--target", "label", "-m", method, "-k", "4")
    result = run(*words, "--memory", "300kB")
    assert "rows: sketched by rows: one pass over" in result.stderr
    assert "off by at most" in result.stdout
    found = run_json(*words, "--memory", "300kB")
    exact = run_json(*words, "--nominal", "onehot")
    assert 0 <= found["error_bound"] < 0.01
    assert "error_bound" not in exact
    scores = {entry["feature"]: entry["score"] for entry in exact["features"]}
    for entry in found["features"]:
        if entry["feature"] in scores:
            assert abs(entry["score"] - scores[entry["feature"]]) <= found["error_bound"]
    assert "3 indicators (0 or 1), as a sketch takes numbers only" in found["columns"][0]


def test_a_sketch_on_demand(file, tmp_path):
    words = ("rank", file, "--target", "label", "-m", "mdfs", "--nominal", "drop", "--pairs")
    found = run_json(*words, tmp_path / "sketch.csv", "--sketch")
    run_json(*words, tmp_path / "exact.csv")
    assert found["error_bound"] < 0.01
    one, other = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("sketch", "exact"))
    assert one["feature"].tolist() == other["feature"].tolist()
    difference = (one.iloc[:, 1:] - other.iloc[:, 1:]).abs().to_numpy()
    assert difference.max() <= found["error_bound"]
    assert difference[8].max() == 0  # few distinct values


def test_a_column_that_is_empty_below_its_first_rows(file, tmp_path):
    frame = pd.read_parquet(file)
    frame = pd.concat([frame] * 5, ignore_index=True)
    frame["late"] = np.where(np.arange(len(frame)) < 1400, frame["f0"], np.nan)
    frame.to_parquet(tmp_path / "late.parquet", index=False, row_group_size=1000)
    words = ("select", tmp_path / "late.parquet", "--target", "label", "-m", "mdfs", "--sketch")
    result = run(*words)
    assert "left out: 'late', 95.3 % missing" in result.stderr
    assert "late" not in result.stdout.split("\n", 1)[1]


def test_row_groups_beyond_the_memory_are_read_in_parts(file, tmp_path, monkeypatch):
    pd.read_parquet(file).to_parquet(tmp_path / "one.parquet", index=False)
    words = ("select", tmp_path / "one.parquet", "--target", "label", "-m", "mdfs")
    read_rows, sizes = FeatureColumns.read_rows, []

    def watched(self, start, stop, columns):
        found = read_rows(self, start, stop, columns)
        sizes.append(sum(column.nbytes for column in found))
        return found

    monkeypatch.setattr(FeatureColumns, "read_rows", watched)
    result = run(*words, "--memory", "300kB")
    assert "1 row group must be read in" in result.stderr
    assert 2 * max(sizes) <= 150_000
    exact = run(*words, "--memory", "30MB")
    assert "must be read" not in exact.stderr


def test_options_that_do_not_go_with_a_sketch(file):
    words = ("select", file, "--target", "label", "--sketch")
    result = run(*words, "-m", "su", code=2)
    assert "--sketch goes with the methods mdfs and maucd" in result.stderr
    assert "not with SymmetricalUncertainty" in result.stderr
    assert "--sketch goes with --engine local" in refusal(*words, "-m", "mdfs", "--engine", "dask")
    assert "a sketch reads the rows in parts" in refusal(*words, "-m", "mdfs", "-k", "auto")
    assert "--sketch goes with files" in refusal("select", "siren", "--sketch", "-m", "mdfs")
