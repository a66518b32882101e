"""No sentence of a page is contradicted by the best of five classifiers of scikit-learn."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc import GreedyMAUC, pair_auc_scores
from mauc.report.html import selection_report

MODELS = (
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    make_pipeline(StandardScaler(), KNeighborsClassifier(7)),
    RandomForestClassifier(60, random_state=0),
    HistGradientBoostingClassifier(max_iter=20, random_state=0),
    LinearDiscriminantAnalysis(),
)
MAX_ROWS = 1500
SLACK = 0.03  # of AUC: two classifiers, two ways to make folds


def xor():
    # No feature tells anything alone: luck decides in each fold whether both are chosen.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def noise():
    return np.random.default_rng(1).normal(size=(300, 8)), np.arange(300) % 3


BUNDLED = {
    "digits": lambda: load_digits(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "xor": xor,
    "noise": noise,
}


def best_auc(X, y, sets):
    """Return the largest AUC of the models on every pair, by the set of features of each fold."""
    folds = StratifiedKFold(5, shuffle=True, random_state=1).split(X, y)
    found = np.zeros((len(MODELS), len(np.unique(y)) * (len(np.unique(y)) - 1) // 2))
    for train, test in folds:
        columns = sets(train)
        for row, model in zip(found, MODELS, strict=True):
            fitted = model.fit(X[np.ix_(train, columns)], y[train])
            scores = fitted.predict_proba(X[np.ix_(test, columns)])
            row += pair_auc_scores(y[test], scores).auc / 5
    return found


def check_page(X, y, size):
    """Compare every statement of a page with the models."""
    if len(y) > MAX_ROWS:
        rows = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
        X, y = X[rows], y[rows]
    selector = GreedyMAUC(size).fit(X, y)
    conclusion = selection_report(selector, X, y).to_dict()["conclusion"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = best_auc(X, y, lambda rows: GreedyMAUC(size).fit(X[rows], y[rows]).ranking_)
        every = best_auc(X, y, lambda rows: np.arange(X.shape[1]))
    mauc, mauc_of_all = chosen.mean(axis=1).max(), every.mean(axis=1).max()
    verdict, loss = conclusion["verdict"], mauc_of_all - mauc
    if "may be chance" in verdict:
        assert abs(loss) < 0.05, (verdict, loss)
    elif "does as well" in verdict:
        assert loss < 0.02, (verdict, loss)
    elif " more, by " in verdict:
        assert loss < 0.005, (verdict, loss)
    elif " less, by " in verdict:
        assert loss > -0.005, (verdict, loss)
    assert conclusion["chosen"]["upper"] > mauc - 0.02
    for pair in conclusion["hard"]:
        reached, most = chosen[:, pair["pair"]].max(), every[:, pair["pair"]].max()
        said = [float(number) for number in re.findall(r"[01]\.\d+", pair["advice"])]
        if pair["kind"] == "separated":
            assert max(reached, most) > 0.96, (pair, reached)
        elif pair["kind"] == "none":
            assert max(reached, most) < 0.65, (pair, reached, most)
        elif pair["kind"] == "limit":
            assert most < max(said) + SLACK, (pair, most)
        elif pair["kind"] == "more":
            assert most > reached - 0.005, (pair, reached, most)
    why = conclusion["next"]["why"]
    if "do better" in why:
        assert loss > -0.005, (why, loss)


@pytest.mark.parametrize("size", [3, "predicted"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "digits")) for name in BUNDLED]
)
def test_bundled_sets(name, size):
    check_page(*BUNDLED[name](), size)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("size", [5, "predicted", "auto"])
@pytest.mark.parametrize("name", ["more/vehicle", "more/satimage", "mnist", "more/penbased"])
def test_real_sets(name, size, load_paper_data):
    check_page(*load_paper_data(name), size)
