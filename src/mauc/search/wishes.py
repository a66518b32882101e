"""Choose units of features: first those to keep, then what a search says, as long as they fit.

A search under wishes is a loop over the turns of a purse. In every turn it gives a unit, and the
units that are too large or too expensive by then are closed:

    for kept in purse.turns():
        unit = best of purse.is_open, by what the search knows so far, if kept is None else kept
        purse.take(unit)
        choose the members of the unit
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from mauc.data.wishes import Wishes


class Purse:
    """What is left of the number of features and of the budget while units are chosen."""

    def __init__(self, wishes: Wishes, n_wanted: int, only: Collection[int] | None = None) -> None:
        self._sizes, self._costs, self._keep = wishes.sizes, wishes.costs, wishes.keep
        self._n_left, self._money = n_wanted, wishes.budget
        #: units that can be chosen, of `only` if some are named
        self.is_open: np.ndarray = wishes.sizes > 0
        if only is not None:
            self.is_open &= np.isin(np.arange(len(self.is_open)), [*only])
        self._close()

    def turns(self) -> Iterator[int | None]:
        """Yield the units to keep, then None as long as a unit is open: the caller chooses one."""
        yield from self._keep
        while self.is_open.any():
            yield None

    def fits(self, units: list[int]) -> bool:
        """Whether units can be chosen together."""
        cost = 0.0 if self._costs is None else self._costs[units].sum()
        n_features = self._sizes[units].sum()
        return bool(
            self.is_open[units].all() and n_features <= self._n_left and cost <= self._money
        )

    def take(self, unit: int) -> None:
        """Pay for a unit."""
        self._n_left -= self._sizes[unit]
        self._money -= 0.0 if self._costs is None else self._costs[unit]
        self.is_open[unit] = False
        self._close()

    def _close(self) -> None:
        self.is_open &= self._sizes <= self._n_left
        if self._costs is not None:
            self.is_open &= self._costs <= self._money


class Chosen(Protocol):
    """What a pass over the units has chosen."""

    @property
    def total(self) -> float:
        """What its features gain together."""
        ...


ChosenT = TypeVar("ChosenT", bound=Chosen)


def best_pass(wishes: Wishes, choose: Callable[[bool], ChosenT]) -> ChosenT:
    """Return what gains most of ``choose(by_cost)``: by gain per cost, or with a budget by gain."""
    return max((choose(by_cost) for by_cost in wishes.passes), key=lambda chosen: chosen.total)


def members_by_gain(wishes: Wishes, unit: int, gains: np.ndarray) -> np.ndarray:
    """Return the features of a unit, those that gain most first, equal ones by column."""
    members = wishes.members(unit)
    return members[np.argsort(-gains[members], kind="stable")]


@dataclass
class ChosenFeatures:
    """Features in the order of choice, and what each gained when its unit was chosen."""

    features: list[int] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def total(self) -> float:
        """What the features gain together."""
        return sum(self.gains)


def choose_units(
    wishes: Wishes, n_wanted: int, gains_given: Callable[[list[int]], np.ndarray]
) -> ChosenFeatures:
    """Choose units by ``gains_given(chosen)``: what every feature gains, given those chosen."""

    def choose(by_cost: bool) -> ChosenFeatures:
        """Choose units in one pass, by gain per cost or by gain."""
        purse, chosen = Purse(wishes, n_wanted), ChosenFeatures()
        for kept in purse.turns():
            gains = gains_given(chosen.features)
            worth = np.where(purse.is_open, wishes.worth(gains, by_cost), -np.inf)
            unit = int(np.argmax(worth)) if kept is None else kept
            purse.take(unit)
            members = members_by_gain(wishes, unit, gains)
            chosen.features += members.tolist()
            chosen.gains += gains[members].tolist()
        return chosen

    return best_pass(wishes, choose)
