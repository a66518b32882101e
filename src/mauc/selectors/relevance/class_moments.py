"""Class means and class scatters of every feature, in one reading of the data.

In come features ``XT`` and the samples grouped by class; out come, per feature and class, the
weight, the mean and the sum of squared deviations from it.

The sums are taken of d = x - shift, with a shift taken from the values of the class itself.
For any value x0 of a class (x0 - mean)^2 <= n * variance, so the squares about x0 exceed the
squares about the mean at most by the factor n + 1: a large common offset such as 1e9 costs
nothing, and one outlier taken as the shift at most log10(n) of the sixteen digits. The mean of
several evenly spread values is a better shift than one value and as cheap.

A missing value (NaN) is left out of its feature.
"""

import numpy as np
from numba import njit

# How many evenly spread samples make the shift.
SHIFT_SAMPLES = 16


@njit(cache=True, nogil=True)
def column_shift(column, order):
    """Return a value near the bulk of the known values; the value itself if all are equal."""
    n = order.shape[0]
    i = 0
    while i < n and np.isnan(np.float64(column[order[i]])):
        i += 1
    if i == n:
        return 0.0
    base = np.float64(column[order[i]])
    # The differences of equal values are 0, so a constant feature has exactly its value.
    total, known = 0.0, 0
    for part in range(SHIFT_SAMPLES):
        difference = np.float64(column[order[(part * n) // SHIFT_SAMPLES]]) - base
        if not np.isnan(difference):
            total += difference
            known += 1
    return base + total / max(known, 1)


@njit(cache=True, nogil=True)
def _sums(column, rows, shift):
    """Return the sums of d and d^2 over rows; NaN as soon as one value is missing."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
    n_fours = rows.shape[0] // 4
    # Four sums side by side: an addition need not wait for the one before it.
    for i in range(0, 4 * n_fours, 4):
        d0 = np.float64(column[rows[i]]) - shift
        d1 = np.float64(column[rows[i + 1]]) - shift
        d2 = np.float64(column[rows[i + 2]]) - shift
        d3 = np.float64(column[rows[i + 3]]) - shift
        s0 += d0
        s1 += d1
        s2 += d2
        s3 += d3
        q0 += d0 * d0
        q1 += d1 * d1
        q2 += d2 * d2
        q3 += d3 * d3
    for i in range(4 * n_fours, rows.shape[0]):
        d0 = np.float64(column[rows[i]]) - shift
        s0 += d0
        q0 += d0 * d0
    return (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3)


@njit(cache=True, nogil=True)
def _careful_sums(column, order, begin, end, weights, shift):
    """Return the weight, and the weighted sums of d and d^2, of the known values."""
    count, total, square = 0.0, 0.0, 0.0
    for i in range(begin, end):
        d = np.float64(column[order[i]]) - shift
        if not np.isnan(d):
            weight = weights[i] if weights.shape[0] > 0 else 1.0
            count += weight
            total += weight * d
            square += weight * d * d
    return count, total, square


@njit(cache=True, nogil=True)
def class_moments(XT, order, starts, weights, shift, count, offset, scatter):
    """Fill in the moments of a block of features.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
    order, starts, weights : see `group_by_class`
    shift : ndarray of shape (n_features,), float64
    count : ndarray of shape (n_features, n_classes), float64
        Known samples of the class, or the sum of their weights.
    offset : ndarray of shape (n_features, n_classes), float64
        Class mean minus shift; 0 for a class without known values. Kept apart from the shift
        because their sum would round the differences between the classes.
    scatter : ndarray of shape (n_features, n_classes), float64
        sum of w (x - class mean)^2.
    """
    n_classes = starts.shape[0] - 1
    for j in range(XT.shape[0]):
        column = XT[j]
        shift[j] = column_shift(column, order)
        # Columns before j are done; the classes of j before k are.
        for k in range(n_classes):
            begin, end = starts[k], starts[k + 1]
            # Each class has a shift of its own, so that an outlier in one costs no other digits.
            near = column_shift(column, order[begin:end])
            size = np.float64(end - begin)
            total, square = np.nan, np.nan
            if weights.shape[0] == 0:
                total, square = _sums(column, order[begin:end], near)
            if np.isnan(total):
                size, total, square = _careful_sums(column, order, begin, end, weights, near)
            mean = total / size if size > 0 else 0.0
            count[j, k] = size
            offset[j, k] = (near - shift[j]) + mean if size > 0 else 0.0
            # A class whose values are equal leaves rounding of either sign.
            scatter[j, k] = max(square - total * mean, 0.0)
