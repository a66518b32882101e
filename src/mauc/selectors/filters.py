"""The selectors that are a recipe: sub-problems, a relevance and a schedule.

MDFS, SpreadFx and SubproblemSelector draw from one ranking list per sub-problem. The others rank
all features once, by a score on the whole problem.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mauc.checks import check_choice, check_real
from mauc.data.arguments import CategoricalFeatures, PairWeight, Seed
from mauc.data.problem import DecompositionName, MissingRule, Problem
from mauc.data.wishes import WishMixin
from mauc.exceptions import ConstantInputWarning, warn_user
from mauc.registry import RelevanceName, ScoreFunction
from mauc.search.lists import ScheduleName, TieRule
from mauc.search.selection import Ranked
from mauc.selectors.list_selector import ListSelector, Recipe, check_flagged
from mauc.selectors.sketched import SketchMixin


@dataclass(kw_only=True, eq=False, repr=False)
class MDFS(SketchMixin, WishMixin, ListSelector):
    r"""MAUC Decomposition based Feature Selection.

    Every pair of classes ranks all features by their AUC on the samples of the two classes.
    Then pairs are drawn at random, and each draw selects the best feature of that pair, until
    there are enough. Every pair is drawn equally often, however hard it is.

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
    schedule : {"random", "round_robin", "rand_robin", "hardest"}, default="random"
        Which pair is drawn from next; "random" is the paper's. See `SubproblemSelector`.
    ties : {"index", "mauc"}, default="index"
        Order of features with equal AUC on a pair: by column, as the paper's results have it,
        or by their mean AUC over all pairs first, which is better where many AUCs are 1.
    missing : {"tie", "side"}, default="tie"
        What a missing number is to the AUC: tied with every value, or below or above all of them,
        whichever separates the two classes better, as trees do; see docs/methods/selectors.md.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        See the notes for their AUC.
    pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
        What each pair of classes counts, such as the cost of confusing the two: ``{("a", "b"): 5}``
        (others count 1), a symmetric table, or "prior", the product of the class frequencies. A
        pair of weight 0 does not count, and its features are not sought.
        Pairs are drawn in proportion.
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
        The gain of a feature on a pair is its AUC above 1/2.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Pass an int or a SeedSequence for reproducible results; the others are advanced.
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
        For each step the feature, the list that it was drawn from, and its rank and score there.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    error_bound_ : ndarray of shape (n_selected, n_pairs)
        Largest possible error of `pair_auc_`; only after `partial_fit` or `fit_sketch`.
    sketch_ : PairAUCSketch
        The sketch, of all features; only then.
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
    MAUCD : Ranks by the mean over the pairs, which easy pairs dominate.
    SubproblemSelector : Other decompositions.

    Notes
    -----
    With values x of a feature and classes i, j (Eq. 13-14 of [1]_),

    .. math:: A_{ij} = \frac{2\,\#(x_i > x_j) + \#(x_i = x_j)}{2\,n_i n_j},

    folded to :math:`\max(A_{ij}, 1 - A_{ij})`, as a feature that ranks class j above class i is as
    useful. Drawing follows Algorithm 1 of [1]_: a drawn feature that is already selected is dropped
    and a new pair drawn. Memory is O(n_pairs * K), never O(n_pairs * n_features).

    The AUC of a nominal feature is leave-pair-out, so that noise has 1/2 for any number of
    categories, and not folded; docs/methods/selectors.md has the formula. A missing value is a
    category as others are.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = MDFS(4, random_state=0).set_output(transform="pandas").fit(X, y)
    >>> list(X.columns[selector.ranking_])
    ['proline', 'flavanoids', 'alcohol', 'od280/od315_of_diluted_wines']
    >>> selector.transform(X).shape
    (178, 4)
    >>> step = selector.trace_[0]
    >>> step.feature_name, step.subproblem_name, round(step.score, 3)
    ('proline', '0 vs 1', 0.987)
    """

    preset: ClassVar[Recipe] = Recipe("one-vs-one", "auc", "random")
    changes: ClassVar[tuple[str, ...]] = ("schedule", "ties", "random_state")

    schedule: ScheduleName = "random"
    ties: TieRule = "index"
    missing: MissingRule = "tie"
    categorical_features: CategoricalFeatures = None
    pair_weight: PairWeight = None
    random_state: Seed = None


@dataclass(kw_only=True, eq=False, repr=False)
class SubproblemSelector(ListSelector):
    """Select features by ranking them on sub-problems and drawing from the lists.

    The problem is decomposed into sub-problems, a relevance ranks the features on each, and a
    schedule decides which list is drawn from next. MDFS, MAUCD, SpreadFx and the filters that
    rank by one list are such combinations.

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
    decomposition : {"one-vs-one", "one-vs-rest", "whole"}, default="one-vs-one"
        The sub-problems: every pair of classes, every class against the others, or the whole
        problem (a single list).
    relevance : str or callable, default="auc"
        What ranks features on a sub-problem: "auc", the AUC folded around 1/2 (on the whole
        problem its mean over the class pairs); "chi2", "su" or "ig", chi-square, symmetrical
        uncertainty or information gain of the MDL-discretised feature; "fsdd", the distance
        discriminant; "fisher", the Fisher score; "anova", F of the analysis of variance;
        or a function of your own, such as ``sklearn.feature_selection.f_classif``, see the notes.
    schedule : {"random", "round_robin", "rand_robin", "hardest"}, default="random"
        Which list is drawn from next: drawn uniformly; in turn, pairs in tournament order; drawn
        by the share of the samples; or that of the sub-problem which the selected features
        separate least. The list gives its next feature; one that is already selected is dropped.
    ties : {"index", "mauc"}, default="index"
        Order of features with equal relevance: by column, or by their mean relevance over all
        sub-problems first.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        For the relevances "auc" (see `MDFS`), "chi2", "su" and "ig".
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Pass an int or a SeedSequence for reproducible results; the others are advanced.
        Draws of the schedules "random" and "rand_robin".
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
        Mean relevance of every feature over the sub-problems.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    MDFS : Pairs, AUC, random schedule.
    MAUCD : One list by mean AUC.

    Notes
    -----
    A function as `relevance` is called as ``score_func`` of scikit-learn's ``SelectKBest`` is:
    ``function(X, y)`` returns the scores of the columns of X, the larger the better, or a tuple of
    scores and p-values. It gets blocks of columns and the samples of one sub-problem: X, float64 of
    shape (n_samples, n_columns), is read-only and has no missing values; y has the labels, or of
    "one-vs-rest" True for the class and False for the others. It must score each column by itself,
    as blocks depend on the size of the data, and may be called in several threads. A score of NaN
    counts as the worst. Weights are refused unless it has a parameter ``sample_weight``, and so are
    missing values, infinite ones and nominal columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import SubproblemSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SubproblemSelector(2, decomposition="one-vs-rest", schedule="round_robin")
    >>> selector.fit(X, y).ranking_
    array([2, 1])
    >>> [step.subproblem_name for step in selector.trace_]
    ['0 vs rest', '1 vs rest']

    A filter of your own is a function:

    >>> import numpy as np
    >>> def range_of_medians(X, y):
    ...     medians = [np.median(X[y == label], axis=0) for label in np.unique(y)]
    ...     return np.ptp(medians, axis=0) / X.std(axis=0)
    >>> own = SubproblemSelector(2, decomposition="whole", relevance=range_of_medians)
    >>> own.fit(X, y).ranking_
    array([3, 2])
    """

    preset: ClassVar[Recipe] = Recipe("one-vs-one", "auc", "random")
    changes: ClassVar[tuple[str, ...]] = (
        "decomposition",
        "relevance",
        "schedule",
        "ties",
        "random_state",
    )

    decomposition: DecompositionName = "one-vs-one"
    relevance: RelevanceName | ScoreFunction = "auc"
    schedule: ScheduleName = "random"
    ties: TieRule = "index"
    categorical_features: CategoricalFeatures = None
    random_state: Seed = None

    def check_options(self) -> Recipe:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_flagged(self.relevance, self.categorical_features)
        return super().check_options()


@dataclass(kw_only=True, eq=False, repr=False)
class SpreadFx(ListSelector):
    """Spread the selection over the classes.

    Every class against all others ranks the features by a relevance, chi-square by default;
    then the classes take turns. In its turn a class gives its next feature, which is dropped if it
    is already selected, so that classes which share their best features contribute fewer. The paper
    calls it SCHI with ``relevance="chi2"`` and SSU with ``relevance="su"``.

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
    relevance : str or callable, default="chi2"
        What ranks features on a sub-problem, as in `SubproblemSelector`; "chi2", "su" and "ig"
        discretise every feature anew for each class, by the MDL method of Fayyad and Irani.
    schedule : {"round_robin", "rand_robin", "random", "hardest"}, default="round_robin"
        Which class is drawn from next: in label order, or drawn by class frequency; see
        `SubproblemSelector` for the others.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        For the relevances "chi2", "su" and "ig", whose bins are the categories, and "auc", see
        `MDFS`.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Pass an int or a SeedSequence for reproducible results; the others are advanced.
        Draws of the schedules "rand_robin" and "random".
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
        Mean relevance of every feature over the classes.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    MDFS : Ranks features on every pair of classes.

    References
    ----------
    .. [1] G. Forman, "A pitfall and solution in multi-class feature selection for text
       classification", ICML 2004.
    .. [2] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import SpreadFx
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = SpreadFx(3, relevance="su").fit(X, y)
    >>> [step.subproblem_name for step in selector.trace_]
    ['0 vs rest', '1 vs rest', '2 vs rest']
    """

    preset: ClassVar[Recipe] = Recipe("one-vs-rest", "chi2", "round_robin")
    changes: ClassVar[tuple[str, ...]] = ("relevance", "schedule", "random_state")

    relevance: RelevanceName | ScoreFunction = "chi2"
    schedule: ScheduleName = "round_robin"
    categorical_features: CategoricalFeatures = None
    random_state: Seed = None

    def check_options(self) -> Recipe:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_flagged(self.relevance, self.categorical_features)
        return super().check_options()


@dataclass(kw_only=True, eq=False, repr=False)
class _NominalFilter(ListSelector):
    """Base of the filters that take nominal columns and rank by one list."""

    categorical_features: CategoricalFeatures = None


@dataclass(kw_only=True, eq=False, repr=False)
class MAUCD(SketchMixin, WishMixin, _NominalFilter):
    """Rank features directly by their MAUC.

    The MAUC of a feature is the mean of its folded AUC over all pairs of classes. Features
    that serve easy pairs win, and hard pairs may get none ("siren pitfall"): the baseline
    that MDFS improves on.

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
    missing : {"tie", "side"}, default="tie"
        What a missing number is to the AUC: tied with every value, or below or above all of them,
        whichever separates the two classes better, as trees do; see docs/methods/selectors.md.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Their AUC is that of `MDFS`.
    pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
        What each pair of classes counts, such as the cost of confusing the two: ``{("a", "b"): 5}``
        (others count 1), a symmetric table, or "prior", the product of the class frequencies. A
        pair of weight 0 does not count, and its features are not sought.
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
        The gain of a feature is its MAUC above 1/2.
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
        MAUC of every feature; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    error_bound_ : ndarray of shape (n_selected, n_pairs)
        Largest possible error of `pair_auc_`; only after `partial_fit` or `fit_sketch`.
    sketch_ : PairAUCSketch
        The sketch, of all features; only then.
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
    MDFS : Ranks features on every pair of classes.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems",
       section 4.2 and Eq. (15).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MAUCD
    >>> X, y = load_iris(return_X_y=True)
    >>> MAUCD(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "auc", "round_robin")

    missing: MissingRule = "tie"
    pair_weight: PairWeight = None


class ChiSquare(_NominalFilter):
    r"""Rank features by their chi-square statistic with the class.

    Numeric features are discretised first by the supervised MDL method of Fayyad and Irani, as
    WEKA's ChiSquaredAttributeEval does; its scores and these agree to 1e-9.

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
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a bin.
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
        Chi-square of every feature; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    With O the table of bins and classes and E its expectation (Eq. 1-2 of [1]_),
    :math:`\mathrm{CHI} = \sum_{jk} (O_{jk} - E_{jk})^2 / E_{jk}`. Missing numbers are shared out
    over the bins in proportion to the known ones. A feature without an accepted cut scores 0.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued
       attributes for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import ChiSquare
    >>> X, y = load_iris(return_X_y=True)
    >>> ChiSquare(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "chi2", "round_robin")


class SymmetricalUncertainty(_NominalFilter):
    r"""Rank features by their symmetrical uncertainty with the class.

    Numeric features are discretised first by the supervised MDL method of Fayyad and Irani, as
    WEKA's SymmetricalUncertAttributeEval does; its scores and these agree to 1e-9.

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
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a bin.
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
        Symmetrical uncertainty of every feature, in [0, 1]; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    :math:`\mathrm{SU} = 2 I(f; y) / (H(f) + H(y))` (Eq. 3-7 of [1]_). Missing numbers are shared
    out over the bins in proportion to the known ones. A feature without an accepted cut
    scores 0.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import SymmetricalUncertainty
    >>> X, y = load_iris(return_X_y=True)
    >>> SymmetricalUncertainty(2).fit(X, y).ranking_
    array([3, 2])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "su", "round_robin")


