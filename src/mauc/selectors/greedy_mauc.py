"""GreedyMAUC: the selector of features that together separate every pair of classes."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mauc.checks import check_int, check_real
from mauc.data.problem import Decomposition
from mauc.data.wishes import WishMixin
from mauc.measure.dispersion import MAX_FOLDED
from mauc.measure.effects import measure
from mauc.measure.normal_scores import resolve_shrinkage
from mauc.measure.pair_auc import allocate_pair_auc
from mauc.memory import check_memory
from mauc.search.folded import search_with_folded
from mauc.search.greedy import MAX_HELD, plain_state
from mauc.search.prediction import AlternativesMixin, Exchanges
from mauc.search.prior import check_prior, prior_weights
from mauc.search.selection import Ranked, Selection
from mauc.search.sets import predict_ranking
from mauc.search.units import CostCurve, search_units
from mauc.selectors.base import RankingSelector

MAX_DEFAULT = 100  # features that "predicted" looks at
PREDICTED_SLACK = 0.0005  # of MAUC: what more features have to add
_MORE = 4  # features that count beside twice as many, where few are chosen
_SMALL_BYTES = 2**28  # below this, free memory is not checked


class _Options(NamedTuple):
    shrinkage: float | None  # None: from the data
    max_samples: int | None
    prior: Any


def enough_features(mauc: np.ndarray) -> int:
    """Return the least number of features to which many more add little predicted MAUC.

    `mauc` is that of the first 1, 2, ... features, 0 where a set of so many is no choice.
    """
    for n in range(1, len(mauc)):
        if 0.0 < mauc[n - 1] >= mauc[: 2 * n + _MORE].max() - PREDICTED_SLACK:
            return n
    return len(mauc)


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

    _size_choices = '"all", "auto", "predicted" or "fdr"'

    n_features_to_select: Any = field(default="predicted", kw_only=False)
    prior: Any = None
    categorical_features: Any = None
    pair_weight: Any = None
    shrinkage: Any = "auto"
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
        return _Options(
            None if is_auto else check_real("shrinkage", self.shrinkage, 0, 1, others=' or "auto"'),
            check_int("max_samples", self.max_samples, 2, optional=True),
            check_prior(self.prior),
        )

    def _n_wanted(self, problem, X, y, **given):
        if self._is_predicted():
            wishes = problem.constraints
            if wishes is not None:
                return min(wishes.n_available, max(MAX_DEFAULT, wishes.n_kept))
            return min(problem.n_features, MAX_DEFAULT)
        return super()._n_wanted(problem, X, y, **given)

    def _is_predicted(self):
        wanted = self.n_features_to_select
        return isinstance(wanted, str) and wanted == "predicted"

    def _rank(self, problem, n_wanted, options):
        wishes = problem.constraints
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
        self.prior_: np.ndarray | None = prior_weights(options.prior, problem, scores, self.n_jobs)
        search = {
            "shrinkage": self.shrinkage_,
            "doubt": doubt,
            "prior": self.prior_,
            "pair_shares": problem.pair_shares,
            "n_jobs": self.n_jobs,
        }

        def choose(n, effects, rival=None, **search):
            units = None
            if wishes is not None or rival is not None:
                units = partial(search_units, wishes, rival=rival)
            return search_with_folded(effects, scores, n, search=units, **search)

        def count_enough(found, mauc):
            is_choice = True if wishes is None else wishes.ends(found.ranking)
            return enough_features(np.where(is_choice, mauc, 0.0))

        n, rival, is_predicted = n_wanted, None, self._is_predicted()
        if problem.pair_shares is not None:  # sets of one size are compared
            if is_predicted:
                state, found, _ = choose(n, effects.copy(), **search)
                n = count_enough(found, predict_ranking(state, found).mauc)
            if n < (problem.n_features if wishes is None else wishes.n_available):
                unweighted = search | {"pair_shares": None}
                rival = choose(n, effects.copy(), **unweighted)[1].ranking
        state, found, self.folded_features_ = choose(n, effects, rival, **search)
        predicted = predict_ranking(state, found)
        if is_predicted and problem.pair_shares is None:
            n = count_enough(found, predicted.mauc)
            found, predicted = found.first(n), predicted.mauc[:n]
        self.separations_: np.ndarray = state.separations_of(found.n_steps[-1])
        excluded = set(self.folded_features_.tolist())
        source, is_large = state, state.is_large
        if state.n_features < len(state.effects):  # exchanges are of features alone
            source = partial(plain_state, effects, scores, found.ranking, search)
            is_large |= scores.padded.nbytes > MAX_HELD
        is_free = None
        if wishes is not None:
            is_free = wishes.is_free
            excluded |= set(np.flatnonzero(~is_free).tolist())
        self._exchanges = Exchanges(source, predicted, found.ranking, excluded, is_free)
        if is_large:
            _ = self._exchanges.found
        return Ranked(
            Decomposition("one-vs-one", problem.n_classes),
            Selection(found.ranking, found.pairs, found.ranks, found.gains),
            found.relevance,
            None if pair_auc is None else pair_auc[found.ranking],
            {"predicted_mauc": predicted},
        )

    def _check_memory(self, problem, n_wanted, options, pair_auc):
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
            workspace.reserve(min(doubles, workspace.spare()))
