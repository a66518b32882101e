"""A Dask scheduler and workers as processes of their own, to be killed one by one."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import mauc
from tests.helpers.run_tools import ROOT, wait_for

SOURCES = Path(mauc.__file__).resolve().parents[1]


class DaskProcesses:
    """A scheduler on a free port; workers of one thread, without a nanny that would replace them.

    `folder` is for the files that Dask writes, `address` that of a scheduler that is there already.
    """

    def __init__(self, folder, address=None):
        self._folder, self.scheduler, self.workers = Path(folder), None, []
        self.address = address
        if address is None:
            file = self._folder / "scheduler.json"
            self.scheduler = self._start(
                "scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dashboard",
                "--scheduler-file",
                str(file),
            )
            wait_for(file.exists)
            self.address = json.loads(file.read_text())["address"]

    def start_worker(self, *, path=(), folder=None):
        """Start a worker; `path` comes before PYTHONPATH, `folder` is where it runs."""
        self.workers.append(
            self._start(
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--memory-limit",
                "1GB",
                "--local-directory",
                str(self._folder),
                path=path,
                folder=folder,
            )
        )
        return self.workers[-1]

    def _start(self, command, *arguments, path=(), folder=None):
        paths = [*map(str, path), str(ROOT), str(SOURCES), os.environ.get("PYTHONPATH", "")]
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{command}", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in filter(None, [*self.workers, self.scheduler]):
            kill(process)


def kill(process):
    """End a process as a crash would."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()
