"""Where cells run: in this process, in local processes, or on a Dask cluster."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import current_process, get_context
from typing import Any, Protocol

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.experiments.worker import is_ready, start_worker

ENGINES = ("processes", "dask", "serial")
_FALSE_STARTS = 2  # in a row, and it is no accident
GUARD = (
    "a script must call run_plan under `if __name__ == '__main__':`, because every worker imports "
    "the script anew"
)


class Engine(Protocol):
    """Runs functions, as an executor does, and knows how many at a time."""

    @property
    def n_places(self) -> int:
        """How many tasks may be on their way at once; none if a cluster has no worker yet."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task; at most `n_places` may be unfinished."""

    def is_unstarted(self, future: "Future[Any]") -> bool:
        """Whether a task never began, because its worker did not start."""

    def is_death(self, future: "Future[Any]") -> bool:
        """Whether a task ended because its worker died."""

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, `at_once` even those at work."""


def check_engine(name: str, n_jobs: int | None, scheduler: str | None) -> None:
    """Refuse an engine that cannot be, before anything is touched."""
    if name not in ENGINES:
        raise unknown_word("engine", name, ENGINES)
    if scheduler is not None and name != "dask":
        raise MaucError(f'a scheduler goes with the engine "dask", not {name!r}.')
    if scheduler is not None and n_jobs not in (None, -1):
        raise MaucError(f"the workers of {scheduler} are there already; n_jobs= is for local ones.")
    if n_jobs is not None and n_jobs != -1 and n_jobs < 1:
        raise MaucError(f"the number of workers must be from 1 up, or -1 for all, got {n_jobs}.")
    # The mark that multiprocessing sets while a new process imports the main script.
    if name != "serial" and getattr(current_process(), "_inheriting", False):
        raise MaucError(f"{GUARD}.")


def start_engine(name: str, n_jobs: int | None = None, scheduler: str | None = None) -> Engine:
    """Start an engine.

    Parameters
    ----------
    name : {"processes", "dask", "serial"}
    n_jobs : int, optional
        Local workers; one per core by default. Not for a cluster that is there already.
    scheduler : str, optional
        Address of a Dask scheduler; without it, Dask workers are started here.

    Returns
    -------
    engine : Engine
    """
    check_engine(name, n_jobs, scheduler)
    n_workers = n_cores() if n_jobs in (None, -1) else int(n_jobs or 1)
    if name == "serial":
        return SerialEngine()
    if name == "dask":
        from mauc.experiments.dask_engine import DaskEngine

        return DaskEngine(n_workers, scheduler)
    return ProcessEngine(n_workers)


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SerialEngine:
    """Runs every task at once in this process."""

    n_places = 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Run a task; return its future, done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def is_unstarted(self, future: "Future[Any]") -> bool:
        """Return False: there is no worker to start."""
        return False

    def is_death(self, future: "Future[Any]") -> bool:
        """Return False: there is no worker to die."""
        return False

    def close(self, *, at_once: bool = False) -> None:
        """Do nothing."""


class ProcessEngine:
    """Local processes, each a pool of its own: a death concerns one task and is made good.

    Parameters
    ----------
    n_workers : int
    """

    def __init__(self, n_workers: int) -> None:
        self.n_places = n_workers
        self._pools: list[ProcessPoolExecutor | None] = [None] * n_workers
        self._ready: list[Future[bool] | None] = [None] * n_workers
        self._busy: list[Future[Any] | None] = [None] * n_workers
        self._n_false_starts = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task on an idle worker; one that died is replaced."""
        place = next(
            place for place, future in enumerate(self._busy) if future is None or future.done()
        )
        while True:
            try:
                pool = self._pools[place] or self._start(place)
                future = pool.submit(function, *arguments)
            except BrokenProcessPool:  # its worker died at its last task or after it
                self._retire(place)
                continue
            self._busy[place] = future
            return future

    def _start(self, place: int) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=start_worker)
        self._pools[place] = pool
        with _interrupts_blocked():
            self._ready[place] = pool.submit(is_ready)
        return pool

    def _retire(self, place: int) -> None:
        """Forget a worker that is gone; complain if workers do not even start."""
        self._n_false_starts = 0 if self._has_begun(place) else self._n_false_starts + 1
        self._pools[place] = None
        if self._n_false_starts == _FALSE_STARTS:
            raise MaucError(
                f"workers end before they begin, see what they say above; mind that {GUARD}."
            )

    def _has_begun(self, place: int) -> bool:
        ready = self._ready[place]
        return ready is not None and ready.done() and ready.exception() is None

    def is_unstarted(self, future: "Future[Any]") -> bool:
        """Whether the process of the task ended before it was ready."""
        return self.is_death(future) and not self._has_begun(self._busy.index(future))

    def is_death(self, future: "Future[Any]") -> bool:
        """Whether the process of the task died."""
        return isinstance(future.exception(), BrokenProcessPool)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers."""
        for pool in self._pools:
            if pool is None:
                continue
            # Before Python 3.14 an executor has no public way to end a worker at work.
            processes = list((getattr(pool, "_processes", None) or {}).values())
            if at_once:
                for process in processes:
                    process.terminate()
            pool.shutdown(wait=not at_once, cancel_futures=True)
            for process in processes if at_once else ():
                process.join(5)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let a new process begin with Ctrl-C blocked: its imports take longer than a key press."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its first start would take the block away again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
