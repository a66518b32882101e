"""ARCO: greedy, by AUC less rank correlation with what is selected."""

import numpy as np

from mauc.auc.column_reader import ColumnReader
from mauc.auc.pair_auc import folded_auc, room_for_pair_auc
from mauc.checks import check_real
from mauc.numerics.exact_mean import mean_of_quotients
from mauc.parallel import count_threads, even_ranges, start_pool
from mauc.selectors.arco.on_cluster import rank_on_cluster
from mauc.selectors.arco.rank_columns import RankWriter
from mauc.selectors.arco.step import best_of_block
from mauc.selectors.base import RankingSelector, one_list
from mauc.selectors.greedy_search import GreedySearch, find_in_parts

# Products of ranks that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 20


class ARCO(RankingSelector):
    r"""Select features of large AUC and small rank correlation with each other.

    The first feature has the largest AUC, averaged over the class pairs; each next one the largest
    excess of its AUC over its mean absolute Spearman correlation with the features selected so
    far.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
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
        Selected columns, in the order of selection; the first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Mean folded AUC of every feature over the class pairs.
    trace_ : SelectionTrace
        For each step the feature and its criterion at that step.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair.
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
    for more than 32768 samples; sparse columns are filled in one block at a time. The ranks of a
    source of columns are kept in a temporary file where its `memory` does not hold them.

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

    def __init__(
        self, n_features_to_select=0.5, *, redundancy_weight=1.0, n_jobs=None, verbose=False
    ):
        self.n_features_to_select = n_features_to_select
        self.redundancy_weight = redundancy_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        return check_real("redundancy_weight", self.redundancy_weight, 0)

    def _rank(self, problem, n_wanted, weight):
        pair_auc = room_for_pair_auc(problem, n_wanted)
        if problem.cluster is not None:
            search, relevance = rank_on_cluster(problem, n_wanted, measure, weight, pair_auc)
            chosen_auc = None if pair_auc is None else pair_auc[search.ranking]
            return one_list(problem, search.ranking, search.scores, relevance, pair_auc=chosen_auc)
        ranks, squares, relevance = measure(problem, pair_auc, self.n_jobs)
        # Constant features have no correlation with anything: `GreedySearch` puts them last.
        search = GreedySearch(relevance, squares == 0, n_wanted)
        n_counted = np.zeros(problem.n_features, np.int64)
        redundancy_sum = np.zeros(problem.n_features)

        n_threads = min(count_threads(self.n_jobs), ranks.size // BLOCK_WORK)
        blocks = even_ranges(problem.n_features, n_threads)
        max_rows = problem.room.rows_at_once(ranks[0].nbytes, len(blocks))

        def best(block, n_chosen):
            def find(first, last, best, score):
                return best_of_block(
                    ranks, squares, search.masked_relevance, weight, search.ranking, n_chosen,
                    first, last, best, score, max_rows, search.is_left, n_counted, redundancy_sum,
                )  # fmt: skip

            return find_in_parts(find, block, problem.room)

        with start_pool(len(blocks)) as pool:
            search.run(best, blocks, pool)
        chosen_auc = None if pair_auc is None else pair_auc[search.ranking]
        return one_list(problem, search.ranking, search.scores, relevance, pair_auc=chosen_auc)


def measure(problem, pair_auc=None, n_jobs=None):
    """Return centred ranks, the sums of their squares and the mean AUC of all features.

    Parameters
    ----------
    problem : Problem
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs on the class pairs.
    n_jobs : int, optional

    Returns
    -------
    ranks : ndarray of shape (n_features, n_samples), int16 or int32
    squares : ndarray of shape (n_features,), int64
    relevance : ndarray of shape (n_features,), float64
    """
    writer = RankWriter(problem)
    reader = ColumnReader(problem, writer, np.arange(problem.n_samples, dtype=np.int32))
    relevance = np.empty(problem.n_features)

    def fill(block):
        wins = reader.read(block)
        folded = folded_auc(wins, problem.max_wins)
        if pair_auc is not None:
            pair_auc[block] = folded
        relevance[block] = mean_of_quotients(folded, problem.max_wins)
        problem.room.release()

    for _ in problem.run_blocks(fill, len(problem.max_wins), n_jobs, is_dense=True):
        pass
    return writer.ranks, writer.squares, relevance
