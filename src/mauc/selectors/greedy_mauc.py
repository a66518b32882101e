"""GreedyMAUC: the selector of features that together separate every pair of classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauc.checks import check_int, check_real
from mauc.data.arguments import CategoricalFeatures, MatrixLike, PairWeight
from mauc.data.problem import Decomposition, Problem
from mauc.data.wishes import WishMixin
from mauc.measure.effects import MAX_FOLDED, Candidates, measure
from mauc.measure.normal_scores import resolve_shrinkage
from mauc.measure.pair_auc import allocate_pair_auc
from mauc.memory import check_memory
from mauc.results import short_name
from mauc.search.alternatives import AlternativesMixin
from mauc.search.choice import choose_features
from mauc.search.greedy import SearchOptions, SearchState
from mauc.search.prior import check_prior, prior_weights
from mauc.search.selection import Ranked, Selection
from mauc.selectors.base import RankingSelector
from mauc.selectors.trace import CostCurve

MAX_DEFAULT = 100  # features that "predicted" looks at
_SMALL_BYTES = 2**28  # below this, free memory is not checked


class _Options(NamedTuple):
    shrinkage: float | None  # None: from the data
    max_samples: int | None
    prior: Any
    is_predicted: bool  # whether the prediction says how many features are enough


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyMAUC(AlternativesMixin, WishMixin, RankingSelector):
    r"""Select features that together separate every pair of classes.

    Each step adds the feature that reduces a bound on the mean error over the class pairs the
    most, given the features chosen so far. A pair that is well separated already has little
    weight, and a feature that repeats a chosen one adds nothing.

    Parameters
    ----------
    n_features_to_select : int, float, str or None, default="predicted"
        How many features to select:

        - "predicted": the fewest features to which twice as many and four more, 100 at most, add
          no more than 0.0005 of predicted MAUC, without cross-validation; with a budget, of the
          features that it pays for. With thousands of features of a few hundred rows the
          prediction is rough: prefer "auto".
        - a number, or a fraction of all features.
        - "all": all of them (a full ranking).
        - "auto": as many as `mauc.select_k` finds enough by cross-validation; its curve is then
          `size_curve_`.
        - "fdr": those that separate some pair of classes significantly.
        - None: half of the features, or with a budget as many as it pays for.
    fdr_alpha : float, default=0.05
        Of "fdr": the share of the selected features that may be expected to separate no classes, by
        the tests of `mauc.pair_tests`, which are of location: features that differ between classes
        in spread alone are left out. Where no feature is significant, one is selected, with a
        warning.
    prior : estimator or None, default=None
        What weighs the features beforehand: the gain of each is multiplied by its weight. The
        estimator is cloned and fitted on at most `max_samples` samples, in robust standard
        deviations; its ``feature_importances_`` or absolute ``coef_``, summed over the classes,
        make the weights. It gets weights of samples if it takes them, and a fixed seed if it has
        none. None: all features weigh the same.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
        What each pair of classes counts, such as the cost of confusing the two: ``{("a", "b"): 5}``
        (others count 1), a symmetric table, or "prior", the product of the class frequencies. A
        pair of weight 0 does not count, and its features are not sought.
    keep : list of str or int, or mask, optional
        Features that are always selected, first and in this order.
        What the others add is given these.
    exclude : list of str or int, or mask, optional
        Features that are never selected.
    feature_groups : dict of lists, or list of lists, optional
        Features that are selected together or not at all, such as the columns of one assay: a group
        counts by what its features gain together, per feature or per cost. A number of features
        that a group exceeds is reached without it. With groups, the first k of a ranking are a
        choice only where they end with a group.
    feature_costs : dict, Series or array-like of shape (n_features,), optional
        What each feature costs: gains count per cost. The name of a group has a cost that is paid
        once, in addition to those of its features, which may then be left out.
    budget : float, optional
        What the selected features may cost in all. They are sought by gain per cost and by gain
        alone, and the better choice is taken. With None for their number, the budget alone limits
        it.
    shrinkage : float or "auto", default="auto"
        In [0, 1]: how much of the correlation between features is not trusted. 0 trusts the
        sample, 1 takes all features as independent given the class. "auto" estimates it from
        the numbers of samples and features and from how much the correlations differ between the
        classes; beside that, the search doubts correlations of medium size, the more the fewer
        classes there are; with a number it does not.
    max_samples : int or None, default=2048
        Correlations are measured on at most this many samples, every class with its share; None
        takes all. Which ones is decided by a hash of the ranks of their values, so the order of
        the rows does not matter. AUCs and ranks are always of all samples.
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
        What each feature gains at the first step, when it stands alone; in [0, 1].
    trace_ : SelectionTrace
        For each step the feature, its score (the part of the error bound that it takes away, in
        [0, 1], not weighted by a prior), the class pair whose error falls most, and the rank of
        the feature among those left by what they add to that pair; its frame has the predicted
        MAUC after the step, and what the step added to it.
    predicted_mauc_ : ndarray of shape (n_selected,)
        MAUC to expect, on new samples, of a linear discriminant of the features so far, of nominal
        ones by their categories: samples are left out in closed form, and what the choice owes to
        luck is taken off. A step may lower it; `trace_` then says so when printed. It is computed
        when it is first asked for, for 1 to 20 features, then for each size a tenth above the
        last, up to 512; other sizes have the value of the size below. The same features have the
        same value in whatever order `keep` or costs have put them.
    shrinkage_ : float
        The shrinkage used, estimated or given. That the search doubts correlations of medium size
        is not in it.
    prior_ : ndarray of shape (n_features,) or None
        The weights that gains were multiplied by, the largest of them 1; None if there were none.
    folded_features_ : ndarray
        Columns whose spread separates class pairs where the order of their values does not, at
        most 128, ascending. Their distance from the median counts as soon as they are chosen.
    separations_ : ndarray of shape (n_pairs,)
        Squared separation :math:`D_p^2` of every class pair by all selected features, with their
        distances from the median, if there are any.
    alternatives_ : Alternatives
        For each selected feature up to 5 others that could take its place at a loss of predicted
        MAUC of at most 0.001 and take over half or more of what it adds, the nearest first; found
        when it is first asked for. It prints as one line per feature, ``to_frame()`` has the
        losses. Features of `folded_features_` have none, nor have those that are kept, of a group
        or of a cost.
    cost_curve_ : CostCurve
        Predicted MAUC against the cost of the features so far; with `feature_costs`.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names, such as "setosa vs virginica".
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    With :math:`d_p(f) = \sqrt 2\, \Phi^{-1}(A_{ij}(f))` the effect of feature f on the pair of
    classes p = (i, j), corrected for ties and noise, and R the within-class correlations of the
    normal scores, shrunk and those of medium size doubted, the best linear score of the set S
    separates the pair by :math:`D_p^2(S) = d_p(S)^T R_{SS}^{-1} d_p(S)`, and its error is bounded
    by :math:`\exp(-D_p^2 / 8)` (Chernoff). With weights :math:`b_f` of a prior, each step adds

    .. math:: \arg\max_{f \notin S}\; b_f \Big(1 - \frac{L(S \cup \{f\})}{L(S)}\Big), \qquad
        L(S) = \sum_p \frac{h_p}{h_p + 10} \exp(-D_p^2(S) / 8),

    where :math:`h_p` is the harmonic mean of the sizes of the two classes.

    Weights of class pairs (`pair_weight`) are those of the terms of L; where the features chosen
    without weights have a higher predicted MAUC with them, these are selected. With costs the gain
    of a feature or group is divided by its cost.

    Equal values go by column; constant features come last. A feature whose spread separates classes
    where the order of its values does not has its distance from the median as a further column.
    docs/methods/greedy_mauc.md has the derivations: effects with ties, of small classes and of
    spread, the noise correction, the prior of an estimator, nominal features, the prediction, time
    and memory.

    Only the order of values counts, but for the estimator of a prior: without one a strictly
    monotone map of a feature changes nothing, to the bit. The order of the rows changes nothing. A
    missing number is tied with every value. Nominal features have the leave-pair-out AUC of
    `MDFS`, the one thing that a weight changes in another way than copies of the row.

    Memory is one byte per cell of X for at most `max_samples` samples, and at most 16 n_features
    (n_pairs + n_selected) bytes; `fit` raises before it reads anything if these are not free.

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
    array([0.928, 0.978, 0.995])
    >>> selector.trace_[1].subproblem_name
    '1 vs 2'
    """

    n_features_to_select: int | float | str | None = field(default="predicted", kw_only=False)
    prior: Any = None
    categorical_features: CategoricalFeatures = None
    pair_weight: PairWeight = None
    shrinkage: float | Literal["auto"] = "auto"
    max_samples: int | None = 2048

    @property
    def predicted_mauc_(self) -> np.ndarray:
        """MAUC to expect of the features so far; computed when it is first asked for."""
        return self.trace_.details["predicted_mauc"]

    @property
    def cost_curve_(self) -> CostCurve:
        """Predicted MAUC against the cost of the features so far."""
        if "spent" not in self.trace_.details:
            raise AttributeError("cost_curve_ is there after a fit with feature_costs=.")
        return CostCurve(self.trace_.details["spent"], self.predicted_mauc_)

    def check_options(self) -> _Options:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        is_auto = isinstance(self.shrinkage, str) and self.shrinkage == "auto"
        n_most = self.max_samples
        is_plain = n_most is None or (type(n_most) is int and n_most >= 2)
        return _Options(
            None if is_auto else check_real("shrinkage", self.shrinkage, 0, 1, others=' or "auto"'),
            n_most if is_plain else check_int("max_samples", n_most, 2, optional=True),
            None if self.prior is None else check_prior(self.prior),
            self._is_predicted(),
        )

    def _n_wanted(
        self, problem: Problem, X: MatrixLike | None, y: ArrayLike | None, **given: Any
    ) -> int:
        if self._is_predicted():
            wishes = problem.wishes
            if wishes is not None:
                return min(wishes.n_available, max(MAX_DEFAULT, wishes.n_kept))
            return min(problem.n_features, MAX_DEFAULT)
        return super()._n_wanted(problem, X, y, **given)

    @property
    def _size_choices(self) -> str:
        return '"all", "auto", "predicted" or "fdr"'

    def _is_predicted(self) -> bool:
        wanted = self.n_features_to_select
        return isinstance(wanted, str) and wanted == "predicted"

    def _rank(self, problem: Problem, n_wanted: int, options: _Options) -> Ranked:
        pair_auc = allocate_pair_auc(problem, n_wanted)
        self._check_memory(problem, n_wanted, options, pair_auc)
        effects, scores = measure(
            problem,
            max_samples=options.max_samples,
            pair_auc=pair_auc,
            n_room=MAX_FOLDED,
            n_jobs=self.n_jobs,
        )
        self.shrinkage_: float
        self.shrinkage_, doubt = resolve_shrinkage(options.shrinkage, scores)
        self.prior_: np.ndarray | None = None
        if options.prior is not None:
            self.prior_ = prior_weights(options.prior, problem, scores, self.n_jobs)
        counts = SearchOptions(
            self.shrinkage_, doubt, self.prior_, problem.pair_shares, self.n_jobs
        )
        choice = choose_features(
            effects, scores, n_wanted, counts, problem.wishes, options.is_predicted
        )
        found = choice.ranking
        self.folded_features_: np.ndarray = choice.folded
        self.separations_: np.ndarray = choice.separations
        self._alternatives = choice.alternatives
        return Ranked(
            Decomposition("one-vs-one", problem.n_classes),
            Selection(found.ranking, found.pairs, found.ranks, found.gains),
            found.relevance,
            None if pair_auc is None else pair_auc[found.ranking],
            {"predicted_mauc": choice.predicted},
        )

    def _check_memory(
        self, problem: Problem, n_wanted: int, options: _Options, pair_auc: np.ndarray | None
    ) -> None:
        """Take the memory of the search into account before any column is read."""
        n_features, n_pairs = problem.n_features, len(problem.max_wins)
        n_kept = min(problem.n_samples, options.max_samples or problem.n_samples)
        doubles = 8 * n_features * (n_pairs + n_wanted + 2 * problem.n_classes)
        doubles += 0 if pair_auc is None else pair_auc.nbytes
        advice = f"lower max_samples ({self.max_samples}), select fewer features"
        n_scores = n_features * n_kept
        # Effects are copied to make room for those of folded scores.
        doubles += 8 * n_features * (n_pairs + min(MAX_FOLDED, n_wanted))
        if n_scores + doubles > _SMALL_BYTES:
            check_memory(
                n_scores + doubles,
                f"the normal scores of {n_features:,} features x {n_kept:,} samples, their effects "
                f"on {n_pairs:,} class pairs and the factor of {n_wanted:,} selected features",
                f"{advice}, or leave out some before",
            )
        if problem.columns.is_streamed:
            # The scores come on top of the memory of a source; the rest is a part of it.
            workspace = problem.workspace
            spare = workspace.spare()
            workspace.reserve(doubles if spare is None else min(doubles, spare))


def measure_state(
    selector: GreedyMAUC,
    problem: Problem,
    n_steps: int,
    n_jobs: int | None = None,
    n_room: int = 0,
) -> SearchState:
    """Return the state before the first step, with the options of a selector but its prior."""
    options = selector.check_options()
    effects, scores = measure(
        problem, max_samples=options.max_samples, n_room=n_room, n_jobs=n_jobs
    )
    shrinkage, doubt = resolve_shrinkage(options.shrinkage, scores)
    counts = SearchOptions(shrinkage, doubt, None, problem.pair_shares, n_jobs)
    return SearchState(Candidates(effects, scores), n_steps, counts)


def chosen_by_spread(selector: RankingSelector, names: Sequence[str]) -> list[str]:
    """Return the names of the chosen features of a fitted selector that count by their spread."""
    if not isinstance(selector, GreedyMAUC):
        return []
    folded = set(selector.folded_features_.tolist())
    return [names[j] for j in selector.ranking_ if j in folded]


def spread_sentence(selector: RankingSelector, names: Sequence[str]) -> str:
    """Return in words which these are, or nothing."""
    found = chosen_by_spread(selector, names)
    if not found:
        return ""
    listed, ending, its = ", ".join(map(short_name, found)), "s", "its"
    if len(found) > 1:
        ending, its = "", "their"
    return f"{listed} separate{ending} classes by {its} spread, which {its} AUC alone does not show"
