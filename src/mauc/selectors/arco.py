"""ARCO: AUC less rank correlation, a greedy search on the ranks of all columns.

The *centred rank* of a row is #(values below) - #(values above), which is 2 r - (n + 1) with r the
rank among n rows, ties averaged. A missing value is tied with every value: its rank is 0. Ranks
of a column sum to 0, so Spearman's correlation of two columns is a quotient of whole numbers,

    rho = sum r_a r_b / sqrt(sum r_a^2 sum r_b^2),

and no order of rows, block of columns or number of threads changes a bit of it. With weights,
which count rows, ranks are floats and stored times the roots of the weights.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uintp

from mauc.checks import check_real
from mauc.compile import njit
from mauc.data.problem import Problem
from mauc.engine.arrays import mean_of_quotients
from mauc.engine.levels import take_levels
from mauc.measure.pair_auc import ColumnReader, allocate_pair_auc, folded_auc
from mauc.parallel import count_threads, even_ranges, start_pool
from mauc.search.lazy import GreedySearch
from mauc.selectors.base import RankingSelector, single_ranking

# Products of ranks that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 20


@dataclass(kw_only=True, eq=False, repr=False)
class ARCO(RankingSelector):
    r"""Select features of large AUC and small rank correlation with each other.

    The first feature has the largest AUC, averaged over the class pairs; each next one the largest
    excess of its AUC over its mean absolute Spearman correlation with the features selected so
    far.

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
    redundancy_weight : float, default=1.0
        Weight of the correlation, not negative; 0 ranks as `MAUCD` does.
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
        Mean folded AUC of every feature over the class pairs.
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

    See Also
    --------
    MRMR : Mutual information in place of AUC and correlation.
    GreedyMAUC : Weighs what a feature adds to every class pair.

    Notes
    -----
    With S the features selected, :math:`\rho` Spearman's rank correlation and :math:`\lambda` the
    weight,

    .. math:: \arg\max_{f \notin S} \Big[ \frac{2}{c (c - 1)} \sum_{i < j} A_{ij}(f)
              - \frac{\lambda}{|S|} \sum_{s \in S} |\rho(f, s)| \Big]

    The method is published for two classes [1]_ with a weight of 1; the mean over class pairs, as
    in `MAUCD`, extends it to more. Equal values go by column; constant features come last.

    Only the order of values counts. A missing value ties with every value: AUC 1/2, rank in the
    middle. Ranks are whole numbers and correlations quotients of exact sums; one is computed only
    where it can change the choice of a step. Memory: two bytes per cell of X for the ranks, four
    for more than 32768 samples, eight with weights; those of a source of columns are kept in a
    temporary file where its `memory` does not hold them.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature selection for maximizing the area under the ROC curve",
       ICDM Workshops, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import ARCO
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(X.columns[ARCO(3).fit(X, y).ranking_])
    ['flavanoids', 'color_intensity', 'alcalinity_of_ash']
    """

    redundancy_weight: float = 1.0

    def check_options(self) -> float:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        return check_real("redundancy_weight", self.redundancy_weight, 0)

    def _rank(self, problem, n_wanted, weight):
        pair_auc = allocate_pair_auc(problem, n_wanted)
        ranks, squares, relevance = measure(problem, pair_auc, self.n_jobs)
        # Constant features have no correlation with anything: `GreedySearch` puts them last.
        search = GreedySearch(relevance, squares == 0, n_wanted)
        n_counted = np.zeros(problem.n_features, np.int64)
        redundancy_sum = np.zeros(problem.n_features)

        n_threads = min(count_threads(self.n_jobs), ranks.size // BLOCK_WORK)
        blocks = even_ranges(problem.n_features, n_threads)
        max_rows = problem.workspace.rows_at_once(ranks[0].nbytes, len(blocks))

        is_spilled = problem.workspace.is_spilled

        def find_best(block, n_chosen):
            first, last = block
            best, score = -1, -np.inf
            while first < last:  # once, unless the ranks are in a file
                best, score, first = best_of_block(
                    ranks,
                    squares,
                    search.masked_relevance,
                    weight,
                    search.ranking,
                    n_chosen,
                    first,
                    last,
                    best,
                    score,
                    max_rows,
                    search.is_left,
                    n_counted,
                    redundancy_sum,
                )
                if is_spilled:
                    problem.workspace.release()
            return best, score

        with start_pool(len(blocks)) as pool:
            search.run(find_best, blocks, pool)
        chosen_auc = None if pair_auc is None else pair_auc[search.ranking]
        return single_ranking(
            problem, search.ranking, search.scores, relevance, pair_auc=chosen_auc
        )


def measure(
    problem: Problem, pair_auc: np.ndarray | None = None, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centred ranks, the sums of their squares and mean AUCs; fill in `pair_auc`."""
    n_features, n_samples = problem.n_features, problem.n_samples
    rank_type: Any = np.int16 if n_samples <= 2**15 else np.int32
    if problem.sample_weight is not None:
        rank_type = np.float64
    ranks = problem.workspace.array((n_features, n_samples), rank_type)
    squares = np.empty(n_features, np.float64 if rank_type is np.float64 else np.int64)
    relevance = np.empty(n_features)
    arrays = ranks, squares, relevance
    for _ in problem.map(
        _measure_block,
        out=arrays if pair_auc is None else (*arrays, pair_auc),
        prepare=_prepare,
        n_scores=len(problem.max_wins),
        n_jobs=n_jobs,
        is_dense=True,
    ):
        pass
    return arrays


