"""SpreadFx: every class against the rest ranks the features, and the classes take turns."""

from mauc.selectors.lists import ListSelector, Recipe


class SpreadFx(ListSelector):
    """Spread the selection over the classes.

    Every class against all others ranks the features by a relevance, chi-square by default;
    then the classes take turns and each adds its best feature that is not selected yet. The paper
    calls it SCHI with ``relevance="chi2"`` and SSU with ``relevance="su"``; its published values
    are closer to ``schedule="round_robin_drop"``.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    relevance : {"chi2", "su", "ig", "auc", "fsdd", "fisher", "anova", "fast"}, default="chi2"
        What ranks features on a sub-problem. The first three discretise every feature anew
        for each class, by the MDL method of Fayyad and Irani.
    schedule : {"round_robin", "rand_robin", "random", "hardest", "round_robin_drop"}, \
            default="round_robin"
        Which class is drawn from next: in label order, or drawn by class frequency; see
        `SubproblemSelector` for the others. With "round_robin_drop" a class whose next feature is
        already selected adds none in that turn, so classes that share their best features
        contribute fewer.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of
        strings in a data frame are nominal anyway. For the relevances "chi2", "su" and "ig", whose
        bins are the categories, and "auc", see `MDFS`.
    random_state : int, RandomState instance or None, default=None
        Draws of the schedules "rand_robin" and "random".
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
        Mean relevance of every feature over the classes.
    trace_ : SelectionTrace
        For each step the feature, the class whose list it was drawn from, and its rank and
        relevance there.
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

    preset = Recipe("one-vs-rest", "chi2", "round_robin")

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        relevance="chi2",
        schedule="round_robin",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.relevance = relevance
        self.schedule = schedule
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
