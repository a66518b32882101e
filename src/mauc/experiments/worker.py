"""What runs in a worker: a task in, the rows of a cell or tuned parameters out."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import parent_process
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import MaucError
from mauc.experiments.cell import run_cell
from mauc.experiments.plan import Cell, Combination, DatasetSpec, Plan
from mauc.experiments.rows import rows_to_table
from mauc.experiments.tuning import Tuned, tune_dataset

if TYPE_CHECKING:
    import pyarrow as pa

_HEARTBEAT = 1.0  # seconds between checks that the parent lives
_given: dict[str, Dataset] = {}  # data sets that the driver sent to this worker, by fingerprint


class WorkerSetupError(MaucError):
    """A worker lacks the data of the run, or has others; none of its cells would be right."""


@dataclass(frozen=True)
class Task:
    """A cell to run or, without a cell, a data set to tune.

    It holds all that a worker needs besides the package and the data.

    Parameters
    ----------
    plan : Plan
    dataset : str
    cell : Cell, optional
    wanted : frozenset of (selector, classifier), optional
        The combinations to run; all by default.
    fingerprint : str
        Of the data set; the worker's must be the same.
    n_jobs : int, default=1
        Threads.
    tuned : dict of int to Tuned, or str, optional
        What was tuned for the data set, or why that failed.
    """

    plan: Plan
    dataset: str
    cell: Cell | None = None
    wanted: frozenset[Combination] | None = None
    fingerprint: str = ""
    n_jobs: int = 1
    tuned: dict[int, Tuned] | str | None = None

    def __str__(self) -> str:
        return str(self.cell) if self.cell else f"the tuning of {self.dataset}"


def run_task(task: Task, dataset: Dataset | None = None) -> "pa.Table | dict[int, Tuned]":
    """Run a cell, and return its rows, or tune the SVM of a data set.

    Parameters
    ----------
    task : Task
    dataset : Dataset, optional
        The data, in the process that has them; a worker finds them itself.

    Returns
    -------
    result : pyarrow.Table or dict of int to Tuned
    """
    if dataset is None:
        dataset = find_data(task.plan.dataset(task.dataset), task.fingerprint)
    with _one_blas_thread():
        if task.cell is None:
            return tune_dataset(task.plan, task.dataset, dataset, task.n_jobs)
        rows = run_cell(
            task.plan, task.cell, dataset, tuned=task.tuned, wanted=task.wanted,
            n_jobs=task.n_jobs,
        )  # fmt: skip
    return rows_to_table(rows)


def find_data(spec: DatasetSpec, fingerprint: str) -> Dataset:
    """Return the data set that the worker was given, or read it, once per process."""
    if fingerprint in _given:
        return _given[fingerprint]
    options = json.dumps(spec.options, sort_keys=True)  # a list cannot be hashed
    return _read(spec.name, spec.source, spec.target, options, fingerprint)


@lru_cache(maxsize=4)
def _read(name: str, source: str, target: str | None, options: str, fingerprint: str) -> Dataset:
    try:
        dataset = load_dataset(source, target, **json.loads(options))
    except (MaucError, OSError) as error:
        raise WorkerSetupError(f"a worker cannot load {name}: {error}") from error
    got = dataset.fingerprint()
    if got != fingerprint:
        raise WorkerSetupError(
            f"a worker has other data for {name}: fingerprint {got[:12]}, "
            f"the run's is {fingerprint[:12]}."
        )
    return dataset


_blas_lock = threading.Lock()
_blas_limits: list[threadpool_limits] = []
_n_in_blas = 0


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread whatever the machine: the order of its sums depends on them.

    The limit is one for the process, so of several threads at work (a Dask worker may have them)
    the first sets it and the last restores it.
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


def receive_data(data: Mapping[str, Dataset]) -> bool:
    """Keep data sets, by fingerprint, that this worker need not read; return that it runs."""
    _given.update(data)
    return True
