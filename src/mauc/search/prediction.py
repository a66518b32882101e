"""The MAUC to expect of the features of a finished search, on new samples."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import uintp
from numpy.typing import DTypeLike
from scipy.special import ndtr, ndtri

from mauc.compile import njit
from mauc.data.weights import pair_table
from mauc.engine.arithmetic import exp_minus
from mauc.engine.ordered import class_wins
from mauc.measure.normal_scores import MIN_VARIANCE, row_scales
from mauc.search.greedy import Leftover

_STEP, _N_BINS = 0.1, 100  # of |z|; what is beyond counts as at the end
_COMPONENTS = np.append(0.0, 2.0 ** np.arange(-2, 11))  # their variances
_N_ITERATIONS = 1000
_NULL_SHARE = 0.3  # of the features, which are taken to have no effect whatever they show
_MIN_SCATTER = 0.25  # of a feature that is constant in every class
_MAX_GAP = 600.0  # of two logarithms; beyond, the smaller term is lost in a sum of doubles
_MIN_LEFT = 0.02  # of a direction that is left without one sample


@dataclass(eq=False, repr=False)
class Prediction:
    """The MAUC to expect of the first features of a ranking, computed when it is asked for.

    docs/methods/greedy_mauc.md has the formulas. NumPy takes it for the array `mauc`.
    """

    left: Leftover
    n_steps: np.ndarray  #: (k,), int64: chosen columns with each of the features

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
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
    """Return the MAUC to expect of the first columns, by size; 0.5 if no class has two rows.

    Each sample is left out in turn, and classified by the others, whose class means are moved
    towards each other by the part of their distances that is luck.
    """
    present = np.flatnonzero(left.class_counts)
    counts = left.class_weights[present].astype(np.float64)
    n_classes, n_samples = len(counts), len(left.weights)
    n_free = counts.sum() - n_classes
    if n_free < 1 or n_classes < 2 or len(left.rows) == 0:
        return [0.5] * len(sizes)
    left, confirmed, sizes = _add_axes(left, sizes)
    points, luck = _standard_points(left, confirmed, present, counts)
    distances = points[:, n_samples:-1] - points[:, -1:]
    # What leaving a sample out takes by itself is not taken twice.
    chance = np.clip(np.abs(distances) / _errors(counts), 1.0, 1e6) ** -2.0
    bias = (1.0 - confirmed * (1.0 - np.maximum(luck - chance, 0.0))) * distances
    pair_aucs = list(_left_out_auc(left, points, bias, counts, sizes))
    # Samples that tie are not moved apart: luck is taken off their AUC instead.
    lucky = (1.0 - confirmed * (1.0 - luck)) * distances
    unmoved = _left_out_auc(left, points, 0.0 * bias, counts, sizes, only_tied=True)
    for at, auc in enumerate(unmoved):
        kept = _kept_shares(distances[: sizes[at]], lucky[: sizes[at]])
        pair_aucs[at] = np.minimum(pair_aucs[at], ndtr(kept * ndtri(auc)))
    return [max(0.5, _mean_of_pairs(left, present, auc)) for auc in pair_aucs]


def _mean_of_pairs(left: Leftover, present: np.ndarray, auc: np.ndarray) -> float:
    """Return the mean of (n_classes, n_classes) AUCs off the diagonal, as the pairs count."""
    if left.pair_shares is None:
        return float(auc[~np.eye(len(auc), dtype=bool)].mean())
    shares = pair_table(left.pair_shares, len(left.class_counts))[np.ix_(present, present)]
    return float((shares * auc).sum() / max(shares.sum(), 1e-300))


def _add_axes(left: Leftover, sizes: list[int]) -> tuple[Leftover, np.ndarray, list[int]]:
    """Return the same with the further axes of nominal columns: sizes then count these, too.

    Also the roots of the parts of the effects of all columns that are confirmed, (n_columns, 1).
    """
    parts, confirmed = [], []
    for scores, known in zip(left.rows, left.nominal, strict=True):
        part = scores[np.newaxis]
        if known is not None:
            part = np.concatenate([part, known.axes(scores, left.class_counts, left.weights)])
        parts.append(part)
        confirmed += [1.0 if known is None else known.share] * len(part)
    stops = np.cumsum([len(part) for part in parts])
    left = left._replace(rows=np.concatenate(parts), nominal=[])
    return left, np.sqrt(confirmed)[:, np.newaxis], stops[np.array(sizes) - 1].tolist()


def _left_out_auc(
    left: Leftover,
    points: np.ndarray,
    bias: np.ndarray,
    counts: np.ndarray,
    sizes: list[int],
    only_tied: bool = False,
) -> Iterator[np.ndarray]:
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


def _standard_points(
    left: Leftover, confirmed: np.ndarray, present: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples, class means and their mean, independent and in standard deviations.

    Also the parts of the distances of class means that are luck, (n_columns, n_classes).
    """
    n_samples = left.rows.shape[1]
    sums, centers, scales = row_scales(left.rows, left.class_counts[present], counts, left.weights)
    by_class, common, units = _class_means(sums, scales, counts)
    points = np.concatenate([left.rows, by_class, common], axis=1)
    points[:, :n_samples] *= units[:, np.newaxis]
    lower = _correlations(left, centers, scales)
    factorise(lower)
    for step in range(len(points)):
        whiten(lower[step], step, points)
    # Features are chosen for what they add to those before: so is the luck in them.
    z = confirmed * (points[:, n_samples:-1] - points[:, -1:]) / _errors(counts)
    return points, lucky_shares(z, other_sizes(left, present, counts))


