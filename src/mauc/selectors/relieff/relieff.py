"""ReliefF: one list, by the difference of near misses less that of near hits."""

from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from mauc.exceptions import MaucError
from mauc.problem.decomposition import Decomposition
from mauc.selectors.base import RankingSelector
from mauc.selectors.relieff.weights import relieff_weights
from mauc.selectors.trace import walk_one_list


class ReliefF(RankingSelector):
    r"""Rank features by ReliefF weights.

    A feature is good if it differs between a sample and its nearest neighbours of other
    classes (misses) and does not between the sample and its nearest neighbours of the same
    class (hits). The weights are those of WEKA's ReliefFAttributeEval, to the bit.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    n_neighbors : int, default=10
        Hits, and misses of every other class, of a sample.
    n_iterations : "all", "log" or int, default="all"
        How many samples look at their neighbours: each one once, or so many draws with
        replacement; "log" is round(ln n), the paper's choice (noisy, but linear time).
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype are
        nominal anyway. They differ by 0 or 1.
    random_state : int, RandomState instance or None, default=None
        Draws of the samples.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, best first; equal scores go by column.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Weight of every feature, in [-1, 1].
    trace_ : SelectionTrace
        For each step the feature, its rank and its weight.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair;
        NaN for nominal ones.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    With diff the difference of two samples in feature f, scaled by its range, S the samples
    drawn, :math:`H_r` the k nearest hits and :math:`M_{r,c}` the k nearest misses of class c,

    .. math:: W_f = \frac{1}{|S|} \sum_{r \in S} \Big[ -\frac{1}{k} \sum_{h \in H_r}
              \mathrm{diff}_f(r, h) + \sum_{c \ne c_r} \frac{P(c)}{1 - P(c_r)}
              \frac{1}{k} \sum_{m \in M_{r,c}} \mathrm{diff}_f(r, m) \Big]

    Distances are sums of differences. A missing value differs from a known one z, scaled to
    [0, 1], by max(z, 1 - z), and from a missing one by 1. Memory is O(n c k), never n x n.

    References
    ----------
    .. [1] M. Robnik-Sikonja, I. Kononenko, "Theoretical and empirical analysis of ReliefF and
       RReliefF", Machine Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import ReliefF
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF(2).fit(X, y).ranking_
    array([3, 2])
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        n_neighbors=10,
        n_iterations="all",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_iterations = n_iterations
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _accepts(self):
        return {"accept_sparse": False, "accept_infinite": False, "accept_nominal": True}

    def _rank(self, problem, n_wanted):
        is_count = isinstance(self.n_neighbors, Integral) and not isinstance(self.n_neighbors, bool)
        if not is_count or self.n_neighbors < 1:
            raise MaucError(f"n_neighbors must be an int of at least 1, got {self.n_neighbors!r}.")
        self.scores_ = relieff_weights(
            problem.float_columns(slice(None)),
            problem.codes,
            problem.n_classes,
            rows=self._draw_rows(problem.n_samples),
            n_neighbors=int(self.n_neighbors),
            n_threads=effective_n_jobs(self.n_jobs),
            is_nominal=problem.is_nominal,
        )
        ranking = np.argsort(-self.scores_, kind="stable")[:n_wanted]
        decomposition = Decomposition("whole", problem.n_classes)
        return decomposition, walk_one_list(ranking, self.scores_[ranking])

    def _draw_rows(self, n_samples):
        wanted = self.n_iterations
        if isinstance(wanted, str) and wanted == "all":
            return None
        if isinstance(wanted, str) and wanted == "log":
            wanted = max(1, round(np.log(n_samples)))
        if not isinstance(wanted, Integral) or isinstance(wanted, bool) or wanted < 1:
            raise MaucError(
                f'n_iterations must be "all", "log" or an int of at least 1, got {wanted!r}.'
            )
        return check_random_state(self.random_state).randint(n_samples, size=wanted)
