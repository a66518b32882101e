"""What a selection must have, must not have and may cost: from what users give to units.

A *unit* is what is chosen as a whole: a group of features, or a single one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mauc.checks import check_real, is_int
from mauc.exceptions import MaucError, format_labels, option

_FREE = 1e-9  # of the largest cost: what costs less counts as this in a gain per cost


@dataclass(kw_only=True, eq=False, repr=False)
class WishMixin:
    """The parameters of the selectors that take wishes, which selectors document."""

    keep: ArrayLike | None = None
    exclude: ArrayLike | None = None
    feature_groups: Mapping[Any, Any] | ArrayLike | None = None
    feature_costs: Mapping[Any, Any] | ArrayLike | None = None
    budget: float | None = None
    _takes_wishes = True


@dataclass(frozen=True)
class WishOptions:
    """What users wish of the features, as they give it; see `WishMixin`."""

    keep: ArrayLike | None = None
    exclude: ArrayLike | None = None
    feature_groups: Mapping[Any, Any] | ArrayLike | None = None
    feature_costs: Mapping[Any, Any] | ArrayLike | None = None
    budget: float | None = None

    @property
    def first(self) -> str | None:
        """The name of the first wish; None if there is none."""
        given = (name for name, value in vars(self).items() if value is not None)
        return next(given, None)


WISHES = tuple(field.name for field in fields(WishOptions))


@dataclass(frozen=True, eq=False)
class Wishes:
    """Units of features, which of them are kept, and what they cost."""

    unit_of: np.ndarray  #: (n_features,), int64: the unit of each feature, -1 if it is excluded
    keep: tuple[int, ...] = ()  #: units that are chosen first, in this order
    costs: np.ndarray | None = None  #: (n_units,); None if nothing has a cost
    budget: float = np.inf

    @classmethod
    def of(
        cls, wishes: WishOptions, names: Sequence[Any], dated: Sequence[int] | np.ndarray = ()
    ) -> Self:
        """Return what wishes are to columns by name; `dated` are dates, which are left out."""
        costs, budget = wishes.feature_costs, wishes.budget
        find = _Finder(names, wishes.feature_groups)
        unit_of = np.full(len(find.names), -1)
        for unit, members in enumerate(find.groups.values()):
            unit_of[members] = unit
        single = np.flatnonzero(unit_of < 0)
        unit_of[single] = len(find.groups) + np.arange(len(single))
        out, kept = (
            [*dict.fromkeys(unit_of[find.columns(wanted, name)].tolist())]
            for wanted, name in ((wishes.exclude, "exclude"), (wishes.keep, "keep"))
        )
        is_out, money = np.isin(unit_of, out), np.inf
        unit_costs = None if costs is None else _unit_costs(costs, find, unit_of, is_out)
        if budget is not None:
            # Prices that add up to the budget are paid by it, however their sum is rounded.
            money = (1.0 + 1e-9) * check_real(option("budget"), budget, 0)
        _check_possible(find.names, unit_of, out, kept, unit_costs, money)
        made = cls(np.where(is_out, -1, unit_of), tuple(kept), unit_costs, money)
        made._check_kept(dated, names)
        return made

    def check_affordable(self, names: Sequence[Any] | np.ndarray) -> None:
        """Raise unless features are kept or the budget pays for the cheapest of those left."""
        if self.costs is None or self.keep:
            return
        costs = np.where(self.unit_of >= 0, self.costs[self.unit_of], np.inf)
        cheapest = int(np.argmin(costs))
        if costs[cheapest] > self.budget:
            raise MaucError(
                f"{option('budget')} must pay for one feature of "
                f"{option('n_features_to_select', 'fdr')} at least, the cheapest of which, "
                f"{str(names[cheapest])!r}, costs {costs[cheapest]:g}, got {self.budget:g}; raise "
                f"it or {option('fdr_alpha')}."
            )

    def _check_kept(self, dated: Sequence[int] | np.ndarray, names: Sequence[Any]) -> None:
        """Raise where nothing but dates, which are left out, is to be kept of a unit."""
        units = [self.members(unit) for unit in self.keep]
        gone = [j for unit in units if np.isin(unit, dated).all() for j in unit]
        if gone:
            named = format_labels([names[j] for j in gone])
            raise MaucError(
                f"{option('keep')} must name features, got dates or durations ({named}), which are "
                "left out; make features of them, such as the month, or pass numbers."
            )

    @cached_property
    def sizes(self) -> np.ndarray:
        """Features of each unit, (n_units,); 0 of those that are excluded."""
        n_units = int(self.unit_of.max()) + 1 if self.costs is None else len(self.costs)
        return np.bincount(self.unit_of[self.unit_of >= 0], minlength=n_units)

    @property
    def n_available(self) -> int:
        """Number of features that may be chosen."""
        return int((self.unit_of >= 0).sum())

    @property
    def n_kept(self) -> int:
        """Number of features that are kept."""
        return int(self.sizes[list(self.keep)].sum())

    @property
    def passes(self) -> tuple[bool, ...]:
        """Whether a search goes by gain per cost: with a budget once so and once by gain."""
        return (True,) if self.budget == np.inf else (True, False)

    @property
    def is_free(self) -> np.ndarray:
        """Features that may be exchanged for each other: single ones, not kept, without costs."""
        is_single = (self.unit_of >= 0) & (self.sizes[self.unit_of] == 1)
        return is_single & ~np.isin(self.unit_of, self.keep) & (self.costs is None)

    def members(self, unit: int) -> np.ndarray:
        """Return the features of a unit, ascending."""
        return np.flatnonzero(self.unit_of == unit)

    def rates(self, by_cost: bool = True) -> np.ndarray:
        """Return what the gain of each unit is multiplied by: one over its features or its cost."""
        if self.costs is None:
            return 1.0 / np.maximum(self.sizes, 1)
        if not by_cost:
            return np.ones(len(self.costs))
        return 1.0 / np.maximum(self.costs, max(_FREE * self.costs.max(), 1e-300))

    def worth(self, gains: np.ndarray, by_cost: bool = True) -> np.ndarray:
        """Return what units are worth: the gains of their features, per feature or per cost."""
        total = np.bincount(
            self.unit_of[self.unit_of >= 0], gains[self.unit_of >= 0], minlength=len(self.sizes)
        )
        rates = self.rates(by_cost)
        return np.where(total > 0, total * rates, total / rates)  # a loss is worse at a high cost

    def ends(self, ranking: np.ndarray) -> np.ndarray:
        """Return after which features of a ranking all of its units, and those kept, are whole."""
        units = self.unit_of[ranking]
        is_end = np.append(units[1:] != units[:-1], True)
        return is_end & (np.arange(1, len(ranking) + 1) >= self.n_kept)

    def spent(self, ranking: np.ndarray) -> np.ndarray:
        """Return the cost of the features of a ranking so far; a unit is paid with its first."""
        units = self.unit_of[ranking]
        is_first = np.append(True, units[1:] != units[:-1])
        costs = np.zeros(len(self.sizes)) if self.costs is None else self.costs
        return np.cumsum(np.where(is_first, costs[units], 0.0))


def by_number(wishes: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return wishes with numbers in place of the names of features, for tables without names."""
    columns = {name: at for at, name in enumerate(names)}

    def numbered(wish: Any) -> Any:
        if isinstance(wish, str) and wish in columns:
            return columns[wish]
        if isinstance(wish, list | tuple):
            return [numbered(part) for part in wish]
        if isinstance(wish, Mapping):
            return {columns.get(name, name): numbered(part) for name, part in wish.items()}
        return wish

    return {name: numbered(wish) for name, wish in wishes.items()}


