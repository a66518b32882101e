"""MDFS on a Dask cluster with one worker and with two: processes of one thread each.

Every worker first fits a few columns, so that nothing is imported or compiled in the timed fits.
Both clusters take turns; the medians and their ratio are printed, and whether the ratio reaches the
bar. A worker of one thread reads ahead on another: with `--pinned 1` each worker has one core and
no more. Results must be equal to the bit.
"""

import os
import statistics
import time
from contextlib import ExitStack

import numpy as np
from _scale import arguments, make_parquet
from distributed import Client, LocalCluster

from mauc import MDFS, open_columns

BAR = 1.7


def start(n_workers):
    """Return a cluster of local workers of one thread each, and its client."""
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        memory_limit="4GB",
    )
    return cluster, Client(cluster, set_as_default=False)


def main():
    given = arguments(__doc__, rows=1_000_000, columns=400, memory="1GB", turns=3, pinned=0)
    path = given.folder / f"normal-{given.rows}x{given.columns}-100000-plain.parquet"
    make_parquet(path, given.rows, given.columns, is_plain=True)
    cores = sorted(os.sched_getaffinity(0))
    print(f"{given.rows:,} rows x {given.columns} float32 columns; {len(cores)} cores")
    with ExitStack() as stack:
        source, y = open_columns(path, target="label", memory=given.memory)
        selector = MDFS(50, random_state=0)
        seconds, found = {1: [], 2: []}, {}
        clients = {}
        for n_workers in seconds:
            cluster, client = start(n_workers)
            stack.enter_context(cluster)
            clients[n_workers] = stack.enter_context(client)
            if given.pinned:
                for place, address in enumerate(client.nthreads()):
                    client.run(os.sched_setaffinity, 0, {cores[place]}, workers=[address])
            MDFS(4).fit(source.take(slice(0, 8 * n_workers)), y, client=client)
        for _ in range(given.turns):
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
