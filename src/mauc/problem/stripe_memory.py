"""Memory for columns that are read stripe by stripe: fresh pages would cost as much as decoding."""

import sys
import threading
from contextlib import contextmanager

import numpy as np

_active = threading.local()
_FREE = 3  # references to a buffer that nobody uses: the list, the loop, the count itself


class StripeMemory:
    """Buffers that are used again once no column lies in them any more."""

    def __init__(self):
        self._buffers = []

    def array(self, shape, dtype):
        """Return an array whose values are arbitrary; it lives as long as a part of it is used."""
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        found, kept = None, []
        for buffer in self._buffers:
            if sys.getrefcount(buffer) > _FREE:
                kept.append(buffer)
            elif found is None and n_bytes <= len(buffer) <= 2 * n_bytes + 2**16:
                found = buffer
                kept.append(buffer)
            # others are of no use for stripes of this size and are let go
        if found is None:
            found = np.empty(n_bytes, np.uint8)
            kept.append(found)
        self._buffers = kept
        return found[:n_bytes].view(dtype).reshape(shape)


@contextmanager
def stripe_memory(memory):
    """Let `stripe_array` take from `memory` in this thread."""
    before = getattr(_active, "memory", None)
    _active.memory = memory
    try:
        yield
    finally:
        _active.memory = before


def stripe_array(shape, dtype):
    """Return an array for columns that are read; its values are arbitrary.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    """
    memory = getattr(_active, "memory", None)
    return np.empty(shape, dtype) if memory is None else memory.array(shape, dtype)
