"""Class moments of a block of columns, for the whole problem and for its sub-problems."""

import numpy as np

from mauc.selectors.relevance.class_moments import class_moments
from mauc.selectors.relevance.fsdd import merge_classes


def block_moments(problem, chosen):
    """Return counts, means (less a constant of the column) and scatters of every class.

    Missing values are left out of their feature; weights are frequencies.

    Parameters
    ----------
    problem : Problem
    chosen : slice or list of int

    Returns
    -------
    count, offset, scatter : ndarray of shape (n_chosen, n_classes)
        See `mauc.selectors.relevance.class_moments.class_moments`.
    """
    XT = problem.float_columns(chosen)
    order, starts, weights = problem.by_class
    shape = (len(XT), problem.n_classes)
    shift = np.empty(len(XT))
    count, offset, scatter = np.empty(shape), np.empty(shape), np.empty(shape)
    class_moments(XT, order, starts, weights, shift, count, offset, scatter)
    return count, offset, scatter


def subproblem_moments(problem, decomposition, chosen):
    """Yield the moments of every sub-problem, its sides merged to one class each.

    Yields
    ------
    count, offset, scatter : ndarray of shape (n_chosen, n_sides)
        Two sides, or all classes for the whole problem.
    """
    moments = block_moments(problem, chosen)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(*moments, role == side) for side in (0, 1)]
        yield tuple(np.column_stack(part) for part in zip(*sides, strict=True))
