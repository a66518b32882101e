"""Tall data, 1,000,000 x 20 in C order: fits against sorting, and against f_classif."""

import time
from functools import partial

import numpy as np
from sklearn.feature_selection import f_classif

from _common import print_header, print_row, time_in_turns
from mauc import (
    ARCO,
    FSDD,
    MAUCD,
    MDFS,
    AnovaF,
    ChiSquare,
    FisherScore,
    GreedyMAUC,
    SpreadFx,
    SymmetricalUncertainty,
)
from mauc.data.door import make_problem

N_SAMPLES, N_FEATURES, N_CLASSES = 1_000_000, 20, 10
N_SELECTED = 20
N_REPEATS = 5

AGAINST_SORTING = (
    ("MDFS", MDFS, {"random_state": 0}, "<= 1.0"),
    ("MAUCD", MAUCD, {}, "<= 1.0"),
    ("GreedyMAUC", GreedyMAUC, {}, "<= 1.0"),
    ("CHI", ChiSquare, {}, "<= 2.5"),
    ("SU", SymmetricalUncertainty, {}, "<= 2.5"),
    ("SSU", SpreadFx, {"relevance": "su"}, "<= 2.5"),
    ("ARCO", ARCO, {}, ""),
)
AGAINST_F_CLASSIF = (("FSDD", FSDD), ("Fisher score", FisherScore), ("ANOVA F", AnovaF))


def tall_data():
    """Return normal features in C order, half of them shifted by class, and the labels."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(N_SAMPLES) % N_CLASSES)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, : N_FEATURES // 2] += 0.1 * y[:, np.newaxis]
    return X, y


def rank(selector, X, y):
    """Validate the data and rank the features, as ``fit`` does, without AUCs of the chosen."""
    problem = make_problem(X, y, selector.fit_options)
    return selector._rank(problem, N_SELECTED, selector.check_options())


def main():
    X, y = tall_data()
    shape = f"{N_SAMPLES} x {N_FEATURES}, {N_CLASSES} classes"
    print_header(f"fits of {N_SELECTED}, {shape}, float64, C order, 1 thread, CPU seconds")
    clock = partial(time_in_turns, n_repeats=N_REPEATS, clock=time.process_time)
    for name, make, options, bar in AGAINST_SORTING:
        fit = partial(make(N_SELECTED, n_jobs=1, **options).fit, X, y)
        ours, theirs = clock(fit, partial(np.argsort, X, axis=0))
        print_row(f"{name} fit", ours, "np.argsort(X, axis=0)", theirs, bar)
    for name, make in AGAINST_F_CLASSIF:
        selector = make(N_SELECTED, n_jobs=1)
        contestants = partial(rank, selector, X, y), partial(selector.fit, X, y)
        ranked, fit, theirs = clock(*contestants, partial(f_classif, X, y))
        print_row(f"{name} fit without AUCs of the chosen", ranked, "f_classif", theirs, "<= 1.5")
        print_row(f"{name} fit", fit, "f_classif", theirs)


if __name__ == "__main__":
    main()
