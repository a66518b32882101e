"""States of greedy searches on workers: one per range of columns, brought along step by step.

A worker measures the columns of its range once and keeps what it found, its *state*, in the `Job`
that it holds. A step adds one chosen column to all states, its *record*, and each answers with its
best candidate. The record is made by the worker that has the column and goes from worker to worker;
this process gets the answers alone.

A state is only a memory of what could be computed again: a worker that has none of the range, or
one of another step, says so and is given all records. So the death of a worker costs time, never a
bit.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

import numpy as np

from mauc.cluster.cluster import Cluster
from mauc.cluster.job import Job
from mauc.cluster.tasks import Call, LostJob, run_guarded, send
from mauc.data.problem import Problem
from mauc.exceptions import MaucError
from mauc.parallel import even_ranges

_numbers = count()


class State(Protocol):
    """What is known of a range of columns, given the records added so far."""

    def column(self, place: int) -> Any:
        """Return what other states need to know of a column if it is chosen."""

    def add(self, column: int, place: int, content: Any, details: Any) -> None:
        """Add a chosen column.

        Parameters
        ----------
        column : int
            Its number.
        place : int
            Its place in the range, or -1 if it is not there.
        content : object
            From `column` of the state that has it.
        details : object
            What this process found out about the step.
        """


class NoState:
    """The answer of a worker that needs all records."""


class RangeStates:
    """The states of all columns of a problem, on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
    problem : Problem
    build : callable
        ``build(part, first, *arguments) -> State``, on a worker: of a range of columns, given as a
        Problem of them alone, and the number of the first.
    *arguments
        Of `build`.
    """

    def __init__(
        self, cluster: Cluster, problem: Problem, build: Callable[..., State], *arguments: Any
    ) -> None:
        self.ranges = even_ranges(problem.n_features, cluster.n_threads)
        self._cluster, self._problem = cluster, problem
        self._recipe = Recipe(f"states-{next(_numbers)}", build, arguments)
        self._shared: Any = None  # the future of the recipe, and that of the Job it was sent with
        self._chosen: list[tuple[int, Any]] = []  # columns and details
        self._records: list[Any] = []  # their futures
        self._turn = 0
        self._workers: list[str | None] = [None] * len(self.ranges)

    def add(self, column: int, details: Any = None) -> None:
        """Add a chosen column to all states, at the next `ask`."""
        self._chosen.append((int(column), details))

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Return ``state.method(*arguments)`` of all ranges, in their order."""
        self._turn += 1
        answers: dict[int, Any] = {}
        is_whole = dict.fromkeys(range(len(self.ranges)), False)
        while len(answers) < len(self.ranges):
            left = [number for number in is_whole if number not in answers]
            try:
                with self._cluster.named_loss():
                    self._make_records()
                    calls = [self._call(number, is_whole[number], method, arguments)
                             for number in left]  # fmt: skip
                for place, (worker, answer) in self._cluster.run(self._problem, calls):
                    number = left[place]
                    self._workers[number] = worker
                    if isinstance(answer, NoState):
                        is_whole[number] = True
                    else:
                        answers[number] = answer
            except LostJob:
                self._cluster.forget()
                self._records = []
        return [answers[number] for number in range(len(self.ranges))]

    def _call(self, number: int, is_whole: bool, method: str, arguments: tuple[Any, ...]) -> Call:
        step = len(self._records)
        records = self._records if is_whole else self._records[-1:]
        question = (self._turn, method, arguments)
        return Call(
            ask_state,
            (self._share()[1], self.ranges[number], step, is_whole, records, *question),
            self._workers[number],
        )

    def _make_records(self) -> None:
        """Have the records made that are not there yet."""
        while len(self._records) < len(self._chosen):
            self._records.append(self._make_record(*self._chosen[len(self._records)]))

    def _make_record(self, column: int, details: Any) -> Any:
        owner = int(np.searchsorted([last for _, last in self.ranges], column, "right"))
        place = {}
        if self._workers[owner] is not None:
            place = {"workers": [self._workers[owner]], "allow_other_workers": True}
        job, recipe = self._share()
        return self._cluster.client.submit(
            run_guarded, job, make_record, recipe, self.ranges[owner], column, details,
            pure=False, retries=2, **place,
        )  # fmt: skip

    def _share(self) -> tuple[Any, Any]:
        """Return the futures of the Job and of the recipe; both are sent to all workers once."""
        job = self._cluster.share(self._problem)
        if self._shared is None or self._shared[0] is not job:
            self._shared = job, send(self._cluster.client, self._recipe)
        return self._shared  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Recipe:
    """How states are built."""

    name: str
    build: Callable[..., State]
    arguments: tuple[Any, ...]


class _Held:
    """A state on a worker."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.state: Any = None
        self.step = 0
        self.last: Any = None  # the last question and its answer


def _held(job: Job, recipe: Recipe, first: int) -> _Held:
    with job.lock:
        return job.states.setdefault((recipe.name, first), _Held())  # type: ignore[no-any-return]


def ask_state(
    job: Job, recipe: Recipe, bounds: tuple[int, int], step: int, is_whole: bool,
    records: list[Any], turn: int, method: str, arguments: tuple[Any, ...],
) -> tuple[str, Any]:  # fmt: skip
    """Bring a state to a step and ask it; called on a worker.

    Parameters
    ----------
    job : Job
    recipe : Recipe
    bounds : (int, int)
        The range of columns.
    step : int
        Records that the state must hold.
    is_whole : bool
        Whether `records` are all, or the last alone.
    records : list
        From `make_record`.
    turn : int
        Number of the question: the same may be asked twice.
    method, arguments
        As in `RangeStates.ask`.

    Returns
    -------
    worker : str
    answer : object
        `NoState` if the records are not enough.
    """
    from distributed import get_worker

    address = str(get_worker().address)
    held = _held(job, recipe, bounds[0])
    with held.lock:
        n_missing = step - held.step
        if held.state is None or not 0 <= n_missing <= len(records):
            if step > 0 and not is_whole:
                return address, NoState()
            part = job.part(np.arange(*bounds))
            held.state = recipe.build(part, bounds[0], *recipe.arguments)
            held.step, held.last = 0, None
            job.keep(part)
            n_missing = step
        try:
            for record in records[len(records) - n_missing :]:
                column, content, details = _opened(record)
                place = column - bounds[0] if bounds[0] <= column < bounds[1] else -1
                held.state.add(column, place, content, details)
                held.step += 1
            if held.last is None or held.last[0] != turn:
                held.last = (turn, getattr(held.state, method)(*arguments))
        except BaseException:
            held.state = None  # it may have been changed by half
            raise
        return address, held.last[1]


def make_record(
    job: Job, recipe: Recipe, bounds: tuple[int, int], column: int, details: Any
) -> tuple[int, Any, Any]:
    """Return a chosen column with its content and details; called on a worker."""
    held = _held(job, recipe, bounds[0])
    with held.lock:
        if held.state is not None:
            return column, held.state.column(column - bounds[0]), details
    state = recipe.build(job.part(np.array([column])), column, *recipe.arguments)
    return column, state.column(0), details


def _opened(record: Any) -> tuple[int, Any, Any]:
    if isinstance(record, tuple) and hasattr(record, "error"):
        raise MaucError(str(record.error))
    return record  # type: ignore[no-any-return]
