"""Scale columns to [0, 1] by the ranges of the training data: X in, scaled columns out."""

from dataclasses import dataclass, replace

import numpy as np

from mauc.classifiers.distances import MISSING, NOMINAL, PLAIN
from mauc.classifiers.nominal_columns import encode_column, find_categories


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
