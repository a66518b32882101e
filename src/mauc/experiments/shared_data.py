"""Data sets in memory that all processes of a host share: read once, mapped by every worker."""

import mmap
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from secrets import token_hex

from mauc.datasets import Dataset

_ALIGNMENT = 64  # bytes, a cache line


@dataclass(frozen=True)
class SharedData:
    """Where a data set is in shared memory; small enough to go with every task.

    Parameters
    ----------
    pid, descriptor : int
        The process that shares it and its file without a name: nothing is left of the file when
        the processes are gone, however they end.
    parts : tuple of (int, int)
        Start and end of the pickled object, then of each array that it refers to.
    token : str
        Tells it from what had the same numbers before.
    """

    pid: int
    descriptor: int
    parts: tuple[tuple[int, int], ...]
    token: str


@contextmanager
def share_data(data: Mapping[str, Dataset]) -> Iterator[dict[str, SharedData]]:
    """Put data sets into shared memory while the context lasts.

    They are left out where the system has no files without names (Linux has them) or no memory.

    Parameters
    ----------
    data : mapping of str to Dataset
        By name.

    Yields
    ------
    shared : dict of str to SharedData
    """
    shared: dict[str, SharedData] = {}
    with ExitStack() as stack:
        for name, dataset in data.items() if hasattr(os, "memfd_create") else ():
            arrays: list[pickle.PickleBuffer] = []
            content = pickle.dumps(dataset, protocol=5, buffer_callback=arrays.append)
            try:
                descriptor = os.memfd_create("mauc")
                stack.callback(os.close, descriptor)
                pieces = (memoryview(content), *(array.raw() for array in arrays))
                parts = _write(descriptor, pieces)
            except OSError:
                continue
            shared[name] = SharedData(os.getpid(), descriptor, parts, token_hex(8))
        yield shared


def _write(descriptor: int, pieces: tuple[memoryview, ...]) -> tuple[tuple[int, int], ...]:
    parts, end = [], 0
    with open(descriptor, "wb", closefd=False) as file:
        for piece in pieces:
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
            file.write(bytes(start - end))
            file.write(piece)
            end = start + piece.nbytes
            parts.append((start, end))
    return tuple(parts)


@lru_cache(maxsize=4)
def map_data(shared: SharedData) -> Dataset:
    """Return the data set of another process of this host; its arrays are read-only and shared."""
    with open(f"/proc/{shared.pid}/fd/{shared.descriptor}", "rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    content, *arrays = (view[start:end] for start, end in shared.parts)
    made: Dataset = pickle.loads(content, buffers=arrays)
    return made
