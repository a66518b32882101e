"""SU: one list, by symmetrical uncertainty of the discretised feature and the class."""

from mauc.selectors.lists import ListSelector, Recipe


class SymmetricalUncertainty(ListSelector):
    r"""Rank features by their symmetrical uncertainty with the class.

    Numeric features are discretised first by the supervised MDL method of Fayyad and Irani, as
    WEKA's SymmetricalUncertAttributeEval does; its scores and these agree to 1e-9.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of
        strings in a data frame are nominal anyway. Each category is a bin.
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
        Symmetrical uncertainty of every feature, in [0, 1].
    trace_ : SelectionTrace
        For each step the feature, its rank and its score.
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

    Notes
    -----
    :math:`\mathrm{SU} = 2 I(f; y) / (H(f) + H(y))` (Eq. 3-7 of [1]_). Missing values are shared
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

    preset = Recipe("whole", "su", "round_robin")

    def __init__(
        self, n_features_to_select=0.5, *, categorical_features=None, n_jobs=None, verbose=False
    ):
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
