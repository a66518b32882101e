"""Loops over blocks, in threads and with progress; results come in order.

`Work` is what `Problem.map` runs on blocks of columns; `run_blocks` is the loop below it, which
serves blocks of anything.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike

from mauc import progress
from mauc.exceptions import MaucError

_scratch = threading.local()

_Block = TypeVar("_Block")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def count_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads that `n_jobs` stands for, as joblib counts them."""
    try:
        return int(effective_n_jobs(n_jobs))
    except (TypeError, ValueError) as error:
        raise MaucError(f"n_jobs must be None or an int other than 0, got {n_jobs!r}.") from error


class Work(NamedTuple):
    """A function of blocks of columns and what it needs; see `Problem.map`."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    columns: np.ndarray | None = None
    out: tuple[np.ndarray, ...] = ()
    prepare: Callable[..., tuple[Any, ...]] | None = None
    reduce: Callable[[Iterator[tuple[Any, Any]]], Any] | None = None
    n_scores: int = 1
    is_dense: bool = False

    def run(
        self,
        problem: Any,
        blocks: list[Any],
        n_jobs: int | None = None,
        *,
        release: Callable[[], None] | None = None,
        **options: Any,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield ``(block, result)`` for every block of a problem, or one pair if it is reduced.

        `release` is called after every block; the other options are those of `run_blocks`.
        """
        function, out, chosen = self.function, self.out, self.columns
        arguments = self.arguments
        if self.prepare is not None:
            arguments = self.prepare(problem, *arguments)

        def call(block: Any) -> Any:
            """Call the function with the parts of the arrays that belong to a block."""
            if chosen is None:
                result = function(problem, block, *arguments, *[array[block] for array in out])
            else:
                parts = [np.empty((len(block), *array.shape[1:]), array.dtype) for array in out]
                result = function(problem, chosen[block], *arguments, *parts)
                for array, part in zip(out, parts, strict=True):
                    array[block] = part
            if release is not None:
                release()
            return result

        pairs = run_blocks(call, blocks, n_jobs, **options)
        if self.reduce is None:
            return pairs
        n_features = problem.n_features
        whole = slice(0, n_features) if chosen is None else np.arange(len(chosen))
        return iter([(whole, self.reduce(pairs))])


def run_blocks(
    function: Callable[[_Block], _Result],
    blocks: Iterable[_Block],
    n_jobs: int | None = None,
    *,
    unit: str = "blocks",
    n_bytes: Sequence[int] | None = None,
) -> Iterator[tuple[_Block, _Result]]:
    """Yield ``(block, function(block))`` for every block, in the order of the blocks.

    The kernels release the GIL, so threads share the data without copying it. At most two
    results per thread wait to be taken, whatever the number of blocks. `unit` and `n_bytes`, the
    bytes of data of each block, are for `mauc.progress`.
    """
    blocks = list(blocks)
    n_threads = 1 if len(blocks) == 1 else count_threads(n_jobs)
    if len(blocks) == 1 and _is_quiet():
        # At once: there is nothing to share among threads, and nobody to wait for.
        return iter(list(_run_here(function, blocks)))
    results = _run_blocks(function, blocks, n_threads)
    return iter(with_progress(results, unit, len(blocks), n_bytes=n_bytes))


def with_progress(
    items: Iterable[_Item],
    unit: str,
    total: int | None = None,
    *,
    n_bytes: Sequence[int] | None = None,
) -> Iterable[_Item]:
    """Return items, whose progress `mauc.progress` shows if anybody wants to see it."""
    if _is_quiet():
        return items
    return progress.track(items, unit, total, n_bytes=n_bytes)


def _is_quiet() -> bool:
    """Whether nobody wants to see the progress of loops."""
    return progress.current is None and getattr(progress.fits, "report", None) is None


def _run_here(
    function: Callable[[_Block], _Result], blocks: list[_Block]
) -> Iterator[tuple[_Block, _Result]]:
    """Yield what `run_blocks` does, in this thread."""
    before = getattr(_scratch, "buffers", None)
    _keep_scratch()
    try:
        for block in blocks:
            yield block, function(block)
    finally:
        _scratch.buffers = before


def _run_blocks(
    function: Callable[[_Block], _Result], blocks: list[_Block], n_threads: int
) -> Iterator[tuple[_Block, _Result]]:
    """Yield what `run_blocks` does, in threads."""
    if n_threads == 1:
        yield from _run_here(function, blocks)
        return
    with ThreadPoolExecutor(n_threads, "mauc", _keep_scratch) as pool:
        waiting = deque[tuple[_Block, Future[_Result]]]()
        for block in blocks:
            waiting.append((block, pool.submit(function, block)))
            if len(waiting) > 2 * n_threads:
                done, future = waiting.popleft()
                yield done, future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()


def scratch_array(name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Return an array for work that ends with the block; its values are arbitrary.

    From `run_blocks` it is the same memory for every block of a thread, until the next array of the
    same name: fresh pages would cost as much as the work, and threads wait for each other.
    """
    buffers = getattr(_scratch, "buffers", None)
    if buffers is None:
        return np.empty(shape, dtype)
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if name not in buffers or len(buffers[name]) < n_bytes:
        buffers[name] = np.empty(n_bytes, np.uint8)
    return buffers[name][:n_bytes].view(dtype).reshape(shape)


def _keep_scratch() -> None:
    _scratch.buffers = {}


def start_pool(n_blocks: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Return a pool for `run_in` with a thread for every block but one, to be used in ``with``."""
    return ThreadPoolExecutor(n_blocks - 1) if n_blocks > 1 else nullcontext()


def run_in(
    pool: ThreadPoolExecutor | None,
    task: Callable[..., _Result],
    blocks: Sequence[_Block],
    *args: Any,
) -> list[_Result]:
    """Run a task on every block, the last one in this thread; return the results in order."""
    futures = [] if pool is None else [pool.submit(task, block, *args) for block in blocks[:-1]]
    last = task(blocks[-1], *args)
    return [future.result() for future in futures] + [last]


def even_ranges(n: int, n_parts: int, first: int = 0) -> list[tuple[int, int]]:
    """Cut first .. first + n into at most `n_parts` ranges of nearly equal length; at least one."""
    edges = np.linspace(first, first + n, max(1, min(n_parts, n)) + 1).astype(np.int64)
    return [(int(a), int(b)) for a, b in pairwise(edges)]
