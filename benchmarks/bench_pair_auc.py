"""All class-pair AUCs of all features, against sorting alone and against other programs."""

import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from _common import SHAPES, load, print_header, print_row, random_data, time_in_turns
from mauc import feature_pair_auc

N_SAMPLED = 3  # features that the scikit-learn loop is timed on

R_SCRIPT = """
suppressMessages(library(caTools))
args <- commandArgs(TRUE)
n <- as.integer(args[3]); m <- as.integer(args[4])
X <- matrix(readBin(args[1], "double", n * m), n, m)
y <- factor(readBin(args[2], "integer", n))
cat(min(replicate(3, system.time(colAUC(X, y))[["elapsed"]])))
"""


def bench_sorting(name, X, y, dtype, argsort_bar, sort_bar):
    """Compare with the sort that any such program must do, with and without a payload."""
    X = np.asfortranarray(X, dtype=dtype)
    ours, argsort, sort = time_in_turns(
        partial(feature_pair_auc, X, y, n_jobs=1),
        partial(np.argsort, X, axis=0),
        partial(np.sort, X, axis=0),
        clock=time.process_time,
    )
    measure = f"{name}, {np.dtype(dtype)}"
    print_row(measure, ours, "np.argsort(X, axis=0)", argsort, argsort_bar)
    print_row(measure, ours, "np.sort(X, axis=0)", sort, sort_bar)


def bench_counting():
    """Compare columns of bytes, which are counted, with sorting them as float32."""
    X, y, source = load("mnist", np.uint8)
    as_float = X.astype(np.float32)
    ours, sort = time_in_turns(
        partial(feature_pair_auc, X, y, n_jobs=1),
        partial(np.sort, as_float, axis=0),
        clock=time.process_time,
    )
    print_row(f"{source} mnist, uint8", ours, "np.sort as float32", sort, "<= 0.6")


def bench_threads():
    """Compare two threads with one."""
    real_X, real_y, source = load("mnist", np.uint8)
    cases = {f"{source} mnist, uint8": (real_X, real_y)}
    cases["random mnist, float32"] = random_data(*SHAPES["mnist"])
    for name, (X, y) in cases.items():
        two, one = time_in_turns(
            *(partial(feature_pair_auc, X, y, n_jobs=n_jobs) for n_jobs in (2, 1))
        )
        print_row(f"{name}, 2 threads", two, "1 thread", one, ">= 1.7")


def bench_sklearn_loop():
    """Compare with roc_auc_score for every pair and feature, extrapolated from few features."""
    X, y, source = load("isolet")
    classes = np.unique(y)

    def loop():
        for a, first in enumerate(classes):
            for second in classes[a + 1 :]:
                rows = np.flatnonzero((y == first) | (y == second))
                is_first, part = y[rows] == first, X[rows, :N_SAMPLED]
                for j in range(N_SAMPLED):
                    roc_auc_score(is_first, part[:, j])

    ours, sampled = time_in_turns(partial(feature_pair_auc, X, y, n_jobs=1), loop, n_repeats=2)
    theirs = sampled * X.shape[1] / N_SAMPLED
    print_row(f"{source} isolet, float32", ours, "loop of roc_auc_score (*)", theirs, ">= 500")
    print(f"  (*) timed on all pairs of {N_SAMPLED} features, times {X.shape[1]} / {N_SAMPLED}")


def bench_colauc():
    """Compare with R's caTools::colAUC, timed inside R, where it is installed."""
    X, y, source = load("usps")
    theirs = _colauc_seconds(X, y)
    if theirs is None:
        print("  caTools::colAUC skipped: Rscript or the R package caTools is not installed")
        return
    (ours,) = time_in_turns(partial(feature_pair_auc, X, y, n_jobs=1))
    print_row(f"{source} usps, float32", ours, "R caTools::colAUC", theirs, ">= 20")


def _colauc_seconds(X, y):
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("X", "y")]
        X.T.astype(np.float64).tofile(paths[0])
        np.unique(y, return_inverse=True)[1].astype(np.int32).tofile(paths[1])
        run = subprocess.run(
            [rscript, "-e", R_SCRIPT, *paths, *map(str, X.shape)], capture_output=True, text=True
        )
    return float(run.stdout) if run.returncode == 0 else None


def bench_many_classes():
    """Time 500 classes, 124,750 pairs."""
    X, y = random_data(10_000, 100, 500)
    (ours,) = time_in_turns(partial(feature_pair_auc, X, y, n_jobs=1), n_repeats=3)
    print_row("random 10000 x 100, 500 classes, float32", ours)


def main():
    print_header("feature_pair_auc: every feature on every class pair, 1 thread unless said")
    cases = {f"random {name}": random_data(*SHAPES[name]) for name in ("isolet", "mnist")}
    X, y, source = load("isolet")
    if source == "real":
        cases["real isolet"] = X, y
    for name, (X, y) in cases.items():
        bench_sorting(name, X, y, np.float32, "<= 0.4", "<= 1.1")
    for name, (X, y) in cases.items():
        bench_sorting(name, X, y, np.float64, "<= 0.7", "<= 1.2")
    bench_counting()
    bench_threads()
    bench_sklearn_loop()
    bench_colauc()
    bench_many_classes()


if __name__ == "__main__":
    main()
