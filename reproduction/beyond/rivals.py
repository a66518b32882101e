"""Feature selectors of other packages, and boosted trees as a classifier.

Each selector ranks all features, best first, in ``ranking_``; ``scores_`` falls along the ranking,
which is what `mauc.experiments` ranks an imported selector by. Plans name them by import path, with
the root of the repository on the Python path: ``method = "reproduction.beyond.rivals.Boruta"``.
"""

import signal
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectorMixin, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC, l1_min_c
from sklearn.utils.validation import check_is_fitted, validate_data

TIME_LIMIT = 120.0  # processor seconds of a fit
STEPS_PER_DECADE, N_DECADES = 6, 3  # of the L1 path
MAX_PRIMAL = 200  # features
N_TREES = 500
N_ROUNDS = 50  # of Boruta


class TimeLimitError(Exception):
    """A rival did not finish, or would not, within its limit."""


class Rival(SelectorMixin, BaseEstimator):
    """Rank features by another package; `_order` returns columns, best first.

    Parameters
    ----------
    n_features_to_select : int, default=100
    random_state : int, default=0
    time_limit : float, default=120
        Processor seconds of a fit. Beyond it `fit` raises `TimeLimitError`.

    Attributes
    ----------
    nominal_ : ndarray of shape (n_features,)
        Which columns are codes of words, as `fit` was told; boosted trees take these as categories.
    ranking_ : ndarray of shape (n_features,)
        Columns, best first. Those that the rival leaves out follow by F statistic.
    scores_ : ndarray of shape (n_features,)
        From n_features for the best down to 1.
    """

    def __init__(self, n_features_to_select=100, random_state=0, time_limit=TIME_LIMIT):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.time_limit = time_limit

    def fit(self, X, y, nominal=None):
        X, y = validate_data(self, X, y, dtype=np.float64)
        codes = np.unique(y, return_inverse=True)[1]
        self.nominal_ = np.zeros(X.shape[1], bool) if nominal is None else nominal
        with limited(self.time_limit):
            order = np.asarray(self._order(X, codes), dtype=np.int64)
        is_left = np.ones(X.shape[1], bool)
        is_left[order] = False
        rest = np.flatnonzero(is_left)
        self.ranking_ = np.concatenate([order, rest[descending(f_scores(X[:, rest], codes))]])
        self.scores_ = np.empty(X.shape[1])
        self.scores_[self.ranking_] = np.arange(X.shape[1], 0, -1)
        return self

    def _n_wanted(self, X):
        return min(self.n_features_to_select, X.shape[1])

    def _get_support_mask(self):
        check_is_fitted(self, "ranking_")
        chosen = np.zeros(len(self.ranking_), bool)
        chosen[self.ranking_[: self.n_features_to_select]] = True
        return chosen


