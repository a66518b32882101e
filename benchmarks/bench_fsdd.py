"""FSDD against the least that any such statistic must do: a sum and a variance."""

from functools import partial

import numpy as np

from _common import load, print_header, print_row
from _peers import CPU, time_wall_and_cpu
from mauc import FSDD
from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.measure.relevance import fsdd_relevance

N_SELECTED = 100


def score(X, y):
    """Validate the data and score every feature, block by block."""
    problem = make_problem(X, y, FSDD().fit_options)
    whole = Decomposition("whole", problem.n_classes)
    return [fsdd_relevance(problem, whole, block) for block in problem.blocks()]


def sum_and_variance(X):
    """Pass over the data as any statistic of this kind must."""
    return X.sum(axis=0), X.var(axis=0)


def main():
    print_header("FSDD, float32, 1 thread, CPU seconds")
    X, y, source = load("mnist")
    for order in "FC":
        X = np.asarray(X, order=order)
        scores, fit, base = time_wall_and_cpu(
            partial(score, X, y),
            partial(FSDD(N_SELECTED, n_jobs=1).fit, X, y),
            partial(sum_and_variance, X),
            n_repeats=15,
        )[:, CPU]
        for what, ours in (("scores", scores), (f"fit of {N_SELECTED}", fit)):
            measure = f"{source} mnist, order {order}: {what}"
            print_row(measure, ours, "X.sum(0) then X.var(0)", base, "<= 1.5")


if __name__ == "__main__":
    main()
