"""The Dask cluster that `client` stands for, and whether its workers can do the work."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, first_line
from mauc.extras import optional_import

CONNECT_SECONDS = 10
PATIENCE = 10.0  # seconds without any worker after which nobody is waited for any more
SILENCE = 120.0  # seconds without a sign of life after which a worker is not waited for any more


@contextlib.contextmanager
def connected(client: object) -> Iterator[Any]:
    """Give a client, or that of the address of a scheduler, which is closed in the end."""
    distributed = optional_import("distributed", "fits on a Dask cluster")
    if isinstance(client, distributed.Client):
        if client.asynchronous:
            raise MaucError(
                "client must be a synchronous distributed.Client, got one with "
                "asynchronous=True; give its address instead."
            )
        if client.status != "running":
            raise MaucError(
                f"client must be connected to a scheduler, got one that is {client.status} "
                f"({address_of(client)})."
            )
        yield client
        return
    if not isinstance(client, str):
        raise MaucError(
            f"client must be a distributed.Client or the address of a scheduler, such as "
            f"'tcp://host:8786', got {client!r}."
        )
    try:
        # Whoever has an active client keeps it.
        made = distributed.Client(client, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever an address can be wrong in
        raise MaucError(
            f"no Dask scheduler answers at {client} within {CONNECT_SECONDS} seconds "
            f"({first_line(error)}); start one (dask scheduler) or correct the address."
        ) from error
    try:
        yield made
    finally:
        with contextlib.suppress(Exception):  # a scheduler that is gone cannot be left
            made.close(timeout=2)


@contextlib.contextmanager
def joined_workers(scheduler: str | None, n_workers: int, way_out: str) -> Iterator[Any]:
    """Give the client of a scheduler or, without one, of workers started here, a thread each."""
    if scheduler is not None:
        with connected(scheduler) as client:
            yield client
        return
    distributed = optional_import("distributed", "workers of Dask")
    try:
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )
    except (RuntimeError, OSError) as error:
        raise MaucError(
            f"Dask workers cannot be started on this machine ({first_line(error)}); {way_out}."
        ) from error
    with cluster, connected(cluster.scheduler_address) as client:
        yield client


def active_client() -> Any:
    """Return the active `distributed.Client` of this process, or None; none within a task."""
    from distributed import default_client, get_worker

    with contextlib.suppress(ValueError):
        get_worker()
        return None  # a task that waited for other tasks could wait for ever
    try:
        client = default_client()
    except ValueError:
        return None
    return None if client.asynchronous or client.status != "running" else client


def address_of(client: Any) -> str:
    """Return the address of the scheduler of a client, as its user knows it."""
    scheduler = client.scheduler
    return str(getattr(scheduler, "address", None) or client._start_arg)


def check_workers(client: Any) -> None:
    """Raise unless every worker has this version of the package."""
    found = _ask(client, client.get_versions, packages=["mauc"])
    wanted = found["client"]["packages"]["mauc"]
    for address, its in sorted(found["workers"].items()):
        got = its["packages"].get("mauc")
        if got != wanted:
            has = f"has mauc {got}" if got else "does not have mauc"
            raise MaucError(
                f"worker {address} {has}, this process has {wanted}; install the same version "
                f"there, or leave that worker out: another one may give other results."
            )


def check_source(client: Any, source: ColumnSource) -> None:
    """Raise unless every worker sees the same data as this process."""
    found = _ask(client, client.run, _look_at, source, on_error="return")
    alive = list_workers(client)
    for address, said in sorted(found.items()):
        if isinstance(said, OSError | TimeoutError) or address not in alive:
            continue  # it died or closed just now: others do its work
        if isinstance(said, Exception):
            raise MaucError(
                f"worker {address} cannot run mauc ({first_line(said)}); it "
                f"needs the same versions of Python and of all packages as this process."
            )
        if said is not None:
            raise MaucError(
                f"worker {address} cannot read {source.name} ({said.rstrip('.')}); every worker "
                f"needs the data under the same path: put them on storage that all share, and "
                f"give an absolute path or URL."
            )


def _ask(client: Any, function: Any, *arguments: Any, **options: Any) -> Any:
    """Call a method of a client that waits for all workers; raise if one of them is silent."""
    try:
        return client.sync(function, *arguments, callback_timeout=SILENCE, **options)
    except TimeoutError as error:
        workers = list_workers(client)
        silent = min(workers, key=lambda address: workers[address]["last_seen"], default="")
        raise stuck_worker(silent, "has not answered") from error


def list_workers(client: Any) -> dict[str, Any]:
    """Return what the scheduler knows of each worker, by address."""
    return dict(client.sync(client.scheduler.identity, callback_timeout=SILENCE)["workers"])


def stuck_worker(address: str, what: str) -> MaucError:
    """Return the error for a worker that neither works nor ends."""
    return MaucError(
        f"worker {address} {what} for {SILENCE:.0f} seconds: it may be out of memory or off the "
        f"network; end its process and repeat the fit."
    )


def count_worker_threads(client: Any) -> int:
    """Return the number of threads of all workers; raise if there is no worker for a while."""
    with contextlib.suppress(TimeoutError):  # a cluster may have been started just now
        client.wait_for_workers(1, timeout=PATIENCE)
    n_threads = sum(int(worker["nthreads"]) for worker in list_workers(client).values())
    if n_threads == 0:
        raise no_workers(client)
    return n_threads


def no_workers(client: Any, last: str = "") -> MaucError:
    """Return the error for a scheduler without workers; `last` is the address of the last one."""
    address = address_of(client)
    return MaucError(
        f"the Dask scheduler at {address} has had no workers for {PATIENCE:.0f} seconds; start "
        f"some (dask worker {address}) and try again."
        + (f" The last one that went away was worker {last}." if last else "")
    )


def _look_at(source: ColumnSource) -> str | None:
    """Say why this process cannot read a source, or None."""
    try:
        source.check_unchanged()
    except Exception as error:
        return first_line(error)
    return None


def scheduler_lost(client: Any, why: object) -> MaucError:
    """Return the error that names a scheduler that went away."""
    return MaucError(
        f"the Dask scheduler at {address_of(client)} went away ({first_line(why)}); start it "
        f"again and repeat the fit."
    )
