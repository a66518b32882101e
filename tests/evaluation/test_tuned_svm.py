"""The four scopes of tuning, against tuning and evaluating by hand."""

from typing import get_args

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine

from mauc.classifiers import tune_rbf_svm
from mauc.evaluation import evaluate_ranking, evaluate_tuned_svm
from mauc.evaluation.evaluate import SCOPES
from mauc.exceptions import MaucError
from mauc.experiments import plan

X, Y = load_wine(return_X_y=True)
FOLD = (X[::2], Y[::2], X[1::2], Y[1::2])
RANKING, SIZES = [6, 12, 0, 9], [2, 4]
GRID = {"C_values": [0.5, 8.0], "gamma_values": [0.125, 2.0]}


def test_a_data_set_is_tuned_once_and_outside():
    tuned = tune_rbf_svm(X, Y, **GRID)
    scores = evaluate_tuned_svm(RANKING, SIZES, *FOLD, scope="dataset", tuned=tuned)
    assert scores.tunings == (tuned,)
    assert_array_equal(scores.mauc, evaluate_ranking(RANKING, SIZES, tuned.classifier(), *FOLD))


def test_a_data_set_may_have_one_result_per_size():
    tuned = [tune_rbf_svm(X[:, RANKING[:size]], Y, **GRID) for size in SIZES]
    scores = evaluate_tuned_svm(RANKING, SIZES, *FOLD, scope="dataset_size", tuned=tuned)
    assert scores.tunings == tuple(tuned)
    for size, mauc, tuning in zip(SIZES, scores.mauc, tuned, strict=True):
        assert mauc == evaluate_ranking(RANKING, [size], tuning.classifier(), *FOLD)[0]


def test_a_fold_is_tuned_on_its_training_part_and_the_largest_size():
    scores = evaluate_tuned_svm(RANKING, SIZES, *FOLD, scope="fold", **GRID)
    by_hand = tune_rbf_svm(FOLD[0][:, RANKING], FOLD[1], **GRID)
    assert_array_equal(scores.tunings[0].scores, by_hand.scores)
    assert_array_equal(scores.mauc, evaluate_ranking(RANKING, SIZES, by_hand.classifier(), *FOLD))


def test_every_size_is_tuned_on_its_own_features():
    scores = evaluate_tuned_svm(RANKING, SIZES, *FOLD, scope="fold_size", **GRID)
    assert len(scores.tunings) == 2
    for size, mauc, tuning in zip(SIZES, scores.mauc, scores.tunings, strict=True):
        by_hand = tune_rbf_svm(FOLD[0][:, RANKING[:size]], FOLD[1], **GRID)
        assert_array_equal(tuning.scores, by_hand.scores)
        expected = evaluate_ranking(RANKING, [size], by_hand.classifier(), *FOLD)
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
        evaluate_tuned_svm(RANKING, SIZES, *FOLD, **options)


def test_the_scopes_are_those_of_plans():
    assert get_args(plan.Scope) == SCOPES