class InformationGain(_NominalFilter):
    r"""Rank features by their information gain about the class.

    Numeric features are discretised first by the supervised MDL method of Fayyad and Irani, as
    WEKA's InfoGainAttributeEval does; its scores and these agree to 1e-9.

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
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a bin.
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
        Information gain of every feature, in bits; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    SymmetricalUncertainty : The gain over the mean entropy of feature and class.

    Notes
    -----
    :math:`\mathrm{IG} = H(y) - H(y | f)`. Missing numbers are shared out over the bins in
    proportion to the known ones. A feature without an accepted cut scores 0.

    References
    ----------
    .. [1] J. R. Quinlan, "Induction of decision trees", Machine Learning 1, 1986.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import InformationGain
    >>> X, y = load_iris(return_X_y=True)
    >>> InformationGain(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "ig", "round_robin")


@dataclass(kw_only=True, eq=False, repr=False)
class FSDD(ListSelector):
    r"""Rank features by the distance discriminant: spread between classes less that within.

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
    beta : float, default=2.0
        Weight of the spread within classes.
    constants : {"last", "first"}, default="last"
        Where constant features rank: they tell nothing, so last. The published values on MNIST
        are those of a sort that their 0/0 misled, see reproduction/paper/fsdd_mnist.md.
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
        Distance discriminant of every feature; -inf (inf with ``constants="first"``) for one that
        is constant or has fewer than two known values.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    With :math:`n_k` samples of class k, mean :math:`\bar f_k` and variance :math:`s_k^2` (over
    :math:`n_k - 1`, 0 for a single sample), and mean :math:`\bar f` and variance :math:`s^2`
    (over n - 1) of all (Eq. 8-11 of [1]_),

    .. math:: \frac{1}{s^2} \Big[ \sum_k \frac{n_k}{n} (\bar f_k - \bar f)^2
              - \beta \sum_k \frac{n_k}{n} s_k^2 \Big]

    Missing values are left out of their feature; weights are frequencies: weight 2 is the sample
    given twice.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import FSDD
    >>> X, y = load_iris(return_X_y=True)
    >>> FSDD(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "fsdd", "round_robin")
    relevance_options: ClassVar[tuple[str, ...]] = ("beta", "constants")
    beta: float = 2.0
    constants: Literal["last", "first"] = "last"

    def check_options(self) -> Recipe:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_real("beta", self.beta)
        check_choice("constants", self.constants, ("last", "first"))
        return super().check_options()

    def _rank(self, problem: Problem, n_wanted: int, recipe: Recipe) -> Ranked:
        ranked = super()._rank(problem, n_wanted, recipe)
        n_constant = int(np.isinf(ranked.selection.scores).sum())
        if n_constant:
            why = "there are no others left" if self.constants == "last" else "they rank first"
            warn_user(
                f"{n_constant} of the {n_wanted} selected features are constant: {why}.",
                ConstantInputWarning,
            )
        return ranked


