"""The published MAUC of Naive Bayes and 1NN on the choice of MDFS and of MAUCD (Tables 3-8).

One stratified 10-fold run; the paper has the mean of ten. Selectors and scaling see the
training part only.
"""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from mauc import MAUCD, MDFS, mauc_score

SIZES = range(10, 101, 10)


def naive_bayes_scores(train, y, test):
    return GaussianNB().fit(train, y).predict_proba(test)


def nearest_neighbour_scores(train, y, test):
    scaler = MinMaxScaler().fit(train)
    model = KNeighborsClassifier(1).fit(scaler.transform(train), y)
    return np.eye(len(model.classes_))[model.predict(scaler.transform(test))]


CLASSIFIERS = {"nb": naive_bayes_scores, "1nn": nearest_neighbour_scores}


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("dataset", ["usps", "mnist"])
@pytest.mark.parametrize("method", ["mdfs", "maucd"])
def test_published_mauc_is_reproduced(
    load_paper_data, published_mauc, record_property, dataset, method
):
    X, y = load_paper_data(dataset)
    y = np.unique(y, return_inverse=True)[1]
    values = {cell: [] for cell in ((c, k) for c in CLASSIFIERS for k in SIZES)}
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        selector = (
            MDFS(100, random_state=fold, n_jobs=2) if method == "mdfs" else MAUCD(100, n_jobs=2)
        )
        ranking = selector.fit(X[train], y[train]).ranking_
        for classifier, n_features in values:
            chosen = ranking[:n_features]
            parts = X[np.ix_(train, chosen)].astype(float), X[np.ix_(test, chosen)].astype(float)
            scores = CLASSIFIERS[classifier](parts[0], y[train], parts[1])
            values[classifier, n_features].append(mauc_score(y[test], scores))
    differences = {
        (classifier, k): np.mean(folds_values) - published_mauc[dataset, classifier, method, k]
        for (classifier, k), folds_values in values.items()
    }
    worst = max(differences, key=lambda cell: abs(differences[cell]))
    record_property("largest difference", f"{worst}: {differences[worst]:+.4f}")
    print(f"{dataset} {method}: largest difference {differences[worst]:+.4f} at {worst}")
    too_far = {cell: round(float(d), 4) for cell, d in differences.items() if abs(d) > 0.01}
    assert too_far == {}
