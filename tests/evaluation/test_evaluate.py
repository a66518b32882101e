"""Nested evaluation gives what a new fit on every subset gives, to the bit."""

import warnings
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator, evaluate_ranking
from mauc.exceptions import MaucError, UndefinedMAUCError
from mauc.experiments import plan
from mauc.lab import C45, evaluate_tuned_svm, tune_rbf_svm
from mauc.lab.tuned_scores import SCOPES
from mauc.metrics import mauc_score
from mauc.registry import make_classifier
from tests.helpers.strategies import examples

WINE_X, WINE_Y = load_wine(return_X_y=True)
WINE_FOLD = (WINE_X[::2], WINE_Y[::2], WINE_X[1::2], WINE_Y[1::2])
WINE_RANKING, WINE_SIZES = [6, 12, 0, 9], [2, 4]
GRID = {"C_values": [0.5, 8.0], "gamma_values": [0.125, 2.0]}

CASES = [
    (NormalNaiveBayes(), "predict_proba"),
    (NormalNaiveBayes(), "predict_log_proba"),
    (NormalNaiveBayes(), "decision_function"),
    (NearestNeighbor(), "predict_proba"),
    (NearestNeighbor(smooth=True, min_range=1e-6), "predict_proba"),
    (C45(), "predict_proba"),
    (RBFSVM(C=8), "predict_proba"),
    (RBFSVM(C=8, gamma=0.125), "decision_function"),
    (RBFSVM(precompute=False), "decision_function"),
    (GaussianNB(), "predict_proba"),
]
IDS = [f"{type(model).__name__}-{method}-{i}" for i, (model, method) in enumerate(CASES)]


def fit_anew(ranking, sizes, classifier, data, method, nominal=None):
    X_train, y_train, X_test, y_test = data
    values = []
    for size in sizes:
        columns = ranking[:size]
        model = clone(classifier)
        if nominal is not None:
            model.set_params(categorical_features=np.isin(columns, nominal))
        model.fit(X_train[:, columns], y_train)
        scores = getattr(model, method)(X_test[:, columns])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values.append(mauc_score(y_test, scores, labels=model.classes_))
    return values


@pytest.mark.parametrize(("classifier", "method"), CASES, ids=IDS)
def test_digits(classifier, method):
    X, y = load_digits(return_X_y=True)
    data = (X[::3], y[::3], X[1::3], y[1::3])
    fold = FoldEvaluator(*data)
    rng = np.random.default_rng(0)
    sizes = [1, 7, 20, 3, 40]
    for _ in range(2):  # the second ranking meets what the first has left
        ranking = rng.permutation(X.shape[1])[:40]
        values = fold.evaluate(ranking, sizes, classifier, response_method=method)
        expected = fit_anew(ranking, sizes, classifier, data, method)
        np.testing.assert_array_equal(values, expected)


@st.composite
def folds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, n_classes = draw(st.integers(12, 40)), draw(st.integers(1, 7)), draw(st.integers(2, 4))
    y = np.array(["b", "a", "d", "c"])[rng.permutation(np.arange(n) % n_classes)]
    X = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-4, 5, m) + rng.integers(0, 3, (n, m))
    if draw(st.booleans()):
        X = np.round(X, draw(st.integers(0, 2)))
    nominal = None
    if draw(st.booleans()):
        nominal = np.flatnonzero(rng.random(m) < 0.4)
        X[:, nominal] = rng.integers(0, 4, (n, len(nominal)))
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.15] = np.nan
    half = n // 2
    while len(np.unique(y[:half])) < n_classes or len(np.unique(y[half:])) < 2:
        y = rng.permutation(y)
    ranking = rng.permutation(m)
    sizes = rng.integers(1, m + 1, draw(st.integers(1, 5)))
    return (X[:half], y[:half], X[half:], y[half:]), ranking, sizes, nominal


@examples(60)
@given(folds(), st.sampled_from(CASES[:6]))
def test_any_fold(fold, case):
    data, ranking, sizes, nominal = fold
    classifier, method = case
    classifier = clone(classifier).set_params(categorical_features=nominal)
    values = evaluate_ranking(ranking, sizes, classifier, *data, response_method=method)
    expected = fit_anew(ranking, sizes, classifier, data, method, nominal)
    np.testing.assert_array_equal(values, expected)


@examples(25)
@given(folds(), st.sampled_from(CASES[6:9]))
def test_any_fold_svm(fold, case):
    # The mean that replaces a missing value is a sum over the rows of one column.
    data, ranking, sizes, _ = fold
    classifier, method = case
    values = evaluate_ranking(ranking, sizes, classifier, *data, response_method=method)
    expected = fit_anew(ranking, sizes, classifier, data, method)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_many_features_rescale_the_product():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.tile(X, (1, 40)) * rng.lognormal(0, 0.01, (len(X), 520))
    data = (X[::2], y[::2], X[1::2], y[1::2])
    ranking, sizes = rng.permutation(520), [100, 300, 520]
    values = evaluate_ranking(ranking, sizes, NormalNaiveBayes(), *data)
    expected = fit_anew(ranking, sizes, NormalNaiveBayes(), data, "predict_proba")
    np.testing.assert_array_equal(values, expected)