def _check_possible(
    names: Sequence[Any],
    unit_of: np.ndarray,
    out: list[int],
    kept: list[int],
    costs: np.ndarray | None,
    money: float,
) -> None:
    """Raise for wishes that contradict each other, or that a budget does not pay for."""
    keep, exclude, budget = (option(name) for name in ("keep", "exclude", "budget"))
    if both := [unit for unit in kept if unit in out]:
        named = format_labels([names[at] for at in np.flatnonzero(np.isin(unit_of, both)).tolist()])
        raise MaucError(f"{keep} and {exclude} must not name the same features, got {named}.")
    left = np.setdiff1d(unit_of, out)
    if len(left) == 0:
        raise MaucError(f"{exclude} must leave a feature, got all {len(names)} of them.")
    if costs is None:
        if money < np.inf:
            raise MaucError(f"{budget} needs {option('feature_costs')}, the cost of each feature.")
        return
    needed, what = costs[kept].sum(), f"the features of {keep}, which cost"
    if not kept:
        needed, what = costs[left].min(), "one feature at least, the cheapest of which costs"
    if needed > money:
        raise MaucError(f"{budget} must pay for {what} {needed:g}, got {money:g}.")


class _Finder:
    """Finds columns by the names of features and groups, by numbers or by masks."""

    def __init__(self, names: Sequence[Any], groups: Any) -> None:
        self.names = names
        self.groups: dict[Any, np.ndarray] = {}  #: members by name
        self._columns = {name: at for at, name in enumerate(names)}
        wanted = option("feature_groups")
        if groups is not None and not isinstance(groups, Mapping):
            if isinstance(groups, str) or not all(np.ndim(part) == 1 for part in groups):
                raise MaucError(f"{wanted} must be a dict or a list of lists, got {groups!r}.")
            groups = {f"group {at + 1}": part for at, part in enumerate(groups)}
        for name, given in (groups or {}).items():
            members = self.columns(given, "feature_groups")
            if len(members) == 0:
                raise MaucError(f"{wanted} must have features in each group, got none in {name!r}.")
            for other, taken in self.groups.items():
                for at in np.intersect1d(members, taken)[:1]:
                    raise MaucError(
                        f"{wanted} must have a feature in one group at most, got {names[at]!r} in "
                        f"{other!r} and in {name!r}."
                    )
            self.groups[name] = members

    def columns(self, wanted: Any, parameter: str) -> np.ndarray:
        """Return the columns of what is wanted, in its order; of None there are none."""
        if isinstance(wanted, str) or wanted is None:
            wanted = [] if wanted is None else [wanted]
        mask = np.asarray(wanted) if np.ndim(wanted) == 1 and len(wanted) > 0 else np.zeros(0)
        if mask.dtype == bool:
            if len(mask) == len(self.names):
                return np.flatnonzero(mask)
            raise MaucError(
                f"{option(parameter)} as a mask must have {len(self.names)} entries, got "
                f"{len(mask)}."
            )
        parts = [self.find(entry, parameter) for entry in np.ravel(np.asarray(wanted, object))]
        return np.array([*dict.fromkeys(at for part in parts for at in part)], np.int64)

    def find(self, entry: Any, parameter: str) -> Any:
        """Return the column of a name or number, or those of a group."""
        for name in (entry, str(entry)):
            if name in self._columns:
                return [self._columns[name]]
            if name in self.groups:
                return self.groups[name]
        if is_int(entry) and -len(self.names) <= entry < len(self.names):
            return [int(entry) % len(self.names)]
        known = format_labels([*self.groups, *self.names])
        raise MaucError(f"{option(parameter)} must name features ({known}), got {entry!r}.")


