"""mRMR and JMI: lazy greedy searches by information about the class and the selected features."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from mauc.binning.states import BINNINGS, MAX_BINS, bin_columns
from mauc.checks import check_choice, check_int
from mauc.data.arguments import CategoricalFeatures
from mauc.data.problem import Problem
from mauc.data.wishes import Wishes, WishMixin
from mauc.measure.information import BinnedFeatures, binned_features
from mauc.parallel import count_threads
from mauc.search.lazy import DIFFERENCE, QUOTIENT, SUM, LazySearch, Rule, Terms
from mauc.search.selection import Ranked
from mauc.search.wishes import choose_units
from mauc.selectors.base import RankingSelector, single_ranking

CRITERIA = ("difference", "quotient")
_CONSTANT = -1e6  # criterion of a constant feature in a unit
_TABLE_BYTES = 16  # per sample, of the tables of L


@dataclass(kw_only=True, eq=False, repr=False)
class BinnedSelector(RankingSelector):
    """Base of the selectors that discretise all features first: MRMR, JMI and FCBF."""

    binning: str = "three_states"
    n_bins: int = 10
    categorical_features: CategoricalFeatures = None

    def check_options(self) -> None:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        if self.binning not in BINNINGS:
            check_choice("binning", self.binning, BINNINGS)
        if self.binning in ("equal_width", "equal_frequency"):
            check_int("n_bins", self.n_bins, 2, MAX_BINS)

    def binned(self, problem: Problem) -> AbstractContextManager[BinnedFeatures]:
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

    def _rank(self, problem: Problem, n_wanted: int, options: object) -> Ranked:
        kind = QUOTIENT if self.criterion == "quotient" else DIFFERENCE
        with self.binned(problem) as features:
            search, terms = LazySearch(features, n_wanted, Rule(kind)), Terms(features.arrays)
            if problem.wishes is None:
                search.run(terms)
                ranking, scores = search.ranking, search.scores
            else:
                ranking, scores = _rank_units(search, terms, n_wanted, problem.wishes)
        return single_ranking(problem, ranking, scores, features.relevance)


def _rank_units(
    search: LazySearch, terms: Terms, n_wanted: int, wishes: Wishes
) -> tuple[np.ndarray, np.ndarray]:
    """Choose units by the sums of the criteria of their features; return these and their scores."""

    def gains_given(chosen: list[int]) -> np.ndarray:
        """Return the criterion of every feature, given those chosen; constant ones come last."""
        return np.maximum(search.scores_given(chosen, terms), _CONSTANT)

    chosen = choose_units(wishes, n_wanted, gains_given)
    return np.array(chosen.features, np.int64), np.array(chosen.gains)


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

    def _rank(self, problem: Problem, n_wanted: int, options: object) -> Ranked:
        with self.binned(problem) as features:

            def terms(last: int) -> Terms:
                """Return what the information of features and the one chosen last is counted of."""
                return Terms(features.arrays, features.merge(last))

            search = LazySearch(features, n_wanted, Rule(SUM)).run(terms)
        return single_ranking(problem, search.ranking, search.scores, features.relevance)
