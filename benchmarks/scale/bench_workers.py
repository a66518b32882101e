"""MDFS on a Dask cluster with one worker and with two: processes of one thread each.

    python benchmarks/scale/bench_workers.py --gigabytes 2

A Parquet file of float32 columns is made in a temporary folder (--folder). Every worker first fits a
small part, so that nothing is imported or compiled in the timed fits. Both clusters take turns; the
medians and their ratio are printed, and whether the ratio reaches the bar. Results must be equal
to the bit.
"""

import argparse
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from _data import write_parquet
from distributed import Client, LocalCluster

from mauc import MDFS, open_columns

BAR = 1.7


def start(n_workers, folder):
    """Return a cluster of local workers of one thread each, and its client."""
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit="4GB", local_directory=folder,
    )  # fmt: skip
    return cluster, Client(cluster, set_as_default=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--folder", help="where the file is made; it is deleted in the end")
    options = parser.parse_args()
    n_rows = int(options.gigabytes * 1e9 / 4 / options.columns)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder))
        path = Path(folder) / "columns.parquet"
        write_parquet(path, n_rows, options.columns, options.classes)
        print(f"{n_rows:,} rows x {options.columns} float32 columns, {options.classes} classes")
        source, y = open_columns(path, target="label", memory=options.memory)
        selector = MDFS(50, random_state=0)
        seconds, found = {1: [], 2: []}, {}
        clients = {}
        for n_workers in seconds:
            cluster, client = start(n_workers, folder)
            stack.enter_context(cluster)
            clients[n_workers] = stack.enter_context(client)
            MDFS(4).fit(source.take(slice(0, 8 * n_workers)), y, client=client)
        for _ in range(options.turns):
            for n_workers, client in clients.items():
                begin = time.perf_counter()
                selector.fit(source, y, client=client)
                seconds[n_workers].append(time.perf_counter() - begin)
                found.setdefault("ranking", selector.ranking_)
                found.setdefault("scores", selector.scores_)
                np.testing.assert_array_equal(selector.ranking_, found["ranking"])
                np.testing.assert_array_equal(selector.scores_, found["scores"])
    for n_workers, times in seconds.items():
        listed = ", ".join(f"{one:.1f}" for one in times)
        print(f"{n_workers} worker(s): {statistics.median(times):7.1f} s  ({listed})")
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[2])
    print(f"2 workers against 1: {ratio:.2f} x; bar {BAR} x: {'met' if ratio >= BAR else 'MISSED'}")


if __name__ == "__main__":
    main()
