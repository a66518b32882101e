"""Importances of forests and boosted trees."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from rivals.base import Rival, by_scores, some_rows
from rivals.classifiers import LightGBM

N_TREES = 500
N_ROUNDS = 50  # of Boruta


class RandomForestImportance(Rival):
    """Mean decrease of impurity in a random forest of 500 trees, grown fully."""

    def _order(self, X, y):
        forest = RandomForestClassifier(N_TREES, random_state=self.random_state)
        return by_scores(forest.fit(X, y).feature_importances_, X, y)


class ExtraTreesImportance(Rival):
    """Mean decrease of impurity in 500 extremely randomised trees, grown fully."""

    def _order(self, X, y):
        forest = ExtraTreesClassifier(N_TREES, random_state=self.random_state)
        return by_scores(forest.fit(X, y).feature_importances_, X, y)


class PermutationImportance(Rival):
    """Loss of a random forest on held-out rows when a feature is permuted.

    200 trees on two thirds of the rows; log loss on the last third, at most 300 rows; 3
    permutations. Ties go by decrease of impurity.
    """

    def _order(self, X, y):
        fitted, held_out, y_fitted, y_held_out = train_test_split(
            X, y, test_size=1 / 3, stratify=y, random_state=self.random_state
        )
        forest = RandomForestClassifier(200, random_state=self.random_state).fit(fitted, y_fitted)
        rows = some_rows(y_held_out, 300, self.random_state)
        growth = loss_growth(forest, held_out[rows], y_held_out[rows], 3, self.random_state)
        return np.lexsort((-forest.feature_importances_, -growth))


def loss_growth(forest, X, y, n_repeats, random_state):
    """Return by how much the log loss grows when a feature is permuted, mean of the repeats.

    What `sklearn.inspection.permutation_importance` does, but one call of the forest predicts for
    many permuted features, and a feature in no split is not permuted: it loses nothing.
    """
    rng = np.random.default_rng(random_state)
    X = np.ascontiguousarray(X, dtype=np.float32)
    used = np.flatnonzero(forest.feature_importances_)
    n_at_once = max(1, 10**7 // (n_repeats * X.size))
    growth = np.zeros(X.shape[1])
    for first in range(0, len(used), n_at_once):
        columns = used[first : first + n_at_once]
        tables = np.tile(X, (len(columns) * n_repeats, 1, 1))
        for table, column in zip(tables, np.repeat(columns, n_repeats), strict=True):
            table[:, column] = rng.permutation(table[:, column])
        loss = log_loss_of(forest, tables.reshape(-1, X.shape[1]), np.tile(y, len(tables)))
        growth[columns] = loss.reshape(len(columns), -1).mean(axis=1)
    growth[used] -= log_loss_of(forest, X, y).mean()
    return growth


def log_loss_of(forest, X, y):
    """Return the log loss of every row; no share of the trees counts as less than 1 in 1000."""
    shares = forest.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(np.maximum(shares, 1e-3))


class LightGBMGain(Rival):
    """Total gain of the splits in LightGBM: 100 rounds of trees with 15 leaves, 63 bins.

    Learning rate 0.1; a leaf holds at least 20 rows, or 5 where there are fewer than 500.
    """

    def _order(self, X, y):
        return by_scores(fit_lightgbm(X, y, self.random_state).feature_importances_, X, y)


class LightGBMShap(Rival):
    """Mean absolute SHAP value over classes and at most 500 training rows, of the same trees."""

    def _order(self, X, y):
        model = fit_lightgbm(X, y, self.random_state)
        rows = some_rows(y, 500, self.random_state)
        # LightGBM's own exact TreeSHAP; the last value of each class is its expectation.
        values = model.model_.predict(X[rows], pred_contrib=True)
        values = values.reshape(len(rows), -1, X.shape[1] + 1)
        return by_scores(np.abs(values[:, :, :-1]).mean(axis=(0, 1)), X, y)


def fit_lightgbm(X, y, random_state):
    """Return fitted trees whose `feature_importances_` are gains."""
    return LightGBM(n_estimators=100, importance_type="gain", random_state=random_state).fit(X, y)


class Boruta(Rival):
    """BorutaPy: forests of 100 trees of depth 5, balanced classes, 50 rounds, 100th percentile.

    Confirmed features come first, then tentative ones, then those that were rejected, the last
    rejected first; among equals the mean importance over the rounds decides.
    """

    def _order(self, X, y):
        from boruta import BorutaPy

        forest = RandomForestClassifier(max_depth=5, class_weight="balanced")
        model = BorutaPy(
            forest, n_estimators=100, max_iter=N_ROUNDS, random_state=self.random_state
        ).fit(X, y)
        importance = np.nan_to_num(np.nanmean(model.importance_history_[1:], axis=0))
        return np.lexsort((-importance, model.ranking_))
