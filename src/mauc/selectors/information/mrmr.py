"""mRMR: greedy, by relevance less redundancy with what is selected.

See Peng, Long & Ding (2005), and Eq. (12) of the paper for the difference form.
"""

import numpy as np

from mauc.checks import check_choice
from mauc.compile import njit, njit_part
from mauc.selectors.base import single_ranking
from mauc.selectors.greedy_search import GreedySearch, find_in_parts
from mauc.selectors.information.binned import BinnedSelector, pair_information
from mauc.selectors.information.on_cluster import BinnedState, rank_on_cluster

CRITERIA = ("difference", "quotient")
# Mean redundancies below this (in nats) count as none in the quotient: rounding alone gives
# 1e-16, and a quotient by it would rank noise above relevance.
REDUNDANCY_FLOOR = 1e-9


class MRMR(BinnedSelector):
    r"""Select features of minimal redundancy and maximal relevance.

    The first feature is the one with the most information about the class; each next one has the
    largest excess of information about the class over its mean information about the features
    selected so far.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    criterion : {"difference", "quotient"}, default="difference"
        Relevance less redundancy (MID), or their quotient (MIQ).
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="three_states"
        How numeric features become discrete: at mean - sd and mean + sd, the choice of Peng
        et al. and of the paper; by the supervised MDL method; into `n_bins` of equal width
        or of equal frequency; or not at all, every value a state of its own.
    n_bins : int, default=10
        Bins of "equal_width" and "equal_frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of
        strings in a data frame are nominal anyway. Each category is a state.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, in the order of selection; the first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Relevance I(f; y) of every feature, in nats.
    trace_ : SelectionTrace
        For each step the feature and its criterion at that step.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
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
    With S the features selected (Eq. 12 of [1]_),

    .. math:: \arg\max_{f \notin S} \Big[ I(f; y) - \frac{1}{|S|} \sum_{s \in S} I(f; s) \Big]

    Equal values go by column; constant features come last. A missing value is one more state.
    The standard deviation of "three_states" is over n - 1, as in Peng's program. Mutual information
    is computed only where it can change the choice of a step. The states of a source of columns,
    one byte per cell, are kept in a temporary file where its `memory` does not hold them.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy", IEEE TPAMI 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MRMR
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(X.columns[MRMR(3).fit(X, y).ranking_])
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        criterion="difference",
        binning="three_states",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_choice("criterion", self.criterion, CRITERIA)
        super().check_options()

    def _rank(self, problem, n_wanted, options):
        if problem.cluster is not None:
            return rank_on_cluster(self, problem, n_wanted, MRMRState)
        with self.binned(problem) as features:
            search = mrmr_search(features, n_wanted, quotient=self.criterion == "quotient")
        return single_ranking(problem, search.ranking, search.scores, features.relevance)


def mrmr_search(features, k, quotient=False):
    """Rank features by mRMR.

    Parameters
    ----------
    features : BinnedFeatures
    k : int
        How many features to choose, 1 <= k <= n_features.
    quotient : bool, default=False
        False for the difference form (MID), True for the quotient form (MIQ).

    Returns
    -------
    search : GreedySearch
        Finished.

    Notes
    -----
    First the feature of largest I(f; y); then, with S the chosen features, the largest

        MID = I(f; y) - mean_{s in S} I(f; s),
        MIQ = I(f; y) / max(mean_{s in S} I(f; s), 1e-9).

    Equal scores go by column index. A feature of one state has no information on anything: MID
    would give it 0, above every feature that is more redundant than relevant, so that constant
    features would be chosen before informative ones. They come last instead, by column index.

    Examples
    --------
    The second feature repeats the first, so the third is chosen before it:

    >>> import numpy as np
    >>> from mauc.selectors.information.binned import binned_features
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> with binned_features(D, 2, y, 3) as features:
    ...     mrmr_search(features, 3).ranking
    array([0, 2, 1])
    """
    search = GreedySearch(features.relevance, features.is_constant, k)
    n_counted = np.zeros(len(features.relevance), dtype=np.int64)
    redundancy_sum = np.zeros(len(features.relevance), dtype=np.float64)

    def best(block, n_chosen):
        def find(first, last, best, score):
            return best_of_block(
                *features.arrays, search.masked_relevance, search.ranking, n_chosen, quotient,
                first, last, best, score, features.max_rows, search.is_left, n_counted,
                redundancy_sum,
            )  # fmt: skip

        return find_in_parts(find, block, features.room)

    return search.run(best, features.blocks, features.pool)


class MRMRState(BinnedState):
    """Relevance and redundancy of the columns of a range."""

    def __init__(self, part, first, selector):
        super().__init__(part, first, selector)
        self._sums = np.zeros(part.n_features)
        self._is_quotient = selector.criterion == "quotient"
        self._n_chosen = 0

    def add(self, column, place, content, details):
        """Add the information that a chosen feature shares; see `mauc.cluster.states.State`."""
        self.take(place)
        self._n_chosen += 1
        left = np.flatnonzero(self.is_left & (self.masked > -np.inf))
        self._sums[left] += self.shared_information(content, left)

    def propose(self):
        """Return the best feature that is left, or -1, and its criterion."""
        left = np.flatnonzero(self.is_left)
        if len(left) == 0:
            return -1, -np.inf
        redundancy = self._sums[left] / self._n_chosen
        if self._is_quotient:
            scores = self.masked[left] / np.maximum(redundancy, REDUNDANCY_FLOOR)
        else:
            scores = self.masked[left] - redundancy
        best = int(np.argmax(scores))  # the first of equals
        return self.first + int(left[best]), float(scores[best])


@njit_part
def criterion(relevance, redundancy_sum, n_chosen, is_quotient):
    """Return I(f; y) - r or I(f; y) / max(r, floor) with r the mean redundancy over S."""
    redundancy = redundancy_sum / n_chosen
    if is_quotient:
        return relevance / max(redundancy, REDUNDANCY_FLOOR)
    return relevance - redundancy


@njit(cache=True, nogil=True)
def best_of_block(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    relevance, chosen, n_chosen, is_quotient, first, last, best, best_score, max_rows,
    is_left, n_counted, redundancy_sum,
):  # fmt: skip
    """Find the candidate of largest criterion among features ``first`` to ``last``.

    The redundancy of a candidate is a running sum of I(f; s) over the chosen features s, in the
    order of choice. The terms are not negative, so the sum over the first few of them bounds the
    criterion from above, in floating point as well (addition, division and subtraction are
    monotone). A term is counted only while this bound can still win; a candidate that is out of
    the running keeps its shorter sum for the next step. Every sum that is compared in the end is
    complete and was added up in the same order, so neither the blocks nor what was skipped
    changes a bit of the result.

    Parameters
    ----------
    D, n_states, starts, planes, counts, margin_logs, table, unit
        See `binned.BinnedFeatures`.
    log_n : int
        L(n_samples).
    relevance : ndarray of shape (n_features,), float64
        I(f; y), or -inf for features that must come last.
    chosen : ndarray of int64
        ``chosen[:n_chosen]`` are the features of S in the order of choice, ``n_chosen > 0``.
    is_quotient : bool
    first, last : int
    best, best_score : int and float
        The winner among features that were looked at before, -1 and -inf if there are none.
    max_rows : int
        Stop before more rows of states than that were read.
    is_left : ndarray of shape (n_features,), bool
        Whether a feature is still a candidate.
    n_counted : ndarray of shape (n_features,), int64
        How many chosen features are in ``redundancy_sum``; updated.
    redundancy_sum : ndarray of shape (n_features,), float64
        Updated.

    Returns
    -------
    best : int
        Its index, the lowest of equals; -1 if there is no candidate left.
    best_score : float
    next : int
        Where to begin again; `last` if all features were looked at.
    """
    width = counts.shape[1]
    joint = np.empty((width, width), dtype=np.int64)

    # The largest bound is the likeliest winner: counted first, it rules most others out.
    favourite, favourite_bound = -1, -np.inf
    for f in range(first, last):
        if is_left[f]:
            bound = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
            if favourite < 0 or bound > favourite_bound:
                favourite, favourite_bound = f, bound
    if favourite < 0:
        return best, best_score, last

    n_rows = 0
    # best is the winner among the favourite, the features first .. f - 1 and those before.
    for turn in range(first - 1, last):
        f = favourite if turn < first else turn
        if not is_left[f] or f == best:
            continue
        score = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
        can_win = best < 0 or score > best_score or (score == best_score and f < best)
        while can_win and n_counted[f] < n_chosen:
            if n_rows > 0 and n_rows + 2 > max_rows:
                return best, best_score, max(turn, first)
            n_rows += 2
            s = chosen[n_counted[f]]
            redundancy_sum[f] += pair_information(
                D, n_states, starts, planes, counts, margin_logs, log_n, table, unit, f, s, joint
            )
            n_counted[f] += 1
            score = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
        if can_win:
            best, best_score = f, score
    return best, best_score, last
