"""MAUC of classifiers on the first features of rankings, on one split of the data."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from joblib import hash as hash_content
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from mauc.checks import check_choice
from mauc.classifiers.base import (
    BaseClassifier,
    Indicators,
    Samples,
    drop_zero_weight,
    find_categories,
)
from mauc.data.columns import is_frame
from mauc.data.door import check_table
from mauc.data.labels import encode_labels
from mauc.data.nominal import column_mask, learn_categories
from mauc.data.problem import Problem
from mauc.data.weights import square
from mauc.exceptions import MaucError, MaucWarning
from mauc.metrics.mauc import ClassPairs
from mauc.results import plural

RESPONSES = ("predict_proba", "predict_log_proba", "decision_function")


def evaluate_ranking(
    ranking: Any,
    sizes: Any,
    classifier: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    response_method: Any = "predict_proba",
    train_weight: Any = None,
    test_weight: Any = None,
    pair_weight: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
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
    pair_weight : dict, array-like, data frame or str, optional
        What each pair of classes counts in MAUC, see `mauc_score`.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

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
        X_train,
        y_train,
        X_test,
        y_test,
        train_weight=train_weight,
        test_weight=test_weight,
        pair_weight=pair_weight,
        n_jobs=n_jobs,
    )
    return evaluator.evaluate(ranking, sizes, classifier, response_method=response_method)


class FoldEvaluator:
    """Evaluate rankings on one split of the data, sharing work between them.

    What depends on a single feature is computed once for all rankings and sizes: likelihoods
    of Naive Bayes, scaled columns for distances, sorted columns for trees. It is kept for every
    classifier, with its parameters, that was evaluated.

    The categories of nominal columns are learnt on the training part; one that is only in the test
    part is missing there. Classifiers with a parameter ``categorical_features`` get the
    nominal columns in addition to those that the parameter names. Any other gets indicators
    instead, a column of 0 and 1 per category of the training part, all 0 where a value is missing.

    Parameters
    ----------
    X_train, y_train, X_test, y_test, train_weight, test_weight, pair_weight
        As in `evaluate_ranking`. Samples of weight 0 count as absent. A classifier that takes no
        weights can be evaluated if those that are left are equal.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

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
        self,
        X_train: Any,
        y_train: Any,
        X_test: Any,
        y_test: Any,
        *,
        train_weight: Any = None,
        test_weight: Any = None,
        pair_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ):
        self._names = [str(name) for name in X_train.columns] if is_frame(X_train) else None
        coder, X_train, is_nominal = learn_categories(X_train, categorical_features)
        X_train, y_train = check_table(X_train, y_train, name="X_train", order="F")
        self._is_nominal = is_nominal
        X_train, y_train, self._weights = drop_zero_weight(X_train, y_train, train_weight)
        if coder.categories:
            coder = coder.keep(X_train)
            X_test = coder.check_table(X_test)
            check_width(X_test, X_train)
        X_test, y_test = check_table(coder.encode(X_test), y_test, name="X_test", order="F")
        check_width(X_test, X_train)
        X_test, y_test, test_weight = drop_zero_weight(X_test, y_test, test_weight)
        dtype = np.result_type(X_train, X_test)
        self._X_train = X_train.astype(dtype, copy=False)
        self._X_test = X_test.astype(dtype, copy=False)
        self._classes, self._codes, _ = encode_labels(y_train)
        self._pairs = ClassPairs.of_test(y_test, self._classes, test_weight, pair_weight)
        self._n_jobs = n_jobs
        self._nested: dict[Any, Any] = {}

    def evaluate(
        self,
        ranking: Any,
        sizes: Any,
        classifier: Any,
        *,
        response_method: Any = "predict_proba",
    ) -> np.ndarray:
        """Compute the test MAUC of a classifier on the first k features of a ranking.

        Arguments are those of `evaluate_ranking`; returns an array of shape (n_sizes,).
        """
        sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
        ascending, positions = np.unique(sizes, return_inverse=True)
        measured = self.measure(ranking, ascending, classifier, response_method=response_method)
        return np.array([measurement.mauc for measurement in measured])[positions]

    def measure(
        self,
        ranking: Any,
        sizes: Any,
        classifier: Any,
        *,
        response_method: Any = "predict_proba",
    ) -> "Iterator[Measurement]":
        """Yield one `Measurement` for each of the ascending sizes; parameters as in `evaluate`.

        Work that sizes and rankings share is counted where it is first needed.
        """
        ranking = self._check_ranking(ranking)
        sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
        start = perf_counter()
        found = self.scores(classifier, response_method, ranking, sizes)
        for size, scores in zip(sizes, found, strict=True):
            fitted = perf_counter()
            mauc = self._pairs.mauc(scores)
            scored = perf_counter()
            yield Measurement(int(size), mauc, fitted - start, scored - fitted)
            start = perf_counter()

    def scores(self, classifier: Any, response_method: Any, ranking: Any, sizes: Any) -> Any:
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
                return self._nested[key](ranking, sizes)
        return self._refit(classifier, response_method, ranking, sizes)

    def _nest(self, classifier, response_method):
        """Return the work that a classifier shares among all rankings, or None."""
        model = clone(classifier)
        model.check_options()
        weights = self._fit_weights(model).get("sample_weight", np.ones(len(self._codes)))
        nominal = np.flatnonzero(self._nominal_for(model))
        samples = Samples(self._X_train, self._codes, weights, len(self._classes), nominal)
        return model.nest(samples, self._X_test, response_method, self._n_jobs)

    def _refit(self, classifier, response_method, ranking, sizes):
        """Yield the scores of a new fit for every size."""
        weights = self._fit_weights(classifier)
        takes_nominal = "categorical_features" in classifier.get_params()
        is_nominal = self._nominal_for(classifier)
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
        parts = [indicators.columns([j]) for j in range(len(ranking))]
        columns = indicators.columns(nominal)
        tables = []
        for X in (X_train, X_test):
            X = indicators.expand(X)
            X[:, columns] = np.nan_to_num(X[:, columns])
            tables.append(X)
        return *tables, parts

    def _nominal_for(self, classifier):
        """Return the mask of the nominal columns, also those that the classifier names."""
        return self._is_nominal | own_nominal(classifier, self._X_train.shape[1], self._names)

    def _fit_weights(self, classifier):
        """Return the weights as an argument of ``fit``, none if they would change nothing."""
        if self._weights is None:
            return {}
        if has_fit_parameter(classifier, "sample_weight"):
            return {"sample_weight": self._weights}
        steps = getattr(classifier, "steps", [("", classifier)])  # of a pipeline
        takers = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
        if takers and takers[-1] == steps[-1][0]:
            return {f"{name}__sample_weight": self._weights for name in takers}
        check_equal_weights(classifier, self._weights)
        return {}

    def _check_ranking(self, ranking):
        """Return the ranking as an array of distinct columns."""
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


