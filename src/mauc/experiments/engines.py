"""Where cells run: in this process, in local processes, or on a Dask cluster."""

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, Protocol

from mauc.exceptions import MaucError, unknown_word
from mauc.experiments.worker import start_worker

ENGINES = ("processes", "dask", "serial")


class Engine(Protocol):
    """Runs functions, as an executor does, and knows how many at a time."""

    @property
    def n_places(self) -> int:
        """How many tasks may be on their way at once."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task; at most `n_places` may be unfinished."""

    def is_death(self, error: BaseException) -> bool:
        """Whether an error means that the worker died, not that the task failed."""

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, `at_once` even those at work."""


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
    if name not in ENGINES:
        raise unknown_word("engine", name, ENGINES)
    if scheduler is not None and name != "dask":
        raise MaucError(f'a scheduler goes with the engine "dask", not {name!r}.')
    if n_jobs is not None and n_jobs != -1 and n_jobs < 1:
        raise MaucError(f"the number of workers must be from 1 up, or -1 for all, got {n_jobs}.")
    n_workers = n_cores() if n_jobs in (None, -1) else int(n_jobs or 1)
    if name == "serial":
        return SerialEngine()
    if name == "dask":
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

    def is_death(self, error: BaseException) -> bool:
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
        if parent_process() is not None and __package__ and _is_reimported():
            raise MaucError(
                "workers import the main script anew: call run_plan under "
                "`if __name__ == '__main__':`."
            )
        self.n_places = n_workers
        self._pools: list[ProcessPoolExecutor | None] = [None] * n_workers
        self._busy: list[Future[Any] | None] = [None] * n_workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task on an idle worker; one that died is replaced."""
        place = next(
            place for place, future in enumerate(self._busy) if future is None or future.done()
        )
        for _ in range(2):
            pool = self._pools[place] or ProcessPoolExecutor(
                1, mp_context=get_context("spawn"), initializer=start_worker
            )
            self._pools[place] = pool
            try:
                future = pool.submit(function, *arguments)
            except BrokenProcessPool:  # its worker died after its last task
                self._pools[place] = None
                continue
            self._busy[place] = future
            return future
        raise MaucError("a worker cannot be started.")

    def is_death(self, error: BaseException) -> bool:
        """Whether the process of the task died."""
        return isinstance(error, BrokenProcessPool)

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


def _is_reimported() -> bool:
    """Whether this code runs because a worker imports the main script."""
    import multiprocessing.process as process

    return bool(getattr(process.current_process(), "_inheriting", False))


class DaskEngine:
    """A Dask cluster through its executor; Dask itself replaces workers and tries again.

    Parameters
    ----------
    n_workers : int
        Local workers, if there is no scheduler.
    scheduler : str or None
        Address, such as "tcp://host:8786".
    """

    def __init__(self, n_workers: int, scheduler: str | None) -> None:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ModuleNotFoundError as error:
            raise MaucError(
                f"the engine dask needs {error.name}: pip install 'mauc[dask]'"
            ) from error
        self._cluster = None
        if scheduler is None:
            # A task that its worker does not survive is tried once more.
            with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
                self._cluster = LocalCluster(
                    n_workers=n_workers, threads_per_worker=1, dashboard_address=None
                )
        try:
            self._client = Client(self._cluster or scheduler, timeout="10s")
        except (OSError, ValueError) as error:
            raise MaucError(f"no Dask scheduler answers at {scheduler}: {error}") from error
        self._executor = self._client.get_executor(pure=False)

    @property
    def n_places(self) -> int:
        """Two tasks a thread, so that none waits for the next; the cluster may grow."""
        return int(max(1, 2 * sum(self._client.nthreads().values())))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task."""
        return self._executor.submit(function, *arguments)  # type: ignore[no-any-return]

    def is_death(self, error: BaseException) -> bool:
        """Return False: Dask has tried again already."""
        return False

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster, and end it if it was started here."""
        with contextlib.suppress(CancelledError):
            self._executor.shutdown(wait=not at_once)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