def test_classifiers_that_differ_in_one_entry_of_a_long_mask_share_nothing():
    # NumPy abbreviates the representation of an array of more than 1000 entries.
    y = np.arange(80) % 2
    X = np.zeros((80, 2000))
    X[:, 1000] = np.arange(80) % 6  # even for class 0, odd for class 1: nominal, it tells all
    data = (X[:40], y[:40], X[40:], y[40:])
    fold, ranking = FoldEvaluator(*data), np.array([1000])
    as_number, as_nominal = (
        fold.evaluate(ranking, [1], NormalNaiveBayes(categorical_features=mask))[0]
        for mask in (np.arange(2000) == 999, np.arange(2000) == 1000)
    )
    assert as_number < 0.8
    assert as_nominal == 1.0


def test_a_subclass_is_fitted_like_any_other_classifier():
    class Reversed(NormalNaiveBayes):
        def predict_proba(self, X):
            return 1 - super().predict_proba(X)

    X, y = load_wine(return_X_y=True)
    fold = FoldEvaluator(X[::2], y[::2], X[1::2], y[1::2])
    value, reversed_value = (
        fold.evaluate([6, 9], [2], model)[0] for model in (NormalNaiveBayes(), Reversed())
    )
    assert reversed_value == pytest.approx(1 - value)


def test_bad_arguments():
    X, y = load_wine(return_X_y=True)
    fold = FoldEvaluator(X[::2], y[::2], X[1::2], y[1::2])
    model = NormalNaiveBayes()
    for ranking, sizes, message in (
        ([0, 0], [1], "at most once"),
        ([0, 13], [1], "columns in"),
        ([0.5], [1], "column numbers"),
        ([0, 1], [3], "sizes must be in \\[1, 2\\]"),
        ([0, 1], [], "sizes must be"),
    ):
        with pytest.raises(MaucError, match=message):
            fold.evaluate(ranking, sizes, model)
    with pytest.raises(MaucError, match="response_method"):
        fold.evaluate([0], [1], NearestNeighbor(), response_method="decision_function")
    with pytest.raises(MaucError, match="only classes of y_train"):
        FoldEvaluator(X[:100], y[:100], X, y)
    with pytest.raises(UndefinedMAUCError):
        FoldEvaluator(X, y, X[:10], y[:10])
    with pytest.raises(MaucError, match="13 columns"):
        FoldEvaluator(X, y, X[:, :3], y)
    with pytest.raises(MaucError, match="inconsistent numbers of samples"):
        FoldEvaluator(X, y[:9], X, y)
    with pytest.raises(MaucError, match="confidence must be a number"):
        fold.evaluate([0], [1], C45(confidence=2))


@pytest.mark.parametrize(
    "classifier",
    [NormalNaiveBayes(), C45(), NearestNeighbor(smooth=True), RBFSVM(), GaussianNB()],
)
def test_weights_are_those_of_fit_and_of_mauc(classifier, rng):
    X, y = load_wine(return_X_y=True)
    weights = rng.integers(0, 3, len(y)).astype(float)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    got = evaluate_ranking(
        [6, 12, 0, 9],
        [1, 3],
        classifier,
        X[train],
        y[train],
        X[test],
        y[test],
        train_weight=weights[train],
        test_weight=weights[test],
    )
    for value, size in zip(got, (1, 3), strict=True):
        columns = [6, 12, 0, 9][:size]
        model = clone(classifier)
        model.fit(X[train][:, columns], y[train], sample_weight=weights[train])
        scores = model.predict_proba(X[test][:, columns])
        expected = mauc_score(y[test], scores, sample_weight=weights[test])
        assert value == pytest.approx(expected, abs=1e-12)


def test_a_classifier_without_weights_is_refused_unless_they_are_equal():
    X, y = load_wine(return_X_y=True)
    weights = 1.0 + np.arange(len(y)) % 2
    model = KNeighborsClassifier()
    for refused in (model, make_pipeline(StandardScaler(), model)):
        message = f"{type(refused).__name__} takes no sample weights.* got 1 to 2"
        with pytest.raises(MaucError, match=message):
            evaluate_ranking([0, 1], [1], refused, X, y, X, y, train_weight=weights)
    kept = weights > 1
    assert_array_equal(
        evaluate_ranking([0, 1], [1, 2], model, X, y, X, y, train_weight=3.0 * kept),
        evaluate_ranking([0, 1], [1, 2], model, X[kept], y[kept], X, y),
    )


