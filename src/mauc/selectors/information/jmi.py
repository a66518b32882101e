"""JMI: greedy, by the information about the class of a feature together with those selected.

A chosen feature s is merged with the classes y into one code z. From the counts of (f, z), with
L(v) = v log v,

    n I(f, s; y) = sum L(n_fsy) - sum L(n_fs) - sum L(n_y) + L(n),

so one joint count per candidate gives both sums. L is in fixed point: sums of whole numbers.
"""

import numpy as np

from mauc.compile import njit
from mauc.engine.arrays import read_only
from mauc.selectors.base import single_ranking
from mauc.selectors.greedy_search import GreedySearch, row_parts
from mauc.selectors.information.binned import (
    MAX_CLASS_PRODUCTS,
    BinnedSelector,
    complete_counts,
    histogram_counts,
    pack_planes,
    plane_counts,
)
from mauc.selectors.information.on_cluster import BinnedState, rank_on_cluster


class JMI(BinnedSelector):
    r"""Select features by joint mutual information.

    The first feature is the one with the most information about the class; each next one has the
    most information in pairs with the features selected so far. Unlike `MRMR` it finds features
    that are informative only together.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="three_states"
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
        Selected columns, in the order of selection; the first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Relevance I(f; y) of every feature, in nats.
    trace_ : SelectionTrace
        For each step the feature and its criterion at that step: I(f; y) at the first, the sum
        under Notes, in nats, at the others; -inf for constant features.
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
    MRMR : Relevance less redundancy.

    Notes
    -----
    With S the features selected [1]_,

    .. math:: \arg\max_{f \notin S} \sum_{s \in S} I(f, s; y)

    Equal values go by column; constant features come last. A missing value is one more state.
    Every step adds one term to the sum of each feature that is left, by one joint count of the
    feature with the last selected one and the class. The states of a source of columns, one byte
    per cell, are kept in a temporary file where its `memory` does not hold them.

    References
    ----------
    .. [1] H. H. Yang, J. Moody, "Data visualization and feature selection: new algorithms for
       nongaussian data", NIPS 12, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import JMI
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(X.columns[JMI(3).fit(X, y).ranking_])
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        binning="three_states",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _rank(self, problem, n_wanted, options):
        if problem.cluster is not None:
            return rank_on_cluster(self, problem, n_wanted, JMIState)
        with self.binned(problem) as features:
            search = jmi_search(features, n_wanted)
        return single_ranking(problem, search.ranking, search.scores, features.relevance)


def jmi_search(features, k):
    r"""Rank features by JMI.

    Parameters
    ----------
    features : BinnedFeatures
    k : int
        How many features to choose, 1 <= k <= n_features.

    Returns
    -------
    search : GreedySearch
        Finished. Scores are sums over the features chosen before; I(f; y) for the first.

    Notes
    -----
    First the feature of largest I(f; y); then, with S the chosen features, the largest
    :math:`\sum_{s \in S} I(f, s; y)`. A step adds one term to the sum of every candidate. Equal
    sums go by column; constant features come last.

    Examples
    --------
    The second feature repeats the first, so the third is chosen before it:

    >>> import numpy as np
    >>> from mauc.selectors.information.binned import binned_features
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> with binned_features(D, 2, y, 3) as features:
    ...     jmi_search(features, 3).ranking
    array([0, 2, 1])
    """
    search = GreedySearch(features.relevance, features.is_constant, k)
    sums = np.zeros(len(features.relevance))

    def merge_last(step):
        # sums are over ranking[:step - 1], and the last chosen feature is added to them.
        return merge_chosen(features.arrays.D[search.ranking[step - 1]], features)

    def add(block, merged):
        return add_chosen(features, merged, search.masked_relevance, block, search.is_left, sums)

    return search.run(add, features.blocks, features.pool, prepare=merge_last)


def add_chosen(features, merged, masked_relevance, block, is_left, sums):
    """Add the terms of a chosen feature to the sums of a block, part by part; return the best."""
    found = []
    for part in row_parts(*block, features.max_rows):
        found.append(add_joint_information(
            *features.arrays, *merged, features.log_y, masked_relevance, *part, is_left, sums
        ))  # fmt: skip
        features.room.release()
    # The first of equals; -1 has the lowest score, and so have features that come last.
    return max(found, key=lambda pair: (pair[1], pair[0] >= 0))


def merge_chosen(states, features):
    """Return what `add_joint_information` needs of the states of a chosen feature."""
    z, counts, groups = merge_classes(states, features.y, len(features.class_counts))
    n_planes = len(counts) - 1
    n_planes = n_planes if n_planes <= MAX_CLASS_PRODUCTS else 0
    z_planes = np.empty((n_planes, features.arrays.planes.shape[1]), np.uint64)
    if n_planes > 0:
        pack_planes(read_only(z.astype(np.uint8)), n_planes, 0, z_planes)
    return read_only(z), z_planes, counts, groups


class JMIState(BinnedState):
    """Sums of joint information of the columns of a range."""

    def __init__(self, part, first, selector):
        super().__init__(part, first, selector)
        self._sums = np.zeros(part.n_features)
        self._best = (-1, -np.inf)

    def add(self, column, place, content, details):
        """Add the joint information with a chosen feature; see `mauc.cluster.states.State`."""
        self.take(place)
        merged = merge_chosen(content[0], self.features)
        best, score = add_chosen(
            self.features, merged, self.masked, (0, len(self._sums)), self.is_left, self._sums
        )
        self._best = (self.first + int(best) if best >= 0 else -1, float(score))

    def propose(self):
        """Return the best feature that is left, or -1, and its sum."""
        return self._best


def merge_classes(codes, y, n_classes):
    """Merge a row of states and the classes into one code, leaving out pairs that do not occur.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), uint8
    y : ndarray of shape (n_samples,), int32
    n_classes : int

    Returns
    -------
    z : ndarray of shape (n_samples,), int32
        Codes in the order of (state, class).
    counts : ndarray of shape (n_codes,), int64
    groups : ndarray of shape (n_states_present + 1,), int64
        Codes ``groups[a]`` to ``groups[a + 1]`` share a state.
    """
    pairs = codes.astype(np.int64) * n_classes + y
    counts = np.bincount(pairs)
    present = np.flatnonzero(counts)
    places = np.zeros(len(counts), np.int32)
    places[present] = np.arange(len(present))
    starts = np.flatnonzero(np.diff(present // n_classes, prepend=-1))
    groups = np.append(starts, len(present)).astype(np.int64)
    return places[pairs], counts[present].astype(np.int64), groups


@njit(cache=True, nogil=True)
def add_joint_information(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    z, z_planes, z_counts, groups, log_y, masked_relevance, first, last, is_left, sums,
):  # fmt: skip
    """Add I(f, s; y) to the sums of features ``first`` to ``last`` and find the largest.

    Parameters
    ----------
    D, n_states, starts, planes, counts, margin_logs, table, unit
        See `binned.BinnedFeatures`.
    z, z_counts, groups
        From `merge_classes`.
    z_planes : ndarray of shape (n_codes - 1, n_words), uint64
        Bit planes of z, or of shape (0, n_words) where there are too many codes.
    log_y, log_n : int
        Sum of L over the classes, and L(n_samples).
    masked_relevance : ndarray of shape (n_features,), float64
        -inf for features that must come last, anything else for the others.
    first, last : int
    is_left : ndarray of shape (n_features,), bool
    sums : ndarray of shape (n_features,), float64
        Updated.

    Returns
    -------
    best : int
        The candidate of the largest sum, the lowest of equals; -1 if there is none left.
    best_score : float
        Its sum, or -inf if it must come last.
    """
    n_samples, n_codes = z.shape[0], z_counts.shape[0]
    joint = np.empty((counts.shape[1], n_codes), dtype=np.int64)
    best, best_score = -1, -np.inf
    for f in range(first, last):
        if not is_left[f]:
            continue
        score = masked_relevance[f]
        if score > -np.inf:
            n_planes = starts[f + 1] - starts[f]
            is_planed = z_planes.shape[0] == n_codes - 1 and n_planes > 0
            if is_planed and n_planes * (n_codes - 1) <= MAX_CLASS_PRODUCTS:
                plane_counts(planes, starts[f], n_planes, z_planes, np.int64(0), n_codes - 1, joint)
                complete_counts(joint, counts[f], n_states[f], z_counts, n_codes)
            else:
                histogram_counts(D[f], n_states[f], z, n_codes, joint)
            total = log_n - log_y
            for a in range(n_states[f]):
                for g in range(groups.shape[0] - 1):
                    margin = np.int64(0)
                    for code in range(groups[g], groups[g + 1]):
                        margin += joint[a, code]
                        total += table[joint[a, code]]
                    total -= table[margin]
            # Rounding of the entries of L can leave a few units of either sign.
            sums[f] += max(total, 0) / (n_samples * unit)
            score = sums[f]
        if best < 0 or score > best_score:
            best, best_score = f, score
    return best, best_score
