"""Runs outlive their workers, their driver and Ctrl-C, and leave no process behind."""

import os
import signal
import time

import pytest

from mauc import load_run
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, TuningSpec, parallel, plan_to_toml, run_plan
from mauc.experiments.store import RunFolder
from tests.helpers.run_tools import (
    PATIENCE,
    ROOT,
    assert_same_results,
    crashing,
    end_group,
    group_members,
    make_plan,
    results,
    run_quietly,
    start_driver,
    start_python,
    wait_for,
    workers_of,
)

pytestmark = pytest.mark.processes
posix = pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")


def slow(value):
    """A case that only make test-slow runs."""
    return pytest.param(value, marks=pytest.mark.slow)


def slow_plan(log, seconds=0.3, **changes):
    """Eight cells that take some time, at known moments."""
    slow = crashing("SlowSelector", log=str(log), seconds=seconds)
    return make_plan(selectors=(slow, "mdfs"), classifiers=("nb",), folds=4, **changes)


def n_begun(log):
    return len(log.read_text().split()) if log.exists() else 0


@posix
def test_a_dying_cell_is_tried_again_recorded_and_harms_no_other(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(parallel, "_MAX_DEATHS", 2)  # all tries are in test_engines.py
    plan = make_plan(selectors=("mdfs", crashing("DyingSelector")), folds=2)
    summary = run_plan(plan, tmp_path / "run", n_jobs=2, progress="lines")
    rows = load_run(tmp_path / "run")
    iris, wine = rows[rows.dataset == "iris"], rows[rows.dataset == "wine"]
    assert set(wine.status) == {"ok"}
    assert set(iris.status) == {"failed"}
    (error,) = set(iris.error)
    assert error.startswith("RuntimeError: the worker died four times")
    assert len(iris) == len(wine) == 2 * 2 * 2 * 2
    # What is known of the cell is told all the same.
    assert set(iris.n_train) == {75}
    assert (iris.seed > 0).all()
    assert summary.n_failed == len(iris)
    said = capfd.readouterr().err
    assert said.count("a worker died at iris") == 2
    alone = make_plan(selectors=("mdfs", crashing("DyingSelector")), folds=2, datasets=("wine",))
    run_quietly(alone, tmp_path / "alone")
    expected = load_run(tmp_path / "alone")
    assert wine.mauc.tolist() == expected.mauc.tolist()


@posix
def test_a_worker_that_dies_once_leaves_no_trace(tmp_path):
    mark = tmp_path / "mark"
    dying = crashing("DyingOnceSelector", mark=str(mark))
    # The data are given: the worker that takes its place must get them, too.
    plan = make_plan(datasets=(DatasetSpec("iris", "nowhere.csv"),), selectors=(dying,), folds=2)
    given = {"progress": "quiet", "data": {"iris": load_dataset("iris")}}
    summary = run_plan(plan, tmp_path / "run", n_jobs=1, **given)
    assert mark.exists()
    assert (summary.n_run, summary.n_failed) == (2, 0)
    run_plan(plan, tmp_path / "calm", engine="serial", **given)
    assert_same_results(results(tmp_path / "run"), results(tmp_path / "calm"))


@posix
@pytest.mark.parametrize(
    "target", ["group", "terminated", *(slow(name) for name in ("driver", "group at the start"))]
)
def test_ctrl_c_and_sigterm_end_a_run_promptly_and_quietly(tmp_path, target):
    log, folder = tmp_path / "log", tmp_path / "run"
    is_long = target in ("driver", "terminated")
    plan = slow_plan(log, seconds=10.0 * PATIENCE if is_long else 0.3, datasets=("wine",))
    driver = start_driver(plan, folder)
    try:
        if target == "group at the start":
            wait_for(lambda: workers_of(driver.pid))
            time.sleep(0.3)  # in the midst of their imports
        else:
            wait_for(lambda: n_begun(log) >= 2)
        number = signal.SIGTERM if target == "terminated" else signal.SIGINT
        (os.kill if is_long else os.killpg)(driver.pid, number)
        said = driver.communicate(timeout=PATIENCE)[1]
        if target == "terminated":
            assert driver.returncode == 128 + signal.SIGTERM
            assert "Traceback" not in said, said
        else:
            assert driver.returncode == -signal.SIGINT
            # The one traceback is that of the driver.
            assert said.count("Traceback") == 1, said
            assert said.rstrip().endswith("KeyboardInterrupt"), said
        wait_for(lambda: not group_members(driver.pid), 3.0)
        assert not list(folder.rglob("*.part"))
    finally:
        end_group(driver)


@posix
@pytest.mark.parametrize("is_early", [False, slow(True)], ids=["at work", "at the start"])
def test_a_killed_driver_leaves_no_worker_and_the_next_start_goes_on(tmp_path, is_early):
    log, folder = tmp_path / "log", tmp_path / "run"
    plan = slow_plan(log)
    driver = start_driver(plan, folder)
    try:
        wait_for(lambda: workers_of(driver.pid))
        if not is_early:
            wait_for(lambda: n_begun(log) >= 5)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        # A worker that has yet to begin needs its imports to notice.
        wait_for(lambda: not workers_of(driver.pid), 30.0 if is_early else 3.0)
    finally:
        end_group(driver)
    if is_early:
        return
    n_there = len(list((folder / "cells").rglob("r*.parquet")))
    assert n_there >= 1
    summary = run_quietly(plan, folder)
    assert summary.n_run == 8 - n_there
    run_quietly(plan, tmp_path / "calm")
    assert_same_results(results(folder), results(tmp_path / "calm"))


def test_two_runs_on_one_folder_are_refused(tmp_path):
    plan = make_plan(datasets=("iris",))
    refused = pytest.raises(MaucError, match=f"in use by process {os.getpid()} on .*; wait")
    with RunFolder(tmp_path / "run").locked(), refused:
        run_quietly(plan, tmp_path / "run")
    assert run_quietly(plan, tmp_path / "run").n_run == 3
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"cells", "plan.json", "plan.toml", "provenance.json"}  # no lock is left


