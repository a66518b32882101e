"""Folds by group, splitter and given splits; classes that a part lacks; rows on both sides."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.svm import SVC

from mauc import MAUCD, select_k
from mauc.classifiers import NearestNeighbor
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation.fold import Fold
from mauc.evaluation.folds import check_cv, make_folds, take_splits, warn_of_leaks
from mauc.evaluation.judges import JUDGES
from mauc.exceptions import ColumnWarning, MaucError, RepeatedRowsWarning, UndefinedMAUCError
from mauc.registry import Accepts

Y = np.array([0, 1] * 6)
GROUPS = np.repeat(np.arange(6), 2)


def problem_of(X, y, groups=None):
    accepts = Accepts(sparse=True, infinite=True, nominal=True)
    return make_problem(X, y, FitOptions(accepts), groups=groups)


def noise(n, m=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m))


def test_a_number_takes_whole_groups_of_both_classes():
    folds = make_folds(problem_of(noise(12), Y, GROUPS), 3, random_state=1)
    assert [len(test) for _, test in folds] == [4, 4, 4]
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(12))
    for train, test in folds:
        assert not set(GROUPS[train]) & set(GROUPS[test])
    again = make_folds(problem_of(noise(12), Y, GROUPS), 3, random_state=1)
    assert_array_equal(np.concatenate([t for _, t in folds]), np.concatenate([t for _, t in again]))


@pytest.mark.parametrize(
    ("splitter", "groups"),
    [
        (GroupKFold(3), GROUPS),
        (LeaveOneGroupOut(), GROUPS),
        (TimeSeriesSplit(3), None),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), None),
    ],
)
@pytest.mark.parametrize("as_list", [False, True])
def test_any_splitter_and_its_splits_are_taken(splitter, groups, as_list):
    problem = problem_of(noise(12), Y, groups)
    wanted = list(splitter.split(np.zeros((12, 1)), Y, groups))
    found = make_folds(problem, wanted if as_list else splitter)
    for (train, test), (wanted_train, wanted_test) in zip(found, wanted, strict=True):
        assert_array_equal(train, wanted_train)
        assert_array_equal(test, wanted_test)


def test_rows_of_a_class_that_is_not_trained_are_not_tested():
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    first, second = np.arange(3), np.array([3, 4, 6, 7])
    folds = make_folds(problem_of(noise(8), y), [(second, first), (first[:1], second)])
    assert len(folds) == 1  # the second trains on one class
    assert_array_equal(folds[0][1], [0, 1])
    mask = np.isin(np.arange(8), second)
    assert_array_equal(check_cv([(mask, ~mask)], 8)[0][0], second)


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (1, None, "cv must be an int of at least 2"),
        (7, GROUPS, "as many groups as there are folds, 7, got 6"),
        ("five", None, "cv must be a number of folds, a splitter .* got 'five'"),
        (GroupKFold(3), None, "GroupKFold cannot split 12 rows; groups must say"),
        (GroupKFold(9), GROUPS, "GroupKFold cannot split 12 rows: "),
        ([([0, 1], [12])], None, r"rows in \[0, 11\], got 12 to 12"),
        ([([0.5], [1])], None, "splits of row numbers, got an array of float64"),
        ([([0, 1, 2], [2, 3])], None, "must not test the rows .* it trains on"),
        ([([0, 2], [1, 3])], None, "needs a fold that tests 2 classes .* none in 1"),
        ([], None, "needs a fold .* none in 0"),
    ],
)
def test_what_cannot_be_split_is_named(cv, groups, message):
    with pytest.raises(MaucError, match=message):
        make_folds(problem_of(noise(12), Y, groups), cv)


def test_groups_of_one_class_each_side_leave_nothing_to_test():
    with pytest.raises(UndefinedMAUCError, match="more groups of every class"):
        make_folds(problem_of(noise(12), np.repeat([0, 1], 6), np.repeat([0, 1], 6)), 2)


def test_splits_of_some_rows_have_their_new_numbers():
    ((train, test),) = take_splits([([0, 2, 5], [1, 3])], np.array([0, 3, 5]), 6)
    assert_array_equal(train, [0, 2])
    assert_array_equal(test, [1])
    assert take_splits(4, np.arange(3), 6) == 4


@pytest.mark.parametrize(
    ("judge", "classifier"),
    [
        *((name, None) for name in JUDGES),
        ("classifier", LogisticRegression(max_iter=500)),
        ("classifier", SVC()),
    ],
)
@pytest.mark.parametrize("lacking", [1, 2])
def test_judges_do_without_a_class(judge, classifier, lacking):
    """The MAUC of a fold without a class is that of the problem without it."""
    X, y = load_wine(return_X_y=True)
    kept = y != lacking
    rows = np.arange(len(y))
    train, test = rows[kept & (rows % 2 == 0)], rows[kept & (rows % 2 == 1)]
    response = "decision_function" if isinstance(classifier, SVC) else "auto"
    whole = Fold(problem_of(X, y), train, test, np.arange(3))
    number = np.cumsum(kept) - 1
    part = Fold(problem_of(X[kept], y[kept]), number[train], number[test], np.arange(3))
    found, wanted = (
        fold.mauc(judge if classifier is None else classifier, [1, 3], response)
        for fold in (whole, part)
    )
    assert_array_equal(found, wanted)


def patients(seed, n_patients=40, n_encoding=6):
    """Noise, and features of the patients: one value for all five rows, with little noise."""
    generator = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_patients), 5)
    X = generator.normal(size=(5 * n_patients, 4 + n_encoding))
    X[:, 4:] = generator.normal(size=(n_patients, n_encoding))[groups]
    X += 1e-3 * generator.normal(size=X.shape)
    return X, (generator.permutation(n_patients) % 2)[groups], groups


def test_what_tells_patients_tells_nothing_about_other_patients():
    """Without groups the curve claims more than 0.9 on noise, with groups about one half."""
    claims = {True: [], False: []}
    for seed in range(6):
        X, y, groups = patients(seed)
        for has_groups, found in claims.items():
            given = groups if has_groups else None
            curve = select_k(MAUCD(), X, y, groups=given, classifier=NearestNeighbor())
            found.append(curve.honest_mauc)
    assert np.mean(claims[False]) > 0.9
    assert 0.4 < np.mean(claims[True]) < 0.6


def test_weights_of_0_drop_rows_groups_and_splits():
    X, y, groups = patients(0)
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    kept = weight > 0
    splits = list(GroupKFold(4).split(X, y, groups))
    new = np.cumsum(kept) - 1
    for cv, kept_cv in (
        (3, 3),
        (splits, [tuple(new[part[kept[part]]] for part in pair) for pair in splits]),
    ):
        options = {"sizes": [1, 3], "classifier": NearestNeighbor()}
        found = select_k(MAUCD(), X, y, sample_weight=weight, groups=groups, cv=cv, **options)
        wanted = select_k(MAUCD(), X[kept], y[kept], groups=groups[kept], cv=kept_cv, **options)
        assert_array_equal(found.fold_mauc, wanted.fold_mauc)


def test_groups_that_a_splitter_does_not_look_at_are_told():
    problem = problem_of(noise(12), Y, GROUPS)
    folds = make_folds(problem, StratifiedKFold(3, shuffle=True, random_state=0))
    with pytest.warns(RepeatedRowsWarning, match="groups are on both sides of some splits"):
        warn_of_leaks(problem, folds)


@pytest.mark.parametrize("has_groups", [False, True])
def test_copies_of_rows_are_told(has_groups):
    X, y = np.repeat(noise(40, 4), 3, axis=0), np.repeat(np.arange(40) % 2, 3)
    groups = np.repeat(np.arange(40), 3) if has_groups else None
    X[:, 0] += 0.0
    problem = problem_of(X, y, groups)
    folds = make_folds(problem, 5)
    if has_groups:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_leaks(problem, folds)
        return
    # Every column has three rows of each value, so that one is taken for a group.
    with pytest.warns(ColumnWarning, match=r"column number 0 looks like a group.*groups=X\[:, 0\]"):
        warn_of_leaks(problem, folds)
    X[::3, 0] += 1e-9
    X[1::3] = X[::3]
    mixed = problem_of(X, np.where(np.arange(120) % 7 == 0, 1 - y, y))
    with pytest.warns(RepeatedRowsWarning, match=r"\d+% of the rows that are tested.*\(groups\)"):
        warn_of_leaks(mixed, folds)
