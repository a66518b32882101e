"""MAUC of a classifier on the first k features of a ranking, for many k at once."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from joblib import hash as hash_content
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mauc.checks import check_choice
from mauc.classifiers.base import BaseClassifier, Samples
from mauc.classifiers.nominal_columns import find_categories
from mauc.classifiers.svm.indicators import Indicators
from mauc.evaluation.inputs import (
    check_equal_weights,
    check_sizes,
    check_width,
    drop_absent,
    own_nominal,
)
from mauc.exceptions import MaucError
from mauc.metrics.class_pairs import ClassPairs
from mauc.problem.category_coder import learn_categories
from mauc.problem.validate import check_table, encode_labels, is_frame

RESPONSES = ("predict_proba", "predict_log_proba", "decision_function")


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
    *, response_method="predict_proba", train_weight=None, test_weight=None, n_jobs=None,
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
        Columns of a data frame with a categorical dtype or of strings are nominal, see
        `FoldEvaluator`.
    y_train, y_test : array-like of shape (n_samples,)
        Labels. Every class of `y_test` must be in `y_train`; one that is only in `y_train`
        is left out of the mean.
    response_method : {"predict_proba", "predict_log_proba", "decision_function"}, \
            default="predict_proba"
        What MAUC is computed from.
    train_weight, test_weight : array-like of shape (n_samples,), optional
        Sample weights that the classifier is fitted with, and those of MAUC.
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
    evaluator = FoldEvaluator(
        X_train, y_train, X_test, y_test,
        train_weight=train_weight, test_weight=test_weight, n_jobs=n_jobs,
    )  # fmt: skip
    return evaluator.evaluate(ranking, sizes, classifier, response_method=response_method)


class FoldEvaluator:
    """Evaluate rankings on one split of the data, sharing work between them.

    What depends on a single feature is computed once for all rankings and sizes: likelihoods
    of Naive Bayes, scaled columns for distances, sorted columns for trees. It is kept for every
    classifier, with its parameters, that was evaluated.

    The categories of nominal columns are learnt on the training part; one that is only in the test
    part is missing there. Classifiers with a parameter ``categorical_features`` are told of the
    nominal columns, besides those that the parameter names. Any other gets indicators in their
    place, a column of 0 and 1 per category of the training part, all 0 where a value is missing.

    Parameters
    ----------
    X_train, X_test : array-like of shape (n_samples, n_features)
        Columns of a data frame with a categorical dtype or of strings are nominal.
    y_train, y_test : array-like of shape (n_samples,)
    train_weight, test_weight : array-like of shape (n_samples,), optional
        Sample weights that classifiers are fitted with, and those of MAUC. Samples of weight 0
        count as absent. A classifier that takes no weights can be evaluated if those that are
        left are equal.
    categorical_features : array-like of bool, int or str, optional
        Further nominal columns, as a mask, column numbers or names.
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

    def __init__(
        self, X_train, y_train, X_test, y_test, *, train_weight=None, test_weight=None,
        categorical_features=None, n_jobs=None,
    ):  # fmt: skip
        self._names = [str(name) for name in X_train.columns] if is_frame(X_train) else None
        coder, X_train, is_nominal = learn_categories(X_train, categorical_features)
        X_train, y_train = check_table(X_train, y_train, name="X_train", order="F")
        self._is_nominal = np.zeros(X_train.shape[1], bool) if is_nominal is None else is_nominal
        X_train, y_train, self._weights = drop_absent(X_train, y_train, train_weight)
        if coder.categories:
            coder = coder.keep(X_train)
            X_test = coder.check_table(X_test)
            check_width(X_test, X_train)
        X_test, y_test = check_table(coder.encode(X_test), y_test, name="X_test", order="F")
        check_width(X_test, X_train)
        X_test, y_test, test_weight = drop_absent(X_test, y_test, test_weight)
        dtype = np.result_type(X_train, X_test)
        self._X_train = X_train.astype(dtype, copy=False)
        self._X_test = X_test.astype(dtype, copy=False)
        classes, self._codes, _ = encode_labels(y_train)
        self._n_classes = len(classes)
        self._pairs = ClassPairs.of_test(y_test, classes, test_weight)
        self._n_jobs = n_jobs
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
            What MAUC is computed from.

        Returns
        -------
        mauc : ndarray of shape (n_sizes,)
        """
        sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
        ascending, places = np.unique(sizes, return_inverse=True)
        measured = self.measure(ranking, ascending, classifier, response_method=response_method)
        return np.array([measurement.mauc for measurement in measured])[places]

    def measure(self, ranking, sizes, classifier, *, response_method="predict_proba"):
        """Yield one `Measurement` for each of the ascending sizes, with its seconds.

        Parameters
        ----------
        ranking, sizes, classifier, response_method
            As in `evaluate`, but the sizes ascend.

        Yields
        ------
        measurement : Measurement
            Work that sizes and rankings share is counted where it is first needed.
        """
        ranking = self._check_ranking(ranking)
        sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
        start = perf_counter()
        found = self._scores(classifier, response_method, ranking, sizes)
        for size, scores in zip(sizes, found, strict=True):
            fitted = perf_counter()
            mauc = self._pairs.mauc(scores)
            scored = perf_counter()
            yield Measurement(int(size), mauc, fitted - start, scored - fitted)
            start = perf_counter()

    def _scores(self, classifier, response_method, ranking, sizes):
        """Return an iterable of the scores of the first k features, for each of the sizes."""
        responses = [name for name in RESPONSES if hasattr(classifier, name)]
        check_choice("response_method", response_method, responses)
        # A subclass may compute something else, so it is fitted like any other classifier.
        if isinstance(classifier, BaseClassifier) and "nest" in vars(type(classifier)):
            # By content: NumPy abbreviates the representation of a long array.
            key = (type(classifier), hash_content(classifier.get_params()), response_method)
            if key not in self._nested:
                self._nested[key] = self._nest(classifier, response_method)
            if self._nested[key] is not None:
                return self._nested[key].scores(ranking, sizes)
        return self._refit(classifier, response_method, ranking, sizes)

    def _nest(self, classifier, response_method):
        model = clone(classifier)
        model.check_options()
        n_features = self._X_train.shape[1]
        weights = self._fit_weights(model).get("sample_weight", np.ones(len(self._codes)))
        is_nominal = self._is_nominal | own_nominal(model, n_features, self._names)
        nominal = np.flatnonzero(is_nominal)
        samples = Samples(self._X_train, self._codes, weights, self._n_classes, nominal)
        return model.nest(samples, self._X_test, response_method, self._n_jobs)

    def _refit(self, classifier, response_method, ranking, sizes):
        """Yield the scores of a new fit for every size."""
        weights = self._fit_weights(classifier)
        takes_nominal = "categorical_features" in classifier.get_params()
        own = own_nominal(classifier, self._X_train.shape[1], self._names)
        is_nominal = self._is_nominal | own
        X_train, X_test, parts = self._X_train, self._X_test, None
        if is_nominal[ranking].any() and not takes_nominal:
            X_train, X_test, parts = self._with_indicators(ranking[: max(sizes)])
        for size in sizes:
            columns = ranking[:size] if parts is None else np.concatenate(parts[:size])
            model = clone(classifier)
            if takes_nominal and is_nominal.any():
                model.set_params(categorical_features=is_nominal[columns])
            model.fit(X_train[:, columns], self._codes, **weights)
            yield getattr(model, response_method)(X_test[:, columns])

    def _with_indicators(self, ranking):
        """Return both parts with indicators of nominal columns, and the columns of each feature."""
        X_train, X_test = self._X_train[:, ranking], self._X_test[:, ranking]
        nominal = np.flatnonzero(self._is_nominal[ranking])
        indicators = Indicators(len(ranking), find_categories(X_train, nominal))
        parts = [indicators.columns([place]) for place in range(len(ranking))]
        columns = indicators.columns(nominal)
        tables = []
        for X in (X_train, X_test):
            X = indicators.expand(X)
            X[:, columns] = np.nan_to_num(X[:, columns])
            tables.append(X)
        return *tables, parts

    def _fit_weights(self, classifier):
        """Return the weights as an argument of ``fit``, none if they would change nothing."""
        if self._weights is None:
            return {}
        if has_fit_parameter(classifier, "sample_weight"):
            return {"sample_weight": self._weights}
        check_equal_weights(classifier, self._weights)
        return {}

    def _check_ranking(self, ranking):
        ranking = np.asarray(ranking)
        if ranking.ndim != 1 or ranking.dtype.kind not in "iu" or len(ranking) == 0:
            raise MaucError("ranking must be a one-dimensional array of column numbers.")
        n_features = self._X_train.shape[1]
        if ranking.min() < 0 or ranking.max() >= n_features:
            raise MaucError(
                f"ranking must hold columns in [0, {n_features - 1}], "
                f"got {ranking.min()} to {ranking.max()}."
            )
        if len(np.unique(ranking)) != len(ranking):
            raise MaucError("ranking must hold every column at most once.")
        return ranking.astype(np.int64)