def test_weights_reach_all_steps_of_a_pipeline(rng):
    X, y = load_wine(return_X_y=True)
    weight = rng.integers(0, 4, len(y))
    model, test = make_classifier("logistic"), (X[1::2], y[1::2])
    found = evaluate_ranking([6, 9], [1, 2], model, X, y, *test, train_weight=weight)
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    assert_allclose(found, evaluate_ranking([6, 9], [1, 2], model, *repeated, *test), atol=1e-3)


@pytest.mark.parametrize("scope", ["fold", "fold_size"])
def test_a_tuned_machine_has_weights(rng, scope):
    weight = rng.integers(0, 4, len(WINE_Y)).astype(float)
    train, test = weight[::2], weight[1::2]
    weights = {"train_weight": train, "test_weight": test}
    found = evaluate_tuned_svm(WINE_RANKING, WINE_SIZES, *WINE_FOLD, scope=scope, **weights, **GRID)
    for i, size in enumerate(WINE_SIZES):
        tuned_on = size if scope == "fold_size" else max(WINE_SIZES)
        columns = WINE_RANKING[:tuned_on]
        tuned = tune_rbf_svm(WINE_X[::2, columns], WINE_Y[::2], sample_weight=train, **GRID)
        model = tuned.classifier()
        wanted = evaluate_ranking(WINE_RANKING, [size], model, *WINE_FOLD, **weights)
        assert found.mauc[i] == wanted[0]


def test_a_data_set_is_tuned_once_and_outside():
    tuned = tune_rbf_svm(WINE_X, WINE_Y, **GRID)
    scores = evaluate_tuned_svm(WINE_RANKING, WINE_SIZES, *WINE_FOLD, scope="dataset", tuned=tuned)
    assert scores.tunings == (tuned,)
    assert_array_equal(
        scores.mauc, evaluate_ranking(WINE_RANKING, WINE_SIZES, tuned.classifier(), *WINE_FOLD)
    )


def test_a_data_set_may_have_one_result_per_size():
    tuned = [tune_rbf_svm(WINE_X[:, WINE_RANKING[:size]], WINE_Y, **GRID) for size in WINE_SIZES]
    scores = evaluate_tuned_svm(
        WINE_RANKING, WINE_SIZES, *WINE_FOLD, scope="dataset_size", tuned=tuned
    )
    assert scores.tunings == tuple(tuned)
    for size, mauc, tuning in zip(WINE_SIZES, scores.mauc, tuned, strict=True):
        assert mauc == evaluate_ranking(WINE_RANKING, [size], tuning.classifier(), *WINE_FOLD)[0]


def test_a_fold_is_tuned_on_its_training_part_and_the_largest_size():
    scores = evaluate_tuned_svm(WINE_RANKING, WINE_SIZES, *WINE_FOLD, scope="fold", **GRID)
    by_hand = tune_rbf_svm(WINE_FOLD[0][:, WINE_RANKING], WINE_FOLD[1], **GRID)
    assert_array_equal(scores.tunings[0].scores, by_hand.scores)
    assert_array_equal(
        scores.mauc, evaluate_ranking(WINE_RANKING, WINE_SIZES, by_hand.classifier(), *WINE_FOLD)
    )


def test_every_size_is_tuned_on_its_own_features():
    scores = evaluate_tuned_svm(WINE_RANKING, WINE_SIZES, *WINE_FOLD, scope="fold_size", **GRID)
    assert len(scores.tunings) == 2
    for size, mauc, tuning in zip(WINE_SIZES, scores.mauc, scores.tunings, strict=True):
        by_hand = tune_rbf_svm(WINE_FOLD[0][:, WINE_RANKING[:size]], WINE_FOLD[1], **GRID)
        assert_array_equal(tuning.scores, by_hand.scores)
        expected = evaluate_ranking(WINE_RANKING, [size], by_hand.classifier(), *WINE_FOLD)
        assert_array_equal(mauc, expected[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"scope": "year"},
            "scope must be one of 'dataset', 'dataset_size', 'fold', 'fold_size', got 'year'",
        ),
        ({"scope": "dataset"}, 'tuned= is for scope="dataset"'),
        ({"scope": "fold", "tuned": "x"}, 'tuned= is for scope="dataset"'),
        ({"scope": "dataset_size", "tuned": ["x"]}, r"one result per size \(2\), got 1"),
    ],
)
def test_bad_scopes(options, message):
    with pytest.raises(MaucError, match=message):
        evaluate_tuned_svm(WINE_RANKING, WINE_SIZES, *WINE_FOLD, **options)


def test_the_scopes_are_those_of_plans():
    assert get_args(plan.Scope) == SCOPES
