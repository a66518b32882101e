"""Class moments of columns: weights, means and scatters of every class, or of groups of classes."""

import numpy as np

from mauc.selectors.relevance.column_moments import class_moments
from mauc.selectors.relevance.row_moments import class_moments_by_rows


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
    if problem.is_by_rows and isinstance(chosen, slice):
        moments = class_moments_by_rows(problem, chosen)
    else:
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
