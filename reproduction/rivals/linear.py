"""Linear models: features by their entry into an L1 path, and by recursive elimination."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC, l1_min_c

from rivals.base import Rival, descending

STEPS_PER_DECADE, N_DECADES = 6, 3
MAX_PRIMAL = 200  # features


class L1Path(Rival):
    """Logistic regression with an L1 penalty, one class against the rest, standardised features.

    C grows from where the first feature enters by a factor of 10 ** (1/6) per step, over three
    decades or until enough features are in. A feature is ranked by the step at which it enters
    any class, then by the sum of its absolute weights there.
    """

    def _order(self, X, y):
        X = scale(X)
        start = l1_min_c(X, y, loss="log")
        entered = np.zeros(X.shape[1], bool)
        order = []
        for step in range(1, STEPS_PER_DECADE * N_DECADES + 1):
            weights = l1_weights(X, y, start * 10 ** (step / STEPS_PER_DECADE), self.random_state)
            weights[entered] = 0
            new = np.flatnonzero(weights)
            order.extend(new[descending(weights[new])])
            entered[new] = True
            if len(order) >= self._n_wanted(X):
                break
        return order


def l1_weights(X, y, C, random_state):
    """Return the sums of absolute weights over the classes."""
    total = np.zeros(X.shape[1])
    codes = np.unique(y)
    for code in codes if len(codes) > 2 else codes[:1]:
        model = LogisticRegression(
            l1_ratio=1, C=C, solver="liblinear", tol=1e-3, random_state=random_state
        )
        total += np.abs(model.fit(X, y == code).coef_[0])
    return total


class SVMRFE(Rival):
    """Recursive elimination by a linear SVM, C = 0.1, one class against the rest, standardised.

    A tenth of the features goes in every round, at least one; the sum of squared weights over the
    classes decides. Above 200 features the dual is solved, which is then the faster.
    """

    def _order(self, X, y):
        X = scale(X)
        left, dropped = np.arange(X.shape[1]), []
        while len(left):
            model = LinearSVC(
                C=0.1, dual=len(left) > MAX_PRIMAL, tol=1e-2, random_state=self.random_state
            )
            weights = (model.fit(X[:, left], y).coef_ ** 2).sum(axis=0)
            order = descending(weights)
            n_kept = min(len(left) - 1, int(0.9 * len(left)))
            dropped.append(left[order[n_kept:]])
            left = np.sort(left[order[:n_kept]])
        return np.concatenate(dropped[::-1])
