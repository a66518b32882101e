"""The greedy search under constraints: units of features, some kept, some too expensive."""

import math
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations, product
from typing import Any

import numpy as np

from mauc.compile import njit
from mauc.data.wishes import Constraints
from mauc.layout import Layout, plain_layout
from mauc.parallel import start_pool
from mauc.results import Result, first_rows, number
from mauc.search.folded import (
    FoldedColumns,
    FoldedSearch,
    make_state,
    search_columns,
    shrunk_correlations,
)
from mauc.search.greedy import MIN_VARIANCE, RATE, GreedyRanking, SearchState
from mauc.search.sets import FeatureSets
from mauc.search.wishes import Purse

_MAX_RIVALS = 16  # units that are exchanged for others, by gain per cost and by gain
_MAX_CHOICES = 400  # that are looked at, and the values of their features in all
_MAX_VALUES = 2**23
Found = tuple[SearchState, GreedyRanking]


@dataclass(frozen=True, repr=False)
class CostCurve(Result):
    """MAUC to expect for what the features so far cost; the last value of each cost counts."""

    cost: np.ndarray  #: (n_selected,), ascending
    mauc: np.ndarray  #: (n_selected,)

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: one row per cost, with the features that it pays."""
        last = np.flatnonzero(np.append(np.diff(self.cost) > 0, True))
        return {"cost": self.cost[last], "n_features": last + 1, "mauc": self.mauc[last]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve; return its `mauc.plotting.CostCurveDisplay`."""
        # By name: plots build on selectors, not the other way round.
        return import_module("mauc.plotting").CostCurveDisplay(self).plot(ax)

    def printed_parts(self) -> list[str | Layout]:
        """Return the curve as a table."""
        columns = self.frame_columns()
        rows = [
            [
                f"{columns['cost'][at]:g}",
                str(columns["n_features"][at]),
                number(columns["mauc"][at]),
            ]
            for at in first_rows(len(columns["cost"]))
        ]
        heads = ["cost", "features", "predicted MAUC"]
        return [plain_layout(heads, rows, len(columns["cost"]), right=("cost", "features"))]


