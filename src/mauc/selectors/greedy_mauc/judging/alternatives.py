"""The features that could replace chosen ones, as users see them: lines, a table, a frame."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sklearn.utils.validation import check_is_fitted

from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.printing import MAX_ROWS, Printed, short_name
from mauc.selectors.greedy_mauc.judging.exchange import Exchange, find_exchanges

_MAX_HELD = 2**26  # bytes that wait until somebody asks; what takes more is looked at in fit
_COLUMNS = ("feature", "alternative", *Exchange._fields[2:])


class Exchanges:
    """The exchanges of a selection, found when they are first asked for, and no later than stored.

    Parameters
    ----------
    state : SearchState or None
        None if it is not known in this process.
    ranking : ndarray of shape (k,), int64
    unknown : collection of int, default=()
        Features that get no alternatives: those that act together with others, which the model
        knows nothing of.
    """

    def __init__(self, state, ranking, unknown=()):
        self._state, self._ranking, self._unknown = state, ranking, set(unknown)
        if state is not None and state.n_bytes > _MAX_HELD:
            _ = self.found

    @cached_property
    def found(self):
        """One list of `Exchange` per chosen feature, or None if they are not known."""
        state, self._state = self._state, None
        if state is None:
            return None
        found = find_exchanges(state, self._ranking)
        return [
            [] if int(feature) in self._unknown else exchanges
            for feature, exchanges in zip(self._ranking, found, strict=True)
        ]

    def __getstate__(self):
        # A pickle holds what was found, a few numbers per chosen feature, not all effects.
        _ = self.found
        return self.__dict__


class Alternatives(Printed, Mapping):
    """For each chosen feature the features that could replace it.

    A mapping of column numbers to lists of `Exchange`, in the order of the selection, the nearest
    alternative first. It prints as one line per chosen feature.

    Parameters
    ----------
    ranking : ndarray of shape (k,), int64
    exchanges : list of list of Exchange
    names : sequence
        Of all features.
    """

    def __init__(self, ranking, exchanges: Sequence[list[Exchange]], names):
        self._found = {int(f): part for f, part in zip(ranking, exchanges, strict=True)}
        self._names = names

    def __getitem__(self, feature) -> list[Exchange]:
        return self._found[feature]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self):
        return len(self._found)

    def with_names(self, names) -> "Alternatives":
        """Return the same with other names of all features."""
        return Alternatives(list(self._found), list(self._found.values()), names)

    def lines(self) -> list[str]:
        """Return one line per chosen feature that could be replaced."""
        return [line for feature in self._found if (line := self.line(feature))]

    def names(self, feature) -> list[str]:
        """Return the names of the features that could replace a chosen one."""
        return [str(self._names[one.alternative]) for one in self._found[feature]]

    def line(self, feature) -> str:
        """Return what can be said of a chosen feature in one line; "" if nothing can replace it."""
        exchanges = self._found[feature]
        if not exchanges:
            return ""
        others = ", ".join(short_name(name) for name in self.names(feature))
        largest = max(one.loss for one in exchanges)
        cost = f"a loss of {largest:.4f}" if largest >= 0.00005 else "no loss"
        most = "at most " if len(exchanges) > 1 and largest >= 0.00005 else ""
        chosen = short_name(self._names[feature])
        return f"{chosen} could be replaced by {others} at {cost.replace('of ', f'of {most}')}"

    def to_frame(self):
        """Return a pandas DataFrame with one row per exchange: names, losses, correlation."""
        pandas = optional_import("pandas", "Alternatives.to_frame")
        rows = [
            (str(self._names[one.feature]), str(self._names[one.alternative]), *one[2:])
            for exchanges in self._found.values()
            for one in exchanges
        ]
        return pandas.DataFrame(rows, columns=list(_COLUMNS))

    def printed_parts(self):
        """Return the lines and tables to be printed, in order."""
        lines = self.lines()
        if not lines:
            return ["no chosen feature can be replaced at a loss of 0.001 or less"]
        more = len(lines) - MAX_ROWS
        return lines[:MAX_ROWS] + ([f"... and {more:,} more"] if more > 0 else [])


class AlternativesMixin:
    """Gives a selector whose `_rank` sets ``_exchanges`` the attribute ``alternatives_``."""

    @property
    def alternatives_(self):
        """For each chosen feature those that could replace it; found when first asked for."""
        check_is_fitted(self)
        if self._exchanges.found is None:
            raise MaucError(
                f"alternatives_ of {type(self).__name__} are not known after a fit on a cluster, "
                f"whose workers held the effects of the features; fit on the source in this "
                f"process, without client=."
            )
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{column}" for column in range(self.n_features_in_)]
        return Alternatives(self.ranking_, self._exchanges.found, names)
