"""The AUCs of all pairs at once are those of the classifier, pair by pair, to the bit."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from mauc.classifiers import NormalNaiveBayes
from mauc.data.problem import make_problem
from mauc.difficulty import bayes_auc
from mauc.difficulty.bayes_auc import fold_numbers, pair_bayes_auc
from mauc.metrics import mauc_score
from mauc.registry import Accepts


def literal_auc(X, codes, n_folds, seed, nominal=None):
    """Fit the classifier on the training part of every fold of every pair."""
    found = []
    for pair in itertools.combinations(range(codes.max() + 1), 2):
        rows = np.flatnonzero(np.isin(codes, pair))
        n_splits = min(n_folds, *np.bincount(codes[rows])[list(pair)])
        if n_splits < 2:
            found.append(np.nan)
            continue
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        values = []
        for train, test in folds.split(rows, codes[rows]):
            model = NormalNaiveBayes(categorical_features=nominal)
            model.fit(X[rows[train]], codes[rows[train]])
            scores = model.predict_proba(X[rows[test]])
            values.append(mauc_score(codes[rows[test]], scores, labels=list(pair)))
        found.append(np.mean(values))
    return np.array(found)


def problem_of(X, y, nominal=None):
    holder = BaseEstimator()
    holder.categorical_features = nominal
    return make_problem(holder, X, y, accepts=Accepts(nominal=nominal is not None))


@pytest.fixture
def labels(rng):
    return rng.permutation(np.repeat(np.arange(4), [17, 9, 30, 4]))


def test_normal_columns(rng, labels):
    X = rng.normal(size=(60, 5)) + 0.4 * labels[:, np.newaxis] * rng.normal(size=5)
    for n_folds in (2, 5, 12):
        expected = literal_auc(X, labels, n_folds, 3)
        assert_array_equal(pair_bayes_auc(problem_of(X, labels), n_folds, 3), expected)
        assert len(np.unique(expected)) > 4


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_])
def test_other_types(rng, labels, dtype):
    X = np.maximum(3 * rng.normal(size=(60, 4)) + labels[:, np.newaxis], 0).astype(np.int16)
    X = X.astype(dtype)
    expected = literal_auc(X.astype(np.float64), labels, 4, 0)
    assert_array_equal(pair_bayes_auc(problem_of(X, labels), 4, 0), expected)


def test_missing_values_ties_constants_and_huge_values(rng, labels):
    X = (rng.normal(size=(60, 9)) + labels[:, np.newaxis]).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 1] = 7.0
    X[:, 2] = np.nan
    X[:, 3] *= 1e150
    X[:, 4] *= 1e-200
    X[:, 5] += 1e9
    X[labels == 1, 6] = 0.0
    X[labels == 2, 7] = np.nan
    expected = literal_auc(X, labels, 5, 1)
    assert_array_equal(pair_bayes_auc(problem_of(X, labels), 5, 1), expected)


def test_many_columns_whose_products_would_vanish(rng, labels):
    X = 5 * rng.normal(size=(60, 120))
    X[::7, 100:] = np.nan
    expected = literal_auc(X, labels, 3, 0)
    assert_array_equal(pair_bayes_auc(problem_of(X, labels), 3, 0), expected)


def test_nominal_columns_with_rare_and_missing_categories(rng, labels):
    X = rng.normal(size=(60, 5)) + 0.2 * labels[:, np.newaxis]
    X[:, 1] = rng.integers(0, 3, 60)
    X[:, 3] = rng.integers(0, 25, 60)
    X[::9, 1] = np.nan
    nominal = np.array([False, True, False, True, False])
    filled = np.nan_to_num(X, nan=3.0)  # a category of its own
    expected = literal_auc(filled, labels, 5, 2, nominal)
    assert_array_equal(pair_bayes_auc(problem_of(X, labels, nominal), 5, 2), expected)
    assert (expected != literal_auc(X, labels, 5, 2)).any()


def test_sorted_scores_of_large_classes_give_the_same(rng, labels, monkeypatch):
    X = rng.normal(size=(60, 3)).round(1)
    expected = pair_bayes_auc(problem_of(X, labels), 5, 0)
    monkeypatch.setattr(bayes_auc, "_MAX_COMPARED", 0)
    assert_array_equal(pair_bayes_auc(problem_of(X, labels), 5, 0), expected)


def test_threads_and_blocks_change_nothing(rng, monkeypatch):
    y = np.arange(90) % 9
    X = rng.normal(size=(90, 4))
    expected = pair_bayes_auc(problem_of(X, y), 5, 0)
    monkeypatch.setattr(bayes_auc, "_BLOCK_CELLS", 1)
    assert_array_equal(pair_bayes_auc(problem_of(X, y), 5, 0, n_jobs=3), expected)


@pytest.mark.parametrize("counts", [(5, 5), (3, 8), (8, 3), (31, 7), (2, 2), (10, 11)])
def test_folds_are_those_of_stratified_k_fold(counts):
    y = np.repeat([0, 1], counts)
    for n_splits in range(2, min(5, *counts) + 1):
        first, second = fold_numbers(*counts, n_splits, 4)
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=4).split(y, y)
        for number, (_, test) in enumerate(folds):
            assert_array_equal(np.flatnonzero(np.append(first, second) == number), test)
