"""The free combination: a decomposition, a relevance and a schedule make a selector."""

from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe


class SubproblemSelector(SampleWeightMixin, ListSelector):
    """Select features by ranking them on sub-problems and drawing from the lists.

    The problem is decomposed into sub-problems, a relevance ranks the features on each, and a
    schedule decides which list is drawn from next. MDFS, MAUCD, SpreadFx and the filters that
    rank by one list are such combinations.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    decomposition : {"one-vs-one", "one-vs-rest", "whole"}, default="one-vs-one"
        The sub-problems: every pair of classes, every class against the others, or the whole
        problem (a single list).
    relevance : {"auc", "chi2", "su", "ig", "fsdd", "fisher", "anova", "fast"}, default="auc"
        What ranks features on a sub-problem: the AUC folded around 1/2 (on the whole problem
        its mean over the class pairs); chi-square, symmetrical uncertainty or information
        gain of the MDL-discretised feature; the distance discriminant FSDD; the Fisher score;
        F of the analysis of variance; or the AUC of bins of equal counts (FAST).
    schedule : {"random", "round_robin", "rand_robin", "hardest", "round_robin_drop"}, \
            default="random"
        Which list is drawn from next: drawn uniformly (a drawn feature that is already selected is
        dropped); in turn, pairs in tournament order, each adding its best new feature; drawn by
        the share of the samples; that of the sub-problem which the selected features separate
        least; or in turn, dropping a feature that is already selected.
    ties : {"index", "mauc"}, default="index"
        Order of features with equal relevance: by column, or by their mean relevance over all
        sub-problems first.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names, for the relevances "auc" (see `MDFS`), "chi2",
        "su" and "ig"; columns of a categorical dtype or of strings in a data frame are nominal
        anyway.
    random_state : int, RandomState instance or None, default=None
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
        For each step the feature, the sub-problem whose list it was drawn from, and its rank
        and relevance there.
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
    """

    preset = Recipe("one-vs-one", "auc", "random")

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        decomposition="one-vs-one",
        relevance="auc",
        schedule="random",
        ties="index",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.decomposition = decomposition
        self.relevance = relevance
        self.schedule = schedule
        self.ties = ties
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
