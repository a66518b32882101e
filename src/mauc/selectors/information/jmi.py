"""JMI: greedy, by what a feature tells about the class together with those selected."""

from joblib import effective_n_jobs

from mauc.binning.discretizer import BINNINGS, bin_columns
from mauc.problem.decomposition import Decomposition
from mauc.selectors.base import RankingSelector, check_choice
from mauc.selectors.information.jmi_search import jmi_ranking
from mauc.selectors.trace import walk_one_list


class JMI(RankingSelector):
    r"""Select features by joint mutual information.

    First the feature that tells most about the class; then, again and again, the one that tells
    most in pairs with the features selected so far. Unlike `MRMR` it sees features that tell
    something only together.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="three_states"
        How numeric features become discrete: at mean - sd and mean + sd; by the supervised MDL
        method; into `n_bins` of equal width or of equal frequency; or not at all, every value
        a state of its own.
    n_bins : int, default=10
        Bins of "equal_width" and "equal_frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype are
        nominal anyway. Each category is a state.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, in the order of selection; the first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Relevance I(f; y) of every feature, in nats.
    trace_ : SelectionTrace
        For each step the feature and its criterion at that step: I(f; y) at the first, the sum of
        the notes, in nats, at the others; -inf for constant features.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair;
        NaN for nominal ones.
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
    MRMR : Relevance less redundancy.

    Notes
    -----
    With S the features selected [1]_,

    .. math:: \arg\max_{f \notin S} \sum_{s \in S} I(f, s; y)

    Equal values go by column; constant features come last. A missing value is one more state.
    Every step adds one term to the sum of each feature that is left, by one joint count of the
    feature with the last selected one and the class.

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

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        binning="three_states",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _accepts(self):
        return {"accept_sparse": True, "accept_infinite": False, "accept_nominal": True}

    def _rank(self, problem, n_wanted):
        check_choice("binning", self.binning, BINNINGS)
        states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        found = jmi_ranking(
            states, n_states, problem.codes, problem.n_classes, n_wanted,
            n_threads=effective_n_jobs(self.n_jobs),
        )  # fmt: skip
        self.scores_ = found.relevance
        decomposition = Decomposition("whole", problem.n_classes)
        return decomposition, walk_one_list(found.ranking, found.scores)
