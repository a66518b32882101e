"""Workers that die or cannot do the work, and schedulers that go away."""

import os
import random
import re
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone

from mauc import MDFS, MRMR, GreedyMAUC
from mauc.cluster import connect
from mauc.exceptions import MaucError
from tests.helpers.cluster_table import assert_same_fit, make_table
from tests.helpers.dask_processes import DaskProcesses, kill
from tests.helpers.file_source import FileSource
from tests.helpers.run_tools import PATIENCE, wait_for

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = make_table(n_features=40)
    path = tmp_path_factory.mktemp("data") / "columns.npy"
    np.save(path, np.ascontiguousarray(X.T))
    return X, y, path


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "reads"
    folder.mkdir()
    return folder


@contextmanager
def signalled_after(n_reads, log, process, number=signal.SIGKILL):
    """Send a signal as soon as workers have read so often."""
    n = len(os.listdir(log)) + n_reads
    killer = threading.Thread(
        target=lambda: (wait_for(lambda: len(os.listdir(log)) >= n), process.send_signal(number))
    )
    killer.start()
    try:
        yield
    finally:
        killer.join()


def test_a_worker_dies_then_the_scheduler(table, log, tmp_path, monkeypatch):
    X, y, path = table
    source = FileSource(path, pause=0.2, log=log, memory=100_000)
    with DaskProcesses(tmp_path) as dask, distributed.Client(dask.address) as client:
        for _ in range(3):
            dask.start_worker()
        client.wait_for_workers(3, timeout=PATIENCE)
        for place, selector in enumerate([MDFS(5, random_state=0), GreedyMAUC(5)]):
            expected = clone(selector).fit(X, y)
            with signalled_after(5, log, dask.workers[place]):
                selector.fit(source, y, client=client)
            wait_for(lambda n_left=2 - place: len(client.nthreads()) == n_left)
            assert_same_fit(selector, expected)
        message = re.escape(f"the Dask scheduler at {dask.address} went away")
        with (
            pytest.raises(MaucError, match=message),
            signalled_after(2, log, dask.scheduler),
        ):
            MDFS(5).fit(source, y, client=dask.address)
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 1)
    with pytest.raises(MaucError, match=f"no Dask scheduler answers at {dask.address} within 1 "):
        MDFS(5).fit(source, y, client=dask.address)


def test_no_worker_is_left(table, log, tmp_path, monkeypatch):
    _, y, path = table
    monkeypatch.setattr(connect, "PATIENCE", 1.0)
    source = FileSource(path, pause=0.2, log=log)
    with DaskProcesses(tmp_path) as dask, distributed.Client(dask.address) as client:
        message = f"{dask.address} has had no workers for 1 seconds; start some"
        with pytest.raises(MaucError, match=message):
            MDFS(5).fit(source, y, client=dask.address)
        worker = dask.start_worker()
        client.wait_for_workers(1, timeout=PATIENCE)
        with pytest.raises(MaucError, match=message), signalled_after(1, log, worker):
            MDFS(5).fit(source, y, client=client)
        assert client.status == "running"  # it was not ours to close


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with DaskProcesses(tmp_path_factory.mktemp("dask")) as dask:
        yield dask


def refusal(scheduler, source, y, **options):
    """Return what a fit says with a worker of some options."""
    worker = scheduler.start_worker(**options)
    with distributed.Client(scheduler.address) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        (address,) = client.nthreads()
        with pytest.raises(MaucError) as raised:
            MDFS(5).fit(source, y, client=client)
        kill(worker)
        wait_for(lambda: not client.nthreads())
    assert str(raised.value).startswith(f"worker {address} ")
    return str(raised.value)


def test_worker_without_the_package(table, scheduler, tmp_path):
    _, y, path = table
    (tmp_path / "mauc.py").write_text("raise ImportError('it is broken here')")
    said = refusal(scheduler, FileSource(path), y, path=[tmp_path])
    assert "cannot run mauc (ImportError('it is broken here')); it needs" in said


def test_worker_with_another_version(table, scheduler, tmp_path):
    _, y, path = table
    folder = tmp_path / "mauc-0.0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mauc\nVersion: 0.0.1\n")
    said = refusal(scheduler, FileSource(path), y, path=[tmp_path])
    assert "has mauc 0.0.1, this process has" in said


