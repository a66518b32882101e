"""Seconds of the nine selectors on every data set, beside the paper's Table 10.

Writes runtime.md, and runtime.csv with the seconds on the paper's data sets: `make bench-runtime`.
"""

import csv
import os
import platform
import time
import warnings
from pathlib import Path

import numpy as np

from mauc import FSDD, MAUCD, MDFS, MRMR, ChiSquare, ReliefF, SpreadFx, SymmetricalUncertainty
from reproduction.common import versions
from reproduction.published import load_published_runtime

TABLE = Path(__file__).with_suffix(".md")

N_SELECTED = 100
N_REPEATS = 5
LONGEST = 120.0  # seconds that ReliefF on all samples may take

# Name in the table, name in the published table, selector of K features.
SELECTORS = (
    ("MDFS", "mdfs", lambda k: MDFS(k, random_state=0, n_jobs=1)),
    ("MAUCD", "maucd", lambda k: MAUCD(k, n_jobs=1)),
    ("mRMR", "mrmr", lambda k: MRMR(k, n_jobs=1)),
    ("FSDD", "fsdd", lambda k: FSDD(k, n_jobs=1)),
    ("SCHI", "schi", lambda k: spread_fx(k, "chi2")),
    ("SSU", "ssu", lambda k: spread_fx(k, "su")),
    ("CHI", "chi", lambda k: ChiSquare(k, n_jobs=1)),
    ("SU", "su", lambda k: SymmetricalUncertainty(k, n_jobs=1)),
    ("ReliefF, ln n samples", "relieff", lambda k: relieff(k, "log")),
)
ALL_SAMPLES = "ReliefF, all samples"

# Files whose data are those of the paper's table; Indiana lacks 20 of its 220 bands.
COMPARABLE = ("isolet", "mnist", "usps", "phoneme", "indiana", "synthetic")


def spread_fx(k, relevance):
    return SpreadFx(k, relevance=relevance, schedule="round_robin", n_jobs=1)


def relieff(k, n_iterations):
    return ReliefF(k, n_iterations=n_iterations, random_state=0, n_jobs=1)


def least_seconds(selector, X, y, n_repeats=N_REPEATS):
    """Return the least seconds of a fit, after one that may compile."""
    selector.fit(X, y)
    seconds = []
    for _ in range(n_repeats):
        start = time.perf_counter()
        selector.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(X, y):
    """Return the seconds of each selector, by name; None for one that would take too long."""
    k = min(N_SELECTED, X.shape[1])
    seconds = {name: least_seconds(make(k), X, y) for name, _, make in SELECTORS}
    n_tried = min(200, len(X))
    tried = least_seconds(relieff(k, n_tried), X, y, n_repeats=1)
    seconds[ALL_SAMPLES] = None
    if tried * len(X) / n_tried < LONGEST:
        seconds[ALL_SAMPLES] = least_seconds(relieff(k, "all"), X, y, n_repeats=2)
    return seconds


def cpu_name():
    """Return the name of the processor, or its architecture where /proc does not tell."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def format_seconds(value):
    return "" if value is None else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def write_table(results, shapes):
    """Write our seconds and the published ones, a row a selector, a column a data set."""
    published = load_published_runtime().set_index(["selector", "dataset"])["seconds"].to_dict()
    keys = {name: key for name, key, _ in SELECTORS}
    names = list(results)
    lines = [
        "# Seconds of the selectors",
        "",
        "Written by `make bench-runtime` (`MAUC_DATA=folder python -m reproduction.runtime`).",
        f"{cpu_name()}, {platform.system()}, Python {platform.python_version()}, "
        f"{versions('mauc', 'numpy', 'numba', 'scikit-learn')}; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
        "",
        f"One `fit` on all samples with one thread, {N_SELECTED} features (all, where there are "
        f"fewer), least of {N_REPEATS} runs after a first one (ReliefF on all samples: of 2), "
        "data in memory as in the file. Behind the stroke: Table 10 of Wang & Tang, on their "
        "machine, so that only the order of magnitude compares. Indiana has 200 of the "
        "paper's 220 bands. Data sets whose name has `sub` stand in for ones that are not to be "
        "had, without a published time.",
        "",
        "| | " + " | ".join(f"{name} {shapes[name]}" for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for selector in (*keys, ALL_SAMPLES):
        cells = []
        for name in names:
            theirs = published.get((keys.get(selector), name)) if name in COMPARABLE else None
            ours = format_seconds(results[name][selector]) or "-"
            cells.append(f"{ours} / {format_seconds(theirs)}" if theirs is not None else ours)
        lines.append(f"| {selector} | " + " | ".join(cells) + " |")
    TABLE.write_text("\n".join(lines) + "\n")
    with TABLE.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["selector", "dataset", "seconds"])
        for selector, key in keys.items():
            for name in (name for name in names if name in COMPARABLE):
                writer.writerow([key, name, f"{results[name][selector]:.6f}"])


def main():
    folder = os.environ.get("MAUC_DATA")
    paths = sorted(Path(folder).glob("*.npz")) if folder else []
    if not paths:
        raise SystemExit("MAUC_DATA must name a folder with npz files.")
    warnings.simplefilter("ignore")  # constant and small columns of the data
    results, shapes = {}, {}
    for path in paths:
        with np.load(path) as data:
            X, y = data["X"], data["y"]
        shapes[path.stem] = f"({X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes)"
        results[path.stem] = measure(X, y)
        print(path.stem, shapes[path.stem], flush=True)
        for selector, seconds in results[path.stem].items():
            print(f"  {selector:<24} {format_seconds(seconds) or '-'}", flush=True)
    write_table(results, shapes)
    print(f"written: {TABLE}; load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
