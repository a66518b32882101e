"""GreedyMAUC: greedy, by what a feature adds to the separation of all class pairs."""

from typing import Any, NamedTuple

import numpy as np

from mauc.checks import check_choice, check_int, check_real
from mauc.data.decomposition import Decomposition
from mauc.exceptions import MaucError
from mauc.memory import check_memory
from mauc.selectors.base import Ranked, RankingSelector, feature_names
from mauc.selectors.greedy_mauc.effects import measure
from mauc.selectors.greedy_mauc.interactions import MAX_PAIRS, rank_with_interactions
from mauc.selectors.greedy_mauc.on_cluster import measure_on_cluster, rank_on_cluster
from mauc.selectors.greedy_mauc.prediction import AlternativesMixin, Exchanges, Prediction
from mauc.selectors.greedy_mauc.prior import check_prior, resolve_prior, tree_prior
from mauc.selectors.greedy_mauc.search import estimate_shrinkage, greedy_ranking
from mauc.selectors.pair_auc import room_for_pair_auc
from mauc.selectors.trace import Selection

PREDICTED_SLACK = 0.0005  # of MAUC that "predicted" gives away
MAX_PREDICTED = 100  # features that "predicted" looks at
_SMALL_BYTES = 2**28  # of memory, that need not be asked for


class _Options(NamedTuple):
    shrinkage: float | None  # None: from the data
    alpha: float
    noise_correction: float
    max_samples: int | None
    prior: Any
    interactions: bool


