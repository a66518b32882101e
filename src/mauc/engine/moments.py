"""Sums and sums of squares of column values about a value near its bulk, which keeps their digits.

The sums are taken of d = x - shift, with a shift taken from the values themselves. For any value
x0 of n values (x0 - mean)^2 <= n * variance, so the squares about x0 exceed the squares about the
mean at most by the factor n + 1: a large common offset such as 1e9 costs nothing, and one outlier
taken as the shift at most log10(n) of the sixteen digits. The mean of several evenly spaced values
is a better shift than one value and as cheap.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numba import uintp

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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def write_moments(size, total, square, near, shift, count, offset, scatter):
    """Write the moments of sums in the order of the classes, shape (n_classes, n_features)."""
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


_TILE_ROWS = 2**14  # rows that are converted together where X is not of floats or not contiguous
_FIRST_ROWS = 16  # rows in which a known value is searched first


def class_moments_by_rows(
    X: Any,
    chosen: Any,
    codes: np.ndarray,
    order: Any,
    starts: Any,
    weights: Any,
    sample_weight: Any = None,
) -> tuple[np.ndarray, ...]:
    """Return count, offset and scatter of `class_moments`, to the bit, for a row-major array."""
    shifts = _group_shifts(X[:, chosen], order, starts)
    near = shifts[1:]
    sizes = np.diff(starts)
    moments = tuple(np.empty(near.T.shape) for _ in range(3))
    totals, squares = np.zeros((2, len(sizes), 4, near.shape[1]))
    if len(weights) == 0:
        n_met = np.zeros(len(sizes), np.int64)
        for rows, tile, first in _row_tiles(X, chosen):
            add_rows(tile, first, codes[rows], near, sizes - sizes % 4, n_met, totals, squares)
        total = (totals[:, 0] + totals[:, 1]) + (totals[:, 2] + totals[:, 3])
        square = (squares[:, 0] + squares[:, 1]) + (squares[:, 2] + squares[:, 3])
        size = np.repeat(sizes[:, np.newaxis].astype(np.float64), near.shape[1], axis=1)
        is_plain = ~np.isnan(total)
    if len(weights) > 0 or not is_plain.all():
        known = np.zeros((3, *near.shape))
        for rows, tile, first in _row_tiles(X, chosen):
            row_weights = weights if len(weights) == 0 else sample_weight[rows]
            add_known_rows(tile, first, codes[rows], row_weights, near, *known)
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
    has_rows = np.array([stop > start for start, stop in edges])
    shifts[has_rows] = shifts_of_samples(values, base, np.empty(base.shape))
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
    """Fill `out` with the base plus the mean difference of the known samples; 0 without a base."""
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

    The columns of X are those from `first` on. `near` of shape (n_classes, n_columns) is subtracted
    from them. `whole` are the rows of each class in complete fours, `n_met` those in earlier calls:
    it is counted on. `totals` and `squares` have shape (n_classes, 4, n_columns).
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
    """Add rows to the weights, sums and squares of their classes, missing values left out."""
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
