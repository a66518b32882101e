"""Class moments of columns: weights, means and scatters of every class, or of groups of classes."""

import numpy as np

from mauc.problem.columns import read_only
from mauc.selectors.relevance.column_moments import class_moments
from mauc.selectors.relevance.row_moments import class_moments_by_rows

_MIN_SQUARE, _MAX_SQUARE = 1e-200, 1e200  # of the scatter of columns in ordinary units
_MAX_EXPONENT = 300  # of two, in the range of such columns


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
    if problem.is_by_rows and isinstance(chosen, slice) and not problem.is_wide:
        moments = class_moments_by_rows(problem, chosen)
    else:
        moments = _moments(problem, problem.float_columns(chosen))
    _rescale_extreme(problem, chosen, moments)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(*moments, role == side) for side in (0, 1)]
        yield tuple(np.column_stack(part) for part in zip(*sides, strict=True))


def _moments(problem, XT):
    shift = np.empty(len(XT))
    moments = tuple(np.empty((len(XT), problem.n_classes)) for _ in range(3))
    class_moments(XT, *problem.by_class, shift, *moments)
    return moments


def _rescale_extreme(problem, chosen, moments):
    """Replace the moments of columns whose squares leave the doubles by those in other units.

    Scores are quotients of squares, so that the unit of a column does not matter.
    """
    count, offset, scatter = moments
    with np.errstate(over="ignore", invalid="ignore"):
        size = scatter.max(axis=1) + (count * offset * offset).max(axis=1)
        places = np.flatnonzero(~((size > _MIN_SQUARE) & (size < _MAX_SQUARE)))
    if len(places) == 0:
        return
    columns = np.arange(problem.n_features)[chosen][places]
    XT = problem.float_columns(columns).astype(np.float64)
    half_range = np.fmax.reduce(XT, axis=1) / 2 - np.fmin.reduce(XT, axis=1) / 2
    exponent = np.frexp(half_range)[1]
    is_extreme = (half_range > 0) & (np.abs(exponent) > _MAX_EXPONENT)
    if is_extreme.any():  # the others are constant or without known values
        unit = exponent[is_extreme][:, np.newaxis]
        scaled = _moments(problem, read_only(np.ldexp(XT[is_extreme], -unit)))
        for part, values in zip(moments, scaled, strict=True):
            part[places[is_extreme]] = values


def merge_classes(count, offset, scatter, is_member):
    """Return count, mean and scatter, each of shape (n_features,), of some classes as one."""
    n, mean, between = pool_means(count[:, is_member], offset[:, is_member])
    return n, mean, scatter[:, is_member].sum(axis=1) + between


def pool_means(count, offset):
    """Return the count and mean of all classes, and the scatter of the class means about it."""
    n = count.sum(axis=1)
    mean = (count * offset).sum(axis=1) / np.maximum(n, 1e-300)
    # Rounding must not part the mean of equal means from them: a perfect feature would lose.
    known = np.where(count > 0, offset, np.nan)
    low = np.fmin.reduce(known, axis=1)
    is_equal = low == np.fmax.reduce(known, axis=1)
    mean = np.where(is_equal, low, mean)
    distance = np.where(is_equal[:, np.newaxis], 0.0, offset - mean[:, np.newaxis])
    return n, mean, (count * distance**2).sum(axis=1)