def max_choices(n_values: int) -> int:
    """Return how many choices exchanges look at, by the number of normal scores of all features."""
    return min(_MAX_CHOICES, _MAX_VALUES // int(n_values))


def search_units(
    wishes: Constraints | None,
    columns: FoldedColumns,
    k: int,
    options: dict[str, Any],
    rival: np.ndarray | None = None,
) -> Found:
    """Return state and ranking of the best choice, as in docs/methods/wishes.md.

    `rival` are features chosen without weights of class pairs: a further start under a budget, else
    chosen in place of those found if the MAUC to expect of them is higher.
    """
    sets = FeatureSets(columns, options)
    is_by_gain = wishes is None or _is_by_gain(wishes)

    def search(wishes: Constraints, **options_of_search: Any) -> Found:
        state = make_state(columns._replace(effects=columns.effects.copy()), k, options)
        state.sets = None if is_by_gain else sets
        return state, UnitSearch(state, columns.folded, k, wishes, **options_of_search).run()

    if wishes is None:
        found = search_columns(columns._replace(effects=columns.effects.copy()), k, options)
        wishes = Constraints(np.arange(len(columns.effects) - len(columns.folded)))
    elif wishes.budget == np.inf:
        found = search(wishes)
    else:
        starts = [search(wishes, by_cost=by_cost)[1] for by_cost in (True, False)]
        exchange = _Exchange(sets, k, wishes, starts[0].relevance, columns.scores.scores.size)
        for ranking in [start.ranking for start in starts] + ([] if rival is None else [rival]):
            exchange.improve(frozenset(wishes.unit_of[ranking].tolist()))
        return search(wishes, only=exchange.best)
    if rival is None or set(rival.tolist()) == set(found[1].ranking.tolist()):
        return found
    if sets.mauc(rival) <= sets.mauc(found[1].ranking):
        return found
    del found  # its effects and factors take the room of the next
    # In the order of a search of these alone; ranks are those among all features that are left.
    only = frozenset(wishes.unit_of[rival].tolist())
    order = wishes.unit_of[search(wishes, only=only)[1].ranking]
    return search(replace(wishes, keep=tuple(dict.fromkeys(order.tolist()))))


def _is_by_gain(wishes: Constraints) -> bool:
    """Whether features are chosen one by one, by their gains alone."""
    return not wishes.keep and wishes.costs is None and bool((wishes.sizes <= 1).all())


class _Exchange:
    """Improves choices of units by leaving out, adding or exchanging two; not if there are many."""

    def __init__(
        self, sets: FeatureSets, k: int, wishes: Constraints, relevance: np.ndarray, n_values: int
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


def _correlation_matrix(state: SearchState, columns: np.ndarray) -> np.ndarray:
    """Return the shrunk correlations of columns, 1 on the diagonal."""
    first, second = (side.ravel() for side in np.meshgrid(columns, columns, indexing="ij"))
    r = shrunk_correlations(state, first, second).reshape(len(columns), len(columns))
    r[np.diag_indices(len(columns))] = 1.0
    return r


class UnitSearch(FoldedSearch):
    """The search under `Constraints`: units of features, some kept, some too expensive.

    Gains are per cost, or with ``by_cost=False`` gains alone; without costs they are per feature.
    Features that are not candidates by themselves stay conditioned on the chosen ones.
    """

    def __init__(
        self,
        state: SearchState,
        folded: np.ndarray,
        k: int,
        wishes: Constraints,
        by_cost: bool = True,
        only: frozenset[int] | None = None,
    ) -> None:
        super().__init__(state, folded, k)
        self._wishes, self._purse = wishes, Purse(wishes, k)
        if only is not None:
            self._purse.is_open &= np.isin(np.arange(len(wishes.sizes)), [*only])
        rates = wishes.rates(by_cost)
        self._rates = rates / rates[wishes.sizes > 0].max()
        self._groups = {}  # members that vary, and their correlations, by unit
        for unit in np.flatnonzero(wishes.sizes > 1).tolist():
            group = wishes.members(unit)
            group = group[state.varies[group]]
            self._groups[unit] = group, _correlation_matrix(state, group)
        self._plain_prior = state.prior
        state.is_open = state.is_open.copy()  # apart from the candidates

    def run(self) -> GreedyRanking:
        """Return the ranking, which may be shorter than k."""
        state, wishes = self.state, self._wishes
        ranking: list[int] = []
        is_single = (wishes.unit_of >= 0) & (wishes.sizes[wishes.unit_of] == 1)
        state.prior = np.where(is_single, state.prior * self._rates[wishes.unit_of], state.prior)
        with start_pool(len(state.blocks)) as state.pool:
            self.best_move()  # what every feature gains alone
            waiting, purse = [*wishes.keep], self._purse
            while waiting or purse.is_open.any():
                fits = purse.is_open[wishes.unit_of] & is_single
                state.is_left[: state.n_features] = fits & state.is_open[: state.n_features]
                unit = waiting.pop(0) if waiting else self._best_unit()
                purse.take(unit)
                group = self._groups.get(unit, (wishes.members(unit),))[0]
                for feature in group[state.varies[group]]:
                    state.is_left[feature] = True
                    self.choose(int(feature), len(ranking))
                    ranking.append(int(feature))
                for feature in np.setdiff1d(wishes.members(unit), ranking):  # constant ones
                    self.found.n_steps[len(ranking)] = state.step
                    self.found.ranking[len(ranking)] = feature
                    ranking.append(int(feature))
        found = self.found.first(len(ranking))
        is_constant = ~state.varies[found.ranking]
        found.pairs[is_constant], found.gains[is_constant] = 0, 0.0
        state.prior = self._plain_prior
        return found

    def _best_unit(self) -> int:
        """Return the unit of the best move: a feature or group."""
        is_open = self._purse.is_open
        gain, feature = self.best_move()
        best = -1 if feature < 0 else int(self._wishes.unit_of[feature])
        for unit, (group, r) in self._groups.items():
            if is_open[unit] and (worth := self._joint_gain(unit, group, r)) > gain:
                best, gain = unit, worth
        # Constant units come last, by column.
        return best if best >= 0 else int(np.flatnonzero(is_open)[0])

    def _joint_gain(self, unit: int, group: np.ndarray, r: np.ndarray) -> float:
        """Return what a group gains, weighted by its prior and its rate."""
        state = self.state
        for feature in group:
            state.is_left[feature] = True
            state.find_best((feature, feature + 1))  # its effects
            state.is_left[feature] = False
        factors = state.factors[: state.step, group]
        squares = np.zeros(len(state.weights))
        joint_squares(r - factors.T @ factors, state.effects[group], squares)
        loss = float(np.exp(-RATE * squares) @ state.weights)
        prior = float(self._plain_prior[group].mean()) if len(group) else 0.0
        return prior * self._rates[unit] * max(1.0 - loss, 0.0)


@njit(cache=True, nogil=True)
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
