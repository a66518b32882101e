"""The first call: whole processes with an empty Numba cache, and with a filled one.

Of MDFS the seconds of the wall clock; of every selector and classifier the CPU seconds of a new
process, imports included, that fits digits with an empty cache.
"""

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial

from _common import print_header, print_row, time_in_turns
from mauc.registry import CLASSIFIERS, SELECTORS

FIT = """
from sklearn.datasets import load_digits
from mauc import MDFS
MDFS(20, random_state=0).fit(*load_digits(return_X_y=True))
"""
IMPORT = "import sklearn.datasets, sklearn.feature_selection"
FIRST_FIT = """
from sklearn.datasets import load_digits
from mauc.registry import make_selector
X, y = load_digits(return_X_y=True)
make_selector({name!r}, 20).fit(X, y)
"""
FIRST_PREDICTION = """
from sklearn.datasets import load_digits
from mauc.registry import make_classifier
X, y = load_digits(return_X_y=True)
make_classifier({name!r}).fit(X, y).predict(X)
"""


def run(code, cache):
    """Run code in a new interpreter whose Numba cache is the folder `cache`."""
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True
    )


def run_first(code):
    """Run code in a new interpreter whose Numba cache is empty."""
    with tempfile.TemporaryDirectory() as cache:
        run(code, cache)


def children_seconds():
    """Return the CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_seconds(code):
    """Return the CPU seconds of a new interpreter whose Numba cache is empty."""
    before = children_seconds()
    run_first(code)
    return children_seconds() - before


def bench_process():
    """Measure whole processes of MDFS by the wall clock."""
    print_header("MDFS(20).fit on digits, whole process")
    (first,) = time_in_turns(partial(run_first, FIT), n_repeats=2)
    print_row("first process, empty Numba cache", first, "limit", 8.0, "<= 1")
    with tempfile.TemporaryDirectory() as cache:
        second, imports = time_in_turns(
            partial(run, FIT, cache),
            partial(run, IMPORT, cache),
            n_repeats=5,
        )
    print_row("second process", second, "importing scikit-learn", imports)
    print_row("second process beyond that import", second - imports, "limit", 1.5, "<= 1")


def bench_first_calls():
    """Measure the first call of every method in CPU seconds."""
    print_header("first call on digits, empty Numba cache, CPU seconds of the process")
    for methods, code in ((SELECTORS, FIRST_FIT), (CLASSIFIERS, FIRST_PREDICTION)):
        for name, method in methods.items():
            seconds = min(first_seconds(code.format(name=name)) for _ in range(2))
            print_row(f"first call of {method.label}", seconds, "limit", 8.0, "<= 1")


def main():
    bench_process()
    bench_first_calls()


if __name__ == "__main__":
    main()
