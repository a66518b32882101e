"""Whole-process time of a first selection: with an empty Numba cache, and with a filled one."""

import os
import subprocess
import sys
import tempfile
from functools import partial

from _common import print_header, print_row, time_in_turns

FIT = """
from sklearn.datasets import load_digits
from mauc import MDFS
MDFS(20, random_state=0).fit(*load_digits(return_X_y=True))
"""
IMPORT = "import sklearn.datasets, sklearn.feature_selection"


def run(code, cache):
    """Run code in a new interpreter whose Numba cache is the folder `cache`."""
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True
    )


def run_first():
    """Fit in a new interpreter whose Numba cache is empty."""
    with tempfile.TemporaryDirectory() as cache:
        run(FIT, cache)


def main():
    print_header("MDFS(20).fit on digits, whole process")
    (first,) = time_in_turns(run_first, n_repeats=2)
    print_row("first process, empty Numba cache", first, "limit", 8.0, "<= 1")
    with tempfile.TemporaryDirectory() as cache:
        second, imports = time_in_turns(
            partial(run, FIT, cache),
            partial(run, IMPORT, cache),
            n_repeats=5,
        )
    print_row("second process", second, "importing scikit-learn", imports)
    print_row("second process beyond that import", second - imports, "limit", 1.5, "<= 1")


if __name__ == "__main__":
    main()
