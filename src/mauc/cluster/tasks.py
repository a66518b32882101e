"""Run tasks on a cluster: calls in, results out as they are done, whoever dies meanwhile.

What a dead worker held or has not returned is computed again elsewhere, by Dask. Tasks are
therefore functions of their arguments. What is left to do here is to notice that nobody will answer
any more, and to say so.
"""

import contextlib
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import cached_property
from typing import Any

import numpy as np

from mauc.cluster import connect
from mauc.cluster.connect import address_of, check_workers, scheduler_lost
from mauc.data.columns import default_names
from mauc.data.problem import Problem
from mauc.data.streaming import SourceColumns
from mauc.exceptions import MaucError, NotEnoughMemoryError, first_line
from mauc.memory import format_bytes

_POLL = 0.5  # seconds between looks at the cluster while nothing is done
_RESULT_SECONDS = 30.0  # that a result may be on its way before the cluster is looked at again
_UNDER_WAY = ("pending", "lost")
_AT_WORK = ("executing", "long-running", "flight")  # states of tasks on a worker
_RETRIES = 2  # of a task whose worker could not read
# What a Problem computes of the labels alone: once per worker, not once per range of columns.
_OF_LABELS = (
    "class_weights",
    "row_weights",
    "auc_weights",
    "max_wins",
    "row_counts",
    "by_class",
)
_MEMORY_SHARE = 2  # half of what a worker may use is for columns being read and sorted


