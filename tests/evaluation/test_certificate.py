"""The bound on what leaving out features costs: of whom, on which rows, in which words."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB

from mauc import MAUCD, GreedyMAUC, compare_mauc
from mauc.exceptions import MaucError

X, Y = load_wine(return_X_y=True, as_frame=True)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module")
def selector():
    return MAUCD(4).fit(X[TRAIN], Y[TRAIN])


def test_it_is_the_paired_comparison_of_scores_out_of_fold(selector):
    X_test, y_test = X[TEST].to_numpy(), Y[TEST].to_numpy()
    fold = np.arange(len(y_test)) % 4
    cv = [(np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(4)]
    few, every = np.empty((2, len(y_test), 3))
    for train, test in cv:
        for scores, columns in ((few, selector.ranking_), (every, np.arange(13))):
            model = GaussianNB().fit(X_test[np.ix_(train, columns)], y_test[train])
            scores[test] = model.predict_proba(X_test[np.ix_(test, columns)])
    expected = compare_mauc(y_test, few, every, alternative="noninferior", level=0.9, folds=fold)
    found = selector.certificate(X[TEST], Y[TEST], GaussianNB(), cv=cv, level=0.9)
    assert found.comparison.mauc_a == pytest.approx(expected.mauc_a, abs=1e-12)
    assert found.loss == pytest.approx(expected.mauc_b - expected.mauc_a, abs=1e-12)
    assert found.bound == pytest.approx(-expected.lower, abs=1e-12)
    assert (found.n_selected, found.n_features, found.judge) == (4, 13, "GaussianNB")


def test_sentences_round_the_bound_up(selector):
    found = selector.certificate(X[TEST], Y[TEST], GaussianNB())
    for lower, words in [
        (-0.0021, "Leaving out 9 of 13 features costs at most 0.003 MAUC (95 %, by GaussianNB)."),
        (0.0, "Leaving out 9 of 13 features costs at most 0.000 MAUC (95 %, by GaussianNB)."),
        (
            0.0129,
            "Leaving out 9 of 13 features raises MAUC by at least 0.012 (95 %, by GaussianNB).",
        ),
    ]:
        shown = replace(found, comparison=replace(found.comparison, lower=lower))
        assert str(shown) == words


def test_without_an_estimator_the_judge_is_the_best_with_all_features(selector):
    found = selector.certificate(X[TEST], Y[TEST])
    assert found.judge in str(found)
    assert found.judge not in ("GaussianNB", "classifier")
    assert found.bound > found.loss


def test_rows_of_the_fit_are_refused(selector):
    refused = partial(pytest.raises, MaucError)
    with refused(match="not fitted on, but 89 of its rows are rows of the fit:"):
        selector.certificate(X[TRAIN], Y[TRAIN])
    with refused(match="but 45 of its rows"):
        selector.certificate(X[TRAIN][::2], Y[TRAIN][::2])
    some = np.r_[1:178:2, 0:178:12]  # wine has two equal rows, one in each half
    with refused(match="but 16 of its rows"):
        pickle.loads(pickle.dumps(selector)).certificate(X.iloc[some], Y.iloc[some])


def test_rows_that_repeat_by_chance_are_taken():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    few = pd.DataFrame(rng.integers(0, 3, (300, 3)) + (rng.random((300, 3)) < 0.3) * y[:, None])
    pairs = pd.DataFrame(np.repeat(rng.normal(size=(150, 3)), 2, axis=0))
    for table, labels in ((few, y), (pairs, np.repeat(y[:150], 2))):
        rows = rng.permutation(300)
        first, second = np.sort(rows[:150]), np.sort(rows[150:])
        selector = MAUCD(1).fit(table.iloc[first], labels[first])
        selector.certificate(table.iloc[second], labels[second], GaussianNB())
        with pytest.raises(MaucError, match="repeat one by chance"):
            selector.certificate(table.iloc[first], labels[first], GaussianNB())


def test_wrong_input_is_named(selector):
    with pytest.raises(MaucError, match="X must have 13 features"):
        selector.certificate(X[TEST].to_numpy()[:, :5], Y[TEST])
    with pytest.raises(MaucError, match="all features are selected"):
        MAUCD("all").fit(X[TRAIN], Y[TRAIN]).certificate(X[TEST], Y[TEST])
    with pytest.raises(MaucError, match="level must be"):
        selector.certificate(X[TEST], Y[TEST], GaussianNB(), level=1.5)


def test_groups_stay_together_and_widen_the_bound(selector):
    doubled = np.repeat(np.arange(89), 2)
    X_test, y_test = X[TEST].iloc[doubled], Y[TEST].iloc[doubled]
    model = LogisticRegression(max_iter=5000)
    alone = selector.certificate(X_test / X.max(), y_test, model, cv=GroupKFold(5), groups=doubled)
    assert alone.comparison.n_groups == 89
    once = selector.certificate(X[TEST] / X.max(), Y[TEST], model)
    assert alone.bound > 0.5 * once.bound  # copies are no evidence


def test_two_classes_speak_of_auc():
    rows = np.flatnonzero(Y < 2)
    selector = GreedyMAUC(2).fit(X.iloc[rows[::2]], Y.iloc[rows[::2]])
    shown = str(selector.certificate(X.iloc[rows[1::2]], Y.iloc[rows[1::2]], GaussianNB()))
    assert " AUC " in shown
    assert "MAUC" not in shown
