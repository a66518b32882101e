"""Cells on a Dask cluster: an existing one, or one of local workers."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from mauc.exceptions import MaucError
from mauc.experiments.engines import GUARD, Engine, end_quickly
from mauc.experiments.rows import first_line
from mauc.extras import optional_import

#: Settings of the workers that are started here. Dask would blame all tasks of a dead worker; the
#: run tries each alone once more. Memory that is given back to the system after every array, and a
#: look at the stack every hundredth of a second, cost an eighth of the run each.
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "2s",
}


class DaskEngine(Engine):
    """A Dask cluster through its executor; Dask itself replaces workers.

    Parameters
    ----------
    n_workers : int
        Local workers, if there is no scheduler.
    scheduler : str or None
        Address, such as "tcp://host:8786".
    """

    def __init__(self, n_workers: int, scheduler: str | None) -> None:
        self._cluster: Any = None
        # A cluster takes seconds to start; the run reads its data meanwhile.
        starter = ThreadPoolExecutor(1)
        self._started = starter.submit(self._start, n_workers, scheduler)
        starter.shutdown(wait=False)

    def _start(self, n_workers: int, scheduler: str | None) -> tuple[Any, Any]:
        """Return the client and its executor."""
        distributed = optional_import("distributed", "runs on Dask")
        import dask

        if scheduler is None:
            with dask.config.set(_SETTINGS):
                try:
                    self._cluster = distributed.LocalCluster(
                        n_workers=n_workers, threads_per_worker=1, dashboard_address=None
                    )
                except RuntimeError as error:
                    raise MaucError(
                        f"Dask workers cannot be started ({first_line(error)}); {GUARD}."
                    ) from error
        try:
            client = distributed.Client(self._cluster or scheduler, timeout="10s")
        except Exception as error:  # whatever an address can be wrong in
            if self._cluster is not None:
                self._cluster.close()
            raise MaucError(
                f"no Dask scheduler answers at {scheduler}: {first_line(error)}"
            ) from error
        return client, client.get_executor(pure=False)

    @property
    def _client(self) -> Any:
        """The client, as soon as there is one; an error of the start is raised here."""
        return self._started.result()[0]

    @property
    def _executor(self) -> Any:
        return self._started.result()[1]

    @property
    def n_places(self) -> int:
        """One task per thread: tasks that wait at a worker would share its death."""
        client = self._client
        try:
            return int(sum(client.nthreads().values()))
        except Exception as error:
            raise _lost(error) from error

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a task."""
        return self._executor.submit(function, *arguments)  # type: ignore[no-any-return]

    def is_death(self, future: "Future[Any]") -> bool:
        """Whether Dask dropped a task because workers died at it."""
        from distributed import KilledWorker

        if future.cancelled():
            raise _lost("it dropped the tasks")
        return isinstance(future.exception(), KilledWorker)

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster, and end it if it was started here."""
        with contextlib.suppress(Exception):  # a cluster that is gone cannot be left
            self._executor.shutdown(wait=not at_once)
            if self._cluster is not None and not at_once:
                self._client.run(end_quickly)
        with contextlib.suppress(Exception):
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _lost(why: object) -> MaucError:
    return MaucError(
        f"the Dask scheduler is gone ({first_line(why)}); run the plan again to go on."
    )
