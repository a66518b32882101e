"""Whether the workers of a cluster can do the work: a client in, or an error that names a worker.

The function that workers run here is sent by value: a worker without the package could not import
it.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mauc.cluster.connect import address_of, first_line
from mauc.exceptions import MaucError


def check_workers(client: Any, workers: list[str] | None = None) -> None:
    """Raise unless every worker has this version of the package.

    Parameters
    ----------
    client : distributed.Client
    workers : list of str, optional
        Addresses; all by default.
    """
    wanted = version("mauc")
    found = client.run(_probe(), workers=workers, on_error="return")
    for address, said in sorted(found.items()):
        if isinstance(said, Exception):
            raise MaucError(f"worker {address} does not answer ({first_line(said)}).")
        got, python, error = said
        if error is not None:
            raise MaucError(
                f"worker {address} cannot import mauc ({error}; its Python is {python}); install "
                f"mauc {wanted} there, or leave that worker out."
            )
        if got != wanted:
            raise MaucError(
                f"worker {address} has mauc {got}, this process has {wanted}; install the same "
                f"version (its Python is {python}): another one may give other results."
            )


def check_source(client: Any, source: Any, workers: list[str] | None = None) -> None:
    """Raise unless every worker sees the same data as this process."""
    found = client.run(_look_at, source, workers=workers, on_error="return")
    for address, said in sorted(found.items()):
        if said is not None:
            why = said if isinstance(said, str) else f"{type(said).__name__}: {first_line(said)}"
            raise MaucError(
                f"worker {address} cannot read {source.name} ({why.rstrip('.')}); every worker "
                f"needs the data under the same path: put them on storage that all share, and "
                f"give an absolute path or URL."
            )


def n_threads_of(client: Any) -> dict[str, int]:
    """Return the number of threads of every worker; raise if there is none."""
    threads = {str(worker): int(n) for worker, n in client.nthreads().items()}
    if not threads:
        raise MaucError(
            f"the Dask scheduler at {address_of(client)} has no workers; start some "
            f"(dask worker {address_of(client)})."
        )
    return threads


def _look_at(source: Any) -> str | None:
    """Say why this process cannot read a source, or None."""
    try:
        source.check_unchanged()
    except Exception as error:
        return first_line(error)
    return None


def _probe() -> Callable[[], tuple[str | None, str, str | None]]:
    def probe() -> tuple[str | None, str, str | None]:
        import sys
        from importlib import metadata

        try:
            import mauc

            return metadata.version("mauc"), f"{sys.executable}, {mauc.__file__}", None
        except Exception as error:
            return None, sys.executable, f"{type(error).__name__}: {error}"

    probe.__module__ = "__main__"  # so that it is sent by value
    return probe
