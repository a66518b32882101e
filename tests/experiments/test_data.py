"""The data of runs: thinned by class, given or read once, and mapped by all workers of a host."""

import os
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from scipy import sparse

from mauc import load_run
from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, TuningSpec, parse_plan, plan_to_toml, run_plan
from mauc.experiments import data as data_module
from mauc.experiments.data import (
    WorkerSetupError,
    class_shares,
    find_data,
    load_data,
    map_data,
    thin_rows,
    write_data,
)
from mauc.experiments.parallel import Engine, run_tasks
from tests.helpers.run_tools import (
    NOT_RESULTS,
    assert_same_results,
    make_plan,
    results,
    run_quietly,
)

WINE = load_dataset("wine")  # 59, 71 and 48 rows
# No file and no bundled set has this name: whoever were to read it would fail.
PLAN = make_plan(
    datasets=(DatasetSpec("mine", "nowhere.csv"),),
    classifiers=("nb", "svm"),
    folds=2,
    tuning=TuningSpec(max_samples=50, n_folds=2),
)


def test_classes_keep_their_shares():
    thin = thin_rows(make_plan(max_rows=60), "wine", WINE)
    # 60 / 178 of 59, 71 and 48 is 19.9, 23.9 and 16.2.
    assert list(np.unique(thin.y, return_counts=True)[1]) == [20, 24, 16]
    rows = {tuple(row) for row in WINE.X}
    assert all(tuple(row) in rows for row in thin.X)
    assert thin_rows(make_plan(max_rows=178), "wine", WINE) is WINE


def test_groups_stay_with_their_rows(tmp_path):
    frame = pd.DataFrame(WINE.X[:, :3], columns=list("abc")).assign(
        label=WINE.y, patient=np.arange(178) // 5
    )
    frame.to_csv(tmp_path / "mine.csv", index=False)
    spec = DatasetSpec("mine", str(tmp_path / "mine.csv"), "label", groups="patient")
    plan = make_plan(datasets=(spec,), max_rows=60)
    assert 'groups = "patient"' in plan_to_toml(plan)
    thin = load_data(plan, {}, lambda line: None)["mine"]
    assert (thin.X.shape, thin.feature_names) == ((60, 3), ["a", "b", "c"])
    known = {tuple(row): group for row, group in zip(WINE.X[:, :3], frame["patient"], strict=True)}
    assert [known[tuple(row)] for row in thin.X] == thin.groups.tolist()
    few = replace(WINE, groups=np.arange(178) % 2)
    with pytest.raises(MaucError, match="cannot be split into 3 folds: it has 2 groups"):
        load_data(make_plan(datasets=("wine",)), {"wine": few}, lambda line: None)


def test_the_rows_depend_on_seed_and_name_alone():
    first = thin_rows(make_plan(max_rows=60), "wine", WINE)
    other_plan = make_plan(max_rows=60, selectors=("su",), sizes=(3,), repeats=4)
    assert thin_rows(other_plan, "wine", WINE).fingerprint() == first.fingerprint()
    assert thin_rows(make_plan(max_rows=60), "mine", WINE).fingerprint() != first.fingerprint()
    seeded = thin_rows(make_plan(max_rows=60, seed=1), "wine", WINE)
    assert seeded.fingerprint() != first.fingerprint()


@given(st.lists(st.integers(1, 300), min_size=2, max_size=8), st.integers(10, 200))
def test_shares_add_up_and_small_classes_keep_what_folds_need(counts, n_rows):
    counts = np.array(counts)
    n_rows = min(n_rows, int(counts.sum()))
    shares = class_shares(counts, n_rows, 5)
    assert shares.sum() == n_rows
    assert (shares <= counts).all()
    if n_rows >= 5 * len(counts):
        assert (shares >= np.minimum(counts, 5)).all()


@pytest.mark.processes
def test_workers_have_the_thinned_rows(tmp_path, capsys):
    plan = make_plan(max_rows=90)
    assert parse_plan(plan_to_toml(plan)) == plan
    run_plan(plan, tmp_path / "here", engine="serial", progress="lines", data={"wine": WINE})
    assert "wine: thinned from 178 to 90 rows." in capsys.readouterr().err
    run_plan(plan, tmp_path / "workers", n_jobs=1, progress="quiet")
    table = results(tmp_path / "here")
    assert_same_results(results(tmp_path / "workers"), table)
    totals = {
        a + b for a, b in zip(*(table[k].to_pylist() for k in ("n_train", "n_test")), strict=True)
    }
    assert totals == {90}


X = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.5]])
Y = np.array(["u", "v", "u"])
SETS = {
    "dense": Dataset("dense", X, Y, ["a", "b"]),
    "columns": Dataset("columns", np.asfortranarray(X, np.float32), Y, ["a", "b"]),
    "sparse": Dataset("sparse", sparse.csc_array(np.nan_to_num(X)), Y, ["a", "b"]),
    "zeros": Dataset("zeros", sparse.csc_array((3, 2)), Y, ["a", "b"]),
    "frame": Dataset(
        "frame", pd.DataFrame({"a": pd.Categorical(["x", None, "y"]), "b": X[:, 0]}), Y, ["a", "b"]
    ),
}


def fingerprint_of(path):
    return map_data(path).fingerprint()


@pytest.mark.processes
def test_another_process_maps_the_same_content(tmp_path):
    paths = {name: write_data(dataset, tmp_path) for name, dataset in SETS.items()}
    found = run_tasks(Engine("processes", 1, None), fingerprint_of, paths.values(), print, 1)
    assert dict(found) == {paths[name]: dataset.fingerprint() for name, dataset in SETS.items()}


def test_arrays_are_mapped_read_only_and_in_order(tmp_path):
    found = map_data(write_data(SETS["columns"], tmp_path))
    assert isinstance(found.X.base, np.memmap) or isinstance(found.X, np.memmap)
    assert not found.X.flags.writeable
    assert found.X.flags.f_contiguous
    np.testing.assert_array_equal(found.X, SETS["columns"].X)


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(data_module.joblib, "dump", refuse)
    with pytest.raises(MaucError, match=r"No space left on device\); use a folder with more space"):
        run_plan(make_plan(), tmp_path, n_jobs=2, progress="quiet")


@pytest.fixture
def reads(monkeypatch):
    """The sources that the driver, and workers in this process, have read."""
    found = []

    def load_and_count(source, *arguments, **options):
        found.append(source)
        return load_dataset(source, *arguments, **options)

    monkeypatch.setattr(data_module, "load_dataset", load_and_count)
    data_module._read.clear()
    return found


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """The working directory, and where temporary files go."""
    monkeypatch.chdir(tmp_path)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder") / "run"
    run_plan(PLAN, folder, engine="serial", n_jobs=1, progress="quiet", data={"mine": WINE})
    return load_run(folder)


@pytest.mark.processes
@pytest.mark.parametrize(("engine", "n_jobs"), [("serial", 1), ("processes", 2)])
def test_a_run_without_folder_has_the_same_rows_and_leaves_nothing(
    reads, empty_folder, expected, engine, n_jobs
):
    summary = run_plan(PLAN, engine=engine, n_jobs=n_jobs, progress="quiet", data={"mine": WINE})
    assert (summary.folder, summary.n_run, summary.n_failed) == (None, 2, 0)
    assert str(summary).startswith("in memory: 2 cells, 2 run now")
    got, wanted = (rows.drop(columns=NOT_RESULTS) for rows in (summary.rows, expected))
    assert_frame_equal(got, wanted, check_exact=True)
    assert reads == []
    assert os.listdir(empty_folder) == []


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_a_process_reads_a_data_set_once(reads, tmp_path, is_in_memory):
    folder = None if is_in_memory else tmp_path / "run"
    run_quietly(make_plan(), folder)
    assert reads == ["wine", "iris"]
    for _ in range(2):
        find_data(make_plan(), "wine", WINE.fingerprint())
    assert reads == ["wine", "iris", "wine"]


def test_a_worker_that_reads_other_data_is_not_trusted(tmp_path):
    path = tmp_path / "data.csv"
    lines = ["a,b,label", *(f"{i * 3 % 7},{i * i % 11},{'xyz'[i % 3]}" for i in range(60))]
    plan = make_plan(datasets=(DatasetSpec("mine", str(path), "label"),))
    find = partial(find_data, plan, "mine")
    path.write_text("\n".join(lines))
    first = load_dataset(path, "label").fingerprint()
    assert find(first).fingerprint() == first
    path.write_text("\n".join(lines).replace("6,", "5,"))
    second = load_dataset(path, "label").fingerprint()
    assert find(second).fingerprint() == second
    with pytest.raises(WorkerSetupError, match="a worker has other data for mine: fingerprint"):
        find("0" * 32)
    path.unlink()
    with pytest.raises(WorkerSetupError, match="a worker cannot load mine: "):
        find("1" * 32)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": {"wins": WINE}}, "a name in data .* did you mean 'wine'"),
        ({"data": {"wine": WINE}, "engine": "dask"}, "data= goes with local engines"),
    ],
)
def test_data_that_no_worker_would_get_are_refused(options, message):
    with pytest.raises(MaucError, match=message):
        run_plan(make_plan(datasets=("wine",)), progress="quiet", **options)
