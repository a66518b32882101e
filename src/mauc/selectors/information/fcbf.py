"""FCBF: predominant features by symmetrical uncertainty, then those that they cover."""

from numbers import Integral, Real

from joblib import effective_n_jobs

from mauc.binning.discretizer import BINNINGS, bin_columns
from mauc.exceptions import MaucError
from mauc.problem.decomposition import Decomposition
from mauc.selectors.base import RankingSelector, check_choice
from mauc.selectors.information.fcbf_search import fcbf_ranking
from mauc.selectors.trace import walk_one_list


class FCBF(RankingSelector):
    r"""Select predominant features: a fast correlation-based filter.

    A feature is predominant if none of the better ones tells as much about it as it tells about
    the class. FCBF keeps these and so decides by itself how many they are; to get just them, take
    ``FCBF("all", max_rounds=1)``. So that any number can be selected, the filter is repeated on
    what it dropped.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    threshold : float, default=0.0
        In [0, 1]: features whose symmetrical uncertainty with the class is lower take no part in
        the rounds and come last.
    max_rounds : int, optional
        Rounds after which to stop. Features that no round kept are not selected then, so that
        fewer than `n_features_to_select` may be, but at least one.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}, \
            default="mdl"
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
        Selected columns by round, in a round by symmetrical uncertainty, equal ones by column. The
        first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of every feature and the class, in [0, 1].
    trace_ : SelectionTrace
        For each step the feature and its symmetrical uncertainty with the class.
    rounds_ : ndarray of shape (n_selected,)
        Round that kept each selected feature: 1 for the predominant ones, 2 for the predominant
        ones of the rest, and so on; 0 for features that no round looks at.
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
    SymmetricalUncertainty : The same without the look at redundancy.

    Notes
    -----
    With :math:`SU(a, b) = 2 I(a; b) / (H(a) + H(b))` a round goes through its features by
    descending SU(f, y) [1]_. It keeps the first, p, drops every later f with

    .. math:: SU(f, p) \ge SU(f, y),

    and goes on with the next that is left. The first round is FCBF; the features that a round
    drops are those of the next one. Then come features below the threshold by SU, and in any case
    last those of SU 0 by column: constant features and those that no cut divides. A missing
    value is one more state.

    References
    ----------
    .. [1] L. Yu, H. Liu, "Feature selection for high-dimensional data: a fast correlation-based
       filter solution", ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import FCBF
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FCBF("all").fit(X, y)
    >>> list(X.columns[selector.ranking_[:3]])
    ['flavanoids', 'od280/od315_of_diluted_wines', 'color_intensity']
    >>> selector.rounds_
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2])
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        threshold=0.0,
        max_rounds=None,
        binning="mdl",
        n_bins=10,
        categorical_features=None,
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.max_rounds = max_rounds
        self.binning = binning
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _accepts(self):
        return {"accept_sparse": True, "accept_infinite": False, "accept_nominal": True}

    def _rank(self, problem, n_wanted):
        check_choice("binning", self.binning, BINNINGS)
        threshold = self.threshold
        if (
            not isinstance(threshold, Real)
            or isinstance(threshold, bool)
            or not 0 <= threshold <= 1
        ):
            raise MaucError(f"threshold must be a number in [0, 1], got {threshold!r}.")
        max_rounds = self.max_rounds
        is_whole = isinstance(max_rounds, Integral) and not isinstance(max_rounds, bool)
        if max_rounds is not None and not (is_whole and max_rounds >= 1):
            raise MaucError(f"max_rounds must be None or an int of at least 1, got {max_rounds!r}.")
        states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        found = fcbf_ranking(
            states, n_states, problem.codes, problem.n_classes, n_wanted,
            threshold=float(threshold), max_rounds=max_rounds,
            n_threads=effective_n_jobs(self.n_jobs),
        )  # fmt: skip
        self.scores_ = found.relevance
        self.rounds_ = found.rounds
        decomposition = Decomposition("whole", problem.n_classes)
        return decomposition, walk_one_list(found.ranking, found.relevance[found.ranking])