@dataclass(frozen=True)
class Measurement:
    """MAUC of one subset size, and the time it took."""

    size: int  #: number of features
    mauc: float  #: of the test part
    fit_seconds: float  #: fitting the classifier and scoring the test samples
    score_seconds: float  #: computing MAUC of those scores


def own_nominal(classifier: Any, n_features: int, names: list[str] | None) -> np.ndarray:
    """Return the mask of the columns that a classifier's ``categorical_features`` names."""
    own = classifier.get_params().get("categorical_features")
    if isinstance(own, str) and not isinstance(classifier, BaseClassifier):
        own = None  # not columns, but an option such as scikit-learn's "from_dtype"
    return column_mask(own, n_features, names)


def check_equal_weights(method: Any, weights: np.ndarray) -> None:
    """Raise unless the weights of a method that takes none are equal, where not 0."""
    given = weights[weights > 0]
    if len(given) and (given != given[0]).any():
        raise MaucError(
            f"{type(method).__name__} takes no sample weights, so those that are not 0 must be "
            f"equal, got {given.min():g} to {given.max():g}; leave sample_weight out or take "
            f"a classifier with weights."
        )


def check_width(X_test: Any, X_train: np.ndarray) -> None:
    """Raise unless both parts have the same number of columns."""
    if X_train.shape[1] != X_test.shape[1]:
        raise MaucError(
            f"X_test must have the {plural(X_train.shape[1], 'column')} of X_train, got "
            f"{X_test.shape[1]}."
        )


def check_sizes(sizes: Any, n_ranked: int, meaning: str) -> np.ndarray:
    """Return subset sizes as an array; `meaning` says what the largest, `n_ranked`, is."""
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0:
        raise MaucError(f"sizes must be whole numbers, one or more of them, got {sizes.tolist()}.")
    if sizes.min() < 1 or sizes.max() > n_ranked:
        raise MaucError(
            f"sizes must be in [1, {n_ranked}] ({meaning}), got {sizes.min()} to {sizes.max()}."
        )
    return sizes


def rank_part(
    selector: Any, X: Any, problem: Problem, train: np.ndarray, size: int | None = None
) -> np.ndarray:
    """Return the ranking, of `size` features, of a selector fitted on the training rows of X."""
    fitted = clone(selector)
    if size is not None:
        fitted.set_params(n_features_to_select=size)
    given = {}
    if problem.sample_weight is not None:
        given["sample_weight"] = problem.sample_weight[train]
    if problem.groups is not None:
        given["groups"] = problem.groups[train]
    present = np.unique(problem.codes[train])
    if problem.pair_shares is not None and len(present) < problem.n_classes:
        # Weights may name a class that this part lacks.
        table = square(problem.pair_shares, problem.n_classes)[np.ix_(present, present)]
        fitted.set_params(pair_weight=table if table.any() else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MaucWarning)  # the same warnings were raised for all data
        labels = problem.classes[problem.codes[train]]
        return fitted.fit(_safe_indexing(X, train), labels, **given).ranking_
