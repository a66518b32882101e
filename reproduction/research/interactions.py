"""Whether interactions=True of GreedyMAUC changes MAUC on real data.

Run as ``python -m reproduction.research.interactions``; the table of
reproduction/beyond/greedy_interactions.md. MAUC of Naive Bayes, 1NN, logistic regression and random
forest, mean over K = 5, 10, 20, 50, 3-fold stratified cross-validation, data sets above 2,000
samples thinned to 2,000.
"""

import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mauc import GreedyMAUC, mauc_score
from reproduction.common import load_npz

SETS = ("usps", "synthetic", "phoneme", "washington_sub_forest", "urban", "vehicle")
SIZES = (5, 10, 20, 50)
MAX_SAMPLES = 2000


def load(name):
    X, y = load_npz(name, np.float64)
    if len(y) > MAX_SAMPLES:
        X, _, y, _ = train_test_split(X, y, train_size=MAX_SAMPLES, stratify=y, random_state=0)
    return X, y


def classifiers():
    return (
        GaussianNB(), KNeighborsClassifier(1), LogisticRegression(max_iter=300),
        RandomForestClassifier(100, random_state=0, n_jobs=-1),
    )  # fmt: skip


def judge(X, y, selectors):
    """Return the mean MAUC of each selector and how many pairs and products it found."""
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    totals, n_found, n_used = np.zeros(len(selectors)), 0, 0
    n = 0
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        here, there = scaler.transform(X[train]), scaler.transform(X[test])
        for place, selector in enumerate(selectors):
            ranking = selector.fit(X[train], y[train]).ranking_
            if selector.interactions_ is not None:
                n_found += len(selector.interactions_)
                n_used += int((selector.interactions_.steps >= 0).sum())
            for k in SIZES:
                chosen = ranking[:k]
                for model in classifiers():
                    model.fit(here[:, chosen], y[train])
                    totals[place] += mauc_score(y[test], model.predict_proba(there[:, chosen]))
                    n += 1
    return totals / (n / len(selectors)), n_found / 3, n_used / 3


def main():
    warnings.simplefilter("ignore")
    print(f"{'data set':<24}{'without':>9}{'with':>9}{'diff.':>9}{'pairs':>7}{'used':>6}")
    differences = []
    for name in SETS:
        X, y = load(name)
        k = min(max(SIZES), X.shape[1])
        (without, with_pairs), n_found, n_used = judge(
            X, y, (GreedyMAUC(k), GreedyMAUC(k, interactions=True))
        )
        differences.append(with_pairs - without)
        print(
            f"{name:<24}{without:9.4f}{with_pairs:9.4f}{differences[-1]:+9.4f}"
            f"{n_found:7.1f}{n_used:6.1f}",
            flush=True,
        )
    print(f"{'mean':<42}{np.mean(differences):+9.4f}")


if __name__ == "__main__":
    main()
