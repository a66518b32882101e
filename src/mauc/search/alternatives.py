"""What could replace each chosen feature of a finished search, and at what loss."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import ndtr

from mauc.data.columns import default_names
from mauc.data.door import check_fitted
from mauc.data.weights import pair_mean
from mauc.measure.normal_scores import MIN_VARIANCE
from mauc.results import MAX_ROWS, Result, rows_to_columns, short_name
from mauc.search.greedy import SearchState
from mauc.search.prediction import Prediction

MAX_LOSS = 0.001  # of predicted MAUC that an alternative may cost
LOSS_ERROR = 0.0016  # root mean square, by reproduction/research/exchanges.py
MIN_SHARE = 0.5  # of what the chosen feature adds, that an alternative takes over
_MAX_ALTERNATIVES = 5  # of a chosen feature
_MIN_ADDED = 1e-9  # of predicted MAUC: a feature that adds less adds nothing
_MAX_COUNTED = 64  # candidates that are looked at, those most like the feature
_BLOCK = 64  # chosen features whose bounds are held at once
_MAX_SLOPE = 1e6  # of the tangent: it is vertical at a separation of 0
_DECIMALS = 9  # losses that agree to this many are equal
_NO_LOSS = 0.00005  # of MAUC: it is printed as 0.0000


class Alternative(NamedTuple):
    """One feature that could take the place of a chosen one."""

    feature: int  #: the chosen column
    alternative: int  #: the column that could replace it
    loss: float  #: of predicted MAUC, by the exchange; below 0 if it gains
    loss_without: float  #: of predicted MAUC, if the feature were left out and not replaced
    share: float  #: of that loss which the feature no longer prevents once the other is chosen
    correlation: float  #: of the two within the classes, shrunk as in the search


class Alternatives(Result, Mapping[int, list[Alternative]]):
    """For each chosen feature, by column number, its `Alternative` tuples, the nearest first."""

    def __init__(
        self,
        ranking: Iterable[int],
        alternatives: Iterable[list[Alternative]],
        names: Sequence[str] | np.ndarray,
    ) -> None:
        self._found = {int(f): part for f, part in zip(ranking, alternatives, strict=True)}
        self._names = names

    def __getitem__(self, feature: int) -> list[Alternative]:
        return self._found[feature]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def with_names(self, names: Sequence[str]) -> "Alternatives":
        """Return the same with other names of all features."""
        return Alternatives(self._found, self._found.values(), names)

    def lines(self) -> list[str]:
        """Return one line per chosen feature that could be replaced."""
        return [line for feature in self._found if (line := self.line(feature))]

    def names(self, feature: int) -> list[str]:
        """Return the names of the features that could replace a chosen one."""
        return [str(self._names[other.alternative]) for other in self._found[feature]]

    def line(self, feature: int) -> str:
        """Describe a chosen feature in one line: replaced, dropped, or "" if neither can be."""
        others = self._found[feature]
        if not others:
            return ""
        largest = max(other.loss for other in others)
        listed = ", ".join(short_name(name) for name in self.names(feature))
        change, most = f"replaced by {listed}", "at most " if len(others) > 1 else ""
        if others[0].loss_without <= max(largest, _NO_LOSS):  # none of the others is needed
            change, most, largest = "dropped", "", others[0].loss_without
        cost = f"a predicted loss of {most}{largest:.4f}"
        cost = (cost if largest >= _NO_LOSS else "no predicted loss") + f" (± {LOSS_ERROR})"
        return f"{short_name(self._names[feature])} could be {change} at {cost}"

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`, one row per alternative: names, losses, correlation."""
        rows = [
            (str(self._names[other.feature]), str(self._names[other.alternative]), *other[2:])
            for others in self._found.values()
            for other in others
        ]
        return rows_to_columns(rows, Alternative._fields)

    def printed_parts(self) -> list[str]:
        """Return the lines and tables to be printed, in order."""
        lines = self.lines()
        if not lines:
            return ["no chosen feature can be replaced at a predicted loss of 0.001 or less"]
        more = len(lines) - MAX_ROWS
        return lines[:MAX_ROWS] + ([f"... and {more:,} more"] if more > 0 else [])


class AlternativesMixin:
    """Gives a selector whose `_rank` sets ``_alternatives`` the attribute ``alternatives_``."""

    @property
    def alternatives_(self: Any) -> Alternatives:
        """For each chosen feature those that could replace it; found when first asked for."""
        check_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = default_names(range(self.n_features_in_))
        return Alternatives(self.ranking_, self._alternatives.found, names)


