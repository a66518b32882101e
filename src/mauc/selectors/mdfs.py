"""MDFS: class pairs, AUC, a random schedule."""

from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe
from mauc.selectors.sketched import SketchMixin


class MDFS(SketchMixin, SampleWeightMixin, ListSelector):
    r"""MAUC Decomposition based Feature Selection.

    Every pair of classes ranks all features by their AUC on the samples of the two classes.
    Then pairs are drawn at random, and each draw selects the best feature of that pair, until
    there are enough. Every pair is drawn equally often, however hard it is.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    schedule : {"random", "round_robin", "rand_robin", "hardest", "round_robin_drop"}, \
            default="random"
        Which pair is drawn from next; "random" is the paper's. See `SubproblemSelector`.
    ties : {"index", "mauc"}, default="index"
        Order of features with equal AUC on a pair: by column, as the paper's results have it,
        or by their mean AUC over all pairs first, which is better where many AUCs are 1.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway. See the notes for their AUC.
    random_state : int, RandomState instance or None, default=None
        Draws of the pairs; give an int for a repeatable choice.
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
        For each step the feature, the class pair whose list it was drawn from, and its rank
        and AUC there.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair.
    error_bound_ : ndarray of shape (n_selected, n_pairs)
        Largest possible error of `pair_auc_`; only where it was sketched: after `partial_fit`,
        `fit_sketch`, or `fit` on a Dask data frame that is cheaper to read by rows.
    sketch_ : PairAUCSketch
        The sketch, of all features; only then.
    decomposition_ : Decomposition
        The class pairs.
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
    With folded AUC :math:`\max(A_{ij}, 1 - A_{ij})`, Eq. (13)-(14) of [1]_, this is its
    Algorithm 1. A drawn feature that is already selected is dropped and a new pair drawn.
    Missing values tie with every value. Memory is O(n_pairs * K), never
    O(n_pairs * n_features).

    The AUC of a nominal feature on classes i and j is leave-pair-out: with :math:`n_{iv}` rows of
    class i in category v and :math:`\pi_i = n_i / (n_i + n_j)`, a row of class i in category u
    scores :math:`(n_{iu} - 1 + \pi_i) / (n_{ju} + \pi_j)`, one of class j in category v
    :math:`(n_{iv} + \pi_i) / (n_{jv} - 1 + \pi_j)`, each without itself, and the AUC is the share
    of the pairs of rows in which the first scores higher, ties and rows of one category half. It is
    not folded; below 1/2 it counts as 1/2. Noise has 1/2 for any number of categories. Two
    categories have an order, and the plain AUC. Categories that are declared but do not occur are
    ignored.

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

    preset = Recipe("one-vs-one", "auc", "random")

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        schedule="random",
        ties="index",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.schedule = schedule
        self.ties = ties
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
