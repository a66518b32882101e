"""The search of features with their folded scores, see `dispersion`, as further columns."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mauc.compile import njit
from mauc.measure.dispersion import FOLDED, find_folded, folded_moments
from mauc.measure.normal_scores import NormalScores
from mauc.parallel import start_pool
from mauc.progress import track
from mauc.search.greedy import (
    MIN_VARIANCE,
    RATE,
    GreedyRanking,
    SearchState,
    Taken,
    best_feature,
    empty_ranking,
    exp_minus,
    search_features,
)


class FoldedColumns(NamedTuple):
    """Features, followed by the folded scores of some of them."""

    effects: np.ndarray  #: (n_features + n_folded, n_pairs)
    scores: NormalScores
    folded: np.ndarray  #: (n_folded,), int64: the features that have folded scores, ascending

    def take(self, features: np.ndarray) -> "FoldedColumns":
        """Return some features, ascending, with their folded scores."""
        n_features = len(self.effects) - len(self.folded)
        is_taken = np.isin(self.folded, features)
        kept = np.concatenate([features, n_features + np.flatnonzero(is_taken)])
        folded = np.searchsorted(features, self.folded[is_taken])
        return FoldedColumns(self.effects[kept], self.scores.taken(kept), folded)


def search_with_folded(
    effects: np.ndarray,
    scores: NormalScores,
    k: int,
    *,
    search: Callable[..., tuple[SearchState, GreedyRanking]] | None = None,
    **options: Any,
) -> tuple[SearchState, GreedyRanking, np.ndarray]:
    """Choose features with their folded scores; return the features that have some, too.

    The scores have room for all of them. `search` is that under constraints, if there are any.
    """
    folded, spread = find_folded(effects, scores, options.get("pair_shares"))
    columns = add_folded(effects, scores, folded, spread)
    return *(search or search_columns)(columns, k, options), folded


def add_folded(
    effects: np.ndarray, scores: NormalScores, folded: np.ndarray, spread: np.ndarray
) -> FoldedColumns:
    """Append the folded scores of features, whose effects are `spread`."""
    if len(folded) == 0:
        return FoldedColumns(effects, scores, folded)
    padded, moments = FOLDED[scores.padded[folded].view(np.uint8)], folded_moments(scores, folded)
    extended = scores.extended(padded, moments[:, 0].T, moments[:, 1].sum(axis=1))
    return FoldedColumns(np.concatenate([effects, spread]), extended, folded)


def search_columns(
    columns: FoldedColumns, k: int, options: dict[str, Any]
) -> tuple[SearchState, GreedyRanking]:
    """Choose k features by their gains alone."""
    if len(columns.folded) == 0:
        state = SearchState(columns.effects, columns.scores, k, **options)
        return state, search_features(state, k)
    state = make_state(columns, k, options)
    return state, FoldedSearch(state, columns.folded, k).run()


def make_state(columns: FoldedColumns, k: int, options: dict[str, Any]) -> SearchState:
    """Return the state before the search of k features with their folded scores."""
    n_folded = len(columns.folded)
    n_steps = k + min(k, n_folded)
    return SearchState(columns.effects, columns.scores, n_steps, n_folded=n_folded, **options)


class FoldedSearch:
    """The search of k features, each of which is chosen with its folded scores."""

    def __init__(self, state: SearchState, folded: np.ndarray, k: int) -> None:
        self.state: SearchState = state
        self.folded: np.ndarray = folded
        self.found: GreedyRanking = empty_ranking(state, k)
        #: the columns of the folded scores
        self.columns: np.ndarray = state.n_features + np.arange(len(folded))
        self._involved = np.concatenate([folded, self.columns])
        self._correlations = shrunk_correlations(state, folded, self.columns)

    def run(self) -> GreedyRanking:
        """Return the ranking."""
        state, n_chosen = self.state, int(self.found.n_steps[-1])
        with start_pool(len(state.blocks)) as state.pool:
            for rank in track(range(n_chosen), "features"):
                self.choose(self.best_move()[1], rank)
        self.found.n_steps[n_chosen:] = state.step
        return self.found

    def best_move(self) -> tuple[float, int]:
        """Return the gain and the number of the best feature; both -1 if none is left."""
        state, gain, feature = self.state, -1.0, -1
        bests = [f for f in state.run(state.find_best) if f >= 0]
        if bests:
            feature = best_feature(bests, state.losses, state.prior)
            gain = state.prior[feature] * max(1.0 - state.losses[feature], 0.0)
        if state.step == 0:
            self.found.relevance[:] = state.feature_gains()
        if len(self.folded) == 0:
            return gain, feature
        state.update_effects(self._involved[state.is_open[self._involved]])
        gains = self._joint_gains()
        if state.step == 0:
            self.found.relevance[self.folded] = gains
        # Those that are chosen, or excluded by constraints, are not left.
        gains = state.prior[self.folded] * state.is_left[self.folded] * gains
        move = int(np.argmax(gains))
        if gains[move] <= max(gain, 0.0):
            return gain, feature
        return float(gains[move]), int(self.folded[move])

    def _joint_gains(self) -> np.ndarray:
        """Return what each feature gains together with its folded scores."""
        state, folded, columns = self.state, self.folded, self.columns
        factors = state.factors[: state.step]

        def deviation(variance: np.ndarray) -> np.ndarray:
            return np.sqrt(np.maximum(variance, MIN_VARIANCE))[:, np.newaxis]

        # The Cholesky factor of the two columns given the chosen ones, and their effects in
        # independent coordinates.
        covariance = self._correlations - (factors[:, folded] * factors[:, columns]).sum(axis=0)
        root = deviation(state.variances[folded])
        factor = covariance[:, np.newaxis] / root
        x = state.effects[folded] / root
        y = state.effects[columns] - factor * x
        y /= deviation(state.variances[columns] - factor[:, 0] ** 2)
        losses = np.exp(-RATE * (x**2 + y**2)) @ state.weights
        return np.maximum(1.0 - losses, 0.0)

    def choose(self, feature: int, rank: int) -> None:
        """Rank a feature, and add it with its folded scores."""
        state, found = self.state, self.found
        step, variances, limits = state.step, state.variances.copy(), state.bounds.limits.copy()
        weights, separations = state.weights.copy(), state.separations.copy()
        state.find_best((feature, feature + 1))  # its effects and loss
        loss, taken = state.losses[feature], state.add(feature)
        columns = self.columns[self.folded == feature]
        for column in columns:  # one or none
            state.update_effects(columns)
            state.add(column)
            *joint, loss = joint_step(separations, state.separations, weights)
            taken = Taken(*joint)
        found.ranking[rank], found.pairs[rank] = feature, taken.pair
        found.gains[rank], found.n_steps[rank] = max(1.0 - loss, 0.0), state.step
        found.ranks[rank] += sum(
            state.run(lambda block: state.count_better(block, taken, step, variances, limits))
        )


def shrunk_correlations(state: Any, first: Any, second: Any) -> Any:
    """Return the shrunk within-class correlations of pairs of columns."""
    centers = state.centers
    within = state.scores.products(first, second) - (centers[:, first] * centers[:, second]).sum(
        axis=0
    )
    r = within * state.scales[first] * state.scales[second]
    return (1.0 - state.shrinkage) * (r - state.doubt * (r - r * r * r))


@njit(cache=True, nogil=True)
def joint_step(before, after, weights):
    """Return the fields of `Taken` of columns added at once, and what error they leave."""
    pair, largest_drop, loss = 0, -1.0, 0.0
    for p in range(weights.shape[0]):
        left = exp_minus(RATE * (after[p] - before[p]))
        drop = weights[p] * (1.0 - left)
        if drop > largest_drop:
            pair, largest_drop = p, drop
        loss += weights[p] * left
    return pair, after[pair] - before[pair], largest_drop, math.sqrt(before[pair]), loss