def _unit_costs(given: Any, find: _Finder, unit_of: np.ndarray, is_out: np.ndarray) -> np.ndarray:
    """Return the cost of each unit: that of its features, and one that its group has itself."""
    own, costs = np.zeros(int(unit_of.max()) + 1), np.full(len(unit_of), np.nan)
    if hasattr(given, "to_dict"):  # a Series of pandas
        given = given.to_dict()
    try:
        if isinstance(given, Mapping):
            for name, cost in given.items():
                columns = np.asarray(find.find(name, "feature_costs"))
                if name in find.groups:
                    own[unit_of[columns[0]]] = cost
                    costs[columns] = np.nan_to_num(costs[columns])
                else:
                    costs[columns] = cost
        else:
            costs[:] = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, MaucError):
            raise
        raise MaucError(
            f"{option('feature_costs')} must have a number per feature: {error}."
        ) from error
    costs[is_out] = 0.0
    both = np.concatenate([costs, own])
    for at in np.flatnonzero(~((both >= 0) & (both < np.inf)))[:1]:
        got = "none" if np.isnan(both[at]) else f"{both[at]:g}"
        name = [*find.names, *find.groups][at]
        raise MaucError(
            f"{option('feature_costs')} must be finite and >= 0, got {got} for {name!r}."
        )
    return own + np.bincount(unit_of, costs, minlength=len(own))
