"""Where cells run: in this process, in local processes (loky) or on a Dask cluster.

Every engine is an executor of `concurrent.futures`. joblib's own loops would do but for one thing:
on Dask they wait for ever for a task whose workers died.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any, TypeVar

from joblib import cpu_count

from mauc.checks import check_choice, is_int
from mauc.cluster.connect import connected, count_worker_threads
from mauc.exceptions import MaucError, first_line
from mauc.extras import optional_import

ENGINES = ("processes", "dask", "serial")
_MAX_SHARED, _MAX_DEATHS = 2, 4  # deaths after which a task runs alone, and is given up
_MAX_STARTS = 5  # of workers that end before the first task
_IDLE_SECONDS = 60.0  # after which a local worker ends; its parent may be gone
#: Settings of Dask workers that are started here. Dask would blame all tasks of a dead worker; the
#: run tries them again. Memory that is given back to the system after every array, and a look at
#: the stack every hundredth of a second, cost an eighth of the run each.
_DASK_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "2s",
}
_DEATH = object()  # the result of a task whose worker died
_LOST = RuntimeError("RuntimeError: the worker died four times, twice with this cell alone")
_K = TypeVar("_K", bound=Hashable)


class Engine:
    """Has an executor, a new one after a death; `run_plan` describes the arguments."""

    def __init__(self, name: str, n_jobs: int | None, scheduler: str | None) -> None:
        check_choice("engine", name, ENGINES)
        if scheduler is not None and name != "dask":
            raise MaucError(f'a scheduler goes with the engine "dask", not {name!r}.')
        if scheduler is not None and n_jobs not in (None, -1):
            raise MaucError(f"the workers of {scheduler} run already; n_jobs= is for local ones.")
        if n_jobs not in (None, -1) and not (is_int(n_jobs) and n_jobs >= 1):
            raise MaucError(
                f"the number of workers must be from 1 up, or -1 for all, got {n_jobs!r}."
            )
        n_workers = cpu_count() if n_jobs in (None, -1) else int(n_jobs or 1)
        self.name, self._scheduler = name, scheduler
        self.is_local = scheduler is None
        self.n_workers = 1 if name == "serial" else n_workers
        self.n_threads = {"serial": n_workers, "dask": 1}.get(
            name, max(1, cpu_count() // n_workers)
        )  #: that a task may use
        self._executor: Any = None
        self._size = 0  # workers of the executor
        self._stack = ExitStack()

    def close(self) -> None:
        """End the workers, or leave the cluster; one that was started here ends, too."""
        self.restart()
        self._stack.close()

    def restart(self) -> None:
        """Drop the executor and whatever it still runs; the next one has new workers."""
        executor, self._executor = self._executor, None
        if executor is not None and self.name == "processes":
            executor.shutdown(kill_workers=True)
        elif executor is not None:
            executor.shutdown(wait=False)

    def executor(self, n_workers: int) -> Any:
        """Return the executor, started anew if there is none of this many workers."""
        if self._executor is not None and self._size == n_workers:
            return self._executor
        self.restart()
        self._size = n_workers
        if self.name == "serial":
            self._executor = _Here()
        elif self.name == "dask":
            self._executor = self._client.get_executor(pure=False)
        else:
            self._start_processes(n_workers)
        return self._executor

    def _start_processes(self, n_workers: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        for _ in range(_MAX_STARTS):
            self._executor = ProcessPoolExecutor(
                n_workers, timeout=_IDLE_SECONDS, initializer=_end_with, initargs=(os.getpid(),)
            )
            with _workers_ignore_interrupts():
                first = self._executor.submit(_be_ready)  # starts them
            try:
                first.result()
                return
            except BrokenExecutor:  # no task is to blame
                self.restart()
        raise MaucError(
            f"workers ended {_MAX_STARTS} times before they could work; see their messages above, "
            f"and whether there is enough memory."
        )

    def n_at_once(self, n_workers: int) -> int:
        """Return how many tasks are given to an executor of this many workers at once.

        The scheduler of a cluster gets all: it knows its workers, and those that join later.
        """
        return n_workers if self.is_local else sys.maxsize

    @cached_property
    def _client(self) -> Any:
        distributed = optional_import("distributed", "runs on Dask")
        import dask

        address = self._scheduler
        if self.is_local:
            with dask.config.set(_DASK_SETTINGS):
                try:
                    cluster = distributed.LocalCluster(
                        n_workers=self.n_workers, threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                    )  # fmt: skip
                except RuntimeError as error:
                    raise MaucError(
                        f"Dask workers cannot be started ({first_line(error)}); a script must call "
                        f"run_plan under `if __name__ == '__main__':`, because every worker "
                        f"imports the script anew."
                    ) from error
            self._stack.callback(cluster.close)
            address = cluster.scheduler_address
        client = self._stack.enter_context(connected(address))
        count_worker_threads(client)  # waits for the first one
        return client


def run_tasks(
    engine: Engine, function: Callable[[_K], Any], tasks: Iterable[_K],
    note: Callable[[str], None], n_workers: int,
) -> Iterator[tuple[_K, Any]]:  # fmt: skip
    """Yield each task and what the function gives for it, as it is done; an error for a lost one.

    The tasks under way when a worker dies are tried again: at first with all others, then one at a
    time, so that each death has one cause; a task that twice killed its worker alone is lost.
    """
    deaths = dict.fromkeys(tasks, 0)
    while deaths:
        together = [task for task, n_deaths in deaths.items() if n_deaths < _MAX_SHARED]
        results = _run_until_death(
            engine.executor(n_workers if together else 1), function, together or [*deaths],
            engine.n_at_once(n_workers) if together else 1,
        )  # fmt: skip
        has_died = False
        for task, result in results:
            n_deaths = deaths.pop(task) + 1
            has_died |= result is _DEATH
            if result is _DEATH and n_deaths < _MAX_DEATHS:
                deaths[task] = n_deaths  # behind all others
                note(f"a worker died at {task}; it is tried again.")
            else:
                yield task, _LOST if result is _DEATH else result
        if has_died:
            engine.restart()


def _run_until_death(
    executor: Executor, function: Callable[[_K], Any], tasks: Iterable[_K], n_at_once: int
) -> Iterator[tuple[_K, Any]]:
    """Yield the results of tasks until a worker dies; then those of the tasks under way."""
    waiting = deque(tasks)
    running: dict[Future[Any], _K] = {}
    is_broken = False
    while running or (waiting and not is_broken):
        while waiting and len(running) < n_at_once and not is_broken:
            task = waiting.popleft()
            try:
                running[executor.submit(function, task)] = task
            except (
                BrokenExecutor
            ):  # before it began; were it not counted, this could go on for ever
                is_broken = True
                yield task, _DEATH
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            is_dead = _is_death(future)
            is_broken |= is_dead
            yield running.pop(future), _DEATH if is_dead else future.result()


def _is_death(future: "Future[Any]") -> bool:
    """Whether a task ended because its worker died."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        raise _scheduler_lost("it dropped the tasks") from cancelled
    # The error of Dask is compared by name: it need not be installed.
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _be_ready() -> None:
    """Do nothing: a worker that can call this has imported the package."""


class _Here(Executor):
    """Runs every call at once in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, whatever it computes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _workers_ignore_interrupts() -> Iterator[None]:
    """Let processes that start now ignore Ctrl-C for good: this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _scheduler_lost(why: object) -> MaucError:
    return MaucError(
        f"the Dask scheduler is gone ({first_line(why)}); run the plan again to go on."
    )
