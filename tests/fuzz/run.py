"""Read broken and hostile files in other processes, with limits of time and memory.

    python -m tests.fuzz.run 5000     (make fuzz: so many mutations, then all hostile files)

A file is read, or refused by an error that names it, within 30 seconds of work and 2 GB of memory,
or half a GB more than `--memory`.
"""

import multiprocessing
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS, MEMORY, MARGIN = 30, 2 * 10**9, 5 * 10**8
FRESH = 430 * 10**6  # with more in memory after a file, the next one gets a new process
LIMITED = 200 * 10**6  # of `--memory`, in bytes
N_PROCESSES = 2


def serve(channel):
    """Answer cases with None, or with what is wrong; the working folder is the process's own."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["MAUC_CACHE"] = str(Path(folder, "cache"))
        originals = {}
        while True:
            kind, name, how = channel.recv()
            path = Path(name)
            path.unlink(missing_ok=True)
            if kind == "hostile":
                hostile_files()[name](path)
            else:
                write_mutation(originals, path, how)
            channel.send("written")
            Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of the memory
            try:
                channel.send(select(path, how) if kind == "hostile" else read(path))
            except Exception:
                channel.send(traceback.format_exc())


def write_mutation(originals, path, seed):
    """Write a broken file."""
    from tests.fuzz.mutations import WRITERS, mutate

    if path.name not in originals:
        WRITERS[path.name](path)
        originals[path.name] = path.read_bytes()
        path.unlink()
    path.write_bytes(mutate(originals[path.name], seed))


def read(path):
    """Read a file in both ways; its error must name it."""
    import numpy as np

    from mauc import open_columns
    from mauc.datasets import load_dataset
    from mauc.exceptions import MaucError

    def stream(path, target):
        columns, _ = open_columns(path, target, memory=LIMITED)
        columns.read(np.arange(min(2, columns.shape[1])))

    for load in (load_dataset, stream):
        target = None if path.suffix in (".mat", ".npz", ".svm") else -1
        try:
            load(path, target)
        except MaucError as error:
            if str(path) not in str(error):
                return f"the error does not name the file: {error}"
        excess = peak() - (MEMORY if load is load_dataset else max(MEMORY, LIMITED + MARGIN))
        if excess > 0:
            return f"{peak() / 1e6:,.0f} MB of memory"
    return None


def select(path, options):
    """Select from a file on the command line."""
    from click.testing import CliRunner

    from mauc.cli.app import app
    from tests.fuzz.hostile import arguments

    words = ["select", str(path), *arguments(path), "-k", "1", "-m", "mdfs", *options]
    result = CliRunner().invoke(app, words)
    limit = LIMITED + MARGIN if "--memory" in options else MEMORY
    if result.exit_code not in (0, 2) or "Traceback" in result.output:
        return f"exit code {result.exit_code}: {result.output[-500:]} {result.exception!r}"
    if peak() > limit:
        return f"{peak() / 1e6:,.0f} MB of memory, {limit / 1e6:,.0f} are allowed"
    return None


def peak():
    """Return the most bytes of memory that this process had since it was asked to forget."""
    return _kilobytes("self", "VmHWM:") * 1024


def _kilobytes(process, name):
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _cpu_seconds(process):
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Reader:
    """Another process that reads files, started again after it was killed."""

    def __init__(self):
        self._process = None

    def ask(self, case):
        """Return None if a file is read or refused as it should be, otherwise what is wrong."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._channel, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        self._channel.send(case)
        try:
            self._channel.recv()  # the file is written
            answer = self._wait()
        except EOFError:
            self._process.join()
            answer = f"the process ended with {self._process.exitcode}"
        if answer is not None or self._bytes() > FRESH:
            self.stop()
        return answer

    def _wait(self):
        started, worked = time.monotonic(), _cpu_seconds(self._process.pid)
        while not self._channel.poll(0.05):
            worked_now = _cpu_seconds(self._process.pid) - worked
            if worked_now > SECONDS or time.monotonic() - started > 4 * SECONDS:
                return f"no answer in {worked_now:.0f} seconds of work"
            if self._bytes() > 2 * MEMORY:
                return f"more than {2 * MEMORY / 1e9:.0f} GB of memory"
        return self._channel.recv()

    def _bytes(self):
        return _kilobytes(self._process.pid, "VmRSS:") * 1024

    def stop(self):
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def run(cases, n_processes=N_PROCESSES):
    """Return the cases that went wrong, with what is wrong, and how many there were of each."""
    left, wrong = iter(list(cases)), []

    def work():
        reader = Reader()
        try:
            for case in left:
                answer = reader.ask(case)
                if answer is not None:
                    wrong.append((case, answer))
                    print(case, answer, flush=True)
        finally:
            reader.stop()

    with ThreadPoolExecutor(n_processes) as threads:
        for done in [threads.submit(work) for _ in range(n_processes)]:
            done.result()
    return wrong


def mutations(number):
    """Yield cases, the formats in turn."""
    from tests.fuzz.mutations import WRITERS

    names = list(WRITERS)
    for i in range(number):
        yield "mutation", names[i % len(names)], i // len(names)


def hostile_files():
    """Return the writers of hostile files by their names."""
    from tests.fuzz import hostile, tables

    return {**hostile.FILES, **tables.FILES}


def hostile(names=None):
    """Yield cases, read whole and within a limit of memory."""
    for name in hostile_files() if names is None else names:
        if not name.startswith("rows_"):  # tables of many rows, which may well be in memory
            yield "hostile", name, ()
        yield "hostile", name, ("--memory", str(LIMITED))


if __name__ == "__main__":
    cases = [*mutations(int(sys.argv[1])), *hostile()]
    began = time.monotonic()
    wrong = run(cases)
    counts = Counter(kind for kind, _, _ in cases)
    print(f"{dict(counts)} in {time.monotonic() - began:.0f} s: {len(wrong)} went wrong")
    sys.exit(bool(wrong))
