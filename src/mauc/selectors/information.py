"""mRMR and JMI: greedy searches by information about the class and the selected features.

Information is a quotient of whole numbers: with L(v) = v log v in fixed point,

    n I(f; s) = sum L(n_fs) - sum L(n_f) - sum L(n_s) + L(n),
    n I(f, s; y) = sum L(n_fsy) - sum L(n_fs) - sum L(n_y) + L(n).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from mauc.binning.states import BINNINGS, MAX_BINS, bin_columns
from mauc.checks import check_choice, check_int
from mauc.compile import njit, njit_part
from mauc.data.wishes import WishMixin
from mauc.engine.arrays import RowCounts, count_rows, fixed_log, read_only
from mauc.measure.joint_counts import (
    MAX_CLASS_PRODUCTS,
    MAX_PLANE_STATES,
    CountArrays,
    count_pairs,
    information,
    pack_rows,
    target_information,
)
from mauc.memory import Workspace
from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.search.lazy import GreedySearch, row_parts
from mauc.search.wishes import choose_units
from mauc.selectors.base import RankingSelector, single_ranking

CRITERIA = ("difference", "quotient")
# Mean redundancies below this (in nats) count as none in the quotient: rounding alone gives
# 1e-16, and a quotient by it would rank noise above relevance.
REDUNDANCY_FLOOR = 1e-9
# Words and table look-ups of work that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19
_CONSTANT = -1e6  # criterion of a constant feature in a unit
_TABLE_BYTES = 16  # per sample, of the tables of L


@dataclass(kw_only=True, eq=False, repr=False)
class BinnedSelector(RankingSelector):
    """Base of the selectors that discretise all features first: MRMR, JMI and FCBF."""

    binning: str = "three_states"
    n_bins: int = 10
    categorical_features: Any = None

    def check_options(self) -> None:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        if self.binning not in BINNINGS:
            check_choice("binning", self.binning, BINNINGS)
        if self.binning in ("equal_width", "equal_frequency"):
            check_int("n_bins", self.n_bins, 2, MAX_BINS)

    def binned(self, problem: Any) -> "AbstractContextManager[BinnedFeatures]":
        """Return the context that holds the features of a problem, discretised."""
        workspace = problem.columns.workspace
        workspace.reserve(_TABLE_BYTES * len(problem.codes))
        y, rows = problem.codes, problem.row_counts
        states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        n_threads = count_threads(self.n_jobs)
        return binned_features(states, n_states, y, problem.n_classes, n_threads, rows, workspace)


@dataclass(kw_only=True, eq=False, repr=False)
class MRMR(WishMixin, BinnedSelector):
    r"""Select features of minimal redundancy and maximal relevance.

    The first feature is the one with the most information about the class; each next one has the
    largest excess of information about the class over its mean information about the features
    selected so far.

    Parameters
    ----------
    n_features_to_select : int, float, "all", "auto", "fdr" or None, default=None
        How many features to select: a number, a fraction of all, all of them (a full ranking), as
        many as `mauc.select_k` finds enough, whose curve is then `size_curve_`, those that separate
        some pair of classes significantly ("fdr"), or half of them (None).
    fdr_alpha : float, default=0.05
        Of "fdr": the share of the selected features that may be expected to separate no classes, by
        the tests of `mauc.pair_tests`, which are of location: features that differ between classes
        in spread alone are left out. Where no feature is significant, one is selected, with a
        warning.
    criterion : {"difference", "quotient"}, default="difference"
        Relevance less redundancy (MID), or their quotient (MIQ).
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}
        How numeric features become discrete, by default in three states: at mean - sd and
        mean + sd, the choice of Peng et al. and of the paper; by the supervised MDL method; into
        `n_bins` of equal width or of equal frequency; or not at all, every value a state.
    n_bins : int, default=10
        Bins of "equal_width" and "equal_frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a state.
    keep : list of str or int, or mask, optional
        Features that are always selected, first and in this order.
    exclude : list of str or int, or mask, optional
        Features that are never selected.
    feature_groups : dict of lists, or list of lists, optional
        Features that are selected together or not at all, such as the columns of one assay: a group
        counts by what its features gain together, per feature or per cost. A number of features
        that a group exceeds is reached without it. With groups, the first k of a ranking are a
        choice only where they end with a group.
    feature_costs : dict, Series or array-like of shape (n_features,), optional
        What each feature costs: gains count per cost. The name of a group has a cost that is paid
        once, in addition to those of its features, which may then be left out.
    budget : float, optional
        What the selected features may cost in all. They are sought by gain per cost and by gain
        alone, and the better choice is taken. With None for their number, the budget alone limits
        it.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns in the order of selection. Rankings are nested: the first 10 are the
        choice for 10.
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
        Their names, such as "setosa vs virginica".
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

    criterion: str = "difference"

    def check_options(self) -> None:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        if self.criterion not in CRITERIA:
            check_choice("criterion", self.criterion, CRITERIA)
        super().check_options()

    def _rank(self, problem, n_wanted, options):
        with self.binned(problem) as features:
            search = mrmr_search(
                features, n_wanted, self.criterion == "quotient", problem.constraints
            )
        return single_ranking(problem, search.ranking, search.scores, features.relevance)


