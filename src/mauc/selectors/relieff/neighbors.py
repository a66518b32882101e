"""Nearest hits and misses of ReliefF: scaled columns -> distances -> neighbour slots.

The work is divided so that threads can share the kernels and no bit depends on the division:
`fill_panel` fills the distances of a panel of queries to a range of rows (and in symmetric use
offers the queries to the rows' own slots), `scan_panel` offers the rows to the queries.

Distances are those of WEKA's ReliefFAttributeEval in its order of additions, and candidates are
offered in ascending order, so tied distances keep the same neighbours.

A query holds K slots per class: `near_row[q, c]` (the rows, -1 while free) and `near_dist[q, c]`;
`bound[c, q]` is the distance a candidate has to beat (inf while a slot is free) and `target[c, q]`
the slot it takes (the first free one, then the first of the largest distance).
"""

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part

# Distances are summed for 4 queries, 4 columns and a tile of rows at a time: the tile of all
# columns stays in the second-level cache, the sums in the first.
N_TILE = 256
N_CACHED = 1 << 16  # distances that stay in the second-level cache


@njit_part
def _sum_mixed(ZT, columns, n_values, row, first, last, goes_on, dist):
    """Fill the distances of one row to first:last; nominal columns, missing values allowed."""
    # See the notes of `fill_panel`; what depends on the row alone is outside the loops.
    for i in range(first, last if not goes_on else first):
        dist[i] = 0.0
    for a in columns:
        u = ZT[a, row]
        z = ZT[a]
        if n_values[a] > 0:
            unknown = 1.0 - 1.0 / n_values[a]
            for i in range(uintp(first), uintp(last)):
                known = unknown if u != u else (0.0 if u == z[i] else 1.0)
                dist[i] += unknown if z[i] != z[i] else known
        elif u != u:
            for i in range(uintp(first), uintp(last)):
                known = 1.0 - z[i] if z[i] < 0.5 else z[i]
                dist[i] += 1.0 if z[i] != z[i] else known
        else:
            unknown = 1.0 - u if u < 0.5 else u
            for i in range(uintp(first), uintp(last)):
                dist[i] += unknown if z[i] != z[i] else abs(u - z[i])


@njit(inline="always", error_model="numpy")
def _offer(distance, row, k, slots, slot_rows):
    """Put a row into slot k; return the next target and its bound.

    They are the next slot and inf while one is free, else the first slot of the largest distance.
    """
    slots[k] = distance
    slot_rows[k] = row
    if k + 1 < slots.size and slot_rows[k + 1] < 0:
        return k + 1, np.inf
    worst = 0
    largest = slots[0]
    for s in range(1, slots.size):
        if slots[s] > largest:
            largest = slots[s]
            worst = s
    return worst, largest


