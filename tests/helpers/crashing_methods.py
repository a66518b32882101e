"""Selectors and classifiers that fail, die, count or take their time, for plans to import."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class VarianceSelector(BaseEstimator):
    """Scores a feature by its variance; below, what happens before that."""

    def before(self, X, y):
        pass

    def fit(self, X, y):
        self.before(X, y)
        self.scores_ = np.var(X, axis=0)
        return self


class RaisingSelector(VarianceSelector):
    def before(self, X, y):
        raise ArithmeticError("no ranking \udcff today")  # a message that is no UTF-8


class DyingSelector(VarianceSelector):
    """Ends its process where the data have so many columns."""

    def __init__(self, n_features=4):
        self.n_features = n_features

    def before(self, X, y):
        if X.shape[1] == self.n_features:
            os._exit(7)


class DyingOnceSelector(VarianceSelector):
    """Kills its process if nobody did so before."""

    def __init__(self, mark="mark"):
        self.mark = mark

    def before(self, X, y):
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


class CountingSelector(VarianceSelector):
    """Writes a line with the number of rows for every fit."""

    def __init__(self, log="log"):
        self.log = log

    def before(self, X, y):
        with open(self.log, "a") as file:
            file.write(f"{len(X)}\n")


class SlowSelector(VarianceSelector):
    """Says that it has begun, then sleeps."""

    def __init__(self, log="log", seconds=0.2):
        self.log = log
        self.seconds = seconds

    def before(self, X, y):
        with open(self.log, "a") as file:
            file.write("begun\n")
        time.sleep(self.seconds)


class MeanClassifier(ClassifierMixin, BaseEstimator):
    """Scores by the distance to the class means; `n_features` many are too many."""

    def __init__(self, n_features=None):
        self.n_features = n_features

    def fit(self, X, y):
        if X.shape[1] == self.n_features:
            raise ArithmeticError(f"{X.shape[1]} features are too many")
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict_proba(self, X):
        distances = ((X[:, np.newaxis, :] - self.means_) ** 2).sum(axis=2)
        scores = 1.0 / (1.0 + distances)
        return scores / scores.sum(axis=1, keepdims=True)


class RandomClassifier(MeanClassifier):
    """Adds noise of its own seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state
        self.n_features = None

    def predict_proba(self, X):
        noise = np.random.default_rng(self.random_state).random((len(X), len(self.classes_)))
        return super().predict_proba(X) + noise


class NeedyMethod(BaseEstimator):
    """Has a parameter without default."""

    def __init__(self, need):
        self.need = need
