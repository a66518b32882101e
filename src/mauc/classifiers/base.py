"""What the classifiers share: validation, labels, weights, nominal columns, prediction."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from mauc.data.arguments import TableLike
from mauc.data.door import check_columns, check_fitted, check_table
from mauc.data.labels import encode_labels
from mauc.data.nominal import learn_categories
from mauc.data.weights import as_counts, check_weights
from mauc.estimator import Estimator, with_callbacks
from mauc.exceptions import MaucError
from mauc.registry import Accepts, accepts_of

#: scores of test samples by the first k features of a ranking, for each of some ascending k
NestedScores: TypeAlias = Callable[[np.ndarray, Sequence[int] | np.ndarray], Iterator[np.ndarray]]

UNSEEN = -1  # code of a missing value, or of one that is not in the training data


class BaseClassifier(ClassifierMixin, Estimator):
    """Base of the classifiers: validation, labels, nominal columns and prediction.

    A classifier has a parameter ``categorical_features`` and

    - ``check_options()``, which raises a `MaucError` for a wrong parameter;
    - ``prepare(samples)``, which returns the encoded, sorted or scaled columns: the work that is
      done once, whichever of the columns are used later;
    - ``_learn(samples)``, which learns from `Samples`, and ``_score(X)``, the scores of others;
    - ``nest(samples, X_test, response_method, n_jobs)``, which returns None, or a function
      ``scores(ranking, sizes)`` that yields the scores of the test samples by the first k features
      of a ranking, for each k of the ascending sizes.
    """

    _order: Literal["C", "F"] | None = (
        None  # memory order that X is brought to; None keeps the one it has
    )
    _min_classes = 1
    _doc_link_template = Estimator._doc_link_template.replace("mauc.{", "mauc.classifiers.{")

    @with_callbacks
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; None: all 1. A sample of weight 0 is left out. Whole numbers count
            rows; of others only the ratios matter, as in `mauc.MDFS.fit`.

        Returns
        -------
        self : object
        """
        with self._reported(X, y, sample_weight):
            self._learn(self._check_samples(X, y, sample_weight))
        return self

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Return the scores of the classes for samples X, of shape (n_samples, n_classes)."""
        return self._score(self._check_X(X))

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the label with the highest score for every sample, the first of equals."""
        scores = self.predict_proba(X)  # an unfitted classifier has no classes_
        return self.classes_[np.argmax(scores, axis=1)]

    @property
    def accepts(self) -> Accepts:
        """What input the classifier takes, as the registry says of its class or an ancestor."""
        kind: type = type(self)
        return accepts_of(kind)

    def check_options(self) -> None:
        """Raise a `MaucError` if a parameter is wrong."""

    def _check_samples(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "Samples":
        """Validate the arguments of ``fit``, encode labels and categories, drop weights of 0."""
        self.check_options()
        coder, table, is_nominal = learn_categories(X, self.categorical_features)
        table, labels = check_table(table, y, estimator=self, order=self._order, takes_nominal=True)
        self.classes_: np.ndarray
        self.classes_, codes, _ = encode_labels(labels, min_classes=self._min_classes)
        weights = check_weights(sample_weight, table)
        has_weight = weights > 0
        if not has_weight.any():
            raise MaucError("sample_weight must have a positive entry, got only zeros.")
        weights = weights if (counts := as_counts(weights)) is None else counts
        if not has_weight.all():
            table = np.asarray(table[has_weight], order=self._order)
            codes, weights = codes[has_weight], weights[has_weight]
            coder = coder.keep(table)
        self._coder = coder
        return Samples(table, codes, weights, len(self.classes_), np.flatnonzero(is_nominal))

    def _check_X(self, X: TableLike) -> np.ndarray:
        """Validate the samples to predict; a category that was not learnt becomes missing."""
        check_fitted(self)
        if self._coder.categories:
            X = self._coder.check_table(X)
            check_columns(X, self)
            X = self._coder.encode(X)
        return check_table(X, estimator=self, reset=False, order=self._order)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self.accepts.nominal
        return tags


@dataclass(frozen=True)
class Samples:
    """Validated training data."""

    X: np.ndarray  #: (n_samples, n_features), float64 or float32; NaN is a missing value
    codes: np.ndarray  #: int32, the class of each sample in [0, n_classes)
    weights: np.ndarray  #: float64, positive
    n_classes: int
    nominal: np.ndarray  #: the nominal columns, ascending


@dataclass(frozen=True)
class Indicators:
    """Which columns features become: a nominal one an indicator per category, others themselves."""

    n_features: int
    categories: dict[int, np.ndarray]  #: values of the nominal features in the training data

    @classmethod
    def of(cls, samples: Samples) -> "Indicators":
        """Return the indicators of training `Samples`."""
        return cls(samples.X.shape[1], find_categories(samples.X, samples.nominal))

    @property
    def starts(self) -> np.ndarray:
        """The first column of every feature, and the number of columns."""
        widths = np.ones(self.n_features, np.int64)
        for j, values in self.categories.items():
            widths[j] = len(values)
        return np.concatenate([[0], np.cumsum(widths)])

    def columns(self, features: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the columns of features, in the order of the features."""
        if not self.categories:
            return np.asarray(features, dtype=np.int64)
        starts = self.starts
        parts = [np.arange(starts[j], starts[j + 1]) for j in features]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def expand(self, X: np.ndarray) -> np.ndarray:
        """Return X with indicators; all of them are NaN where a value is missing or unseen."""
        if not self.categories:
            return X
        starts = self.starts
        out = np.empty((len(X), starts[-1]), X.dtype)
        for j in range(self.n_features):
            if j not in self.categories:
                out[:, starts[j]] = X[:, j]
                continue
            values = self.categories[j]
            codes = encode_column(X[:, j], values)
            part = out[:, starts[j] : starts[j + 1]]
            part[:] = codes[:, np.newaxis] == np.arange(len(values))
            part[codes == UNSEEN] = np.nan
        return out


def find_categories(
    X: np.ndarray, columns: Iterable[int], min_rows: int = 1
) -> dict[int, np.ndarray]:
    """Return a dict of column to its sorted values of `min_rows` rows or more; NaN is none."""
    found = {}
    for j in columns:
        values, counts = np.unique(X[~np.isnan(X[:, j]), j], return_counts=True)
        # The most frequent value stays, so that every column has one.
        found[int(j)] = values[counts >= min(min_rows, counts.max(initial=1))]
    return found


def encode_column(column: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Return the index of each value in the sorted categories; UNSEEN if it has none."""
    codes = np.full(len(column), UNSEEN, np.intp)
    if len(categories):
        found = np.minimum(np.searchsorted(categories, column), len(categories) - 1)
        is_seen = categories[found] == column
        codes[is_seen] = found[is_seen]
    return codes


def drop_zero_weight(
    X: np.ndarray, y: np.ndarray, weights: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the samples of positive weight, and their weights by `as_counts`."""
    if weights is None:
        return X, y, None
    weights = check_weights(weights, X)
    has_weight = weights > 0
    if not has_weight.all():
        X, y, weights = np.asfortranarray(X[has_weight]), y[has_weight], weights[has_weight]
    return X, y, as_counts(weights)


class OneHotColumns(TransformerMixin, BaseEstimator):
    """Replace nominal columns by indicators of their categories, all 0 where a value is missing."""

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Learn the categories."""
        self._coder, table, is_nominal = learn_categories(X, None)
        table = check_table(table, estimator=self, takes_nominal=True)
        self.nominal_: np.ndarray = np.flatnonzero(is_nominal)
        self._indicators = Indicators(table.shape[1], find_categories(table, self.nominal_))
        return self

    def transform(self, X: TableLike) -> np.ndarray:
        """Return the columns as numbers."""
        check_fitted(self)
        if self._coder.categories:
            X = self._coder.check_table(X)
        table: np.ndarray = check_table(self._coder.encode(X), estimator=self, reset=False)
        if len(self.nominal_):  # without any, it is the user's own
            table, columns = self._indicators.expand(table), self._indicators.columns(self.nominal_)
            table[:, columns] = np.nan_to_num(table[:, columns])
        return table