def fill_panel(
    ZT,
    columns,
    n_values,
    is_plain,
    queries,
    is_symmetric,
    first,
    last,
    y,
    panel,
    near_dist,
    near_row,
    bound,
    target,
    goes_on=False,
):
    """Fill distances of the queries to rows first:last, and offer the queries to these rows.

    Parameters
    ----------
    ZT : ndarray of shape (n_columns, n_samples), float64
        Scaled columns.
    columns : ndarray of shape (n_used,), int64
        The columns to sum over, in order. Their number is a multiple of 4 (padded with a column
        of zeros, which changes no sum) if `is_plain`.
    n_values : ndarray of shape (n_columns,), int32
        Number of values of a nominal column, 0 for a numeric one.
    is_plain : bool
        All columns are numeric and without missing values.
    queries : ndarray of shape (n_queries,), int64
        Rows whose distances are wanted.
    is_symmetric : bool
        The queries are consecutive rows and every row of the data is a query: only distances to
        later rows are computed (rounded up to groups of 4), and each row after the panel has the
        queries offered to its own slots.
    first, last : int
        Range of rows.
    y : ndarray of shape (n_samples,), int32
    panel : ndarray of shape (n_panel, n_samples), float64
        `panel[k, i]` becomes the distance of queries[k] and row i. n_panel is a multiple of 4.
    near_dist, near_row, bound, target : ndarray
        The slots of all rows; only touched if `is_symmetric`.
    goes_on : bool, default=False
        Whether the columns are the next ones, and their differences are added to `panel`.

    Notes
    -----
    dist(r, i) = sum over columns a, in order, of diff_a(r, i), with for numeric columns

    * diff = abs(z_r - z_i); one value missing: max(z, 1 - z) of the known one; both: 1,

    and for nominal columns

    * diff = 0 if equal, else 1; any value missing: 1 - 1 / n_values.
    """
    slots = near_dist, near_row, bound, target
    # Distances of mixed columns are offered while they are in the second-level cache.
    tile = last - first if is_plain else max(N_TILE, N_CACHED // queries.size)
    for start in range(first, last, tile):
        stop = min(start + tile, last)
        if not is_plain:
            fill_mixed(ZT, columns, n_values, queries, is_symmetric, start, stop, goes_on, panel)
        fill_tiles(
            ZT, columns, is_plain, queries, is_symmetric, start, stop, goes_on, y, panel, *slots
        )


@njit(cache=True, nogil=True, error_model="numpy")
def fill_mixed(ZT, columns, n_values, queries, is_symmetric, first, last, goes_on, panel):
    """Fill the distances of `fill_panel`; nominal columns and missing values allowed."""
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for k in range(queries.size):
            begin = max(start, queries[k]) if is_symmetric else start
            if begin < stop:
                _sum_mixed(ZT, columns, n_values, queries[k], begin, stop, goes_on, panel[k])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tiles(
    ZT,
    columns,
    is_plain,
    queries,
    is_symmetric,
    first,
    last,
    goes_on,
    y,
    panel,
    near_dist,
    near_row,
    bound,
    target,
):
    """Do what `fill_panel` does, but fill no distances unless `is_plain`."""
    n_queries = queries.size
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for q in range(0, n_queries if is_plain else 0, 4):
            begin = max(start, queries[q]) if is_symmetric else start
            if begin >= stop:
                continue
            # A last group of fewer than 4 repeats its last query in the spare panel rows.
            r0, r1 = queries[q], queries[min(q + 1, n_queries - 1)]
            r2, r3 = queries[min(q + 2, n_queries - 1)], queries[min(q + 3, n_queries - 1)]
            d0, d1, d2, d3 = panel[q], panel[q + 1], panel[q + 2], panel[q + 3]
            for i in range(begin, stop if not goes_on else begin):
                d0[i] = d1[i] = d2[i] = d3[i] = 0.0
            # Rows are separate sums and go into vector lanes; within a row the columns are added
            # one by one in order. Four columns per pass save loads and stores of the sums.
            for t in range(0, columns.size, 4):
                za, zb = ZT[columns[t]], ZT[columns[t + 1]]
                zc, zd = ZT[columns[t + 2]], ZT[columns[t + 3]]
                a0, a1, a2, a3 = za[r0], za[r1], za[r2], za[r3]
                b0, b1, b2, b3 = zb[r0], zb[r1], zb[r2], zb[r3]
                c0, c1, c2, c3 = zc[r0], zc[r1], zc[r2], zc[r3]
                e0, e1, e2, e3 = zd[r0], zd[r1], zd[r2], zd[r3]
                for i in range(uintp(begin), uintp(stop)):
                    ua, ub, uc, ud = za[i], zb[i], zc[i], zd[i]
                    d0[i] = (((d0[i] + abs(a0 - ua)) + abs(b0 - ub)) + abs(c0 - uc)) + abs(e0 - ud)
                    d1[i] = (((d1[i] + abs(a1 - ua)) + abs(b1 - ub)) + abs(c1 - uc)) + abs(e1 - ud)
                    d2[i] = (((d2[i] + abs(a2 - ua)) + abs(b2 - ub)) + abs(c2 - uc)) + abs(e2 - ud)
                    d3[i] = (((d3[i] + abs(a3 - ua)) + abs(b3 - ub)) + abs(c3 - uc)) + abs(e3 - ud)
        if is_symmetric:
            # Row i has by now been offered every query of the earlier panels: all rows below
            # queries[0]. It takes those of this panel in ascending order.
            begin = max(start, queries[n_queries - 1] + 1)
            # Eight rows at a time: their slots stay in the first-level cache.
            for low in range(begin, stop, 8):
                for k in range(n_queries):
                    row = queries[k]
                    c = y[row]
                    for i in range(low, min(low + 8, stop)):
                        if panel[k, i] < bound[c, i]:
                            target[c, i], bound[c, i] = _offer(
                                panel[k, i], row, target[c, i], near_dist[i, c], near_row[i, c]
                            )


@njit(cache=True, nogil=True, error_model="numpy")
def scan_panel(
    queries, is_symmetric, begin, end, offset, y, panel, near_dist, near_row, bound, target
):
    """Offer the rows of a filled panel to the slots of queries[begin:end].

    Parameters
    ----------
    queries, is_symmetric, y, panel : see `fill_panel`
    begin, end : int
        Range within the panel.
    offset : int
        queries[k] owns the slots `offset + k`.
    near_dist, near_row : ndarray of shape (n_slots, n_classes, n_neighbors), float64 and int32
    bound, target : ndarray of shape (n_classes, n_slots), float64 and int32

    Notes
    -----
    Rows come in ascending order; a row takes a free slot of its class, or the first slot of the
    largest distance if it is strictly closer. The query itself is left out, its copies are not.
    In symmetric use rows before the panel were offered by `fill_panel`, and those of the panel
    before the query are in the query's column.
    """
    for k in range(begin, end):
        q = offset + k
        row = queries[k]
        start = 0
        if is_symmetric:
            # No one else reads these entries of the panel.
            start = queries[0]
            for h in range(k):
                panel[k, start + h] = panel[h, row]
        for i in range(start, y.size):
            c = y[i]
            if panel[k, i] < bound[c, q] and i != row:
                target[c, q], bound[c, q] = _offer(
                    panel[k, i], i, target[c, q], near_dist[q, c], near_row[q, c]
                )


def new_slots(n_slots, n_classes, n_neighbors):
    """Return free slots: near_dist, near_row, bound and target."""
    shape = (n_slots, n_classes, n_neighbors)
    return (
        np.empty(shape),
        np.full(shape, -1, np.int32),
        np.full((n_classes, n_slots), np.inf),
        np.zeros((n_classes, n_slots), np.int32),
    )


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
