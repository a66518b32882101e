"""Feature weights of ReliefF: columns -> scaled columns; neighbours -> sums of differences.

Both steps work on a block of features, which is the unit of work for threads. Differences and sums
are those of WEKA's ReliefFAttributeEval in its order of additions, to the bit.
"""

import numpy as np
from numba import njit

from mauc.numerics.njit_part import njit_part

# Features per strip of the weight sums: long enough for vector loops, and a strip of a few
# thousand rows stays in the second-level cache.
N_STRIP = 64
# A column whose range is below this carries no difference (WEKA's tolerance).
MIN_RANGE = 1e-6


def count_values(XT, is_nominal):
    """Return the number of values of nominal columns, 0 for numeric ones; int32."""
    n_values = np.zeros(XT.shape[0], np.int32)
    if is_nominal is None:
        return n_values
    for a in np.flatnonzero(is_nominal):
        values = np.unique(XT[a])
        known = values[values == values]
        # Two values without a missing one scale to 0 and 1: equality is then the numeric case.
        is_binary = values.size == 2 and known.size == 2 and known[1] - known[0] >= MIN_RANGE
        n_values[a] = 0 if is_binary else max(1, known.size)
    return n_values


def column_widths(XT):
    """Return the largest less the lowest known value of every column."""
    return np.fmax.reduce(XT, axis=1) - np.fmin.reduce(XT, axis=1)


def scale_columns(XT, n_values, ZT):
    """Scale numeric columns to [0, 1] by their range; copy nominal ones.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        A block of columns; NaN is a missing value.
    n_values : ndarray of shape (n_features,), int32
        Number of values of a nominal column, 0 for a numeric one.
    ZT : ndarray of shape (n_features, n_samples), float64
        Filled with z = (x - lo) / (hi - lo), or 0 if hi - lo < 1e-6. Missing values stay NaN.

    Returns
    -------
    has_missing : bool
        Whether the filled block holds a NaN.
    """
    is_nominal = n_values > 0
    with np.errstate(all="ignore"):
        lo = np.fmin.reduce(XT, axis=1).astype(np.float64)
        lo[is_nominal] = 0.0
        width = np.fmax.reduce(XT, axis=1) - lo
        width[is_nominal] = 1.0
        np.subtract(XT, lo[:, None], out=ZT)
        ZT /= width[:, None]
    for a in np.flatnonzero(width < MIN_RANGE):
        ZT[a, XT[a] == XT[a]] = 0.0
    return bool(np.isnan(ZT).any())


@njit_part
def _difference(u, v, n_values):
    """Return the difference of two scaled values, as in the notes of `neighbors.fill_panel`."""
    if n_values > 0:
        if u != u or v != v:
            return 1.0 - 1.0 / n_values
        return 0.0 if u == v else 1.0
    if u != u and v != v:
        return 1.0
    if u != u or v != v:
        known = v if u != u else u
        return 1.0 - known if known < 0.5 else known
    return abs(u - v)


def add_weights(ZT, n_values, is_plain, queries, y, class_counts, near_row, first, last, weights):
    """Add the contributions of the queries to the weights of columns first:last.

    Parameters
    ----------
    ZT, n_values, is_plain, queries, y : see `neighbors.fill_panel`
        Of all rows, or of some that the queries and their neighbours are among.
    class_counts : ndarray of shape (n_classes,), int64
        Number of rows of each class in the data.
    near_row : ndarray of shape (n_queries, n_classes, n_neighbors), int32
    first, last : int
        Range of columns.
    weights : ndarray of shape (n_columns,), float64
        Added to: weights[a] is the sum over queries r of class k of

            - sum_hits diff_a / s_k + sum_{c != k} sum_misses [P(c) / (1 - P(k))] (diff_a / s_c)

        with s_c the neighbours found in class c, P(c) = n_c / n and, for two classes, 1 in place
        of the bracket. Each weight is one running sum over r, hits before misses, classes
        ascending, neighbours in slot order; the bracket multiplies the rounded quotient.
    """
    n_terms = near_row.shape[1] * near_row.shape[2]
    terms = np.empty(n_terms, np.int64), np.empty((2, n_terms))
    for a in range(first, last, N_STRIP):
        b = min(a + N_STRIP, last)
        fixed = np.ascontiguousarray(ZT[a:b].T), queries, y, class_counts, near_row, *terms
        if is_plain:
            add_plain(*fixed, weights[a:b])
        else:
            add_mixed(*fixed, n_values[a:b], weights[a:b])


@njit_part
def _list_terms(q, k, class_counts, near_row, rows, factors):
    """List the terms of a query of class k: neighbours, factors, divisors; return their number."""
    n_classes, n_neighbors = near_row.shape[1], near_row.shape[2]
    n_terms, n_samples = 0, 0
    for count in class_counts:
        n_samples += count
    for step in range(n_classes):
        # Own class first, then the others in order.
        c = k if step == 0 else (step - 1 if step <= k else step)
        factor = 1.0
        if c == k:
            factor = -1.0
        elif n_classes > 2:
            own = class_counts[k] / n_samples
            factor = (class_counts[c] / n_samples) / (1.0 - own)
        n_found = 0
        while n_found < n_neighbors and near_row[q, c, n_found] >= 0:
            n_found += 1
        for s in range(n_found):
            rows[n_terms] = near_row[q, c, s]
            factors[0, n_terms] = factor
            factors[1, n_terms] = n_found
            n_terms += 1
    return n_terms


@njit(cache=True, nogil=True, error_model="numpy")
def add_plain(strip, queries, y, class_counts, near_row, rows, factors, weights):
    """Add the contributions of the queries to the weights of numeric columns, none missing.

    Parameters
    ----------
    strip : ndarray of shape (n_samples, n_columns), float64
        The scaled columns, side by side.
    queries, y, class_counts, near_row, weights
        As in `add_weights`.
    rows, factors : int64 ndarray of shape (n_terms,), float64 ndarray of shape (2, n_terms)
        Work space: the neighbours of a query, their factors and divisors.
    """
    for q in range(queries.size):
        k = y[queries[q]]
        n_terms = _list_terms(q, k, class_counts, near_row, rows, factors)
        here = strip[queries[q]]
        for t in range(n_terms):
            there = strip[rows[t]]
            factor, divisor = factors[0, t], factors[1, t]
            for f in range(weights.size):
                weights[f] += factor * (abs(here[f] - there[f]) / divisor)


@njit(cache=True, nogil=True, error_model="numpy")
def add_mixed(strip, queries, y, class_counts, near_row, rows, factors, n_values, weights):
    """Do the same for any columns; `n_values` is that of these columns."""
    for q in range(queries.size):
        k = y[queries[q]]
        n_terms = _list_terms(q, k, class_counts, near_row, rows, factors)
        here = strip[queries[q]]
        for t in range(n_terms):
            there = strip[rows[t]]
            factor, divisor = factors[0, t], factors[1, t]
            for f in range(weights.size):
                diff = _difference(here[f], there[f], n_values[f])
                weights[f] += factor * (diff / divisor)
