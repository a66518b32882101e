"""Where cells run: in this process, in local processes, or on a Dask cluster."""

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import current_process, get_context, parent_process
from typing import Any

from joblib import cpu_count

from mauc.checks import check_choice, is_int
from mauc.datasets import Dataset
from mauc.exceptions import MaucError
from mauc.experiments.data import receive_data

ENGINES = ("processes", "dask", "serial")
_MAX_FALSE_STARTS = 2  # in a row
_HEARTBEAT = 1.0  # seconds between checks that the parent lives
GUARD = (
    "a script must call run_plan under `if __name__ == '__main__':`, because every worker imports "
    "the script anew"
)


class Engine:
    """Runs functions, as an executor does; by itself every one at once in this process."""

    @property
    def n_places(self) -> int:
        """How many tasks may run at once; none if a cluster has no worker yet."""
        return 1

    def give(self, data: Mapping[str, Dataset]) -> None:
        """Send data sets, by fingerprint, to the workers that cannot find them otherwise."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task; at most `n_places` may be unfinished."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def is_unstarted(self, future: "Future[Any]") -> bool:
        """Whether a task never began, because its worker did not start."""
        return False

    def is_death(self, future: "Future[Any]") -> bool:
        """Whether a task ended because its worker died."""
        return False

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, `at_once` even those at work."""


def check_engine(name: str, n_jobs: int | None, scheduler: str | None) -> None:
    """Check the options of an engine before anything is touched."""
    check_choice("engine", name, ENGINES)
    if scheduler is not None and name != "dask":
        raise MaucError(f'a scheduler goes with the engine "dask", not {name!r}.')
    if scheduler is not None and n_jobs not in (None, -1):
        raise MaucError(f"the workers of {scheduler} run already; n_jobs= is for local ones.")
    if n_jobs is not None and n_jobs != -1 and not (is_int(n_jobs) and n_jobs >= 1):
        raise MaucError(f"the number of workers must be from 1 up, or -1 for all, got {n_jobs!r}.")
    # The mark that multiprocessing sets while a new process imports the main script.
    if name != "serial" and getattr(current_process(), "_inheriting", False):
        raise MaucError(f"{GUARD}.")


def start_engine(
    name: str, n_jobs: int | None = None, scheduler: str | None = None, n_tasks: int = 0
) -> Engine:
    """Start an engine whose options were checked; its workers begin while the caller goes on.

    `n_tasks` is how many tasks there will be at least: no more local processes begin at once.
    """
    if name == "serial":
        return Engine()
    if name == "dask":
        from mauc.experiments.dask_engine import DaskEngine

        return DaskEngine(count_workers(n_jobs), scheduler)
    return ProcessEngine(count_workers(n_jobs), n_tasks)


def count_workers(n_jobs: int | None) -> int:
    """Return how many workers `n_jobs` asks for."""
    return cpu_count() if n_jobs in (None, -1) else int(n_jobs or 1)


def count_threads(name: str, n_jobs: int | None) -> int:
    """Return how many threads a task of an engine may use."""
    if name == "serial":
        return count_workers(n_jobs)
    return max(1, cpu_count() // count_workers(n_jobs)) if name == "processes" else 1


class ProcessEngine(Engine):
    """Local processes, each a pool of its own: a death concerns one task, the worker is replaced.

    Parameters
    ----------
    n_workers : int
    n_tasks : int, default=0
        So many of them begin now, the others when they get a task.
    """

    def __init__(self, n_workers: int, n_tasks: int = 0) -> None:
        self._data: dict[str, Dataset] = {}
        self._pools: list[ProcessPoolExecutor | None] = [None] * n_workers
        self._ready: list[Future[bool] | None] = [None] * n_workers
        self._busy: list[Future[Any] | None] = [None] * n_workers
        self._n_false_starts = 0
        for place in range(min(n_workers, n_tasks)):
            self._start(place)

    @property
    def n_places(self) -> int:
        """The number of workers."""
        return len(self._pools)

    def give(self, data: Mapping[str, Dataset]) -> None:
        """Send data sets to the workers that run, and to every other when it starts."""
        self._data.update(data)
        for pool in self._pools:
            if pool is not None:
                with contextlib.suppress(BrokenProcessPool):  # `submit` replaces it
                    pool.submit(receive_data, self._data)

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
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_start_worker)
        self._pools[place] = pool
        with _interrupts_blocked():
            # As a task and not as an argument of the initializer: a process that dies while it
            # reads those would leave this one writing for ever. It imports the package, too.
            self._ready[place] = pool.submit(receive_data, self._data)
        return pool

    def _retire(self, place: int) -> None:
        """Forget a worker that ended; raise if workers do not even start."""
        self._n_false_starts = 0 if self._has_begun(place) else self._n_false_starts + 1
        self._pools[place] = None
        if self._n_false_starts == _MAX_FALSE_STARTS:
            raise MaucError(
                f"workers end before they start, see their messages above; note that {GUARD}."
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
            else:
                with contextlib.suppress(BrokenProcessPool):
                    pool.submit(end_quickly)
            pool.shutdown(wait=not at_once, cancel_futures=at_once)
            for process in processes if at_once else ():
                process.join(5)


def _start_worker() -> None:
    """Prepare a local worker: the parent alone handles Ctrl-C, and no worker outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()

    def watch() -> None:
        # The parent may have died while this process began, so its id comes from itself.
        while parent is not None and parent.is_alive() and os.getppid() == parent.pid:
            time.sleep(_HEARTBEAT)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def end_quickly() -> None:
    """Let this process end without clearing its memory first, which takes half a second."""
    atexit.register(_leave)


def _leave() -> None:
    atexit.unregister(_leave)
    atexit._run_exitfuncs()  # those of others
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


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
