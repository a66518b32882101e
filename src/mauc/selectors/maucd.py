"""MAUCD: one list, by the mean AUC over the class pairs."""

from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe
from mauc.selectors.sketched import SketchMixin


class MAUCD(SketchMixin, SampleWeightMixin, ListSelector):
    """Rank features directly by their MAUC.

    The MAUC of a feature is the mean of its folded AUC over all pairs of classes. Features
    that serve easy pairs win, and hard pairs may get none ("siren pitfall"): the baseline
    that MDFS improves on.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway. Their AUC is that of `MDFS`.
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
        MAUC of every feature.
    trace_ : SelectionTrace
        For each step the feature, its rank and its MAUC.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair.
    error_bound_ : ndarray of shape (n_selected, n_pairs)
        Largest possible error of `pair_auc_`; only where it was sketched: after `partial_fit`,
        `fit_sketch`, or `fit` on a Dask data frame that is cheaper to read by rows.
    sketch_ : PairAUCSketch
        The sketch, of all features; only then.
    decomposition_ : Decomposition
        The one list.
    subproblem_names_ : list of str
        Its name.
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

    preset = Recipe("whole", "auc", "round_robin")

    def __init__(
        self, n_features_to_select=0.5, *, categorical_features=None, n_jobs=None, verbose=False
    ):
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
