"""MAUC of classifiers on the first features of rankings, on one split of the data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mauc.classifiers.base import drop_zero_weight
from mauc.data.arguments import CategoricalFeatures, Classifier, PairWeight, TableLike
from mauc.data.columns import is_frame
from mauc.data.door import check_table
from mauc.data.labels import encode_labels
from mauc.data.nominal import learn_categories
from mauc.evaluation.fold import TrainTest, check_sizes, own_nominal
from mauc.exceptions import MaucError
from mauc.metrics.mauc import ClassPairs
from mauc.results import plural


def evaluate_ranking(
    ranking: Sequence[int] | np.ndarray,
    sizes: ArrayLike,
    classifier: Classifier,
    X_train: TableLike,
    y_train: ArrayLike,
    X_test: TableLike,
    y_test: ArrayLike,
    *,
    response_method: str = "predict_proba",
    train_weight: ArrayLike | None = None,
    test_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
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
        X_train: TableLike,
        y_train: ArrayLike,
        X_test: TableLike,
        y_test: ArrayLike,
        *,
        train_weight: ArrayLike | None = None,
        test_weight: ArrayLike | None = None,
        pair_weight: PairWeight = None,
        categorical_features: CategoricalFeatures = None,
        n_jobs: int | None = None,
    ):
        self._names = [str(name) for name in X_train.columns] if is_frame(X_train) else None
        coder, train, is_nominal = learn_categories(X_train, categorical_features)
        train, labels = check_table(train, y_train, name="X_train", order="F")
        self._is_nominal = is_nominal
        train, labels, weights = drop_zero_weight(train, labels, train_weight)
        test: Any = X_test
        if coder.categories:
            coder = coder.keep(train)
            test = coder.check_table(test)
            check_width(test, train)
        test, test_labels = check_table(coder.encode(test), y_test, name="X_test", order="F")
        check_width(test, train)
        test, test_labels, test_weight = drop_zero_weight(test, test_labels, test_weight)
        dtype = np.result_type(train, test)
        classes, codes, _ = encode_labels(labels)
        self._pairs = ClassPairs.of_test(test_labels, classes, test_weight, pair_weight)
        #: what classifiers see
        self.table: TrainTest = TrainTest(
            train.astype(dtype, copy=False),
            test.astype(dtype, copy=False),
            codes=codes,
            weights=weights,
            n_classes=len(classes),
            n_jobs=n_jobs,
        )

    def evaluate(
        self,
        ranking: Sequence[int] | np.ndarray,
        sizes: ArrayLike,
        classifier: Classifier,
        *,
        response_method: str = "predict_proba",
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
        ranking: Sequence[int] | np.ndarray,
        sizes: ArrayLike,
        classifier: Classifier,
        *,
        response_method: str = "predict_proba",
    ) -> "Iterator[Measurement]":
        """Yield one `Measurement` for each of the ascending sizes; parameters as in `evaluate`.

        Work that sizes and rankings share is counted where it is first needed.
        """
        ranking = self._check_ranking(ranking)
        sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
        start = perf_counter()
        own = own_nominal(classifier, len(self._is_nominal), self._names)
        found = self.table.scores(
            classifier, self._is_nominal | own, response_method, ranking, sizes
        )
        for size, scores in zip(sizes, found, strict=True):
            fitted = perf_counter()
            mauc = self._pairs.mauc(scores)
            scored = perf_counter()
            yield Measurement(int(size), mauc, fitted - start, scored - fitted)
            start = perf_counter()

    def _check_ranking(self, ranking: ArrayLike) -> np.ndarray:
        """Return the ranking as an array of distinct columns."""
        ranking = np.asarray(ranking)
        if ranking.ndim != 1 or ranking.dtype.kind not in "iu" or len(ranking) == 0:
            raise MaucError("ranking must be a one-dimensional array of column numbers.")
        n_features = len(self._is_nominal)
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


def check_width(X_test: np.ndarray, X_train: np.ndarray) -> None:
    """Raise unless both parts have the same number of columns."""
    if X_train.shape[1] != X_test.shape[1]:
        raise MaucError(
            f"X_test must have the {plural(X_train.shape[1], 'column')} of X_train, got "
            f"{X_test.shape[1]}."
        )
