"""Squared distances, added column by column, and nearest samples: scaled columns in."""

import math

from numba import njit, uintp

# How the difference of two values of a column is taken.
PLAIN = 0  # numbers, none missing
NOMINAL = 1  # 0 if equal, 1 if not or if one is missing
MISSING = 2  # numbers, some missing

_TILE = 1024  # training rows at a time: their sums stay in the first-level cache


@njit(cache=True, nogil=True)
def grow_distances(QT, ZT, kinds, columns, start, stop, first_query, first_sample, out):
    """Add the squared differences of some columns to squared distances.

    The columns are added one after the other, in their order, so the sums do not depend on how
    the columns or the rows are cut into blocks.

    Parameters
    ----------
    QT : ndarray of shape (n_features, n_all_queries), float64
        Scaled columns of the samples whose neighbours are searched.
    ZT : ndarray of shape (n_features, n_samples), float64
        Scaled columns of the candidate samples.
    kinds : ndarray of shape (n_features,), int8
        PLAIN, NOMINAL or MISSING.
    columns : ndarray of int64
    start, stop : int
        Add ``columns[start:stop]``.
    first_query : int
        The sample of the first row of `out`.
    first_sample : int
        The columns of `out` before this one are not changed.
    out : ndarray of shape (n_queries, n_samples), float64
        Added to.
    """
    n_queries, n = out.shape
    for begin in range(first_sample, n, _TILE):
        end = min(begin + _TILE, n)
        for i in range(n_queries):
            q = first_query + i
            place = start
            while place < stop:
                j = columns[place]
                if place + 3 < stop:
                    j1, j2, j3 = columns[place + 1], columns[place + 2], columns[place + 3]
                    if kinds[j] + kinds[j1] + kinds[j2] + kinds[j3] == PLAIN:
                        _add_four(
                            QT[j, q], QT[j1, q], QT[j2, q], QT[j3, q],
                            ZT[j], ZT[j1], ZT[j2], ZT[j3], begin, end, out[i],
                        )  # fmt: skip
                        place += 4
                        continue
                _add_one(QT[j, q], ZT[j], kinds[j], begin, end, out[i])
                place += 1


@njit(cache=True, nogil=True)
def _add_four(a, b, c, d, za, zb, zc, zd, begin, end, sums):
    # Four columns per pass: a sum is read and written once instead of four times.
    for t in range(uintp(begin), uintp(end)):
        total = sums[t]
        difference = a - za[t]
        total += difference * difference
        difference = b - zb[t]
        total += difference * difference
        difference = c - zc[t]
        total += difference * difference
        difference = d - zd[t]
        sums[t] = total + difference * difference


@njit(cache=True, nogil=True)
def _add_one(value, column, kind, begin, end, sums):
    if kind == PLAIN:
        for t in range(uintp(begin), uintp(end)):
            difference = value - column[t]
            sums[t] += difference * difference
    elif kind == NOMINAL:
        for t in range(uintp(begin), uintp(end)):
            if value != column[t]:  # NaN differs from everything
                sums[t] += 1.0
    else:
        for t in range(uintp(begin), uintp(end)):
            difference = _difference(value, column[t])
            sums[t] += difference * difference


@njit(cache=True, nogil=True)
def _difference(a, b):
    # A missing value is as far from the known one as the range allows.
    if math.isnan(a):
        if math.isnan(b):
            return 1.0
        return max(b, 1.0 - b)
    if math.isnan(b):
        return max(a, 1.0 - a)
    return a - b


@njit(cache=True, nogil=True)
def find_nearest(Q, Z, starts, candidates, codes, weights, nearest, tied):
    """Find the nearest of a few candidates exactly.

    Parameters
    ----------
    Q : ndarray of shape (n_queries, n_features), float64
        Scaled rows, all plain numbers.
    Z : ndarray of shape (n_samples, n_features), float64
    starts : ndarray of shape (n_queries + 1,), int64
        ``candidates[starts[i]:starts[i + 1]]`` are the rows of Z that may be nearest to row i
        of Q, ascending; at least one.
    candidates : ndarray of int64
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    nearest : ndarray of shape (n_queries,), int64
        Filled: the first row at the smallest distance.
    tied : ndarray of shape (n_queries, n_classes), float64
        Filled: per class, the weight of all rows at the smallest distance.
    """
    n_classes = tied.shape[1]
    for i in range(len(nearest)):
        smallest = math.inf
        nearest[i] = candidates[starts[i]]
        for k in range(n_classes):
            tied[i, k] = 0.0
        for place in range(starts[i], starts[i + 1]):
            row = candidates[place]
            distance = 0.0
            for j in range(uintp(Q.shape[1])):
                difference = Q[i, j] - Z[row, j]
                distance += difference * difference
            if distance < smallest:
                smallest = distance
                nearest[i] = row
                for k in range(n_classes):
                    tied[i, k] = 0.0
            if distance == smallest:
                tied[i, codes[row]] += weights[row]


@njit(cache=True, nogil=True)
def sum_ties(distances, codes, weights, nearest, tied):
    """Sum per class the weights of all samples as near as the nearest one.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, n_samples), float64
    codes, weights, nearest, tied
        As in `find_nearest`, but `nearest` is given.
    """
    n_queries, n = distances.shape
    for i in range(n_queries):
        smallest = distances[i, nearest[i]]
        for k in range(tied.shape[1]):
            tied[i, k] = 0.0
        for t in range(nearest[i], n):
            if distances[i, t] == smallest:
                tied[i, codes[t]] += weights[t]
