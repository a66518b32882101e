"""Data sets in shared memory: the same content in every process, and no copy left behind."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mauc.datasets import Dataset, load_dataset
from mauc.experiments import run_plan, shared_data
from mauc.experiments.engines import ProcessEngine
from mauc.experiments.shared_data import SharedData, map_data, share_data
from mauc.experiments.tasks import Task, run_task
from tests.helpers.run_tools import assert_same_results, make_plan, results

pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="needs files without names, as Linux has them"
)

X = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.5]])
Y = np.array(["u", "v", "u"])
SETS = {
    "dense": Dataset("dense", X, Y, ["a", "b"]),
    "columns": Dataset("columns", np.asfortranarray(X, np.float32), Y, ["a", "b"]),
    "sparse": Dataset("sparse", sparse.csc_array(np.nan_to_num(X)), Y, ["a", "b"]),
    "frame": Dataset(
        "frame", pd.DataFrame({"a": pd.Categorical(["x", None, "y"]), "b": X[:, 0]}), Y, ["a", "b"]
    ),
}


def fingerprint_of(shared):
    return map_data(shared).fingerprint()


@pytest.mark.parametrize("name", SETS)
def test_another_process_finds_the_same_content(name):
    engine = ProcessEngine(1)
    try:
        with share_data({name: SETS[name]}) as shared:
            future = engine.submit(fingerprint_of, shared[name])
            assert future.result() == SETS[name].fingerprint()
    finally:
        engine.close()
    with pytest.raises(OSError):
        os.fstat(shared[name].descriptor)


def test_arrays_are_read_only_and_in_order():
    with share_data({"columns": SETS["columns"]}) as shared:
        found = map_data(shared["columns"])
        assert not found.X.flags.writeable
        assert found.X.flags.f_contiguous
        assert type(found.X) is np.ndarray
        np.testing.assert_array_equal(found.X, SETS["columns"].X)


@pytest.mark.parametrize("how", ["no such files", "no memory"])
def test_without_shared_memory_workers_read_or_are_sent_the_data(tmp_path, monkeypatch, how):
    plan = make_plan(datasets=("wine", "iris"), selectors=("maucd",), folds=2)
    run_plan(plan, tmp_path / "shared", n_jobs=2, progress="quiet")
    if how == "no such files":
        monkeypatch.delattr(os, "memfd_create")
    else:

        def refuse(*arguments):
            raise OSError("no memory")

        monkeypatch.setattr(shared_data, "_write", refuse)
    with share_data(SETS) as shared:
        assert shared == {}
    given = {"wine": load_dataset("wine")}  # iris is read
    run_plan(plan, tmp_path / "sent", n_jobs=2, progress="quiet", data=given)
    assert_same_results(results(tmp_path / "sent"), results(tmp_path / "shared"))


def test_what_cannot_be_opened_is_read():
    dataset = load_dataset("wine")
    gone = SharedData(os.getpid(), 10**6, ((0, 1),), "gone")
    plan = make_plan(datasets=("wine",))
    cell = plan.cells()[0]
    task = Task(plan, "wine", cell, fingerprint=dataset.fingerprint(), shared=gone)
    assert run_task(task).num_rows == run_task(replace(task, shared=None)).num_rows
