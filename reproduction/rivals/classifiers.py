"""Classifiers of scikit-learn and LightGBM with the settings of the comparison."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


class StandardizedLogistic(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression with an L2 penalty on standardised features.

    Parameters
    ----------
    C : float, default=1.0
    max_iter : int, default=200
    """

    def __init__(self, C=1.0, max_iter=200):
        self.C = C
        self.max_iter = max_iter

    def fit(self, X, y):
        model = LogisticRegression(C=self.C, max_iter=self.max_iter)
        self.pipeline_ = make_pipeline(StandardScaler(), model).fit(X, y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.pipeline_.predict_proba(X)

    def predict(self, X):
        return self.pipeline_.predict(X)


class LightGBM(ClassifierMixin, BaseEstimator):
    """Trees of LightGBM with 15 leaves and 63 bins, learning rate 0.1, one thread.

    A leaf holds at least 20 rows, the default, or 5 where there are fewer than 500 rows to learn
    from: half of the data sets would otherwise have no tree with more than a few leaves.

    Parameters
    ----------
    n_estimators : int, default=50
        Rounds; each has one tree per class.
    importance_type : {"split", "gain"}, default="split"
    random_state : int, default=0
    """

    def __init__(self, n_estimators=50, importance_type="split", random_state=0):
        self.n_estimators = n_estimators
        self.importance_type = importance_type
        self.random_state = random_state

    def fit(self, X, y):
        from lightgbm import LGBMClassifier

        self.model_ = LGBMClassifier(
            n_estimators=self.n_estimators, importance_type=self.importance_type,
            random_state=self.random_state, num_leaves=15, max_bin=63,
            min_child_samples=20 if len(y) >= 500 else 5, n_jobs=1, verbose=-1,
            deterministic=True, force_col_wise=True,
        ).fit(X, y)  # fmt: skip
        self.classes_ = self.model_.classes_
        self.feature_importances_ = self.model_.feature_importances_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)
