"""Workers that die or cannot do the work, and schedulers that go away."""

import threading
import time

import numpy as np
import pytest
from dask_processes import DaskProcesses, kill, wait_for
from file_source import FileSource
from sklearn.base import clone
from test_cluster import assert_same_fit, make_table

from mauc import MDFS, MRMR, GreedyMAUC
from mauc.cluster import probe
from mauc.exceptions import MaucError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = make_table(n_features=40)
    path = tmp_path_factory.mktemp("data") / "columns.npy"
    np.save(path, np.ascontiguousarray(X.T))
    return X, y, path


class Reads:
    """Counts the files that workers leave in a folder when they read."""

    def __init__(self, folder):
        self._folder = folder
        self._folder.mkdir()

    def __call__(self):
        return len(list(self._folder.iterdir()))


def test_worker_killed_in_the_middle(table, tmp_path):
    X, y, path = table
    reads = Reads(tmp_path / "reads")
    source = FileSource(path, pause=0.2, log=tmp_path / "reads", memory=100_000)
    selectors = MDFS(5, random_state=0), MRMR(5), GreedyMAUC(5)
    with DaskProcesses(tmp_path) as dask, distributed.Client(dask.address) as client:
        dask.start_worker()

        for selector in selectors:
            expected = clone(selector).fit(X, y)
            worker = dask.start_worker()
            client.wait_for_workers(2, timeout=60)
            n_wanted = reads() + 4  # both work then

            def kill_one(worker=worker, n_wanted=n_wanted):
                wait_for(lambda: reads() >= n_wanted)
                kill(worker)

            killer = threading.Thread(target=kill_one)
            killer.start()
            selector.fit(source, y, client=client)
            killer.join()
            assert len(client.nthreads()) == 1
            assert_same_fit(selector, expected)


def test_no_worker_is_left_and_then_no_scheduler(table, tmp_path, monkeypatch):
    _, y, path = table
    monkeypatch.setattr(probe, "PATIENCE", 1.0)
    reads = Reads(tmp_path / "reads")
    source = FileSource(path, pause=0.5, log=tmp_path / "reads")
    with DaskProcesses(tmp_path) as dask:
        dask.start_worker()

        def fit_and_kill(process):
            n_before = reads()
            killer = threading.Thread(
                target=lambda: (wait_for(lambda: reads() > n_before), kill(process))
            )
            killer.start()
            begin = time.monotonic()
            try:
                MDFS(5).fit(source, y, client=dask.address)
            finally:
                killer.join()
                assert time.monotonic() - begin < 20

        with distributed.Client(dask.address) as client:
            client.wait_for_workers(1, timeout=60)
        with pytest.raises(MaucError, match=f"{dask.address} has had no workers for 1 second"):
            fit_and_kill(dask.workers[0])
        with pytest.raises(MaucError, match=f"{dask.address} has had no workers for 1 seconds"):
            MDFS(5).fit(source, y, client=dask.address)
        dask.start_worker()
        with distributed.Client(dask.address) as client:
            client.wait_for_workers(1, timeout=60)
        with pytest.raises(MaucError, match=f"scheduler at {dask.address} went away"):
            fit_and_kill(dask.scheduler)
    with pytest.raises(MaucError, match=f"no Dask scheduler answers at {dask.address} within"):
        MDFS(5).fit(source, y, client=dask.address)
