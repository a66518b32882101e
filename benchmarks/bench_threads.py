"""Two threads against one: fits on isolet repeated to 40,000 rows and on tall data.

Wall-clock seconds: they tell something only while two cores are idle. Beside them stands the
share of the fit that the threads cannot take over: validation and what follows the blocks.
"""

from functools import partial

import numpy as np

from _common import load, print_header, print_row, time_in_turns
from bench_tall import tall_data
from mauc import FSDD, MDFS, GreedyMAUC
from mauc.data.door import make_problem

N_SELECTED = 20
N_ROWS = 40_000
N_REPEATS = 5
SELECTORS = (("MDFS", MDFS, ">= 1.7"), ("GreedyMAUC", GreedyMAUC, ">= 1.7"), ("FSDD", FSDD, ""))


def repeated_isolet():
    """Return isolet, its rows repeated, in C order, and its name."""
    X, y, source = load("isolet")
    rows = np.resize(np.arange(len(X)), N_ROWS)
    return np.ascontiguousarray(X[rows]), y[rows], f"{source} isolet, {N_ROWS} rows"


def bench_data(name, X, y):
    """Compare two threads with one, and validation with a fit."""
    for label, make, bar in SELECTORS:
        selector = make(N_SELECTED, n_jobs=1)
        one, two, check = time_in_turns(
            partial(selector.fit, X, y),
            partial(make(N_SELECTED, n_jobs=2).fit, X, y),
            partial(make_problem, selector, X, y, accepts=selector.accepts),
            n_repeats=N_REPEATS,
        )
        print_row(f"{name}: {label}", two, "one thread", one, bar)
        print_row(f"{name}: validation for {label}", check, "one thread, fit", one, "<= 0.1")


def main():
    print_header(f"two threads, fits of {N_SELECTED}, seconds of the wall clock")
    X, y, name = repeated_isolet()
    bench_data(name, X, y)
    X, y = tall_data()
    bench_data("{} x {}".format(*X.shape), X, y)


if __name__ == "__main__":
    main()
