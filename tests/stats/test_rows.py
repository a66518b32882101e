"""Rows of a run: their labels, the names that are shown, means, intervals and scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from mauc.exceptions import MaucError
from mauc.registry import CLASSIFIERS, SELECTORS
from mauc.stats import mean_interval, mean_mauc, problem_scores
from mauc.stats.rows import labels_of, rows_of, shown_name
from tests.helpers.run_rows import NAN, SETTING, run_rows


def test_labels_of_methods_are_those_of_the_registry():
    for kind, entries in (("selector", SELECTORS), ("classifier", CLASSIFIERS)):
        for name, entry in entries.items():
            assert shown_name(kind, name) == shown_name(kind, name.upper()) == entry.label
    assert shown_name("selector", "ReliefF") == "ReliefF"
    assert shown_name("dataset", "mnist") == "MNIST"
    for kind in ("selector", "classifier", "dataset"):
        assert shown_name(kind, "My own") == "My own"


def test_labels_keep_the_order_of_the_rows():
    rows = pd.DataFrame({"selector": ["su", "chi", "su", "mdfs"]})
    assert labels_of(rows, "selector") == ["su", "chi", "mdfs"]
    assert labels_of(rows, "selector", ["mdfs", "su"]) == ["mdfs", "su"]
    assert labels_of(rows, "selector", "chi") == ["chi"]
    with pytest.raises(MaucError, match="did you mean 'mdfs'"):
        labels_of(rows, "selector", "mdsf")


def test_rows_of_a_polars_frame_are_the_same():
    pl = pytest.importorskip("polars")
    rows = pd.DataFrame({"selector": ["su", "chi"], "mauc": [0.5, 0.75]})
    pd.testing.assert_frame_equal(rows_of(pl.DataFrame(rows.to_dict("list"))), rows)


def test_mean_mauc_by_hand():
    run = run_rows({"mdfs": [0.25, 0.75, NAN], "su": [0.5, NAN, NAN], "chi": [NAN] * 3})
    table = mean_mauc(run)
    assert list(table) == [*SETTING, "n", "mean", "std"]
    assert table["n"].tolist() == [2, 1, 0]
    np.testing.assert_allclose(table["mean"], [0.5, 0.5, NAN])
    np.testing.assert_allclose(table["std"], [np.sqrt(0.125), NAN, NAN])


def test_mean_mauc_agrees_with_pandas(rows):
    table = mean_mauc(rows).sort_values(SETTING)
    wanted = rows.groupby(SETTING)["mauc"].agg(["count", "mean", "std"])
    np.testing.assert_array_equal(table["n"], wanted["count"])
    np.testing.assert_allclose(table[["mean", "std"]], wanted[["mean", "std"]])


def test_interval_by_hand():
    # 0.4, 0.6, 0.8: mean 0.6, variance 0.04; folds of 10 and 9 test samples, 90 and 91 others
    run = run_rows({"mdfs": [0.4, 0.6, 0.8], "su": [0.5, NAN, NAN]})
    table = mean_interval(run)
    half = t.ppf(0.975, 2) * 0.2 * np.sqrt(1 / 3 + (29 / 3) / (271 / 3))
    np.testing.assert_allclose(table["lower"], [0.6 - half, NAN])
    np.testing.assert_allclose(table["upper"], [0.6 + half, NAN])


def test_a_problem_that_a_selector_lacks_is_left_out():
    run = pd.concat(
        [
            run_rows({"mdfs": [0.5, 0.7], "su": [0.4, 0.6]}, size=10),
            run_rows({"mdfs": [0.9, 0.9], "su": [0.7, 0.7]}, size=20),
            run_rows({"mdfs": [0.9, 0.9], "su": [NAN, NAN]}, size=30),
        ]
    )
    np.testing.assert_allclose(problem_scores(run, "cell"), [[0.6, 0.5], [0.9, 0.7]])
    np.testing.assert_allclose(problem_scores(run), [[0.75, 0.6]])
    with pytest.raises(MaucError, match="problems must be one of 'dataset', 'cell'"):
        problem_scores(run, "size")
