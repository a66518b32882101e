"""Class moments of columns that lie row by row: one pass over the rows, all columns side by side.

Every column adds the same numbers in the same order as `class_moments` does on contiguous columns:
the m-th row of a class goes to the sum m mod 4, the last m of an incomplete four to the first one.
The result has the same bits, without a transposition.
"""

from itertools import pairwise

import numpy as np
from numba import njit, uintp

from mauc.numerics.shifted_sums import SHIFT_SAMPLES
from mauc.selectors.relevance.column_moments import write_moments

_TILE_ROWS = 2**14  # rows that are converted together where X is not of floats or not contiguous
_FIRST_ROWS = 16  # rows in which a known value is searched first


def class_moments_by_rows(problem, chosen):
    """Return the moments of a block of features of a problem whose X lies row by row.

    Parameters
    ----------
    problem : Problem
        With ``is_by_rows``.
    chosen : slice

    Returns
    -------
    count, offset, scatter : ndarray of shape (n_chosen, n_classes), float64
        See `mauc.selectors.relevance.column_moments.class_moments`.
    """
    _, starts, weights = problem.by_class
    shifts = _group_shifts(problem.X[:, chosen], *problem.by_class[:2])
    near = shifts[1:]
    sizes = np.diff(starts)
    moments = tuple(np.empty(near.T.shape) for _ in range(3))
    totals, squares = np.zeros((2, len(sizes), 4, near.shape[1]))
    if len(weights) == 0:
        n_met = np.zeros(len(sizes), np.int64)
        for rows, X, first in _row_tiles(problem.X, chosen):
            add_rows(X, first, problem.codes[rows], near, sizes - sizes % 4, n_met, totals, squares)
        total = (totals[:, 0] + totals[:, 1]) + (totals[:, 2] + totals[:, 3])
        square = (squares[:, 0] + squares[:, 1]) + (squares[:, 2] + squares[:, 3])
        size = np.repeat(sizes[:, np.newaxis].astype(np.float64), near.shape[1], axis=1)
        is_plain = ~np.isnan(total)
    if len(weights) > 0 or not is_plain.all():
        known = np.zeros((3, *near.shape))
        for rows, X, first in _row_tiles(problem.X, chosen):
            row_weights = weights if len(weights) == 0 else problem.sample_weight[rows]
            add_known_rows(X, first, problem.codes[rows], row_weights, near, *known)
        if len(weights) > 0:
            size, total, square = known
        else:
            size, total, square = np.where(is_plain, (size, total, square), known)
    write_moments(size, total, square, near, shifts[0], *moments)
    return moments


def _row_tiles(X, chosen):
    """Yield rows, X of floats in C order with these rows, and its first column that is chosen."""
    is_float = X.dtype in (np.float32, np.float64) and X.dtype.isnative
    if is_float and X.flags.c_contiguous and X.flags.aligned:
        whole = X.view()
        whole.flags.writeable = False
        yield slice(0, len(X)), whole, chosen.indices(X.shape[1])[0]
        return
    for start in range(0, len(X), _TILE_ROWS):
        rows = slice(start, min(start + _TILE_ROWS, len(X)))
        tile = np.ascontiguousarray(X[rows, chosen], np.float32 if X.dtype == np.float32 else float)
        tile.flags.writeable = False
        yield rows, tile, 0


def _group_shifts(X, order, starts):
    """Return a value near the bulk of all rows, then of each class: `shift_of` for all columns."""
    edges = [(0, len(order)), *pairwise(starts)]
    groups = [order[start:stop] for start, stop in edges if stop > start]
    base = X[[rows[0] for rows in groups]].astype(np.float64)
    for g in np.flatnonzero(np.isnan(base).any(axis=1)):
        base[g] = _first_known(X, groups[g])
    parts = np.arange(SHIFT_SAMPLES)
    samples = np.concatenate([rows[parts * len(rows) // SHIFT_SAMPLES] for rows in groups])
    values = X[samples].astype(np.float64).reshape(len(groups), SHIFT_SAMPLES, X.shape[1])
    shifts = np.zeros((len(edges), X.shape[1]))
    is_there = np.array([stop > start for start, stop in edges])
    shifts[is_there] = shifts_of_samples(values, base, np.empty(base.shape))
    return shifts


def _first_known(X, rows):
    """Return the first known value of every column in some rows; NaN if there is none."""
    values = np.full(X.shape[1], np.nan)
    start, n_rows = 0, _FIRST_ROWS
    while start < len(rows) and np.isnan(values).any():
        part = X[rows[start : start + n_rows]].astype(np.float64)
        first = part[np.argmax(~np.isnan(part), axis=0), np.arange(X.shape[1])]
        values = np.where(np.isnan(values), first, values)
        start, n_rows = start + n_rows, 8 * n_rows
    return values


@njit(cache=True, nogil=True)
def shifts_of_samples(values, base, out):
    """Fill `out` with the base plus the mean difference of the known samples; 0 without a base.

    Parameters
    ----------
    values : ndarray of shape (n_groups, n_values, n_columns), float64
    base, out : ndarray of shape (n_groups, n_columns), float64
    """
    for g in range(values.shape[0]):
        for j in range(values.shape[2]):
            total, n_known = 0.0, 0
            for i in range(values.shape[1]):
                difference = values[g, i, j] - base[g, j]
                if not np.isnan(difference):
                    total += difference
                    n_known += 1
            is_known = base[g, j] == base[g, j]
            out[g, j] = base[g, j] + total / max(n_known, 1) if is_known else 0.0
    return out


@njit(cache=True, nogil=True)
def add_rows(X, first, codes, near, whole, n_met, totals, squares):
    """Add rows to the four sums, and sums of squares, of their classes; NaN where one is missing.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float32 or float64
    first : int
        The columns are those from here on.
    codes : ndarray of shape (n_rows,), int32
    near : ndarray of shape (n_classes, n_columns), float64
        Subtracted from the values.
    whole : ndarray of shape (n_classes,), int64
        Rows of each class in complete fours.
    n_met : ndarray of shape (n_classes,), int64
        Rows of each class in earlier calls; it is counted on.
    totals, squares : ndarray of shape (n_classes, 4, n_columns), float64
    """
    n_columns = uintp(near.shape[1])
    offset = uintp(first)
    for i in range(uintp(X.shape[0])):
        k = uintp(codes[i])
        m = n_met[k]
        n_met[k] = m + 1
        lane = uintp(m & 3) if m < whole[k] else uintp(0)
        for j in range(n_columns):
            d = np.float64(X[i, offset + j]) - near[k, j]
            totals[k, lane, j] += d
            squares[k, lane, j] += d * d


@njit(cache=True, nogil=True)
def add_known_rows(X, first, codes, weights, near, count, total, square):
    """Add rows to the weights, sums and sums of squares of their classes, missing values left out.

    Parameters are those of `add_rows`; `weights` are those of the rows, empty where all are 1, and
    `count`, `total` and `square` have shape (n_classes, n_columns).
    """
    for i in range(uintp(X.shape[0])):
        k = uintp(codes[i])
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if weight > 0.0:
            for j in range(uintp(near.shape[1])):
                d = np.float64(X[i, uintp(first) + j]) - near[k, j]
                if not np.isnan(d):
                    count[k, j] += weight
                    total[k, j] += weight * d
                    square[k, j] += weight * d * d
