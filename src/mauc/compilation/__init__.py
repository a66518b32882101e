"""Numba's compilation: one process per kernel and host, a line on the terminal, the cache."""

from mauc.compilation.cache import find_cache
from mauc.compilation.collector import pause_collector
from mauc.compilation.no_cache import allow_no_cache
from mauc.compilation.notice import announce_compilation, unannounced
from mauc.compilation.once import compile_once
from mauc.compilation.relay import relay_notices, report_to

__all__ = [
    "announce_compilation", "compile_once", "find_cache", "prepare_numba", "relay_notices",
    "report_to", "unannounced",
]  # fmt: skip


def prepare_numba() -> None:
    """Prepare this process for kernels; packages that hold some call it when they are imported."""
    allow_no_cache()
    announce_compilation()
    pause_collector()
