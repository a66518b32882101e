"""MAUC of a classifier on the first k features of a ranking, for many k at once."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _get_feature_names

from mauc.classifiers.c45.c45 import C45
from mauc.classifiers.naive_bayes.naive_bayes import NormalNaiveBayes
from mauc.classifiers.nearest_neighbor.nearest_neighbor import NearestNeighbor
from mauc.classifiers.nominal_columns import categorical_columns
from mauc.classifiers.svm.svm import RBFSVM
from mauc.evaluation.fold import Fold
from mauc.evaluation.nested_bayes import NestedBayes
from mauc.evaluation.nested_neighbor import NestedNeighbor
from mauc.evaluation.nested_refit import NestedRefit
from mauc.evaluation.nested_svm import NestedSVM
from mauc.evaluation.nested_tree import NestedTree
from mauc.evaluation.score import TestLabels
from mauc.exceptions import MaucError
from mauc.problem.validate import encode_labels

RESPONSES = ("predict_proba", "predict_log_proba", "decision_function")

_NESTED = {
    C45: NestedTree,
    NearestNeighbor: NestedNeighbor,
    NormalNaiveBayes: NestedBayes,
    RBFSVM: NestedSVM,
}


@dataclass(frozen=True)
class Measurement:
    """MAUC of one subset size, and what it took.

    Parameters
    ----------
    size : int
        Number of features.
    mauc : float
        Of the test part.
    fit_seconds : float
        Fitting the classifier and scoring the test samples.
    score_seconds : float
        Computing MAUC of those scores.
    """

    size: int
    mauc: float
    fit_seconds: float
    score_seconds: float


def evaluate_ranking(
    ranking, sizes, classifier, X_train, y_train, X_test, y_test,
    *, response_method="predict_proba", n_jobs=None,
):  # fmt: skip
    """Compute the test MAUC of a classifier on the first k features of a ranking.

    The same as fitting it anew on ``X_train[:, ranking[:k]]`` for every k, but the work that the
    sizes share is done once. For several rankings of the same data use `FoldEvaluator`, which
    shares it among them too.

    Parameters
    ----------
    ranking : array-like of int
        Columns, best first.
    sizes : array-like of int
        How many of them to use, each in [1, len(ranking)].
    classifier : classifier
        Not changed. C45, NearestNeighbor, NormalNaiveBayes and RBFSVM share work; any other
        scikit-learn classifier is fitted for every size.
    X_train, X_test : array-like of shape (n_samples, n_features)
    y_train, y_test : array-like of shape (n_samples,)
        Labels. Every class of `y_test` must be in `y_train`; one that is only in `y_train`
        is left out of the mean.
    response_method : {"predict_proba", "predict_log_proba", "decision_function"}, \
            default="predict_proba"
        What MAUC is computed of.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    mauc : ndarray of shape (n_sizes,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MAUCD
    >>> from mauc.classifiers import NormalNaiveBayes
    >>> from mauc.evaluation import evaluate_ranking
    >>> X, y = load_wine(return_X_y=True)
    >>> ranking = MAUCD("all").fit(X[::2], y[::2]).ranking_
    >>> sizes = [1, 2, 4, 8]
    >>> model = NormalNaiveBayes()
    >>> evaluate_ranking(ranking, sizes, model, X[::2], y[::2], X[1::2], y[1::2]).round(3)
    array([0.93 , 0.943, 0.994, 0.997])
    """
    evaluator = FoldEvaluator(X_train, y_train, X_test, y_test, n_jobs=n_jobs)
    return evaluator.evaluate(ranking, sizes, classifier, response_method=response_method)


class FoldEvaluator:
    """Evaluate rankings on one split of the data, sharing work between them.

    What depends on a single feature is computed once for all rankings and sizes: likelihoods
    of Naive Bayes, scaled columns for distances, sorted columns for trees. It is kept for every
    classifier (with its parameters) that was asked for.

    Parameters
    ----------
    X_train, X_test : array-like of shape (n_samples, n_features)
    y_train, y_test : array-like of shape (n_samples,)
    n_jobs : int, optional
        Threads. The results do not depend on it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc.classifiers import NearestNeighbor
    >>> from mauc.evaluation import FoldEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> fold = FoldEvaluator(X[::2], y[::2], X[1::2], y[1::2])
    >>> fold.evaluate([6, 12, 0, 9], [2, 4], NearestNeighbor()).round(3)
    array([0.903, 0.972])
    >>> fold.evaluate([0, 1, 2, 3], [2, 4], NearestNeighbor()).round(3)
    array([0.794, 0.813])
    """

    def __init__(self, X_train, y_train, X_test, y_test, *, n_jobs=None):
        names = _get_feature_names(X_train)
        X_train, X_test = _check_X(X_train, "X_train"), _check_X(X_test, "X_test")
        if X_train.shape[1] != X_test.shape[1]:
            raise MaucError(
                f"X_test must have the {X_train.shape[1]} columns of X_train, "
                f"got {X_test.shape[1]}."
            )
        dtype = np.result_type(X_train, X_test)
        y_train, y_test = column_or_1d(y_train), column_or_1d(y_test)
        check_consistent_length(X_train, y_train)
        check_consistent_length(X_test, y_test)
        classes, codes, _ = encode_labels(y_train)
        self._fold = Fold(
            X_train.astype(dtype, copy=False), codes, X_test.astype(dtype, copy=False),
            classes, n_jobs,
        )  # fmt: skip
        self._labels = TestLabels(y_test, classes)
        self._names = names
        self._nested = {}

    def evaluate(self, ranking, sizes, classifier, *, response_method="predict_proba"):
        """Compute the test MAUC of a classifier on the first k features of a ranking.

        Parameters
        ----------
        ranking : array-like of int
            Columns, best first.
        sizes : array-like of int
            How many of them to use, each in [1, len(ranking)].
        classifier : classifier
            Not changed.
        response_method : {"predict_proba", "predict_log_proba", "decision_function"}, \
                default="predict_proba"
            What MAUC is computed of.

        Returns
        -------
        mauc : ndarray of shape (n_sizes,)
        """
        sizes = _check_sizes(sizes, len(ranking))
        ascending, places = np.unique(sizes, return_inverse=True)
        measured = self.measure(ranking, ascending, classifier, response_method=response_method)
        return np.array([measurement.mauc for measurement in measured])[places]

    def measure(self, ranking, sizes, classifier, *, response_method="predict_proba"):
        """Yield one `Measurement` for each of the ascending sizes, with its seconds.

        Parameters
        ----------
        ranking : array-like of int
            Columns, best first.
        sizes : array-like of int
            How many of them to use, each in [1, len(ranking)], ascending.
        classifier : classifier
            Not changed.
        response_method : {"predict_proba", "predict_log_proba", "decision_function"}, \
                default="predict_proba"
            What MAUC is computed of.

        Yields
        ------
        measurement : Measurement
            Work that sizes and rankings share is counted where it is first needed.
        """
        ranking = self._check_ranking(ranking)
        sizes = _check_sizes(sizes, len(ranking))
        start = perf_counter()
        nested = self._find_nested(classifier, response_method)
        for size, scores in zip(sizes, nested.scores(ranking, sizes), strict=True):
            fitted = perf_counter()
            mauc = self._labels.mauc(scores)
            scored = perf_counter()
            yield Measurement(int(size), mauc, fitted - start, scored - fitted)
            start = perf_counter()

    def _find_nested(self, classifier, response_method):
        if response_method not in RESPONSES or not hasattr(classifier, response_method):
            raise MaucError(
                f"response_method must be one of {', '.join(RESPONSES)} that "
                f"{type(classifier).__name__} has, got {response_method!r}."
            )
        key = (type(classifier), repr(sorted(classifier.get_params().items())), response_method)
        if key not in self._nested:
            # A subclass may compute something else, so it is fitted like any other classifier.
            make = _NESTED.get(type(classifier), NestedRefit)
            self._nested[key] = make(self._fold, self._by_mask(classifier), response_method)
        return self._nested[key]

    def _by_mask(self, classifier):
        """Return a clone whose nominal features, if it has any, are given as a mask."""
        classifier = clone(classifier)
        wanted = classifier.get_params().get("categorical_features")
        if wanted is not None and not isinstance(wanted, str):
            mask = np.zeros(self._fold.n_features, dtype=bool)
            mask[categorical_columns(wanted, len(mask), self._names)] = True
            classifier.set_params(categorical_features=mask)
        return classifier

    def _check_ranking(self, ranking):
        ranking = np.asarray(ranking)
        if ranking.ndim != 1 or ranking.dtype.kind not in "iu" or len(ranking) == 0:
            raise MaucError("ranking must be a one-dimensional array of column numbers.")
        n_features = self._fold.n_features
        if ranking.min() < 0 or ranking.max() >= n_features:
            raise MaucError(
                f"ranking must hold columns in [0, {n_features - 1}], "
                f"got {ranking.min()} to {ranking.max()}."
            )
        if len(np.unique(ranking)) != len(ranking):
            raise MaucError("ranking must hold every column at most once.")
        return ranking.astype(np.int64)


def _check_sizes(sizes, n_ranked):
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0:
        raise MaucError(f"sizes must be a one-dimensional array of whole numbers, got {sizes!r}.")
    if sizes.min() < 1 or sizes.max() > n_ranked:
        raise MaucError(
            f"sizes must be in [1, {n_ranked}] (the length of the ranking), "
            f"got {sizes.min()} to {sizes.max()}."
        )
    return sizes


def _check_X(X, name):
    return check_array(
        X, dtype=[np.float64, np.float32], order="F", ensure_all_finite="allow-nan",
        input_name=name,
    )  # fmt: skip
