"""How much memory is free, and work refused beforehand that would need more."""

import os
import re
from pathlib import Path

from mauc.checks import is_real
from mauc.exceptions import MaucError, NotEnoughMemoryError

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
    """Raise if work needs more memory than is free.

    `what` is the subject of the message, with what makes it large: "44,850 class pairs x 40
    features"; `advice` says what to do instead.
    """
    free = free_memory()
    if free is not None and n_bytes > free:
        raise NotEnoughMemoryError(
            f"{what} need {format_bytes(n_bytes)} of memory, but {format_bytes(free)} are free; "
            f"{advice}."
        )


def format_bytes(n_bytes: int) -> str:
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
    if is_real(size) and not isinstance(size, str) and 0 < size < float("inf"):
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
