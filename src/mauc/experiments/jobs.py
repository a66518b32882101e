"""What is still to be done, in which order: cells and tunings in, the next job out."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from mauc.experiments.cell import Combination
from mauc.experiments.plan import Cell


@dataclass(frozen=True)
class Job:
    """A cell to run or, without a cell, a data set to tune.

    Parameters
    ----------
    dataset : str
    cell : Cell, optional
    wanted : frozenset of (selector, classifier), optional
        The combinations to run; all by default.
    """

    dataset: str
    cell: Cell | None = None
    wanted: frozenset[Combination] | None = None

    def __str__(self) -> str:
        return str(self.cell) if self.cell else f"the tuning of {self.dataset}"


class JobQueue:
    """Tunings first, cells as soon as their data set is tuned, and suspects alone at the end.

    A suspect is a job at which a worker died. It is tried once more when nothing else runs: of a
    cluster worker that dies, nobody knows which of its tasks killed it, and memory that was
    short may then suffice.

    Parameters
    ----------
    cells : iterable of Job
    to_tune : iterable of str
        Data sets whose cells must wait for their tuning.
    """

    def __init__(self, cells: Iterable[Job], to_tune: Iterable[str]) -> None:
        self._waiting = set(to_tune)
        self._tunings = deque(Job(name) for name in to_tune)
        self._cells = deque(cells)
        self._suspects: deque[Job] = deque()
        self._deaths: Counter[Job] = Counter()
        self._is_alone = False

    def __bool__(self) -> bool:
        return bool(self._tunings or self._cells or self._suspects)

    def take(self, n_running: int) -> Job | None:
        """Return the next job that may start beside those that run, or None."""
        if self._is_alone and n_running:
            return None
        self._is_alone = False
        if self._tunings:
            return self._tunings.popleft()
        for _ in range(len(self._cells)):
            job = self._cells.popleft()
            if job.dataset not in self._waiting:
                return job
            self._cells.append(job)
        if self._suspects and not n_running:
            self._is_alone = True
            return self._suspects.popleft()
        return None

    def put_back(self, job: Job) -> None:
        """Take a job back that could not be started."""
        (self._cells if job.cell else self._tunings).appendleft(job)

    def suspect(self, job: Job) -> bool:
        """Take note that a worker died at a job; return whether it will be tried again."""
        self._deaths[job] += 1
        if self._deaths[job] > 1:
            return False
        self._suspects.append(job)
        return True

    def tuned(self, dataset: str) -> None:
        """Let the cells of a data set go."""
        self._waiting.discard(dataset)
