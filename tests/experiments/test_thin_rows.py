"""Plans with max_rows: fewer rows, by class, the same for every plan, engine and worker."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mauc.datasets import load_dataset
from mauc.experiments import parse_plan, plan_to_toml, run_plan
from mauc.experiments.data import class_shares, thin_rows
from tests.helpers.run_tools import assert_same_results, make_plan, results

WINE = load_dataset("wine")  # 59, 71 and 48 rows


def test_classes_keep_their_shares():
    thin = thin_rows(make_plan(max_rows=60), "wine", WINE)
    # 60 / 178 of 59, 71 and 48 is 19.9, 23.9 and 16.2.
    assert list(np.unique(thin.y, return_counts=True)[1]) == [20, 24, 16]
    rows = {tuple(row) for row in WINE.X}
    assert all(tuple(row) in rows for row in thin.X)


def test_the_rows_depend_on_seed_and_name_alone():
    first = thin_rows(make_plan(max_rows=60), "wine", WINE)
    other_plan = make_plan(max_rows=60, selectors=("su",), sizes=(3,), repeats=4)
    assert thin_rows(other_plan, "wine", WINE).fingerprint() == first.fingerprint()
    assert thin_rows(make_plan(max_rows=60), "mine", WINE).fingerprint() != first.fingerprint()
    seeded = thin_rows(make_plan(max_rows=60, seed=1), "wine", WINE)
    assert seeded.fingerprint() != first.fingerprint()


def test_small_data_stay_as_they_are():
    assert thin_rows(make_plan(max_rows=178), "wine", WINE) is WINE
    assert thin_rows(make_plan(), "wine", WINE) is WINE


@given(st.lists(st.integers(1, 300), min_size=2, max_size=8), st.integers(10, 200))
def test_shares_add_up_and_small_classes_keep_what_folds_need(counts, n_rows):
    counts = np.array(counts)
    n_rows = min(n_rows, int(counts.sum()))
    shares = class_shares(counts, n_rows, 5)
    assert shares.sum() == n_rows
    assert (shares <= counts).all()
    if n_rows >= 5 * len(counts):
        assert (shares >= np.minimum(counts, 5)).all()


@pytest.mark.parametrize("reads", [False, True])
def test_workers_that_share_or_read_the_data_have_the_same_rows(tmp_path, monkeypatch, reads):
    plan = make_plan(max_rows=90)
    assert parse_plan(plan_to_toml(plan)) == plan
    if reads:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    run_plan(plan, tmp_path / "here", engine="serial", progress="quiet")
    run_plan(plan, tmp_path / "workers", n_jobs=1, progress="quiet")
    table = results(tmp_path / "here")
    assert_same_results(results(tmp_path / "workers"), table)
    totals = {
        a + b for a, b in zip(*(table[k].to_pylist() for k in ("n_train", "n_test")), strict=True)
    }
    assert totals == {90}


def test_given_data_are_thinned_too(monkeypatch, capsys):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    plan = make_plan(datasets=("wine",), selectors=("su",), classifiers=("nb",), max_rows=60)
    rows = run_plan(plan, n_jobs=1, progress="lines", data={"wine": WINE}).rows
    assert set(rows.n_train + rows.n_test) == {60}
    assert (rows.status == "ok").all()
    assert "wine: thinned from 178 to 60 rows." in capsys.readouterr().err
