"""`warmup`: names of methods in, their kernels compiled in parallel processes and counted out."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from mauc.checks import unknown_word
from mauc.compilation import find_cache
from mauc.exceptions import MaucError
from mauc.experiments.engines import count_workers
from mauc.experiments.progress import Progress, make_progress
from mauc.extras import optional_import
from mauc.precompile.jobs import FUNCTIONS, job_names

_PROGRAM = "from mauc.precompile.worker import main; main()"


@dataclass(frozen=True)
class WarmupSummary:
    """What a warm-up did.

    Parameters
    ----------
    cache : str
        Where Numba keeps the compiled kernels.
    n_methods : int
        Selectors and classifiers.
    n_compiled : int
        Kernels that were compiled now, counted once for each combination of types and without
        those that they call.
    n_found : int
        Those that the cache had.
    seconds : float
    """

    cache: str
    n_methods: int
    n_compiled: int
    n_found: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.n_methods} methods: {self.n_compiled} loops compiled, {self.n_found} were "
            f"there, in {self.seconds:.1f} s\ncache: {self.cache}"
        )


def warmup(
    methods: Iterable[str] | None = None, *, n_jobs: int | None = None, progress: str = "auto"
) -> WarmupSummary:
    """Compile the loops of all methods now, so that no first call has to.

    Numba compiles a loop when it is first called with arrays of a type, which takes seconds, and
    keeps it in a cache on disk that every later process loads. This calls all methods on tiny
    data of every kind: bytes, single and double precision, missing values, weights, sparse
    matrices, nominal columns.

    Parameters
    ----------
    methods : iterable of str, optional
        Short names of selectors and classifiers (`mauc methods` lists them); all by default, and
        the metrics and functions too.
    n_jobs : int, optional
        Processes; one per core by default.
    progress : {"auto", "bar", "lines", "quiet"}, default="auto"
        A bar, lines to log, or nothing; by default what fits standard error.

    Returns
    -------
    summary : WarmupSummary
        How much was compiled, how much was there, and where the cache is.

    Examples
    --------
    >>> import mauc
    >>> summary = mauc.warmup(["fisher"], n_jobs=1, progress="quiet")
    >>> summary.n_methods
    1
    """
    began = time.monotonic()
    optional_import("filelock", "parallel compilations")
    jobs = _check_jobs(methods)
    n_workers = _check_workers(n_jobs)
    shown = make_progress(progress, unit="jobs")
    cache = find_cache()
    called: set[str] = set()
    compiled: set[str] = set()
    shown.start(len(jobs))
    try:
        for answer in _run(jobs, min(n_workers, len(jobs)), shown):
            called.update(answer["called"])
            compiled.update(answer["compiled"])
    finally:
        shown.close()
    return WarmupSummary(
        cache, len(set(jobs) - {FUNCTIONS}), len(called & compiled), len(called - compiled),
        time.monotonic() - began,
    )  # fmt: skip


def _check_jobs(methods: Iterable[str] | None) -> list[str]:
    jobs = job_names()
    if methods is None:
        return jobs
    known = [name for name in jobs if name != FUNCTIONS]
    wanted = [methods] if isinstance(methods, str) else list(methods)
    for name in wanted:
        if name not in known:
            raise unknown_word("a method", name, known)
    if not wanted:
        raise MaucError("methods must name at least one method.")
    return [name for name in jobs if name in wanted]


def _check_workers(n_jobs: int | None) -> int:
    if n_jobs not in (None, -1) and (not isinstance(n_jobs, int) or n_jobs < 1):
        raise MaucError(f"n_jobs must be at least 1, or -1 for one per core, got {n_jobs!r}.")
    return count_workers(n_jobs)


def _run(jobs: list[str], n_workers: int, shown: Progress) -> Iterator[dict[str, Any]]:
    """Yield the answers of worker processes, which take the jobs in order."""
    queue: SimpleQueue[str] = SimpleQueue()
    for name in jobs:
        queue.put(name)
    stop = threading.Event()

    def work() -> dict[str, Any]:
        """Feed one process; the last answer tells all that it did."""
        answer: dict[str, Any] = {"called": [], "compiled": []}
        with _started_worker() as ask:
            while not stop.is_set():
                try:
                    name = queue.get_nowait()
                except Empty:
                    break
                answer = ask(name)
                if answer["error"]:
                    raise MaucError(f"{name} could not be compiled: {answer['error']}")
                shown.advance()
        return answer

    with ThreadPoolExecutor(n_workers) as pool:
        try:
            for future in as_completed([pool.submit(work) for _ in range(n_workers)]):
                yield future.result()
        finally:
            stop.set()


@contextmanager
def _started_worker() -> Iterator[Any]:
    """Have a process that does jobs; give the function that asks it for one.

    A plain interpreter and not one of multiprocessing: that would import the user's script anew.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=errors, text=True, env=environment,
        )  # fmt: skip

        def ask(name: str) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(f"{name}\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                process.wait()
                errors.seek(0)
                said = errors.read().strip().splitlines() or ["no message"]
                raise MaucError(f"the process that compiled {name} ended: {said[-1]}")
            answer: dict[str, Any] = json.loads(line)
            return answer

        try:
            yield ask
        finally:
            process.kill()  # it has answered, or is not waited for
            process.communicate()
