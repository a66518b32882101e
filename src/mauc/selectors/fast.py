"""FAST: one list, by the area under a ROC curve of few thresholds."""

from mauc.checks import check_int
from mauc.selectors.lists import ListSelector, Recipe


class FAST(ListSelector):
    r"""Rank features by sliding thresholds: the area under a ROC curve of few points.

    Feature assessment by sliding thresholds is defined for two classes; for more, its area is
    averaged over all class pairs.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    n_bins : int, default=10
        Bins, each of which gives a threshold.
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
        Mean area of every feature over the class pairs, in [1/2, 1].
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
    MAUCD : The same with a threshold at every value.

    Notes
    -----
    The n samples of a pair in ascending order are cut into bins that end at round(b n / n_bins),
    so that each holds equally many; the mean of each bin is a threshold above which a sample is
    called positive [1]_. The area under the points (false positives, true positives) of all
    thresholds and the corners is taken by trapezoids and folded around 1/2. It is the AUC of the
    feature cut at the thresholds, so with many bins it comes near that of the feature.

    A value that equals a threshold up to rounding (4 units in the last place of double precision,
    and one more per sample of the bin) is not above it. Columns in other units, such as k and
    k / 10, therefore score the same. Whole numbers are compared exactly.

    A constant feature scores 1/2, the least there is. A missing value ties with every value.

    References
    ----------
    .. [1] X. Chen, M. Wasikowski, "FAST: a ROC-based feature selection metric for small samples
       and imbalanced data classification problems", KDD 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import FAST
    >>> X, y = load_iris(return_X_y=True)
    >>> FAST(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset = Recipe("whole", "fast", "round_robin")
    relevance_options = ("n_bins",)

    def __init__(self, n_features_to_select=0.5, *, n_bins=10, n_jobs=None, verbose=False):
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_int("n_bins", self.n_bins, 1)
        return super().check_options()
