"""Cells on a Dask cluster: an existing one, or one of local workers."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from mauc.exceptions import MaucError
from mauc.experiments.engines import GUARD, Engine
from mauc.experiments.rows import first_line
from mauc.extras import optional_import


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
        distributed = optional_import("distributed", "runs on Dask")
        import dask

        self._cluster = None
        if scheduler is None:
            # Dask would blame all tasks of a dead worker; the run tries each alone once more.
            with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
                try:
                    self._cluster = distributed.LocalCluster(
                        n_workers=n_workers, threads_per_worker=1, dashboard_address=None
                    )
                except RuntimeError as error:
                    raise MaucError(
                        f"Dask workers cannot be started ({first_line(error)}); {GUARD}."
                    ) from error
        try:
            self._client = distributed.Client(self._cluster or scheduler, timeout="10s")
        except Exception as error:  # whatever an address can be wrong in
            if self._cluster is not None:
                self._cluster.close()
            raise MaucError(
                f"no Dask scheduler answers at {scheduler}: {first_line(error)}"
            ) from error
        self._executor = self._client.get_executor(pure=False)

    @property
    def n_places(self) -> int:
        """One task per thread: tasks that wait at a worker would share its death."""
        try:
            return int(sum(self._client.nthreads().values()))
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
        with contextlib.suppress(Exception):
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _lost(why: object) -> MaucError:
    return MaucError(
        f"the Dask scheduler is gone ({first_line(why)}); run the plan again to go on."
    )
