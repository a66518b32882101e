"""PairAUCSketch against exact pair AUCs: how far it is off, its bound, and its speed."""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from _common import print_header, print_row, time_in_turns
from mauc import PairAUCSketch, feature_pair_auc
from mauc.exceptions import LooseBoundWarning

NAMES = ("isolet", "mnist", "usps", "indiana", "phoneme")
N_BINS, N_PARTS = 1024, 32
BAR = 0.002  # the largest error of an AUC
N_ROWS, N_COLUMNS, N_CLASSES = 2_000_000, 100, 5
N_REPEATS = 5
N_JOBS = 2


def sketch_in_parts(X, y):
    """Return a sketch of all rows, its bins fixed by a quarter of them, and its seconds."""
    start = time.perf_counter()
    sketch = PairAUCSketch(N_BINS, n_buffered=len(y) // 4, n_jobs=N_JOBS)
    for rows in np.array_split(np.arange(len(y)), N_PARTS):
        sketch.update(X[rows], y[rows])
    sketch.pair_auc()
    return sketch, time.perf_counter() - start


def compare(name):
    """Print how far the sketch of a data set of the paper is off, and how far it may be."""
    path = Path(os.environ.get("MAUC_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        print(f"{name}: MAUC_DATA has no {path.name}, left out")
        return
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    exact = feature_pair_auc(X, y, n_jobs=N_JOBS)
    orders = {
        "as given": np.arange(len(y)),
        "shuffled": np.random.default_rng(0).permutation(len(y)),
        "by class": np.argsort(y, kind="stable"),
    }
    for words, order in orders.items():
        sketch, seconds = sketch_in_parts(X[order], y[order])
        difference, bound = np.abs(sketch.pair_auc() - exact), sketch.error_bound()
        print(
            f"{name:<8} {words}: max difference {difference.max():.5f}, <= {BAR}: "
            f"{'yes' if difference.max() <= BAR else 'NO'}  max bound {bound.max():.5f}  "
            f"mean bound {bound.mean():.5f}  exact {np.mean(bound == 0):4.0%}  within bound: "
            f"{'yes' if (difference <= bound).all() else 'NO'}  {seconds:.1f} s",
            flush=True,
        )


def main():
    print_header(f"sketch of {N_BINS} bins fixed by 1/4 of the rows, {N_PARTS} parts of rows")
    warnings.simplefilter("ignore", LooseBoundWarning)  # bounds are printed
    for name in NAMES:
        compare(name)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_COLUMNS), dtype=np.float32)
    y = rng.integers(0, N_CLASSES, N_ROWS)
    print_header(
        f"update with {N_ROWS:,} x {N_COLUMNS} float32, {N_CLASSES} classes, {N_JOBS} threads"
    )
    for order in "CF":
        Z = np.asarray(X, order=order)
        sketch = PairAUCSketch(N_BINS, n_jobs=N_JOBS).update(Z, y)
        contestants = (
            lambda Z=Z, sketch=sketch: sketch.update(Z, y),
            lambda Z=Z: feature_pair_auc(Z, y, n_jobs=N_JOBS),
        )
        seconds, exact = time_in_turns(*contestants, n_repeats=N_REPEATS)
        print_row(f"update, {order} order", seconds, "exact feature_pair_auc", exact)
        # Where others use the machine, the seconds of the cores tell what two free ones would take.
        of_cores = time_in_turns(*contestants[:1], n_repeats=N_REPEATS, clock=time.process_time)[0]
        rate, free_rate = X.size / seconds, N_JOBS * X.size / of_cores
        holds = "yes" if rate >= 1e8 else "NO"
        print(
            f"{rate / 1e6:.0f} million cells per second, >= 100: {holds}; "
            f"{free_rate / 1e6:.0f} by the time of the cores",
            flush=True,
        )


if __name__ == "__main__":
    main()
