"""Where nothing can be kept, run without Numba's cache: one warning instead of an error."""

import sys
import warnings
from multiprocessing import current_process
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from mauc.compilation.cache import find_cache
from mauc.exceptions import MaucError, NoCacheWarning

_enable_caching = Dispatcher.enable_caching
_is_kept = True
_INTERNAL = ("mauc.", "numba.", "sklearn.", "importlib.")


def allow_no_cache() -> None:
    """Let kernels of mauc be made where no folder for a cache can be written.

    Numba refuses to make such a kernel, so that on a read-only installation with a read-only
    home an import would fail. Such kernels are compiled in every process instead. To be called
    before the first kernel is made.
    """
    Dispatcher.enable_caching = _enable_if_possible  # type: ignore[method-assign, assignment]


def has_cache() -> bool:
    """Return whether compiled kernels are kept, as far as is known."""
    return _is_kept


def _enable_if_possible(kernel: Any) -> None:
    """Take the place of `Dispatcher.enable_caching`."""
    if not str(kernel.py_func.__module__).startswith("mauc."):
        _enable_caching(kernel)
        return
    try:
        kernel._cache = _WillingCache(kernel.py_func)
    except (RuntimeError, OSError):  # no locator available; no source to look at
        try:
            why = f"Numba found no place for its cache below {find_cache()}"
        except MaucError as error:
            why = str(error).partition(";")[0].rstrip(".")
        _go_without(why)


class _WillingCache(FunctionCache):
    """A cache that goes without what cannot be read or written: no space left, no permission."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled kernel, or None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None  # it is compiled; if that cannot be kept either, it is said then

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel if possible."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _go_without(f"{self.cache_path}: {error.strerror or error}")


def _go_without(why: str) -> None:
    """Warn the user, once; workers do not warn, for the process that started them does."""
    global _is_kept
    is_known, _is_kept = not _is_kept, False
    if is_known or current_process().name != "MainProcess":
        return
    frame = sys._getframe(1)
    while frame.f_back and f"{frame.f_globals.get('__name__', '')}.".startswith(_INTERNAL):
        frame = frame.f_back
    warnings.warn_explicit(
        f"compiled loops cannot be kept, so that every process compiles them anew: {why}; set the "
        "environment variable NUMBA_CACHE_DIR to a folder that can be written.",
        NoCacheWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
    )
