"""Score columns are those of the classes that they are named after."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mauc import auc_mu_score, compare_mauc, mauc_interval, mauc_score, pair_auc_scores
from mauc.exceptions import AbsentClassWarning, MaucError
from mauc.metrics.score_names import match_names

CLASSES = ["setosa", "versicolor", "virginica"]


@pytest.fixture
def scored(rng):
    codes = np.arange(60) % 3
    scores = np.eye(3)[codes] + rng.random((60, 3))
    return np.array(CLASSES)[codes], scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("names", "classes", "found", "others"),
    [
        (["b", "a"], ["a", "b"], ["b", "a"], {}),
        (["proba_b", "score_a"], ["a", "b"], ["b", "a"], {}),  # of both nothing follows
        (["score_b", "score_a", "score_c", "c"], ["a", "b"], ["b", "a", None, None], {2: "c"}),
        (["1.0", "score_2"], ["1", "2"], ["1", "2"], {}),
        ([1, 0], ["0.0", "1.0"], ["1.0", "0.0"], {}),
        (["1", "1.0"], ["1", "1.0"], ["1", "1.0"], {}),  # two classes
        (["p_a", "a"], ["a", "p_a"], ["p_a", "a"], {}),  # a class goes before a prefix
        (["x", "y"], ["a", "b"], [None, None], {}),
        (["p_0", "p_1", "p_2", "p_value"], [0, 1], [0, 1, None, None], {2: 2}),
        (["True", "False"], [False, True], [True, False], {}),
    ],
)
def test_names_by_hand(names, classes, found, others):
    matched = match_names(names, classes)
    assert (matched.classes, matched.others) == (found, others)


@pytest.mark.parametrize("frames", [pd, pl])
@pytest.mark.parametrize("prefix", ["", "score_", "proba_", "prob_", "p_"])
def test_every_function_takes_columns_by_name(scored, frames, prefix):
    y, scores = scored
    order = [2, 0, 1]
    frame = frames.DataFrame({f"{prefix}{CLASSES[j]}": scores[:, j] for j in order})
    wanted = mauc_score(y, scores)
    assert mauc_score(y, scores[:, order]) < wanted
    assert mauc_score(y, frame) == wanted
    assert auc_mu_score(y, frame) == auc_mu_score(y, scores)
    assert pair_auc_scores(y, frame).mauc == wanted
    assert mauc_interval(y, frame).lower == mauc_interval(y, scores).lower
    other = scores[::-1]
    found = compare_mauc(y, frame, other)
    assert found.mauc_a == wanted
    assert found.p_value == pytest.approx(compare_mauc(y, scores, other).p_value)
    assert compare_mauc(y, other, frame).mauc_b == wanted


def test_numbers_name_columns_where_they_are_the_classes(scored):
    y, scores = scored
    codes = np.unique(y, return_inverse=True)[1]
    wanted, order = mauc_score(codes, scores), [2, 0, 1]
    for names in (order, [str(j) for j in order], [f"{j}.0" for j in order]):
        assert mauc_score(codes, pd.DataFrame(scores[:, order], columns=names)) == wanted
    assert mauc_score(codes * 1.0, pd.DataFrame(scores[:, order], columns=order)) == wanted
    # The numbers of a frame without names are no classes 1, 2, 3.
    assert mauc_score(codes + 1, pd.DataFrame(scores)) == wanted
    assert mauc_score(codes + 1, pd.DataFrame(scores), labels=[1, 2, 3]) == wanted
    assert mauc_score(y, pd.DataFrame(scores)) == wanted
    with pytest.raises(MaucError, match=r"columns 2, 1 of classes, but none of class 3 .*are 0\)"):
        mauc_score(codes + 1, pd.DataFrame(scores[:, order], columns=order))


def test_names_of_a_part_of_the_classes_are_refused(scored):
    y, scores = scored
    frame = pd.DataFrame(scores, columns=["score_virginica", "score_setosa", "third"])
    text = (
        r"y_score must be named after all classes or none, got columns 'score_virginica', "
        r"'score_setosa' of classes, but none of class 'versicolor' \(others are 'third'\)"
    )
    for function in (mauc_score, pair_auc_scores, mauc_interval, auc_mu_score):
        with pytest.raises(MaucError, match=text):
            function(y, frame)
    with pytest.raises(MaucError, match=text.replace("y_score", "scores_b")):
        compare_mauc(y, scores, frame)
    twice = pd.DataFrame(scores, columns=["setosa", "score_setosa", "versicolor"])
    with pytest.raises(MaucError, match="several columns for class 'setosa': 'setosa', 'score_se"):
        mauc_score(y, twice)
    with pytest.raises(MaucError, match="labels must name the columns of y_score in their order"):
        mauc_score(y, frame, labels=CLASSES)
    wanted = mauc_score(y, scores[:, [1, 2, 0]])
    assert mauc_score(y, frame, labels=["virginica", "setosa", "versicolor"]) == wanted


def test_what_is_no_score_is_no_class_without_samples(scored):
    y, scores = scored
    frame = pd.DataFrame(scores, columns=[f"score_{label}" for label in CLASSES])
    with pytest.raises(MaucError, match="for each class in y_true, and 'fold', 'age': leave out"):
        mauc_score(y, frame.assign(fold=1, age=np.arange(60)))
    with pytest.warns(AbsentClassWarning, match="1 of 4 classes have no sample .'other'"):
        assert mauc_score(y, frame.assign(score_other=0.1)) == mauc_score(y, scores)
    # Named as the classes alone: probabilities of all classes sum to one.
    frame.columns = CLASSES
    with pytest.raises(MaucError, match="for each class in y_true, and 'sample_weight'"):
        mauc_score(y, frame.assign(sample_weight=1.0))
    is_kept = y != "setosa"
    with pytest.warns(AbsentClassWarning, match=r"\('setosa'\)"):
        assert mauc_score(y[is_kept], frame[is_kept]) > 0.5