class JMI(BinnedSelector):
    r"""Select features by joint mutual information.

    The first feature is the one with the most information about the class; each next one has the
    most information in pairs with the features selected so far. Unlike `MRMR` it finds features
    that are informative only together.

    Parameters
    ----------
    n_features_to_select : int, float, "all", "auto", "fdr" or None, default=None
        How many features to select: a number, a fraction of all, all of them (a full ranking), as
        many as `mauc.select_k` finds enough, whose curve is then `size_curve_`, those that separate
        some pair of classes significantly ("fdr"), or half of them (None).
    fdr_alpha : float, default=0.05
        Of "fdr": the share of the selected features that may be expected to separate no classes, by
        the tests of `mauc.pair_tests`, which are of location: features that differ between classes
        in spread alone are left out. Where no feature is significant, one is selected, with a
        warning.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}
        How numeric features become discrete, by default in "three_states"; see `MRMR`.
    n_bins : int, default=10
        Bins of "equal_width" and "equal_frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a state.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns in the order of selection. Rankings are nested: the first 10 are the
        choice for 10.
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
        Their names, such as "setosa vs virginica".
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

    def _rank(self, problem, n_wanted, options):
        with self.binned(problem) as features:
            search = jmi_search(features, n_wanted)
        return single_ranking(problem, search.ranking, search.scores, features.relevance)


@dataclass(frozen=True)
class BinnedFeatures:
    """Features ready for joint counts, and the threads to count them with."""

    arrays: CountArrays
    y: np.ndarray
    class_counts: np.ndarray
    log_y: int  #: sum of L over the classes
    relevance: np.ndarray  #: I(f; y) of every feature
    is_constant: np.ndarray
    blocks: list[tuple[int, int]]  #: ranges of features, one per thread
    pool: Any  #: for `mauc.parallel.run_in`
    workspace: Workspace  #: of the states and planes
    max_rows: int  #: rows of them that a thread may read before it calls ``workspace.release``


@contextmanager
def binned_features(
    D, n_states, y, n_classes, n_threads=1, rows: RowCounts | None = None, workspace=None
) -> Iterator[BinnedFeatures]:
    """Count margins of discretised features, of 256 states at most, and what each tells of y."""
    n_features, n_samples = D.shape
    workspace = workspace or Workspace()
    # Read-only views: one compiled version of each kernel, whatever the caller holds. Classes have
    # the type of the states where it holds them, for which the loops are compiled anyway.
    D, y = read_only(D), read_only(y)
    classes = read_only(y.astype(np.uint8)) if n_classes <= 256 else y
    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    rows = rows or count_rows(n_samples)
    has_planes = (n_states <= MAX_PLANE_STATES) & (rows.weights is None)
    n_planes = np.where(has_planes, n_states - 1, 0)
    starts = np.concatenate([[0], np.cumsum(n_planes)]).astype(np.int64)
    planes = workspace.array((starts[-1], (n_samples + 63) // 64), np.uint64)
    counts = np.zeros((n_features, n_states.max()), dtype=np.int64)
    margin_logs = np.empty(n_features, dtype=np.int64)
    class_planes, class_counts, log_y = class_margins(classes, n_classes, rows)
    arrays = CountArrays(
        D,
        n_states,
        starts,
        planes,
        counts,
        margin_logs,
        int(rows.fixed_logs(np.array(rows.n))),
        rows.fixed,
        rows.unit,
        rows.n,
        rows.weights,
    )
    relevance = np.empty(n_features, dtype=np.float64)

    blocks = _feature_blocks(D, n_states, n_threads)
    plane_bytes = planes.shape[1] * planes.itemsize * int(n_planes.max())
    # A feature is read as planes or as states, and as both while planes are made of it.
    max_rows = workspace.rows_at_once(n_samples + plane_bytes, len(blocks))

    def count(block):
        joint = np.empty((counts.shape[1], n_classes), np.int64)
        for first, last in row_parts(*block, max_rows):
            if rows.weights is None:
                pack_rows(
                    D[first:last],
                    starts[first : last + 1] - starts[first],
                    planes[starts[first] : starts[last]],
                    counts[first:last],
                )
            else:
                for j in range(first, last):
                    counts[j] = np.bincount(D[j], rows.weights, counts.shape[1])
            margin_logs[first:last] = rows.fixed_logs(counts[first:last]).sum(axis=1)
            target_information(
                *arrays,
                classes,
                n_classes,
                class_planes,
                class_counts,
                log_y,
                np.arange(first, last),
                joint,
                relevance[first:last],
            )
            workspace.release()

    with nullcontext() if len(blocks) == 1 else start_pool(len(blocks)) as pool:
        if pool is None:
            count(blocks[0])
        else:
            run_in(pool, count, blocks)
        is_constant = counts.max(axis=1) == rows.n
        yield BinnedFeatures(
            arrays,
            y,
            class_counts,
            log_y,
            relevance,
            is_constant,
            blocks,
            pool,
            workspace,
            max_rows,
        )


def _feature_blocks(D, n_states, n_threads):
    """Cut the features into at most ``n_threads`` blocks worth a thread each."""
    n_features, n_samples = D.shape
    if n_threads == 1:
        return [(0, n_features)]
    states = int(n_states.max())
    words = n_samples // 64 * (states - 1) ** 2 if states <= MAX_PLANE_STATES else n_samples
    work = n_features * (words + states**2)
    return even_ranges(n_features, min(n_threads, work // BLOCK_WORK))


def class_margins(y: Any, n_classes: int, rows: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Return planes, if few, counts and the sum of L of the classes."""
    # With more classes no feature is counted by planes.
    n_planes = n_classes - 1 if n_classes - 1 <= MAX_CLASS_PRODUCTS else 0
    class_counts = np.bincount(y, rows.weights, n_classes).astype(np.int64)
    return pack_row(y, n_planes), class_counts, int(rows.fixed_logs(class_counts).sum())


