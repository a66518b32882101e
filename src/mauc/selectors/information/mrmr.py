"""mRMR: greedy, by relevance less redundancy with what is selected."""

from joblib import effective_n_jobs

from mauc.binning.discretizer import BINNINGS, bin_columns
from mauc.problem.decomposition import Decomposition
from mauc.selectors.base import RankingSelector, check_choice
from mauc.selectors.information.mrmr_search import mrmr_ranking
from mauc.selectors.trace import walk_one_list

CRITERIA = ("difference", "quotient")


class MRMR(RankingSelector):
    r"""Select features of minimal redundancy and maximal relevance.

    First the feature that tells most about the class; then, again and again, the one whose
    information about the class exceeds most its mean information about the features selected
    so far.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    criterion : {"difference", "quotient"}, default="difference"
        Relevance less redundancy (MID), or their quotient (MIQ).
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="three_states"
        How numeric features become discrete: at mean - sd and mean + sd, the choice of Peng
        et al. and of the paper; by the supervised MDL method; into `n_bins` of equal width
        or of equal frequency; or not at all, every value a state of its own.
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
        For each step the feature and its criterion at that step.
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

    Notes
    -----
    With S the features selected (Eq. 12 of [1]_),

    .. math:: \arg\max_{f \notin S} \Big[ I(f; y) - \frac{1}{|S|} \sum_{s \in S} I(f; s) \Big]

    Equal values go by column; constant features come last. A missing value is one more state.
    Mutual information is computed only where it can change the choice of a step.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy", IEEE TPAMI 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MRMR
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(X.columns[MRMR(3).fit(X, y).ranking_])
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        criterion="difference",
        binning="three_states",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _accepts(self):
        return {"accept_sparse": True, "accept_infinite": False, "accept_nominal": True}

    def _rank(self, problem, n_wanted):
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("binning", self.binning, BINNINGS)
        states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        found = mrmr_ranking(
            states, n_states, problem.codes, problem.n_classes, n_wanted,
            quotient=self.criterion == "quotient", n_threads=effective_n_jobs(self.n_jobs),
        )  # fmt: skip
        self.scores_ = found.relevance
        decomposition = Decomposition("whole", problem.n_classes)
        return decomposition, walk_one_list(found.ranking, found.scores)
