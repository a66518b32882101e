"""ConsensusSelector: what a selector chooses from many halves of the samples, made one ranking."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numba import uintp
from numpy.typing import ArrayLike
from sklearn.base import clone

from mauc.checks import check_choice, check_int
from mauc.compile import njit
from mauc.data.arguments import CategoricalFeatures, MatrixLike, Seed
from mauc.data.door import FitOptions, check_generator
from mauc.data.problem import Problem
from mauc.engine.arithmetic import exp_minus
from mauc.exceptions import MaucError
from mauc.measure.effects import RATE
from mauc.memory import check_memory
from mauc.parallel import run_blocks, start_pool
from mauc.progress import track
from mauc.registry import Accepts, make_selector
from mauc.search.alternatives import AlternativesMixin, PendingAlternatives
from mauc.search.greedy import SearchState, condition_on
from mauc.search.prediction import Prediction
from mauc.search.prior import prior_weights
from mauc.search.selection import Ranked
from mauc.selectors.base import RankingSelector, single_ranking
from mauc.selectors.error_bound import ErrorControl
from mauc.selectors.greedy_mauc import GreedyMAUC, measure_state
from mauc.selectors.halves import complementary_halves, take_half
from mauc.stability import stability

#: the rules, and what each calls the score of a feature when it is chosen
RULES = {"frequency": "frequency", "rank": "mean rank", "loss": "gain"}
SHOWN_THRESHOLD = 0.8  # frequency whose bound is shown
_NEAR = 0.9  # of the largest gain: what gains more is nearly as good
_SMALL_BYTES = 2**28  # below this, free memory is not checked


class _Options(NamedTuple):
    selector: RankingSelector  # unfitted
    n_pairs: int
    rule: str


class ConsensusSelector(AlternativesMixin, RankingSelector):
    r"""Select features that a selector chooses again and again from halves of the samples.

    The samples are divided at random into two halves, each with half of every class, and both
    halves are ranked; this is repeated (complementary pairs subsampling [1]_). How often a feature
    is chosen tells how far its choice depends on the samples at hand. A rule makes one ranking of
    all.

    Parameters
    ----------
    selector : str or RankingSelector, default="greedy"
        Any selector of this package, or its short name (``mauc methods``). Its ``n_jobs`` and
        ``verbose`` are not used.
    n_features_to_select : int, float, "all", "auto", "predicted" or None, default=None
        How many features to select, as for `selector`; None takes that of `selector`. There is no
        "fdr", which would leave halves nothing to choose.
    n_resamples : int, default=50
        Halves that are ranked; an even number.
    rule : {"auto", "frequency", "rank", "loss"}, default="auto"
        How the ranking is made; of k features by the first k of every half:

        - "frequency": by the share of the halves that chose the feature, then by its mean rank.
        - "rank": by the mean rank over the halves, k + 1 if it is not among their first k.
        - "loss": the search of `GreedyMAUC` on all samples, but of the features that gain nearly as
          much as the best one, the one that most halves chose; for `GreedyMAUC` alone.
        - "auto": "loss" where that is possible, otherwise "frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names, where `selector` takes them.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        For the halves, and for `selector` if it draws and has no seed of its own.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
        They rank halves side by side.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns in the order of selection. Rankings are nested: the first 10 are the
        choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    frequencies_ : ndarray of shape (n_features,)
        Share of the halves that have a feature among their first n_selected.
    mean_ranks_ : ndarray of shape (n_features,)
        Mean rank over the halves, n_selected + 1 where a feature is not among the first.
    rankings_ : ndarray of shape (n_resamples, n_selected)
        Of the halves, as long as the shortest of them (``FCBF(max_rounds=1)`` stops by itself);
        rows 2i and 2i + 1 are of complementary halves.
    stability_ : mauc.stats.Stability
        How alike the choices of the halves are, with an interval (Nogueira, Sechidis and Brown);
        NaN if all features are selected.
    error_control_ : ErrorControl
        Upper bounds on the expected number of wrong features among those of high frequency (Shah
        and Samworth); it prints as a table, ``error_control_.at(0.8)`` has those of one threshold.
    alternatives_ : Alternatives
        For each selected feature those that could replace it, in the model of `GreedyMAUC`.
    predicted_mauc_ : ndarray of shape (n_selected,)
        MAUC to expect of the features so far, as in `GreedyMAUC`, on all samples; of the features
        without their distances from the median.
    scores_ : ndarray of shape (n_features,)
        The frequency of a feature, averaged over choices of 1 to n_selected features.
    trace_ : SelectionTrace
        For each step k the feature and its score by the rule: its frequency among the first k of
        the halves, its mean rank there, or its gain. Its frame has the frequency and the
        mean rank at the end, too.
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
    "loss" is more stable than `GreedyMAUC` at nearly its MAUC, "frequency" at the cost of some
    MAUC. docs/methods/consensus.md has the rules, the figures, the bounds of `error_control_` and
    the time. A row is in one half of a pair with all of its weight. Memory is that of a fit on a
    half per thread. Of a source, all columns are read once per half.

    References
    ----------
    .. [1] R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at
       stability selection", J. Royal Statistical Society B 75, 2013.
    .. [2] S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms",
       JMLR 18(174), 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import ConsensusSelector, GreedyMAUC
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = ConsensusSelector(GreedyMAUC(3), random_state=0).fit(X, y)
    >>> list(X.columns[selector.ranking_])
    ['flavanoids', 'color_intensity', 'proline']
    >>> selector.frequencies_[selector.ranking_].round(2)
    array([0.94, 0.96, 0.68])
    """

    _needs_process = "it fits its selector on halves of the samples"

    def __init__(
        self,
        selector: RankingSelector | str = "greedy",
        n_features_to_select: int | float | str | None = None,
        *,
        n_resamples: int = 50,
        rule: str = "auto",
        categorical_features: CategoricalFeatures = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_resamples = n_resamples
        self.rule = rule
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def accepts(self) -> Accepts:
        """What input the selector takes: what `selector` does."""
        try:
            return self._inner().accepts
        except MaucError:  # it is refused in fit
            return super().accepts

    @property
    def fit_options(self) -> FitOptions:
        """What the parameters say of the data of a fit: those of `selector` hold."""
        return replace(
            self._inner().fit_options,
            name=type(self).__name__,
            categorical_features=self.categorical_features,
        )

    @property
    def score_label(self) -> str:
        """What tables call the scores of the trace."""
        return RULES[self._chosen_rule(self._inner())]

    @property
    def _size_choices(self) -> str:
        return self._inner()._size_choices.replace(' or "fdr"', "")

    def _wanted_size(self) -> int | float | str | None:
        if self.n_features_to_select is None:
            return self._inner().n_features_to_select
        return self.n_features_to_select

    def _inner(self) -> RankingSelector:
        """Return the selector that is fitted on halves, unfitted."""
        chosen = self.selector
        if isinstance(chosen, str):
            chosen = make_selector(chosen)
        if not isinstance(chosen, RankingSelector) or isinstance(chosen, ConsensusSelector):
            raise MaucError(
                f"selector must be a selector of mauc other than ConsensusSelector, such as "
                f'GreedyMAUC(), or its short name, such as "greedy", got {chosen!r}.'
            )
        return chosen

    def _chosen_rule(self, selector: RankingSelector) -> str:
        rule = check_choice("rule", self.rule, ("auto", *RULES))
        has_loss = isinstance(selector, GreedyMAUC)
        return rule if rule != "auto" else "loss" if has_loss else "frequency"

    def check_options(self) -> _Options:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        selector = self._inner()
        selector.check_options()
        check_generator(self.random_state)
        n_resamples = check_int("n_resamples", self.n_resamples, 2)
        if n_resamples % 2:
            raise MaucError(
                f"n_resamples must be even, as halves come in pairs, got {n_resamples}."
            )
        rule = self._chosen_rule(selector)
        name = type(selector).__name__
        if rule == "loss" and not isinstance(selector, GreedyMAUC):
            raise MaucError(
                f'rule must be "auto", "frequency" or "rank" for {name}: "loss" searches by what '
                f"GreedyMAUC minimises."
            )
        options = selector.fit_options
        if options.wishes is not None:
            raise MaucError(
                f"{options.wishes.first} must be None for the {name} of a ConsensusSelector, which "
                f"counts the features of halves one by one; fit {name} itself."
            )
        if options.categorical_features is not None:
            raise MaucError(
                f"categorical_features must be given to ConsensusSelector, not to its {name}."
            )
        if self.categorical_features is not None and not selector.accepts.nominal:
            raise MaucError(
                f"categorical_features must be None for {name}, which takes numbers only; encode "
                f"those columns first."
            )
        return _Options(selector, n_resamples // 2, rule)

    def _n_wanted(
        self, problem: Problem, X: MatrixLike | None, y: ArrayLike | None, **given: Any
    ) -> int:
        if isinstance(self._wanted_size(), str) and self._wanted_size() == "predicted":
            alone = clone(self._inner())
            alone.set_params(n_features_to_select="predicted", n_jobs=self.n_jobs)
            n_most = alone._n_wanted(problem, X, y)
            ranked = alone._rank(problem.drop_zero_weight(), n_most, alone.check_options())
            return len(ranked.selection.features)
        return super()._n_wanted(problem, X, y, **given)

    def _rank(self, problem: Problem, n_wanted: int, options: _Options) -> Ranked:
        self._check_memory(problem, n_wanted, options)
        rng = check_generator(self.random_state)
        halves = complementary_halves(problem, options.n_pairs, rng)
        seeds = rng.randint(2**31 - 1, size=len(halves))
        rankings = self._rank_halves(problem, n_wanted, options, halves, seeds)
        n_wanted = min(map(len, rankings))
        self.rankings_: np.ndarray = np.array([ranking[:n_wanted] for ranking in rankings])
        votes = Votes(self.rankings_, problem.n_features)
        is_greedy = isinstance(options.selector, GreedyMAUC)
        model = options.selector if is_greedy else GreedyMAUC()
        state = measure_state(model, problem, n_wanted, self.n_jobs)
        if options.rule == "loss":
            estimator = model.check_options().prior
            prior = None
            if estimator is not None:
                prior = prior_weights(estimator, problem, state.scores, self.n_jobs)
            ranking, rule_scores = rank_near_ties(state.with_prior(prior), votes)
        else:
            ranking, rule_scores = rank_by_votes(votes, options.rule)
        condition_on(state, ranking)
        self._prediction = Prediction(state.leave(), np.cumsum(state.varies[ranking]))
        pending = PendingAlternatives(state, self._prediction, ranking, set())
        self._alternatives = pending
        if state.is_large:
            _ = pending.found
        self.frequencies_: np.ndarray = votes.frequencies
        self.mean_ranks_: np.ndarray = votes.mean_ranks
        self.stability_: Any = stability(self.rankings_, problem.n_features)
        self.error_control_: ErrorControl = ErrorControl(
            self.frequencies_, n_wanted, options.n_pairs
        )
        votes_of = {"frequency": votes.frequencies[ranking], "mean_rank": votes.mean_ranks[ranking]}
        scores = (n_wanted + 1 - self.mean_ranks_) / n_wanted
        return single_ranking(problem, ranking, rule_scores, scores, details=votes_of)

    def _rank_halves(
        self,
        problem: Problem,
        n_wanted: int,
        options: _Options,
        halves: list[np.ndarray],
        seeds: np.ndarray,
    ) -> list[np.ndarray]:
        """Return the ranking of every half."""
        # The columns of a source are read for one half at a time, within its memory.
        n_inner, n_outer = (self.n_jobs, 1) if problem.columns.is_streamed else (1, self.n_jobs)
        params = options.selector.get_params(deep=False)
        draws = "random_state" in params and params["random_state"] is None

        def rank_half(number: int) -> np.ndarray:
            """Rank the features of one half."""
            part = take_half(problem, halves[number])
            one = clone(options.selector)
            one.set_params(n_features_to_select=n_wanted, n_jobs=n_inner)
            if draws:
                one.set_params(random_state=int(seeds[number]))
            return one._rank(part, n_wanted, one.check_options()).selection.features

        found = run_blocks(rank_half, range(len(halves)), n_outer, unit="halves")
        return [ranking for _, ranking in found]

    def _check_memory(self, problem: Problem, n_wanted: int, options: _Options) -> None:
        """Take the memory of the models into account before any column is read."""
        n_features, n_pairs = problem.n_features, len(problem.max_wins)
        n_effects = 3 if options.rule == "loss" else 2  # of a half, of all samples, while searching
        doubles = 8 * n_features * (n_effects * n_pairs + 2 * n_wanted)
        n_bytes = doubles + 2 * n_features * min(problem.n_samples, 2048)
        if n_bytes > _SMALL_BYTES:
            check_memory(
                n_bytes,
                f"the normal scores of {n_features:,} features, their effects on {n_pairs:,} class "
                f"pairs and the factors of {n_wanted:,} selected features, for a half and for all",
                "select fewer features, or leave out some before",
            )

    @property
    def predicted_mauc_(self) -> np.ndarray:
        """MAUC to expect of the features so far; computed when it is first asked for."""
        return self._prediction.mauc


def stability_sentence(selector: ConsensusSelector) -> str:
    """Return how stable a fitted selector is, and how many of its features may be wrong."""
    found = selector.stability_
    if math.isnan(found.value):  # all features were selected: there was nothing to choose
        return ""
    bound = selector.error_control_.at(SHOWN_THRESHOLD)
    n = bound.n_features
    counted = f"{n:,} features are" if n > 1 else "1 feature is" if n == 1 else "no feature is"
    sentence = (
        f"stability over {len(selector.rankings_):,} halves of the samples: {found.value:z.3f} "
        f"({found.lower:z.3f} to {found.upper:z.3f}); {counted} chosen from "
        f"{SHOWN_THRESHOLD:.0%} of them or more"
    )
    if bound.worst_case < n:
        digits = 1 if bound.worst_case >= 0.1 else 4
        sentence += f", of which at most {bound.worst_case:.{digits}f} are expected to be wrong"
    return sentence


class Votes:
    """How often, and at which rank, each feature is among the first `size` of every half."""

    def __init__(self, rankings: np.ndarray, n_features: int):
        self.rankings: np.ndarray = rankings
        self.n_features: int = n_features
        self._held = np.zeros(n_features, np.int64)
        self._held_ranks = np.zeros(n_features, np.int64)  # sums of the ranks of those held
        self.size: int = 0

    def extend(self) -> None:
        """Look at one more feature of every half."""
        np.add.at(self._held, self.rankings[:, self.size], 1)
        self.size += 1
        np.add.at(self._held_ranks, self.rankings[:, self.size - 1], self.size)

    @property
    def frequencies(self) -> np.ndarray:
        """Share of the halves that have a feature among their first `size`."""
        return self._held / len(self.rankings)

    @property
    def rank_sums(self) -> np.ndarray:
        """Sum of the ranks over the halves; a feature beyond the first `size` has rank size + 1."""
        return self._held_ranks + (len(self.rankings) - self._held) * (self.size + 1)

    @property
    def mean_ranks(self) -> np.ndarray:
        """Mean of the ranks over the halves."""
        return self.rank_sums / len(self.rankings)


def rank_by_votes(votes: Votes, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a nested consensus of rankings by "frequency" or "rank", and scores of features."""
    n_ranked = votes.rankings.shape[1]
    is_left = np.ones(votes.n_features, bool)
    ranking, scores = np.empty(n_ranked, np.int64), np.empty(n_ranked)
    for step in range(n_ranked):
        votes.extend()
        left = np.flatnonzero(is_left)
        if rule == "frequency":
            held = votes.frequencies[left]
            left = left[held == held.max()]
        best = left[np.argmin(votes.rank_sums[left])]  # the lowest column of equals
        rule_scores = votes.frequencies if rule == "frequency" else votes.mean_ranks
        ranking[step], scores[step] = best, rule_scores[best]
        is_left[best] = False
    return ranking, scores


