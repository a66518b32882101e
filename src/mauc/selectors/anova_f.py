"""ANOVA F: one list, by the F statistic of the feature and the class."""

from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe


class AnovaF(SampleWeightMixin, ListSelector):
    r"""Rank features by the F statistic of a one-way analysis of variance.

    The scores are those of ``sklearn.feature_selection.f_classif``; besides, this one takes
    missing values and weights.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, best first; equal scores go by column.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        F of every feature.
    trace_ : SelectionTrace
        For each step the feature, its rank and its score.
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
    FisherScore : The same without the degrees of freedom.

    Notes
    -----
    With n known values of c classes, :math:`n_k` of class k with mean :math:`\mu_k` and variance
    :math:`\sigma_k^2` (over :math:`n_k`), and mean :math:`\mu` of all,

    .. math:: F = \frac{\sum_k n_k (\mu_k - \mu)^2 / (c - 1)}{\sum_k n_k \sigma_k^2 / (n - c)}

    A constant feature scores 0, the least there is, where f_classif gives NaN; one that is
    constant within every class but not over all scores inf; one with at most one known value a
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

    preset = Recipe("whole", "anova", "round_robin")

    def __init__(self, n_features_to_select=0.5, *, n_jobs=None, verbose=False):
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.verbose = verbose
