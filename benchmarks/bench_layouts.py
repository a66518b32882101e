"""The same values in every layout: CPU seconds and peak extra memory of a fit.

Every case is compared with a contiguous array in Fortran order of float64 that holds the same
values. Memory is how far the resident set rises during the fit, in a fresh process after a fit
on a few rows; Linux alone lets a process reset that peak.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np

from _common import print_header, print_row, run_in_fresh_process, time_in_turns
from mauc import FSDD, MAUCD, ChiSquare

N_SAMPLES, N_FEATURES, N_CLASSES = 200_000, 48, 10
N_SELECTED = 10
N_REPEATS = 5
MEGABYTE = 1e6
MIXED_TYPES = ("float64", "float32", "int64", "uint8", "bool", "int16")

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def make_values():
    """Return normal values, the features of a class shifted, and the labels."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(N_SAMPLES) % N_CLASSES)
    shifts = 0.1 * rng.standard_normal((N_CLASSES, N_FEATURES))
    return rng.standard_normal((N_SAMPLES, N_FEATURES)) + shifts[y], y


def mixed_columns(X):
    """Return the columns by name, the types of `MIXED_TYPES` in turn."""
    columns = {}
    for j in range(X.shape[1]):
        kind = MIXED_TYPES[j % len(MIXED_TYPES)]
        scale = {"int64": 1e6, "uint8": 30.0, "int16": 1000.0}.get(kind, 1.0)
        values = X[:, j] > 0 if kind == "bool" else X[:, j] * scale
        if kind == "uint8":
            values = np.clip(values + 128, 0, 255)
        columns[f"f{j}"] = values.astype(kind)
    return columns


def as_pandas(X):
    import pandas as pd

    return pd.DataFrame(mixed_columns(X))


def as_polars(X):
    import polars as pl

    return pl.DataFrame(mixed_columns(X))


def with_categories(X, frame_of):
    """Return a frame whose every fourth column is categorical."""
    letters = np.array([f"level {k}" for k in range(8)])
    columns = mixed_columns(X)
    for name in list(columns)[::4]:
        j = int(name[1:])
        columns[name] = letters[np.clip(2 * X[:, j] + 4, 0, 7).astype(int)]
    return frame_of(columns, list(columns)[::4])


def pandas_categories(columns, names):
    import pandas as pd

    return pd.DataFrame(columns).astype(dict.fromkeys(names, "category"))


def polars_categories(columns, names):
    import polars as pl

    return pl.DataFrame(columns).with_columns(pl.col(names).cast(pl.Categorical))


def strided(X):
    """Return a view of every second row and column of a larger array."""
    larger = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    larger[::2, ::2] = X
    return larger[::2, ::2]


LAYOUTS = {
    "float64, C order": np.ascontiguousarray,
    "float64, F order": np.asfortranarray,
    "float32, C order": lambda X: X.astype(np.float32),
    "float32, F order": lambda X: np.asfortranarray(X, np.float32),
    "every second row and column": strided,
    "int64, C order": lambda X: np.rint(X * 1e6).astype(np.int64),
    "uint8, C order": lambda X: np.clip(30 * X + 128, 0, 255).astype(np.uint8),
    "bool, C order": lambda X: X > 0,
    "pandas, six types": as_pandas,
    "polars, six types": as_polars,
    "pandas, a quarter categories": partial(with_categories, frame_of=pandas_categories),
    "polars, a quarter categories": partial(with_categories, frame_of=polars_categories),
}


def baseline_of(data):
    """Return the same values as float64 in Fortran order, category codes for strings."""
    if isinstance(data, np.ndarray):
        return np.asfortranarray(data, np.float64)
    columns = [np.asarray(data[name]) for name in data.columns]
    return np.asfortranarray(
        np.column_stack(
            [v if v.dtype.kind in "biuf" else np.unique(v, return_inverse=True)[1] for v in columns]
        ),
        np.float64,
    )


def extra_bytes(layout, make):
    """Return how far the resident set rises above what it is before a fit."""
    values, y = make_values()
    data = LAYOUTS[layout](values)
    del values
    few = 2 * N_CLASSES**2
    selector = make(N_SELECTED, n_jobs=1)
    selector.fit(data[:few], np.arange(few) % N_CLASSES)
    _CLEAR.write_text("5")  # resets the peak
    before = _status("VmRSS")
    selector.fit(data, y)
    return _status("VmHWM") - before


def _status(name):
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def bench_layout(layout, values, y):
    """Compare fits on one layout with those on the baseline."""
    data = LAYOUTS[layout](values)
    has_categories = "categories" in layout
    base = baseline_of(data)
    for make in (ChiSquare,) if has_categories else (MAUCD, FSDD):
        ours = make(N_SELECTED, n_jobs=1)
        theirs = make(N_SELECTED, n_jobs=1)
        if has_categories:
            theirs.set_params(categorical_features=np.arange(N_FEATURES)[::4])
        seconds = time_in_turns(
            partial(ours.fit, data, y),
            partial(theirs.fit, base, y),
            n_repeats=N_REPEATS,
            clock=time.process_time,
        )
        assert (ours.ranking_ == theirs.ranking_).all(), layout
        name = f"{layout}: {make.__name__}"
        bar = "<= 2" if layout.startswith("every second") else "<= 1.5"  # it reads twice the memory
        print_row(name, seconds[0], "float64, F order", seconds[1], bar)
        if _CLEAR.exists():
            extra = run_in_fresh_process(extra_bytes, layout, make)
            size = base.nbytes / MEGABYTE
            print_row("  memory", extra / MEGABYTE, "all as float64", size, "<= 0.5", "MB")


def main():
    shape = f"{N_SAMPLES} x {N_FEATURES}, {N_CLASSES} classes"
    print_header(f"layouts, fits of {N_SELECTED}, {shape}, 1 thread, CPU seconds")
    values, y = make_values()
    for layout in LAYOUTS:
        try:
            bench_layout(layout, values, y)
        except ImportError as error:
            print(f"  {layout} skipped: {error}")


if __name__ == "__main__":
    main()
