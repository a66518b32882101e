"""What the rivals share: a full ranking from scores or from an order, and a limit of time."""

import signal
import threading
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin, f_classif
from sklearn.utils.validation import check_is_fitted, validate_data

TIME_LIMIT = 120.0  # processor seconds of a fit


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
    ranking_ : ndarray of shape (n_features,)
        Columns, best first. Those that the rival leaves out follow by F statistic.
    scores_ : ndarray of shape (n_features,)
        From n_features for the best down to 1.
    """

    def __init__(self, n_features_to_select=100, random_state=0, time_limit=TIME_LIMIT):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.time_limit = time_limit

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        codes = np.unique(y, return_inverse=True)[1]
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
