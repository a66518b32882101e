"""A forward wrapper: the feature that helps a classifier most is added, step by step."""

import time

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

from mauc import mauc_score
from rivals.base import TIME_LIMIT, Rival, check_expected


class ForwardLDA(Rival):
    """Forward selection by the threefold cross-validated MAUC of linear discriminant analysis.

    It stops at 20 features, and before it has begun where ten fits tell that it would not finish.

    Parameters
    ----------
    max_features : int, default=20
        Where it stops; the other features stay unranked.
    """

    def __init__(
        self, n_features_to_select=100, random_state=0, time_limit=TIME_LIMIT, max_features=20
    ):
        super().__init__(n_features_to_select, random_state, time_limit)
        self.max_features = max_features

    def fit(self, X, y):
        super().fit(X, y)
        n_ranked = min(self.max_features, len(self.ranking_))
        self.scores_[self.ranking_[n_ranked:]] = -np.inf
        self.ranking_ = self.ranking_[:n_ranked]
        return self

    def _order(self, X, y):
        folds = StratifiedKFold(3, shuffle=True, random_state=self.random_state)
        parts = list(folds.split(X, y))
        chosen, left = [], list(range(X.shape[1]))
        n_steps = min(self.max_features, X.shape[1])
        for step in range(n_steps):
            start = time.process_time()
            values = []
            for place, column in enumerate(left):
                values.append(np.mean([lda_mauc(X[:, [*chosen, column]], y, *p) for p in parts]))
                if step == 1 and place == 9:
                    # Fits of more features take longer, so this is the least it will take.
                    seconds = (time.process_time() - start) / 10
                    check_expected(seconds * len(left) * n_steps, self.time_limit)
            chosen.append(left.pop(int(np.argmax(values))))
        return chosen


def lda_mauc(X, y, train, test):
    """Return the MAUC on test rows of an LDA that was fitted on the training rows."""
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X[train], y[train])
    return mauc_score(y[test], model.predict_proba(X[test]), labels=model.classes_)
