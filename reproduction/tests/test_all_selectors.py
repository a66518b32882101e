"""The published MAUC of Naive Bayes and 1NN behind all nine selectors, on USPS and Synthetic.

One stratified 10-fold run; the paper has the mean of ten. Selectors and scaling see the
training part only. The difference is the mean over the subset sizes of the table.
"""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from mauc import (
    FSDD,
    MAUCD,
    MDFS,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SymmetricalUncertainty,
)
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator

CLASSIFIERS = {"nb": NormalNaiveBayes(), "1nn": NearestNeighbor()}

SIZES = {"usps": list(range(10, 101, 10)), "synthetic": list(range(10, 61, 10))}
BOUNDS = {"usps": 0.006, "synthetic": 0.012}
BOUND_OF_SAMPLED_RELIEFF = 0.012


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


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("dataset", SIZES)
@pytest.mark.parametrize("method", selectors(1, 0))
def test_published_mauc_is_reproduced(
    load_paper_data, published_mauc, record_property, dataset, method
):
    X, y = load_paper_data(dataset)
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
