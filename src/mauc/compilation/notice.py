"""Say on a terminal why a first call takes long: compilations in, one line per method out."""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from types import FrameType
from typing import Any

from numba.core import event

from mauc.compilation.no_cache import has_cache
from mauc.registry import CLASSIFIERS, SELECTORS

_PATIENCE = 1.0  # seconds of compilation before something is said
_OTHER = "its"  # whose loops they are if no method is under way

_n_silent = 0
_is_listening = False
_tell: Callable[[str], None] | None = None  # in a worker: hands lines on


def announce_compilation() -> None:
    """Have calls that compile for longer than a second say so, once per method.

    Only the main process of a user at a terminal says it, notebooks do not; workers tell it to
    the process that started them, if that asked for it (`tell_by`).
    """
    global _is_listening
    if not _is_listening:
        _is_listening = True
        event.register("numba:compile", _Notice())


@contextmanager
def unannounced() -> Iterator[None]:
    """Say nothing about compilations while the context lasts."""
    global _n_silent
    _n_silent += 1
    try:
        yield
    finally:
        _n_silent -= 1


def tell_by(function: Callable[[str], None] | None) -> None:
    """Have this process, a worker, hand its lines to a function, whatever its own terminal."""
    global _tell
    _tell = function


def is_at_terminal() -> bool:
    """Return whether somebody reads the standard error of this process, the main one."""
    is_terminal = getattr(sys.stderr, "isatty", None)
    return (
        not _n_silent
        and is_terminal is not None
        and bool(is_terminal())
        and current_process().name == "MainProcess"
    )


class _Notice(event.Listener):
    """Adds up the seconds of compilation of each method; Numba compiles one kernel at a time."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._depth = 0
        self._began = 0.0
        self._method = _OTHER
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Begin to wait for a kernel, not for those that it calls."""
        self._depth += 1
        if self._depth > 1 or not _is_ours(event) or not (_tell or is_at_terminal()):
            return
        self._method, self._began = _method_under_way(), time.monotonic()
        left = _PATIENCE - self._seconds[self._method]
        if left > -_PATIENCE:  # it has not been said yet
            self._timer = threading.Timer(max(0.0, left), self._say, [self._method])
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Add the seconds of a kernel."""
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds[self._method] += time.monotonic() - self._began

    def _say(self, method: str) -> None:
        if self._seconds[method] == float("inf"):
            return
        self._seconds[method] = float("inf")
        of = "" if method == _OTHER else f" of {method}"
        how = ", once (mauc warmup does this for all methods)"
        if not has_cache():
            how = ", for this process only (NUMBA_CACHE_DIR may name a folder to keep them)"
        line = f"compiling the loops{of}{how}"
        if _tell is not None:
            _tell(line)
            return
        line = f"mauc: {line}"
        bars = getattr(sys.modules.get("tqdm"), "tqdm", None)
        if getattr(bars, "_instances", None):
            bars.write(line, file=sys.stderr)  # type: ignore[union-attr]
        else:
            # A live display of rich takes what is written to standard error above itself.
            print(line, file=sys.stderr, flush=True)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("mauc.")


def _method_under_way() -> str:
    """Return the label of the estimator at work in this thread or, from its threads, in another."""
    frames = sys._current_frames()
    own = frames.pop(threading.get_ident(), None)
    for frame in (own, *frames.values()):
        while frame is not None:
            label = _label_of(frame)
            if label is not None:
                return label
            frame = frame.f_back
    return _OTHER


def _label_of(frame: FrameType) -> str | None:
    """Return how tables write the method whose function a frame runs, if it is one."""
    if not frame.f_globals.get("__name__", "").startswith("mauc."):
        return None
    names = {kind.__name__ for kind in type(frame.f_locals.get("self")).__mro__}
    labels = [
        method.label
        for method in (*SELECTORS.values(), *CLASSIFIERS.values())
        if method.class_name in names
    ]
    # Two short names may share a class, of which the options tell which is meant.
    return " and ".join(labels) or None
