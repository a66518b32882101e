"""Run tasks on a cluster: calls in, results out as they are done, whoever dies meanwhile.

A task may run more than once: what a dead worker has not returned is done again elsewhere, by
Dask. Tasks are therefore functions of their arguments. What is left to do here is to notice that
nobody will answer any more, and to say so.
"""

import contextlib
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

from mauc.cluster import probe
from mauc.cluster.connect import address_of, first_line
from mauc.exceptions import MaucError, NotEnoughMemoryError

_POLL = 0.5  # seconds between looks at the cluster while nothing is done
_RESULT_SECONDS = 30.0  # that a result may be on its way before the cluster is looked at again
_POLLS = 8  # of which one asks whether the scheduler still knows the tasks
_UNDER_WAY = ("pending", "lost")
_MAX_SENDS = 5  # attempts to send a value to a worker
_RETRIES = 2  # of a task whose worker could not read


class Call(NamedTuple):
    """A function to run on a worker, with the Job before the arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    worker: str | None = None  #: where it had best run


class Failed(NamedTuple):
    """What a task returns where the user has to act: trying again would not help."""

    worker: str
    error: MaucError
    further: str = ""  #: what the user has to know of the worker


class ReadError(Exception):
    """A worker could not read; it may have been the moment."""


class LostJob(Exception):
    """All workers that held what the tasks share are gone."""


def run_guarded(job: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of a Job on this worker, and name the worker if it fails."""
    from distributed import get_worker

    try:
        return function(job, *arguments)
    except MaucError as error:
        further = job.memory_words() if isinstance(error, NotEnoughMemoryError) else ""
        return Failed(str(get_worker().address), error, further)
    except OSError as error:
        raise ReadError(
            f"worker {get_worker().address}: {type(error).__name__}: {first_line(error)}"
        ) from error


def send(client: Any, value: Any) -> Any:
    """Return the future of a value on a worker; the others fetch it from each other.

    A broadcast would wait for ever if a worker died meanwhile.
    """
    for attempt in range(1, _MAX_SENDS + 1):
        try:
            return client.scatter(value, hash=False)
        except (OSError, TimeoutError):
            # Most likely a worker died meanwhile; the scheduler knows it soon.
            if attempt == _MAX_SENDS or client.status != "running":
                raise
            time.sleep(0.2 * attempt)
            probe.count_worker_threads(client)
    raise AssertionError("a value is sent, or the error is raised.")


def run_calls(client: Any, job: Any, calls: Sequence[Call]) -> Iterator[tuple[int, Any]]:
    """Yield ``(number, result)`` of every call as it is done.

    What is not done when an error is raised, or when nobody asks for more, is cancelled.

    Parameters
    ----------
    client : distributed.Client
    job : Future
        Of the `Job` that all calls share.
    calls : sequence of Call
    """
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting: dict[Any, int] = {}
    try:
        for number, call in enumerate(calls):
            place = {} if call.worker is None else {
                "workers": [call.worker], "allow_other_workers": True
            }  # fmt: skip
            future = client.submit(
                run_guarded, job, call.function, *call.arguments, pure=False, retries=_RETRIES,
                key=None, **place,
            )  # fmt: skip
            waiting[future] = number
            future.add_done_callback(done.put)
        alone_since, n_polls = None, 0
        while waiting:
            try:
                ready = [done.get(timeout=_POLL)]
            except queue.Empty:
                n_polls += 1
                alone_since = _check_alive(client, job, alone_since)
                if n_polls % _POLLS == 0 and are_forgotten(client, list(waiting)):
                    raise LostJob from None
                # What was done, was lost with its worker and is done again is not announced.
                ready = [future for future in waiting if future.status not in _UNDER_WAY]
            for future in ready:
                if future in waiting and future.status not in _UNDER_WAY:
                    found = _result(client, future)
                    if found:
                        yield waiting.pop(future), found[0]
    finally:
        if waiting:
            with contextlib.suppress(Exception):  # of a cluster that is gone
                client.cancel(list(waiting), force=True)


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
        probe.check_workers(client)  # one may have joined that cannot do the work
        raise error
    try:
        return (_opened(future.result(timeout=_RESULT_SECONDS)),)
    except TimeoutError:
        return ()  # its worker died, and it is done again
    except CancelledError as error:
        _check_connected(client)
        raise LostJob from error


def _opened(result: Any) -> Any:
    if isinstance(result, Failed):
        kind = type(result.error)
        raise kind(f"worker {result.worker}: {result.error}{result.further}") from result.error
    return result


def _check_alive(client: Any, job: Any, alone_since: float | None) -> float | None:
    """Raise if nobody can do what is waited for; return since when there is no worker."""
    _check_connected(client)
    if job.status in ("cancelled", "lost"):
        raise LostJob
    try:
        has_workers = bool(client.nthreads())
    except Exception as error:
        raise scheduler_lost(client, error) from error
    if has_workers:
        return None
    now = time.monotonic()
    if alone_since is None:
        return now
    if now - alone_since >= probe.PATIENCE:
        raise probe.no_workers(client, probe.PATIENCE)
    return alone_since


def are_forgotten(client: Any, futures: list[Any]) -> bool:
    """Whether the scheduler does not know tasks any more; of some of these a client hears nothing.

    That is so where something was sent to a worker, which died before others had it too: what
    depends on it is forgotten. The function is sent by value: a scheduler need not have mauc.
    """

    def count(dask_scheduler: Any, keys: list[Any]) -> int:
        return sum(key in dask_scheduler.tasks for key in keys)

    count.__module__ = "__main__"
    keys = [future.key for future in futures]
    try:
        return bool(client.run_on_scheduler(count, keys=keys) < len(keys))
    except ValueError:
        return False  # a scheduler that runs no functions


def _check_connected(client: Any) -> None:
    if client.status != "running":
        raise scheduler_lost(client, "the connection is closed")


def scheduler_lost(client: Any, why: object) -> MaucError:
    """Return the error that names a scheduler that went away."""
    return MaucError(
        f"the Dask scheduler at {address_of(client)} went away ({first_line(why)}); start it "
        f"again and repeat the fit."
    )
