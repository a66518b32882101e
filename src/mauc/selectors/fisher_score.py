"""Fisher score: one list, by the scatter between classes over that within them."""

from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe


class FisherScore(SampleWeightMixin, ListSelector):
    r"""Rank features by their Fisher score: how far class means lie apart for their spread.

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
        Fisher score of every feature.
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

    preset = Recipe("whole", "fisher", "round_robin")

    def __init__(self, n_features_to_select=0.5, *, n_jobs=None, verbose=False):
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.verbose = verbose
