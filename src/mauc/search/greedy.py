"""The greedy search for features that together separate all class pairs, and its state."""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.extending import intrinsic

from mauc.compile import njit, njit_part
from mauc.measure.effects import measure
from mauc.measure.normal_scores import NormalScores, class_moments, resolve_shrinkage
from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.progress import track

MIN_VARIANCE = 1e-3  # floor of v: a copy of a chosen feature has residual variance 0
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
RATE = 1.0 / 8.0  # of the error bound exp(-D_p^2 / 8) of a pair (Chernoff)
_FEW = 10.0  # samples of two classes, in harmonic mean, whose error counts half
_FUNCTION_NOISE = 0.1  # variance left, below which a nominal feature is taken for a function
_CHUNK = 1 << 16  # products of two 8-bit numbers: as many never overflow a 32-bit sum
_TILE = 1 << 16  # features: long rows stream well, and one of them stays in the second-level cache


class Taken(NamedTuple):
    """What a chosen column does to the class pair whose error it lowers most."""

    pair: int
    gain: float  #: e_p(s)^2 / v(s)
    drop: float  #: of the error of the pair
    separation: float  #: D_p before the step


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
        return GreedyRanking(*[part[:k] for part in self[:-1]] + [self.relevance])


class Leftover(NamedTuple):
    """What remains known of normal scores after a search, for its prediction."""

    rows: np.ndarray  #: (k, n_kept), int8: scores of the chosen columns, at most 512
    confirmed: np.ndarray  #: (k,): their `NormalScores.nominal_shares`, NaN where there is none
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

    `effects`, of shape (n_columns, n_pairs), are overwritten by residual effects. At most `n_steps`
    columns will be chosen. `doubt` is the part of the within-class correlations that is replaced by
    their cubes; all count 1 - `shrinkage` times. Gains are multiplied by the `prior`, weights in
    (0, 1], when they are compared; errors by `pair_stakes`, with `pair_shares`, None if all count
    the same. The last `n_folded` columns are not candidates on their own.
    """

    def __init__(
        self,
        effects: np.ndarray,
        scores: NormalScores,
        n_steps: int,
        *,
        shrinkage: float,
        doubt: float = 0.0,
        prior: np.ndarray | None = None,
        pair_shares: np.ndarray | None = None,
        n_folded: int = 0,
        n_jobs: int | None = None,
    ):
        n_columns, n_pairs = effects.shape
        n_rows = max(n_steps, 1)
        self.scores: Any = scores  # None, as others, once the search has left
        self.effects: np.ndarray = effects
        self.varies: np.ndarray = scores.varies
        self.n_features: int = n_columns - n_folded
        self.shrinkage: float = shrinkage
        self.doubt: float = doubt
        self.prior: np.ndarray = np.ones(self.n_features) if prior is None else prior
        self.centers: Any
        self.scales: Any
        self.centers, self.scales = scores.within_scales()
        # Features that vary and are not chosen; these and folded scores that are not chosen.
        self.is_left: np.ndarray = scores.varies.copy()
        self.is_open: np.ndarray = self.is_left
        if n_folded > 0:
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
        self.pair_shares: np.ndarray | None = pair_shares
        self.stakes: np.ndarray = pair_stakes(scores.class_sizes, pair_shares)
        self.weights: np.ndarray = self.stakes / self.stakes.sum()
        self.bounds: Any = GainBounds(self.n_features, self.weights)
        self.blocks: list[tuple[int, int]] = _feature_blocks(
            self.n_features, scores.padded.shape[1], n_jobs
        )
        self.pool: Any = None  # of a search with several blocks
        self.sets: Any = None  # FeatureSets of a search that does not go by its gains alone
        self._n_jobs = n_jobs
        self._nominal = np.array(sorted(scores.nominal_shares), np.int64)
        self._n_reduced = np.zeros(n_columns, np.int64)  # chosen columns that effects are freed of

    def with_prior(self, prior: Any) -> "SearchState":
        """Return a state before the first step, on a copy of the effects, with weights of gains."""
        return SearchState(
            self.effects.copy(),
            self.scores,
            len(self.chosen),
            shrinkage=self.shrinkage,
            doubt=self.doubt,
            prior=prior,
            pair_shares=self.pair_shares,
            n_jobs=self._n_jobs,
        )

    def find_best(self, block: Any) -> Any:
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

    def _reduce_nominal(self, block):
        """Take off the effects of nominal features what only categories of chosen ones tell."""
        columns = self._nominal[np.searchsorted(self._nominal, block[0]) :]
        columns = columns[(columns < block[1]) & self.is_left[columns]]
        for at in range(int(self._n_reduced[columns].min(initial=self.step)), self.step):
            if self.chosen[at] in self.scores.nominal_shares:
                new = columns[self._n_reduced[columns] <= at]
                self.update_effects(new)
                self.effects[new] *= self.kept_by(new, self.chosen[at])[:, np.newaxis]
        self._n_reduced[columns] = self.step

    def kept_by(self, columns: Any, s: Any) -> np.ndarray:
        """Return what is left, in [0, 1], of effects of nominal columns when another is chosen."""
        return np.sqrt(np.minimum(self._unexplained(columns, s) / _FUNCTION_NOISE, 1.0))

    def _unexplained(self, columns, s):
        """Return the parts of variances that groups of equal s leave, of what a line leaves."""
        scores, counts = self.scores.scores, self.scores.class_counts
        keys = np.repeat(256 * np.arange(len(counts)), counts) + scores[s]
        order = np.argsort(keys, kind="stable")
        starts = np.append(np.flatnonzero(np.diff(keys[order], prepend=-999)), len(keys))
        weights, sizes, at = self.scores.weights, np.diff(starts), np.arange(len(columns))
        if weights is not None:
            weights = weights[order]
            sizes = np.add.reduceat(weights, starts[:-1])
        n_groups, n, n_classes = len(sizes), sizes.sum(), np.count_nonzero(counts)
        if n_groups >= n:
            return np.ones(len(columns))
        moments = class_moments(scores[columns][:, order], at, starts, weights)
        centers, scales = self.centers[:, columns], self.scales[columns]
        between = (moments[:, 0] ** 2 / sizes).sum(axis=1)
        shared = self.scores.products(columns, s).astype(np.float64)
        for center, own in zip(centers, self.centers[:, s], strict=True):
            between -= center * center
            shared -= center * own
        r = shared * scales * self.scales[s]
        unexplained = (1.0 - between * scales**2) * (n - n_classes) / (n - n_groups)
        return np.maximum(unexplained, 0.0) / np.maximum(1.0 - r * r, 1e-9)

    def count_better(
        self, block: Any, taken: Any, step: int, variances: np.ndarray, limits: Any
    ) -> Any:
        """Count features of a range that gain more on the pair of a taken column than it did."""
        return count_better(
            *taken,
            self.effects,
            self.n_updates,
            step,
            self.slopes,
            self.factors,
            variances,
            *block,
            self.is_left,
            limits,
        )

    def take(self, s: Any) -> Taken:
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

    def condition(self, block: Any) -> None:
        """Condition the variances of a range of features on the column that was taken last."""
        first, last = block
        s = self.chosen[self.step - 1]
        update_block(
            self.scores.padded,
            self.scores.weighted(s),
            self.centers,
            self.scales,
            self.shrinkage,
            self.doubt,
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

    def add(self, s: Any) -> Taken:
        """Take column s and condition all columns on it."""
        taken = self.take(s)
        self.run(self.condition)
        return taken

    def run(self, task: Any, *args: Any) -> list[Any]:
        """Return the results of a task on every block of features, each in a thread of its own."""
        if self.pool is None:
            return [task(block, *args) for block in self.blocks]
        return run_in(self.pool, task, self.blocks, *args)

    def update_effects(self, columns: Any) -> None:
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
        self.scores = self.centers = self.scales = self.bounds = self.pool = None
        chosen = self.chosen[: min(self.step, MAX_EVALUATED)]
        others = spread_columns(self.varies, self.chosen[: self.step])
        shares, weights = scores.nominal_shares, scores.weights
        if weights is None:
            weights = np.ones(len(scores.rows))
        return Leftover(
            scores.scores[chosen],
            np.array([shares.get(int(column), np.nan) for column in chosen]),
            scores.sums[:, others],
            (scales * scores.confirmed_roots)[others],
            scores.class_counts,
            scores.class_weights,
            weights[: len(scores.rows)],
            self.shrinkage,
            self.pair_shares,
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


def measure_state(
    selector: Any, problem: Any, n_steps: int, n_jobs: int | None = None, n_room: int = 0
) -> SearchState:
    """Return the state before the first step, with the options of a `GreedyMAUC` but its prior."""
    options = selector.check_options()
    effects, scores = measure(
        problem, max_samples=options.max_samples, n_room=n_room, n_jobs=n_jobs
    )
    shrinkage, doubt = resolve_shrinkage(options.shrinkage, scores)
    return SearchState(
        effects,
        scores,
        n_steps,
        shrinkage=shrinkage,
        doubt=doubt,
        pair_shares=problem.pair_shares,
        n_jobs=n_jobs,
    )


def search_features(state: Any, k: int) -> GreedyRanking:
    """Choose k features that together separate all class pairs."""
    found = empty_ranking(state, k)
    n_chosen = int(found.n_steps[-1])

    def condition_last(block, taken):
        n_better = state.count_better(
            block, taken, state.step - 1, state.variances, state.bounds.limits
        )
        state.condition(block)
        return n_better

    def find_next(block, taken):
        n_better = condition_last(block, taken) if state.step > 0 else 0
        return n_better, state.find_best(block)

    taken = None
    with start_pool(len(state.blocks)) as state.pool:
        # found.ranking[:step] is chosen; variances are given it, effects given a part of it.
        for step in track(range(n_chosen), "features"):
            n_better, bests = zip(*state.run(find_next, taken), strict=True)
            if step == 0:
                found.relevance[:] = state.feature_gains()
            else:
                found.ranks[step - 1] += sum(n_better)
            s = best_feature((f for f in bests if f >= 0), state.losses, state.prior)
            found.ranking[step] = s
            found.gains[step] = max(1.0 - state.losses[s], 0.0)
            taken = state.take(s)
            found.pairs[step] = taken.pair
        if n_chosen > 0:
            found.ranks[n_chosen - 1] += sum(state.run(condition_last, taken))
    return found


def empty_ranking(state: Any, k: int) -> GreedyRanking:
    """Return a ranking of k features to be filled in; constant ones are there, last, by column."""
    varies = state.varies[: state.n_features]
    n_chosen = min(k, int(varies.sum()))
    ranking = np.zeros(k, np.int64)
    ranking[n_chosen:] = np.flatnonzero(~varies)[: k - n_chosen]
    return GreedyRanking(
        ranking,
        np.zeros(k, np.int64),
        np.ones(k, np.int64),
        np.zeros(k),
        np.minimum(np.arange(1, k + 1), n_chosen),
        np.zeros(state.n_features),
    )


def condition_on(state: Any, ranking: np.ndarray) -> Any:
    """Add the features of a ranking that vary to a state before its first step; return it."""
    for s in ranking[state.varies[ranking]]:
        step = state.step
        state.effects[s] -= state.factors[:step, s] @ state.slopes[:step]
        state.n_updates[s] = step
        state.add(s)
    return state


def plain_state(effects: Any, scores: Any, ranking: np.ndarray, options: Any) -> Any:
    """Return a state of the features of a ranking alone, after the last step."""
    state = condition_on(SearchState(effects, scores, len(ranking), **options), ranking)
    state.leave()
    return state


def best_feature(features: Any, losses: np.ndarray, prior: Any) -> Any:
    """Return the best of some features, by the same order as `find_best`."""
    return min(
        features, key=lambda f: (-prior[f] * max(1.0 - losses[f], 0.0), -prior[f], losses[f], f)
    )


def _feature_blocks(n_features, n_kept, n_jobs):
    """Cut the features into at most one block per thread, each worth its thread."""
    seconds = n_features * (n_kept * _PRODUCT_TIME + _FEATURE_TIME)
    return even_ranges(n_features, min(count_threads(n_jobs), int(seconds / _THREAD_TIME)))


class GainBounds:
    """What the gain of each feature does not exceed in this step: `limits`.

    By "Bounds" in docs/methods/greedy_mauc.md. `reaches`, roots of v0 u, `variances` and `offsets`
    are of the step, counted from the first of a window, in which a feature was scored last.
    """

    def __init__(self, n_features: int, weights: Any):
        # The matrix of a window takes a small part of the time that scoring all features would.
        window = min(_MAX_WINDOW, 2 + math.isqrt(n_features))
        self.limits: np.ndarray = np.full(
            n_features, np.inf
        )  # nothing is known before the first step
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

    def advance(self, step: int, slopes: np.ndarray, weights: Any) -> None:
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

    def update(self, block: Any, variances: np.ndarray) -> None:
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
            # The larger weighted gain decides, then the larger weight, the smaller loss and the
            # lower column. 1 - loss is rounded, but never so that it reverses an order: with equal
            # weights this is the order of the losses.
            gain, is_first = prior[f] * rise, best < 0
            if not is_first:
                is_first = gain > largest
                if gain == largest and prior[f] != prior[best]:
                    is_first = prior[f] > prior[best]
                elif gain == largest:
                    is_first = loss < losses[best] or (loss == losses[best] and f < best)
            if is_first:
                best, largest = f, gain
        n_batch = 0
    return best


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def update_effects(columns, effects, n_updates, step, slopes, factors):
    """Condition the effects of some columns on all columns chosen so far."""
    for f in columns:
        row = effects[f]
        for t in range(n_updates[f], step):
            slope, factor = slopes[t], factors[t, f]
            for p in range(uintp(row.shape[0])):
                row[p] = fused(-slope[p], factor, row[p])
        n_updates[f] = step


@njit(cache=True, nogil=True)
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


@njit_part
def dot(a, b):
    """Return the sum of products of a row of int16, or float64, and one of int8, up to -+127."""
    n = a.shape[0]
    total = np.int64(0)
    for start in range(0, n, _CHUNK):
        part = np.int32(0)
        stop = start + _CHUNK if start + _CHUNK < n else n
        for i in range(uintp(start), uintp(stop)):
            part = add_product(part, a[i], b[i])
        total += part
    return total


_WORD, _WIDE = ir.IntType(32), ir.IntType(64)


@intrinsic
def add_product(typingctx, total, a, b):
    """Return total + a b, of whole a in 32 bits: Numba would use 64 and half the lanes."""

    def codegen(context, builder, signature, args):
        total, a, b = args
        return builder.add(total, builder.mul(builder.sext(a, _WORD), builder.sext(b, _WORD)))

    def codegen_float(context, builder, signature, args):
        return builder.fma(args[1], builder.sitofp(args[2], ir.DoubleType()), args[0])

    if a == types.float64:
        return types.float64(a, a, types.int8), codegen_float
    return types.int32(types.int32, types.int16, types.int8), codegen


@intrinsic
def fused(typingctx, a, b, c):
    """Return a b + c, rounded once: the same bits on every processor."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


