"""A cluster that a fit runs on: what is shared, how columns are split, who does what."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from mauc.cluster.connect import (
    active_client,
    check_source,
    check_workers,
    connected,
    count_worker_threads,
    scheduler_lost,
)
from mauc.cluster.tasks import Job, run_calls, send
from mauc.data.arguments import Client
from mauc.data.columns import Columns, is_constant
from mauc.data.problem import Problem
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.memory import format_bytes
from mauc.parallel import Work, even_ranges
from mauc.progress import track

_TASKS_PER_THREAD = 8  # so that no thread waits long for the last one
_MIN_TASK_BYTES, _MAX_TASK_BYTES = 2**25, 2**31
_MAX_RECIPE_BYTES = 2**26  # pickled; a larger source holds its data itself
_FIRST_COLUMNS = 8  # looked at first for two values that differ


@contextlib.contextmanager
def join_cluster(client: Client, X: object) -> "Iterator[Cluster | None]":
    """Give the cluster that a fit on X runs on, or None; a Dask collection has an active one."""
    wanted = client
    if client is not None:
        optional_import("distributed", "fits on a Dask cluster")
    elif isinstance(X, ColumnSource) and "distributed" in sys.modules:
        from mauc.io.dask import is_dask

        client = active_client() if is_dask(X) else None
    why = "" if client is None else _why_not(X)
    if client is None or (wanted is None and why):
        yield None
        return
    if why:
        raise MaucError(
            f"X must be a source of columns that every worker can read for client=, got {why}; "
            f"write the data to storage that the workers share and open them with "
            f"mauc.open_columns, or fit without client."
        )
    with connected(client) as made:
        cluster = Cluster(made)
        try:
            yield cluster
        finally:
            cluster.close()


def _why_not(X: object) -> str:
    """Say why workers cannot read X themselves, or nothing if they can."""
    if not isinstance(X, ColumnSource):
        return f"data in memory ({type(X).__name__})"
    from distributed.protocol.pickle import dumps

    from mauc.io.dask import holds_futures

    if holds_futures(X):
        return f"{X.name} whose parts lie on workers already (persist)"
    n_bytes = len(dumps(X))
    if n_bytes > _MAX_RECIPE_BYTES:
        return f"{X.name}, which holds its data itself ({format_bytes(n_bytes)})"
    return ""


class Cluster:
    """The workers of a Dask cluster during a fit: they get a `Job` once, and tasks are columns."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._jobs: dict[Columns, Any] = {}  # futures: rows of weight 0 are left out on the way
        with self._named_loss():
            self.n_threads: int = count_worker_threads(client)
            check_workers(client)

    def is_constant(self, problem: Problem) -> bool:
        """Whether no column of a problem has more than one known value."""
        first = np.arange(min(_FIRST_COLUMNS, problem.n_features))
        return not any(
            varies
            for columns in (first, None)
            for _, varies in problem.map(any_varies, columns=columns, reduce=first_true)
        )

    def map(
        self, problem: Problem, work: Work, n_jobs: int | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield what `Problem.map` does; workers read and measure, and their arrays come back."""
        chosen = np.arange(problem.n_features) if work.columns is None else work.columns
        places = self._places(problem, work.columns)
        numbers = [chosen[place] for place in places]
        shapes = [(array.shape[1:], array.dtype) for array in work.out]
        found = self._map(problem, work._replace(columns=None, out=()), numbers, shapes)
        if work.columns is None:
            found = track(found, "ranges of columns", len(places))
        waiting, n_yielded = dict[int, Any](), 0
        for number, (pairs, parts) in found:
            for array, part in zip(work.out, parts, strict=True):
                array[places[number]] = part
            problem.workspace.release()
            waiting[number] = pairs
            while n_yielded in waiting:
                for block, result in waiting.pop(n_yielded):
                    yield _part_of(places[n_yielded], block), result
                n_yielded += 1

    def _map(
        self, problem: Problem, work: Work, numbers: list[np.ndarray], shapes: list[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number of every task and its result as it is done."""
        with self._named_loss():
            calls = [(columns, work, shapes) for columns in numbers]
            yield from run_calls(self.client, self.share(problem), run_part, calls)

    def share(self, problem: Problem) -> Any:
        """Return the future of the `Job` of a problem, which all tasks on its columns share."""
        columns = problem.columns
        if columns not in self._jobs:
            job = Job(problem)
            count_worker_threads(self.client)
            check_source(self.client, job.source)
            self._jobs[columns] = send(self.client, job)
        return self._jobs[columns]

    def close(self) -> None:
        """Let the workers forget the fit."""
        while self._jobs:
            with contextlib.suppress(Exception):  # of a cluster that is gone
                self._jobs.popitem()[1].release()

    def _places(self, problem: Problem, chosen: np.ndarray | None) -> list[Any]:
        """Return the columns of every task: slices of all, or positions in those chosen."""
        if chosen is None:
            return [slice(*part) for part in self._split(problem)]
        order = np.argsort(chosen, kind="stable")  # columns that lie together are read together
        n_parts = 2 * self.n_threads
        return [order[first:last] for first, last in even_ranges(len(chosen), n_parts)]

    def _split(self, problem: Problem) -> list[tuple[int, int]]:
        """Cut the columns into ranges, of which a thread does several."""
        columns: Any = problem.columns
        n_bytes = int(columns.source.n_bytes)
        n_parts = min(_TASKS_PER_THREAD * self.n_threads, n_bytes // _MIN_TASK_BYTES)
        n_parts = max(self.n_threads, n_parts, n_bytes // _MAX_TASK_BYTES)
        ranges: list[tuple[int, int]] = even_ranges(problem.n_features, n_parts)
        return ranges

    @contextlib.contextmanager
    def _named_loss(self) -> Iterator[None]:
        """Name the scheduler in errors of the connection to it."""
        try:
            yield
        except (OSError, TimeoutError) as error:
            raise scheduler_lost(self.client, error) from error


def run_part(
    job: Job, numbers: np.ndarray, work: Work, shapes: list[Any]
) -> tuple[list[tuple[Any, Any]], list[np.ndarray]]:
    """Do work on some columns; return the pairs of `Problem.map` and the arrays it filled in."""
    part = job.part(numbers)
    out = [part.workspace.array((len(numbers), *shape), kind) for shape, kind in shapes]
    for array in out:
        array.fill(0)
    pairs = list(part.columns.map(part, work._replace(out=tuple(out))))
    job.keep(part)
    return pairs, out


def any_varies(problem: Problem, block: slice) -> bool:
    """Whether a column of a block has more than one known value."""
    return not all(is_constant(problem.columns.column(j)) for j in range(block.start, block.stop))


def first_true(pairs: Iterator[tuple[object, bool]]) -> bool:
    """Whether a result is true; the blocks after it are not read."""
    return any(result for _, result in pairs)


def _part_of(place: Any, block: slice) -> Any:
    """Return the place of a block among all columns, or those chosen, from that of its range."""
    if isinstance(place, slice):
        return slice(place.start + block.start, place.start + block.stop)
    return place[block]
