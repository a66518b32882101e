"""A fold ranks rows of a problem as a fit on the raw rows does, and scores as classifiers do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from mauc import MDFS, ConsensusSelector, GreedyMAUC
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.data.door import AUCS, FitOptions, make_problem
from mauc.evaluation import FoldEvaluator
from mauc.evaluation.fold import Fold, response_of
from mauc.exceptions import MaucError
from mauc.registry import SELECTORS

X, Y = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)


def table(kind):
    """A table with categories and values that the training part lacks."""
    if kind == "array":
        return X
    if kind == "sparse":
        return sparse.csr_array(np.where(np.median(X, axis=0) < X, X, 0))
    is_trained = np.arange(len(X)) % 2 == 0
    frame = pd.DataFrame(X[:, :8], columns=list("abcdefgh"))
    frame["b"] = np.where(is_trained, 2.0, frame["b"])  # constant in the part
    frame.loc[::7, "c"] = np.nan
    if kind == "dates":
        frame["d"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(frame["d"], unit="D")
    if kind == "categories":
        frame["d"] = np.where(frame["d"] > 18, "z", "y")
        frame.loc[~is_trained, "d"] = "a"
        frame["e"] = pd.Categorical(frame["e"].round(-1).astype(str))
        frame.loc[::9, "e"] = None
    return frame


def rows_of(data, rows):
    return data.iloc[rows] if isinstance(data, pd.DataFrame) else data[rows]


def rankings(selector, data, y, weight=None, groups=None, size=5):
    """Return the ranking of a fold, and that of a fit on the rows of its training part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = make_problem(data, y, selector.fit_options, weight, groups)
        given = {"sample_weight": weight, "groups": groups}
        given = {name: part[TRAIN] for name, part in given.items() if part is not None}
        wanted = clone(selector).set_params(n_features_to_select=size)
        wanted.fit(rows_of(data, TRAIN), y[TRAIN], **given)
    return Fold(problem, TRAIN, TEST).rank(selector, size), wanted.ranking_


@pytest.mark.parametrize("kind", ["array", "sparse", "numbers", "categories", "dates"])
@pytest.mark.parametrize("name", SELECTORS)
def test_a_fold_ranks_as_a_fit_on_its_rows(name, kind):
    selector, data = SELECTORS[name](), table(kind)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    is_taken = {"sparse": selector.accepts.sparse, "categories": selector.accepts.nominal}
    if is_taken.get(kind, True):
        assert_array_equal(*rankings(selector, data, Y))
    else:
        with pytest.raises(MaucError):
            rankings(selector, data, Y)


@pytest.mark.parametrize(
    "selector",
    [MDFS(random_state=0), GreedyMAUC(), ConsensusSelector("mdfs", n_resamples=4, random_state=0)],
)
def test_weights_groups_and_lacking_classes_are_those_of_the_part(selector):
    weight = 1.0 + 0.3 * (np.arange(len(Y)) % 5)
    assert_array_equal(*rankings(selector, X, Y, weight=weight))
    assert_array_equal(*rankings(selector, X, Y, groups=np.arange(len(Y)) % 40))
    rare = np.where(np.isin(np.arange(len(Y)), TEST[:6]), 9, Y)
    assert_array_equal(*rankings(selector, table("categories"), rare))


def test_weights_of_pairs_without_a_class_count_among_those_left():
    rare = np.where(np.isin(np.arange(len(Y)), TEST[:6]), 9, Y)
    weights = {(0, 1): 5.0, (0, 9): 3.0}
    problem = make_problem(X, rare, FitOptions(AUCS, pair_weight=weights))
    part = problem.training_part(TRAIN)
    assert part.classes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(part.pair_shares, [5 / 7, 1 / 7, 1 / 7])
    only = make_problem(X, rare, FitOptions(AUCS, pair_weight={(i, j): j == 9 for i, j in PAIRS}))
    assert only.training_part(TRAIN).pair_shares is None


PAIRS = [(0, 1), (0, 2), (1, 2), (0, 9), (1, 9), (2, 9)]


def test_a_selector_keeps_its_options_and_learns_nothing():
    selector = GreedyMAUC()
    before = selector.get_params()
    found = Fold(make_problem(X, Y), TRAIN, TEST).rank(selector, 3)
    assert len(found) == 3
    assert selector.get_params() == before
    assert not hasattr(selector, "ranking_")


def test_columns_of_categories_are_refused_by_a_selector_of_numbers():
    problem = make_problem(table("categories"), Y, FitOptions(AUCS))
    with pytest.raises(MaucError, match=r"nominal columns .*d.*; encode or drop them"):
        Fold(problem, TRAIN, TEST).rank(SELECTORS["fsdd"](), 3)


@pytest.mark.parametrize("classifier", [NormalNaiveBayes(), NearestNeighbor(), GaussianNB()])
@pytest.mark.parametrize("ranking", [np.arange(13), np.array([12, 3, 0])])
def test_classifiers_score_as_on_two_tables(classifier, ranking):
    evaluator = FoldEvaluator(X[TRAIN], Y[TRAIN], X[TEST], Y[TEST])
    response = response_of(classifier)
    wanted = evaluator.evaluate(ranking, [1, 3], classifier, response_method=response)
    fold = Fold(make_problem(X, Y), TRAIN, TEST).on(ranking)
    assert_array_equal(fold.mauc(classifier, [1, 3]), wanted)
    assert_array_equal(fold.mauc(classifier, [3, 1, 3]), wanted[[1, 0, 1]])


def test_infinite_values_are_for_the_panel_alone():
    infinite = X.copy()
    infinite[0, 2] = np.inf
    fold = Fold(make_problem(infinite, Y), TRAIN, TEST)
    assert 0.5 < fold.mauc("nb", [3])[0] <= 1.0
    with pytest.raises(MaucError, match=r"finite for a classifier, got infinity in feature .x2."):
        fold.mauc(GaussianNB(), [3])
    assert fold.on(np.array([0, 1])).mauc(GaussianNB(), [2])[0] > 0.5