class GreedyMAUC(AlternativesMixin, RankingSelector):
    r"""Select features that together separate every pair of classes.

    Each step takes the feature that lowers most a bound on the mean error over the class
    pairs, given the features chosen so far. A pair that is well separated already has
    little weight, and a feature that repeats a chosen one adds nothing.

    Parameters
    ----------
    n_features_to_select : int, float, "all", "auto" or "predicted", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`. "predicted"
        needs no cross-validation: the fewest features whose predicted MAUC is within 0.0005 of
        the highest of up to 100 features.
    shrinkage : float or "auto", default="auto"
        In [0, 1]: how much of the correlation between features is not trusted. 0 trusts the
        sample, 1 takes all features as independent given the class. "auto" estimates it from
        the number of samples and from how much the correlations differ between the classes.
    alpha : float, default=1.0
        Positive: how fast the error of a pair falls with its separation. Small values seek a
        good mean over the pairs, large values the hardest pairs.
    noise_correction : float, default=1.0
        How much effects are made smaller for the noise in them, see the notes; 0 takes them as
        they are, those of small classes, too. It matters for small classes and for weak features.
    max_samples : int or None, default=2048
        Correlations are measured on at most so many samples, every class with its share; None
        takes all. Which ones is decided by a hash of the ranks of their values, so the order of
        the rows does not matter. AUCs and ranks are always of all samples.
    prior : None, array-like, Series, dict, "extra_trees" or "auto", default="auto"
        What is known of the features beforehand: a weight > 0 per feature, in the order of the
        columns or by name (a Series or dict; features that it does not name weigh 1), that its
        gain is multiplied by, see the notes.
        "extra_trees" makes the weights of the importances of 200 extremely randomised trees.
        "auto" does so where samples are few: up to 500, fewer than two per feature, and at most
        2**28 values in all. None: all features weigh the same.
    interactions : bool, default=False
        Whether to look for pairs of features that act together, such as two whose signs agree in
        one class and not in the other while neither tells anything alone. Both are then chosen one
        after the other, see the notes. It is off because it takes longer and real data seldom gain
        by it (docs/beyond/greedy_interactions.md).
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
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
        What each feature gains at the first step, when it stands alone; in [0, 1].
    trace_ : SelectionTrace
        For each step the feature, its gain (the part of the error bound that it takes away, in
        [0, 1], not weighted by a prior), the class pair whose error falls most, and the place of
        the feature among those left by what they add to that pair; its frame has the predicted
        MAUC, too.
    predicted_mauc_ : ndarray of shape (n_selected,)
        MAUC to expect, on new samples, of a linear discriminant of the features so far, see the
        notes. It is computed for 1 to 8 features, then for each size a quarter above the last,
        up to 512; other sizes have the value of the size below.
    shrinkage_ : float
        The shrinkage used.
    prior_ : ndarray of shape (n_features,) or None
        The weights that gains were multiplied by, the largest of them 1; None if there were none.
    interactions_ : Interactions or None
        Pairs of features whose correlation differs between the classes, at most 60, with p-values
        and the step from which on their product counts; iterating gives tuples, `to_frame` a data
        frame. None without `interactions`.
    separations_ : ndarray of shape (n_pairs,)
        Squared separation :math:`D_p^2` of every class pair by all selected features, and their
        products, if there are any.
    alternatives_ : Alternatives
        For each selected feature up to 5 others that could take its place at a loss of at most
        0.001 of the mean of :math:`\Phi(D_p / \sqrt 2)` over the pairs and take over half or more
        of what it adds, the nearest first. It prints as one line per feature, ``to_frame()`` has
        the losses. Found when it is first asked for. With `interactions`, products are left out,
        and features of a product that counts have no alternatives.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair.
    decomposition_ : Decomposition
        The sub-problems: the class pairs.
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
    The effect of feature f on pair p = (i, j) is the distance between two normal classes of unit
    variance that gives its AUC,

    .. math:: d_p(f) = \sqrt 2\, \Phi^{-1}(A_{ij}(f)),

    with the AUC clipped to [0.0001, 0.9999]. Ties make it too small: for a binary feature with
    rates 0.2 and 0 it is 0.36, where the means differ by 0.71 standard deviations. Small classes
    make it rough, and equal for all features that separate the samples without error. The more ties
    a feature has and the smaller the classes are, the more its effect is the standardised
    difference g of its normal scores,

    .. math:: g_p(f) = \frac{m_i - m_j}{\sqrt{(Q_i + Q_j + 40 v) / (n_i + n_j + 38)}}, \qquad
        d_p(f) = (1 - \omega) \sqrt 2\, \Phi^{-1}(A_{ij}(f)) + \omega\, g_p(f),

    where :math:`m_k` is the mean score of the :math:`n_k` samples of class k, :math:`Q_k` the sum
    of the squared distances from it, :math:`v = \sum_k Q_k / (n - c)` the variance within the c
    classes, g is clipped to [-5.26, 5.26], and :math:`1 - \omega = (1 - w)(1 - u)` with

    .. math:: w = \min\Big(1, \max\Big(0, \frac{t - 0.1}{0.4}\Big)\Big) \frac{h}{h + 30}, \qquad
        u = \frac12 \max\Big(0, 1 - \frac{h}{100}\Big), \qquad
        h = \frac{2}{1/n_i + 1/n_j},

    with t the share of tied pairs of samples: :math:`\sum_u n_u^2 / n^2` if the value u occurs
    :math:`n_u` times, and the pairs with a missing value beside. Means and sums are of all samples,
    whatever `max_samples`. Up to t = 0.1 and from 100 samples a class on, nothing changes. Without
    a noise correction, u is 0.

    What chance alone would give is taken off: d is multiplied by
    :math:`\max(0, 1 - \kappa s^2 / d^2)`, with :math:`\kappa` the noise correction and
    :math:`s^2 = (1/n_i + 1/n_j)(1 + \min(d^2, 11)/8) + 0.05` the variance of d and what the
    model is wrong by (the positive-part rule of James and Stein). R holds the correlations of
    the normal scores of the features within the classes, off the diagonal times
    (1 - shrinkage). Under a normal model with common covariance the best linear score of the
    set S separates the pair by

    .. math:: D_p^2(S) = d_p(S)^T R_{SS}^{-1} d_p(S),

    and its error is bounded by :math:`\exp(-D_p^2 / 8)` (Chernoff). Each step takes

    .. math:: \arg\min_{f \notin S} \sum_p \exp(-\alpha D_p^2(S \cup \{f\}) / 8),

    where :math:`D_p^2(S \cup \{f\}) = D_p^2(S) + d_p(f|S)^2 / v(f|S)` with effects and variances
    given S kept up to date by one row of the Cholesky factor per step; nothing is inverted. A
    variance below 0.001 is taken as 0.001.
    Equal values go by column; constant features come last.

    With a prior of weights :math:`b_f`, divided by the largest, a step takes the feature of largest
    weighted gain,

    .. math:: \arg\max_{f \notin S}\; b_f \sum_p w_p
        \big(1 - \exp(-\alpha\, d_p(f|S)^2 / 8 v(f|S))\big), \qquad
        w_p \propto \exp(-\alpha D_p^2(S) / 8),

    which is the rule above where all weights are 1. "extra_trees" takes :math:`b_f = \max(i_f /
    i_{max}, 10^{-4})^{0.2}` with :math:`i_f` the importances of scikit-learn's
    `ExtraTreesClassifier` with a fixed seed, fitted on the values of at most `max_samples` samples
    in robust standard deviations: (x - median) / s, clipped to [-3.97, 3.97], with s the distance
    of the quartiles over 1.349, or the standard deviation if that is more than 20 times as large
    (most values are equal, or some very far out). Cuts at random places find a wide gap between two
    classes more often than a narrow one, which AUCs cannot tell apart. Random splits go by the
    order of the columns and may differ between versions of scikit-learn. With trees a fit takes 0.3
    s of one core for 100 samples of 5,000 features, 0.4 s for 500 of 500 and 2 s for 2,000 of 800,
    without them 0.04, 0.01 and 0.05 s (benchmarks/bench_prior.py). On a cluster the calling process
    reads the columns for the trees.

    With `interactions`, pairs of features are tested for correlations that differ between the
    classes: with :math:`z_k = \mathrm{artanh}\, r_k` of the normal scores in class k,
    :math:`Q = \sum_k (n_k - 3)(z_k - \bar z)^2` is chi-square with c - 1 degrees of freedom if they
    do not. Of the N pairs, up to 60 with the smallest p below 0.01 / N are kept. The product of the
    normal scores of a pair is a further column of effects and correlations, its noise correction
    multiplied by :math:`2 \ln N`; its effect is 0 on class pairs where its square does not exceed
    :math:`d_f^2 + d_g^2`. It counts as soon as both features are chosen. A step takes a feature, or
    the features of a product that are not chosen yet, whichever gains more per new feature; of two
    the one that gains more alone goes first, and the gain of the other is that with the product.
    The weight of two features is the mean of their prior weights. `predicted_mauc_` is then that
    of a linear discriminant of features and products. All pairs are tested for up to 1,500
    features, and for more while there are up to 2**26 pairs times classes (5,000 features of 5
    classes); beyond, pairs of the first 300 features of the search without products. Nominal
    features of more than two categories take no part. It does not run on a cluster.

    Only the order of values counts, but for the trees of a prior: without them a strictly monotone
    map of a feature changes nothing, to the bit; with them a change of its unit changes nothing but
    rounding. Another order of the rows changes nothing either way. A missing value is tied with
    every value (AUC 1/2, normal score 0): a feature with many of them is one with many ties.

    Nominal features have the leave-pair-out AUC of `MDFS`, which is not folded, and correlate by
    a score of their categories: the leading axis of the correspondence analysis with the classes,
    rare categories shrunk towards the middle. The sign of an effect is that of the difference of
    the mean scores of the two classes. Their ties change nothing. Features of two categories are
    treated as numbers.

    :math:`\Phi(D_p / \sqrt 2)`, the AUC of that score under the model, is too high: effects and
    correlations are estimates, and the largest were chosen. `predicted_mauc_` counts instead. Each
    sample is scored by the linear discriminant of the normal scores, with the covariance of the
    search, of all other samples, in closed form; before, it is moved towards the mean of all
    samples by the share of luck :math:`\max(0, 1 - \rho - 1/z^2)` in its class mean, z being the
    distance of the class mean in standard errors and :math:`\rho z` the expectation of its true
    value, from the distribution of z over all features (Tweedie's formula, which choosing does
    not bias). A pair with w wins of :math:`n_i n_j` has
    :math:`A_{ij} = (w + 1/2) / (n_i n_j + 1)`, and MAUC is their mean. What the choice owes to luck
    in the correlations stays: with 60 to 140 samples of hundreds to thousands of features the
    prediction is still 0.006 to 0.04 too high. On 22 data sets its mean absolute error against the
    discriminant on other samples is 0.007 (without a correction 0.023). Against all features
    "predicted" gives away at most 0.005 of the mean MAUC of Naive Bayes, C4.5 and 1NN on 11 of 13
    data sets (sorlie and su, with 68 and 81 samples, lose 0.008 and 0.015), and against the best
    size of up to 100 on 8 of 13 (docs/beyond/greedy_predicted.md; measured without effects of small
    classes and without a prior).

    Memory: one byte per cell of X for the normal scores of at most `max_samples` samples, and
    8 n_features (n_pairs + n_selected) bytes for effects and factor; `fit` raises before it reads
    anything if that is more than is free. Of a source of columns, the normal scores are held beside
    its `memory`. Sparse columns are filled in one block at a time. A feature is rated in a step
    only where a bound of its gain says that it could be the best, which changes no bit. After AUCs
    and ranks, time grows as n_selected n_features (max_samples + n_classes + n_selected), and with
    n_pairs for the features rated.
    The prediction is computed when it is first asked for and takes max_samples n_selected
    (n_selected + n_classes), and for each size that it is computed for one MAUC of the samples.

    The method as first written down, with nothing estimated, is ``shrinkage=0.2, alpha=0.5,
    noise_correction=0, max_samples=None, prior=None`` on features without ties.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import GreedyMAUC
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = GreedyMAUC(3).fit(X, y)
    >>> list(X.columns[selector.ranking_])
    ['flavanoids', 'color_intensity', 'proline']
    >>> selector.predicted_mauc_.round(3)
    array([0.929, 0.978, 0.995])
    >>> selector.trace_[1].subproblem_name
    '1 vs 2'
    """

    _size_words = '"all", "auto" or "predicted"'

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        shrinkage="auto",
        alpha=1.0,
        noise_correction=1.0,
        max_samples=2048,
        prior="auto",
        interactions=False,
        categorical_features=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.noise_correction = noise_correction
        self.max_samples = max_samples
        self.prior = prior
        self.interactions = interactions
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        is_auto = isinstance(self.shrinkage, str) and self.shrinkage == "auto"
        return _Options(
            None if is_auto else check_real("shrinkage", self.shrinkage, 0, 1, words=' or "auto"'),
            check_real("alpha", self.alpha, 1e-6, 1e6),
            check_real("noise_correction", self.noise_correction, 0, 1e6),
            check_int("max_samples", self.max_samples, 2, optional=True),
            check_prior(self.prior),
            check_choice("interactions", self.interactions, (False, True)),
        )

    def _rank(self, problem, n_wanted, options):
        is_predicted = self._is_predicted()
        if options.interactions and problem.cluster is not None:
            raise MaucError(
                "interactions must be False on a cluster: pairs are searched among the normal "
                "scores of all features in one process. Fit on the source without client=, or with "
                "interactions=False."
            )
        prior = resolve_prior(options.prior, problem)
        pair_auc = room_for_pair_auc(problem, n_wanted)
        measured = {
            "noise_correction": options.noise_correction, "max_samples": options.max_samples
        }  # fmt: skip
        if problem.cluster is not None:
            effects, scores = measure_on_cluster(
                problem, n_wanted, alpha=options.alpha, pair_auc=pair_auc, **measured
            )
        else:
            self._check_memory(problem, n_wanted, options, pair_auc)
            effects, scores = measure(problem, pair_auc=pair_auc, n_jobs=self.n_jobs, **measured)
        is_auto = options.shrinkage is None
        self.shrinkage_ = estimate_shrinkage(scores) if is_auto else options.shrinkage
        self.prior_ = prior
        if isinstance(prior, str):
            self.prior_ = tree_prior(problem, scores, self.n_jobs)
        search = {
            "shrinkage": self.shrinkage_, "alpha": options.alpha, "prior": self.prior_,
            "keeps_steps": is_predicted,
        }  # fmt: skip
        self.interactions_ = None
        if options.interactions:
            found, prediction, self.interactions_ = rank_with_interactions(
                effects, scores, n_wanted, noise_correction=options.noise_correction,
                feature_names=feature_names(problem), n_jobs=self.n_jobs, **search,
            )  # fmt: skip
        else:
            if problem.cluster is not None:
                found = rank_on_cluster(effects, scores, n_wanted, **search)
            else:
                found = greedy_ranking(effects, scores, n_wanted, n_jobs=self.n_jobs, **search)
            prediction = Prediction(found.ranking, found.lower, scores, self.shrinkage_)
        if is_predicted:
            enough = prediction.mauc >= prediction.mauc.max() - PREDICTED_SLACK
            n_enough = int(np.argmax(enough)) + 1
            found, prediction = found.first(n_enough), prediction.first(n_enough)
            if self.interactions_ is not None:
                self.interactions_ = self.interactions_.first(n_enough)
        self.separations_ = found.separations[-1]
        together = () if self.interactions_ is None else self.interactions_.members
        self._exchanges = Exchanges(found.state, found.ranking, together)
        return Ranked(
            Decomposition("one-vs-one", problem.n_classes),
            Selection(found.ranking, found.pairs, found.ranks, found.gains),
            found.relevance,
            None if pair_auc is None else pair_auc[found.ranking],
            prediction,
        )

    def _check_memory(self, problem, n_wanted, options, pair_auc):
        """Take the memory of the search into account before any column is read."""
        n_features, n_pairs = problem.n_features, len(problem.max_wins)
        n_kept = min(problem.n_samples, options.max_samples or problem.n_samples)
        doubles = 8 * n_features * (n_pairs + n_wanted + 2 * problem.n_classes)
        doubles += 0 if pair_auc is None else pair_auc.nbytes
        advice = f"lower max_samples ({self.max_samples}), select fewer features"
        n_scores = n_features * n_kept
        if options.interactions:  # scores and effects are copied to make room for products
            doubles += 8 * n_features * (n_pairs + MAX_PAIRS)
            n_scores *= 2
            advice += ", fit with interactions=False"
        if n_scores + doubles > _SMALL_BYTES:
            check_memory(
                n_scores + doubles,
                f"the normal scores of {n_features:,} features x {n_kept:,} samples, their effects "
                f"on {n_pairs:,} class pairs and the factor of {n_wanted:,} selected features",
                f"{advice}, or leave out some before",
            )
        # The scores come on top of the memory of a source; the rest is a part of it.
        spare = problem.workspace.spare()
        problem.workspace.reserve(doubles if spare is None else min(doubles, spare))

    @property
    def predicted_mauc_(self):
        """MAUC to expect of the features so far; computed when it is first asked for."""
        return self.trace_.details["predicted_mauc"]

    def _n_wanted(self, problem, X, y, sample_weight):
        if self._is_predicted():
            return min(problem.n_features, MAX_PREDICTED)
        return super()._n_wanted(problem, X, y, sample_weight)

    def _is_predicted(self):
        wanted = self.n_features_to_select
        return isinstance(wanted, str) and wanted == "predicted"
