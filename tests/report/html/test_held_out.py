"""Held-out scores: who is left out, what is fitted again, and that nothing leaks."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from mauc import MAUCD, MDFS, ChiSquare
from mauc.classifiers.likelihood import nested_log_probabilities
from mauc.data.door import make_problem
from mauc.evaluation import judges
from mauc.evaluation.folds import make_folds
from mauc.evaluation.judges import JUDGES, stratified_rows
from mauc.exceptions import SmallClassWarning, UndefinedMAUCError
from mauc.report.html.held_out import hold_out


def problem_of(selector, X, y, sample_weight=None):
    return make_problem(X, y, selector.fit_options, sample_weight)


def test_folds_are_stratified_and_hold_out_every_row_once():
    codes = np.repeat([0, 1, 2, 3, 4], [10, 7, 1, 2, 3])
    X = np.arange(46.0).reshape(23, 2)
    with pytest.warns(SmallClassWarning):
        folds = list(make_folds(problem_of(MAUCD(), X, codes), 5, 0))
    assert len(folds) == 5
    held = np.sort(np.concatenate([test for _, test in folds]))
    np.testing.assert_array_equal(held, np.flatnonzero(codes != 2))  # a single sample stays
    for train, test in folds:
        assert set(codes[train]) == {0, 1, 2, 3, 4}
        assert (codes[test] == 0).sum() == 2
    # classes of few rows meet each other
    assert all({3, 4} <= set(codes[test]) for _, test in folds[:2])


def test_scores_are_those_of_a_fit_without_the_fold():
    X, y = load_wine(return_X_y=True)
    selector = MDFS(4, random_state=0).fit(X, y)
    held = hold_out(selector, problem_of(MDFS(), X, y))
    scores = held.ask(judges=["nb"]).scores["nb"]
    for (train, test), chosen, found in zip(held.folds, held.selections, scores, strict=True):
        again = MDFS(4, random_state=0).fit(X[train], y[train]).ranking_
        np.testing.assert_array_equal(chosen, again)
        codes = y[train].astype(np.int32)
        parts, ones = (X[train][:, chosen], codes, X[test][:, chosen]), np.ones(len(train))
        wanted = next(nested_log_probabilities(*parts, 3, [4], ones))
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_choice_among_noise_looks_like_noise(rng):
    # the best of 2,000 features on all 60 rows would give a MAUC near 1
    X = rng.normal(size=(60, 2000))
    y = np.repeat([0, 1], 30)
    held = hold_out(MAUCD(10).fit(X, y), problem_of(MAUCD(), X, y))
    assert abs(held.ask().mauc["lda"] - 0.5) < 0.2
    assert held.ask(MAUCD(10).fit(X, y).ranking_).mauc["lda"] > 0.9


def test_large_tables_are_judged_on_a_part_of_every_class(rng, monkeypatch):
    monkeypatch.setattr(judges, "MAX_ROWS", 200)
    y = np.repeat([0, 1, 2], [900, 90, 10])
    X = rng.normal(size=(1000, 3)) + y[:, np.newaxis]
    rows = stratified_rows(y, 200)
    np.testing.assert_array_equal(np.bincount(y[rows]), [180, 20, 10])
    held = hold_out(MAUCD(1).fit(X, y), problem_of(MAUCD(), X, y))
    assert held.problem.n_samples == len(rows) == 210


@pytest.mark.parametrize("kind", ["sparse", "frame", "categories", "infinite"])
def test_every_kind_of_table_is_scored(kind, rng):
    y = np.repeat(["u", "v", "w"], 20)
    X = rng.normal(size=(60, 3)) + np.arange(60)[:, np.newaxis] // 20
    selector = ChiSquare(2)
    if kind == "sparse":
        X, selector = sparse.csr_array(np.where(X > 1, X, 0)), MAUCD(2)
    elif kind == "infinite":
        X[0, 0], X[1, 1] = np.inf, np.nan
        selector = MAUCD(2)
    else:
        X = pd.DataFrame(X, columns=list("abc"))
        if kind == "categories":
            X["a"] = pd.Categorical(np.where(X["a"] > 1, "high", "low"))
    held = hold_out(selector.fit(X, y), problem_of(type(selector)(), X, y))
    judged = held.ask(np.arange(3))
    for judge in JUDGES:
        assert not np.isnan(np.concatenate(judged.scores[judge])).any()
        assert judged.mauc[judge] > 0.7


def test_a_nominal_column_does_not_change_the_classifier_of_the_others(rng):
    y = np.repeat([0, 1, 2], 100)
    X = pd.DataFrame(
        {
            "a": np.where(y == 0, 0, rng.poisson(0.05 + 0.3 * y)),
            "b": np.where(y == 1, 5.0, 5 + rng.normal(size=300) * 0.02 * (y + 1)),
            "constant": ["one"] * 300,
        }
    )
    held = hold_out(MAUCD(2).fit(X, y), problem_of(MAUCD(), X, y))
    numbers, every = (held.ask(np.arange(k), judges=["nb"]).scores["nb"] for k in (2, 3))
    np.testing.assert_allclose(np.concatenate(numbers), np.concatenate(every), atol=1e-9)


def test_too_few_samples_are_named():
    X = np.arange(6.0).reshape(3, 2)
    selector = MAUCD(1)
    with pytest.warns(SmallClassWarning):
        selector.fit(X, [0, 1, 1])
    with pytest.warns(SmallClassWarning):
        problem = problem_of(MAUCD(), X, [0, 1, 1])
    with pytest.raises(UndefinedMAUCError, match="2 classes of 2 samples or more, got 1 of 2"):
        hold_out(selector, problem)