def _correlations(left: Leftover, centers: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the shrunk correlations of all columns within the classes; none is doubted."""
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


def _class_means(
    sums: np.ndarray, scales: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means of classes and of all samples, a row per column, and units of the scores."""
    units = np.where(scales > 0.0, scales, 1.0 / math.sqrt(_MIN_SCATTER))
    units = units * math.sqrt(counts.sum() - len(counts))
    by_class = sums / counts[:, np.newaxis] * units
    return by_class.T, (sums.sum(axis=0) / counts.sum() * units)[:, np.newaxis], units


def _errors(counts: np.ndarray) -> np.ndarray:
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

    def __init__(self, weights: np.ndarray) -> None:
        self._groups, self._weights = np.zeros(len(weights), np.int64), weights
        self._n_groups, self._n_most = 1, max(len(weights), weights.sum())

    @property
    def any_tied(self) -> bool:
        """Whether some samples agree."""
        return bool(self._n_groups < self._n_most)

    def split(self, scores: np.ndarray) -> None:
        """Split each group of samples by their scores, int8."""
        if self.any_tied:
            keys = self._groups * 256 + (scores.astype(np.int64) + 128)
            self._groups = np.unique(keys, return_inverse=True)[1].ravel()
            self._n_groups = int(self._groups.max()) + 1

    def average(self, rows: np.ndarray) -> None:
        """Replace the values of each group by their mean, in every row."""
        if self.any_tied:
            sizes = np.bincount(self._groups, self._weights)
            for row in rows:
                # Those of a class are equal and follow each other: no order of them matters.
                sums = np.bincount(self._groups, row * self._weights)
                row[:] = (sums / sizes)[self._groups]


def _kept_shares(distances: np.ndarray, lucky: np.ndarray) -> np.ndarray:
    """Return the part of the separation of every two classes that is not luck, in [0, 1]."""
    apparent, lucky = distances.T @ distances, distances.T @ lucky

    def between(products: np.ndarray) -> np.ndarray:
        """Return squared distances, given products."""
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


def _likelihoods(sizes: np.ndarray) -> np.ndarray:
    """Return the likelihood of every component, given |z|, up to a factor; on a new last axis."""
    variances = 1.0 + _COMPONENTS
    # The widest component is never far from the likeliest: no sum of these underflows.
    sizes = np.minimum(sizes, _N_BINS * _STEP)[..., np.newaxis]
    return np.exp(-0.5 * sizes * sizes / variances) / np.sqrt(variances)


@njit
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


@njit
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


@njit
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


@njit
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


@njit
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
