"""What runs in a worker: a task in, the rows of a cell or tuned parameters out."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import parent_process
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import MaucError
from mauc.experiments.cell import Combination, run_cell
from mauc.experiments.plan import Cell, DatasetSpec, Plan
from mauc.experiments.rows import blank_row, rows_to_table
from mauc.experiments.seeds import seed_of, split_rows
from mauc.experiments.selecting import sizes_of
from mauc.experiments.tuning import Tuned, tune_dataset

if TYPE_CHECKING:
    import pyarrow as pa

_HEARTBEAT = 1.0  # seconds between looks at the parent


class WorkerSetupError(MaucError):
    """A worker lacks the data of the run, or has others; no cell can be trusted to it."""


@dataclass(frozen=True)
class Task:
    """A cell to run, with all that a worker needs besides the package and the data.

    Parameters
    ----------
    plan : Plan
    cell : Cell
    fingerprint : str
        Of the data set; the worker's must be the same.
    tuned : dict of int to Tuned, or str, optional
        What was tuned for the data set, or why that failed.
    wanted : frozenset of (selector, classifier), optional
        The combinations to run; all by default.
    n_jobs : int, default=1
        Threads.
    """

    plan: Plan
    cell: Cell
    fingerprint: str
    tuned: dict[int, Tuned] | str | None = None
    wanted: frozenset[Combination] | None = None
    n_jobs: int = 1


def work_on_cell(task: Task) -> "pa.Table":
    """Run a cell; return its rows as an Arrow table."""
    dataset = find_data(task.plan.dataset(task.cell.dataset), task.fingerprint)
    with _one_blas_thread():
        rows = run_cell(
            task.plan, task.cell, dataset, tuned=task.tuned, wanted=task.wanted,
            n_jobs=task.n_jobs,
        )  # fmt: skip
    return rows_to_table(rows)


def work_on_tuning(plan: Plan, name: str, fingerprint: str, n_jobs: int = 1) -> dict[int, Tuned]:
    """Tune the RBF machine of a data set."""
    dataset = find_data(plan.dataset(name), fingerprint)
    with _one_blas_thread():
        return tune_dataset(plan, name, dataset, n_jobs)


_blas_lock = threading.Lock()
_blas_limits: list[threadpool_limits] = []
_n_in_blas = 0


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread whatever the machine: the order of its sums depends on them.

    The limit is one for the process, so of several threads at work (a Dask worker may have them)
    the first sets it and the last takes it back.
    """
    global _n_in_blas
    with _blas_lock:
        _n_in_blas += 1
        if _n_in_blas == 1:
            _blas_limits.append(threadpool_limits(1))
    try:
        yield
    finally:
        with _blas_lock:
            _n_in_blas -= 1
            if _n_in_blas == 0:
                _blas_limits.pop().restore_original_limits()


def failed_cell(task: Task, y: np.ndarray, n_features: int, error: str) -> "pa.Table":
    """Return the rows of a cell of which nothing came back; `y` are all labels."""
    plan, cell = task.plan, task.cell
    split_seed = seed_of(plan.seed, cell.dataset, cell.repeat)
    train, test = split_rows(y, plan.folds, split_seed, cell.fold)
    blank = blank_row(cell, len(train), len(test), n_features)
    return rows_to_table(
        replace(
            blank,
            selector=selector.name,
            classifier=classifier.name,
            size=size,
            error=error,
            seed=seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, selector.name),
        )
        for selector in plan.selectors
        for classifier in plan.classifiers
        if task.wanted is None or (selector.name, classifier.name) in task.wanted
        for size in sizes_of(plan, n_features)
    )


def find_data(spec: DatasetSpec, fingerprint: str) -> Dataset:
    """Load a data set, once a process, and see that it is the one of the run."""
    try:
        options = json.dumps(spec.options, sort_keys=True)  # lists have no hash
        dataset, got = _load(spec.source, spec.target, options)
    except (MaucError, OSError) as error:
        raise WorkerSetupError(f"a worker cannot load {spec.name}: {error}") from error
    if got != fingerprint:
        raise WorkerSetupError(
            f"a worker has other data for {spec.name}: fingerprint {got[:12]}, "
            f"the run's is {fingerprint[:12]}."
        )
    return dataset


@lru_cache(maxsize=4)
def _load(source: str, target: str | None, options: str) -> tuple[Dataset, str]:
    dataset = load_dataset(source, target, **json.loads(options))
    return dataset, dataset.fingerprint()


def start_worker() -> None:
    """Prepare a local worker: the parent alone handles Ctrl-C, and no worker outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()

    def watch() -> None:
        # The parent may have died while this process began, so its id comes from itself.
        while parent is not None and parent.is_alive() and os.getppid() == parent.pid:
            time.sleep(_HEARTBEAT)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def is_ready() -> bool:
    """Return True: a worker that can say so has begun."""
    return True