def rank_near_ties(state: SearchState, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    """Search as GreedyMAUC, but take the most frequent of near ties; return ranking and gains."""
    n_wanted, n_pairs = votes.rankings.shape[1], len(state.weights)
    is_left = np.ones(len(state.effects), bool)
    ranking, gains = np.empty(n_wanted, np.int64), np.empty(n_wanted)

    def score_block(block: tuple[int, int]) -> None:
        """Bring the losses of a block up to date."""
        part = slice(*block)
        state.update_effects(block[0] + np.flatnonzero(state.is_left[part]))
        score_effects(
            state.effects[part],
            state.variances[part],
            weights,
            total,
            state.is_left[part],
            np.empty(n_pairs),
            state.losses[part],
        )

    with start_pool(len(state.blocks)) as state.pool:
        for step in track(range(n_wanted), "features"):
            votes.extend()
            # The hardest pair has an error of 1: none is lost.
            least = state.separations[state.stakes > 0].min()
            weights = state.stakes * np.exp(-RATE * np.maximum(state.separations - least, 0))
            total = float(weights.sum())
            state.run(score_block)
            gain = np.maximum(state.prior * (total - state.losses) / total, 0.0)
            gain[~state.varies] = -1.0
            gain[~is_left] = -2.0
            largest = gain.max()
            near = np.flatnonzero(gain >= min(_NEAR * largest, largest))  # -1: constant ones alone
            held = votes.frequencies[near]
            near = near[held == held.max()]
            best = int(near[np.argmax(gain[near])])
            ranking[step], gains[step], is_left[best] = best, max(gain[best], 0.0), False
            if state.is_left[best]:  # a constant one explains nothing
                state.add(best)
    return ranking, gains


@njit
def score_effects(effects, variances, weights, total, is_left, errors, losses):
    """Fill in the loss that remains with each feature, `weights` being the errors of the pairs."""
    n_pairs = uintp(weights.shape[0])
    for f in range(effects.shape[0]):
        losses[f] = total
        if not is_left[f]:
            continue
        row, inverse = effects[f], RATE / variances[f]
        for p in range(n_pairs):
            errors[p] = weights[p] * exp_minus(row[p] * row[p] * inverse)
        # Four sums that do not wait for each other, in an order of their own.
        a = b = c = d = 0.0
        for p in range(0, weights.shape[0] - 3, 4):
            a += errors[p]
            b += errors[p + 1]
            c += errors[p + 2]
            d += errors[p + 3]
        for p in range(weights.shape[0] // 4 * 4, weights.shape[0]):
            a += errors[p]
        losses[f] = (a + b) + (c + d)
