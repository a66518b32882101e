"""What is still to be done: cells and tunings in, their results out, even if workers die."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from mauc.checks import allow_many_classes
from mauc.datasets import Dataset
from mauc.experiments.cell import run_cell
from mauc.experiments.data import WorkerSetupError, find_data
from mauc.experiments.engines import Engine
from mauc.experiments.plan import Cell, Combination, Plan
from mauc.experiments.rows import error_text, rows_to_table
from mauc.experiments.shared_data import SharedData, map_data
from mauc.experiments.tuning import Tuned, tune_dataset

if TYPE_CHECKING:
    import pyarrow as pa

_POLL = 1.0  # seconds: a cluster may have grown


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
    shared : SharedData, optional
        Where a worker of the same host finds the data.
    """

    plan: Plan
    dataset: str
    cell: Cell | None = None
    wanted: frozenset[Combination] | None = None
    fingerprint: str = ""
    n_jobs: int = 1
    tuned: dict[int, Tuned] | str | None = None
    shared: SharedData | None = None

    def __str__(self) -> str:
        return str(self.cell) if self.cell else f"the tuning of {self.dataset}"


def run_task(task: Task, dataset: Dataset | None = None) -> "pa.Table | dict[int, Tuned]":
    """Return the rows of a cell, or what was tuned for a data set; this runs in a worker.

    The process of the run gives the data themselves; a worker finds them.
    """
    if dataset is None and task.shared is not None:
        with suppress(OSError):  # it may not be allowed to look into another process
            dataset = map_data(task.shared)
    if dataset is None:
        dataset = find_data(task.plan, task.dataset, task.fingerprint)
    # The number of classes was checked, or allowed, when the data were loaded.
    with _one_blas_thread(), allow_many_classes():
        if task.cell is None:
            return tune_dataset(task.plan, task.dataset, dataset, task.n_jobs)
        rows = run_cell(
            task.plan, task.cell, dataset, tuned=task.tuned, wanted=task.wanted,
            n_jobs=task.n_jobs,
        )  # fmt: skip
    return rows_to_table(rows)


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


class TaskQueue:
    """Tunings first, cells as soon as their data set is tuned, and suspects alone at the end.

    A suspect is a task during which a worker died. It is tried once more when nothing else runs: on
    a cluster it is unknown which of a worker's tasks killed it, and memory that was short may then
    suffice.

    Parameters
    ----------
    cells, tunings : iterable of Task
        Cells whose data set is among the tunings wait for it.
    """

    def __init__(self, cells: Iterable[Task], tunings: Iterable[Task]) -> None:
        self._cells, self._tunings = deque(cells), deque(tunings)
        self._untuned = {task.dataset for task in self._tunings}
        self._suspects: deque[Task] = deque()
        self._deaths: Counter[str] = Counter()
        self._is_alone = False

    def __bool__(self) -> bool:
        return bool(self._tunings or self._cells or self._suspects)

    def take(self, n_running: int) -> Task | None:
        """Return the next task that may start beside those that run, or None."""
        if self._is_alone and n_running:
            return None
        self._is_alone = False
        if self._tunings:
            return self._tunings.popleft()
        for _ in range(len(self._cells)):
            task = self._cells.popleft()
            if task.dataset not in self._untuned:
                return task
            self._cells.append(task)
        if self._suspects and not n_running:
            self._is_alone = True
            return self._suspects.popleft()
        return None

    def put_back(self, task: Task) -> None:
        """Take a task back that could not be started."""
        (self._cells if task.cell else self._tunings).appendleft(task)

    def suspect(self, task: Task) -> bool:
        """Record that a worker died during a task; return whether it will be tried again."""
        self._deaths[str(task)] += 1
        if self._deaths[str(task)] > 1:
            return False
        self._suspects.append(task)
        return True

    def tuned(self, dataset: str) -> None:
        """Release the cells of a data set."""
        self._untuned.discard(dataset)


def run_tasks(
    engine: Engine, queue: TaskQueue, submit: Callable[[Task], "Future[Any]"],
    note: Callable[[str], None], n_at_once: int | None = None,
) -> Iterator[tuple[Task, Any, str | None]]:  # fmt: skip
    """Run the tasks of a queue, each started by `submit`, as many at once as an engine takes.

    With `n_at_once` no more than so many, for which there is memory.

    Yields
    ------
    task : Task
    result : object
        None if the task failed.
    error : str or None
        Why it failed.
    """
    running: dict[Future[Any], Task] = {}
    has_waited = False
    while queue or running:
        n_places = engine.n_places if n_at_once is None else min(engine.n_places, n_at_once)
        while len(running) < n_places and (task := queue.take(len(running))):
            running[submit(task)] = task
        if not running:
            if not has_waited:
                note("the cluster has no worker yet; the run waits for one.")
            has_waited = True
            time.sleep(_POLL)
            continue
        done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
        for future in done:
            task = running.pop(future)
            if engine.is_unstarted(future):
                queue.put_back(task)
                continue
            is_death, error = engine.is_death(future), future.exception()
            if isinstance(error, WorkerSetupError):
                raise error
            if is_death and queue.suspect(task):
                note(f"a worker died at {task}; it is tried once more, alone.")
                continue
            if is_death:
                error = RuntimeError("the worker died twice")
            if error is None:
                yield task, future.result(), None
            else:
                yield task, None, error_text(error)
            if task.cell is None:
                queue.tuned(task.dataset)
