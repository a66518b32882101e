"""FCBF: predominant features by symmetrical uncertainty, then those that they cover.

Entropies and information are sums of whole numbers divided once, so copies have an uncertainty of
exactly 1 with each other.
"""

import numpy as np

from mauc.checks import check_int, check_real
from mauc.parallel import even_ranges, run_in
from mauc.selectors.base import single_ranking
from mauc.selectors.greedy_search import row_parts
from mauc.selectors.information.binned import BinnedSelector, class_margins, target_information
from mauc.selectors.information.on_cluster import BinnedState, binned_states

# Samples of candidates that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 25


class FCBF(BinnedSelector):
    r"""Select predominant features: a fast correlation-based filter.

    A feature is predominant if none of the better ones has as much information about it as it has
    about the class. FCBF keeps these and so decides by itself how many they are; to get just
    them, take ``FCBF("all", max_rounds=1)``. So that any number can be selected, the filter is
    repeated on what it dropped.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    threshold : float, default=0.0
        In [0, 1]: features whose symmetrical uncertainty with the class is lower take no part in
        the rounds and come last.
    max_rounds : int, optional
        Rounds after which to stop. Features that no round kept are not selected then, so that
        fewer than `n_features_to_select` may be, but at least one.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="mdl"
        How numeric features become discrete: at mean - sd and mean + sd; by the supervised MDL
        method; into `n_bins` of equal width or of equal frequency; or not at all, every value
        a state of its own.
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
        Selected columns by round, in a round by symmetrical uncertainty, equal ones by column. The
        first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of every feature and the class, in [0, 1].
    trace_ : SelectionTrace
        For each step the feature and its symmetrical uncertainty with the class.
    rounds_ : ndarray of shape (n_selected,)
        Round that kept each selected feature: 1 for the predominant ones, 2 for the predominant
        ones of the rest, and so on; 0 for features that no round looks at.
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

    See Also
    --------
    SymmetricalUncertainty : The same without the look at redundancy.

    Notes
    -----
    With :math:`SU(a, b) = 2 I(a; b) / (H(a) + H(b))` a round goes through its features by
    descending SU(f, y) [1]_. It keeps the first, p, drops every later f with

    .. math:: SU(f, p) \ge SU(f, y),

    and goes on with the next that is left. The first round is FCBF; the features that a round
    drops are those of the next one. Then come features below the threshold by SU, and in any case
    last those of SU 0 by column: constant features and those that no cut divides. A missing
    value is one more state. The states of a source of columns, one byte per cell, are kept in a
    temporary file where its `memory` does not hold them.

    References
    ----------
    .. [1] L. Yu, H. Liu, "Feature selection for high-dimensional data: a fast correlation-based
       filter solution", ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import FCBF
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FCBF("all").fit(X, y)
    >>> list(X.columns[selector.ranking_[:3]])
    ['flavanoids', 'od280/od315_of_diluted_wines', 'color_intensity']
    >>> selector.rounds_
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2])
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        threshold=0.0,
        max_rounds=None,
        binning="mdl",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.max_rounds = max_rounds
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_real("threshold", self.threshold, 0, 1)
        check_int("max_rounds", self.max_rounds, 1, optional=True)
        super().check_options()

    def _rank(self, problem, n_wanted, options):
        limits = (n_wanted, float(self.threshold), self.max_rounds)
        if problem.cluster is not None:
            ranking, self.rounds_, relevance = search_on_cluster(self, problem, *limits)
        else:
            with self.binned(problem) as features:
                ranking, self.rounds_, relevance = fcbf_search(features, *limits)
        return single_ranking(problem, ranking, relevance[ranking], relevance)


def fcbf_search(features, k, threshold=0.0, max_rounds=None):
    r"""Rank features by repeated FCBF.

    Parameters
    ----------
    features : BinnedFeatures
    k : int
        How many features to rank, 1 <= k <= n_features.
    threshold : float, default=0.0
        Features of a lower relevance take no part in the rounds.
    max_rounds : int, optional
        End with so many rounds, even if fewer than k features are ranked (but at least one).

    Returns
    -------
    ranking : ndarray of shape (k,), int64
        The features in order of rounds, within a round by relevance.
    rounds : ndarray of shape (k,), int64
        Round that kept each feature, 1 for the predominant ones; 0 for features that no round
        looked at.
    relevance : ndarray of shape (n_features,), float64
        SU of every feature and the class.

    Notes
    -----
    A round goes through the features by descending SU(f, y), equal ones by column; it keeps the
    first, drops every later f with :math:`SU(f, p) \ge SU(f, y)` for the kept p, and goes on
    with the next that is left. The features it drops are those of the next round. Features
    below the threshold follow by SU. Features of SU 0 would fill one round each, by column; they
    are put there at once.

    Examples
    --------
    The second feature repeats the first:

    >>> import numpy as np
    >>> from mauc.selectors.information.binned import binned_features
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> with binned_features(D, 2, y, 3) as features:
    ...     ranking, rounds, _ = fcbf_search(features, 3)
    >>> ranking, rounds
    (array([0, 2, 1]), array([1, 1, 2]))
    """
    arrays = features.arrays
    n_samples, log_n, unit = arrays.D.shape[1], arrays.log_n, arrays.unit
    entropies = (log_n - arrays.margin_logs) / (n_samples * unit)
    class_entropy = (log_n - features.log_y) / (n_samples * unit)

    def share(kept, left):
        shared = np.empty(len(left))

        def fill(block):
            for bounds in row_parts(*block, features.max_rows):
                part = slice(*bounds)
                target_information(
                    *arrays, arrays.D[kept], arrays.n_states[kept],
                    arrays.planes[arrays.starts[kept] : arrays.starts[kept + 1]],
                    arrays.counts[kept], arrays.margin_logs[kept], left[part], shared[part],
                )  # fmt: skip
                features.room.release()

        n_blocks = min(len(features.blocks), 1 + len(left) * n_samples // BLOCK_WORK)
        run_in(features.pool, fill, even_ranges(len(left), n_blocks))
        return shared

    return rank_by_cover(
        features.relevance, entropies, class_entropy, share, k, threshold, max_rounds
    )


def rank_by_cover(information, entropies, class_entropy, share, k, threshold, max_rounds):
    """Rank features, given how to find the information that one of them shares with others.

    Parameters
    ----------
    information, entropies : ndarray of shape (n_features,), float64
        I(f; y) and H(f).
    class_entropy : float
    share : callable
        ``(kept, left) -> I(f; kept)`` of the features that are left.
    k, threshold, max_rounds
        And returns, as in `fcbf_search`.
    """
    total = entropies + class_entropy
    relevance = np.zeros(len(total))
    np.divide(2.0 * information, total, out=relevance, where=total > 0.0)
    order = np.argsort(-relevance, kind="stable")
    is_ranked = (relevance >= threshold) & (relevance > 0.0)

    def cover(kept, left):
        # Whether SU(kept, f) >= SU(f, y), of the features that are left.
        shared = share(kept, left)
        both = entropies[left] + entropies[kept]
        uncertainty = np.divide(2.0 * shared, both, out=np.zeros(len(left)), where=both > 0.0)
        return uncertainty >= relevance[left]

    ranking, rounds = _rounds(order[is_ranked[order]], k, max_rounds, cover)
    n_rest = k - len(ranking) if max_rounds is None else int(not ranking)
    rest = order[~is_ranked[order]][:n_rest]
    return (
        np.append(ranking, rest).astype(np.int64),
        np.append(rounds, np.zeros(len(rest))).astype(np.int64),
        relevance,
    )


def _rounds(order, k, max_rounds, cover):
    """Go through rounds until k features are ranked; return them and their rounds."""
    ranking, rounds = [], []
    n_round, left = 0, order
    while len(left) and len(ranking) < k and n_round != max_rounds:
        n_round += 1
        covered = [left[:0]]
        # left are the features of this round that are neither kept nor covered, best first
        while len(left) and len(ranking) < k:
            ranking.append(left[0])
            rounds.append(n_round)
            is_covered = cover(left[0], left[1:])
            covered.append(left[1:][is_covered])
            left = left[1:][~is_covered]
        left = order[np.isin(order, np.concatenate(covered))]
    return ranking, rounds


class FCBFState(BinnedState):
    """Columns of a range, and the feature that was kept last."""

    _kept = None

    def add(self, column, place, content, details):
        """Keep a feature; see `mauc.cluster.states.State`."""
        self._kept = content

    def share(self, left):
        """Return the information that the kept feature shares with columns, by their numbers."""
        places = left - self.first
        is_here = (places >= 0) & (places < len(self.is_left))
        return self.shared_information(self._kept, places[is_here])


def search_on_cluster(selector, problem, k, threshold, max_rounds):
    """Rank the features of a problem on a cluster; parameters and returns as in `fcbf_search`."""
    states = binned_states(selector, problem, FCBFState)
    information, _, margin_logs = map(np.concatenate, zip(*states.ask("summary"), strict=True))
    table, unit, _, _, log_y = class_margins(problem.codes, problem.n_classes, problem.count_logs)
    n_units = problem.n_samples * unit

    def share(kept, left):
        order = np.argsort(left, kind="stable")
        states.add(kept)
        shared = np.empty(len(left))
        shared[order] = np.concatenate(states.ask("share", left[order]))
        return shared

    log_n = table[problem.n_samples]
    entropies, class_entropy = (log_n - margin_logs) / n_units, (log_n - log_y) / n_units
    return rank_by_cover(information, entropies, class_entropy, share, k, threshold, max_rounds)
