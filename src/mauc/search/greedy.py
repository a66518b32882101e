"""The greedy search for features that together separate all class pairs, and its state.

`SearchState` knows what every feature adds to those that were chosen, `FeatureSearch` is the loop
that chooses, and `GainBounds` spares it the features that cannot win. What only some searches have
comes from files of their own: the folded scores of features from `folded`, wishes from `units`.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part
from mauc.engine.arithmetic import dot, exp_minus, fused
from mauc.measure.effects import RATE, Candidates
from mauc.measure.nominal_scores import NominalColumn
from mauc.measure.normal_scores import MIN_VARIANCE, NormalScores
from mauc.parallel import count_threads, even_ranges, run_in, start_pool, with_progress
from mauc.search.folded import FoldedScores

MIN_EFFECTS = 1 << 17  # with fewer, scoring all features takes less time than finding bounds
BATCH = 4  # features scored at once: the sums over their pairs do not wait for each other
# Rough seconds of a product, and of all else that a feature takes per step, and what a step must
# take for a thread to be worth its call.
_PRODUCT_TIME, _FEATURE_TIME, _THREAD_TIME = 5e-11, 3e-8, 5e-5
MAX_EVALUATED = 512  # columns whose MAUC is predicted
_MAX_OTHERS = 4096  # features that tell the distribution of class means
MAX_HELD = 2**26  # bytes of a state that is kept after the search
_MAX_WINDOW = 64  # steps before all bounds are renewed
# What rounding may take from a bound or add to a gain: much more than it does.
_SLACK, _MARGIN = 1.0 + 1e-6, 1e-11
_FEW = 10.0  # samples of two classes, in harmonic mean, whose error counts half
_FUNCTION_NOISE = 0.1  # variance left, below which a nominal feature is taken for a function
_TILE = 1 << 16  # features: long rows stream well, and one of them stays in the second-level cache

Block = tuple[int, int]  # the first feature, and that after the last
T = TypeVar("T")


class SearchOptions(NamedTuple):
    """What a search trusts and what it counts, beside its columns."""

    shrinkage: float  #: the part of the within-class correlations that does not count
    doubt: float = 0.0  #: the part of them that is replaced by their cubes
    prior: np.ndarray | None = None  #: (n_features,): gains are compared times these, in (0, 1]
    pair_shares: np.ndarray | None = None  #: (n_pairs,): what each pair counts, None if the same
    n_jobs: int | None = None


class Taken(NamedTuple):
    """What a chosen column does to the class pair whose error it lowers most."""

    pair: int
    gain: float  #: e_p(s)^2 / v(s)
    drop: float  #: of the error of the pair
    separation: float  #: D_p before the step


class LastChoice(NamedTuple):
    """A choice that no column is conditioned on yet, and what it was chosen among."""

    rank: int  #: from 0
    taken: Taken
    step: int  #: chosen columns before it
    is_left: np.ndarray
    variances: np.ndarray
    limits: np.ndarray


class GreedyRanking(NamedTuple):
    """The features in the order of choice; arrays of shape (k,) but for the last."""

    ranking: np.ndarray
    pairs: np.ndarray  #: the class pair whose error each feature lowers most
    ranks: np.ndarray  #: rank of the feature among those left by the gain on that pair, from 1
    gains: np.ndarray  #: part of the error of the set so far that the feature takes away
    n_steps: np.ndarray  #: chosen columns of the state with each feature
    relevance: np.ndarray  #: (n_features,): gain of every feature at the first step

    def first(self, k: int) -> "GreedyRanking":
        """Return the ranking of the first k features."""
        ranking, pairs, ranks, gains, n_steps = (part[:k] for part in self[:-1])
        return GreedyRanking(ranking, pairs, ranks, gains, n_steps, self.relevance)


class Leftover(NamedTuple):
    """What remains known of normal scores after a search, for its prediction."""

    rows: np.ndarray  #: (k, n_kept), int8: scores of the chosen columns, at most 512
    nominal: list[NominalColumn | None]  #: what is known of those that are nominal
    other_sums: np.ndarray  #: (n_classes, <= 4096): of features at even distances
    other_scales: np.ndarray  #: see `within_scales`
    class_counts: np.ndarray  #: (n_classes,), int64: kept rows of each class
    class_weights: np.ndarray  #: (n_classes,): their weights, or numbers
    weights: np.ndarray  #: (n_kept,), float64: 1 without weights
    shrinkage: float
    pair_shares: np.ndarray | None  #: (n_pairs,): what each class pair counts, None if the same


class SearchState:
    """Effects, variances and separations, given the columns that were chosen so far.

    Columns are the features, and after them their folded scores where a search has any. With S the
    first t chosen columns, the residual effect of column f is
    ``effects[f] - sum_u slopes[u] factors[u, f]``, u from ``n_updates[f]`` to t - 1, and its
    residual variance ``1 - sum_u factors[u, f]^2``, u < t.

    The effects of the candidates, of shape (n_columns, n_pairs), are overwritten by residual
    effects. At most k features will be chosen, with their folded scores, which are not candidates
    on their own.
    """

    def __init__(self, candidates: Candidates, k: int, options: SearchOptions) -> None:
        effects, scores, folded = candidates
        n_columns, n_pairs = effects.shape
        n_rows = max(k + min(k, len(folded)), 1)
        self.options: SearchOptions = options
        self.effects: np.ndarray = effects
        self.varies: np.ndarray = scores.varies
        self.n_features: int = n_columns - len(folded)
        prior = options.prior
        self.prior: np.ndarray = np.ones(self.n_features) if prior is None else prior
        # Scores, with what turns their products into correlations, until the search has left.
        self.scores: NormalScores = scores
        self.centers: np.ndarray
        self.scales: np.ndarray
        self.centers, self.scales = scores.within_scales()
        # Features that vary and are not chosen; these and folded scores that are not chosen.
        self.is_left: np.ndarray = scores.varies.copy()
        self.is_open: np.ndarray = self.is_left
        if len(folded) > 0:
            self.is_open = self.is_left.copy()
            self.is_open[self.n_features :] = True
        self.step: int = 0
        self.chosen: np.ndarray = np.empty(n_rows, np.int64)
        self.n_updates: np.ndarray = np.zeros(n_columns, np.int64)
        # Losses are the part of the error that remains with a feature, if scored in this step.
        self.variances: np.ndarray = np.ones(n_columns)
        self.losses: np.ndarray = np.ones(n_columns)
        # Rows of the Cholesky factor of the shrunk correlations, and its diagonal; the effects of
        # the chosen columns over the roots of their variances; D_p^2 of the chosen columns.
        self.factors: np.ndarray = np.empty((n_rows, n_columns))
        self.roots: np.ndarray = np.empty(n_rows)
        self.slopes: np.ndarray = np.empty((n_rows, n_pairs))
        self.separations: np.ndarray = np.zeros(n_pairs)
        # What each pair counts, at most 1, and its weight in the remaining error.
        self.stakes: np.ndarray = pair_stakes(scores.class_sizes, options.pair_shares)
        self.weights: np.ndarray = self.stakes / self.stakes.sum()
        self.bounds: GainBounds = GainBounds(self.n_features, self.weights)
        self.blocks: list[Block] = _feature_blocks(
            self.n_features, scores.padded.shape[1], options.n_jobs
        )
        self.pool: ThreadPoolExecutor | None = None  # while it is searched
        self._nominal = np.array(sorted(scores.nominal), np.int64)
        self._n_reduced = np.zeros(n_columns, np.int64)  # chosen columns that effects are freed of

    def with_prior(self, prior: np.ndarray | None) -> "SearchState":
        """Return a state before the first step, on a copy of the effects, with weights of gains."""
        candidates = Candidates(self.effects.copy(), self.scores)
        return SearchState(candidates, len(self.chosen), self.options._replace(prior=prior))

    def find_best(self, block: Block) -> int:
        """Return the best feature of a range, -1 if none is left; its loss is up to date."""
        if len(self._nominal) > 1:
            self._reduce_nominal(block)
        bounds = self.bounds
        return find_best(
            self.effects,
            self.n_updates,
            self.step,
            self.slopes,
            self.factors,
            self.variances,
            self.weights,
            self.prior,
            *block,
            self.is_left,
            bounds.offset,
            bounds.offsets,
            bounds.variances,
            bounds.reaches,
            bounds.limits,
            self.losses,
            np.empty(BATCH, np.int64),
            np.empty((BATCH, len(self.slopes))),
            np.zeros((BATCH, len(self.weights))),
        )

    def _reduce_nominal(self, block: Block) -> None:
        """Take off the effects of nominal features what only categories of chosen ones tell."""
        columns = self._nominal[np.searchsorted(self._nominal, block[0]) :]
        columns = columns[(columns < block[1]) & self.is_left[columns]]
        for at in range(int(self._n_reduced[columns].min(initial=self.step)), self.step):
            if self.chosen[at] in self.scores.nominal:
                new = columns[self._n_reduced[columns] <= at]
                self.update_effects(new)
                self.effects[new] *= self.kept_by(new, self.chosen[at])[:, np.newaxis]
        self._n_reduced[columns] = self.step

    def kept_by(self, columns: np.ndarray, s: int) -> np.ndarray:
        """Return what is left, in [0, 1], of effects of nominal columns when another is chosen."""
        unexplained = self.scores.unexplained(columns, s, self.centers, self.scales)
        return np.sqrt(np.minimum(unexplained / _FUNCTION_NOISE, 1.0))

    def correlations(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the shrunk within-class correlations of pairs of columns."""
        centers, shrinkage, doubt = self.centers, self.options.shrinkage, self.options.doubt
        within = self.scores.products(first, second) - (centers[:, first] * centers[:, second]).sum(
            axis=0
        )
        r = within * self.scales[first] * self.scales[second]
        return (1.0 - shrinkage) * (r - doubt * (r - r * r * r))

    def count_better(self, block: Block, last: LastChoice) -> int:
        """Count features of a range that gain more on the pair of a choice than it did."""
        return count_better(
            *last.taken,
            self.effects,
            self.n_updates,
            last.step,
            self.slopes,
            self.factors,
            last.variances,
            *block,
            last.is_left,
            last.limits,
        )

    def take(self, s: int) -> Taken:
        """Choose column s, whose effects are up to date, and return what that does to its pair."""
        taken = take_column(
            s,
            self.step,
            self.effects,
            self.variances,
            self.stakes,
            self.separations,
            self.weights,
            self.slopes,
            self.roots,
        )
        self.is_left[s] = self.is_open[s] = False
        self.chosen[self.step] = s
        self.step += 1
        self.bounds.advance(self.step, self.slopes, self.weights)
        return Taken(*taken)

    def condition(self, block: Block) -> None:
        """Condition the variances of a range of features on the column that was taken last."""
        first, last = block
        s = self.chosen[self.step - 1]
        update_block(
            self.scores.padded,
            self.scores.padded[s] * self.scores.row_weights,
            self.centers,
            self.scales,
            self.options.shrinkage,
            self.options.doubt,
            s,
            self.step - 1,
            self.roots[self.step - 1],
            first,
            last if last < self.n_features else len(self.variances),  # folded ones go with the last
            self.is_open,
            self.factors,
            self.variances,
        )
        self.bounds.update(block, self.variances)

    def add(self, s: int) -> Taken:
        """Take column s and condition all columns on it."""
        taken = self.take(s)
        self.run(self.condition)
        return taken

    def run(self, task: Callable[[Block], T]) -> list[T]:
        """Return the results of a task on every block of features, each in a thread of its own."""
        if self.pool is None:
            return [task(block) for block in self.blocks]
        return run_in(self.pool, task, self.blocks)

    def update_effects(self, columns: np.ndarray) -> None:
        """Condition the effects of some columns on all that are chosen."""
        update_effects(columns, self.effects, self.n_updates, self.step, self.slopes, self.factors)

    def feature_gains(self) -> np.ndarray:
        """Return the part of the error that every feature takes away, after all were scored."""
        # The weights sum to 1 up to rounding: a gain of nothing may come out below 0.
        gains = np.maximum(1.0 - self.losses[: self.n_features], 0.0)
        return np.where(self.varies[: self.n_features], gains, 0.0)

    def separations_of(self, n: int) -> np.ndarray:
        """Return D_p^2 of the first n chosen columns."""
        separations = np.zeros(self.slopes.shape[1])
        for slope in self.slopes[:n]:
            separations += slope * slope
        return separations

    def leave(self) -> Leftover:
        """Let go of what only further steps would need; return what a prediction needs of it."""
        scores, scales = self.scores, self.scales
        del self.scores, self.centers, self.scales, self.bounds, self.pool
        chosen = self.chosen[: min(self.step, MAX_EVALUATED)]
        others = spread_columns(self.varies, self.chosen[: self.step])
        weights = np.ones(len(scores.rows)) if scores.weights is None else scores.weights
        return Leftover(
            scores.scores[chosen],
            [scores.nominal.get(int(column)) for column in chosen],
            scores.sums[:, others],
            (scales * scores.confirmed_roots)[others],
            scores.class_counts,
            scores.class_weights,
            weights[: len(scores.rows)],
            self.options.shrinkage,
            self.options.pair_shares,
        )

    @property
    def is_large(self) -> bool:
        """Whether the arrays are too large to be kept until a prediction is asked for."""
        return self.effects.nbytes + self.factors.nbytes + self.slopes.nbytes > MAX_HELD


