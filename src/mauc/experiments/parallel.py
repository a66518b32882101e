"""Where cells run: in this process, in local processes (loky) or on a Dask cluster.

Every local worker is a pool of its own: its death costs the task that it was given, and no other.
joblib's loops would end with the first death, and on Dask wait for ever.
"""

import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import ExitStack, contextmanager
from functools import cached_property
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from joblib import cpu_count

from mauc.checks import check_choice, is_int
from mauc.cluster.connect import PATIENCE, count_worker_threads, joined_workers
from mauc.exceptions import MaucError
from mauc.extras import optional_import

ENGINES = ("processes", "dask", "serial")
_MAX_DEATHS = 4  # of workers that had a task, all but the first alone, after which it is given up
_MAX_STARTS = 10  # of workers that end before they can work, in a row
#: Settings of Dask workers that are started here. Dask would try the tasks of a dead worker again
#: beside others; the run does so alone. Memory that is given back to the system after every array,
#: and a look at the stack every hundredth of a second, cost an eighth of the run each.
_DASK_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "2s",
}
_UNGUARDED = (
    "a script must call run_plan under `if __name__ == '__main__':`, because every worker imports "
    "the script anew"
)
_LOST = RuntimeError("RuntimeError: the worker died four times, three times with this cell alone")
_K = TypeVar("_K", bound=Hashable)


class Engine:
    """Has the workers of a run; `run_plan` describes the arguments."""

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
        self.name: str = name
        self._scheduler = scheduler
        self.is_local: bool = scheduler is None
        self.n_workers: Any = 1 if name == "serial" else n_workers
        self.n_threads: Any = {"serial": n_workers, "dask": 1}.get(
            name, max(1, cpu_count() // n_workers)
        )  #: that a task may use
        self._processes: list[_Process] = []
        self.client: Any = None  #: of Dask
        self._stack = ExitStack()

    def close(self) -> None:
        """End the workers, or leave the cluster; one that was started here ends, too."""
        self._stack.close()

    def workers(self, n_workers: int, n_tasks: int) -> list[Any]:
        """Return what takes a task each; the scheduler of a cluster takes all of them at once."""
        if self.name == "dask":
            return [self._dask] * (n_workers if self.is_local else n_tasks)
        while len(self._processes) < n_workers:
            self._processes.append(_Process())
            self._stack.callback(self._processes[-1].end)
        return self._processes[:n_workers]

    @cached_property
    def _dask(self) -> Any:
        optional_import("distributed", "runs on Dask")
        import dask

        with dask.config.set(_DASK_SETTINGS):
            joined = joined_workers(self._scheduler, self.n_workers, _UNGUARDED)
            client = self._stack.enter_context(joined)
        count_worker_threads(client)  # waits for the first one
        self.client = client
        return client.get_executor(pure=False)


def run_tasks(
    engine: Engine,
    function: Callable[[_K], Any],
    tasks: Iterable[_K],
    note: Callable[[str], None],
    n_workers: int,
) -> Iterator[tuple[_K, Any]]:
    """Yield each task and what the function gives for it, as it is done; an error if it is lost."""
    waiting = deque(tasks)
    if engine.name == "serial":
        yield from ((task, function(task)) for task in waiting)
        return
    idle = engine.workers(n_workers, len(waiting))
    running: dict[Future[Any], tuple[_K, Any]] = {}
    deaths: Counter[_K] = Counter()
    n_starts = 0  # in vain since a worker last worked
    while waiting or running:
        while waiting and idle and not (running and waiting[0] in deaths):
            task, worker = waiting.popleft(), idle.pop()
            running[worker.submit(function, task)] = task, worker
        done = wait(running, PATIENCE, FIRST_COMPLETED).done
        if not done and engine.client is not None:
            count_worker_threads(engine.client)  # raises if all workers are lost
        for future in done:
            task, worker = running.pop(future)
            idle.append(worker)
            has_died = _has_died(future)
            if has_died and isinstance(worker, _Process) and not worker.recover():
                n_starts += 1
                if n_starts == _MAX_STARTS:
                    raise MaucError(
                        f"workers ended {n_starts} times before they could work; see their "
                        f"messages above, and whether there is enough memory."
                    )
                waiting.appendleft(task)
                continue
            n_starts = 0
            deaths[task] += has_died
            if not has_died:
                yield task, future.result()
            elif deaths[task] == _MAX_DEATHS:
                yield task, _LOST
            else:
                waiting.append(task)
                note(f"a worker died at {task}; it is tried again.")


def _has_died(future: "Future[Any]") -> bool:
    """Whether a task ended because its worker died."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        raise MaucError(
            "the Dask scheduler is gone (it dropped the tasks); run the plan again to go on."
        ) from cancelled
    # The error of Dask is compared by name: it need not be installed.
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


class _Process:
    """A local worker: a process that the first task starts, and the first one after a death."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._first: Future[None] = Future()

    def submit(self, function: Callable[[_K], Any], task: _K) -> "Future[Any]":
        """Give the process a task."""
        from joblib.externals.loky import ProcessPoolExecutor

        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, initializer=_end_with, initargs=(os.getpid(),))
            with _interrupts_held():
                self._first = self._pool.submit(_be_ready)
        try:
            return self._pool.submit(function, task)  # type: ignore[no-any-return]
        except BrokenExecutor:  # it died while it had nothing to do
            self.end()
            return self.submit(function, task)

    def recover(self) -> bool:
        """Let the next task start another process; return whether this one could work."""
        self.end()
        return self._first.exception() is None

    def end(self) -> None:
        """End the process, whatever it does."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


def _be_ready() -> None:
    """Do nothing: a worker that can call this has imported the package."""


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, whatever it computes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let processes that start now never see Ctrl-C: this one, which gets it later, ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # loky needs it; if it starts later, it lets them through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