def pack_row(codes: np.ndarray, n_planes: int) -> np.ndarray:
    """Return the bit planes of states 0 .. n_planes - 1 of one row of codes, uint8 if any."""
    planes = np.empty((n_planes, (len(codes) + 63) // 64), np.uint64)
    if n_planes > 0:
        counts = np.empty((1, n_planes + 1), np.int64)
        pack_rows(codes[np.newaxis], np.array([0, n_planes]), planes, counts)
    return planes


def mrmr_search(features: Any, k: int, quotient: bool = False, wishes: Any = None) -> GreedySearch:
    """Choose k features, or units by sums, by mRMR in its difference or quotient form."""
    search = GreedySearch(features.relevance, features.is_constant, k)
    n_counted = np.zeros(len(features.relevance), dtype=np.int64)
    redundancy_sum = np.zeros(len(features.relevance), dtype=np.float64)
    width = features.arrays.counts.shape[1]

    is_spilled = features.workspace.is_spilled

    def find_best(block, n_chosen):
        first, last = block
        joint = np.empty((width, width), np.int64)
        best, score = -1, -np.inf
        while first < last:  # once, unless the states are in a file
            best, score, first = best_of_block(
                *features.arrays,
                search.masked_relevance,
                search.ranking,
                n_chosen,
                quotient,
                first,
                last,
                best,
                score,
                features.max_rows,
                search.is_left,
                n_counted,
                redundancy_sum,
                joint,
            )
            if is_spilled:
                features.workspace.release()
        return best, score

    def score(chosen):
        """Return the criterion of every feature, given those chosen; constant ones come last."""
        n_counted[:] = np.where(n_counted > len(chosen), 0, n_counted)  # of an earlier pass
        redundancy_sum[n_counted == 0] = 0.0
        search.ranking[: len(chosen)] = chosen
        scores = search.masked_relevance
        if chosen:
            search.is_left[:] = True
            scores = [find_best((f, f + 1), len(chosen))[1] for f in range(len(scores))]
        return np.maximum(scores, _CONSTANT)

    if wishes is not None:
        chosen = choose_units(wishes, k, score)
        search.ranking = np.array(chosen.features, np.int64)
        search.scores = np.array(chosen.gains)
        return search
    return search.run(find_best, features.blocks, features.pool)


def jmi_search(features: Any, k: int) -> GreedySearch:
    """Choose k features by JMI; the scores are sums over the features chosen before."""
    search = GreedySearch(features.relevance, features.is_constant, k)
    sums = np.zeros(len(features.relevance))

    def merge_last(step):
        # sums are over ranking[:step - 1], and the last chosen feature is added to them.
        states = features.arrays.D[search.ranking[step - 1]]
        z, counts, groups = merge_classes(states, features.y, len(features.class_counts))
        n_planes = len(counts) - 1 if len(counts) <= MAX_CLASS_PRODUCTS + 1 else 0
        z_planes = pack_row(read_only(z.astype(np.uint8)), n_planes)
        return read_only(z), z_planes, counts, groups

    def add(block, merged):
        found = []
        for part in row_parts(*block, features.max_rows):
            found.append(
                add_joint_information(
                    *features.arrays,
                    *merged,
                    features.log_y,
                    search.masked_relevance,
                    *part,
                    search.is_left,
                    sums,
                )
            )
            features.workspace.release()
        # The first of equals; -1 has the lowest score, and so have features that come last.
        return max(found, key=lambda pair: (pair[1], pair[0] >= 0))

    return search.run(add, features.blocks, features.pool, prepare=merge_last)


def merge_classes(
    codes: np.ndarray, y: Any, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, int32, of states with classes that occur, their counts, and groups by state."""
    pairs = codes.astype(np.int64) * n_classes + y
    counts = np.bincount(pairs)
    present = np.flatnonzero(counts)
    numbers = np.zeros(len(counts), np.int32)
    numbers[present] = np.arange(len(present))
    starts = np.flatnonzero(np.diff(present // n_classes, prepend=-1))
    groups = np.append(starts, len(present)).astype(np.int64)
    return numbers[pairs], counts[present].astype(np.int64), groups


@njit_part
def criterion(relevance, redundancy_sum, n_chosen, is_quotient):
    """Return I(f; y) - r or I(f; y) / max(r, floor) with r the mean redundancy over S."""
    redundancy = redundancy_sum / n_chosen
    if is_quotient:
        return relevance / (redundancy if redundancy > REDUNDANCY_FLOOR else REDUNDANCY_FLOOR)
    return relevance - redundancy


@njit(cache=True, nogil=True)
def best_of_block(
    D,
    n_states,
    starts,
    planes,
    counts,
    margin_logs,
    log_n,
    table,
    unit,
    n,
    weights,
    relevance,
    chosen,
    n_chosen,
    is_quotient,
    first,
    last,
    best,
    best_score,
    max_rows,
    is_left,
    n_counted,
    redundancy_sum,
    joint,
):
    """Find the candidate of largest criterion among features ``first`` to ``last``.

    The redundancy of a candidate is a running sum of I(f; s) over the chosen features s, in the
    order of choice. Its terms are not negative, so a shorter sum bounds the criterion from above,
    in floating point as well, and a term is counted only while this bound can still win. Sums that
    are compared in the end are complete: neither blocks nor what was skipped changes a bit.

    `best` is the winner so far, -1 if there is none; the lowest of equals wins. Returns it, its
    score and where to begin again after `max_rows` rows of states were read, or `last`.
    """
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
        while True:
            score = criterion(relevance[f], redundancy_sum[f], n_chosen, is_quotient)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
            if not can_win or n_counted[f] == n_chosen:
                break
            if n_rows > 0 and n_rows + 2 > max_rows:
                return best, best_score, turn if turn > first else first
            n_rows += 2
            s = chosen[n_counted[f]]
            count_pairs(
                D,
                n_states,
                starts,
                planes,
                counts,
                weights,
                f,
                D[s],
                n_states[s],
                planes,
                starts[s],
                starts[s + 1] - starts[s],
                counts[s],
                joint,
            )
            redundancy_sum[f] += information(
                joint,
                n_states[f],
                n_states[s],
                margin_logs[f],
                margin_logs[s],
                log_n,
                table,
                unit,
                n,
            )
            n_counted[f] += 1
        if can_win:
            best, best_score = f, score
    return best, best_score, last


@njit(cache=True, nogil=True)
def add_joint_information(
    D,
    n_states,
    starts,
    planes,
    counts,
    margin_logs,
    log_n,
    table,
    unit,
    n,
    weights,
    z,
    z_planes,
    z_counts,
    groups,
    log_y,
    masked_relevance,
    first,
    last,
    is_left,
    sums,
):
    """Add I(f, s; y), `z` merging s and y, to the sums of features; return the best and its sum."""
    n_codes = z_counts.shape[0]
    joint = np.empty((counts.shape[1], n_codes), dtype=np.int64)
    best, best_score = -1, -np.inf
    for f in range(first, last):
        if not is_left[f]:
            continue
        score = masked_relevance[f]
        if score > -np.inf:
            count_pairs(
                D,
                n_states,
                starts,
                planes,
                counts,
                weights,
                f,
                z,
                n_codes,
                z_planes,
                np.int64(0),
                z_planes.shape[0],
                z_counts,
                joint,
            )
            total = log_n - log_y
            for a in range(n_states[f]):
                for g in range(groups.shape[0] - 1):
                    margin = np.int64(0)
                    for code in range(groups[g], groups[g + 1]):
                        margin += joint[a, code]
                        total += fixed_log(table, joint[a, code], unit)
                    total -= fixed_log(table, margin, unit)
            # Rounding of the entries of L can leave a few units of either sign.
            sums[f] += (total if total > 0 else np.int64(0)) / (n * unit)
            score = sums[f]
        if best < 0 or score > best_score:
            best, best_score = f, score
    return best, best_score