def pair_stakes(class_sizes: np.ndarray, pair_shares: np.ndarray | None) -> np.ndarray:
    """Return what the errors of the class pairs count, at most 1: less where samples are few."""
    first, second = np.triu_indices(len(class_sizes), 1)
    a, b = class_sizes[first], class_sizes[second]
    sizes = 2.0 * a * b / np.maximum(a + b, 1e-300)
    stakes = sizes / (sizes + _FEW)
    if pair_shares is not None:
        stakes = stakes * pair_shares
    return stakes / stakes.max()


def spread_columns(varies: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return at most 4096 of the columns that vary or are chosen, at even distances."""
    # The bias of a choice is estimated from features and chosen folded scores alike.
    varies = varies.copy()
    varies[chosen] = True
    varying = np.flatnonzero(varies)
    n_others = min(len(varying), _MAX_OTHERS)
    return varying[np.arange(n_others) * len(varying) // max(n_others, 1)]


class FeatureSearch:
    """The search of k features, one move after another.

    A move is a feature, with its folded score where it has one, or a unit of features that `units`
    gives. What a move changes is told to all columns when the next one is sought: one pass over
    the features does both.
    """

    def __init__(self, state: SearchState, k: int, folded: FoldedScores | None = None) -> None:
        self.state: SearchState = state
        self.folded: FoldedScores | None = folded
        self.n_ranked: int = 0
        self._found = GreedyRanking(
            np.zeros(k, np.int64),
            np.zeros(k, np.int64),
            np.ones(k, np.int64),
            np.zeros(k),
            np.zeros(k, np.int64),
            np.zeros(state.n_features),
        )
        self._last: LastChoice | None = None
        self._scored = -1  # the feature whose loss is that of this step

    def run(self, moves: Iterable[Iterable[int]] | None = None) -> GreedyRanking:
        """Return the ranking; `moves` call `best_move`, if they do not know the next one."""
        with start_pool(len(self.state.blocks)) as self.state.pool:
            for features in self._best_moves() if moves is None else moves:
                for feature in features:
                    self._choose(int(feature))
            self._condition()
        return self._found.first(self.n_ranked)

    def _best_moves(self) -> Iterator[Iterable[int]]:
        """Yield the best feature k times; constant ones come last, by column."""
        k, varies = len(self._found.ranking), self.state.varies[: self.state.n_features]
        n_chosen = min(k, int(varies.sum()))
        for _ in with_progress(range(n_chosen), "features"):
            yield (self.best_move()[1],)
        yield np.flatnonzero(~varies)[: k - n_chosen]

    def best_move(self) -> tuple[float, int]:
        """Return the gain and the number of the best feature; both -1 if none is left."""
        state, relevance = self.state, self._found.relevance
        n_better, bests = zip(*state.run(self._find_next), strict=True)
        self._finish(n_better)
        if state.step == 0:
            relevance[:] = state.feature_gains()
        gain, feature = -1.0, best_feature((f for f in bests if f >= 0), state.losses, state.prior)
        self._scored = feature
        if feature >= 0:
            gain = state.prior[feature] * max(1.0 - state.losses[feature], 0.0)
        if self.folded is not None:
            gain, feature = self.folded.better_move(state, gain, feature, relevance)
        return gain, feature

    def _choose(self, feature: int) -> None:
        """Rank a feature, and take it with its folded score; a constant one explains nothing."""
        self._condition()
        state, found, rank = self.state, self._found, self.n_ranked
        self.n_ranked += 1
        found.ranking[rank] = feature
        if state.varies[feature]:
            state.is_left[feature] = True  # it may be one of a group
            if feature != self._scored:
                state.find_best((feature, feature + 1))  # its effects and loss
            loss, before = state.losses[feature], (state.step, state.is_left)
            if self.folded is not None and self.folded.has(feature):
                variances, limits = state.variances.copy(), state.bounds.limits.copy()
                pair, gain, drop, separation, loss = self.folded.take(state, feature)
                taken = Taken(pair, gain, drop, separation)
            else:
                variances, limits = state.variances, state.bounds.limits
                taken = state.take(feature)
            self._last = LastChoice(rank, taken, *before, variances, limits)
            found.pairs[rank], found.gains[rank] = taken.pair, max(1.0 - loss, 0.0)
        found.n_steps[rank] = state.step

    def _condition(self) -> None:
        """Condition all columns on the last choice, if that was not done yet."""
        if self._last is not None:
            self._finish(self.state.run(self._condition_block))

    def _finish(self, n_better: Iterable[int]) -> None:
        """Complete the rank of the last choice: all columns are conditioned on it."""
        if self._last is not None:
            self._found.ranks[self._last.rank] += sum(n_better)
        self._last, self._scored = None, -1

    def _condition_block(self, block: Block) -> int:
        """Condition a block on the last choice; return how many of it gain more on its pair."""
        if self._last is None:
            return 0
        n_better = self.state.count_better(block, self._last)
        self.state.condition(block)
        return n_better

    def _find_next(self, block: Block) -> tuple[int, int]:
        """Do so, and return the best feature of the block, too."""
        return self._condition_block(block), self.state.find_best(block)


def search_candidates(
    candidates: Candidates, k: int, options: SearchOptions
) -> tuple[SearchState, GreedyRanking]:
    """Choose k features by their gains alone."""
    search = start_search(candidates, k, options)
    return search.state, search.run()


def start_search(candidates: Candidates, k: int, options: SearchOptions) -> FeatureSearch:
    """Return the search of k features, before the first step."""
    state, folded = SearchState(candidates, k, options), None
    if len(candidates.folded) > 0:
        folded = FoldedScores(state, candidates.folded)
    return FeatureSearch(state, k, folded)


def condition_on(state: SearchState, ranking: np.ndarray) -> SearchState:
    """Add the features of a ranking that vary to a state before its first step; return it."""
    for s in ranking[state.varies[ranking]]:
        step = state.step
        state.effects[s] -= state.factors[:step, s] @ state.slopes[:step]
        state.n_updates[s] = step
        state.add(s)
    return state


def best_feature(features: Iterable[int], losses: np.ndarray, prior: np.ndarray) -> int:
    """Return the best of some features, by the same order as `find_best`; -1 if there is none."""
    return min(
        features,
        key=lambda f: (-prior[f] * max(1.0 - losses[f], 0.0), -prior[f], losses[f], f),
        default=-1,
    )


def _feature_blocks(n_features: int, n_kept: int, n_jobs: int | None) -> list[Block]:
    """Cut the features into at most one block per thread, each worth its thread."""
    seconds = n_features * (n_kept * _PRODUCT_TIME + _FEATURE_TIME)
    return even_ranges(n_features, min(count_threads(n_jobs), int(seconds / _THREAD_TIME)))


class GainBounds:
    """What the gain of each feature does not exceed in this step: `limits`.

    By "Bounds" in docs/methods/greedy_mauc.md. `reaches`, roots of v0 u, `variances` and `offsets`
    are of the step, counted from the first of a window, in which a feature was scored last.
    """

    def __init__(self, n_features: int, weights: np.ndarray) -> None:
        # The matrix of a window takes a small part of the time that scoring all features would.
        window = min(_MAX_WINDOW, 2 + math.isqrt(n_features))
        # Nothing is known before the first step.
        self.limits: np.ndarray = np.full(n_features, np.inf)
        self.reaches: np.ndarray = np.full(n_features, np.inf)
        self.variances: np.ndarray = np.ones(n_features)
        self.offsets: np.ndarray = np.zeros(n_features, np.int64)
        self.offset: int = 0  # of this step
        self._first, self._spread = 0, 0.0
        self._weights_at = np.empty((window + 1, len(weights)))
        self._weights_at[0] = weights
        self._growths = np.ones(window + 1)
        self._is_full = False
        self._is_worthwhile = n_features * len(weights) >= MIN_EFFECTS

    def advance(self, step: int, slopes: np.ndarray, weights: np.ndarray) -> None:
        """Prepare the bounds of the next step, after `step` columns were chosen."""
        if not self._is_worthwhile:
            return
        if self._is_full:
            self._weights_at[0] = self._weights_at[-1]
            self._first += len(self._weights_at) - 1
        n_since = step - self._first
        self._weights_at[n_since] = weights
        # An infinite bound is a bound; a pair that does not count bounds nothing.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratios = np.where(weights > 0.0, weights / self._weights_at[: n_since + 1], 0.0)
        self._growths[: n_since + 1] = np.sqrt(ratios.max(axis=1))
        recent = slopes[self._first : step]
        matrix = (recent * weights) @ recent.T
        # Of its fourth power, the root of the sum of squares is not below the largest eigenvalue,
        # and near it.
        scale = max(np.abs(matrix).max(), 1e-300)
        power = matrix / scale
        power = power @ power
        power = power @ power
        largest = scale * float((power * power).sum()) ** 0.125
        self._spread = math.sqrt(RATE * largest)
        self._is_full = n_since == len(self._weights_at) - 1
        self.offset = 0 if self._is_full else n_since

    def update(self, block: Block, variances: np.ndarray) -> None:
        """Fill in the limits of a range of features, given their variances."""
        if not self._is_worthwhile:
            self.limits[slice(*block)] = np.inf
            return
        bound_block(
            *block,
            variances,
            self._growths,
            self._spread,
            self._is_full,
            self.variances,
            self.offsets,
            self.reaches,
            self.limits,
        )


@njit
def bound_block(
    first, last, variances, growths, spread, is_full, old_variances, offsets, reaches, limits
):
    """Fill in limits; if the window is full, they become the start of the next one.

    `growths` has sqrt(max_p w_p / w0_p) for every step of the window, `spread` is the root of the
    `RATE` times the largest sum of weighted squared slopes in any direction.
    """
    for f in range(uintp(first), uintp(last)):
        v = variances[f]
        reach = reaches[f] * growths[uintp(offsets[f])]
        reach += spread * math.sqrt(max(old_variances[f] - v, 0.0) + _MARGIN)
        # At the floor, a variance no longer tells the sum of squared factors.
        reach = reach if v > MIN_VARIANCE else np.inf
        limits[f] = reach * reach * _SLACK / v + _MARGIN
        if is_full:
            reaches[f], old_variances[f], offsets[f] = reach, v, 0


@njit
def find_best(
    effects,
    n_updates,
    step,
    slopes,
    factors,
    variances,
    weights,
    prior,
    first,
    last,
    is_left,
    offset,
    offsets,
    old_variances,
    reaches,
    limits,
    losses,
    batch,
    pending,
    errors,
):
    """Return the feature left of the largest gain times prior weight, -1 if there is none.

    Arrays are those of `SearchState` and `GainBounds`, both updated for every feature that is
    scored; only those are whose bounds do not exclude them. `batch` of shape (BATCH,), `pending`
    of shape (BATCH, n_steps) and `errors` of shape (BATCH, n_pairs), free of NaN, are work space.

    With bounds (limits times prior) of 0.5, 0.2, 0.7 and 0.3 the third feature is the favourite.
    Scored first, it gains 0.4: of the others only the first, whose bound is above that, is scored,
    and the better of the two returned. Several such features wait for each other, up to `BATCH`.
    """
    # The largest bound is the likeliest winner: scored first, it rules most others out.
    favourite, largest = -1, -1.0
    for f in range(first, last):
        if is_left[f] and prior[f] * limits[f] > largest:
            favourite, largest = f, prior[f] * limits[f]
    if favourite < 0:
        return -1
    n_pairs = uintp(weights.shape[0])
    n_batch = 0
    best, largest = -1, 0.0  # the latter is its weighted gain
    # best is the winner among the features that were scored; none of the others before f can be it
    for turn in range(first - 1, last + 1):
        f = favourite if turn < first else turn
        is_candidate = turn < last and is_left[f] and prior[f] * limits[f] >= largest
        if turn < first or (is_candidate and f != favourite):
            batch[n_batch] = f
            n_batch += 1
        if n_batch < BATCH and first <= turn < last:
            continue
        # All factors first: they are far apart in memory, and loads one after the other overlap.
        for i in range(n_batch):
            f = batch[i]
            for t in range(n_updates[f], step):
                pending[i, t] = factors[t, f]
        for i in range(n_batch):
            f = batch[i]
            row, error = effects[f], errors[i]
            for t in range(n_updates[f], step):
                slope, factor = slopes[t], pending[i, t]
                for p in range(n_pairs):
                    row[p] = fused(-slope[p], factor, row[p])
            n_updates[f] = step
            inverse = RATE / variances[f]
            for p in range(n_pairs):
                error[p] = exp_minus(row[p] * row[p] * inverse)
        # Pairs are added one after the other: the order of a sum is the same for all features.
        a, b, c, d = errors[0], errors[1], errors[2], errors[3]
        loss_a = loss_b = loss_c = loss_d = 0.0
        for p in range(n_pairs):
            loss_a = fused(weights[p], a[p], loss_a)
            loss_b = fused(weights[p], b[p], loss_b)
            loss_c = fused(weights[p], c[p], loss_c)
            loss_d = fused(weights[p], d[p], loss_d)
        for i in range(n_batch):
            f = batch[i]
            loss = loss_a if i == 0 else loss_b if i == 1 else loss_c if i == 2 else loss_d
            losses[f] = loss
            rise = 1.0 - loss if loss < 1.0 else 0.0
            limits[f] = rise + _MARGIN
            offsets[f], old_variances[f] = offset, variances[f]
            reaches[f] = math.sqrt(variances[f] * limits[f])
            gain = prior[f] * rise
            is_tied = gain == largest and best >= 0
            if gain > largest or best < 0 or (is_tied and is_before(f, best, prior, losses)):
                best, largest = f, gain
        n_batch = 0
    return best


@njit_part
def is_before(f, other, prior, losses):
    """Whether a feature comes before another one of the same weighted gain.

    The larger weight decides, then the smaller loss and the lower column. 1 - loss is rounded, but
    never so that it reverses an order: with equal weights this is the order of the losses.
    """
    if prior[f] != prior[other]:
        return prior[f] > prior[other]
    return losses[f] < losses[other] or (losses[f] == losses[other] and f < other)


@njit
def take_column(s, step, effects, variances, stakes, separations, weights, slopes, roots):
    """Choose column s, its effects up to date, and return the fields of `Taken`."""
    n_pairs = weights.shape[0]
    row, slope = effects[s], slopes[step]
    root = math.sqrt(variances[s])
    roots[step] = root
    pair, largest_drop, before = 0, -1.0, 0.0  # before: D_p^2 of the pair before the step
    smallest = np.inf
    for p in range(n_pairs):
        slope[p] = row[p] / root
        gain = slope[p] * slope[p]
        drop = weights[p] * (1.0 - exp_minus(RATE * gain))
        if drop > largest_drop:
            pair, largest_drop, before = p, drop, separations[p]
        separations[p] += gain
        smallest = separations[p] if stakes[p] > 0.0 and separations[p] < smallest else smallest
    # The hardest pair that counts has its stake before scaling: the weights cannot all underflow.
    total = 0.0
    for p in range(n_pairs):
        excess = separations[p] - smallest  # below 0 only where the pair does not count
        weights[p] = stakes[p] * exp_minus(RATE * excess if excess > 0.0 else 0.0)
        total += weights[p]
    for p in range(n_pairs):
        weights[p] /= total
    return pair, row[pair] * row[pair] / variances[s], largest_drop, math.sqrt(before)


@njit
def count_better(
    pair,
    gain,
    drop,
    separation,
    effects,
    n_updates,
    step,
    slopes,
    factors,
    variances,
    first,
    last,
    is_left,
    limits,
):
    """Count the features that are left and gain more on a pair than the column taken at `step`."""
    n_better = 0
    for f in range(first, last):
        # A larger gain on this pair alone would be a gain above the drop.
        if not is_left[f] or limits[f] < drop:
            continue
        effect, variance = effects[f, pair], variances[f]
        if variance > MIN_VARIANCE:
            # The factors of f have squares of sum 1 - v, the slopes on the pair of sum D_p^2.
            limit = abs(effect) + separation * math.sqrt(1.0 - variance + _MARGIN)
            if limit * limit * _SLACK < gain * variance:
                continue
        for t in range(n_updates[f], step):
            effect = fused(-slopes[t, pair], factors[t, f], effect)
        n_better += effect * effect / variance > gain
    return n_better


@njit
def update_effects(columns, effects, n_updates, step, slopes, factors):
    """Condition the effects of some columns on all columns chosen so far."""
    for f in columns:
        row = effects[f]
        for t in range(n_updates[f], step):
            slope, factor = slopes[t], factors[t, f]
            for p in range(uintp(row.shape[0])):
                row[p] = fused(-slope[p], factor, row[p])
        n_updates[f] = step


@njit
def update_block(
    scores,
    scores_s,
    centers,
    scales,
    shrinkage,
    doubt,
    s,
    n_factors,
    root,
    first,
    last,
    is_open,
    factors,
    variances,
):
    """Condition the variances of columns ``first`` to ``last`` on the chosen column s.

    `scores_s` is row s of the scores, widened to int16 once and not once per column, or times the
    weights of the rows, float64; `root` that of the residual variance of s. Row `n_factors` of the
    factors is filled.
    """
    new = factors[n_factors]
    trusted, n_classes = 1.0 - shrinkage, centers.shape[0]
    for start in range(first, last, _TILE):
        stop = start + _TILE if start + _TILE < last else last
        for f in range(start, stop):
            new[f] = np.float64(dot(scores_s, scores[f])) if is_open[f] else 0.0
        # Rows are subtracted in their order, two at a time: the new one is read and written half as
        # often. The last of an odd number goes with itself times 0, which changes nothing.
        for k in range(0, n_classes, 2):
            other = k + 1 if k + 1 < n_classes else k
            a, b, a_s, b_s = centers[k], centers[other], centers[k, s], centers[other, s]
            b_s = b_s if other > k else 0.0
            for f in range(uintp(start), uintp(stop)):
                new[f] = (new[f] - a_s * a[f]) - b_s * b[f]
        for f in range(uintp(start), uintp(stop)):
            r = new[f] * (scales[s] * scales[f])
            new[f] = trusted * (r - doubt * (r - r * r * r))
        for t in range(0, n_factors, 2):
            other = t + 1 if t + 1 < n_factors else t
            a, b, a_s, b_s = factors[t], factors[other], factors[t, s], factors[other, s]
            b_s = b_s if other > t else 0.0
            for f in range(uintp(start), uintp(stop)):
                new[f] = fused(-b_s, b[f], fused(-a_s, a[f], new[f]))
        for f in range(uintp(start), uintp(stop)):
            factor = new[f] / root
            new[f] = factor
            rest = variances[f] - factor * factor
            variances[f] = rest if rest > MIN_VARIANCE else MIN_VARIANCE
