"""Whether the workers of a cluster can do the work: a client in, or an error that names a worker.

The function that workers run here is sent by value: a worker without the package could not import
it.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from mauc.cluster.connect import address_of, first_line
from mauc.exceptions import MaucError

PATIENCE = 10.0  # seconds without any worker after which nobody is waited for any more


def check_workers(client: Any, workers: list[str] | None = None) -> None:
    """Raise unless every worker has this version of the package, to the letter.

    Parameters
    ----------
    client : distributed.Client
    workers : list of str, optional
        Addresses; all by default.
    """
    wanted, code, here, _ = _probe()()
    found = client.run(_probe(), workers=workers, on_error="return")
    for address, said in sorted(found.items()):
        if isinstance(said, OSError | TimeoutError):
            continue  # it died just now: others do its work
        if isinstance(said, Exception):
            raise MaucError(
                f"worker {address} cannot run a function of this process ({type(said).__name__}: "
                f"{first_line(said)}); it needs the same versions of Python and Dask."
            )
        got, its_code, where, error = said
        if error is not None:
            raise MaucError(
                f"worker {address} cannot import mauc ({error}; its Python is {where}); install "
                f"mauc {wanted} there, or leave that worker out."
            )
        if got != wanted:
            raise MaucError(
                f"worker {address} has mauc {got} ({where}), this process has {wanted} ({here}); "
                f"install the same version: another one may give other results."
            )
        if its_code != code:
            raise MaucError(
                f"worker {address} has other code of mauc {got} ({where}) than this process "
                f"({here}); install the same: other code may give other results."
            )


def check_source(client: Any, source: Any, workers: list[str] | None = None) -> None:
    """Raise unless every worker sees the same data as this process."""
    found = client.run(_look_at, source, workers=workers, on_error="return")
    for address, said in sorted(found.items()):
        if isinstance(said, OSError | TimeoutError):
            continue
        if said is not None:
            why = said if isinstance(said, str) else f"{type(said).__name__}: {first_line(said)}"
            raise MaucError(
                f"worker {address} cannot read {source.name} ({why.rstrip('.')}); every worker "
                f"needs the data under the same path: put them on storage that all share, and "
                f"give an absolute path or URL."
            )


def count_worker_threads(client: Any) -> int:
    """Return the number of threads of all workers; raise if there is no worker for a while."""
    with contextlib.suppress(TimeoutError):  # a cluster may have been started just now
        client.wait_for_workers(1, timeout=PATIENCE)
    n_threads = sum(int(n) for n in client.nthreads().values())
    if n_threads == 0:
        raise no_workers(client, PATIENCE)
    return n_threads


def no_workers(client: Any, seconds: float) -> MaucError:
    """Return the error for a scheduler without workers."""
    address = address_of(client)
    return MaucError(
        f"the Dask scheduler at {address} has had no workers for {seconds:.0f} seconds; start "
        f"some (dask worker {address}) and fit again."
    )


def _look_at(source: Any) -> str | None:
    """Say why this process cannot read a source, or None."""
    try:
        source.check_unchanged()
    except Exception as error:
        return first_line(error)
    return None


def _probe() -> Callable[[], tuple[str | None, str, str, str | None]]:
    def probe() -> tuple[str | None, str, str, str | None]:
        import sys
        from hashlib import sha256
        from importlib import metadata
        from pathlib import Path

        try:
            import mauc

            folder = Path(str(mauc.__file__)).parent
            digest = sha256()
            for file in sorted(folder.rglob("*.py")):
                digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
            found = metadata.version("mauc"), digest.hexdigest()
            return *found, f"{sys.executable}, {folder}", None
        except Exception as error:
            return None, "", sys.executable, f"{type(error).__name__}: {error}"

    probe.__module__ = "__main__"  # so that it is sent by value
    return probe
