"""All class-pair AUCs at every shape, type, order and distribution, against sorting alone.

``python bench_shapes.py 1000x400 10000x200`` measures the shapes that are named.
"""

import sys
import time
from functools import partial

import numpy as np

from _common import print_header, print_row, time_in_turns
from mauc import feature_pair_auc

N_CLASSES = 5
SHAPES = ((1_000, 400), (10_000, 200), (100_000, 20), (1_000_000, 3), (10_000_000, 2))
MAX_BOTH_ORDERS = 1_000_000  # rows up to which C order is measured, too
BARS = {1_000: "<= 0.6"}  # by rows; otherwise 0.45


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
    "t, 2 degrees": lambda rng, shape, dtype: rng.standard_t(2, shape),
    "lognormal": lambda rng, shape, dtype: rng.lognormal(size=shape),
    "z-scored counts": lambda rng, shape, dtype: (rng.poisson(4, shape) - 4.01) / 1.97,
    "two decimals": lambda rng, shape, dtype: rng.standard_normal(shape).round(2),
    "heavy tail, exp(3 N)": lambda rng, shape, dtype: np.exp(3 * rng.standard_normal(shape)),
    "counts": lambda rng, shape, dtype: rng.poisson(4, shape),
    "1000 values off a grid": lambda rng, shape, dtype: rng.integers(0, 1000, shape) / 7,
    "5 % missing": lambda rng, shape, dtype: with_missing(rng, rng.standard_normal(shape)),
    "one outlier": lambda rng, shape, dtype: with_outlier(rng.standard_normal(shape)),
    "denormals": lambda rng, shape, dtype: rng.standard_normal(shape) * denormal_of(dtype),
    "clusters 1e9 apart": lambda rng, shape, dtype: (
        rng.standard_normal(shape) + 1e9 * rng.integers(0, 2, shape)
    ),
}
FRIENDLY = ("uniform", "normal")


def matrix(name, shape, dtype, order):
    """Return a matrix of one distribution; the columns are the same in both orders."""
    made = DISTRIBUTIONS[name](np.random.default_rng(0), shape[::-1], dtype)
    return np.asarray(made.astype(dtype).T, order=order)


def main():
    shapes = [tuple(map(int, shape.split("x"))) for shape in sys.argv[1:]] or SHAPES
    print_header(f"feature_pair_auc at every shape, {N_CLASSES} classes, 1 thread, CPU seconds")
    per_element = {}
    for shape in shapes:
        y = np.random.default_rng(1).permutation(np.arange(shape[0]) % N_CLASSES)
        for dtype in (np.float32, np.float64):
            for order in "FC" if shape[0] <= MAX_BOTH_ORDERS else "F":
                for name in DISTRIBUTIONS:
                    X = matrix(name, shape, dtype, order)
                    ours, argsort = time_in_turns(
                        partial(feature_pair_auc, X, y, n_jobs=1),
                        partial(np.argsort, X, axis=0),
                        n_repeats=20 if X.size < 1_000_000 else 5,
                        clock=time.process_time,
                    )
                    if order == "F":
                        per_element[name, dtype, shape[0]] = ours / X.size
                    measure = f"{shape[0]}x{shape[1]} {np.dtype(dtype)} {order} {name}"
                    bar = BARS.get(shape[0], "<= 0.45")
                    print_row(measure, ours, "np.argsort(X, axis=0)", argsort, bar)
    # A call has costs of its own, which count on small tables.
    heights = [n for n, _ in shapes if n >= 10_000]
    print_growth(per_element, heights)
    print_spread(per_element, heights)


def print_growth(per_element, heights):
    """Print the time of an element in the tallest matrix against n log n from the shortest."""
    if len(heights) < 2:
        return
    low, high = min(heights), max(heights)
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
