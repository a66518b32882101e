"""siren_study with many classes: Naive Bayes on all pairs at once against a fit per pair and fold.

The second is how it was done before: with 300 classes it was nearly all of the study's time.
"""

import time

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from _common import print_header, print_row, time_in_turns
from mauc import siren_study
from mauc.classifiers import NormalNaiveBayes
from mauc.data.decomposition import Decomposition
from mauc.data.problem import make_problem
from mauc.difficulty.bayes_auc import pair_bayes_auc
from mauc.metrics import mauc_score

N_PER_CLASS, N_FEATURES = 20, 40
METHODS = ["mdfs", "maucd", "chi", "su", "mrmr"]  # those of mauc siren


def make_data(n_classes):
    """Return classes of 20 samples whose means differ by half a standard deviation."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(n_classes), N_PER_CLASS))
    X = rng.normal(size=(len(y), N_FEATURES))
    return X + 0.5 * rng.normal(size=(n_classes, N_FEATURES))[y], y


def fit_every_pair(X, y):
    """Return the AUC of each pair from a classifier that is fitted on it, fold by fold."""
    auc = []
    for pair in Decomposition("one-vs-one", y.max() + 1).members:
        rows = np.flatnonzero(np.isin(y, pair))
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y[rows])
        values = []
        for train, test in folds:
            model = NormalNaiveBayes().fit(X[rows[train]], y[rows[train]])
            values.append(mauc_score(y[rows[test]], model.predict_proba(X[rows[test]])))
        auc.append(np.mean(values))
    return np.array(auc)


def main():
    X, y = make_data(30)
    problem = make_problem(BaseEstimator(), X, y)
    np.testing.assert_array_equal(pair_bayes_auc(problem, 5, 0), fit_every_pair(X, y))
    print_header(f"Naive Bayes on 435 class pairs, {len(y)} x {N_FEATURES}, CPU seconds")
    ours, theirs = time_in_turns(
        lambda: pair_bayes_auc(problem, 5, 0), lambda: fit_every_pair(X, y),
        n_repeats=3, clock=time.process_time,
    )  # fmt: skip
    print_row("all pairs at once", ours, "a fit per pair and fold", theirs, "<= 0.1")

    siren_study(*make_data(60), selectors=METHODS)  # compiles
    X, y = make_data(300)
    began = time.process_time()
    siren_study(X, y, selectors=METHODS)
    seconds = time.process_time() - began
    print(f"siren_study, 44,850 class pairs, {len(y)} x {N_FEATURES}: {seconds:.1f} CPU seconds")


if __name__ == "__main__":
    main()
