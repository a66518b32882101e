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
from typing import Any

from mauc.cluster import connect
from mauc.cluster.connect import address_of, check_workers, scheduler_lost
from mauc.cluster.job import Job
from mauc.exceptions import MaucError, NotEnoughMemoryError, first_line

_POLL = 0.5  # seconds between looks at the cluster while nothing is done
_RESULT_SECONDS = 30.0  # that a result may be on its way before the cluster is looked at again
_UNDER_WAY = ("pending", "lost")
_AT_WORK = ("executing", "long-running", "flight")  # states of tasks on a worker
_RETRIES = 2  # of a task whose worker could not read


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
