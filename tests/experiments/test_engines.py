"""Every engine gives the same bits; a cluster that is not there is said to be so."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from joblib import cpu_count

from mauc import load_run
from mauc.exceptions import MaucError
from mauc.experiments import TuningSpec, plan_to_toml, run_plan
from mauc.experiments.parallel import Engine, run_tasks
from tests.helpers.run_tools import (
    ROOT,
    assert_same_results,
    crashing,
    end_group,
    make_plan,
    results,
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
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.mark.parametrize(("engine", "n_jobs"), [("serial", 2), ("processes", 2), ("dask", 2)])
def test_every_engine_and_number_of_workers_gives_the_same_bits(tmp_path, expected, engine, n_jobs):
    if engine == "dask":
        pytest.importorskip("distributed")
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


def test_a_failing_combination_on_a_cluster_is_a_row(tmp_path, cluster):
    plan = make_plan(datasets=("iris",), selectors=("chi", crashing("RaisingSelector")))
    address = cluster.scheduler_address
    summary = run_plan(plan, tmp_path, engine="dask", scheduler=address, progress="quiet")
    rows = load_run(tmp_path)
    assert summary.n_failed == len(rows) // 2
    assert set(rows[rows.selector == "chi"].status) == {"ok"}


@pytest.mark.parametrize("address", ["closed", "nonsense", "tcp://"])
def test_a_scheduler_that_does_not_answer_is_named_soon(tmp_path, address):
    pytest.importorskip("distributed")
    if address == "closed":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    begin = time.monotonic()
    with pytest.raises(MaucError, match=f"no Dask scheduler answers at {address} within 10 "):
        run_plan(make_plan(), tmp_path, engine="dask", scheduler=address, progress="quiet")
    assert time.monotonic() - begin < 20
    # The folder can be used by another engine at once.
    run_plan(make_plan(), tmp_path, engine="serial", progress="quiet")


@pytest.mark.slow
def test_a_cell_that_dies_on_dask_is_recorded_and_harms_no_other(tmp_path):
    pytest.importorskip("distributed")
    plan = make_plan(selectors=("mdfs", crashing("DyingSelector")), folds=2)
    summary = run_plan(plan, tmp_path, engine="dask", n_jobs=2, progress="quiet")
    rows = load_run(tmp_path)
    assert set(rows[rows.dataset == "wine"].status) == {"ok"}
    (error,) = set(rows[rows.dataset == "iris"].error)
    assert error.startswith("RuntimeError: the worker died four times")
    assert summary.n_run == 4


@pytest.mark.slow
def test_a_scheduler_in_another_process_serves_and_its_loss_is_told(tmp_path, expected):
    pytest.importorskip("distributed")
    address_file = tmp_path / "scheduler.json"
    tools = [
        start_python("-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
                     "--host", "127.0.0.1", "--scheduler-file", str(address_file))
    ]  # fmt: skip
    try:
        wait_for(address_file.exists)
        address = json.loads(address_file.read_text())["address"]
        tools.append(
            start_python("-m", "distributed.cli.dask_worker", address, "--nthreads", "2",
                         "--no-dashboard", "--local-directory", str(tmp_path))
        )  # fmt: skip
        run_plan(PLAN, tmp_path / "run", engine="dask", scheduler=address, progress="quiet")
        assert_same_results(results(tmp_path / "run"), expected)
        slow = crashing("SlowSelector", log=str(tmp_path / "log"), seconds=30.0)
        code = (
            "import sys; from mauc.experiments import run_plan;"
            "run_plan(sys.argv[1], sys.argv[2], engine='dask', scheduler=sys.argv[3])"
        )
        plan = tmp_path / "slow.toml"
        plan.write_text(plan_to_toml(make_plan(selectors=(slow,))))
        driver = start_python("-c", code, str(plan), str(tmp_path / "lost"), address)
        tools.append(driver)
        wait_for((tmp_path / "log").exists)
        end_group(tools[0])
        said = driver.communicate(timeout=120)[1]
        assert "MaucError: the Dask scheduler is gone" in said.rstrip().splitlines()[-1], said
    finally:
        for process in tools:
            end_group(process)


def die_at(task):
    """Kill the worker at one task, always or until a file is there."""
    number, victim, mark = task
    if number == victim and (mark is None or not os.path.exists(mark)):
        if mark is not None:
            open(mark, "x").close()
        time.sleep(0.2)  # others are under way
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * number


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")
@pytest.mark.parametrize("is_once", [True, False])
def test_a_death_costs_another_try_and_one_cause_one_task(tmp_path, is_once):
    tasks = [(number, 2, str(tmp_path / "mark") if is_once else None) for number in range(6)]
    said = []
    engine = Engine("processes", 2, None)
    found = {task[0]: result for task, result in run_tasks(engine, die_at, tasks, said.append, 2)}
    lost = found.pop(2)
    assert found == {number: 10 * number for number in (0, 1, 3, 4, 5)}
    assert len([line for line in said if "(2, 2" in line]) == (1 if is_once else 3)
    if is_once:
        assert lost == 20
    else:
        assert "the worker died four times" in str(lost)


def test_engines_count_workers_and_threads():
    assert Engine("processes", -1, None).n_workers == cpu_count()
    assert Engine("processes", 1, None).n_threads == cpu_count()
    assert (Engine("serial", 3, None).n_workers, Engine("serial", 3, None).n_threads) == (1, 3)
    assert Engine("dask", None, "tcp://host:8786").n_at_once(2) > 10**6


def test_importing_experiments_imports_no_dask():
    code = (
        "import sys, mauc.experiments; print({'dask', 'distributed', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() in ("set()", "{'pyarrow'}")  # scikit-learn may bring pandas
