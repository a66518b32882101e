"""Every engine gives the same bits; a cluster that is not there is said to be so."""

import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial

import pytest
from distributed import LocalCluster
from joblib import cpu_count

from mauc import load_run
from mauc.exceptions import MaucError
from mauc.experiments import TuningSpec, parallel, plan_to_toml, run_plan
from mauc.experiments.parallel import Engine, run_tasks
from tests.helpers.run_tools import (
    PATIENCE,
    ROOT,
    assert_same_results,
    crashing,
    end_group,
    make_plan,
    results,
    run_quietly,
    start_python,
    wait_for,
)

pytestmark = [pytest.mark.long, pytest.mark.processes]

PLAN = make_plan(
    classifiers=("nb", "c45", "1nn", "svm"), folds=2, tuning=TuningSpec(max_samples=60, n_folds=2)
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial") / "run"
    run_plan(PLAN, folder, engine="serial", n_jobs=1, progress="quiet")
    return results(folder)


@pytest.fixture(scope="module")
def cluster():
    """A cluster in this process whose one worker has two threads."""
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.mark.parametrize(("engine", "n_jobs"), [("serial", 2), ("processes", 2), ("dask", 2)])
def test_every_engine_and_number_of_workers_gives_the_same_bits(tmp_path, expected, engine, n_jobs):
    summary = run_plan(PLAN, tmp_path / "run", engine=engine, n_jobs=n_jobs, progress="quiet")
    assert (summary.n_run, summary.n_failed) == (4, 0)
    assert_same_results(results(tmp_path / "run"), expected)


def test_a_cluster_that_is_there_gives_the_same_bits_from_its_threads(tmp_path, expected, cluster):
    address = cluster.scheduler_address
    summary = run_plan(PLAN, tmp_path, engine="dask", scheduler=address, progress="quiet")
    assert (summary.n_run, summary.n_failed) == (4, 0)
    assert_same_results(results(tmp_path), expected)
    # It was not ours to close.
    assert cluster.status.name == "running"


def test_a_scheduler_that_does_not_answer_is_named(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(MaucError, match=f"no Dask scheduler answers at {address} within 10 "):
        run_plan(make_plan(), tmp_path, engine="dask", scheduler=address, progress="quiet")
    # The folder can be used by another engine at once.
    run_quietly(make_plan(), tmp_path)


@pytest.mark.slow
def test_a_cell_that_dies_on_dask_is_recorded_and_harms_no_other(tmp_path):
    plan = make_plan(selectors=("mdfs", crashing("DyingSelector")), folds=2)
    summary = run_plan(plan, tmp_path, engine="dask", n_jobs=2, progress="quiet")
    rows = load_run(tmp_path)
    assert set(rows[rows.dataset == "wine"].status) == {"ok"}
    (error,) = set(rows[rows.dataset == "iris"].error)
    assert error == "RuntimeError: the worker died four times, three times with this cell alone"
    assert summary.n_run == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lost", "message"),
    [("scheduler", "Dask scheduler is gone"), ("worker", "has had no workers for 10 seconds")],
)
def test_a_cluster_of_other_processes_serves_and_its_loss_is_told(
    tmp_path, expected, lost, message
):
    from tests.helpers.dask_processes import DaskProcesses, kill

    slow = crashing("SlowSelector", log=str(tmp_path / "log"), seconds=10.0 * PATIENCE)
    (tmp_path / "slow.toml").write_text(plan_to_toml(make_plan(selectors=(slow,))))
    code = (
        "import sys; from mauc.experiments import run_plan;"
        "run_plan(sys.argv[1], sys.argv[2], engine='dask', scheduler=sys.argv[3])"
    )
    with DaskProcesses(tmp_path) as dask:
        worker = dask.start_worker()
        run_plan(PLAN, tmp_path / "run", engine="dask", scheduler=dask.address, progress="quiet")
        assert_same_results(results(tmp_path / "run"), expected)
        words = (str(tmp_path / "slow.toml"), str(tmp_path / "lost"), dask.address)
        driver = start_python("-c", code, *words)
        try:
            wait_for((tmp_path / "log").exists)
            kill(worker if lost == "worker" else dask.scheduler)
            said = driver.communicate(timeout=PATIENCE)[1]
        finally:
            end_group(driver)
    assert message in said.rstrip().splitlines()[-1], said


def die_at(task):
    """Kill the worker at one task, so many times; note who is at work meanwhile."""
    number, n_deaths, folder = task
    (folder / f"at {number}").touch()

    def beside():
        return " ".join(path.name for path in folder.glob("at *") if path.name != "at 2")

    deaths = list(folder.glob("death*"))
    if number > 2:  # so that others are under way at the first death
        wait_for(lambda: any(folder.glob("death*")))
    if number == 2 and len(deaths) < n_deaths:
        if not deaths:
            wait_for(beside)
        (folder / f"death {time.monotonic()}").write_text(beside())
        (folder / "at 2").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / f"at {number}").unlink()
    return 10 * number


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")
@pytest.mark.parametrize("n_deaths", [1, 3, 4])
def test_a_death_costs_another_try_and_a_task_is_lost_only_if_it_dies_alone(tmp_path, n_deaths):
    tasks = [(number, n_deaths, tmp_path) for number in range(6)]
    said = []
    engine = Engine("processes", 2, None)
    found = {task[0]: result for task, result in run_tasks(engine, die_at, tasks, said.append, 2)}
    engine.close()
    lost = found.pop(2)
    assert found == {number: 10 * number for number in (0, 1, 3, 4, 5)}
    # No other task was disturbed, and each further try was alone.
    assert len(said) == min(n_deaths, 3)
    assert all("(2, " in line for line in said)
    first, *others = [path.read_text() for path in sorted(tmp_path.glob("death*"))]
    assert first
    assert others == [""] * (n_deaths - 1)
    if n_deaths < 4:
        assert lost == 20
    else:
        assert str(lost).endswith("the worker died four times, three times with this cell alone")


@pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")
def test_workers_that_cannot_start_are_an_error_and_no_lost_task(monkeypatch):
    monkeypatch.setattr(parallel, "_end_with", partial(os._exit, 3))
    engine = Engine("processes", 1, None)
    with pytest.raises(MaucError, match="workers ended 10 times before they could work"):
        list(run_tasks(engine, print, [1], print, 1))
    engine.close()


def test_engines_count_workers_and_threads():
    assert Engine("processes", -1, None).n_workers == cpu_count()
    assert Engine("processes", 1, None).n_threads == cpu_count()
    assert (Engine("serial", 3, None).n_workers, Engine("serial", 3, None).n_threads) == (1, 3)


def test_importing_experiments_imports_no_dask():
    code = (
        "import sys, mauc.experiments; print({'dask', 'distributed', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() in ("set()", "{'pyarrow'}")  # scikit-learn may bring pandas