@contextmanager
def limited(seconds):
    """Raise `TimeLimitError` in the block after so many processor seconds, however busy the host.

    By a signal of the timer, which only the main thread gets: workers of a run work in theirs. In
    another thread there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise TimeLimitError(f"not finished within {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_expected(expected, limit):
    """Raise `TimeLimitError` at once if a fit will clearly take longer than its limit."""
    if expected > 1.2 * limit:
        raise TimeLimitError(f"would take more than {limit:g} s of processor time")


def descending(scores):
    """Return the places of scores from the largest to the smallest; equal ones in their order."""
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")


def f_scores(X, y):
    """Return F statistics; 0 for constant columns."""
    if X.shape[1] == 0:
        return np.empty(0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant columns
        return np.nan_to_num(f_classif(X, y)[0], nan=0.0, posinf=np.finfo(float).max)


def by_scores(scores, X, y):
    """Return columns by falling score; ties go by F statistic, then by column."""
    return np.lexsort((-f_scores(X, y), -np.nan_to_num(scores, nan=-np.inf)))


def some_rows(y, n_rows, random_state):
    """Return at most so many rows, of each class its share but at least 2, ascending."""
    if len(y) <= n_rows:
        return np.arange(len(y))
    rng = np.random.default_rng(random_state)
    chosen = []
    for code in np.unique(y):
        rows = np.flatnonzero(y == code)
        n_class = min(len(rows), max(2, round(n_rows * len(rows) / len(y))))
        chosen.append(rng.choice(rows, n_class, replace=False))
    return np.sort(np.concatenate(chosen))


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
        from mrmr import mrmr_classif

        Z = scale(X) / np.sqrt(len(X))

        def relevance(X, y):
            return pd.Series(f_scores(X.to_numpy(), y))

        def redundancy(X, target_column, features):
            return pd.Series(Z[:, features].T @ Z[:, target_column], index=features)

        return mrmr_classif(
            pd.DataFrame(X),
            pd.Series(y),
            K=self._n_wanted(X),
            relevance=relevance,
            redundancy=redundancy,
            denominator=lambda row: row.to_numpy().mean(),
            show_progress=False,
            n_jobs=1,
        )


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
        model = fit_lightgbm(categories(X, self.nominal_), y, self.random_state)
        return by_scores(model.feature_importances_, X, y)


def fit_lightgbm(X, y, random_state):
    """Return fitted trees whose `feature_importances_` are gains."""
    return LightGBM(n_estimators=100, importance_type="gain", random_state=random_state).fit(X, y)


def categories(X, nominal):
    """Return X, as a frame with categories if some columns are codes of words."""
    if not nominal.any():
        return X
    frame = pd.DataFrame(X)
    words = np.flatnonzero(nominal)
    return frame.astype(dict.fromkeys(words, int)).astype(dict.fromkeys(words, "category"))


class XGBoostGain(Rival):
    """Total gain of the splits in XGBoost: 20 rounds, 50 with two classes, 64 bins."""

    def _order(self, X, y):
        from xgboost import XGBClassifier

        model = XGBClassifier(
            n_estimators=50 if y.max() == 1 else 20,
            max_bin=64,
            tree_method="hist",
            n_jobs=1,
            enable_categorical=True,
            importance_type="total_gain",
            random_state=self.random_state,
        ).fit(categories(X, self.nominal_), y)
        return by_scores(model.feature_importances_, X, y)


class CatBoostGain(Rival):
    """Loss that the splits of CatBoost take away: 50 symmetric trees of depth 6, 32 borders."""

    def _order(self, X, y):
        from catboost import CatBoostClassifier

        check_expected(1e-6 * X.size * (y.max() + 1), self.time_limit)  # seconds per cell and class
        words = np.flatnonzero(self.nominal_)
        table = pd.DataFrame(X).astype(dict.fromkeys(words, int))
        model = CatBoostClassifier(
            iterations=50,
            depth=6,
            border_count=32,
            thread_count=1,
            verbose=False,
            random_seed=self.random_state,
            allow_writing_files=False,
        )
        try:
            model.fit(table, y, cat_features=words.tolist())
        except KeyboardInterrupt as error:  # what it makes of an exception in a signal handler
            raise TimeLimitError(f"not finished within {self.time_limit:g} s") from error
        return by_scores(np.asarray(model.get_feature_importance()), X, y)


class Abess(Rival):
    """Best subsets of (multinomial) logistic regression: of 5, 10, 20 and 50 standardised columns.

    A column is ranked by the smallest subset that has it, then by its absolute weights there.
    """

    def _order(self, X, y):
        from abess import LogisticRegression as Logistic
        from abess import MultinomialRegression

        n_classes = int(y.max()) + 1
        check_expected(6e-6 * X.size * (n_classes if n_classes > 2 else 1), self.time_limit)
        varying = np.flatnonzero(np.ptp(X, axis=0) > 0)  # it refuses constant columns
        Z, order = scale(X[:, varying]), []
        for size in (5, 10, 20, 50):
            kind = Logistic if n_classes == 2 else MultinomialRegression
            # All columns as a subset end its process.
            model = kind(support_size=min(size, len(varying) - 1), thread=1)
            target = y if n_classes == 2 else np.eye(n_classes)[y]
            weights = np.abs(model.fit(Z, target).coef_).reshape(len(varying), -1).sum(axis=1)
            weights[order] = 0.0
            order += [int(j) for j in descending(weights)[: np.count_nonzero(weights)]]
        return varying[order]


class _Entropies(Rival):
    """A selector of skfeature by entropies: numbers in five bins of equal frequency."""

    _seconds_per_cell = 1e-6

    def _order(self, X, y):
        k = self._n_wanted(X)
        check_expected(self._seconds_per_cell * X.size * k, self.time_limit)
        edges = np.quantile(X, (0.2, 0.4, 0.6, 0.8), axis=0)
        bins = (X[:, np.newaxis] > edges).sum(axis=1)
        bins[:, self.nominal_] = X[:, self.nominal_]
        return self._select()(bins, y, mode="index", n_selected_features=k)


class CMIM(_Entropies):
    """``cmim`` of skfeature-chappers, on numbers in five bins of equal frequency."""

    def _select(self):
        from skfeature.function.information_theoretical_based.CMIM import cmim

        return cmim


class DISR(_Entropies):
    """``disr`` of skfeature-chappers, on numbers in five bins of equal frequency."""

    def _select(self):
        from skfeature.function.information_theoretical_based.DISR import disr

        return disr


class FeatureEngineMRMR(Rival):
    """``MRMR`` of feature-engine, by its default: quotients of nearest-neighbour information.

    Columns are ranked by the smallest of the subsets of 5, 10, 20 and 50 columns that has them.
    """

    def _order(self, X, y):
        from feature_engine.selection import MRMR

        sizes = [size for size in (5, 10, 20, 50) if size < X.shape[1]]
        check_expected(2e-6 * X.size * sum(sizes), self.time_limit)
        table, order = pd.DataFrame(X).add_prefix("x"), []
        for size in sizes:
            model = MRMR(max_features=size, random_state=self.random_state, n_jobs=1)
            dropped = set(model.fit(table, pd.Series(y)).features_to_drop_)
            chosen = [j for j, name in enumerate(table) if name not in dropped]
            order += [j for j in chosen if j not in order]
        return order


class AnovaF(Rival):
    """``SelectKBest(f_classif)`` of scikit-learn."""

    def _order(self, X, y):
        return descending(f_scores(X, y))


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
        )
        try:
            model.fit(X, y)
        except ValueError as error:  # what it makes of any exception in a fit of the forest
            if "not finished within" in str(error):
                raise TimeLimitError(f"not finished within {self.time_limit:g} s") from error
            raise
        importance = np.nan_to_num(np.nanmean(model.importance_history_[1:], axis=0))
        return np.lexsort((-importance, model.ranking_))


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
            n_estimators=self.n_estimators,
            importance_type=self.importance_type,
            random_state=self.random_state,
            num_leaves=15,
            max_bin=63,
            min_child_samples=20 if len(y) >= 500 else 5,
            n_jobs=1,
            verbose=-1,
            deterministic=True,
            force_col_wise=True,
        ).fit(X, y)
        self.classes_ = self.model_.classes_
        self.feature_importances_ = self.model_.feature_importances_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)
