"""Whole fits against SelectKBest on the same table: what a call costs beside the counting.

2,000 x 100 float64, five classes, everything compiled; the best of several runs taken in turns, so
that all see the same machine. Wall time has the bars; CPU time tells where others use the machine.
"""

from time import perf_counter, process_time

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
    wall, cpu = ({name: [] for name in fits} for _ in range(2))
    for _ in range(N_RUNS + 1):
        for name, fit in fits.items():
            start, cpu_start = perf_counter(), process_time()
            fit()
            wall[name].append(perf_counter() - start)
            cpu[name].append(process_time() - cpu_start)
    print_header("fit on 2,000 x 100, five classes")
    for name, bar in BARS.items():
        for seconds, unit, wanted in ((wall, "s", bar), (cpu, "s CPU", "")):
            ours, theirs = (min(seconds[one][1:]) for one in (name, "SelectKBest"))  # 0 compiles
            print_row(f"{name}(20).fit", ours, "SelectKBest", theirs, wanted, unit)


if __name__ == "__main__":
    main()
