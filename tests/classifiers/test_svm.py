"""RBFSVM: WEKA's LibSVM but for tied votes; its tuning, GridSearchCV's but faster."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from mauc.classifiers import RBFSVM
from mauc.exceptions import MaucError
from mauc.lab import tune_rbf_svm
from mauc.metrics import mauc_score
from tests.helpers.weka import load_reference, reference_names

SLOW = {"mnist", "usps", "indiana", "phoneme"}


@pytest.mark.parametrize("name", reference_names(slow=SLOW))
def test_predictions_are_wekas_but_for_tied_votes(name):
    reference, X, y, X_test, _ = load_reference(name)
    model = RBFSVM(C=8, gamma=0.125).fit(X, y)
    scores, theirs = model.predict_proba(X_test), reference["proba_libsvm_Z_C8_G0.125"]
    differs = np.flatnonzero((scores != theirs).any(axis=1))
    # equal votes go to the class that comes first: here by label, in libsvm by first appearance
    appearance = list(dict.fromkeys(y.tolist()))
    for row in differs:
        winners = _tied_winners(model, X_test[row : row + 1])
        assert len(winners) > 1
        assert np.argmax(scores[row]) == winners[0]
        assert np.argmax(theirs[row]) == min(winners, key=appearance.index)


@pytest.mark.parametrize("options", [{}, {"scaling": "standard", "gamma": "scale"}])
@pytest.mark.parametrize("precompute", [True, False])
def test_a_weight_multiplies_the_cost(options, precompute):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = RBFSVM(precompute=precompute, tol=1e-6, **options).fit(X, y, weight)
    wanted = RBFSVM(tol=1e-6, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert model.gamma_ == pytest.approx(wanted.gamma_)
    np.testing.assert_allclose(model.decision_function(X), wanted.decision_function(X), atol=1e-4)


def test_tuning_has_weights_in_machines_and_mauc():
    X, y = load_iris(return_X_y=True)
    grid = {"C_values": [0.1, 4.0], "gamma_values": [0.05, 1.0], "n_folds": 2, "random_state": 0}
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    found = tune_rbf_svm(X, y, sample_weight=weight, **grid)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    wanted = np.zeros((2, 2))
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        for i, j in np.ndindex(2, 2):
            model = RBFSVM(grid["C_values"][i], grid["gamma_values"][j])
            scores = model.fit(X[train], y[train], weight[train]).predict_proba(X[test])
            wanted[i, j] += mauc_score(y[test], scores, sample_weight=weight[test]) / 2
    np.testing.assert_allclose(found.scores, wanted)


def _tied_winners(model, x):
    model.svc_.decision_function_shape = "ovo"
    values = model.decision_function(x)[0]
    model.svc_.decision_function_shape = "ovr"
    n_classes = len(model.classes_)
    votes = np.zeros(n_classes)
    for value, (i, j) in zip(values, zip(*np.triu_indices(n_classes, 1), strict=True), strict=True):
        votes[i if value > 0 else j] += 1
    return np.flatnonzero(votes == votes.max())


def test_precomputed_and_not():
    X, y = load_digits(return_X_y=True)
    one = RBFSVM(C=4, gamma=0.5, precompute=True).fit(X[::2], y[::2])
    other = RBFSVM(C=4, gamma=0.5, precompute=False).fit(X[::2], y[::2])
    np.testing.assert_array_equal(one.predict(X[1::2]), other.predict(X[1::2]))
    np.testing.assert_allclose(
        one.decision_function(X[1::2]), other.decision_function(X[1::2]), atol=1e-3
    )


def test_scores_are_hard():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["c", "a", "b"])[y]
    model = RBFSVM().fit(X, labels)
    scores = model.predict_proba(X)
    assert set(np.unique(scores)) == {0.0, 1.0}
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
    assert mauc_score(labels, model.decision_function(X)) > mauc_score(labels, scores)


def test_tuning_is_grid_search():
    X, y = load_wine(return_X_y=True)
    C_values, gamma_values = 2.0 ** np.arange(-5, 16, 4), 2.0 ** np.arange(-9, 4, 3)

    def score(model, X, y):
        hard = model.predict(X)[:, np.newaxis] == model.classes_
        return mauc_score(y, hard.astype(float))

    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), SVC()),
        {"svc__C": C_values, "svc__gamma": gamma_values},
        scoring=score,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
    result = tune_rbf_svm(X, y, C_values=C_values, gamma_values=gamma_values)
    np.testing.assert_allclose(result.scores.ravel(), search.cv_results_["mean_test_score"])
    assert (result.C, result.gamma) == (
        search.best_params_["svc__C"],
        search.best_params_["svc__gamma"],
    )
    assert result.is_complete
    assert "all 30 grid points" in str(result)


def test_coarse_to_fine_says_how_much_it_saw():
    X, y = load_wine(return_X_y=True)
    full = tune_rbf_svm(X, y)
    quick = tune_rbf_svm(X, y, search="coarse_to_fine")
    assert quick.n_evaluated <= 110 / 4
    assert not quick.is_complete
    assert f"{quick.n_evaluated} of 110 grid points" in str(quick)
    seen = ~np.isnan(quick.scores)
    np.testing.assert_array_equal(quick.scores[seen], full.scores[seen])
    assert full.mauc - 0.02 < quick.mauc <= full.mauc
    assert quick.classifier().get_params()["gamma"] == quick.gamma


def test_threads_do_not_matter():
    X, y = load_iris(return_X_y=True)
    options = {"search": "coarse_to_fine", "response_method": "decision_function"}
    one, two = (tune_rbf_svm(X, y, n_jobs=n, **options) for n in (1, 2))
    np.testing.assert_array_equal(one.scores, two.scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "fast"}, "search must be"),
        ({"C_values": []}, "C_values must be positive"),
        ({"gamma_values": [-1]}, "gamma_values must be positive"),
        ({"response_method": "predict"}, "response_method must be"),
        ({"C_values": ["x"]}, "C_values must be positive"),
        ({"n_folds": 1}, "n_folds must be an int of at least 2"),
        ({"n_folds": 4}, "n_splits=4 cannot be greater"),
    ],
)
def test_bad_tuning_options(options, message):
    with pytest.raises(MaucError, match=message):
        tune_rbf_svm([[0], [1], [0], [1], [0], [1]], [0, 1, 0, 1, 0, 1], **options)


def test_bad_parameters():
    for options, message in (
        ({"gamma": 0}, 'gamma must be a number > 0, "auto" or "scale", got 0'),
        ({"precompute": 2}, "precompute must be"),
        ({"C": -1}, "C must be a number > 0, got -1"),
        ({"tol": "small"}, "tol must be a number > 0 or None, got 'small'"),
        ({"scaling": "log"}, "scaling must be one of 'range', 'standard', got 'log'"),
    ):
        with pytest.raises(MaucError, match=message):
            RBFSVM(**options).fit([[0], [1]], [0, 1])
    with pytest.raises(MaucError, match="one class"):
        RBFSVM().fit([[0], [1]], [0, 0])


def test_an_infinite_cost_is_a_hard_margin():
    X, y = load_iris(return_X_y=True)
    assert RBFSVM(C=np.inf, gamma=1.0).fit(X[:100], y[:100]).score(X[:100], y[:100]) == 1.0


def test_tuning_by_group_does_not_learn_the_groups():
    """Copies of noise are known again in other folds, but not where groups stay together."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 4)
    X, y = rng.normal(size=(40, 4))[groups], (rng.permutation(40) % 2)[groups]
    found = [tune_rbf_svm(X, y, search="coarse_to_fine", groups=g).mauc for g in (None, groups)]
    assert found[0] > 0.95
    assert found[1] < 0.75
    with pytest.raises(MaucError, match="groups must leave a fold all classes to train on"):
        tune_rbf_svm(X, y, groups=y, n_folds=2)
