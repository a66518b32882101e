"""What a finished search tells: the MAUC to expect of its features, and what could replace them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import uintp
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from mauc.compile import njit
from mauc.data.columns import default_names
from mauc.data.door import check_fitted
from mauc.data.weights import pair_mean, square
from mauc.engine.ordered import class_wins
from mauc.measure.normal_scores import further_axes, row_scales
from mauc.results import MAX_ROWS, Result, rows_to_columns, short_name
from mauc.search.greedy import MIN_VARIANCE, Leftover, SearchState, exp_minus

_STEP, _N_BINS = 0.1, 100  # of |z|; what is beyond counts as at the end
_COMPONENTS = np.append(0.0, 2.0 ** np.arange(-2, 11))  # their variances
_N_ITERATIONS = 1000
_NULL_SHARE = 0.3  # of the features, which are taken to have no effect whatever they show
_MIN_SCATTER = 0.25  # of a feature that is constant in every class
_MAX_GAP = 600.0  # of two logarithms; beyond, the smaller term is lost in a sum of doubles
_MIN_LEFT = 0.02  # of a direction that is left without one sample

MAX_LOSS = 0.001  # of predicted MAUC that an exchange may cost
LOSS_ERROR = 0.0016  # root mean square, by reproduction/research/exchanges.py
MIN_SHARE = 0.5  # of what the chosen feature adds, that an alternative takes over
_MAX_ALTERNATIVES = 5  # of a chosen feature
_MIN_ADDED = 1e-9  # of predicted MAUC: a feature that adds less adds nothing
_MAX_COUNTED = 64  # candidates that are looked at, those most like the feature
_BLOCK = 64  # chosen features whose bounds are held at once
_MAX_SLOPE = 1e6  # of the tangent: it is vertical at a separation of 0
_DECIMALS = 9  # losses that agree to this many are equal
_NO_LOSS = 0.00005  # of MAUC: it is printed as 0.0000


@dataclass(eq=False, repr=False)
class Prediction:
    """The MAUC to expect of the first features of a ranking, computed when it is asked for.

    docs/methods/greedy_mauc.md has the formulas. NumPy takes it for the array `mauc`.
    """

    left: Leftover
    n_steps: np.ndarray  #: (k,), int64: chosen columns with each of the features

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.mauc, dtype=dtype)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds what was predicted, not the scores of the samples.
        return {"mauc": self.mauc}

    @cached_property
    def mauc(self) -> np.ndarray:
        """In [0.5, 1), shape (k,): of the last of `evaluated_sizes`; 0.5 if no class has two."""
        sizes = evaluated_sizes(len(self.left.rows))
        predicted = np.array([0.5, *predict_sizes(self.left, sizes)])
        return predicted[np.searchsorted(sizes, self.n_steps, "right")]


def predict_sizes(left: Leftover, sizes: list[int]) -> list[float]:
    """Return the MAUC to expect of the first columns, by size; 0.5 if no class has two rows."""
    present = np.flatnonzero(left.class_counts)
    counts = left.class_weights[present].astype(np.float64)
    n_classes, n_samples = len(counts), len(left.weights)
    n_free = counts.sum() - n_classes
    if n_free < 1 or n_classes < 2 or len(left.rows) == 0:
        return [0.5] * len(sizes)
    left, sizes = _add_axes(left, sizes)
    points, luck, confirmed = _standard_points(left, present, counts)
    distances = points[:, n_samples:-1] - points[:, -1:]
    # What leaving a sample out takes by itself is not taken twice.
    chance = np.clip(np.abs(distances) / _errors(counts), 1.0, 1e6) ** -2.0
    bias = (1.0 - confirmed * (1.0 - np.maximum(luck - chance, 0.0))) * distances
    lucky = (1.0 - confirmed * (1.0 - luck)) * distances
    found = list(_left_out_auc(left, points, bias, counts, sizes))
    # Samples that tie are not moved apart: luck is taken off their AUC instead.
    unmoved = _left_out_auc(left, points, 0.0 * bias, counts, sizes, only_tied=True)
    for at, auc in enumerate(unmoved):
        kept = _kept_shares(distances[: sizes[at]], lucky[: sizes[at]])
        found[at] = np.minimum(found[at], ndtr(kept * ndtri(auc)))
    is_pair = ~np.eye(n_classes, dtype=bool)
    if left.pair_shares is None:
        return [max(0.5, float(auc[is_pair].mean())) for auc in found]
    shares = square(left.pair_shares, len(left.class_counts))[np.ix_(present, present)]
    total = max(shares.sum(), 1e-300)
    return [max(0.5, float((shares * auc).sum() / total)) for auc in found]


def _add_axes(left, sizes):
    """Return the same with the further axes of nominal columns: sizes then count these, too."""
    parts, confirmed = [], []
    for scores, share in zip(left.rows, left.confirmed, strict=True):
        parts.append(scores[np.newaxis])
        if not np.isnan(share):
            further = further_axes(scores, left.class_counts, left.weights)
            parts[-1] = np.concatenate([parts[-1], further])
        confirmed += [1.0 if np.isnan(share) else share] * len(parts[-1])
    stops = np.cumsum([len(part) for part in parts])
    left = left._replace(rows=np.concatenate(parts), confirmed=np.array(confirmed))
    return left, stops[np.array(sizes) - 1].tolist()


def _left_out_auc(left, points, bias, counts, sizes, only_tied=False):
    """Yield AUCs of the first columns, samples left out, by size; `only_tied`: while some tie."""
    n_samples, n_classes = len(left.weights), len(counts)
    rows_of = left.class_counts[left.class_counts > 0]
    codes = np.repeat(np.arange(n_classes, dtype=np.int32), rows_of)
    # One of the rows that a weight stands for is left out, or all of a smaller weight.
    units, n_free = np.minimum(left.weights, 1.0), counts.sum() - n_classes
    groups = _TiedSamples(left.weights)
    squares, leverages = np.zeros((n_samples, n_classes)), np.zeros(n_samples)
    products, log_odds = np.zeros_like(squares), np.empty((n_classes, n_samples))
    priors, wins = np.log(counts / counts.sum()), np.empty((n_classes, n_classes))
    for step in range(len(points)):
        add_distances(points[step], bias[step], codes, counts, units, squares, products, leverages)
        groups.split(left.rows[step])
        if only_tied and not groups.any_tied:
            return
        if step + 1 in sizes:
            leave_out(
                squares,
                products,
                leverages,
                codes,
                counts,
                units,
                priors,
                left.shrinkage,
                n_free,
                np.empty(n_classes),
                np.empty(n_classes),
                log_odds,
            )
            groups.average(log_odds)
            class_wins(log_odds, np.argsort(log_odds, axis=1), codes, left.weights, wins)
            yield (wins / 2.0 + 0.5) / (np.outer(counts, counts) + 1.0)


def _standard_points(left, present, counts):
    """Return samples, class means and their mean, independent and in standard deviations.

    Also the parts of the distances of class means that are luck, and the roots of the parts that
    effects of nominal features confirm, of shapes (n_columns, n_classes) and (n_columns, 1).
    """
    n_samples = left.rows.shape[1]
    sums, centers, scales = row_scales(left.rows, left.class_counts[present], counts, left.weights)
    by_class, common, units = _class_means(sums, scales, counts)
    confirmed = np.sqrt(left.confirmed)[:, np.newaxis]
    points = np.concatenate([left.rows, by_class, common], axis=1)
    points[:, :n_samples] *= units[:, np.newaxis]
    lower = _prediction_correlations(left, centers, scales)
    factorise(lower)
    for step in range(len(points)):
        whiten(lower[step], step, points)
    # Features are chosen for what they add to those before: so is the luck in them.
    z = confirmed * (points[:, n_samples:-1] - points[:, -1:]) / _errors(counts)
    return points, lucky_shares(z, other_sizes(left, present, counts)), confirmed


def _prediction_correlations(left, centers, scales):
    """Return the shrunk correlations of all columns within the classes."""
    rows, weights = left.rows.astype(np.float64), left.weights
    if (weights == np.rint(weights)).all():  # exact, whatever the order of the sums
        products = (rows * weights) @ rows.T
    else:
        products = np.einsum("ai,bi->ab", rows * weights, rows)
    for center in centers:
        products -= np.outer(center, center)
    return (1.0 - left.shrinkage) * products * np.outer(scales, scales)


def other_sizes(left: Leftover, present: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return what `count_sizes` does of the class means of all features; `counts` are weights."""
    by_class, common, _ = _class_means(left.other_sums[present], left.other_scales, counts)
    return count_sizes((by_class - common) / _errors(counts))


