"""Normal Naive Bayes, column by column: columns in, class moments, likelihoods, products out."""

import math

import numpy as np
from numba import njit, uintp

from mauc.numerics.normal_cdf import log_normal_cell, normal_cdf

DEFAULT_PRECISION = 0.01  # of a column with fewer than two distinct values
MIN_LIKELIHOOD = 1e-75  # of one column; a smaller largest product is scaled up by its inverse
_MIN_DEVIATION = 1e-10  # WEKA ignores smaller deviations
_MIN_DIVISOR = 2.2250738585072014e-308  # the smallest normal float64
MAX_VALUE = 1e100  # beyond, squares would overflow
SMALL_SCALE = 2.0**-700  # of columns with such values
_BLOCK_VALUES = 2**17  # values sorted at a time: they fit the second-level cache

# normal_cdf is below MIN_LIKELIHOOD left of the first and exactly 1 right of the second
FLOOR_Z = -18.5
ONE_Z = 8.5


def fit_normals(XT, codes, weights, n_classes):
    """Fit a normal density to every column and class.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns; NaN is missing.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        Positive.
    n_classes : int

    Returns
    -------
    scales : ndarray of shape (n_features,)
        Power of two that a column is multiplied by; 1 unless its squares would overflow. The
        other results are in this scale.
    precisions : ndarray of shape (n_features,)
        Mean gap between neighbouring distinct values.
    means, deviations : ndarray of shape (n_features, n_classes)
    """
    n_features, n_samples = XT.shape
    scales = np.ones(n_features)
    precisions = np.empty(n_features)
    means = np.empty((n_features, n_classes))
    deviations = np.empty((n_features, n_classes))
    # A block of columns at a time: a sorted copy of all of them would double the memory.
    width = max(1, _BLOCK_VALUES // n_samples)
    for start in range(0, n_features, width):
        here = slice(start, start + width)
        ordered = np.sort(XT[here], axis=1).astype(np.float64, copy=False)
        _fit_block(
            XT[here], ordered, codes, weights,
            scales[here], precisions[here], means[here], deviations[here],
        )  # fmt: skip
    return scales, precisions, means, deviations


@njit(cache=True, nogil=True)
def _fit_block(XT, ordered, codes, weights, scales, precisions, means, deviations):
    """Fill the results of some columns; `ordered` holds them sorted, NaN last, and may change."""
    sums = np.empty((means.shape[1], 4))
    for j in range(len(XT)):
        column = ordered[j]
        last = len(column) - 1
        while last > 0 and math.isnan(column[last]):
            last -= 1
        if max(-column[0], column[last]) > MAX_VALUE:
            scales[j] = SMALL_SCALE
            column *= scales[j]
        precisions[j] = mean_gap(column)
        fit_column(XT[j], codes, weights, scales[j], precisions[j], sums, means[j], deviations[j])


@njit(cache=True, nogil=True)
def mean_gap(ordered):
    """Return the mean gap between distinct neighbours of a sorted column, NaN last."""
    total, n_gaps, last = 0.0, 0, ordered[0]
    for value in ordered:
        if math.isnan(value):
            break
        if value != last:
            total += value - last  # one by one: max - min would round differently
            n_gaps += 1
            last = value
    return total / n_gaps if n_gaps > 0 else DEFAULT_PRECISION


@njit(cache=True, nogil=True)
def fit_column(column, codes, weights, scale, precision, sums, means, deviations):
    """Fill the means and deviations of the classes, shape (n_classes,), of one column.

    A row of `sums` belongs to a class: its weight, the sums of its values and of their squares,
    both relative to its first value (so that a large offset costs no digits), and that value.
    """
    for k in range(len(means)):
        means[k] = 0.0
        deviations[k] = max(precision / 6.0, _MIN_DIVISOR)
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        _add(column[i] * scale, codes[i], weights[i], precision, sums)
    is_vague = False
    for k in range(len(means)):
        is_vague |= not _set_moments(k, sums, precision, means, deviations)
    if not is_vague:
        return
    # WEKA updates the deviation after each row, unless the new one vanishes: the result is the last
    # one that did not vanish.
    for k in range(len(means)):
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        if not math.isnan(column[i]):
            _add(column[i] * scale, codes[i], weights[i], precision, sums)
            _set_moments(codes[i], sums, precision, means, deviations)


@njit(cache=True, nogil=True)
def _add(value, k, weight, precision, sums):
    if not math.isnan(value):
        value = np.rint(value / precision) * precision
        if sums[k, 0] == 0.0:
            sums[k, 3] = value
        value -= sums[k, 3]
        sums[k, 0] += weight
        sums[k, 1] += value * weight
        sums[k, 2] += value * value * weight


@njit(cache=True, nogil=True)
def _set_moments(k, sums, precision, means, deviations):
    if sums[k, 0] == 0.0:
        return True
    offset = sums[k, 1] / sums[k, 0]
    means[k] = sums[k, 3] + offset
    deviation = math.sqrt(abs(sums[k, 2] - offset * sums[k, 1]) / sums[k, 0])
    if deviation > _MIN_DEVIATION:
        deviations[k] = max(precision / 6.0, deviation)
        return True
    return sums[k, 2] == 0.0  # all values equal: it vanished after every row


@njit(cache=True, nogil=True)
def normal_likelihoods(XT, scales, precisions, means, deviations, is_log, out):
    """Compute the probability of every value's cell, in every class.

    A value x stands for the cell of width `precision` around x rounded to a multiple of it.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
    scales, precisions : ndarray of shape (n_features,)
    means, deviations : ndarray of shape (n_features, n_classes)
    is_log : bool
        Whether to compute logarithms. They are evaluated in the lower tail on either side of the
        mean and have no floor; the probabilities are floored differences, as WEKA's.
    out : ndarray of shape (n_features, n_samples, n_classes)
        Filled; 1 (or log 1) where the value is missing.
    """
    n_features, n = XT.shape
    n_classes = means.shape[1]
    for j in range(n_features):
        precision, scale = precisions[j], scales[j]
        half = precision / 2.0
        last = math.nan
        for i in range(uintp(n)):
            value = XT[j, i] * scale
            if math.isnan(value):
                for k in range(uintp(n_classes)):
                    out[j, i, k] = 0.0 if is_log else 1.0
                last = value
                continue
            value = np.rint(value / precision) * precision
            if value == last:  # as in the row before: common in columns with many zeros
                for k in range(uintp(n_classes)):
                    out[j, i, k] = out[j, i - uintp(1), k]
                continue
            last = value
            for k in range(uintp(n_classes)):
                distance, deviation = value - means[j, k], deviations[j, k]
                if is_log:
                    out[j, i, k] = log_normal_cell(distance / deviation, precision / deviation)
                    continue
                lower, upper = (distance - half) / deviation, (distance + half) / deviation
                likelihood = 0.0
                if upper > FLOOR_Z and lower < ONE_Z:
                    likelihood = normal_cdf(upper) - normal_cdf(lower)
                out[j, i, k] = max(MIN_LIKELIHOOD, likelihood)


@njit(cache=True, nogil=True)
def multiply_likelihoods(likelihoods, columns, joint):
    """Multiply the likelihoods of some columns, in this order, into the joint probabilities.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_features, n_samples, n_classes)
    columns : ndarray of shape (n_columns,), int64
    joint : ndarray of shape (n_samples, n_classes)
        Updated. A row whose largest value falls below 1e-75 is multiplied by 1e75, so that the
        largest never vanishes.
    """
    n, n_classes = joint.shape
    for column in columns:
        for i in range(uintp(n)):
            largest = 0.0
            for k in range(uintp(n_classes)):
                joint[i, k] *= likelihoods[column, i, k]
                largest = max(largest, joint[i, k])
            if 0.0 < largest < MIN_LIKELIHOOD:
                for k in range(uintp(n_classes)):
                    joint[i, k] *= 1e75


@njit(cache=True, nogil=True)
def add_log_likelihoods(likelihoods, columns, joint):
    """Add the log-likelihoods of some columns, in this order, to the joint log-probabilities."""
    n, n_classes = joint.shape
    for column in columns:
        for i in range(uintp(n)):
            for k in range(uintp(n_classes)):
                joint[i, k] += likelihoods[column, i, k]