class FisherScore(ListSelector):
    r"""Rank features by their Fisher score: how far class means lie apart for their spread.

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
        Fisher score of every feature; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    AnovaF : The same times (n - c) / (c - 1).
    FSDD : Difference in place of quotient.

    Notes
    -----
    With :math:`n_k` samples of class k, mean :math:`\mu_k` and variance :math:`\sigma_k^2` (over
    :math:`n_k`), and mean :math:`\mu` of all [1]_,

    .. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k \sigma_k^2}

    A constant feature scores 0, the least there is; one that is constant within every class but
    not over all scores inf. Missing values are left out of their feature; weights are
    frequencies.

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd ed., 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> FisherScore(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "fisher", "round_robin")


class AnovaF(ListSelector):
    r"""Rank features by the F statistic of a one-way analysis of variance.

    The scores are those of ``sklearn.feature_selection.f_classif``; besides, this one takes
    missing values and weights.

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
        F of every feature; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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
    FisherScore : The same without the degrees of freedom.

    Notes
    -----
    With n known values of c classes, :math:`n_k` of class k with mean :math:`\mu_k` and variance
    :math:`\sigma_k^2` (over :math:`n_k`), and mean :math:`\mu` of all,

    .. math:: F = \frac{\sum_k n_k (\mu_k - \mu)^2 / (c - 1)}{\sum_k n_k \sigma_k^2 / (n - c)}

    A constant feature scores 0, the least there is, where f_classif gives NaN; one that is
    constant within every class but not over all scores inf; one with at most one known value per
    class 0. Missing values are left out of their feature, and so are classes without any known
    value; weights are frequencies.

    References
    ----------
    .. [1] R. A. Fisher, "Statistical Methods for Research Workers", 1925.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import AnovaF
    >>> X, y = load_iris(return_X_y=True)
    >>> AnovaF(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset: ClassVar[Recipe] = Recipe("whole", "anova", "round_robin")
