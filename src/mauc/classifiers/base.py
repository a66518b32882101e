"""Values of nominal columns as codes, which the classifiers share."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mauc.data.categories import learn_categories
from mauc.data.validate import (
    check_columns,
    check_fitted,
    check_table,
    check_weights,
    encode_labels,
)
from mauc.exceptions import MaucError
from mauc.registry import accepts_of

UNSEEN = -1  # code of a missing value, or of one that is not in the training data


def find_categories(X, columns):
    """Return a dict of column to its sorted distinct values; NaN is not a value."""
    return {int(j): np.unique(X[~np.isnan(X[:, j]), j]) for j in columns}


def encode_column(column, categories):
    """Return the place of each value in the sorted categories; UNSEEN if it has none."""
    codes = np.full(len(column), UNSEEN, np.intp)
    if len(categories):
        places = np.minimum(np.searchsorted(categories, column), len(categories) - 1)
        is_seen = categories[places] == column
        codes[is_seen] = places[is_seen]
    return codes


@dataclass(frozen=True)
class Samples:
    """Validated training data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64 or float32
        NaN is a missing value.
    codes : ndarray of shape (n_samples,), int32
        Class of each sample, in [0, n_classes).
    weights : ndarray of shape (n_samples,), float64
        Positive.
    n_classes : int
    nominal : ndarray of int
        The nominal columns, ascending.
    """

    X: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    n_classes: int
    nominal: np.ndarray

    @classmethod
    def unweighted(cls, X, codes, n_classes, nominal=()):
        """Return samples of weight 1."""
        return cls(X, codes, np.ones(len(codes)), n_classes, np.asarray(nominal, dtype=np.int64))


class BaseClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers: validation, labels, nominal columns and prediction.

    A classifier has a parameter ``categorical_features`` and

    - ``check_options()``, which raises a `MaucError` for a wrong parameter;
    - ``prepare(samples)``, which returns the encoded, sorted or scaled columns: the work that is
      done once, whichever of the columns are used later. ``fit`` learns from all of them;
    - ``nest(samples, X_test, response_method, n_jobs)``, which prepares both parts of a fold and
      returns an object whose ``scores(ranking, sizes)`` yields the scores of the test samples by
      the first k features of a ranking, for each k of the ascending sizes. It may return None
      if there is no work to share.
    """

    _order: str | None = None  # memory order that X is brought to; None keeps the one it has
    _min_classes = 1

    def predict(self, X):
        """Return the class with the highest score, of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self.predict_proba(X)
        return self.classes_[np.argmax(scores, axis=1)]

    @property
    def accepts(self):
        """What input the classifier takes, as the registry says of its class or an ancestor."""
        return accepts_of(type(self))

    def check_options(self):
        """Raise a `MaucError` if a parameter is wrong."""

    def _check_samples(self, X, y, sample_weight=None):
        """Validate the arguments of ``fit``, encode the labels and drop samples of weight 0.

        Categories that are no numbers are encoded as well.
        """
        self.check_options()
        coder, X, is_nominal = learn_categories(X, self.categorical_features)
        X, y = check_table(X, y, estimator=self, order=self._order, takes_nominal=True)
        self.classes_, codes, _ = encode_labels(y, min_classes=self._min_classes)
        weights = check_weights(sample_weight, X)
        is_there = weights > 0
        if not is_there.any():
            raise MaucError("sample_weight must have a positive entry, got only zeros.")
        if not is_there.all():
            X = np.asarray(X[is_there], order=self._order)
            codes, weights = codes[is_there], weights[is_there]
            coder = coder.keep(X)
        self._coder = coder
        nominal = np.flatnonzero(is_nominal)
        return Samples(X, codes, weights, len(self.classes_), nominal)

    def _check_X(self, X):
        """Validate the samples to predict; a category that was not learnt becomes missing."""
        check_fitted(self)
        if self._coder.categories:
            X = self._coder.check_table(X)
            check_columns(X, self)
            X = self._coder.encode(X)
        return check_table(X, estimator=self, reset=False, order=self._order)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self.accepts.nominal
        return tags
