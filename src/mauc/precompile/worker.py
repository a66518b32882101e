"""A process that compiles: names of jobs on standard input, one line of JSON for each out."""

import json
import sys
import warnings
from typing import Any

from numba.core import event

from mauc.compilation.once import called_kernels, compile_once, kernel_key
from mauc.precompile.jobs import do_job


class _Recorder(event.Listener):
    """Records the kernels of mauc that are compiled, not those that are loaded."""

    def __init__(self) -> None:
        self.compiled: set[str] = set()

    def on_start(self, event: Any) -> None:
        """Wait for the end."""

    def on_end(self, event: Any) -> None:
        """Record a kernel."""
        key = kernel_key(event.data["dispatcher"], event.data["args"])
        if key.startswith("mauc."):
            self.compiled.add(key)


def main() -> None:
    """Do the jobs whose names are read, until there are no more."""
    warnings.simplefilter("ignore")  # tiny data are degenerate in many ways
    compile_once()
    recorder = _Recorder()
    event.register("numba:compile", recorder)
    for line in sys.stdin:
        error = None
        try:
            do_job(line.strip())
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}".splitlines()[0]
        called, compiled = called_kernels(), recorder.compiled
        answer = {"error": error, "called": sorted(called), "compiled": sorted(compiled)}
        print(json.dumps(answer), flush=True)
