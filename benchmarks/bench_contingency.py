"""CHI and SU together against WEKA's evaluators, and SSU against SU: one thread."""

from functools import partial

import numpy as np

from _common import load, print_header, print_row
from _peers import CPU, WekaClock, find_weka, time_wall_and_cpu
from mauc import ChiSquare, SpreadFx, SymmetricalUncertainty
from mauc.binning.contingency import CHI, SU
from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.measure.relevance import contingency_scores

N_SELECTED = 100


def score(X, y, decomposition, statistics):
    """Validate the data and score every feature on the sub-problems."""
    problem = make_problem(X, y, ChiSquare().fit_options)
    parts = Decomposition(decomposition, problem.n_classes)
    return contingency_scores(problem, parts, slice(None), statistics)


def fit_both(X, y):
    """Fit the two selectors one after the other; each sorts the columns for itself."""
    for selector in (ChiSquare, SymmetricalUncertainty):
        selector(N_SELECTED, n_jobs=1).fit(X, y)


def bench_weka(name, jar):
    """Compare CHI and SU of all features with WEKA's two evaluators."""
    X, y, source = load(name)
    contestants = partial(score, X, y, "whole", [CHI, SU]), partial(fit_both, X, y)
    ours, theirs = time_wall_and_cpu(*contestants)[:, CPU], None
    if jar is not None:
        with WekaClock(jar, X, y) as weka:
            theirs = sum(weka.seconds("chi", "su"))
        ours = np.minimum(ours, time_wall_and_cpu(*contestants)[:, CPU])
    against = "WEKA, CHI then SU (*)" if jar else ""
    bar = ">= 10" if jar else ""
    print_row(f"{source} {name}: CHI, SU scores, one sort", ours[0], against, theirs, bar)
    print_row(f"{source} {name}: both fits of {N_SELECTED}", ours[1], against, theirs, bar)


def bench_one_vs_rest():
    """Compare the sub-problems of every class against the rest with the whole problem."""
    X, y, source = load("isolet")
    scores = [partial(score, X, y, kind, [SU]) for kind in ("one-vs-rest", "whole")]
    selectors = (
        SpreadFx(N_SELECTED, relevance="su", n_jobs=1),
        SymmetricalUncertainty(N_SELECTED, n_jobs=1),
    )
    fits = [partial(selector.fit, X, y) for selector in selectors]
    ssu, su, ssu_fit, su_fit = time_wall_and_cpu(*scores, *fits)[:, CPU]
    print_row(f"{source} isolet: SSU scores", ssu, "our SU scores", su, "<= 6")
    print_row(f"{source} isolet: SSU fit of {N_SELECTED}", ssu_fit, "our SU fit", su_fit, "<= 6")


def main():
    print_header("CHI and SU by MDL discretisation, float32, 1 thread")
    jar = find_weka()
    for name in ("mnist", "usps", "isolet"):
        bench_weka(name, jar)
    bench_one_vs_rest()
    if jar is not None:
        print("  (*) timed inside Java, data in memory, best of 9; ours before and after it")
    print("  all seconds are CPU seconds of the one thread, on both sides")


if __name__ == "__main__":
    main()
