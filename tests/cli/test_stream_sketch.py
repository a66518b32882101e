"""Columns or rows: the cheaper way is taken and told, and a sketch tells its error."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mauc import MDFS
from mauc.cli.fitting import Fitting
from mauc.cli.streaming import choose_strategy, is_by_rows
from mauc.data.source import ColumnSource
from mauc.datasets import Dataset
from mauc.io.features import FeatureColumns
from tests.helpers.cli_helpers import refusal, run, run_json


def test_enough_memory_reads_columns(rows_file):
    result = run("select", rows_file, "--target", "label", "-m", "mdfs", "--memory", "1MB")
    assert "rows: read by columns: exact" in result.stderr
    assert "AUCs by a sketch" not in result.stdout


@pytest.mark.parametrize("method", ["mdfs", "maucd"])
def test_too_little_memory_for_a_column_sketches_rows(rows_file, method):
    words = ("select", rows_file, "--target", "label", "-m", method, "-k", "4")
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


def test_a_sketch_on_demand(rows_file, tmp_path):
    words = ("rank", rows_file, "--target", "label", "-m", "mdfs", "--nominal", "drop", "--pairs")
    found = run_json(*words, tmp_path / "sketch.csv", "--sketch")
    run_json(*words, tmp_path / "exact.csv")
    assert found["error_bound"] < 0.01
    one, other = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("sketch", "exact"))
    assert one["feature"].tolist() == other["feature"].tolist()
    difference = (one.iloc[:, 1:] - other.iloc[:, 1:]).abs().to_numpy()
    assert difference.max() <= found["error_bound"]
    assert difference[8].max() == 0  # few distinct values


def test_a_column_that_is_empty_below_its_first_rows(rows_file, tmp_path):
    frame = pd.read_parquet(rows_file)
    frame = pd.concat([frame] * 5, ignore_index=True)
    frame["late"] = np.where(np.arange(len(frame)) < 1400, frame["f0"], np.nan)
    frame.to_parquet(tmp_path / "late.parquet", index=False, row_group_size=1000)
    words = ("select", tmp_path / "late.parquet", "--target", "label", "-m", "mdfs", "--sketch")
    result = run(*words)
    assert "left out: 'late', 95.3 % missing" in result.stderr
    assert "late" not in result.stdout.split("\n", 1)[1]


def test_row_groups_beyond_the_memory_are_read_in_parts(rows_file, tmp_path, monkeypatch):
    pd.read_parquet(rows_file).to_parquet(tmp_path / "one.parquet", index=False)
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


def test_options_that_do_not_go_with_a_sketch(rows_file):
    words = ("select", rows_file, "--target", "label", "--sketch")
    result = run(*words, "-m", "su", code=2)
    assert "--sketch goes with the methods mdfs and maucd" in result.stderr
    assert "not with SymmetricalUncertainty" in result.stderr
    assert "--sketch goes with --engine local" in refusal(*words, "-m", "mdfs", "--engine", "dask")
    assert "a sketch reads the rows in parts" in refusal(*words, "-m", "mdfs", "-k", "auto")
    assert "--sketch goes with files" in refusal("select", "siren", "--sketch", "-m", "mdfs")


# By columns 40,000 reads of 2 ms take more than a minute; a sketch takes 983 kB per class.
N_ROWS, N_COLUMNS, MEMORY = 10_000, 40, 3 * 10**6


class Remote(ColumnSource):
    """Many small parts on another machine."""

    def __init__(self, n_parts):
        super().__init__("remote", N_ROWS, [np.float32] * N_COLUMNS, memory=MEMORY)
        self.waits, self.n_parts = True, n_parts

    def read(self, places):
        raise AssertionError("nothing is read to choose")

    def row_parts(self):
        edges = np.linspace(0, N_ROWS, self.n_parts + 1).astype(int).tolist()
        return list(pairwise(edges))


def chosen(y, n_parts):
    X = Remote(n_parts)
    dataset = Dataset("remote", X, y, [f"x{j}" for j in range(N_COLUMNS)])
    return is_by_rows(Fitting(), MDFS(), dataset)


@pytest.mark.parametrize(("n_classes", "is_sketched"), [(3, True), (4, False)])
def test_a_sketch_of_many_classes_does_not_fit(n_classes, is_sketched, capsys):
    assert chosen(np.arange(N_ROWS) % n_classes, n_parts=1000) == is_sketched
    assert ("sketched by rows" in capsys.readouterr().err) == is_sketched


def test_classes_are_not_counted_for_columns(monkeypatch):
    def refuse(values):
        raise AssertionError("labels are counted")

    monkeypatch.setattr("mauc.data.labels.factorize", refuse)
    assert not chosen(np.arange(N_ROWS) % 3, n_parts=10)
    with pytest.raises(AssertionError, match="labels are counted"):
        chosen(np.arange(N_ROWS) % 3, n_parts=1000)


@pytest.mark.parametrize(
    ("options", "is_by_rows", "words"),
    [
        ({}, False, "exact; 800 MB read once"),
        ({"n_rows": 10**9}, True, "its sort would take 60.0 GB of memory, 1.0 GB may be used"),
        ({"n_parts": 50_000, "waits": True}, True, "10,000,000 reads, about 198 times as long"),
        # from a file the same reads take microseconds: slower than a sketch, but not that much
        ({"n_parts": 1000, "waits": True}, True, "200,000 reads, about 143 times as long"),
        ({"n_parts": 1000}, False, "exact; 800 MB read once"),
        ({"n_parts": 50_000}, True, "10,000,000 reads, about 112 times as long"),
        # many reads of small parts, but done in a minute: exact all the same
        ({"n_rows": 10_000, "n_parts": 100, "waits": True}, False, "exact; 8 MB read once"),
        # the sketch itself would not fit either: exact then
        ({"n_parts": 50_000, "n_classes": 1000}, False, "read once"),
    ],
)
def test_exact_where_that_is_affordable(options, is_by_rows, words):
    given = {"n_rows": 10**6, "n_columns": 200, "bytes_per_cell": 4, "memory": 10**9} | options
    found, why = choose_strategy(**given)
    assert found == is_by_rows
    assert words in why
    assert why.startswith("sketched by rows" if is_by_rows else "read by columns")
