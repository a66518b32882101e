"""Arrays made of all columns of a problem: in memory, or in a temporary file where they are large.

A greedy search needs something of every column at every step: states, ranks. Of an array in memory
they are small beside it; of a source they may be larger than the memory that a fit may take.
"""

import mmap
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from mauc.exceptions import MaucError
from mauc.memory import format_bytes

_CHUNK = 2**24  # bytes of zeros written at once, where room on a disk cannot be asked for
_ALL_ROWS = 2**62
# Of the memory, for pages of files. The system maps up to twice the pages that are asked for, and
# what a pass over the columns has freed is not all given back to it.
_PAGE_SHARE = 4


class Room:
    """The memory of a fit, given out to what has to be held while the columns pass by.

    Parameters
    ----------
    memory : int, optional
        Bytes of everything; without it all arrays are in memory.
    floor : int, default=0
        Bytes of these that a pass over the columns needs at least.

    Attributes
    ----------
    taken : int
        Bytes given out so far. They are taken until the end of the fit.
    """

    def __init__(self, memory=None, floor=0):
        self.taken = 0
        self._memory, self._floor = memory, floor
        self._files = []

    def reserve(self, n_bytes):
        """Set bytes of memory apart for something that has to be held in any case."""
        self.taken += int(n_bytes)

    def spare(self):
        """Return how many bytes of memory arrays may take now; None if there is no limit."""
        if self._memory is None:
            return None
        # Half of the memory is left to the pass: stripes that are too narrow are read slowly.
        share = min(self._memory // 2, self._memory - self._floor)
        return max(0, share - self.taken)

    def array(self, shape, dtype, later=0):
        """Return an array of any values, in memory or, where it does not fit, in a file.

        The file has no name, or loses it at once: nothing stays behind, however the process ends.

        Parameters
        ----------
        shape : tuple of int
            Rows come first; kernels work on one after the other.
        dtype : dtype
        later : int, default=0
            Bytes of another array that will be asked for at most: the disk must have room for both
            before any work is done.

        Returns
        -------
        array : ndarray
        """
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        spare = self.spare()
        if spare is None or n_bytes <= spare:
            self.reserve(n_bytes)
            return np.empty(shape, dtype)
        array, mapped = map_file(shape, dtype, later if later > spare else 0)
        self._files.append(mapped)
        return array

    @property
    def is_spilled(self):
        """Whether an array is in a file."""
        return len(self._files) > 0

    def rows_at_once(self, row_bytes, n_threads=1):
        """Return how many rows a thread may touch before it calls `release`, at least one."""
        if not self.is_spilled:
            return _ALL_ROWS
        left = max(0, self._memory - self.taken) // (_PAGE_SHARE * max(n_threads, 1))
        return max(1, left // max(row_bytes, 1))

    def release(self):
        """Let the pages of all files go from memory: they are read again when they are touched.

        Other threads may be at work on the arrays.
        """
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._files:
                # The mapping is shared: what was written is in the file, not in the pages.
                mapped.madvise(mmap.MADV_DONTNEED)


def spill_folder():
    """Return the folder of temporary files.

    The one that MAUC_CACHE or TMPDIR (TEMP and TMP on Windows) names. Without these /var/tmp, where
    there is one: /tmp is often a part of the memory.
    """
    if os.environ.get("MAUC_CACHE"):
        folder = Path(os.environ["MAUC_CACHE"])
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    is_named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    if not is_named and os.access("/var/tmp", os.W_OK | os.X_OK):
        return Path("/var/tmp")
    return Path(tempfile.gettempdir())


def map_file(shape, dtype, later=0):
    """Return an array in a temporary file, and the mapping of the file.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    later : int, default=0
        Bytes of further files that the disk must have room for.

    Raises
    ------
    MaucError
        If the disk has too little room; it names the folder, what is wanted and what is free.
    """
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    folder = None
    try:
        folder = spill_folder()
        free = shutil.disk_usage(folder).free
        if n_bytes + later > free:
            raise MaucError(
                f"{folder} has {format_bytes(free)} free, but {format_bytes(n_bytes + later)} are "
                f"needed for temporary files of what the search looks at; {_way_out()}."
            )
        with tempfile.TemporaryFile(dir=folder, prefix="mauc-") as file:
            _allocate(file, n_bytes)
            mapped = mmap.mmap(file.fileno(), n_bytes)
    except OSError as error:
        raise MaucError(
            f"{folder or 'the folder MAUC_CACHE'}: no temporary file of {format_bytes(n_bytes)} "
            f"can be made: {error.strerror or error}; {_way_out()}."
        ) from error
    return np.frombuffer(mapped, dtype).reshape(shape), mapped


def _allocate(file, n_bytes):
    """Take the room on the disk now: a full disk would kill the process at a later write."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(min(_CHUNK, n_bytes))
    for start in range(0, n_bytes, _CHUNK):
        file.write(zeros[: n_bytes - start])
    file.flush()


def _way_out():
    name = "TEMP" if sys.platform == "win32" else "TMPDIR"
    return (
        f"set {name} or MAUC_CACHE to a folder with more room, or allow more memory, so that no "
        f"file is needed"
    )
