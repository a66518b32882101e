"""Where a command computes: in this process, or on a Dask cluster."""

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError

ENGINES = ("local", "dask")
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where columns are ranked: local (threads of this process) or dask (workers, which "
        "read the columns themselves: those of --scheduler, or --jobs processes started here).",
    ),
]


def check_engine(engine: str, scheduler: str | None, jobs: int) -> None:
    """Refuse options that do not go together, before anything is read."""
    if engine not in ENGINES:
        raise unknown_choice("--engine", engine, ENGINES)
    if engine == "dask":
        from mauc.extras import optional_import

        optional_import("distributed", "--engine dask")
    if scheduler is None:
        return
    if engine != "dask":
        raise MaucError(f"--scheduler goes with --engine dask, got {scheduler!r} without it.")
    if jobs != 1:
        raise MaucError(
            f"--jobs {jobs} goes with workers that are started here; those of --scheduler "
            f"{scheduler} have their own number of threads. Leave one of the two out."
        )


@contextlib.contextmanager
def started(engine: str, scheduler: str | None, jobs: int) -> Iterator[Any]:
    """Give what selectors take as ``client``: None for this process, or a connected client.

    Parameters
    ----------
    engine : {"local", "dask"}
    scheduler : str, optional
        Without it the engine "dask" starts workers on this machine, which end with the context.
    jobs : int
        How many workers are started; -1 for one per core.
    """
    if engine == "local":
        yield None
        return
    from mauc.cluster.connect import connected

    if scheduler is not None:
        # An address that does not answer is told before the data are read.
        with connected(scheduler) as client:
            yield client
        return
    with _workers(jobs) as cluster, connected(cluster.scheduler_address) as client:
        yield client


@contextlib.contextmanager
def _workers(jobs: int) -> Iterator[Any]:
    """Start workers on this machine."""
    import logging

    import distributed

    from mauc.parallel import count_threads

    try:
        cluster = distributed.LocalCluster(
            n_workers=count_threads(jobs), threads_per_worker=1, dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )  # fmt: skip
    except (RuntimeError, OSError) as error:
        raise MaucError(
            f"--engine dask: workers cannot be started on this machine ({error}); name a "
            f"scheduler by --scheduler, or use --engine local."
        ) from error
    with cluster:
        yield cluster
