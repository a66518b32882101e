"""One process of a host compiles a kernel, the others wait and load it from the cache."""

import contextlib
import functools
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

_compile = Dispatcher.compile
_called: set[str] = set()
_depth = 0


def compile_once() -> None:
    """Let this process compile a kernel of mauc only while no other process does.

    For workers: when several begin with an empty cache, each kernel is compiled by one of them.
    Moreover, two processes that save two signatures of a kernel at the same time may give both
    files the same name, and one signature then loads the machine code of the other.
    """
    if find_spec("filelock") is not None:
        Dispatcher.compile = _compile_alone  # type: ignore[method-assign, assignment]


def called_kernels() -> set[str]:
    """Return the kernels, with their types, that Python called so far in this process.

    Those that kernels call are not among them: a kernel from the cache brings them along.
    """
    return set(_called)


def kernel_key(kernel: Any, types: Any) -> str:
    """Return the name of a kernel and its argument types."""
    function = kernel.py_func
    return f"{function.__module__}.{function.__qualname__}({', '.join(map(str, types))})"


def _compile_alone(kernel: Any, signature: Any) -> Any:
    """Take the place of `Dispatcher.compile`, which looks into the cache first."""
    global _depth
    is_known = isinstance(signature, tuple) and signature in kernel.overloads
    if is_known or not str(kernel.py_func.__module__).startswith("mauc."):
        return _compile(kernel, signature)
    # Threads first, then processes: a thread that waits for the compiler holds no file. A kernel
    # waits for those that it calls and never the other way, so no two processes wait for each
    # other.
    with global_compiler_lock, _locked(kernel):
        if _depth == 0:
            _called.add(kernel_key(kernel, getattr(signature, "args", signature)))
        _depth += 1
        try:
            return _compile(kernel, signature)
        finally:
            _depth -= 1


@contextlib.contextmanager
def _locked(kernel: Any) -> Iterator[None]:
    """Hold the lock beside the index of a kernel, if it has one and the file system has locks."""
    with contextlib.ExitStack() as stack:
        if kernel.stats.cache_path is not None:
            with contextlib.suppress(OSError, NotImplementedError):
                stack.enter_context(_lock_of(kernel))
        yield


@functools.cache
def _lock_of(kernel: Any) -> Any:
    from filelock import FileLock

    function = kernel.py_func
    module = function.__module__.rpartition(".")[2]
    name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}.lock"
    folder = Path(kernel.stats.cache_path)
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / name.replace("<", "").replace(">", ""))
