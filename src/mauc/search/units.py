"""The search of `GreedyMAUC` under wishes: units of features, some kept, some too expensive."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from mauc.compile import njit
from mauc.data.wishes import Wishes
from mauc.measure.effects import RATE, Candidates
from mauc.measure.normal_scores import MIN_VARIANCE
from mauc.search.greedy import (
    FeatureSearch,
    GreedyRanking,
    SearchOptions,
    SearchState,
    search_candidates,
    start_search,
)
from mauc.search.sets import FeatureSets
from mauc.search.wishes import Purse

_MAX_RIVALS = 16  # units that are exchanged for others, by gain per cost and by gain
_MAX_CHOICES = 400  # that are looked at, and the values of their features in all
_MAX_VALUES = 2**23


def max_choices(n_values: int) -> int:
    """Return how many choices exchanges look at, by the number of normal scores of all features."""
    return min(_MAX_CHOICES, _MAX_VALUES // int(n_values))


def search_units(
    wishes: Wishes | None,
    candidates: Candidates,
    k: int,
    options: SearchOptions,
    rival: np.ndarray | None = None,
) -> tuple[SearchState, GreedyRanking, FeatureSets | None]:
    """Return state and ranking of the best choice, as in docs/methods/wishes.md.

    Also the sets whose MAUC is to be predicted, None where features were chosen by their gains
    alone. `rival` are features chosen without weights of class pairs: a further start under a
    budget, else chosen in place of those found if the MAUC to expect of them is higher.
    """
    sets = FeatureSets(candidates, options)
    used_sets = None if wishes is None or _is_by_gain(wishes) else sets

    def copied() -> Candidates:
        """Return the candidates with effects that a search may overwrite."""
        return candidates._replace(effects=candidates.effects.copy())

    def search(
        wishes: Wishes, by_cost: bool = True, only: frozenset[int] | None = None
    ) -> tuple[SearchState, GreedyRanking]:
        """Search under wishes, `only` among some units."""
        search = start_search(copied(), k, options)
        return search.state, search.run(UnitMoves(search, k, wishes, by_cost, only))

    if wishes is None:
        found = search_candidates(copied(), k, options)
        wishes = Wishes(np.arange(len(candidates.effects) - len(candidates.folded)))
    elif wishes.budget == np.inf:
        found = search(wishes)
    else:
        starts = [search(wishes, by_cost=by_cost)[1] for by_cost in (True, False)]
        n_values = candidates.scores.scores.size
        local = _LocalSearch(sets, k, wishes, starts[0].relevance, n_values)
        for ranking in [start.ranking for start in starts] + ([] if rival is None else [rival]):
            local.improve(frozenset(wishes.unit_of[ranking].tolist()))
        return *search(wishes, only=local.best), used_sets
    if rival is None or set(rival.tolist()) == set(found[1].ranking.tolist()):
        return *found, used_sets
    if sets.mauc(rival) <= sets.mauc(found[1].ranking):
        return *found, used_sets
    del found  # its effects and factors take the room of the next
    # In the order of a search of these alone; ranks are those among all features that are left.
    only = frozenset(wishes.unit_of[rival].tolist())
    order = wishes.unit_of[search(wishes, only=only)[1].ranking]
    return *search(replace(wishes, keep=tuple(dict.fromkeys(order.tolist())))), used_sets


def _is_by_gain(wishes: Wishes) -> bool:
    """Whether features are chosen one by one, by their gains alone."""
    return not wishes.keep and wishes.costs is None and bool((wishes.sizes <= 1).all())


class _LocalSearch:
    """Improves choices of units by leaving out, adding or exchanging two; not if there are many."""

    def __init__(
        self, sets: FeatureSets, k: int, wishes: Wishes, relevance: np.ndarray, n_values: int
    ) -> None:
        self._sets, self._k, self._wishes = sets, k, wishes
        self._known: dict[frozenset[int], float] = {}  # predicted MAUC of choices
        self._most = max_choices(n_values)
        worths = [wishes.worth(relevance, by_cost) for by_cost in (True, False)]
        self._rivals: set[int] = {
            int(unit)
            for worth in worths
            for unit in np.argsort(-worth, kind="stable")[:_MAX_RIVALS]
            if wishes.sizes[unit] > 0
        }

    @property
    def best(self) -> frozenset[int]:
        """The best choice that was looked at; of equal ones the cheapest, then the first."""
        costs = np.zeros(0) if self._wishes.costs is None else self._wishes.costs
        return max(self._known, key=lambda units: (self._known[units], -costs[list(units)].sum()))

    def improve(self, units: frozenset[int]) -> None:
        """Go from a choice to better ones, as long as there are any nearby."""
        distance = 1
        self._predict(units)
        while distance <= 2:
            near = [
                units.difference(old).union(new)
                for n_old, n_new in product(range(distance + 1), repeat=2)
                for old in combinations(sorted(units.difference(self._wishes.keep)), n_old)
                for new in combinations(sorted(self._rivals - units), n_new)
            ]
            near = [part for part in near if part and self._fits(part)]
            if len(self._known.keys() | near) > self._most:
                return
            best = max(near, key=self._predict)
            if self._predict(best) > self._predict(units):
                units, distance = best, 1
            else:
                distance += 1

    def _fits(self, units: frozenset[int]) -> bool:
        return Purse(self._wishes, self._k).fits([*units])

    def _predict(self, units: frozenset[int]) -> float:
        """Return the predicted MAUC of some units."""
        if units not in self._known:
            features = np.flatnonzero(np.isin(self._wishes.unit_of, [*units]))
            self._known[units] = self._sets.mauc(features)
        return self._known[units]


class UnitMoves:
    """The moves of a search under wishes: the features of a unit, those that vary first.

    Units to keep come first; then, as long as one fits, the unit of the largest gain per cost, or
    with ``by_cost=False`` of the largest gain alone; without costs, gains are per feature. Features
    that are not candidates by themselves stay conditioned on the chosen ones.
    """

    def __init__(
        self,
        search: FeatureSearch,
        k: int,
        wishes: Wishes,
        by_cost: bool = True,
        only: frozenset[int] | None = None,
    ) -> None:
        self._search, self._state = search, search.state
        self._wishes, self._purse = wishes, Purse(wishes, k, only)
        rates = wishes.rates(by_cost)
        self._rates = rates / rates[wishes.sizes > 0].max()
        self._groups = {}  # members that vary, and their correlations, by unit
        for unit in np.flatnonzero(wishes.sizes > 1).tolist():
            group = self._varying(unit)
            self._groups[unit] = group, _correlation_matrix(self._state, group)
        self._is_single = (wishes.unit_of >= 0) & (wishes.sizes[wishes.unit_of] == 1)
        self._prior = prior = self._state.prior
        rated = prior * self._rates[wishes.unit_of]
        self._state.prior = np.where(self._is_single, rated, prior)

    def __iter__(self) -> Iterator[list[int]]:
        wishes, purse, state = self._wishes, self._purse, self._state
        self._search.best_move()  # what every feature gains alone
        for kept in purse.turns():
            # A new array: the rank of the last choice is one among what was left before.
            state.is_left = state.is_open.copy()
            state.is_left[: state.n_features] &= purse.is_open[wishes.unit_of] & self._is_single
            state.is_left[state.n_features :] = False
            unit = self._best_unit() if kept is None else kept
            purse.take(unit)
            varying = self._varying(unit)
            yield [*varying, *np.setdiff1d(wishes.members(unit), varying)]

    def _varying(self, unit: int) -> np.ndarray:
        """Return the features of a unit that are not constant."""
        members = self._wishes.members(unit)
        return members[self._state.varies[members]]

    def _best_unit(self) -> int:
        """Return the unit of the best move: a feature or group."""
        is_open = self._purse.is_open
        gain, feature = self._search.best_move()
        best = -1 if feature < 0 else int(self._wishes.unit_of[feature])
        for unit, (group, r) in self._groups.items():
            if is_open[unit] and (worth := self._joint_gain(unit, group, r)) > gain:
                best, gain = unit, worth
        # Constant units come last, by column.
        return best if best >= 0 else int(np.flatnonzero(is_open)[0])

    def _joint_gain(self, unit: int, group: np.ndarray, r: np.ndarray) -> float:
        """Return what a group gains, weighted by its prior and its rate."""
        state = self._state
        for feature in group:
            state.is_left[feature] = True
            state.find_best((feature, feature + 1))  # its effects
            state.is_left[feature] = False
        factors = state.factors[: state.step, group]
        squares = np.zeros(len(state.weights))
        joint_squares(r - factors.T @ factors, state.effects[group], squares)
        loss = float(np.exp(-RATE * squares) @ state.weights)
        prior = float(self._prior[group].mean()) if len(group) else 0.0
        return prior * self._rates[unit] * max(1.0 - loss, 0.0)


def _correlation_matrix(state: SearchState, columns: np.ndarray) -> np.ndarray:
    """Return the shrunk correlations of columns, 1 on the diagonal."""
    first, second = (side.ravel() for side in np.meshgrid(columns, columns, indexing="ij"))
    r = state.correlations(first, second).reshape(len(columns), len(columns))
    r[np.diag_indices(len(columns))] = 1.0
    return r


@njit
def joint_squares(covariances, effects, squares):
    """Add e' C^-1 e to `squares` for every class pair, as a search does; overwrite C and e."""
    n, n_pairs = effects.shape
    for a in range(n):
        variance = covariances[a, a]
        root = math.sqrt(variance if variance > MIN_VARIANCE else MIN_VARIANCE)
        for p in range(n_pairs):
            effects[a, p] /= root
            squares[p] += effects[a, p] * effects[a, p]
        for b in range(a + 1, n):
            factor = covariances[a, b] / root
            for p in range(n_pairs):
                effects[b, p] -= factor * effects[a, p]
            for c in range(b, n):
                covariances[b, c] -= factor * (covariances[a, c] / root)