@intrinsic
def two_to_the(typingctx, shifted):
    """Return 2^k, given k + 1.5 * 2^52, whose lowest bits are k."""
    signature = types.float64(types.float64)

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.bitcast(args[0], _WIDE), ir.Constant(_WIDE, 52))
        bits = builder.add(bits, ir.Constant(_WIDE, 1023 << 52))
        return builder.bitcast(bits, ir.DoubleType())

    return signature, codegen


_SHIFT = 1.5 * 2.0**52
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (1.0 / math.factorial(k) for k in range(3, 12))


@njit_part
def exp_minus(x):
    """Return exp(-x) for x >= 0, to 1e-14 of itself; exp(-700) for all beyond.

    exp(-x) = 2^k exp(r) with |r| <= log(2) / 2, and exp(r) by its series. There is no branch
    and no call, so a loop over it runs in vectors, with the same bits in each lane.
    """
    x = x if x < 700.0 else 700.0
    shifted = fused(x, -_LOG2_E, _SHIFT)
    k = shifted - _SHIFT
    r = fused(k, -_LN2_LOW, fused(k, -_LN2_HIGH, -x))
    r2 = r * r
    r4 = r2 * r2
    low = fused(r2, fused(r, _C3, 0.5), 1.0 + r)
    middle = fused(r2, fused(r, _C7, _C6), fused(r, _C5, _C4))
    high = fused(r2, fused(r, _C11, _C10), fused(r, _C9, _C8))
    return fused(r4, fused(r4, high, middle), low) * two_to_the(shifted)