def test_worker_without_the_file(table, scheduler, tmp_path, monkeypatch):
    _, y, path = table
    monkeypatch.chdir(path.parent)
    said = refusal(scheduler, FileSource(path.name), y, folder=tmp_path)
    assert "cannot read columns.npy (columns.npy is not there); every worker needs" in said


def test_workers_that_all_are_paused_are_an_error(table, monkeypatch):
    _, y, path = table
    monkeypatch.setattr(connect, "SILENCE", 3.0)
    monkeypatch.setattr(connect, "PATIENCE", 0.2)
    options = {"memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(processes=False, n_workers=1, **options) as client:
        client.run(lambda dask_worker: setattr(dask_worker, "status", distributed.Status.paused))
        (address,) = client.nthreads()
        with pytest.raises(MaucError, match=f"worker {address} is paused and, like all others, "):
            MDFS(5).fit(FileSource(path), y, client=client)


@pytest.mark.slow
def test_a_worker_that_neither_works_nor_ends_is_named(table, log, tmp_path, monkeypatch):
    _, y, path = table
    source = FileSource(path, pause=1.0, log=log, memory=100_000)
    with DaskProcesses(tmp_path) as dask, distributed.Client(dask.address) as client:
        stopped, _ = dask.start_worker(), dask.start_worker()
        client.wait_for_workers(2, timeout=PATIENCE)
        MDFS(5).fit(source, y, client=client)  # what takes long at first is imported
        pids = {pid: address for address, pid in client.run(os.getpid).items()}
        monkeypatch.setattr(connect, "SILENCE", 3.0)
        message = f"worker {pids[stopped.pid]} has not answered for 3 seconds"
        for n_reads in (2, 0):  # the second time it is still there, and asked first
            stop = signalled_after(n_reads, log, stopped, signal.SIGSTOP)
            with pytest.raises(MaucError, match=message), stop:
                MDFS(5).fit(source, y, client=client)


@contextmanager
def three_workers(has_nanny, folder):
    """Give the address of a scheduler and a function that replaces a killed worker."""
    if has_nanny:
        options = {"n_workers": 3, "threads_per_worker": 1, "silence_logs": 50}
        with distributed.LocalCluster(dashboard_address="127.0.0.1:0", **options) as cluster:
            yield cluster.scheduler_address, lambda: cluster.scale(3)
        return
    with DaskProcesses(folder) as dask:
        for _ in range(3):
            dask.start_worker()
        yield dask.address, dask.start_worker


@pytest.mark.slow
@pytest.mark.parametrize("has_nanny", [True, False])
def test_kills_in_a_row(table, tmp_path, has_nanny):
    """MAUC_KILLS fits, in each of which a worker is killed: the same bits or a named worker."""
    X, y, path = table
    source, chance = FileSource(path, pause=0.05, memory=100_000), random.Random(0)
    selectors = [GreedyMAUC(5), MDFS(5, random_state=0), MRMR(5)]
    expected = [clone(selector).fit(X, y) for selector in selectors]
    usual, ends = [1.0] * len(selectors), Counter()
    with (
        ThreadPoolExecutor(1) as pool,
        three_workers(has_nanny, tmp_path) as (address, restore),
        distributed.Client(address) as client,
    ):
        client.wait_for_workers(3, timeout=PATIENCE)
        while ends.total() < int(os.environ.get("MAUC_KILLS", "6")):
            which, pids = chance.randrange(3), client.run(os.getpid, on_error="ignore")
            victim, delay = chance.choice(sorted(pids)), chance.random() * usual[which]
            found, begin = clone(selectors[which]), time.monotonic()
            fit = pool.submit(found.fit, source, y, client=client)
            is_hit = bool(wait([fit], delay).not_done)
            os.kill(pids[victim], signal.SIGKILL)
            error = fit.exception(PATIENCE)  # raises if it hangs
            usual[which] = time.monotonic() - begin if not is_hit else usual[which]
            if error is None:
                assert_same_fit(found, expected[which])
            assert error is None or re.search("(?<!dask )worker tcp://", str(error)), error
            ends["same bits" if error is None else str(error)] += is_hit
            restore()
            client.wait_for_workers(2, timeout=PATIENCE)
    print(dict(ends))
