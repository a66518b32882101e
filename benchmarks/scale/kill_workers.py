"""Fits on two Dask workers, one of which is killed in the middle, again and again.

A scheduler and its workers are processes of their own (`dask scheduler`, `dask worker`). In every
round a worker is ended by SIGKILL at a random moment of the fit, and another one is started for the
next round; a round whose fit was done before is repeated. Results must be equal to the bit to those
of this process.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from _scale import arguments, make_parquet
from distributed import Client
from sklearn.base import clone

from mauc import MDFS, MRMR, GreedyMAUC, open_columns

SELECTORS = (MDFS(20, random_state=0), GreedyMAUC(20), MRMR(20))


def start(command, *arguments):
    """Start a Dask process."""
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{command}", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def start_worker(address, folder):
    """Start a worker of one thread that nobody replaces."""
    return start(
        "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit",
        "3GB", "--local-directory", folder,
    )  # fmt: skip


def fit_and_kill(selector, source, y, client, worker, delay):
    """Fit while a worker is killed; return the fitted selector, its seconds, whether it was hit."""
    timer = threading.Timer(delay, os.kill, (worker.pid, signal.SIGKILL))
    begin = time.perf_counter()
    timer.start()
    found = clone(selector).fit(source, y, client=client)
    seconds = time.perf_counter() - begin
    timer.cancel()
    timer.join()
    return found, seconds, delay < seconds


def usual_seconds(selector, source, y, client):
    """Return how long a fit takes; the first one imports and compiles."""
    clone(selector).fit(source, y, client=client)
    begin = time.perf_counter()
    clone(selector).fit(source, y, client=client)
    return time.perf_counter() - begin


def kill_often(client, folder, source, y, n_kills, workers):
    """Kill a worker in the middle of `n_kills` fits; return how many gave the same bits."""
    address = client.scheduler.address
    expected = [clone(selector).fit(source, y) for selector in SELECTORS]
    workers += [start_worker(address, folder) for _ in range(2)]
    client.wait_for_workers(2)
    usual = [usual_seconds(selector, source, y, client) for selector in SELECTORS]
    rng = np.random.default_rng(0)
    n_equal = n_done = 0
    while n_done < n_kills:
        which = n_done % len(SELECTORS)
        worker = workers[-1 - int(rng.integers(2))]
        delay = float(rng.uniform(0.05, 0.9)) * usual[which]
        found, seconds, was_hit = fit_and_kill(SELECTORS[which], source, y, client, worker, delay)
        if not was_hit and worker.poll() is None:
            usual[which] = seconds
            continue
        n_done += 1
        is_equal = all(
            np.array_equal(getattr(found, name), getattr(expected[which], name))
            for name in ("ranking_", "scores_", "pair_auc_")
        )
        n_equal += is_equal
        print(
            f"{n_done:3d}  {type(found).__name__:<10}  killed after {delay:5.2f} s of "
            f"{seconds:5.2f} s (undisturbed {usual[which]:.2f} s)  "
            f"{'same bits' if is_equal else 'OTHER BITS'}",
            flush=True,
        )
        worker.wait()
        workers.remove(worker)
        workers.append(start_worker(address, folder))
        client.wait_for_workers(2)
        clone(SELECTORS[0]).fit(source, y, client=client)  # the new one imports
    return n_equal


def main():
    given = arguments(__doc__, kills=20, rows=100_000, columns=300)
    path = given.folder / f"normal-{given.rows}x{given.columns}-100000-plain.parquet"
    make_parquet(path, given.rows, given.columns, is_plain=True)
    source, y = open_columns(path, target="label", memory="500MB")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        scheduler = start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(file),
        )  # fmt: skip
        workers = []
        try:
            while not file.exists():
                time.sleep(0.05)
            with Client(scheduler_file=str(file), set_as_default=False) as client:
                n_equal = kill_often(client, folder, source, y, given.kills, workers)
        finally:
            for process in [*workers, scheduler]:
                process.kill()
                process.wait()
    print(f"{n_equal} of {given.kills} fits with a worker killed in the middle: same bits")
    sys.exit(n_equal < given.kills)


if __name__ == "__main__":
    main()