def _class_means(sums, scales, counts):
    """Return means of classes and of all samples, a row per column, and units of the scores."""
    units = np.where(scales > 0.0, scales, 1.0 / math.sqrt(_MIN_SCATTER))
    units = units * math.sqrt(counts.sum() - len(counts))
    by_class = sums / counts[:, np.newaxis] * units
    return by_class.T, (sums.sum(axis=0) / counts.sum() * units)[:, np.newaxis], units


def _errors(counts):
    """Return the standard errors of the distances of class means from the mean of all samples."""
    return np.sqrt(1.0 / counts - 1.0 / counts.sum())


def evaluated_sizes(n_features: int) -> list[int]:
    """Return the sizes for which MAUC is predicted: 1 to 20, then each a tenth above the last."""
    sizes = [1]
    while (larger := sizes[-1] + max(1, sizes[-1] // 10)) <= n_features:
        sizes.append(larger)
    return sizes


class _TiedSamples:
    """Samples that agree in all features so far; a weight above 1 stands for several."""

    def __init__(self, weights):
        self._groups, self._weights = np.zeros(len(weights), np.int64), weights
        self._n_groups, self._n_most = 1, max(len(weights), weights.sum())

    @property
    def any_tied(self):
        """Whether some samples agree."""
        return self._n_groups < self._n_most

    def split(self, scores):
        """Split each group of samples by their scores, int8."""
        if self.any_tied:
            keys = self._groups * 256 + (scores.astype(np.int64) + 128)
            self._groups = np.unique(keys, return_inverse=True)[1].ravel()
            self._n_groups = int(self._groups.max()) + 1

    def average(self, rows):
        """Replace the values of each group by their mean, in every row."""
        if self.any_tied:
            sizes = np.bincount(self._groups, self._weights)
            for row in rows:
                # Those of a class are equal and follow each other: no order of them matters.
                sums = np.bincount(self._groups, row * self._weights)
                row[:] = (sums / sizes)[self._groups]


def _kept_shares(distances, lucky):
    """Return the part of the separation of every two classes that is not luck, in [0, 1]."""
    apparent, lucky = distances.T @ distances, distances.T @ lucky

    def between(products):
        own = np.diag(products)
        return own[:, np.newaxis] + own - products - products.T

    return np.clip(1.0 - between(lucky) / np.maximum(between(apparent), 1e-300), 0.0, 1.0)


def count_sizes(z: np.ndarray) -> np.ndarray:
    """Return how many of the z values, which are finite, lie in each bin of their size."""
    bins = np.minimum(np.abs(z) / _STEP, _N_BINS).astype(np.int64)
    return np.bincount(bins.ravel(), minlength=_N_BINS + 1)


def lucky_shares(chosen: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return what part of z values will not recur, given the `count_sizes` of all features."""
    bins = (np.arange(_N_BINS + 1) + 0.5) * _STEP
    weights = np.full(len(_COMPONENTS), 1.0 / len(_COMPONENTS))
    maximise(_likelihoods(bins), counts / counts.sum(), weights, np.empty_like(weights))
    probabilities = _likelihoods(np.abs(chosen)) * weights
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    return 1.0 - (probabilities * (_COMPONENTS / (1.0 + _COMPONENTS))).sum(axis=-1)


def _likelihoods(sizes):
    """Return the likelihood of every component, given |z|, up to a factor; on a new last axis."""
    variances = 1.0 + _COMPONENTS
    # The widest component is never far from the likeliest: no sum of these underflows.
    sizes = np.minimum(sizes, _N_BINS * _STEP)[..., np.newaxis]
    return np.exp(-0.5 * sizes * sizes / variances) / np.sqrt(variances)


class Exchange(NamedTuple):
    """One feature that could take the place of a chosen one."""

    feature: int  #: the chosen column
    alternative: int  #: the column that could replace it
    loss: float  #: of predicted MAUC, by the exchange; below 0 if it gains
    loss_without: float  #: of predicted MAUC, if the feature were left out and not replaced
    share: float  #: of that loss which the feature no longer prevents once the other is chosen
    correlation: float  #: of the two within the classes, shrunk as in the search


class Alternatives(Result, Mapping[Any, Any]):
    """For each chosen feature, by column number, its `Exchange` tuples, the nearest first."""

    def __init__(self, ranking: Iterable[int], exchanges: Iterable[list[Exchange]], names: Any):
        self._found = {int(f): part for f, part in zip(ranking, exchanges, strict=True)}
        self._names = names

    def __getitem__(self, feature: Any) -> list[Exchange]:
        return self._found[feature]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def with_names(self, names: Any) -> "Alternatives":
        """Return the same with other names of all features."""
        return Alternatives(self._found, self._found.values(), names)

    def lines(self) -> list[str]:
        """Return one line per chosen feature that could be replaced."""
        return [line for feature in self._found if (line := self.line(feature))]

    def names(self, feature: Any) -> list[str]:
        """Return the names of the features that could replace a chosen one."""
        return [str(self._names[one.alternative]) for one in self._found[feature]]

    def line(self, feature: Any) -> str:
        """Describe a chosen feature in one line: replaced, dropped, or "" if neither can be."""
        exchanges = self._found[feature]
        if not exchanges:
            return ""
        largest = max(one.loss for one in exchanges)
        others = ", ".join(short_name(name) for name in self.names(feature))
        change, most = f"replaced by {others}", "at most " if len(exchanges) > 1 else ""
        if exchanges[0].loss_without <= max(largest, _NO_LOSS):  # none of the others is needed
            change, most, largest = "dropped", "", exchanges[0].loss_without
        cost = f"a predicted loss of {most}{largest:.4f}"
        cost = (cost if largest >= _NO_LOSS else "no predicted loss") + f" (± {LOSS_ERROR})"
        return f"{short_name(self._names[feature])} could be {change} at {cost}"

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`, one row per exchange: names, losses, correlation."""
        rows = [
            (str(self._names[one.feature]), str(self._names[one.alternative]), *one[2:])
            for exchanges in self._found.values()
            for one in exchanges
        ]
        return rows_to_columns(rows, Exchange._fields)

    def printed_parts(self) -> list[str]:
        """Return the lines and tables to be printed, in order."""
        lines = self.lines()
        if not lines:
            return ["no chosen feature can be replaced at a predicted loss of 0.001 or less"]
        more = len(lines) - MAX_ROWS
        return lines[:MAX_ROWS] + ([f"... and {more:,} more"] if more > 0 else [])


class AlternativesMixin:
    """Gives a selector whose `_rank` sets ``_exchanges`` the attribute ``alternatives_``."""

    @property
    def alternatives_(self: Any) -> Alternatives:
        """For each chosen feature those that could replace it; found when first asked for."""
        check_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = default_names(range(self.n_features_in_))
        return Alternatives(self.ranking_, self._exchanges.found, names)


@dataclass(eq=False, repr=False)
class Exchanges:
    """The exchanges of a selection, found when first asked for; none of `excluded` ones."""

    state: Any  #: SearchState, or a function that makes it, until they are found
    predicted: Any  #: MAUC of the features so far, until then
    ranking: np.ndarray
    excluded: set[int]
    is_free: np.ndarray | None = None  #: features that may be alternatives; None for all

    @cached_property
    def found(self) -> list[list[Exchange]]:
        """One list per chosen feature."""
        state = self.state() if callable(self.state) else self.state
        predicted = float(np.asarray(self.predicted)[-1])
        found = find_exchanges(state, self.ranking, predicted, self.is_free)
        self.state = self.predicted = None
        return [
            [] if int(feature) in self.excluded else exchanges
            for feature, exchanges in zip(self.ranking, found, strict=True)
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


def find_exchanges(
    state: SearchState, ranking: np.ndarray, predicted: float, may_replace: np.ndarray | None = None
) -> list[list[Exchange]]:
    """Return the features that could replace each chosen one, nothing being solved anew.

    Effects are scaled so that the model gives all chosen features the `predicted` MAUC. Those that
    take over most come first, equal ones by column; constant features have none.
    """
    slots = np.flatnonzero(state.varies[ranking])[: state.step]
    chosen = ranking[slots]
    found: list[list[Exchange]] = [[] for _ in ranking]
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
                Exchange(int(f), g, loss, without, share, _correlation(state, chosen, at, g))
                for loss, share, g in ((loss, share, int(others[i])) for loss, share, i in best)
            ]
    return found


def model_shares(state: Any) -> Any:
    """Return the share of each class pair in MAUC."""
    if state.pair_shares is None:
        return np.full(len(state.stakes), 1.0 / len(state.stakes))
    return state.pair_shares / state.pair_shares.sum()


def effect_scale(slopes: np.ndarray, predicted: Any, shares: Any) -> Any:
    """Return the factor of all effects, at most 1, by which the model predicts that MAUC."""
    separations = (slopes**2).sum(axis=0)

    def excess(scale):
        return _pairwise_mauc(scale**2 * separations, shares) - predicted

    return 1.0 if excess(1.0) <= 0.0 or predicted <= 0.5 else brentq(excess, 0.0, 1.0)


def _describe(state, chosen, scale):
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


def residual_effects(state: Any, k: int, others: Any) -> tuple[Any, Any]:
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


def _pairwise_mauc(separations, shares):
    return float(pair_mean(ndtr(np.sqrt(separations / 2.0)), shares))


def _loss_bounds(known, block, residuals, variances, coefficients):
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


def _nearest(known, at, bounds, residuals, variances, coefficients):
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


def _correlation(state, chosen, at, g):
    """Return the correlation of a chosen feature with another one, as it was in the search."""
    lower = state.factors[: at + 1, chosen[at]].copy()
    lower[at] = math.sqrt(max(1.0 - float((lower[:at] ** 2).sum()), MIN_VARIANCE))
    return float(lower @ state.factors[: at + 1, g])


@njit(cache=True, nogil=True)
def maximise(likelihoods, shares, weights, sums):
    """Update a mixture's weights by EM; `likelihoods` has shape (n_bins, n_components)."""
    n_components = weights.shape[0]
    for _ in range(_N_ITERATIONS):
        for c in range(n_components):
            sums[c] = 0.0
        for b in range(shares.shape[0]):
            if shares[b] > 0.0:
                total = 0.0
                for c in range(n_components):
                    total += weights[c] * likelihoods[b, c]
                for c in range(n_components):
                    sums[c] += likelihoods[b, c] * (shares[b] / total)
        for c in range(n_components):
            weights[c] *= (1.0 - _NULL_SHARE) * sums[c]
        weights[0] += _NULL_SHARE


@njit(cache=True, nogil=True)
def factorise(lower):
    """Replace the lower half of a correlation matrix by its Cholesky factor, as the search does."""
    for i in range(lower.shape[0]):
        variance = 1.0
        for j in range(i):
            found = lower[i, j]
            for t in range(j):
                found -= lower[i, t] * lower[j, t]
            lower[i, j] = found / lower[j, j]
            variance -= lower[i, j] * lower[i, j]
        lower[i, i] = math.sqrt(max(variance, MIN_VARIANCE))


@njit(cache=True, nogil=True)
def whiten(lower_row, step, points):
    """Make row `step` of the points independent of the rows before it."""
    row = points[step]
    for t in range(step):
        factor, other = lower_row[t], points[t]
        for i in range(uintp(row.shape[0])):
            row[i] -= factor * other[i]
    root = lower_row[step]
    for i in range(uintp(row.shape[0])):
        row[i] /= root


@njit(cache=True, nogil=True)
def add_distances(points, bias, codes, counts, units, squares, products, leverages):
    """Add one coordinate, a row of `_standard_points`, to the distances of all samples.

    `squares` and `products`, (n_samples, n_classes), hold v_g' v_g and v_g' r, `leverages` r' r.
    """
    n, n_classes = codes.shape[0], counts.shape[0]
    for i in range(n):
        k, unit = codes[i], units[i]
        # A class of one sample is left with the mean of all samples.
        own = points[i] - (points[n + k] if counts[k] > unit else points[n + n_classes])
        r = own * counts[k] / (counts[k] - unit) if counts[k] > unit else own
        leverages[i] += r * r
        for g in range(n_classes):
            v = r - bias[k] if g == k else points[i] - bias[k] - points[n + g]
            squares[i, g] += v * v
            products[i, g] += v * r


@njit(cache=True, nogil=True)
def leave_out(
    squares,
    products,
    leverages,
    codes,
    counts,
    units,
    priors,
    shrinkage,
    n_free,
    logs,
    terms,
    log_odds,
):
    """Fill in `log_odds`, (n_classes, n_samples), ``units[i]`` of sample i left out in turn."""
    n_classes = counts.shape[0]
    for i in range(codes.shape[0]):
        unit = units[i]
        b = (1.0 - shrinkage) * (unit * (1.0 - unit / counts[codes[i]])) / n_free
        b /= max(1.0 - b * leverages[i], _MIN_LEFT)
        largest, second, top = -np.inf, -np.inf, 0
        for g in range(n_classes):
            distance = squares[i, g] + b * products[i, g] * products[i, g]
            logs[g] = priors[g] - 0.5 * distance * (n_free - unit) / n_free
            if logs[g] > largest:
                largest, second, top = logs[g], largest, g
            elif logs[g] > second:
                second = logs[g]
        # Odds of the top class are against the others alone: nothing cancels.
        others = 0.0
        for g in range(n_classes):
            terms[g] = exp_minus(largest - logs[g])
            others += terms[g] if g != top else 0.0
        for g in range(n_classes):
            rest = largest + math.log(others + (1.0 - terms[g]))
            if g == top:
                rest = largest + math.log(others) if largest - second < _MAX_GAP else second
            log_odds[g, i] = logs[g] - rest
