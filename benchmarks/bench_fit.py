"""Whole fits against SelectKBest on the same table: what a call costs beside the counting.

2,000 x 100 float64, five classes, everything compiled; wall time, the best of several runs taken in
turns, so that all see the same machine.
"""

from time import perf_counter

from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, f_classif

import mauc
from _common import print_header, print_row

BARS = {"MDFS": "<= 4", "GreedyMAUC": "<= 12"}
N_RUNS = 20


def main():
    X, y = make_classification(2000, 100, n_informative=20, n_classes=5, random_state=0)
    fits = {
        "SelectKBest": lambda: SelectKBest(f_classif, k=20).fit(X, y),
        **{name: (lambda name=name: getattr(mauc, name)(20).fit(X, y)) for name in BARS},
    }
    seconds = {name: [] for name in fits}
    for _ in range(N_RUNS + 1):
        for name, fit in fits.items():
            start = perf_counter()
            fit()
            seconds[name].append(perf_counter() - start)
    best = {name: min(runs[1:]) for name, runs in seconds.items()}  # the first one compiles
    print_header("fit on 2,000 x 100, five classes")
    for name, bar in BARS.items():
        print_row(f"{name}(20).fit", best[name], "SelectKBest", best["SelectKBest"], bar)


if __name__ == "__main__":
    main()
