"""MDFS on a CSV file larger than the memory it may take: seconds and peak memory of two runs.

    python benchmarks/scale/bench_csv.py --folder /scratch [--rows 1000000] [--columns 200]

Writes a file of about 10 bytes per cell to the folder, a tenth of it to compare with the reader in
memory, and a cache of columns; all are removed at the end. Each run is a process of its own, after
one on a small file that compiles the kernels.

Bars, for 1,000,000 rows x 200 columns and memory="500MB":

- peak RSS <= 0.8 GB in both runs of the command
- the second run reads the cache: no parsing
- parsing into the cache, in megabytes of text per second, >= 0.7 of parsing into memory
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_CLASSES = 5
BLOCK = 5_000  # rows that are made at once

_FIT = """
import json, sys, time
began, cpu = time.perf_counter(), time.process_time()
from mauc import MDFS, open_columns
path, memory = sys.argv[1:]
source, y = open_columns(path, "label", memory=memory)
opened = time.perf_counter()
selector = MDFS(20, random_state=0, n_jobs=2).fit(source, y)
"""
_COMMAND = """
import contextlib, json, sys, time
began, cpu = time.perf_counter(), time.process_time()
path, memory = sys.argv[1:]
words = f"mauc select {path} --target label -k 20 --method mdfs -j 2 --memory {memory}"
sys.argv = words.split()
from mauc.cli import main
with contextlib.suppress(SystemExit):
    main()
opened = began
"""
_READ = """
import json, sys, time
from mauc.io.formats import open_table
from mauc.io.options import ReadOptions
began, cpu = time.perf_counter(), time.process_time()
path, memory = sys.argv[1:]
table = open_table(path, ReadOptions(target="label"))
opened = time.perf_counter()
"""
_OPEN = """
import json, sys, time
from mauc.io.formats import open_table
from mauc.io.options import ReadOptions
from mauc.memory import parse_bytes
began, cpu = time.perf_counter(), time.process_time()
path, memory = sys.argv[1:]
table = open_table(path, ReadOptions(target="label"), parse_bytes(memory))
opened = time.perf_counter()
"""
_REPORT = """
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({
    "open": opened - began, "all": time.perf_counter() - began, "cpu": time.process_time() - cpu,
    "peak": int(peak.split()[1]) * 1024 / 1e9,
}))
"""


def write_csv(path, n_rows, n_columns):
    """Write normal numbers of 7 digits whose means differ by class."""
    rng = np.random.default_rng(0)
    shift = np.linspace(0, 0.3, n_columns)
    with path.open("w") as file:
        file.write(",".join([*(f"f{j}" for j in range(n_columns)), "label"]) + "\n")
        for start in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - start)
            y = rng.integers(0, N_CLASSES, n)
            X = rng.standard_normal((n, n_columns)) + y[:, np.newaxis] * shift
            template = ",".join(["%.7g"] * n_columns + ["%d"])
            for row, label in zip(X.tolist(), y.tolist(), strict=True):
                file.write(template % (*row, label) + "\n")


def run(code, path, memory, folder):
    """Run a script in a process of its own; return what it reports."""
    done = subprocess.run(
        [sys.executable, "-c", code + _REPORT, str(path), memory],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "MAUC_CACHE": str(folder / "cache")},
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", required=True, help="where files are written, and removed")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--memory", default="500MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mauc-csv-", dir=options.folder) as name:
        folder = Path(name)
        small, tenth, full = (folder / f"{part}.csv" for part in ("small", "tenth", "full"))
        write_csv(small, 20_000, 60)  # large enough for the kernels of large tables
        run(_FIT, small, options.memory, folder)
        began = time.perf_counter()
        write_csv(tenth, options.rows // 10, options.columns)
        write_csv(full, options.rows, options.columns)
        size = full.stat().st_size / 1e9
        print(
            f"{options.rows:,} x {options.columns:,}, {size:.2f} GB of text, "
            f"memory={options.memory}; written in {time.perf_counter() - began:.0f} s"
        )
        for turn in ("first", "second"):
            done = run(_COMMAND, full, options.memory, folder)
            print(
                f"mauc select --method mdfs, {turn} run: {done['all']:.1f} s; "
                f"peak RSS {done['peak']:.2f} GB",
                flush=True,
            )
        done = run(_FIT, full, options.memory, folder)
        print(
            f"MDFS in Python, from the cache: {done['all']:.1f} s, of these {done['open']:.1f} s "
            f"to open; peak RSS {done['peak']:.2f} GB",
            flush=True,
        )
        tenth_mb = tenth.stat().st_size / 1e6
        speeds, cpus = {}, {}
        for what, code in (("into memory", _READ), ("into the cache", _OPEN)):
            done = run(code, tenth, options.memory, folder)
            speeds[what], cpus[what] = tenth_mb / done["open"], tenth_mb / done["cpu"]
            print(
                f"{tenth_mb:.0f} MB {what}: {done['open']:.1f} s, {speeds[what]:.0f} MB/s "
                f"({cpus[what]:.0f} MB per second of CPU); peak RSS {done['peak']:.2f} GB",
                flush=True,
            )
        ratios = [of["into the cache"] / of["into memory"] for of in (speeds, cpus)]
        print(f"into the cache / into memory: {ratios[0]:.2f} by the clock, {ratios[1]:.2f} by CPU")


if __name__ == "__main__":
    main()