@posix
def test_a_lock_left_by_a_killed_process_does_not_block(tmp_path):
    code = (
        "import sys, time; from mauc.experiments.store import RunFolder\n"
        "with RunFolder(sys.argv[1]).locked():\n"
        "    print('locked', flush=True); time.sleep(6000)"
    )
    holder = start_python("-c", code, str(tmp_path / "run"))
    try:
        assert holder.stdout.readline() == "locked\n"
        plan = make_plan(datasets=("iris",))
        with pytest.raises(MaucError, match=f"in use by process {holder.pid}"):
            run_quietly(plan, tmp_path / "run")
    finally:
        end_group(holder)
    assert (tmp_path / "run" / ".owner").exists()
    assert run_quietly(plan, tmp_path / "run").n_run == 3
    assert not (tmp_path / "run" / ".owner").exists()


SCRIPT = """
import sys
from mauc.experiments import DatasetSpec, MethodSpec, Plan, run_plan

plan = Plan("x", (DatasetSpec("iris"),), (MethodSpec("chi"),), (MethodSpec("nb"),), (2,), 1, 3)
print(run_plan(plan, sys.argv[1], engine=sys.argv[2], n_jobs=2))
"""


@posix
@pytest.mark.parametrize("engine", ["processes", slow("dask")])
def test_a_script_needs_no_guard_but_for_dask_which_says_so(tmp_path, engine):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = start_python(str(script), str(tmp_path / "run"), engine)
    try:
        out, said = process.communicate(timeout=PATIENCE)
        if engine == "processes":
            assert "3 cells, 3 run now" in out, said
            return
        assert process.returncode == 1
        last = said.rstrip().splitlines()[-1]
        assert last.startswith("mauc.exceptions.MaucError: "), said
        assert "under `if __name__ == '__main__':`" in last
        # Nothing was recorded that a corrected script would have to undo.
        assert not list((tmp_path / "run").rglob("*.parquet"))
    finally:
        end_group(process)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "proceses"}, "did you mean 'processes'"),
        ({"engine": "serial", "scheduler": "tcp://x:1"}, "a scheduler goes with the engine"),
        ({"n_jobs": 0}, "must be from 1 up, or -1 for all, got 0"),
        ({"n_jobs": -3}, "must be from 1 up, or -1 for all, got -3"),
        ({"progress": "line"}, "did you mean 'lines'"),
    ],
)
def test_a_wrong_option_is_refused_before_the_folder_is_touched(tmp_path, options, message):
    with pytest.raises(MaucError, match=message):
        run_plan(make_plan(), tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_a_plan_is_taken_from_its_file(tmp_path):
    text = (
        '# by hand\ndatasets = ["iris"]\nselectors = ["chi"]\nclassifiers = ["nb"]\n'
        "sizes = [2]\nfolds = 2\nrepeats = 1\n"
    )
    (tmp_path / "mine.toml").write_text(text)
    summary = run_plan(str(tmp_path / "mine.toml"), tmp_path / "run", engine="serial")
    assert (tmp_path / "run" / "plan.toml").read_text() == text
    assert str(summary).startswith(f"{tmp_path / 'run'}: 2 cells, 2 run now in ")
    with pytest.raises(MaucError, match=r"none\.toml cannot be read"):
        run_plan(tmp_path / "none.toml", tmp_path / "other")


@posix
@pytest.mark.slow
def test_many_kills_end_with_the_same_table(tmp_path):
    plan = slow_plan(tmp_path / "log", seconds=0.2)
    (tmp_path / "plan.toml").write_text(plan_to_toml(plan))
    program = str(ROOT / "tests" / "helpers" / "kill_runs.py")
    process = start_python(program, "--kills", "6", "--plan", str(tmp_path / "plan.toml"))
    try:
        out, said = process.communicate(timeout=2 * PATIENCE)
        assert process.returncode == 0, out + said
        assert "6 kills" in out
        assert "all identical" in out
    finally:
        end_group(process)


@posix
@pytest.mark.slow
def test_a_tuning_that_kills_its_worker_costs_its_data_set_alone():
    dying = make_plan(
        datasets=("iris", "wine"),
        selectors=("mdfs", crashing("DyingSelector")),
        classifiers=("nb", "svm"),
        folds=2,
        tuning=TuningSpec(max_samples=50),
    )
    rows = run_plan(dying, n_jobs=2, progress="quiet").rows
    assert set(rows[rows.dataset == "wine"].status) == {"ok"}
    assert set(rows[rows.dataset == "iris"].status) == {"failed"}
