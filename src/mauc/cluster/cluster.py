"""A cluster that a fit runs on: what is shared, how columns are split, who does what."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
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
from mauc.data.problem import Problem
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.memory import format_bytes
from mauc.parallel import even_ranges
from mauc.progress import track

_TASKS_PER_THREAD = 8  # so that no thread waits long for the last one
_MIN_TASK_BYTES, _MAX_TASK_BYTES = 2**25, 2**31
_MAX_RECIPE_BYTES = 2**26  # pickled; a larger source holds its data itself
_FIRST_COLUMNS = 8  # looked at first for two values that differ


@contextlib.contextmanager
def join_cluster(client: Any, X: Any) -> "Iterator[Cluster | None]":
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


def _why_not(X: Any) -> str:
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
        self._job: Any = None  # a future
        with self._named_loss():
            self.n_threads: int = count_worker_threads(client)
            check_workers(client)

    def is_constant(self, problem: Problem) -> bool:
        """Whether no column of a problem has more than one known value."""
        n_first = min(_FIRST_COLUMNS, problem.n_features)
        return all(
            found
            for ranges in ([(0, n_first)], self._split(problem, n_first))
            for _, found in self._map(
                problem, attrgetter("is_constant"), [np.arange(*part) for part in ranges]
            )
        )

    def map_ranges(
        self, problem: Problem, function: Callable[..., Any], *arguments: Any
    ) -> Iterator[tuple[slice, Any]]:
        """Yield ``(range, function(part, *arguments))``, a part being the Problem of a range."""
        ranges = self._split(problem)
        found = self._map(problem, function, [np.arange(*part) for part in ranges], *arguments)
        for number, result in track(found, "ranges of columns", len(ranges)):
            yield slice(*ranges[number]), result

    def map_chosen(
        self, problem: Problem, function: Callable[..., Any], chosen: np.ndarray, *arguments: Any
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield ``(slots, function(part, *arguments))``; slots are indices of `chosen`."""
        order = np.argsort(chosen, kind="stable")  # columns that lie together are read together
        parts = [order[first:last] for first, last in even_ranges(len(chosen), 2 * self.n_threads)]
        found = self._map(problem, function, [chosen[part] for part in parts], *arguments)
        for number, result in found:
            yield parts[number], result

    def _map(
        self, problem: Problem, function: Callable[..., Any], places: Any, *arguments: Any
    ) -> Iterator[tuple[int, Any]]:
        with self._named_loss():
            calls = [(part, function, *arguments) for part in places]
            yield from run_calls(self.client, self.share(problem), run_part, calls)

    def share(self, problem: Problem) -> Any:
        """Return the future of the `Job` of a problem, which all tasks of a fit share."""
        if self._job is None:
            job = Job(problem)
            count_worker_threads(self.client)
            check_source(self.client, job.source)
            self._job = send(self.client, job)
        return self._job

    def close(self) -> None:
        """Let the workers forget the fit."""
        job, self._job = self._job, None
        if job is not None:
            with contextlib.suppress(Exception):  # of a cluster that is gone
                job.release()

    def _split(self, problem: Problem, first: int = 0) -> list[tuple[int, int]]:
        """Cut the columns from `first` on into ranges, of which a thread does several."""
        n_left = problem.n_features - first
        if n_left == 0:
            return []
        columns: Any = problem.columns
        n_bytes = int(columns.source.n_bytes)
        n_parts = min(_TASKS_PER_THREAD * self.n_threads, n_bytes // _MIN_TASK_BYTES)
        n_parts = max(self.n_threads, n_parts, n_bytes // _MAX_TASK_BYTES)
        ranges: list[tuple[int, int]] = even_ranges(n_left, n_parts, first)
        return ranges

    @contextlib.contextmanager
    def _named_loss(self) -> Iterator[None]:
        """Name the scheduler in errors of the connection to it."""
        try:
            yield
        except (OSError, TimeoutError) as error:
            raise scheduler_lost(self.client, error) from error


def run_part(job: Job, places: np.ndarray, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of a Problem on some columns; called on a worker."""
    part = job.part(places)
    result = function(part, *arguments)
    job.keep(part)
    return result
