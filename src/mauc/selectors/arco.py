"""ARCO: AUC less rank correlation, a lazy greedy search on the ranks of all columns."""

from dataclasses import dataclass

from mauc.checks import check_real
from mauc.data.problem import Problem
from mauc.measure.pair_auc import allocate_pair_auc
from mauc.measure.ranks import ranked_features
from mauc.search.lazy import DIFFERENCE, LazySearch, Rule, Terms
from mauc.search.selection import Ranked
from mauc.selectors.base import RankingSelector, single_ranking


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

    def _rank(self, problem: Problem, n_wanted: int, weight: float) -> Ranked:
        pair_auc = allocate_pair_auc(problem, n_wanted)
        with ranked_features(problem, pair_auc, self.n_jobs) as features:
            search = LazySearch(features, n_wanted, Rule(DIFFERENCE, weight))
            search.run(Terms(None, None, *features.arrays))
        chosen_auc = None if pair_auc is None else pair_auc[search.ranking]
        return single_ranking(
            problem, search.ranking, search.scores, features.relevance, pair_auc=chosen_auc
        )
