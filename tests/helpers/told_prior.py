"""An estimator that has the importances it is told of, for weights of features by hand."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Told(ClassifierMixin, BaseEstimator):
    """An estimator that has the importances it is told of; `weights` are those that it got."""

    weights = None

    def __init__(self, importances=None, coef=None):
        self.importances = importances
        self.coef = coef

    def fit(self, X, y, sample_weight=None):
        Told.weights = sample_weight
        if self.importances is not None:
            self.feature_importances_ = self.importances
        if self.coef is not None:
            self.coef_ = np.array(self.coef)
        return self


def prior_of(weights):
    """Return an estimator that gives features these weights, of 0.16 of the largest or more."""
    return Told(np.asarray(weights, dtype=float) ** 5)
