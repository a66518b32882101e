"""Squared distances, added column by column, and nearest samples: scaled columns in."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numba import uintp

from mauc.classifiers.base import encode_column, find_categories
from mauc.compile import njit

# How the difference of two values of a column is taken.
PLAIN = 0  # numbers, none missing
NOMINAL = 1  # 0 if equal, 1 if not or if one is missing
MISSING = 2  # numbers, some missing

_TILE = 1024  # training rows at a time: their sums stay in the first-level cache


@njit(cache=True, nogil=True)
def grow_distances(QT, ZT, kinds, columns, start, stop, first_query, first_sample, out):
    """Add the squared differences of some columns to squared distances.

    The columns are added one after the other, in their order, so the sums do not depend on how
    the columns or the rows are cut into blocks.

    Parameters
    ----------
    QT : ndarray of shape (n_features, n_all_queries), float64
        Scaled columns of the samples whose neighbours are searched.
    ZT : ndarray of shape (n_features, n_samples), float64
        Scaled columns of the candidate samples.
    kinds : ndarray of shape (n_features,), int8
        PLAIN, NOMINAL or MISSING.
    columns : ndarray of int64
    start, stop : int
        Add ``columns[start:stop]``.
    first_query : int
        The sample of the first row of `out`.
    first_sample : int
        The columns of `out` before this one are not changed.
    out : ndarray of shape (n_queries, n_samples), float64
        Added to.
    """
    n_queries, n = out.shape
    for begin in range(first_sample, n, _TILE):
        end = min(begin + _TILE, n)
        for i in range(n_queries):
            q = first_query + i
            place = start
            while place < stop:
                j = columns[place]
                if place + 3 < stop:
                    j1, j2, j3 = columns[place + 1], columns[place + 2], columns[place + 3]
                    if kinds[j] + kinds[j1] + kinds[j2] + kinds[j3] == PLAIN:
                        _add_four(
                            QT[j, q], QT[j1, q], QT[j2, q], QT[j3, q],
                            ZT[j], ZT[j1], ZT[j2], ZT[j3], begin, end, out[i],
                        )  # fmt: skip
                        place += 4
                        continue
                _add_one(QT[j, q], ZT[j], kinds[j], begin, end, out[i])
                place += 1


@njit(cache=True, nogil=True)
def _add_four(a, b, c, d, za, zb, zc, zd, begin, end, sums):
    # Four columns per pass: a sum is read and written once instead of four times.
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


@njit(cache=True, nogil=True)
def _add_one(value, column, kind, begin, end, sums):
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


@njit(cache=True, nogil=True)
def _difference(a, b):
    # A missing value is as far from the known one as the range allows.
    if math.isnan(a):
        if math.isnan(b):
            return 1.0
        return max(b, 1.0 - b)
    if math.isnan(b):
        return max(a, 1.0 - a)
    return a - b


@njit(cache=True, nogil=True)
def find_nearest(Q, Z, starts, candidates, codes, weights, nearest, tied):
    """Find the nearest of a few candidates exactly.

    Parameters
    ----------
    Q : ndarray of shape (n_queries, n_features), float64
        Scaled rows, all plain numbers.
    Z : ndarray of shape (n_samples, n_features), float64
    starts : ndarray of shape (n_queries + 1,), int64
        ``candidates[starts[i]:starts[i + 1]]`` are the rows of Z that may be nearest to row i
        of Q, ascending; at least one.
    candidates : ndarray of int64
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    nearest : ndarray of shape (n_queries,), int64
        Filled: the first row at the smallest distance.
    tied : ndarray of shape (n_queries, n_classes), float64
        Filled: per class, the weight of all rows at the smallest distance.
    """
    n_classes = tied.shape[1]
    for i in range(len(nearest)):
        smallest = math.inf
        nearest[i] = candidates[starts[i]]
        for k in range(n_classes):
            tied[i, k] = 0.0
        for place in range(starts[i], starts[i + 1]):
            row = candidates[place]
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


@njit(cache=True, nogil=True)
def sum_ties(distances, codes, weights, nearest, tied):
    """Sum per class the weights of all samples as near as the nearest one.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, n_samples), float64
    codes, weights, nearest, tied
        As in `find_nearest`, but `nearest` is given.
    """
    n_queries, n = distances.shape
    for i in range(n_queries):
        smallest = distances[i, nearest[i]]
        for k in range(tied.shape[1]):
            tied[i, k] = 0.0
        for t in range(nearest[i], n):
            if distances[i, t] == smallest:
                tied[i, codes[t]] += weights[t]


@dataclass(frozen=True)
class Ranges:
    """Smallest and largest known value of each training column.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,), float64
        0 and 0 of a column without a known value.
    is_constant : ndarray of shape (n_features,), bool
        Columns that are scaled to 0.
    categories : dict of int to ndarray
        Values of the nominal columns, which are not scaled but encoded.
    fill : ndarray of shape (n_features,), optional
        Values that replace missing ones; without them, missing values stay NaN.
    """

    low: np.ndarray
    high: np.ndarray
    is_constant: np.ndarray
    categories: dict
    fill: np.ndarray | None = None

    def scale(self, X):
        """Return ``(x - low) / (high - low)``, shape (n_features, n_samples), float64.

        Values beyond the range are not clipped. A nominal value becomes its code; one that was
        not in the training data differs from all codes.
        """
        ZT = np.empty((X.shape[1], X.shape[0]))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            widths = self.high - self.low
            np.subtract(X.T, self.low[:, np.newaxis], out=ZT)
            ZT /= widths[:, np.newaxis]
            for j in np.flatnonzero(np.isinf(widths)):  # half of everything does not overflow
                ZT[j] = (X[:, j] / 2 - self.low[j] / 2) / (self.high[j] / 2 - self.low[j] / 2)
        for j in np.flatnonzero(self.is_constant):
            ZT[j] = np.where(np.isnan(X[:, j]), np.nan, 0.0)
        for j, values in self.categories.items():
            ZT[j] = encode_column(X[:, j], values)
            ZT[j, np.isnan(X[:, j])] = np.nan
        if self.fill is not None and (is_missing := np.isnan(ZT)).any():
            ZT = np.where(is_missing, replace(self, fill=None).scale(self.fill[np.newaxis, :]), ZT)
        return ZT

    def kinds(self, *scaled):
        """Return how the differences of each column are taken, shape (n_features,), int8."""
        kinds = np.full(len(self.low), PLAIN, np.int8)
        for ZT in scaled:
            kinds[np.isnan(ZT).any(axis=1)] = MISSING
        kinds[list(self.categories)] = NOMINAL
        return kinds


@dataclass(frozen=True)
class ScaledSamples:
    """Training data in the unit cube.

    Parameters
    ----------
    ranges : Ranges
    ZT : ndarray of shape (n_features, n_samples), float64
        Scaled columns.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    n_classes : int
    """

    ranges: Ranges
    ZT: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    n_classes: int

    @classmethod
    def of(cls, samples, ranges):
        """Scale training `Samples` by their ranges."""
        ZT = ranges.scale(samples.X)
        return cls(ranges, ZT, samples.codes, samples.weights, samples.n_classes)


def find_ranges(X, nominal=(), min_range=0.0, fill=None):
    """Return the ranges of the columns of X; NaN is missing.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    nominal : sequence of int
        Nominal columns.
    min_range : float, default=0.0
        A column whose range is less counts as constant, as does one whose range is 0.
    fill : ndarray of shape (n_features,), optional
        Values that replace missing ones.
    """
    low = np.fmin.reduce(X, axis=0).astype(np.float64)
    high = np.fmax.reduce(X, axis=0).astype(np.float64)
    is_unknown = np.isnan(low)
    low[is_unknown] = high[is_unknown] = 0.0
    with np.errstate(over="ignore"):
        widths = high - low
    is_constant = (widths == 0.0) | (widths < min_range)
    return Ranges(low, high, is_constant, find_categories(X, nominal), fill)


def find_spreads(X, mean):
    """Return ranges that standardise: from the mean to the mean plus the standard deviation.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN is missing.
    mean : ndarray of shape (n_features,)
        It also replaces missing values.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        offsets = np.where(np.isnan(X), 0.0, X - mean)
        spread = np.sqrt((offsets**2).sum(axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1))
    is_constant = (spread == 0.0) | (mean + spread == mean)
    return Ranges(mean, mean + spread, is_constant, {}, fill=mean)
