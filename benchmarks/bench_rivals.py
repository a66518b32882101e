"""What people use otherwise: MAUC of the features that each way of choosing takes, and its seconds.

    python benchmarks/bench_rivals.py            # digits, and isolet and usps of MAUC_DATA
    python benchmarks/bench_rivals.py digits

Features are chosen on the training part of five folds; MAUC is the mean over the folds and over
three classifiers of scikit-learn: naive Bayes, logistic regression and five nearest neighbours.
Seconds are CPU seconds of one fit of 20 on all rows, one thread, the least of three.
"""

import os
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from _common import load
from _peers import import_peer
from mauc import MDFS, MRMR, GreedyMAUC, mauc_score

SIZES = (10, 20)
LARGEST = max(SIZES)
N_REPEATS = 3


def best_of(scores):
    """Return the columns of the largest scores, best first."""
    return np.argsort(-np.nan_to_num(scores), kind="stable")[:LARGEST]


def by_forest(X, y):
    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    return best_of(forest.feature_importances_)


def by_elimination(X, y):
    """SVM-RFE: a tenth of the features goes in every round, at the end one by one."""
    X = StandardScaler().fit_transform(X)
    model = LinearSVC(dual=False, max_iter=200)
    first = RFE(model, n_features_to_select=LARGEST, step=0.1).fit(X, y)
    chosen = np.flatnonzero(first.support_)
    last = RFE(model, n_features_to_select=1, step=1).fit(X[:, chosen], y)
    return chosen[np.argsort(last.ranking_)]


def by_l1(X, y):
    X = StandardScaler().fit_transform(X)
    model = LinearSVC(penalty="l1", dual=False, C=0.01, max_iter=200).fit(X, y)
    return best_of(np.abs(model.coef_).sum(axis=0))


def by_mrmr_selection(X, y):
    import pandas as pd

    names = mrmr.mrmr_classif(
        pd.DataFrame(X), pd.Series(y), K=LARGEST, show_progress=False, n_jobs=1
    )
    return np.array(names)


RIVALS = {
    "GreedyMAUC": lambda X, y: GreedyMAUC(LARGEST).fit(X, y).ranking_,
    "MDFS": lambda X, y: MDFS(LARGEST, random_state=0).fit(X, y).ranking_,
    "MRMR": lambda X, y: MRMR(LARGEST).fit(X, y).ranking_,
    "SelectKBest(f_classif)": lambda X, y: best_of(f_classif(X, y)[0]),
    "SelectKBest(mutual_info_classif)": lambda X, y: best_of(
        mutual_info_classif(X, y, random_state=0)
    ),
    "forest importances (200 trees)": by_forest,
    "RFE with a linear SVM": by_elimination,
    "linear SVM with an L1 penalty": by_l1,
    "mrmr-selection": by_mrmr_selection,
}


def classifiers():
    return (
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    )


def mauc_of(choose, X, y):
    """Return the mean MAUC of every size."""
    values = []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        ranking = choose(X[train], y[train])
        for size in SIZES:
            part = ranking[:size]
            for model in classifiers():
                scores = model.fit(X[train][:, part], y[train]).predict_proba(X[test][:, part])
                values.append(mauc_score(y[test], scores))
    return np.reshape(values, (5, len(SIZES), -1)).mean(axis=(0, 2))


def seconds_of(choose, X, y):
    """Return the least CPU seconds of a choice; a long one is timed once."""
    least = np.inf
    for _ in range(N_REPEATS + 1):  # the first one compiles
        start = time.process_time()
        choose(X, y)
        seconds = time.process_time() - start
        least = min(least, seconds)
        if seconds > 20:
            break
    return least


def main(names):
    warnings.filterwarnings("ignore")  # of linear models that stop early, the same for all
    for name in names:
        if name == "digits":
            X, y = load_digits(return_X_y=True)
        else:
            X, y, source = load(name, np.float64)
            if source == "random":
                print(f"\n{name} skipped: MAUC_DATA has no such file")
                continue
        X = np.ascontiguousarray(X)
        print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes")
        heads = [f"MAUC, {size} features" for size in SIZES]
        print(f"{'chosen by':<36} {heads[0]:>18} {heads[1]:>18} {'CPU seconds':>12}")
        for label, choose in RIVALS.items():
            if label == "mrmr-selection" and mrmr is None:
                continue
            seconds = seconds_of(choose, X, y)
            few, many = mauc_of(choose, X, y)
            print(f"{label:<36} {few:>18.4f} {many:>18.4f} {seconds:>12.3f}", flush=True)


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        if os.environ.get(variable) != "1":  # libraries read it when they are loaded
            os.environ[variable] = "1"
            os.execv(sys.executable, [sys.executable, *sys.argv])
    mrmr = import_peer("mrmr", "mrmr-selection")
    main(sys.argv[1:] or ["digits", "isolet", "usps"])
