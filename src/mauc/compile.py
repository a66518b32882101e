"""Numba as this library uses it: decorators, the folder of compiled loops, a line for long waits.

Modules with kernels take their decorators from here. Numba keeps compiled kernels in the folder of
the environment variable NUMBA_CACHE_DIR, else in the package's `__pycache__` folders, else in the
user's folder of caches; if none of them can be written, every process compiles them anew.
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numba
import numba.extending
from numba.core import config, event
from numba.misc.appdirs import AppDirs

from mauc.exceptions import MaucError, NoCacheWarning
from mauc.files import make_private

_HINT = "set the environment variable NUMBA_CACHE_DIR to a folder that can be written"
_DELAY_SECONDS = 1.0  # of compilation before a message is printed
_PROBE = bytes(2**16)  # written to see whether a folder, or its disk, has space

_kernels: list[Any] = []
_is_warned = False
_n_silent = 0


def _decorator(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles as `numba.njit` does, without checks of divisors.

    A division by zero gives infinity or NaN; a test of every divisor, and a wrapper for calls from
    C, would take time to compile.
    """
    options = {"error_model": "numpy", "no_cfunc_wrapper": True, "nogil": True, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        """Compile a function; with ``cache=True`` its machine code is kept if possible."""
        kernel = numba.njit(cache=cache and not _problem, **options)(function)
        if cache and kernel is not function:  # it is where NUMBA_DISABLE_JIT is set
            _kernels.append(kernel)
            if _problem:
                _warn_uncached()
        return kernel

    return decorate


MYPY = False
if MYPY:  # which knows this name and takes the branch: kernels are Numba's to type, not its
    from typing import no_type_check as intrinsic
    from typing import no_type_check as njit
    from typing import no_type_check as njit_inline
    from typing import no_type_check as njit_part
else:
    #: Compile a kernel that Python calls, and keep it if possible.
    njit: Callable[[Callable[..., Any]], Any] = _decorator(cache=True)
    #: Compile a part of a kernel. Without the wrapper for calls from Python it takes a third less.
    njit_part: Callable[[Callable[..., Any]], Any] = _decorator(no_cpython_wrapper=True)
    #: Compile a part into each kernel that calls it, where passing its many arguments takes time.
    njit_inline: Callable[[Callable[..., Any]], Any] = _decorator(inline="always")
    intrinsic: Callable[[Callable[..., Any]], Any] = numba.extending.intrinsic


def find_cache() -> str:
    """Return where compiled kernels are kept; raise `MaucError` if that is not possible."""
    if _settings.DISABLE_JIT:
        raise MaucError("nothing is compiled while NUMBA_DISABLE_JIT is set.")
    if _problem:
        raise MaucError(f"{_problem}; {_HINT}.")
    return _folder


def kernel_counts() -> tuple[set[str], set[str]]:
    """Return the kernels, with their types, that this process compiled, and found in the cache."""
    compiled: set[str] = set()
    found: set[str] = set()
    for kernel in _kernels:
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        compiled.update(f"{name}{types}" for types in kernel.stats.cache_misses)
        found.update(f"{name}{types}" for types in kernel.stats.cache_hits)
    return compiled, found


@contextmanager
def silenced() -> Iterator[None]:
    """Print nothing about compilations while the context lasts."""
    global _n_silent
    _n_silent += 1
    try:
        yield
    finally:
        _n_silent -= 1


class _Notice(event.Listener):
    """Prints once, on a terminal, that compilation takes long.

    Numba compiles one kernel at a time, and meanwhile the kernels that it calls.
    """

    _depth, _began, _seconds, _is_done = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1
        self._tell(event)

    def on_end(self, event: Any) -> None:
        self._tell(event)
        self._depth -= 1
        if self._depth == 0:
            self._seconds += time.monotonic() - self._began

    def _tell(self, event: Any) -> None:
        seconds = self._seconds + time.monotonic() - self._began
        is_own = str(event.data["dispatcher"].py_func.__module__).startswith("mauc.")
        is_terminal = bool(getattr(sys.stderr, "isatty", bool)()) and _is_main() and not _n_silent
        if is_own and is_terminal and seconds >= _DELAY_SECONDS and not self._is_done:
            self._is_done = True
            how = "once; mauc warmup does it for all methods"
            how = "for this process only" if _is_warned else how
            print(f"mauc: compiling loops ({how})", file=sys.stderr, flush=True)


def _is_main() -> bool:
    """Whether this is the process of a user and not a worker."""
    return current_process().name == "MainProcess"


def _warn_uncached() -> None:
    """Warn once that kernels are compiled in every process; workers leave it to their parent."""
    global _is_warned
    is_due, _is_warned = not _is_warned, True
    if is_due and _is_main():
        warnings.warn(
            f"every process compiles its loops anew: {_problem}; {_HINT}.",
            NoCacheWarning,
            stacklevel=2,
        )


def _find_folder() -> tuple[str, str]:
    """Return where Numba keeps kernels, or, if that is nowhere, the reason."""
    package = str(Path(__file__).resolve().parent)
    folders = [_settings.CACHE_DIR]
    if not _settings.CACHE_DIR:
        user = AppDirs(appname="numba", appauthor=False).user_cache_dir
        folders = [f"{package}/__pycache__", user]  # those that Numba tries, in its order
    reasons = []
    for folder in folders:
        try:
            if not folder.startswith(package):  # what is there is run, like the sources
                make_private(Path(folder))
            Path(folder).mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_PROBE)
            return folder, ""
        except OSError as error:
            reasons.append(f"{folder} ({error.strerror or error})")
    return "", f"compiled loops cannot be kept in {' or '.join(reasons)}"


_settings: Any = config  # whose names are set when it is imported
_folder, _problem = ("", "") if _settings.DISABLE_JIT else _find_folder()
event.register("numba:compile", _Notice())