class Job:
    """The source and the labels of a fit on a `Problem`, sent to every worker once."""

    def __init__(self, problem: Problem) -> None:
        columns = problem.columns
        assert isinstance(columns, SourceColumns)
        self.source: Any = columns.source
        self.accept_infinite: bool = columns.accept_infinite
        self.is_nominal: np.ndarray = problem.is_nominal
        self.class_counts: np.ndarray = problem.class_counts
        self.sample_weight: np.ndarray | None = problem.sample_weight
        self.missing: str = problem.missing
        self.pair_shares: np.ndarray | None = problem.pair_shares
        # In the narrowest type: with many rows codes are all that is moved.
        self._sent_codes = problem.codes.astype(np.min_scalar_type(problem.n_classes - 1))
        self._of_labels: dict[str, Any] = {}  # what parts on this worker computed of them

    @cached_property
    def _codes(self) -> np.ndarray:
        return self._sent_codes.astype(np.int32)

    def part(self, numbers: np.ndarray) -> Problem:
        """Return the problem of some columns, as a worker solves it."""
        source = self.source.take(numbers).with_memory(self._memory())
        if source.feature_names is None:  # errors must not count from the first of the part
            source.feature_names = np.array(default_names(numbers), dtype=object)
        # Tasks fill all threads of a worker: where reading takes a core, it takes that of the task.
        columns = SourceColumns(
            source,
            self.is_nominal[numbers],
            accept_infinite=self.accept_infinite,
            reads_ahead=source.waits,
        )
        part = Problem(
            columns,
            self._codes,
            np.arange(len(self.class_counts)),
            self.class_counts,
            columns.is_nominal,
            self.sample_weight,
            source.feature_names,
            missing=self.missing,
            pair_shares=self.pair_shares,
        )
        part.__dict__.update(self._of_labels)
        return part

    def keep(self, part: Problem) -> None:
        """Keep what a part computed of the labels alone."""
        self._of_labels.update(
            (name, part.__dict__[name]) for name in _OF_LABELS if name in part.__dict__
        )

    def memory_words(self) -> str:
        """Say how the memory of a task of this worker comes about."""
        limit, n_threads = _worker_limits()
        words = f"memory={format_bytes(self.source.memory)} of the source"
        if limit:
            words += f", but at most half of the {format_bytes(limit)} of the worker"
        return (
            f" A task there may take {format_bytes(self._memory())}: {words}, shared by its "
            f"threads ({n_threads})."
        )

    def _memory(self) -> int:
        """Return the bytes that one task of this process may take."""
        limit, n_threads = _worker_limits()
        memory = int(self.source.memory)
        if limit:
            memory = min(memory, limit // _MEMORY_SHARE)
        return memory // n_threads

    def __getstate__(self) -> dict[str, Any]:
        # Without what this worker computed: others do so sooner than it is sent.
        own = {name: value for name, value in vars(self).items() if name != "_codes"}
        return {**own, "_of_labels": {}}


def _worker_limits() -> tuple[int, int]:
    """Return the bytes that this worker may use, 0 if there is no limit, and its threads."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return 0, 1
    return int(worker.memory_manager.memory_limit or 0), int(worker.state.nthreads)


class ReadError(Exception):
    """A worker could not read; it may have been the moment."""


def send(client: Any, job: Job) -> Any:
    """Return the future of a Job as the result of a task, which Dask computes again where lost."""
    import dask

    # What is scattered would be lost with its worker, and all tasks that need it be forgotten.
    # With many rows the labels are large; the scheduler passes them on once.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_hold, job, pure=False)


def _hold(job: Job) -> Job:
    return job


def run_calls(
    client: Any, job: Any, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """Yield ``(number, function(job, *call))`` of every call as it is done; cancel the rest."""
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting: dict[Any, int] = {}
    try:
        for number, call in enumerate(calls):
            future = client.submit(
                run_guarded, job, function, *call, pure=False, retries=_RETRIES, key=None
            )
            waiting[future] = number
            future.add_done_callback(done.put)
        watch = _Watch(client)
        while waiting:
            try:
                ready = [done.get(timeout=_POLL)]
            except queue.Empty:
                watch.check()
                # What was done, was lost with its worker and is done again is not announced.
                ready = [future for future in waiting if future.status not in _UNDER_WAY]
            for future in ready:
                if future in waiting and future.status not in _UNDER_WAY:
                    found = _result(client, future)
                    if found:
                        yield waiting.pop(future), found[0]
                        watch.busy_at = watch.alive_at = time.monotonic()
    finally:
        if waiting:
            with contextlib.suppress(Exception):  # of a cluster that is gone
                client.cancel(list(waiting), force=True)


def run_guarded(job: Job, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of a Job on this worker, and name the worker if it fails."""
    from distributed import get_worker

    try:
        return function(job, *arguments)
    except MaucError as error:  # returned: the user has to act, trying again would not help
        further = job.memory_words() if isinstance(error, NotEnoughMemoryError) else ""
        return type(error)(f"worker {get_worker().address}: {error}{further}")
    except OSError as error:
        raise ReadError(
            f"worker {get_worker().address}: {type(error).__name__}: {first_line(error)}"
        ) from error
    except Exception as error:
        error.add_note(f"It was raised by worker {get_worker().address}.")
        raise


def _result(client: Any, future: Any) -> tuple[Any, ...]:
    """Return the result of a future that is done, or nothing if it was lost meanwhile."""
    from distributed import KilledWorker

    if future.status == "error":
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise MaucError(
                f"a task ended {error.allowed_failures + 1} workers of the cluster at "
                f"{address_of(client)} one after the other, the last of them "
                f"{error.last_worker.address}; most likely they ran out of memory: open the "
                f"source with a lower memory=, or give the workers more."
            ) from error
        if isinstance(error, ReadError):
            raise MaucError(f"{error} ({_RETRIES + 1} attempts).") from error
        check_workers(client)  # one may have joined that cannot do the work
        raise error
    try:
        result = future.result(timeout=_RESULT_SECONDS)
    except TimeoutError:
        return ()  # its worker died, and it is done again
    except CancelledError as error:
        raise scheduler_lost(client, "it dropped the tasks") from error
    if isinstance(result, MaucError):
        raise result
    return (result,)


class _Watch:
    """Notices, while results are waited for, that nobody will send them any more."""

    def __init__(self, client: Any) -> None:
        self._client, self._heard = client, dict[str, tuple[float, float]]()
        self.busy_at = self.alive_at = time.monotonic()
        self.check()  # so that a worker that dies now can be named

    def check(self) -> None:
        """Raise if there is no worker, one is silent, or all of them do nothing for too long."""
        if self._client.status != "running":
            raise scheduler_lost(self._client, "the connection is closed")
        try:
            workers = connect.list_workers(self._client)
        except Exception as error:
            raise scheduler_lost(self._client, error) from error
        now = time.monotonic()
        for address, worker in workers.items():
            # The clock of the scheduler may be another one: what counts is whether it moves.
            seen, since = self._heard.pop(address, (None, now))
            since = since if seen == worker["last_seen"] else now
            self._heard[address], self.alive_at = (worker["last_seen"], since), now
            if now - since >= connect.SILENCE:
                raise connect.stuck_worker(address, "has not answered")
            if any(worker["metrics"].get("task_counts", {}).get(state) for state in _AT_WORK):
                self.busy_at = now
        if now - self.alive_at >= connect.PATIENCE:
            raise connect.no_workers(self._client, next(reversed(self._heard), ""))
        if workers and now - self.busy_at >= connect.SILENCE:
            what = f"is {workers[address]['status']} and, like all others, has not worked"
            raise connect.stuck_worker(address, what)