@dataclass(eq=False, repr=False)
class PendingAlternatives:
    """The alternatives of a selection, found when first asked for; none of `excluded` features."""

    state: SearchState | Callable[[], SearchState] | None  #: or what makes it, until they are found
    predicted: Prediction | np.ndarray | None  #: MAUC of the features so far, until then
    ranking: np.ndarray
    excluded: set[int]
    is_free: np.ndarray | None = None  #: features that may be alternatives; None for all

    @cached_property
    def found(self) -> list[list[Alternative]]:
        """One list per chosen feature."""
        state = self.state() if callable(self.state) else self.state
        assert state is not None
        predicted = float(np.asarray(self.predicted)[-1])
        found = find_alternatives(state, self.ranking, predicted, self.is_free)
        self.state = self.predicted = None
        return [
            [] if int(feature) in self.excluded else alternatives
            for feature, alternatives in zip(self.ranking, found, strict=True)
        ]

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds what was found, a few numbers per chosen feature, not all effects.
        _ = self.found
        return self.__dict__


class _Chosen(NamedTuple):
    """The chosen set; arrays of shape (k, ...)."""

    inverse: np.ndarray  # (k, k): of the Cholesky factor
    precisions: np.ndarray  # (k,): M_ff
    own: np.ndarray  # (k, n_pairs): w_p(f) / M_ff
    separations: np.ndarray  # (k, n_pairs): D_p^2 without f
    whole: np.ndarray  # (n_pairs,): D_p^2 of the whole set
    mauc: float  # of the whole set
    shares: np.ndarray  # (n_pairs,): of each pair in MAUC


def find_alternatives(
    state: SearchState, ranking: np.ndarray, predicted: float, may_replace: np.ndarray | None = None
) -> list[list[Alternative]]:
    """Return the features that could replace each chosen one, nothing being solved anew.

    Effects are scaled so that the model gives all chosen features the `predicted` MAUC. Those that
    take over most come first, equal ones by column; constant features have none.
    """
    slots = np.flatnonzero(state.varies[ranking])[: state.step]
    chosen = ranking[slots]
    found: list[list[Alternative]] = [[] for _ in ranking]
    is_free = state.varies.copy() if may_replace is None else state.varies & may_replace
    is_free[chosen] = False
    others = np.flatnonzero(is_free)
    if len(chosen) == 0 or len(others) == 0:
        return found
    scale = effect_scale(state.slopes[: len(chosen)], predicted, model_shares(state))
    known = _describe(state, chosen, scale)
    residuals, variances = residual_effects(state, len(chosen), others)
    residuals *= scale
    for start in range(0, len(chosen), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(chosen)))
        # Coefficients of all others on the chosen features of the block.
        coefficients = known.inverse[:, block].T @ state.factors[: len(chosen), others]
        bounds = _loss_bounds(known, block, residuals, variances, coefficients)
        for row, f in enumerate(chosen[block]):
            at = start + row
            best = _nearest(known, at, bounds[row], residuals, variances, coefficients[row])
            without = known.mauc - _pairwise_mauc(known.separations[at], known.shares)
            found[slots[at]] = [
                Alternative(int(f), g, loss, without, share, _correlation(state, chosen, at, g))
                for loss, share, g in ((loss, share, int(others[i])) for loss, share, i in best)
            ]
    return found


def model_shares(state: SearchState) -> np.ndarray:
    """Return the share of each class pair in MAUC."""
    shares = state.options.pair_shares
    if shares is None:
        return np.full(len(state.stakes), 1.0 / len(state.stakes))
    return shares / shares.sum()


def effect_scale(slopes: np.ndarray, predicted: float, shares: np.ndarray) -> float:
    """Return the factor of all effects, at most 1, by which the model predicts that MAUC."""
    separations = (slopes**2).sum(axis=0)

    def excess(scale: float) -> float:
        """Return how much more the model predicts with effects of this scale."""
        return _pairwise_mauc(scale**2 * separations, shares) - predicted

    return 1.0 if excess(1.0) <= 0.0 or predicted <= 0.5 else brentq(excess, 0.0, 1.0)


def _describe(state: SearchState, chosen: np.ndarray, scale: float) -> _Chosen:
    """Return what is known of the chosen set, its effects times `scale`."""
    k = len(chosen)
    slopes = scale * state.slopes[:k]
    lower = np.tril(state.factors[:k][:, chosen].T, -1)
    left = np.maximum(1.0 - (lower**2).sum(axis=1), MIN_VARIANCE)
    lower[np.diag_indices(k)] = np.sqrt(left)
    inverse = solve_triangular(lower, np.eye(k), lower=True)
    precisions = (inverse**2).sum(axis=0)
    own = (inverse.T @ slopes) / precisions[:, np.newaxis]
    separations = (slopes**2).sum(axis=0) - own**2 * precisions[:, np.newaxis]
    whole, shares = (slopes**2).sum(axis=0), model_shares(state)
    return _Chosen(
        inverse,
        precisions,
        own,
        np.maximum(separations, 0.0),
        whole,
        _pairwise_mauc(whole, shares),
        shares,
    )


