"""Fits on two Dask workers, one of which is killed in the middle, again and again.

A scheduler and its workers are processes of their own (`dask scheduler`, `dask worker`). In every
round a worker is ended by SIGKILL at a random moment of the fit, and another one is started for the
next round. Results must be equal to the bit to those of this process; how many rounds were is
printed, and at which part of the fit the kills came.
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


def main():
    given = arguments(__doc__, kills=20, rows=100_000, columns=300)
    path = given.folder / f"normal-{given.rows}x{given.columns}-100000-plain.parquet"
    make_parquet(path, given.rows, given.columns, is_plain=True)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        source, y = open_columns(path, target="label", memory="500MB")
        expected = [clone(selector).fit(source, y) for selector in SELECTORS]
        processes = [
            start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                  "--scheduler-file", str(file))
        ]  # fmt: skip
        try:
            while not file.exists():
                time.sleep(0.05)
            with Client(scheduler_file=str(file), set_as_default=False) as client:
                address = client.scheduler.address
                workers = [start_worker(address, folder) for _ in range(2)]
                processes += workers
                client.wait_for_workers(2)
                usual = []
                for selector in SELECTORS:  # also compiles
                    for _ in range(2):
                        begin = time.perf_counter()
                        clone(selector).fit(source, y, client=client)
                    usual.append(time.perf_counter() - begin)
                n_equal = 0
                for kill in range(given.kills):
                    which = kill % len(SELECTORS)
                    delay = float(rng.uniform(0.05, 0.9)) * usual[which]
                    victim = workers.pop(int(rng.integers(2)))
                    timer = threading.Timer(delay, os.kill, (victim.pid, signal.SIGKILL))
                    begin = time.perf_counter()
                    timer.start()
                    found = clone(SELECTORS[which]).fit(source, y, client=client)
                    seconds = time.perf_counter() - begin
                    was_alive = timer.is_alive()
                    timer.cancel()
                    timer.join()
                    if was_alive:
                        victim.send_signal(signal.SIGKILL)
                    victim.wait()
                    is_equal = all(
                        np.array_equal(getattr(found, name), getattr(expected[which], name))
                        for name in ("ranking_", "scores_", "pair_auc_")
                    )
                    n_equal += is_equal and not was_alive
                    print(
                        f"{kill + 1:3d}  {type(found).__name__:<10}  killed at {delay:5.2f} s of "
                        f"{seconds:5.2f} s (usually {usual[which]:.2f} s)  "
                        f"{'same bits' if is_equal else 'OTHER BITS'}"
                        f"{'  (done before the kill)' if was_alive else ''}",
                        flush=True,
                    )
                    workers.append(start_worker(address, folder))
                    processes.append(workers[-1])
                    client.wait_for_workers(2)
                    clone(SELECTORS[0]).fit(source, y, client=client)  # the new one imports
        finally:
            for process in processes:
                process.kill()
                process.wait()
    print(f"{n_equal} of {given.kills} kills in the middle of a fit: same bits")
    sys.exit(n_equal < given.kills)


if __name__ == "__main__":
    main()
