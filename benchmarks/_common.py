"""What the benchmarks share: data, contestants timed in turns, a table of ratios."""

import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np
import sklearn

SHAPES = {"isolet": (7797, 617, 26), "mnist": (10000, 784, 10), "usps": (7291, 256, 10)}

_ROW = "{:<44} {:>9} {:<26} {:>9} {:>8} {:>9} {:>5}"


def random_data(n_samples, n_features, n_classes, dtype=np.float32):
    """Return normal features in Fortran order and labels that hold every class."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return rng.standard_normal((n_features, n_samples), dtype=dtype).T, y


def load(name, dtype=np.float32):
    """Return a data set in Fortran order and whether it is the real one.

    Parameters
    ----------
    name : {"isolet", "mnist", "usps"}
        Read from the folder that the environment variable MAUC_DATA names; without it the
        data are random and of the same shape (uint8: bytes, four in five of them zero).

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    source : {"real", "random"}
    """
    path = Path(os.environ.get("MAUC_DATA", "")) / f"{name}.npz"
    if path.is_file():
        with np.load(path) as data:
            return np.asfortranarray(data["X"], dtype=dtype), data["y"], "real"
    X, y = random_data(*SHAPES[name])
    if dtype == np.uint8:
        X = np.clip(300 * (X - 0.84), 0, 255)
    return np.asfortranarray(X, dtype=dtype), y, "random"


def time_in_turns(*contestants, n_repeats=15, clock=time.perf_counter):
    """Return the least seconds of each contestant.

    They run one after the other, again and again, so that a busy machine hits all alike; a
    first round, which compiles and warms the caches, is not counted. For
    contestants of one thread ``clock=time.process_time`` leaves out the waiting for a core,
    which short contestants escape and long ones cannot.
    """
    seconds = np.empty((n_repeats + 1, len(contestants)))
    for turn in seconds:
        for place, contestant in enumerate(contestants):
            start = clock()
            contestant()
            turn[place] = clock() - start
    return seconds[1:].min(axis=0)


def run_in_fresh_process(function, *args):
    """Return ``function(*args)``, run in a new interpreter."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def print_header(title):
    """Print what is measured, on what machine, and the head of the table."""
    load_average = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(f"\n{title}")
    print(
        f"numpy {np.__version__}, numba {numba.__version__}, scikit-learn {sklearn.__version__}, "
        f"Python {platform.python_version()}, {_cpu_name()}, load average {load_average}"
    )
    head = _ROW.format("measure", "mauc", "against", "", "ratio", "bar", "holds")
    print(f"{head}\n{'-' * len(head)}", flush=True)


def print_row(measure, ours, against="", theirs=None, bar="", unit="s"):
    """Print one measure.

    Parameters
    ----------
    measure : str
    ours : float
    against : str
        What it is compared with.
    theirs : float, optional
    bar : str
        ``"<= r"``: the ratio printed is ours / theirs; ``">= r"``: it is theirs / ours, how
        many times ours is better. Empty: nothing is demanded.
    unit : str
    """
    ratio, holds = "", ""
    if theirs is not None:
        value = theirs / ours if bar.startswith(">=") else ours / theirs
        ratio = f"{value:.3g}"
        if bar:
            limit = float(bar.split()[1])
            holds = "yes" if (value >= limit if bar.startswith(">=") else value <= limit) else "NO"
    ours, theirs = (f"{v:.4g} {unit}" if v is not None else "" for v in (ours, theirs))
    print(_ROW.format(measure, ours, against, theirs, ratio, bar, holds).rstrip(), flush=True)


def _cpu_name():
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
