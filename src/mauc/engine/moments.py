"""Sums and sums of squares of column values about a value near its bulk, which keeps their digits.

The sums are taken of d = x - shift, with a shift taken from the values themselves. For any value
x0 of n values (x0 - mean)^2 <= n * variance, so the squares about x0 exceed the squares about the
mean at most by the factor n + 1: a large common offset such as 1e9 costs nothing, and one outlier
taken as the shift at most log10(n) of the sixteen digits. The mean of several evenly spaced values
is a better shift than one value and as cheap.
"""

import numpy as np

from mauc.compile import njit, njit_part

SHIFT_SAMPLES = 16  # evenly spaced values whose mean is the shift

# `rows` are the rows to read, or None for all of them: Numba compiles the two apart.


@njit_part
def _n_rows(column, rows):
    if rows is None:
        return column.shape[0]
    return rows.shape[0]


@njit_part
def _value(column, rows, i):
    if rows is None:
        return np.float64(column[i])
    return np.float64(column[rows[i]])


@njit_part
def shift_of(column, rows):
    """Return a value near the bulk of the known values; the value itself if all are equal."""
    n = _n_rows(column, rows)
    i = np.int64(0)
    while i < n and np.isnan(_value(column, rows, i)):
        i += 1
    if i == n:
        return 0.0
    base = _value(column, rows, i)
    # The differences of equal values are 0, so a constant column has exactly its value.
    total, n_known = 0.0, 0
    for part in range(SHIFT_SAMPLES):
        difference = _value(column, rows, (part * n) // SHIFT_SAMPLES) - base
        if not np.isnan(difference):
            total += difference
            n_known += 1
    return base + total / (n_known if n_known > 0 else 1)


@njit_part
def plain_sums(column, rows, shift):
    """Return the sums of d and d^2; NaN as soon as one value is missing."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
    n = _n_rows(column, rows)
    # Four sums side by side: an addition need not wait for the one before it.
    for i in range(0, n - 3, 4):
        d0 = _value(column, rows, i) - shift
        d1 = _value(column, rows, i + 1) - shift
        d2 = _value(column, rows, i + 2) - shift
        d3 = _value(column, rows, i + 3) - shift
        s0 += d0
        s1 += d1
        s2 += d2
        s3 += d3
        q0 += d0 * d0
        q1 += d1 * d1
        q2 += d2 * d2
        q3 += d3 * d3
    for i in range(n - n % 4, n):
        d0 = _value(column, rows, i) - shift
        s0 += d0
        q0 += d0 * d0
    return (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3)


@njit_part
def known_sums(column, rows, weights, shift):
    """Return the weight, and weighted sums of d and d^2, of known values; no weights are all 1."""
    count, total, square = 0.0, 0.0, 0.0
    for i in range(rows.shape[0]):
        d = np.float64(column[rows[i]]) - shift
        if not np.isnan(d):
            weight = weights[i] if weights.shape[0] > 0 else 1.0
            count += weight
            total += weight * d
            square += weight * d * d
    return count, total, square


@njit
def class_moments(XT, order, starts, weights, shift, count, offset, scatter):
    """Fill in the moments of a block of features, NaN left out; rows are those of `group_by_class`.

    `count` is the number of known samples of a class, or their weight, `offset` the class mean
    minus the shift, 0 without known values (kept apart from the shift because their sum would round
    the differences between the classes), and `scatter` the sum of w (x - class mean)^2.
    """
    n_classes = starts.shape[0] - 1
    for j in range(XT.shape[0]):
        column = XT[j]
        shift[j] = shift_of(column, order)
        # Columns before j are done; the classes of j before k are.
        for k in range(n_classes):
            rows = order[starts[k] : starts[k + 1]]
            # Each class has a shift of its own, so that an outlier in one costs no other digits.
            near = shift_of(column, rows)
            size = np.float64(rows.shape[0])
            total, square = np.nan, np.nan
            if weights.shape[0] == 0:
                total, square = plain_sums(column, rows, near)
            if np.isnan(total):
                own_weights = weights[starts[k] : starts[k + 1]]
                size, total, square = known_sums(column, rows, own_weights, near)
            count[j, k] = size
            offset[j, k], scatter[j, k] = moments_of(size, total, square, near, shift[j])


@njit_part
def moments_of(size, total, square, near, shift):
    """Return the mean minus the shift and the scatter of sums about `near`."""
    mean = total / size if size > 0 else 0.0
    offset = (near - shift) + mean if size > 0 else 0.0
    # A class whose values are equal leaves rounding of either sign.
    return offset, max(square - total * mean, 0.0)
