"""Pause Python's garbage collector while Numba compiles: nothing it finds there is garbage."""

import gc
from typing import Any

from numba.core import event


def pause_collector() -> None:
    """Have the collector pause while a kernel is compiled, which takes a tenth of the time off."""
    if not any(isinstance(known, _Pause) for known in event._registered["numba:compile"]):
        event.register("numba:compile", _Pause())


class _Pause(event.Listener):
    """Numba compiles one kernel at a time, and the kernels that it calls meanwhile."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_enabled = False

    def on_start(self, event: Any) -> None:
        """Disable the collector for a kernel, if it is enabled."""
        if self._depth == 0:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Enable it again after the kernel, not after those that it calls."""
        self._depth -= 1
        if self._depth == 0 and self._was_enabled:
            gc.enable()
