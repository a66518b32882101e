"""Scaled columns and squared distances, which the nearest neighbour and the SVM share."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numba import uintp

from mauc.classifiers.base import Indicators, Samples, encode_column, find_categories
from mauc.compile import njit, njit_part

# How the difference of two values of a column is taken.
PLAIN = 0  # numbers, none missing
NOMINAL = 1  # 0 if equal, 1 if not or if one is missing
MISSING = 2  # numbers, some missing

_TILE = 1024  # training rows at a time: their sums stay in the first-level cache


@dataclass(frozen=True)
class Ranges:
    """What is scaled to 0 and to 1 in each column."""

    low: np.ndarray  #: float64, 0 in a column without a known value
    high: np.ndarray
    is_constant: np.ndarray  #: bool: columns that are scaled to 0
    categories: dict[
        int, np.ndarray
    ]  #: values of the nominal columns, which are not scaled but encoded
    fill: np.ndarray | None = None  #: replaces missing values, which otherwise stay NaN

    def scale(self, X: np.ndarray) -> np.ndarray:
        """Return ``(x - low) / (high - low)``, unclipped, as rows; nominal values become codes."""
        ZT = np.empty((X.shape[1], X.shape[0]))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            widths = self.high - self.low
            np.subtract(X.T, self.low[:, np.newaxis], out=ZT)
            ZT /= widths[:, np.newaxis]
            for j in np.flatnonzero(np.isinf(widths)):  # half of everything does not overflow
                ZT[j] = (X[:, j] / 2 - self.low[j] / 2) / (self.high[j] / 2 - self.low[j] / 2)
        for j in np.flatnonzero(self.is_constant):
            ZT[j] = np.where(np.isnan(X[:, j]), np.nan, 0.0)
        for column, values in self.categories.items():
            ZT[column] = encode_column(X[:, column], values)
            ZT[column, np.isnan(X[:, column])] = np.nan
        if self.fill is not None and (is_missing := np.isnan(ZT)).any():
            ZT = np.where(is_missing, replace(self, fill=None).scale(self.fill[np.newaxis, :]), ZT)
        return ZT

    def kinds(self, *scaled: np.ndarray) -> np.ndarray:
        """Return how the differences of each column are taken, shape (n_features,), int8."""
        kinds = np.full(len(self.low), PLAIN, np.int8)
        for ZT in scaled:
            kinds[np.isnan(ZT).any(axis=1)] = MISSING
        kinds[list(self.categories)] = NOMINAL
        return kinds


@dataclass(frozen=True)
class ScaledSamples:
    """Training data with all columns scaled, nominal ones encoded or expanded to indicators."""

    ranges: Ranges
    ZT: np.ndarray  #: scaled columns, (n_columns, n_samples), float64
    codes: np.ndarray
    weights: np.ndarray
    n_classes: int
    indicators: Indicators

    @classmethod
    def of(
        cls, samples: Samples, ranges: Ranges, indicators: Indicators | None = None
    ) -> "ScaledSamples":
        """Scale training samples, whose nominal columns are expanded if there are indicators."""
        ZT = ranges.scale(samples.X)
        if indicators is None:
            indicators = Indicators(len(ZT), {})  # every feature is one column
        return cls(ranges, ZT, samples.codes, samples.weights, samples.n_classes, indicators)

    def scale(self, X: np.ndarray) -> np.ndarray:
        """Return the scaled columns of other samples, shape (n_columns, n_samples)."""
        return self.ranges.scale(self.indicators.expand(X))


def find_ranges(
    X: np.ndarray,
    nominal: Iterable[int] = (),
    min_range: float = 0.0,
    fill: np.ndarray | None = None,
) -> Ranges:
    """Return the ranges of the columns of X; those below `min_range` and of 0 are constant."""
    low = np.fmin.reduce(X, axis=0).astype(np.float64)
    high = np.fmax.reduce(X, axis=0).astype(np.float64)
    is_unknown = np.isnan(low)
    low[is_unknown] = high[is_unknown] = 0.0
    with np.errstate(over="ignore"):
        widths = high - low
    is_constant = (widths == 0.0) | (widths < min_range)
    return Ranges(low, high, is_constant, find_categories(X, nominal), fill)


def find_spreads(X: np.ndarray, mean: np.ndarray, weights: np.ndarray) -> Ranges:
    """Return ranges that standardise: from the mean, which also replaces missing values, one sd."""
    with np.errstate(over="ignore", invalid="ignore"):
        offsets = np.where(np.isnan(X), 0.0, X - mean)
        totals = (~np.isnan(X) * weights).sum(axis=0)
        spread = (offsets**2 * weights).sum(axis=0) / np.where(totals > 0, totals, 1.0)
        spread = np.sqrt(spread)
    is_constant = (spread == 0.0) | (mean + spread == mean)
    return Ranges(mean, mean + spread, is_constant, {}, fill=mean)


@njit
def grow_distances(QT, ZT, kinds, columns, start, stop, first_query, first_sample, out):
    """Add the squared differences of ``columns[start:stop]``, in their order, to squared distances.

    Row i of `out` belongs to sample ``first_query + i`` of `QT`; its columns before `first_sample`
    are not changed. `kinds` says how the differences of a column are taken.
    """
    n_queries, n = out.shape
    for begin in range(first_sample, n, _TILE):
        end = min(begin + _TILE, n)
        for i in range(n_queries):
            q = first_query + i
            at = start
            while at < stop:
                j = columns[at]
                if at + 3 < stop:
                    j1, j2, j3 = columns[at + 1], columns[at + 2], columns[at + 3]
                    if kinds[j] + kinds[j1] + kinds[j2] + kinds[j3] == PLAIN:
                        _add_four(
                            QT[j, q],
                            QT[j1, q],
                            QT[j2, q],
                            QT[j3, q],
                            ZT[j],
                            ZT[j1],
                            ZT[j2],
                            ZT[j3],
                            begin,
                            end,
                            out[i],
                        )
                        at += 4
                        continue
                _add_one(QT[j, q], ZT[j], kinds[j], begin, end, out[i])
                at += 1


@njit_part
def _add_four(a, b, c, d, za, zb, zc, zd, begin, end, sums):
    """Add four plain columns per pass: a sum is read and written once instead of four times."""
    for t in range(uintp(begin), uintp(end)):
        total = sums[t]
        difference = a - za[t]
        total += difference * difference
        difference = b - zb[t]
        total += difference * difference
        difference = c - zc[t]
        total += difference * difference
        difference = d - zd[t]
        sums[t] = total + difference * difference


@njit_part
def _add_one(value, column, kind, begin, end, sums):
    """Add one column of any kind."""
    if kind == PLAIN:
        for t in range(uintp(begin), uintp(end)):
            difference = value - column[t]
            sums[t] += difference * difference
    elif kind == NOMINAL:
        for t in range(uintp(begin), uintp(end)):
            if value != column[t]:  # NaN differs from everything
                sums[t] += 1.0
    else:
        for t in range(uintp(begin), uintp(end)):
            difference = _difference(value, column[t])
            sums[t] += difference * difference


@njit_part
def _difference(a, b):
    """Return a - b; a missing value is as far from the known one as the range allows."""
    if math.isnan(a):
        if math.isnan(b):
            return 1.0
        return max(b, 1.0 - b)
    if math.isnan(b):
        return max(a, 1.0 - a)
    return a - b


@njit
def find_nearest(Q, Z, starts, candidates, codes, weights, nearest, tied):
    """Fill the first row at the smallest distance, and per class the weight of all rows at it."""
    # candidates[starts[i]:starts[i + 1]], ascending and at least one, may be nearest to Q[i]
    n_classes = tied.shape[1]
    for i in range(len(nearest)):
        smallest = math.inf
        nearest[i] = candidates[starts[i]]
        for k in range(n_classes):
            tied[i, k] = 0.0
        for row in candidates[starts[i] : starts[i + 1]]:
            distance = 0.0
            for j in range(uintp(Q.shape[1])):
                difference = Q[i, j] - Z[row, j]
                distance += difference * difference
            if distance < smallest:
                smallest = distance
                nearest[i] = row
                for k in range(n_classes):
                    tied[i, k] = 0.0
            if distance == smallest:
                tied[i, codes[row]] += weights[row]


@njit
def sum_ties(distances, codes, weights, nearest, tied):
    """Fill per class the weight of all samples as near as the nearest one, which is given."""
    n_queries, n = distances.shape
    for i in range(n_queries):
        smallest = distances[i, nearest[i]]
        for k in range(tied.shape[1]):
            tied[i, k] = 0.0
        for t in range(nearest[i], n):
            if distances[i, t] == smallest:
                tied[i, codes[t]] += weights[t]
