"""Class moments of contiguous columns: a block of columns in, weights, means and scatters out."""

import numpy as np
from numba import njit

from mauc.numerics.shifted_sums import known_sums, plain_sums, shift_of


@njit(cache=True, nogil=True)
def class_moments(XT, order, starts, weights, shift, count, offset, scatter):
    """Fill in the moments of a block of features.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        NaN is left out.
    order, starts, weights : see `mauc.problem.class_order.group_by_class`
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


@njit(cache=True, nogil=True)
def write_moments(size, total, square, near, shift, count, offset, scatter):
    """Write the moments of sums that lie class by class, shape (n_classes, n_features)."""
    for k in range(size.shape[0]):
        for j in range(size.shape[1]):
            count[j, k] = size[k, j]
            offset[j, k], scatter[j, k] = moments_of(
                size[k, j], total[k, j], square[k, j], near[k, j], shift[j]
            )


@njit(cache=True, nogil=True)
def moments_of(size, total, square, near, shift):
    """Return the mean minus the shift and the scatter of sums about `near`."""
    mean = total / size if size > 0 else 0.0
    offset = (near - shift) + mean if size > 0 else 0.0
    # A class whose values are equal leaves rounding of either sign.
    return offset, max(square - total * mean, 0.0)
