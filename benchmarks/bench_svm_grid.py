"""The paper's grid of SVM parameters, against scikit-learn's GridSearchCV with SVC."""

import time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from _common import load, print_header, print_row
from mauc.lab.svm_tuning import PAPER_C, PAPER_GAMMA, tune_rbf_svm
from mauc.metrics import mauc_score

N_SAMPLES, N_FEATURES = 2000, 50


def score_hard(model, X, y):
    """Return the MAUC of the predicted classes."""
    hard = model.predict(X)[:, np.newaxis] == model.classes_
    return mauc_score(y, hard.astype(float), labels=model.classes_)


def main():
    X, y, source = load("usps", np.float64)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[:N_SAMPLES]
    X, y = X[rows][:, rng.permutation(X.shape[1])[:N_FEATURES]], y[rows]
    tune_rbf_svm(X[:200], y[:200], C_values=[1], gamma_values=[1])  # compiles

    start = time.perf_counter()
    ours = tune_rbf_svm(X, y)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    quick = tune_rbf_svm(X, y, search="coarse_to_fine")
    quick_seconds = time.perf_counter() - start
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), SVC()),
        {"svc__C": PAPER_C, "svc__gamma": PAPER_GAMMA},
        scoring=score_hard,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        refit=False,
    )
    start = time.perf_counter()
    search.fit(X, y)
    theirs = time.perf_counter() - start

    print_header("SVM parameters, 110 points, 3 folds")
    measure = f"usps ({source}) {N_SAMPLES} x {N_FEATURES}"
    print_row(measure, seconds, "GridSearchCV(SVC)", theirs, ">= 2.5")
    print_row(f"the same, {quick.n_evaluated} points", quick_seconds, "GridSearchCV(SVC)", theirs)
    best = search.best_params_
    is_same = (ours.C, ours.gamma) == (best["svc__C"], best["svc__gamma"])
    gap = np.abs(ours.scores.ravel() - search.cv_results_["mean_test_score"]).max()
    print(f"ours:   {ours}\nquick:  {quick}")
    print(
        f"theirs: C = {best['svc__C']:g}, gamma = {best['svc__gamma']:g}: {search.best_score_:.4f}"
    )
    print(f"same winner: {'yes' if is_same else 'NO'}; largest difference of a point {gap:.2e}")


if __name__ == "__main__":
    main()
