"""Numba's compilation: one process per kernel and host, a line on the terminal, the cache."""

from mauc.compilation.cache import find_cache
from mauc.compilation.collector import pause_collector
from mauc.compilation.notice import announce_compilation, unannounced
from mauc.compilation.once import compile_once

__all__ = ["announce_compilation", "compile_once", "find_cache", "pause_collector", "unannounced"]
