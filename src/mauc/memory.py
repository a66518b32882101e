"""How much memory is free, and work refused beforehand that would need more."""

import os
from pathlib import Path

from mauc.exceptions import NotEnoughMemoryError

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
    """Return how many bytes new work may use, or None where that is not known.

    What the system can give without swapping, and no more than is left of a container's limit.
    """
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
    """Raise if work would need more memory than is free.

    Parameters
    ----------
    n_bytes : int
        What it needs.
    what : str
        The subject of the message, with what makes it large: "44,850 class pairs x 40 features".
    advice : str
        What to do instead.
    """
    free = free_memory()
    if free is not None and n_bytes > free:
        raise NotEnoughMemoryError(
            f"{what} need {format_bytes(n_bytes)} of memory, but {format_bytes(free)} are free; "
            f"{advice}."
        )


def format_bytes(n_bytes: int) -> str:
    """Return a number of bytes as a user reads it.

    Examples
    --------
    >>> from mauc.memory import format_bytes
    >>> format_bytes(1_500_000_000), format_bytes(2_000_000)
    ('1.5 GB', '2 MB')
    """
    if n_bytes >= 10**9:
        return f"{n_bytes / 1e9:,.1f} GB"
    return f"{max(1, round(n_bytes / 1e6))} MB"


def _reclaimable(stat: Path) -> int:
    """Return the bytes of files that a container keeps only as long as nobody needs the room."""
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
