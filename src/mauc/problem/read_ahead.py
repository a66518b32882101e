"""Read the columns of a source in stripes, the next one on a thread while the last is worked on."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from mauc.exceptions import NotEnoughMemoryError
from mauc.memory import format_bytes
from mauc.parallel import count_threads
from mauc.problem.stripe_memory import StripeMemory, stripe_memory

# Bytes per row that a thread needs to sort a column, beside the column itself: its words twice.
_WORK_BYTES = 24
_LABEL_BYTES = 24  # per row: labels, codes, the rows by class
MEMORY_SHARE = 16  # of the memory of a source, for one block


class ReadAhead:
    """A pass over the columns of a source, in order.

    Two stripes are held: the one that blocks are taken from, and the next, which one thread reads.
    A stripe is let go when a block of a later one is taken; a thread that still works on a block
    keeps it alive.

    Parameters
    ----------
    read : callable
        ``(first, stop) -> list of arrays``: reads columns.
    edges : sequence of int
        Where stripes begin, and the end of the last.
    is_ahead : bool, default=True
        Whether the next stripe is read while this one is worked on; otherwise when it is needed.
    """

    def __init__(self, read, edges, *, is_ahead=True):
        self._read, self._n_ahead = read, int(is_ahead)
        self._edges = np.asarray(edges)
        self._lock = threading.Lock()
        self._stripes: dict[int, Future] = {}
        self._reader = ThreadPoolExecutor(1, "mauc-read")
        self._memory = StripeMemory()

    def take(self, first, stop):
        """Return the columns of a block as a list, or None if it does not lie in one stripe."""
        stripe = int(np.searchsorted(self._edges, first, "right")) - 1
        if not 0 <= stripe < len(self._edges) - 1 or stop > self._edges[stripe + 1]:
            return None
        with self._lock:
            if self._stripes and stripe < min(self._stripes):
                return None  # it was let go
            for number in [known for known in self._stripes if known < stripe]:
                del self._stripes[number]
            for number in range(stripe, stripe + 1 + self._n_ahead):
                if number not in self._stripes and number + 1 < len(self._edges):
                    bounds = self._edges[number : number + 2].tolist()
                    self._stripes[number] = self._reader.submit(self._read_stripe, *bounds)
            waiting = self._stripes[stripe]
        offset = self._edges[stripe]
        return waiting.result()[first - offset : stop - offset]

    def _read_stripe(self, first, stop):
        with stripe_memory(self._memory):
            return self._read(first, stop)

    def close(self):
        """Let go of everything; what is being read is waited for."""
        with self._lock:
            for waiting in self._stripes.values():
                waiting.cancel()
            self._stripes.clear()
        self._reader.shutdown(wait=True, cancel_futures=True)


def least_memory(n_samples, block_bytes):
    """Return the bytes that a pass needs at least: labels, a block at work, two stripes of one."""
    return (_LABEL_BYTES + _WORK_BYTES) * n_samples + 3 * block_bytes


def max_threads(source, block_bytes, n_jobs, held=0):
    """Return how many threads may work on blocks at once: half of the memory is theirs."""
    n = source.shape[0]
    of_threads = source.memory - _LABEL_BYTES * n - held
    fit = of_threads // (2 * (block_bytes + _WORK_BYTES * n))
    return max(1, min(count_threads(n_jobs), fit))


def plan_pass(source, blocks, n_jobs, held=0):
    """Return how many threads work on a pass, and where its stripes begin.

    Parameters
    ----------
    source : ColumnSource
        Its `memory` is kept.
    blocks : sequence of slice
        The blocks of columns of the pass, in order; a stripe holds whole blocks.
    n_jobs : int, optional
    held : int, default=0
        Bytes of the memory that are taken by something else.

    Returns
    -------
    n_threads : int
    edges : list of int
    """
    n = source.shape[0]
    sizes = block_bytes(source, blocks)
    largest = max(sizes, default=0)
    # The block of a thread may outlive its stripe. Two stripes are of one block at least.
    of_thread = largest + _WORK_BYTES * n
    fixed = _LABEL_BYTES * n + held
    least = least_memory(n, largest) + held
    if least > source.memory:
        what, further = "one column and the room to sort it", ""
        if held:
            what = "one column, the room to sort it and what is held beside it"
        else:
            further = ", or sketch the AUCs over the rows (PairAUCSketch)"
        raise NotEnoughMemoryError(
            f"memory={format_bytes(source.memory)} is too little for columns of {n:,} rows: {what} "
            f"take {format_bytes(least)}; allow that much{further}."
        )
    n_threads = max_threads(source, largest, n_jobs, held)
    # Columns of one type lie in one array: the last block of a stripe keeps all of it alive while
    # other threads work on the next.
    n_stripes = 2 if n_threads == 1 else 3
    of_stripes = source.memory - fixed - n_threads * of_thread
    room = min(of_stripes // n_stripes, source.stripe_bytes)
    edges, held = [0], 0
    for block, n_bytes in zip(blocks, sizes, strict=True):
        if held and held + n_bytes > room:
            edges.append(block.start)
            held = 0
        held += n_bytes
    return n_threads, [*edges, blocks[-1].stop] if blocks else edges


def block_bytes(source, blocks):
    """Return the bytes of the columns of each block, as they are held."""
    return [source.shape[0] * int(source.widths[block].sum()) for block in blocks]
