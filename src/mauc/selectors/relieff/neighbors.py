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
from numba import njit

from mauc.numerics.njit_part import njit_part

# Distances are summed for 4 queries, 4 columns and a tile of rows at a time: the tile of all
# columns stays in the second-level cache, the sums in the first.
N_TILE = 256


@njit_part
def _sum_plain(ZT, columns, rows, first, last, d0, d1, d2, d3):
    """Distances of rows[0..3] to first:last; numeric columns without missing values."""
    r0, r1, r2, r3 = rows
    # Rows are separate sums and go into vector lanes; within a row the columns are added one by
    # one in order. Four columns per pass save loads and stores of the sums.
    for t in range(0, columns.size, 4):
        a, b, c, d = columns[t], columns[t + 1], columns[t + 2], columns[t + 3]
        za, zb = ZT[a, first:last], ZT[b, first:last]
        zc, zd = ZT[c, first:last], ZT[d, first:last]
        a0, a1, a2, a3 = ZT[a, r0], ZT[a, r1], ZT[a, r2], ZT[a, r3]
        b0, b1, b2, b3 = ZT[b, r0], ZT[b, r1], ZT[b, r2], ZT[b, r3]
        c0, c1, c2, c3 = ZT[c, r0], ZT[c, r1], ZT[c, r2], ZT[c, r3]
        e0, e1, e2, e3 = ZT[d, r0], ZT[d, r1], ZT[d, r2], ZT[d, r3]
        for i in range(last - first):
            ua, ub, uc, ud = za[i], zb[i], zc[i], zd[i]
            d0[i] = (((d0[i] + abs(a0 - ua)) + abs(b0 - ub)) + abs(c0 - uc)) + abs(e0 - ud)
            d1[i] = (((d1[i] + abs(a1 - ua)) + abs(b1 - ub)) + abs(c1 - uc)) + abs(e1 - ud)
            d2[i] = (((d2[i] + abs(a2 - ua)) + abs(b2 - ub)) + abs(c2 - uc)) + abs(e2 - ud)
            d3[i] = (((d3[i] + abs(a3 - ua)) + abs(b3 - ub)) + abs(c3 - uc)) + abs(e3 - ud)


@njit_part
def _sum_mixed(ZT, columns, n_values, row, first, last, dist):
    """Distances of one row to first:last; nominal columns and missing values allowed."""
    # See the notes of `fill_panel`; what depends on the row alone is outside the loops.
    for a in columns:
        u = ZT[a, row]
        z = ZT[a, first:last]
        if n_values[a] > 0:
            unknown = 1.0 - 1.0 / n_values[a]
            for i in range(last - first):
                known = unknown if u != u else (0.0 if u == z[i] else 1.0)
                dist[i] += unknown if z[i] != z[i] else known
        elif u != u:
            for i in range(last - first):
                known = 1.0 - z[i] if z[i] < 0.5 else z[i]
                dist[i] += 1.0 if z[i] != z[i] else known
        else:
            unknown = 1.0 - u if u < 0.5 else u
            for i in range(last - first):
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


@njit(cache=True, nogil=True, error_model="numpy")
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

    Notes
    -----
    dist(r, i) = sum over columns a, in order, of diff_a(r, i), with for numeric columns

    * diff = abs(z_r - z_i); one value missing: max(z, 1 - z) of the known one; both: 1,

    and for nominal columns

    * diff = 0 if equal, else 1; any value missing: 1 - 1 / n_values.
    """
    n_queries = queries.size
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for q in range(0, n_queries, 4):
            begin = max(start, queries[q]) if is_symmetric else start
            if begin >= stop:
                continue
            for k in range(q, q + 4):
                for i in range(begin, stop):
                    panel[k, i] = 0.0
            if is_plain:
                # A last group of fewer than 4 repeats its last query in the spare panel rows.
                rows = (
                    queries[q],
                    queries[min(q + 1, n_queries - 1)],
                    queries[min(q + 2, n_queries - 1)],
                    queries[min(q + 3, n_queries - 1)],
                )
                _sum_plain(
                    ZT,
                    columns,
                    rows,
                    begin,
                    stop,
                    panel[q, begin:stop],
                    panel[q + 1, begin:stop],
                    panel[q + 2, begin:stop],
                    panel[q + 3, begin:stop],
                )
            else:
                for k in range(q, min(q + 4, n_queries)):
                    dist = panel[k, begin:stop]
                    _sum_mixed(ZT, columns, n_values, queries[k], begin, stop, dist)
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
            for h in range(k):
                distance = panel[h, row]
                c = y[queries[h]]
                if distance < bound[c, q]:
                    target[c, q], bound[c, q] = _offer(
                        distance, queries[h], target[c, q], near_dist[q, c], near_row[q, c]
                    )
            start = row + 1
        for i in range(start, y.size):
            distance = panel[k, i]
            c = y[i]
            if distance < bound[c, q] and i != row:
                target[c, q], bound[c, q] = _offer(
                    distance, i, target[c, q], near_dist[q, c], near_row[q, c]
                )
