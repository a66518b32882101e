"""Filters of scikit-learn, mrmr-selection and skrebate."""

import time

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from sklearn.preprocessing import minmax_scale, scale

from rivals.base import Rival, by_scores, check_expected, f_scores, some_rows

PROBES = 100, 400  # rows


class MutualInformation(Rival):
    """``SelectKBest(mutual_info_classif)``: nearest-neighbour estimates, 3 neighbours."""

    def _order(self, X, y):
        return by_scores(mutual_info_classif(X, y, random_state=self.random_state), X, y)


class MrmrSelection(Rival):
    """``mrmr_classif`` of mrmr-selection: F statistic over mean absolute correlation.

    The two are its defaults, given as functions that measure all columns at once: its own take a
    column after the other, which on thousands of features takes minutes.
    """

    def _order(self, X, y):
        import pandas as pd
        from mrmr import mrmr_classif

        Z = scale(X) / np.sqrt(len(X))

        def relevance(X, y):
            return pd.Series(f_scores(X.to_numpy(), y))

        def redundancy(X, target_column, features):
            return pd.Series(Z[:, features].T @ Z[:, target_column], index=features)

        return mrmr_classif(
            pd.DataFrame(X), pd.Series(y), K=self._n_wanted(X), relevance=relevance,
            redundancy=redundancy, denominator=lambda row: row.to_numpy().mean(),
            show_progress=False, n_jobs=1,
        )  # fmt: skip


class MultiSURF(Rival):
    """``MultiSURF`` of skrebate, on features scaled to [0, 1].

    Where a fit on 400 rows tells that one on all would not end in time, it is not begun.
    """

    def _order(self, X, y):
        X = minmax_scale(X)
        seconds = []
        for n_rows in PROBES if len(y) > 2 * PROBES[-1] else ():
            rows = some_rows(y, n_rows, 0)
            start = time.process_time()
            self._weights(X[rows], y[rows])
            seconds.append(time.process_time() - start)
        if seconds:
            check_expected(extrapolated(PROBES, seconds, len(y)), self.time_limit)
        return by_scores(self._weights(X, y), X, y)

    def _weights(self, X, y):
        from skrebate import MultiSURF as Weights

        # Labels beyond 10 classes are taken for measurements unless their type is said.
        label_type = "binary" if len(np.unique(y)) == 2 else "multiclass"
        model = Weights(n_jobs=1)
        model.label_type = label_type
        return model.fit(X, y).feature_importances_


def extrapolated(sizes, seconds, n_rows):
    """Return the seconds for so many rows: a linear and a quadratic part, from two sizes."""
    (m, n), (per_m, per_n) = sizes, np.divide(seconds, sizes)
    quadratic = max(0.0, (per_n - per_m) / (n - m))
    return n_rows * (per_n + quadratic * (n_rows - n))
