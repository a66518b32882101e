"""All class-pair AUCs at every height and of every distribution, against sorting alone."""

import sys
import time
from functools import partial

import numpy as np

from _common import print_header, print_row, time_in_turns
from mauc import feature_pair_auc

N_CLASSES = 10
N_ELEMENTS = 4_000_000
MIN_COLUMNS = 2
HEIGHTS = (10_000, 100_000, 1_000_000, 10_000_000)


def with_outlier(x):
    x[len(x) // 2] = 1e30
    return x


def with_missing(rng, x):
    x[rng.random(x.shape) < 0.05] = np.nan
    return x


def denormal_of(dtype):
    return float(np.finfo(dtype).tiny) / 8


# Each takes a generator, a shape and the type, and returns a matrix.
DISTRIBUTIONS = {
    "uniform": lambda rng, shape, dtype: rng.random(shape),
    "normal": lambda rng, shape, dtype: rng.standard_normal(shape),
    "heavy tail, exp(3 N)": lambda rng, shape, dtype: np.exp(3 * rng.standard_normal(shape)),
    "counts": lambda rng, shape, dtype: rng.poisson(4, shape),
    "z-scored counts": lambda rng, shape, dtype: (rng.poisson(4, shape) - 4.01) / 1.97,
    "1000 values off a grid": lambda rng, shape, dtype: rng.integers(0, 1000, shape) / 7,
    "5 % missing": lambda rng, shape, dtype: with_missing(rng, rng.standard_normal(shape)),
    "one outlier": lambda rng, shape, dtype: with_outlier(rng.standard_normal(shape)),
    "denormals": lambda rng, shape, dtype: rng.standard_normal(shape) * denormal_of(dtype),
    "clusters 1e9 apart": lambda rng, shape, dtype: rng.standard_normal(shape)
    + 1e9 * rng.integers(0, 2, shape),
}  # fmt: skip
FRIENDLY = ("uniform", "normal")


def matrix(name, n_samples, dtype):
    """Return a matrix in Fortran order."""
    n_features = max(MIN_COLUMNS, N_ELEMENTS // n_samples)
    made = DISTRIBUTIONS[name](np.random.default_rng(0), (n_features, n_samples), dtype)
    return made.astype(dtype).T


def main():
    heights = [int(float(argument)) for argument in sys.argv[1:]] or HEIGHTS
    print_header(f"feature_pair_auc at every height, {N_CLASSES} classes, 1 thread, CPU seconds")
    per_element = {}
    for n_samples in heights:
        y = np.random.default_rng(1).permutation(np.arange(n_samples) % N_CLASSES)
        for dtype in (np.float32, np.float64):
            for name in DISTRIBUTIONS:
                X = matrix(name, n_samples, dtype)
                ours, argsort = time_in_turns(
                    partial(feature_pair_auc, X, y, n_jobs=1),
                    partial(np.argsort, X, axis=0),
                    n_repeats=5,
                    clock=time.process_time,
                )
                per_element[name, dtype, n_samples] = ours / X.size
                is_short = n_samples == HEIGHTS[0] and name in FRIENDLY
                measure = f"{n_samples:.0e} {np.dtype(dtype)} {name}"
                bar = "<= 0.45" if is_short else "<= 0.7"
                print_row(measure, ours, "np.argsort(X, axis=0)", argsort, bar)
    print_growth(per_element, heights)
    print_spread(per_element, heights)


def print_growth(per_element, heights):
    """Print the time of an element in the tallest matrix against n log n from the shortest."""
    low, high = min(heights), max(heights)
    if low == high:
        return
    for dtype in (np.float32, np.float64):
        for name in DISTRIBUTIONS:
            law = per_element[name, dtype, low] * np.log2(high) / np.log2(low)
            measure = f"{high:.0e} {np.dtype(dtype)} {name}"
            ours = 1e9 * per_element[name, dtype, high]
            print_row(measure, ours, f"n log n from {low:.0e}", 1e9 * law, "<= 2", "ns")


def print_spread(per_element, heights):
    """Print every distribution against the slower of the friendly ones."""
    for n_samples in heights:
        for dtype in (np.float32, np.float64):
            friendly = max(per_element[name, dtype, n_samples] for name in FRIENDLY)
            for name in DISTRIBUTIONS:
                if name not in FRIENDLY:
                    measure = f"{n_samples:.0e} {np.dtype(dtype)} {name}"
                    ours = 1e9 * per_element[name, dtype, n_samples]
                    print_row(measure, ours, "uniform or normal", 1e9 * friendly, "<= 1.3", "ns")


if __name__ == "__main__":
    main()
