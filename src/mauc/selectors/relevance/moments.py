"""Class moments of columns: weights, means and scatters of every class, or of groups of classes."""

import numpy as np
from numba import njit

from mauc.numerics.shifted_sums import known_sums, plain_sums, shift_of


def subproblem_moments(problem, decomposition, chosen):
    """Yield the moments of every sub-problem, its sides merged to one class each.

    Missing values are left out of their feature; weights are frequencies.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    chosen : slice or list of int

    Yields
    ------
    count, offset, scatter : ndarray of shape (n_chosen, n_sides)
        See `class_moments`. Two sides, or all classes for the whole problem.
    """
    XT = problem.float_columns(chosen)
    shift = np.empty(len(XT))
    moments = tuple(np.empty((len(XT), problem.n_classes)) for _ in range(3))
    class_moments(XT, *problem.by_class, shift, *moments)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(*moments, role == side) for side in (0, 1)]
        yield tuple(np.column_stack(part) for part in zip(*sides, strict=True))


def merge_classes(count, offset, scatter, is_member):
    """Return count, mean and scatter, each of shape (n_features,), of some classes as one."""
    n, mean, between = pool_means(count[:, is_member], offset[:, is_member])
    return n, mean, scatter[:, is_member].sum(axis=1) + between


def pool_means(count, offset):
    """Return the count and mean of all classes, and the scatter of the class means about it."""
    n = count.sum(axis=1)
    mean = (count * offset).sum(axis=1) / np.maximum(n, 1e-300)
    return n, mean, (count * (offset - mean[:, np.newaxis]) ** 2).sum(axis=1)


@njit(cache=True, nogil=True)
def class_moments(XT, order, starts, weights, shift, count, offset, scatter):
    """Fill in the moments of a block of features.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        NaN is left out.
    order, starts, weights : see `mauc.problem.problem.group_by_class`
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
            mean = total / size if size > 0 else 0.0
            count[j, k] = size
            offset[j, k] = (near - shift[j]) + mean if size > 0 else 0.0
            # A class whose values are equal leaves rounding of either sign.
            scatter[j, k] = max(square - total * mean, 0.0)
