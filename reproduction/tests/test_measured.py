"""A run kept in few files: what comes back is the run."""

import numpy as np
import pandas as pd
import pytest

from mauc.exceptions import IncompleteRunWarning, MaucError
from mauc.experiments import DatasetSpec, MethodSpec, Plan, load_run, run_plan
from reproduction.paper.measured import keep_run, read_packed, restore_run, write_packed


@pytest.fixture(scope="module")
def plan():
    return Plan(
        "kept",
        (DatasetSpec("wine"), DatasetSpec("iris")),
        (MethodSpec("mdfs"), MethodSpec("chi")),
        (MethodSpec("nb"), MethodSpec("svm")),
        sizes=(2, 3),
        repeats=1,
        folds=2,
    )


@pytest.fixture(scope="module")
def run(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "kept"
    run_plan(plan, folder, engine="serial", progress="quiet")
    return folder


def assert_same_rows(got, wanted):
    seconds = ["select_seconds", "fit_seconds", "score_seconds"]
    exact = [name for name in wanted.columns if name not in (*seconds, "features")]
    pd.testing.assert_frame_equal(got[exact], wanted[exact])
    np.testing.assert_allclose(got[seconds], wanted[seconds], atol=1e-5)
    for mine, theirs in zip(got["features"], wanted["features"], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_run_comes_back_and_has_nothing_left_to_do(run, plan, tmp_path):
    keep_run(run, tmp_path / "few")
    names = {path.name for path in (tmp_path / "few").iterdir()}
    assert names == {
        "plan.toml",
        "plan.json",
        "provenance.json",
        "tuning",
        "wine.parquet",
        "iris.parquet",
    }
    restore_run(tmp_path / "few", tmp_path / "back")
    assert_same_rows(load_run(tmp_path / "back"), load_run(run))
    assert run_plan(plan, tmp_path / "back", engine="serial", progress="quiet").n_run == 0


def test_a_run_that_was_stopped_goes_on(run, plan, tmp_path):
    keep_run(run, tmp_path / "few")
    (tmp_path / "few" / "wine.parquet").unlink()
    restore_run(tmp_path / "few", tmp_path / "back")
    with pytest.warns(IncompleteRunWarning, match="2 of 4 cells"):
        load_run(tmp_path / "back")
    assert run_plan(plan, tmp_path / "back", engine="serial", progress="quiet").n_run == 2
    assert_same_rows(
        load_run(tmp_path / "back").query("dataset == 'iris'").reset_index(drop=True),
        load_run(run).query("dataset == 'iris'").reset_index(drop=True),
    )


def test_what_is_kept_is_written_again_only_with_news(run, plan, tmp_path):
    keep_run(run, tmp_path / "few")
    (tmp_path / "few" / "wine.parquet").unlink()
    restore_run(tmp_path / "few", tmp_path / "back")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "few").glob("*.*")}
    keep_run(tmp_path / "back", tmp_path / "few")
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "few").glob("*.*")}
    run_plan(plan, tmp_path / "back", engine="serial", progress="quiet")
    keep_run(tmp_path / "back", tmp_path / "few")
    changed = {path.name for path in (tmp_path / "few").glob("*.*")} - {
        path.name for path, when in before.items() if path.stat().st_mtime_ns == when
    }
    assert changed == {"wine.parquet", "plan.toml", "plan.json", "provenance.json"}


def test_a_run_folder_is_never_replaced(run, tmp_path):
    keep_run(run, tmp_path / "few")
    with pytest.raises(MaucError, match="must not exist yet"):
        restore_run(tmp_path / "few", run)


def test_failed_rows_have_no_features(run, tmp_path):
    rows = load_run(run).query("dataset == 'wine'").reset_index(drop=True)
    failed = rows["selector"] == "chi"
    rows.loc[failed, "features"], rows.loc[failed, "status"] = None, "failed"
    write_packed(rows, tmp_path / "wine.parquet")
    back = read_packed(tmp_path / "wine.parquet")
    assert back.loc[failed, "features"].isna().all()
    assert back.loc[~failed, "features"].map(len).tolist() == rows.loc[~failed, "size"].tolist()


def test_sets_that_are_not_nested_are_refused(run, tmp_path):
    rows = load_run(run).query("dataset == 'wine'").reset_index(drop=True)
    rows.at[0, "features"] = rows.at[0, "features"][::-1]
    with pytest.raises(MaucError, match="must begin its ranking"):
        write_packed(rows, tmp_path / "wine.parquet")