def residual_effects(
    state: SearchState, k: int, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the residual effects and variances of features, given the first k chosen ones."""
    factors, steps = state.factors[: state.step], np.arange(state.step)[:, np.newaxis]
    updated = state.n_updates[others]
    # Steps that are still missing are subtracted, those beyond the first k are added again.
    signs = (steps >= updated).astype(np.int8) * (steps < k) - (steps < updated) * (steps >= k)
    residuals = state.effects
    if len(others) < len(residuals):
        residuals = residuals[others]
    residuals = residuals - (signs * factors[:, others]).T @ state.slopes[: state.step]
    variances = np.maximum(1.0 - (factors[:k, others] ** 2).sum(axis=0), MIN_VARIANCE)
    return residuals, variances


def _pairwise_mauc(separations: np.ndarray, shares: np.ndarray) -> float:
    """Return the MAUC of normal classes of these squared separations."""
    return float(pair_mean(ndtr(np.sqrt(separations / 2.0)), shares))


def _loss_bounds(
    known: _Chosen,
    block: slice,
    residuals: np.ndarray,
    variances: np.ndarray,
    coefficients: np.ndarray,
) -> np.ndarray:
    """Return what the exchange of each chosen feature of a block for each other costs at least."""
    before = known.separations[block]
    roots = np.sqrt(np.maximum(before, 1e-300))
    slopes = np.exp(-before / 4.0) / (math.sqrt(2.0 * math.pi) * 2.0 * math.sqrt(2.0) * roots)
    slopes = np.minimum(slopes, _MAX_SLOPE) * known.shares
    own = known.own[block]
    # The sum over the pairs of slope (e + a h)^2
    squares = slopes @ (residuals**2).T
    squares += 2.0 * coefficients * ((slopes * own) @ residuals.T)
    squares += coefficients**2 * (slopes * own**2).sum(axis=1)[:, np.newaxis]
    # Over the variances of the others, given the chosen features but one.
    gains = squares / (variances + coefficients**2 / known.precisions[block, np.newaxis])
    maucs = np.array([_pairwise_mauc(row, known.shares) for row in before])
    return known.mauc - maucs[:, np.newaxis] - gains


def _nearest(
    known: _Chosen,
    at: int,
    bounds: np.ndarray,
    residuals: np.ndarray,
    variances: np.ndarray,
    coefficients: np.ndarray,
) -> list[tuple[float, float, int]]:
    """Return the losses, shares and numbers of the best candidates, the nearest first."""
    near = np.flatnonzero(bounds <= MAX_LOSS)
    given = variances[near] + coefficients[near] ** 2 / known.precisions[at]
    # The squared correlation of both, given the rest of the chosen set.
    likeness = coefficients[near] ** 2 / given
    part = np.argsort(-likeness, kind="stable")[:_MAX_COUNTED]
    near, given = near[part], given[part, np.newaxis]
    effects = residuals[near] + coefficients[near, np.newaxis] * known.own[at]
    after = known.separations[at] + effects**2 / given
    replaced = pair_mean(ndtr(np.sqrt(after / 2.0)), known.shares)
    after = known.whole + residuals[near] ** 2 / variances[near, np.newaxis]
    with_both = pair_mean(ndtr(np.sqrt(after / 2.0)), known.shares)
    adds = max(known.mauc - _pairwise_mauc(known.separations[at], known.shares), _MIN_ADDED)
    shares = 1.0 - (with_both - replaced) / adds
    losses = (known.mauc - replaced).round(_DECIMALS)
    kept = np.flatnonzero((losses <= MAX_LOSS) & (shares >= MIN_SHARE))
    kept = kept[np.lexsort((near[kept], -shares[kept].round(_DECIMALS)))][:_MAX_ALTERNATIVES]
    return [(float(losses[i]), float(shares[i]), int(near[i])) for i in kept]


def _correlation(state: SearchState, chosen: np.ndarray, at: int, g: int) -> float:
    """Return the correlation of a chosen feature with another one, as it was in the search."""
    lower = state.factors[: at + 1, chosen[at]].copy()
    lower[at] = math.sqrt(max(1.0 - float((lower[:at] ** 2).sum()), MIN_VARIANCE))
    return float(lower @ state.factors[: at + 1, g])
