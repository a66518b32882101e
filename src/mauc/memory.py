"""How much memory is free, and whether work that is about to begin fits into it."""

import ctypes
import os
import sys
from pathlib import Path

from mauc.exceptions import MaucError

_SHARE = 0.8  # of the free memory that work may plan with
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that this process can still take, or None where the system does not tell.

    The smallest of what the system calls available and what is left of the limits of the
    container and of the process.
    """
    free = [_available(), _left_of_container(), _left_of_process()]
    known = [number for number in free if number is not None]
    return min(known) if known else None


def affordable(n_bytes: int) -> int | None:
    """Return how many pieces of work of `n_bytes` each fit at once; None if that is unknown."""
    free = free_memory()
    return None if free is None else int(_SHARE * free // max(1, n_bytes))


def check_memory(n_bytes: int, what: str, advice: str) -> None:
    """Raise if work needs more than four fifths of the memory that is free.

    Parameters
    ----------
    n_bytes : int
        The estimate.
    what : str
        What needs it, as the subject of a sentence: "the siren study of 300 classes".
    advice : str
        What the user can do, as an imperative without a full stop.
    """
    free = free_memory()
    if free is not None and n_bytes > _SHARE * free:
        raise MaucError(
            f"{what} needs about {as_gigabytes(n_bytes)}, and {as_gigabytes(free)} are free; "
            f"{advice}."
        )


def as_gigabytes(n_bytes: int) -> str:
    """Return a number of bytes as text.

    Examples
    --------
    >>> from mauc.memory import as_gigabytes
    >>> as_gigabytes(10_400_000_000), as_gigabytes(52_000_000)
    ('10.4 GB', '0.052 GB')
    """
    return f"{n_bytes / 1e9:.3g} GB"


def _available() -> int | None:
    """Return what the system says could be given to a process without swapping."""
    numbers = _read_meminfo()
    if numbers is not None:
        return numbers
    if sys.platform == "win32":
        return _available_on_windows()
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _read_meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _available_on_windows() -> int | None:
    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong), ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in (
                "total", "available", "total_page", "available_page", "total_virtual",
                "available_virtual", "extended",
            )),
        ]  # fmt: skip

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (it exists on Windows only)
    return int(status.available) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _left_of_container() -> int | None:
    """Return what is left of the limit of a Linux control group, of version 2 or 1."""
    pairs = (("memory.max", "memory.current"),
             ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))  # fmt: skip
    for limit, used in pairs:
        try:
            texts = [(_CGROUP / name).read_text(encoding="ascii").strip() for name in (limit, used)]
        except OSError:
            continue
        if all(text.isdigit() for text in texts):  # without a limit it is "max"
            cached = _cached_in_container(_CGROUP / Path(used).parent / "memory.stat")
            return max(0, int(texts[0]) - int(texts[1]) + cached)
    return None


def _cached_in_container(path: Path) -> int:
    """Return the bytes of files that the kernel would give up first; they count as used."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = dict(line.split()[:2] for line in lines)
    return int(found.get("inactive_file", found.get("total_inactive_file", 0)))


def _left_of_process() -> int | None:
    """Return what is left of the limit on the addresses of this process (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return limit
    return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