def _prepare(problem: Problem) -> tuple[ColumnReader, np.ndarray | None]:
    """Return what the blocks of columns have in common: a reader and the roots of the weights."""
    weight = problem.sample_weight
    reader = ColumnReader(problem, np.arange(problem.n_samples, dtype=np.int32))
    return reader, None if weight is None else np.sqrt(weight)


def _measure_block(
    problem: Problem,
    block: slice,
    reader: ColumnReader,
    roots: np.ndarray | None,
    ranks: np.ndarray,
    squares: np.ndarray,
    relevance: np.ndarray,
    *pair_auc: np.ndarray,
) -> None:
    """Fill in the arrays of some columns."""
    wins = reader.read(block, RankWriter(ranks, squares, roots))
    folded = folded_auc(wins, problem.max_wins)
    for out in pair_auc:
        out[:] = folded
    relevance[:] = mean_of_quotients(folded, problem.max_wins)


class RankWriter:
    """Writes centred ranks, in units of `rank_step`, and sums of squares, for a `ColumnReader`."""

    def __init__(self, ranks: np.ndarray, squares: np.ndarray, roots: np.ndarray | None):
        self.ranks, self.squares = ranks, squares
        self._roots, self._step = roots, rank_step(ranks.shape[1])

    def write_levels(self, LT: Any, level_counts: Any, columns: Any) -> None:
        """Write the ranks of columns of levels, uint8, none of which is missing."""
        n_samples = LT.shape[1]
        ranks = 2 * np.cumsum(level_counts, axis=1) - level_counts - n_samples
        ranks = np.sign(ranks) * (np.abs(ranks) // self._step)
        self.squares[columns] = (level_counts * ranks * ranks).sum(axis=1)
        take_levels(LT, np.arange(n_samples), ranks.astype(self.ranks.dtype), columns, self.ranks)

    def write_sorted(self, keys: Any, n_known: Any, row_bits: int, columns: Any) -> None:
        """Write the ranks of sorted columns, whose keys hold the row."""
        _rank_sorted(keys, n_known, row_bits, self._step, columns, self.ranks, self.squares)

    def write_ranks(self, ranks: Any, tied: Any, columns: Any) -> None:
        """Write the ranks of rows with weights."""
        ranks *= self._roots
        self.ranks[columns] = ranks
        self.squares[columns] = [rank_product(row, row) for row in ranks]


def rank_step(n_samples: int) -> int:
    """Return the unit of ranks: 1 up to two million rows, as long as the squares sum to 63 bits."""
    return max(1, math.ceil(math.sqrt(n_samples**3 / (3 * 2**62))))


@njit(cache=True, nogil=True)
def _cut(rank, step):
    """Divide towards zero, so that x and -x have opposite ranks."""
    return rank // step if rank >= 0 else -(-rank // step)


@njit(cache=True, nogil=True)
def _rank_sorted(keys, n_known, row_bits, step, columns, ranks, squares):
    n = keys.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for j in range(keys.shape[0]):
        w, target, n_here = keys[j], ranks[columns[j]], n_known[j]
        if n_here < n:
            for i in range(n):
                target[i] = 0
        square = np.int64(0)
        start = 0
        # w[:start] are below w[start], which opens a run of equal values
        while start < n_here:
            stop = start + 1
            while stop < n_here and (w[stop] >> shift) == (w[start] >> shift):
                stop += 1
            rank = _cut(start + stop - n_here, step)
            for i in range(start, stop):
                target[uintp(w[i] & mask)] = rank
            square += (stop - start) * rank * rank
            start = stop
        squares[columns[j]] = square


@njit(cache=True, nogil=True)
def rank_product(a, b):
    """Return the sum of products of two rows of ranks."""
    total = np.int64(0)  # or a float of floats
    for i in range(uintp(a.shape[0])):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True)
def best_of_block(
    ranks,
    squares,
    relevance,
    weight,
    chosen,
    n_chosen,
    first,
    last,
    best,
    best_score,
    max_rows,
    is_left,
    n_counted,
    redundancy_sum,
):
    """Find the candidate of largest criterion among features ``first`` to ``last``, as mRMR's."""
    # The largest bound is the likeliest winner: counted first, it rules most others out.
    favourite, favourite_bound = -1, -np.inf
    for f in range(first, last):
        if is_left[f]:
            bound = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
            if favourite < 0 or bound > favourite_bound:
                favourite, favourite_bound = f, bound
    n_rows = 0
    # best is the winner among the favourite, the features first .. turn - 1 and those before
    for turn in range(first - 1, last):
        f = favourite if turn < first else turn
        if f < 0 or not is_left[f] or f == best:
            continue
        score = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
        can_win = best < 0 or score > best_score or (score == best_score and f < best)
        while can_win and n_counted[f] < n_chosen:
            if n_rows > 0 and n_rows + 2 > max_rows:
                return best, best_score, max(turn, first)
            n_rows += 2
            s = chosen[n_counted[f]]
            redundancy_sum[f] += rank_correlation(ranks, squares, f, s)
            n_counted[f] += 1
            score = relevance[f] - weight * (redundancy_sum[f] / n_chosen)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
        if can_win:
            best, best_score = f, score
    return best, best_score, last


@njit(cache=True, nogil=True)
def rank_correlation(ranks, squares, f, s):
    """Return the absolute rank correlation of two features: 1 for copies, 0 for constants."""
    if squares[f] == 0 or squares[s] == 0:
        return 0.0
    product = np.float64(abs(rank_product(ranks[f], ranks[s])))
    return product / math.sqrt(np.float64(squares[f]) * np.float64(squares[s]))
