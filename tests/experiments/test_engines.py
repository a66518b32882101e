"""Every engine gives the same bits; a cluster that is not there is said to be so."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest
from joblib import cpu_count

from mauc import load_run
from mauc.exceptions import MaucError
from mauc.experiments import TuningSpec, plan_to_toml, run_plan
from mauc.experiments.engines import Engine, ProcessEngine, start_engine
from tests.helpers.run_tools import (
    ROOT,
    assert_same_results,
    crashing,
    end_group,
    make_plan,
    results,
    start_driver,
    start_python,
    wait_for,
)

pytestmark = pytest.mark.long

PLAN = make_plan(
    classifiers=("nb", "c45", "1nn", "svm"), folds=2, tuning=TuningSpec(max_samples=60, n_folds=2)
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial") / "run"
    run_plan(PLAN, folder, engine="serial", n_jobs=1, progress="quiet")
    return results(folder)


@pytest.fixture
def cluster():
    """A cluster in this process whose one worker has two threads."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("engine", "n_jobs"), [("serial", 2), ("processes", 1), ("processes", 2), ("dask", 2)]
)
def test_every_engine_and_number_of_workers_gives_the_same_bits(tmp_path, expected, engine, n_jobs):
    if engine == "dask":
        pytest.importorskip("distributed")
    summary = run_plan(PLAN, tmp_path / "run", engine=engine, n_jobs=n_jobs, progress="quiet")
    assert (summary.n_run, summary.n_failed) == (4, 0)
    assert_same_results(results(tmp_path / "run"), expected)


def test_a_cluster_that_is_there_gives_the_same_bits_from_its_threads(tmp_path, expected, cluster):
    address = cluster.scheduler_address
    summary = run_plan(
        PLAN, tmp_path / "run", engine="dask", scheduler=address, progress="quiet"
    )  # fmt: skip
    assert (summary.n_run, summary.n_failed) == (4, 0)
    assert_same_results(results(tmp_path / "run"), expected)
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
    with pytest.raises(MaucError, match=f"no Dask scheduler answers at {address}: "):
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
    assert set(rows[rows.dataset == "iris"].error) == {"RuntimeError: the worker died twice"}
    assert summary.n_run == 4


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_workers_with_an_empty_cache_compile_no_kernel_twice(tmp_path, monkeypatch, engine):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")  # says what is saved
    plan = make_plan(datasets=("wine",), selectors=("fisher", "fast"), folds=4)
    driver = start_driver(plan, tmp_path / "run", engine=engine, n_jobs=2)
    try:
        said = driver.communicate(timeout=300)[0]
    finally:
        end_group(driver)
    saved = [line for line in said.splitlines() if "data saved to" in line]
    assert len(saved) == len(set(saved)) > 10


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


def test_engines_are_made_by_name():
    assert type(start_engine("serial")) is Engine
    engine = start_engine("processes", -1)
    assert isinstance(engine, ProcessEngine)
    assert engine.n_places == cpu_count() >= 1
    engine.close()


@pytest.mark.skipif(os.name != "posix", reason="kills a process as POSIX does")
def test_an_idle_worker_that_was_killed_is_replaced():
    engine = ProcessEngine(1)
    try:
        first = engine.submit(os.getpid).result()
        os.kill(first, 9)
        future = engine.submit(os.getpid)
        # The pool may or may not have noticed yet; a task that it took first is a death.
        if future.exception() is not None:
            assert engine.is_death(future)
            assert not engine.is_unstarted(future)
            future = engine.submit(os.getpid)
        assert future.result() != first
        failing = engine.submit(int, "x")
        assert isinstance(failing.exception(), ValueError)
        assert not engine.is_death(failing)
    finally:
        engine.close()


def test_importing_experiments_imports_no_dask():
    code = (
        "import sys, mauc.experiments; print({'dask', 'distributed', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() in ("set()", "{'pyarrow'}")  # scikit-learn may bring pandas
