"""Stratified folds of a problem, and what a selector finds on the training part of one."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from mauc.exceptions import MaucWarning, UndefinedMAUCError
from mauc.problem.validate import check_generator


def deal_rows(codes, n_folds, generator):
    """Return the fold that tests each row, -1 for a row that stays in all training parts.

    Every class is dealt out in a random order, one row to each fold in turn, and the next class
    goes on where it ended. A class of one sample stays in the training parts: there would be
    nothing to learn it from.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
    n_folds : int
    generator : numpy.random.RandomState or numpy.random.Generator

    Returns
    -------
    places : ndarray of shape (n_samples,), int64
    """
    places = np.full(len(codes), -1)
    start = 0
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        if len(rows) > 1:
            places[rows] = (start + np.arange(len(rows))) % n_folds
            start += len(rows)
    return places


def stratified_folds(problem, n_folds, random_state):
    """Yield the training and test rows of the folds whose test part has two classes or more."""
    generator = check_generator(random_state)
    n_testable = int((problem.class_counts > 1).sum())
    if n_testable < 2:
        raise UndefinedMAUCError(
            "choosing the number of features needs at least 2 classes of 2 samples or more, got "
            f"{n_testable}; give a number."
        )
    places = deal_rows(problem.codes, n_folds, generator)
    for fold in range(n_folds):
        train, test = np.flatnonzero(places != fold), np.flatnonzero(places == fold)
        if len(np.unique(problem.codes[test])) > 1:
            yield train, test


def rank_part(selector, X, problem, train, size=None):
    """Return the ranking of a selector that is fitted on the training part.

    Parameters
    ----------
    selector : RankingSelector
        Not changed.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    problem : Problem
        Made of X, the labels and the weights.
    train : ndarray of int
        Rows of the training part.
    size : int, optional
        How many features to rank; as the selector says by default.

    Returns
    -------
    ranking : ndarray of int64
    """
    fitted = clone(selector)
    if size is not None:
        fitted.set_params(n_features_to_select=size)
    weights = {}
    if problem.sample_weight is not None and selector.accepts.weights:
        weights["sample_weight"] = problem.sample_weight[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MaucWarning)  # the same warnings were raised for all data
        labels = problem.classes[problem.codes[train]]
        return fitted.fit(_safe_indexing(X, train), labels, **weights).ranking_
