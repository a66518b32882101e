"""What runs in a worker: a task in, the rows of a cell or tuned parameters out."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import MaucError
from mauc.experiments.cell import Combination, run_cell, sizes_of
from mauc.experiments.plan import Cell, DatasetSpec, Plan
from mauc.experiments.rows import Row, rows_to_table, versions
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
    tuned : dict of int to Tuned, optional
    wanted : frozenset of (selector, classifier), optional
        The combinations to run; all by default.
    n_jobs : int, default=1
        Threads.
    """

    plan: Plan
    cell: Cell
    fingerprint: str
    tuned: dict[int, Tuned] | None = None
    wanted: frozenset[Combination] | None = None
    n_jobs: int = 1


def work_on_cell(task: Task) -> "pa.Table":
    """Run a cell; return its rows as an Arrow table."""
    dataset = find_data(task.plan.dataset(task.cell.dataset), task.fingerprint)
    # One BLAS thread whatever the machine: the order of its sums depends on their number.
    with threadpool_limits(1):
        rows = run_cell(
            task.plan, task.cell, dataset, tuned=task.tuned, wanted=task.wanted,
            n_jobs=task.n_jobs,
        )  # fmt: skip
    return rows_to_table(rows)


def work_on_tuning(plan: Plan, name: str, fingerprint: str, n_jobs: int = 1) -> dict[int, Tuned]:
    """Tune the RBF machine of a data set."""
    dataset = find_data(plan.dataset(name), fingerprint)
    with threadpool_limits(1):
        return tune_dataset(plan, name, dataset, n_jobs)


def failed_cell(task: Task, n_features: int, error: str) -> "pa.Table":
    """Return the rows of a cell of which nothing came back."""
    return rows_to_table(
        Row(
            dataset=task.cell.dataset, repeat=task.cell.repeat, fold=task.cell.fold,
            selector=selector.name, classifier=classifier.name, size=size, mauc=np.nan,
            select_seconds=np.nan, fit_seconds=np.nan, score_seconds=np.nan,
            features=np.empty(0, np.int64), status="failed", error=error, n_train=0, n_test=0,
            n_features=n_features, seed=0, versions=versions(),
        )
        for selector in task.plan.selectors
        for classifier in task.plan.classifiers
        if task.wanted is None or (selector.name, classifier.name) in task.wanted
        for size in sizes_of(task.plan, n_features)
    )  # fmt: skip


def find_data(spec: DatasetSpec, fingerprint: str) -> Dataset:
    """Load a data set, once a process, and see that it is the one of the run."""
    try:
        key = (spec.source, spec.target, tuple(sorted(spec.options.items())))
        dataset, got = _load(key)
    except (MaucError, OSError) as error:
        raise WorkerSetupError(f"a worker cannot load {spec.name}: {error}") from error
    if got != fingerprint:
        raise WorkerSetupError(
            f"a worker has other data for {spec.name}: fingerprint {got[:12]}, "
            f"the run's is {fingerprint[:12]}."
        )
    return dataset


@lru_cache(maxsize=4)
def _load(key: tuple[Any, ...]) -> tuple[Dataset, str]:
    source, target, options = key
    dataset = load_dataset(source, target, **dict(options))
    return dataset, dataset.fingerprint()


def start_worker() -> None:
    """Prepare a local worker: the parent alone handles Ctrl-C, and no worker outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_HEARTBEAT)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
