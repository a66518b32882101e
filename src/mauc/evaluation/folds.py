"""Training and test rows: folds by class, by group, by any splitter; what they give away."""

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedGroupKFold

from mauc.checks import check_int
from mauc.data.arguments import Seed, Splits, Splitter
from mauc.data.door import check_generator
from mauc.data.problem import Problem
from mauc.data.rows import copied_share, find_group_column
from mauc.data.weights import pair_table
from mauc.exceptions import (
    ColumnWarning,
    MaucError,
    RepeatedRowsWarning,
    UndefinedMAUCError,
    mauc_errors,
    option,
    warn_user,
)
from mauc.results import plural

Array = np.ndarray
Folds = list[tuple[Array, Array]]

_MIN_COPIED = 0.02  # share of the tested rows from which copies are worth a word


def check_cv(cv: Any, n_samples: int) -> int | Splitter | Folds:
    """Return a number of folds, a splitter or a list of splits, checked."""
    if type(cv) is int and cv >= 2:
        return cv
    if isinstance(cv, Integral):
        return check_int("cv", cv, 2)
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):
        return cv
    try:
        pairs = [(train, test) for train, test in cv]
    except (TypeError, ValueError):
        raise MaucError(
            f"cv must be a number of folds, a splitter of scikit-learn, such as GroupKFold(5), or "
            f"splits, each a pair of training and test rows, got {cv!r}."
        ) from None
    return [(_check_rows(train, n_samples), _check_rows(test, n_samples)) for train, test in pairs]


def _check_rows(rows: ArrayLike, n_samples: int) -> Array:
    """Return the rows of a part of a split, given as numbers or as a mask."""
    rows = np.asarray(rows)
    if rows.dtype == np.bool_ and rows.shape == (n_samples,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise MaucError(f"cv must have splits of row numbers, got an array of {rows.dtype}.")
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_samples:
        raise MaucError(
            f"cv must have splits of rows in [0, {n_samples - 1}], got {rows.min()} to "
            f"{rows.max()}."
        )
    return rows.astype(np.int64)


def take_splits(cv: Splits, rows: Array, n_samples: int) -> int | Splitter | Folds:
    """Return `cv`, checked, for some of the rows: splits have those of theirs, by new numbers."""
    cv = check_cv(cv, n_samples)
    if not isinstance(cv, list):
        return cv
    numbers = np.full(n_samples, -1)
    numbers[rows] = np.arange(len(rows))
    return [
        tuple(part[part >= 0] for part in (numbers[train], numbers[test])) for train, test in cv
    ]


def make_folds(problem: Problem, cv: Splits, random_state: Seed = 0) -> Folds:
    """Return training and test rows of folds: "Groups and folds" in docs/methods/measures.md."""
    wanted = check_cv(cv, problem.n_samples)
    if isinstance(wanted, int):
        if problem.groups is None:
            return list(_stratified_folds(problem, wanted, random_state))
        n_groups = len(np.unique(problem.groups))
        if n_groups < wanted:
            raise MaucError(
                f"groups must name at least as many groups as there are folds, {wanted}, got "
                f"{n_groups}; take fewer folds."
            )
        generator = check_generator(random_state)
        wanted = StratifiedGroupKFold(wanted, shuffle=True, random_state=generator)
    if not isinstance(wanted, list):
        wanted = check_cv(_split(problem, wanted), problem.n_samples)
        assert isinstance(wanted, list)
    codes, folds = problem.codes, []
    for train, test in wanted:
        if len(np.intersect1d(train, test)):
            raise MaucError("cv must not test the rows of a split that it trains on.")
        test = test[np.isin(codes[test], codes[train])]
        if _tests_pair(problem, test):
            folds.append((train, test))
    if not folds:
        raise UndefinedMAUCError(
            f"cross-validation needs a fold that tests 2 classes or more of its training part, got "
            f"none in {len(wanted)}; take fewer folds, or more "
            f"{'samples' if problem.groups is None else 'groups'} of every class."
        )
    return folds


def _tests_pair(problem: Problem, test: Array) -> bool:
    """Whether the test part has two classes of a pair that counts."""
    present = np.unique(problem.codes[test])
    if problem.pair_shares is None:
        return len(present) > 1
    table = pair_table(problem.pair_shares, problem.n_classes)
    return bool(table[np.ix_(present, present)].any())


def _split(problem: Problem, splitter: Splitter) -> list[tuple[Array, Array]]:
    """Return what a splitter makes of the labels and the groups; it does not see the features."""
    labels, X = problem.classes[problem.codes], np.zeros((problem.n_samples, 1))
    try:
        with mauc_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of small classes, see `make_folds`
            return list(splitter.split(X, labels, problem.groups))
    except MaucError as error:
        needs_groups = problem.groups is None and "groups" in str(error)
        advice = f"; {option('groups')} must say what rows belong to" if needs_groups else ""
        raise MaucError(
            f"cv: {type(splitter).__name__} cannot split {plural(problem.n_samples, 'row')}"
            f"{advice}: {error}"
        ) from error


def assign_folds(codes: Array, n_folds: int, generator: np.random.RandomState) -> Array:
    """Return the fold that tests each row, -1 for a class of one sample, which is never tested.

    The rows of every class go to the folds in a random order, one to each in turn, and the next
    class goes on where it ended. Classes of fewer rows than folds begin with the first: any two
    then meet in a fold.
    """
    folds = np.full(len(codes), -1)
    start = 0
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        if len(rows) >= n_folds:
            folds[rows] = (start + np.arange(len(rows))) % n_folds
            start += len(rows)
        elif len(rows) > 1:
            folds[rows] = np.arange(len(rows))
    return folds


def _stratified_folds(
    problem: Problem, n_folds: int, random_state: Seed
) -> Iterator[tuple[Array, Array]]:
    """Yield the training and test rows of the folds whose test part has two classes or more."""
    generator = check_generator(random_state)
    n_testable = int((problem.class_counts > 1).sum())
    if n_testable < 2:
        raise UndefinedMAUCError(
            "cross-validation needs at least 2 classes of 2 samples or more, got "
            f"{n_testable} of {problem.n_classes}; give more samples, or the number of features."
        )
    folds = assign_folds(problem.codes, n_folds, generator)
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if _tests_pair(problem, test):
            yield train, test


def warn_of_leaks(problem: Problem, folds: Folds) -> None:
    """Warn, in one line, where a column looks like a group, or rows are tested and trained on."""
    groups = problem.groups
    if groups is not None and any(
        np.isin(groups[test], groups[train]).any() for train, test in folds
    ):
        warn_user(
            "groups are on both sides of some splits, which `cv` makes without looking at them; "
            "leave cv out, or take a splitter such as GroupKFold.",
            RepeatedRowsWarning,
        )
        return
    column = find_group_column(problem) if groups is None else None
    if column is not None:
        names = problem.feature_names
        name = f"number {column}" if names is None else repr(str(names[column]))
        given = f"X[:, {column}]" if names is None else f"X[{name}]"
        warn_user(
            f"column {name} looks like a group, such as a patient, of which some rows are trained "
            f"on and others tested: pass groups={given} and leave it out of X.",
            ColumnWarning,
        )
        return
    share = copied_share(problem, folds)
    if share >= _MIN_COPIED:
        warn_user(
            f"{share:.0%} of the rows that are tested are in the training part as well, with the "
            f"same values in all features, so that MAUC is too high: name what such rows have in "
            f"common ({option('groups')}), or keep one of each.",
            RepeatedRowsWarning,
        )
