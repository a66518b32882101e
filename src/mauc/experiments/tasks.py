"""What is still to be done: cells and tunings in, their results out, whatever workers die."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from mauc.experiments.engines import Engine
from mauc.experiments.rows import error_text
from mauc.experiments.worker import Task, WorkerSetupError

_POLL = 1.0  # seconds: a cluster may have grown


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
    note: Callable[[str], None],
) -> Iterator[tuple[Task, Any, str | None]]:  # fmt: skip
    """Run the tasks of a queue, as many at once as an engine takes.

    Parameters
    ----------
    engine : Engine
    queue : TaskQueue
    submit : callable
        Starts a task on the engine.
    note : callable
        Takes messages for the user.

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
        while len(running) < engine.n_places and (task := queue.take(len(running))):
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
