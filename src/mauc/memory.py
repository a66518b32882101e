"""How much memory is free, work refused that needs more, and arrays that spill to a file."""

import mmap
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import DTypeLike

from mauc.checks import is_real
from mauc.exceptions import MaucError, NotEnoughMemoryError
from mauc.files import make_private

_MEMINFO = Path("/proc/meminfo")
#: (limit, use) of a container; "max" stands for no limit
_GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def free_memory() -> int | None:
    """Return the bytes free without swapping, within a container's limit; None if unknown."""
    free = _available()
    for limit, use in _GROUPS:
        try:
            left = int(limit.read_text()) - int(use.read_text())
        except (OSError, ValueError):
            continue
        left += _reclaimable(use.with_name("memory.stat"))
        free = left if free is None else min(free, left)
    return None if free is None else max(free, 0)


def check_memory(n_bytes: int, what: str, advice: str) -> None:
    """Raise if work needs more memory than is free; `what` is the subject of the message."""
    free = free_memory()
    if free is not None and n_bytes > free:
        raise NotEnoughMemoryError(
            f"{what} need {format_bytes(n_bytes)} of memory, but {format_bytes(free)} are free; "
            f"{advice}."
        )


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes as a user reads it.

    >>> format_bytes(1_500_000_000), format_bytes(2_000_000), format_bytes(10_000)
    ('1.5 GB', '2 MB', '10 kB')
    """
    if n_bytes >= 10**9:
        return f"{n_bytes / 1e9:,.1f} GB"
    if n_bytes >= 10**7:
        return f"{n_bytes / 1e6:.0f} MB"
    if n_bytes >= 10**6:
        return f"{n_bytes / 1e6:.2g} MB"
    return f"{max(1, round(n_bytes / 1e3))} kB"


_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)


def parse_bytes(size: int | float | str, name: str = "memory") -> int:
    """Return a number of bytes from a number or a text; `name` is that of the option, for errors.

    >>> parse_bytes("1GB"), parse_bytes("2GiB"), parse_bytes("500 MB")
    (1000000000, 2147483648, 500000000)
    """
    if is_real(size) and 0 < size < float("inf"):
        return int(size)
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is not None:
        number, unit, binary = found.groups()
        power = " kmgt".index(unit.lower()) if unit else 0
        n_bytes = int(float(number) * (1024 if binary else 1000) ** power)
        if n_bytes > 0:
            return n_bytes
    raise MaucError(
        f"{name} must be a number of bytes or a text such as '500MB', '1GB' or '2GiB', "
        f"got {size!r}."
    )


def _reclaimable(stat: Path) -> int:
    """Return the bytes of files that a container keeps until the memory is needed."""
    try:
        found = dict(line.split() for line in stat.read_text().splitlines())
        return int(found.get("total_inactive_file", found.get("inactive_file", 0)))
    except (OSError, ValueError):
        return 0


def _available() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


_CHUNK = 2**24  # bytes of zeros written at once, where space on a disk cannot be asked for
_ALL_ROWS = 2**62
# Of the memory, for pages of files. The system maps up to twice the pages that are asked for, and
# what a pass over the columns has freed is not all given back to it.
_PAGE_SHARE = 4


class Workspace:
    """The memory of a fit, given out to arrays of all columns, such as states or ranks."""

    # What exceeds `memory` is in a temporary file; a pass over the columns needs `floor` at least.
    def __init__(self, memory: int | None = None, floor: int = 0) -> None:
        self.taken: int = 0  #: bytes given out so far, until the end of the fit
        self._memory, self._floor = memory, floor
        self._files: list[mmap.mmap] = []

    def reserve(self, n_bytes: int) -> None:
        """Set bytes of memory apart for something that has to be held in any case."""
        self.taken += int(n_bytes)

    def spare(self) -> int | None:
        """Return how many bytes of memory arrays may take now; None if there is no limit."""
        if self._memory is None:
            return None
        # Half of the memory is left to the pass: stripes that are too narrow are read slowly.
        share = min(self._memory // 2, self._memory - self._floor)
        return max(0, share - self.taken)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike, later: int = 0) -> np.ndarray:
        """Return an empty array, in memory or in a nameless file, with `later` bytes to spare."""
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        spare = self.spare()
        if spare is None or n_bytes <= spare:
            self.reserve(n_bytes)
            return np.empty(shape, dtype)
        array, mapped = map_file(shape, dtype, later if later > spare else 0)
        self._files.append(mapped)
        return array

    @property
    def is_spilled(self) -> bool:
        """Whether an array is in a file."""
        return len(self._files) > 0

    def rows_at_once(self, row_bytes: int, n_threads: int = 1) -> int:
        """Return how many rows a thread may touch before it calls `release`, at least one."""
        if self._memory is None or not self.is_spilled:
            return _ALL_ROWS
        left = max(0, self._memory - self.taken) // (_PAGE_SHARE * max(n_threads, 1))
        return max(1, left // max(row_bytes, 1))

    def release(self) -> None:
        """Let the pages of all files go from memory; they are read again when touched."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._files:
                # The mapping is shared: what was written is in the file, not in the pages.
                mapped.madvise(mmap.MADV_DONTNEED)


def spill_folder() -> Path:
    """Return the folder of temporary files: of a variable, else /var/tmp, as /tmp may be memory."""
    if os.environ.get("MAUC_CACHE"):
        return make_private(Path(os.environ["MAUC_CACHE"]))
    is_named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    if not is_named and os.access("/var/tmp", os.W_OK | os.X_OK):
        return Path("/var/tmp")
    return Path(tempfile.gettempdir())


def map_file(
    shape: tuple[int, ...], dtype: DTypeLike, later: int = 0
) -> tuple[np.ndarray, mmap.mmap]:
    """Return an array in a temporary file, and its mapping; `later` more bytes must fit, too."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    folder = None
    try:
        folder = spill_folder()
        free = shutil.disk_usage(folder).free
        if n_bytes + later > free:
            raise MaucError(
                f"{folder} has {format_bytes(free)} free, but {format_bytes(n_bytes + later)} are "
                f"needed for temporary files of what the search looks at; {_advise_folder()}."
            )
        with tempfile.TemporaryFile(dir=folder, prefix="mauc-") as file:
            _allocate(file, n_bytes)
            mapped = mmap.mmap(file.fileno(), n_bytes)
    except OSError as error:
        raise MaucError(
            f"{folder or 'the folder MAUC_CACHE'}: no temporary file of {format_bytes(n_bytes)} "
            f"can be made: {error.strerror or error}; {_advise_folder()}."
        ) from error
    return np.frombuffer(mapped, dtype).reshape(shape), mapped


def _allocate(file: IO[bytes], n_bytes: int) -> None:
    """Take the space on the disk now: a full disk would kill the process at a later write."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(min(_CHUNK, n_bytes))
    for start in range(0, n_bytes, _CHUNK):
        file.write(zeros[: n_bytes - start])
    file.flush()


def _advise_folder() -> str:
    name = "TEMP" if sys.platform == "win32" else "TMPDIR"
    return (
        f"set {name} or MAUC_CACHE to a folder with more space, or allow more memory, so that no "
        f"file is needed"
    )
