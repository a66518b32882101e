"""The scorer inside scikit-learn's tools."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mauc import MDFS, make_mauc_scorer, mauc_score, mauc_scorer
from mauc.exceptions import AbsentClassWarning, MaucError


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)  # harder, so that scores are not all 1
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("model", [GaussianNB(), LinearSVC(), LogisticRegression(max_iter=1000)])
def test_scores_are_probabilities_or_decision_values(iris, model):
    X, y = iris
    model.fit(X, y)
    response = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    assert mauc_scorer(model, X, y) == mauc_score(y, getattr(model, response)(X))
    if hasattr(model, "decision_function"):
        rows = y != "setosa"  # two classes have one column
        values = model.fit(X[rows], y[rows]).decision_function(X[rows])
        found = make_mauc_scorer("decision_function")(model, X[rows], y[rows])
        assert found == pytest.approx(roc_auc_score(y[rows], values), abs=1e-12)


def test_a_fold_that_lacks_a_class_is_scored(iris):
    X, y = iris
    rows = y != "setosa"
    model = GaussianNB().fit(X, y)
    with pytest.warns(AbsentClassWarning, match="'setosa'"):
        value = mauc_scorer(model, X[rows], y[rows])
    probabilities = model.predict_proba(X[rows])
    with pytest.warns(AbsentClassWarning):
        assert value == mauc_score(y[rows], probabilities, labels=model.classes_)


def test_cross_validation_of_a_pipeline(iris):
    X, y = iris
    pipeline = make_pipeline(MDFS(2, random_state=0), GaussianNB())
    folds = KFold(4, shuffle=True, random_state=0)
    wanted = []
    for train, test in folds.split(X):
        model = clone(pipeline).fit(X[train], y[train])
        wanted.append(mauc_score(y[test], model.predict_proba(X[test])))
    np.testing.assert_array_equal(
        cross_val_score(pipeline, X, y, cv=folds, scoring=mauc_scorer), wanted
    )


def test_copy_and_pickle(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    for copy in (deepcopy(mauc_scorer), pickle.loads(pickle.dumps(mauc_scorer))):
        assert copy(model, X, y) == mauc_scorer(model, X, y)


def test_a_model_without_scores_is_refused(iris):
    with pytest.raises(MaucError, match="MDFS must have predict_proba or decision_function"):
        mauc_scorer(MDFS(), *iris)


def test_sample_weight(iris):
    X, y = iris
    w = np.random.default_rng(1).random(len(y))
    model = GaussianNB().fit(X, y)
    wanted = mauc_score(y, model.predict_proba(X), sample_weight=w)
    assert mauc_scorer(model, X, y, sample_weight=w) == wanted


def test_pair_weights_of_a_scorer(iris):
    X, y = iris
    model, weights = GaussianNB().fit(X, y), {("virginica", "versicolor"): 4}
    scorer = make_mauc_scorer("predict_proba", pair_weight=weights)
    wanted = mauc_score(y, model.predict_proba(X), pair_weight=weights)
    assert wanted != mauc_scorer(model, X, y)
    for one in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert one(model, X, y) == wanted
    assert repr(scorer) == f"make_mauc_scorer(('predict_proba',), pair_weight={weights})"


def test_a_class_that_was_not_there_in_fit(iris):
    X, y = iris
    model = GaussianNB().fit(X[:100], y[:100])
    with pytest.raises(MaucError, match="classes that GaussianNB has seen in fit, got also 'virg"):
        mauc_scorer(model, X, y)


def test_a_missing_label_is_named(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    with pytest.raises(MaucError, match="y must hold a label for every sample"):
        mauc_scorer(model, X, [*y[:-1], None])


def test_weights_are_routed_where_they_are_requested(iris):
    X, y = iris
    w = np.random.default_rng(1).random(len(y))
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        make_mauc_scorer().set_score_request(sample_weight=True)
    with config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=False)
        weighted = make_mauc_scorer().set_score_request(sample_weight=True)
        params = {"sample_weight": w}
        results = cross_validate(
            model, X, y, scoring=weighted, params=params, return_estimator=True, return_indices=True
        )
        for score, fitted, test in zip(
            results["test_score"], results["estimator"], results["indices"]["test"], strict=True
        ):
            assert score == mauc_scorer(fitted, X[test], y[test], sample_weight=w[test])
        with pytest.raises(ValueError, match="sample_weight"):
            cross_val_score(model, X, y, scoring=make_mauc_scorer(), params=params)


def test_it_is_made_by_a_function_and_no_estimator():
    assert repr(make_mauc_scorer("predict_proba")) == "make_mauc_scorer(('predict_proba',))"
    assert not hasattr(mauc_scorer, "get_params")
    with pytest.raises(MaucError, match="response_method must be one of"):
        make_mauc_scorer("predict")
