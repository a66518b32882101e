"""Find the Dask cluster that `client` stands for: a client or an address in, a client out."""

import contextlib
from collections.abc import Iterator
from typing import Any

from mauc.exceptions import MaucError
from mauc.extras import optional_import

CONNECT_SECONDS = 10


@contextlib.contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Give the client; one that was made of an address is closed in the end.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler such as "tcp://host:8786".
    """
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


def first_line(error: object) -> str:
    """Return the first line of an error, or its type where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".;: ") if lines else type(error).__name__
