"""Data sets in memory that all processes of a host share: read once, mapped by every worker."""

import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from mauc.datasets import Dataset

_ALIGNMENT = 64  # bytes, a cache line
_MOUNT = "/dev/shm"  # where Linux keeps shared memory, often with a limit of its own
_MAX_SHARE = 0.5  # of what is free there


@dataclass(frozen=True)
class SharedData:
    """Where a data set is in shared memory; small enough to go with every task.

    Parameters
    ----------
    name : str
        Of the block of shared memory.
    parts : tuple of (int, int)
        Start and end of the pickled object, then of each array that it refers to.
    """

    name: str
    parts: tuple[tuple[int, int], ...]


class _Mapped(SharedMemory):
    """A block that stays mapped until the process ends: the arrays of a data set lie in it."""

    def __del__(self) -> None:
        """Leave the mapping to the system; to close it while arrays exist is an error."""


@contextmanager
def share_data(data: Mapping[str, Dataset]) -> Iterator[dict[str, SharedData]]:
    """Put data sets into shared memory while the context lasts.

    A data set for which there is not enough shared memory is left out.

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
        for name, dataset in data.items():
            arrays: list[pickle.PickleBuffer] = []
            content = pickle.dumps(dataset, protocol=5, buffer_callback=arrays.append)
            pieces = [memoryview(content), *(array.raw() for array in arrays)]
            parts, end = [], 0
            for piece in pieces:
                start = -(-end // _ALIGNMENT) * _ALIGNMENT
                end = start + piece.nbytes
                parts.append((start, end))
            if not _has_room(end):
                continue
            try:
                block = SharedMemory(create=True, size=end)
            except OSError:
                continue
            stack.callback(block.unlink)
            stack.callback(block.close)
            for (start, end), piece in zip(parts, pieces, strict=True):
                block.buf[start:end] = piece  # type: ignore[index]
            shared[name] = SharedData(block.name, tuple(parts))
        yield shared


@lru_cache(maxsize=4)
def map_data(shared: SharedData) -> Dataset:
    """Return the data set of another process of this host; its arrays are read-only and shared."""
    view = _Mapped(shared.name).buf.toreadonly()  # type: ignore[union-attr]
    content, *arrays = (view[start:end] for start, end in shared.parts)
    made: Dataset = pickle.loads(content, buffers=arrays)
    return made


def _has_room(n_bytes: int) -> bool:
    """Whether a block is small beside the shared memory that is free.

    To write where nothing is free ends the process without an error that could be caught.
    """
    if not hasattr(os, "statvfs") or not os.path.isdir(_MOUNT):
        return True
    free: Any = os.statvfs(_MOUNT)
    return bool(n_bytes <= _MAX_SHARE * free.f_bavail * free.f_frsize)
