"""The published MAUC of Naive Bayes and 1NN, reproduced on the data of the paper.

One stratified 10-fold run; the paper has the mean of ten. Selectors and scaling see the training
part only.
"""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from mauc import (
    FSDD,
    MAUCD,
    MDFS,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SymmetricalUncertainty,
    mauc_score,
)
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator
from reproduction.published import load_published

pytestmark = [pytest.mark.slow, pytest.mark.data]
CLASSIFIERS = {"nb": NormalNaiveBayes(), "1nn": NearestNeighbor()}

SIZES = {"usps": list(range(10, 101, 10)), "synthetic": list(range(10, 61, 10))}
BOUNDS = {"usps": 0.006, "synthetic": 0.012}
BOUND_OF_SAMPLED_RELIEFF = 0.012


def published_values():
    """Return ``(dataset, classifier, method, size) -> MAUC`` as the paper prints it."""
    keys = ["dataset", "classifier", "selector", "size"]
    return load_published().set_index(keys)["mauc"].to_dict()


def selectors(n_features, fold):
    """Return the nine selectors under the names of the published table."""
    every = {
        "mdfs": MDFS(n_features, random_state=fold),
        "maucd": MAUCD(n_features),
        "fsdd": FSDD(n_features),
        "chi": ChiSquare(n_features),
        "su": SymmetricalUncertainty(n_features),
        "schi": SpreadFx(n_features),
        "ssu": SpreadFx(n_features, relevance="su"),
        "relieff": ReliefF(n_features, n_iterations="log", random_state=fold),
        "mrmr": MRMR(n_features),
    }
    return {name: selector.set_params(n_jobs=2) for name, selector in every.items()}


@pytest.mark.parametrize("dataset", SIZES)
@pytest.mark.parametrize("method", selectors(1, 0))
def test_all_selectors_before_our_classifiers(load_paper_data, record_property, dataset, method):
    """In the mean over the sizes, on USPS and Synthetic."""
    X, y = load_paper_data(dataset)
    published_mauc = published_values()
    X, y = X.astype(float), np.unique(y, return_inverse=True)[1]
    sizes = SIZES[dataset]
    values = {classifier: [] for classifier in CLASSIFIERS}
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        ranking = selectors(max(sizes), fold)[method].fit(X[train], y[train]).ranking_
        evaluator = FoldEvaluator(X[train], y[train], X[test], y[test], n_jobs=2)
        for classifier, model in CLASSIFIERS.items():
            values[classifier].append(evaluator.evaluate(ranking, sizes, model))
    differences = {}
    for classifier in CLASSIFIERS:
        published = [published_mauc[dataset, classifier, method, k] for k in sizes]
        reproduced = np.mean(values[classifier], axis=0)
        differences[classifier] = float(np.mean(np.abs(reproduced - published)))
        record_property(f"{classifier} difference", f"{differences[classifier]:.4f}")
    shown = ", ".join(f"{c} {d:.4f}" for c, d in differences.items())
    print(f"{dataset} {method}: mean absolute difference {shown}")
    bound = BOUND_OF_SAMPLED_RELIEFF if method == "relieff" else BOUNDS[dataset]
    assert {c: d for c, d in differences.items() if d > bound} == {}


def naive_bayes_scores(train, y, test):
    return GaussianNB().fit(train, y).predict_proba(test)


def nearest_neighbour_scores(train, y, test):
    scaler = MinMaxScaler().fit(train)
    model = KNeighborsClassifier(1).fit(scaler.transform(train), y)
    return np.eye(len(model.classes_))[model.predict(scaler.transform(test))]


SKLEARN = {"nb": naive_bayes_scores, "1nn": nearest_neighbour_scores}


@pytest.mark.parametrize("dataset", ["usps", "mnist"])
@pytest.mark.parametrize("method", ["mdfs", "maucd"])
def test_mdfs_and_maucd_before_classifiers_of_scikit_learn(
    load_paper_data, record_property, dataset, method
):
    """At every size, on USPS and MNIST."""
    X, y = load_paper_data(dataset)
    published_mauc = published_values()
    y = np.unique(y, return_inverse=True)[1]
    values = {cell: [] for cell in ((c, k) for c in SKLEARN for k in SIZES["usps"])}
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        selector = (
            MDFS(100, random_state=fold, n_jobs=2) if method == "mdfs" else MAUCD(100, n_jobs=2)
        )
        ranking = selector.fit(X[train], y[train]).ranking_
        for classifier, n_features in values:
            chosen = ranking[:n_features]
            parts = X[np.ix_(train, chosen)].astype(float), X[np.ix_(test, chosen)].astype(float)
            scores = SKLEARN[classifier](parts[0], y[train], parts[1])
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
