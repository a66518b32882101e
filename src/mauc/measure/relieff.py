"""ReliefF weights: nearest hits and misses, the same bits for any division between threads.

Distances are those of WEKA's ReliefFAttributeEval in its order of additions, and candidates are
offered in ascending order, so tied distances keep the same neighbours.

A query holds K slots per class: `near_row[q, c]` (the rows, -1 while free) and `near_dist[q, c]`;
`bound[c, q]` is the distance a candidate has to beat (inf while a slot is free) and `target[c, q]`
the slot it takes (the first free one, then the first of the largest distance).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_inline, njit_part
from mauc.data.columns import default_names
from mauc.data.problem import Problem
from mauc.exceptions import TinyUnitsWarning, format_labels, warn_user
from mauc.parallel import count_threads, even_ranges, with_progress

# A column whose range is below this carries no difference (WEKA's tolerance).
MIN_RANGE = 1e-6
# Distances are summed for 4 queries, 4 columns and a tile of rows at a time: the tile of all
# columns stays in the second-level cache, the sums in the first.
N_TILE = 256
# Features per strip of the weight sums: long enough for vector loops, and a strip of a few
# thousand rows stays in the second-level cache.
N_STRIP = 64
# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once.
SLOT_BYTES = 1 << 29
SLOT_SIZE = 12  # bytes of a neighbour: its row, its distance

Task = tuple[Any, ...]  # a function and its arguments


def relieff_weights(
    problem: Problem,
    rows: np.ndarray | None = None,
    n_neighbors: int = 10,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the ReliefF weight of every feature; `rows` are the sampled ones, None for all."""
    XT = problem.columns.floats(slice(None))
    _warn_of_tiny_ranges(problem, XT)
    return weigh_columns(
        XT,
        problem.codes,
        problem.n_classes,
        rows,
        n_neighbors,
        count_threads(n_jobs),
        problem.is_nominal,
        problem.sample_weight,
    )


def _warn_of_tiny_ranges(problem: Problem, XT: np.ndarray) -> None:
    """Warn of numeric columns that vary, but by less than ReliefF looks at."""
    widths = np.fmax.reduce(XT, axis=1) - np.fmin.reduce(XT, axis=1)
    tiny = np.flatnonzero((widths > 0) & (widths < MIN_RANGE) & ~problem.is_nominal)
    if len(tiny):
        known = problem.feature_names
        names = default_names(tiny) if known is None else known[tiny]
        warn_user(
            f"{len(tiny)} of {problem.n_features} features ({format_labels(names)}) vary by less "
            f"than {MIN_RANGE:g} and count as constant, as in WEKA; pass them in a smaller unit, "
            f"or scale them, for example with sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )


def weigh_columns(
    XT: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    rows: np.ndarray | Sequence[int] | None = None,
    n_neighbors: int = 10,
    n_threads: int = 1,
    is_nominal: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the ReliefF weight of every column of shape (n_features, n_samples).

    A class may be absent from `y`; with two classes misses are not weighted by class probabilities.
    `rows` are the sampled rows, repeats allowed; None takes all, each as often as its weight says.
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = SLOT_SIZE * n_samples * n_classes * n_neighbors
    # Where all rows are queries, the distance of two rows is computed once.
    is_symmetric = rows is None and slot_bytes <= SLOT_BYTES and sample_weight is None
    panel_queries = max(1, min(PANEL_QUERIES, PANEL_SIZE // n_samples, queries.size))
    with ThreadPoolExecutor(n_threads) as pool:

        def run(tasks: list[Task]) -> list[Any]:
            """Call the functions of tasks, in threads."""
            each: Callable[..., Any] = map if n_threads == 1 else pool.map
            return list(each(lambda task: task[0](*task[1:]), tasks))

        def split(n: int, first: int = 0) -> list[tuple[int, int]]:
            """Return ranges of n rows or columns, one per thread."""
            return [(first, first + n)] if n_threads == 1 else even_ranges(n, n_threads, first)

        n_values = np.append(count_values(XT, is_nominal), np.int32(0))
        # The last row of ZT stays zero: the column that pads groups of four.
        ZT = np.zeros((n_features + 1, n_samples))
        tasks = [(scale_columns, XT[a:b], n_values[a:b], ZT[a:b]) for a, b in split(n_features)]
        is_plain = not (any(run(tasks)) or n_values.any())
        columns = np.arange(n_features)
        if is_plain:
            # A column of zeros adds nothing to any distance.
            columns = columns[ZT[:-1].any(axis=1)]
            columns = np.append(columns, np.full(-columns.size % 4, n_features))

        class_counts = np.bincount(y, minlength=n_classes)
        weights = np.zeros(n_features)

        def weigh(
            block: np.ndarray, near_row: np.ndarray, shares: np.ndarray | None = None
        ) -> list[Task]:
            """Return the tasks that add the queries of a block to the weights of all columns."""
            fixed = (ZT, n_values, is_plain, block, y, class_counts, near_row)
            return [(add_weights, *fixed, a, b, weights, shares) for a, b in split(n_features)]

        n_rows = panel_queries + -panel_queries % 4
        panels = [np.empty((n_rows, n_samples)) for _ in range(2 if is_symmetric else 1)]
        slots: Any = new_slots(n_samples, n_classes, n_neighbors) if is_symmetric else None
        fill = fill_plain if is_plain else fill_mixed
        scans: list[Task] = []
        starts = range(0, queries.size, panel_queries)
        for number, start in enumerate(with_progress(starts, "blocks of samples")):
            block = queries[start : start + panel_queries]
            panel = panels[number % len(panels)]
            if not is_symmetric:
                slots = new_slots(block.size, n_classes, n_neighbors)
            offset = start if is_symmetric else 0
            fixed = (ZT, columns, n_values, block, is_symmetric)
            fills = [
                (fill, *fixed, a, b, y, panel, *slots) for a, b in split(n_samples - offset, offset)
            ]
            # Symmetric use: a panel is scanned while the next one is filled. The scan only touches
            # the slots of its own queries, the fill those of rows after the next panel.
            run(fills + scans)
            scans = [
                (scan_panel, block, is_symmetric, a, b, offset, y, panel, *slots)
                for a, b in split(block.size)
            ]
            if sample_weight is not None:
                near = weighted_neighbors(panel, block, y, sample_weight, rows is None, n_neighbors)
                run(weigh(block, *near))
                scans = []
            elif not is_symmetric:
                run(scans)
                run(weigh(block, slots[1]))
                scans = []
        if is_symmetric:
            run(scans)
            run(weigh(queries, slots[1]))
    all_weights = sample_weight if rows is None else None
    weights *= 1.0 / (queries.size if all_weights is None else np.sum(all_weights))
    return weights


def weighted_neighbors(
    panel: np.ndarray,
    queries: np.ndarray,
    y: np.ndarray,
    sample_weight: np.ndarray,
    takes_all: bool,
    n_neighbors: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return neighbours of queries, given their distances to all rows, and what each counts.

    A row counts by that part of its weight that is among the first `n_neighbors` of its class, hits
    negative; `takes_all` counts queries by their weights. Both are (n_queries, n_found).
    """
    priors = np.bincount(y, sample_weight) / sample_weight.sum()
    found = []
    for c in range(len(priors)):
        rows, is_own = np.flatnonzero(y == c), y[queries] == c
        order = np.argsort(panel[: queries.size, rows], axis=1, kind="stable")
        near = rows[order]
        weights = sample_weight[near]
        # Of the rows that a query stands for, all but itself are its neighbours.
        weights = np.where(near == queries[:, np.newaxis], np.maximum(weights - 1.0, 0.0), weights)
        taken = np.clip(n_neighbors - (np.cumsum(weights, axis=1) - weights), 0.0, weights)
        n_near = 1 + int(np.flatnonzero(taken.any(axis=0)).max(initial=-1))
        total = taken.sum(axis=1)
        factor = priors[c] / (1.0 - priors[y[queries]]) if len(priors) > 2 else 1.0
        factor = np.where(is_own, -1.0, factor) / np.where(total > 0, total, 1.0)
        if takes_all:
            factor *= sample_weight[queries]
        found.append((near[:, :n_near], taken[:, :n_near] * factor[:, np.newaxis]))
    near, shares = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
    return near.astype(np.int32), shares


def count_values(XT: np.ndarray, is_nominal: np.ndarray | None) -> np.ndarray:
    """Return the number of values of nominal columns, 0 for numeric ones; int32."""
    n_values = np.zeros(XT.shape[0], np.int32)
    if is_nominal is None:
        return n_values
    for a in np.flatnonzero(is_nominal):
        values = np.unique(XT[a])
        # Two values scale to 0 and 1: equality is then the numeric case.
        is_binary = values.size == 2 and values[1] - values[0] >= MIN_RANGE
        n_values[a] = 0 if is_binary else values.size
    return n_values


def scale_columns(XT: np.ndarray, n_values: np.ndarray, ZT: np.ndarray) -> bool:
    """Fill `ZT` with columns scaled to [0, 1], nominal ones copied; return if any is missing."""
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


def new_slots(
    n_slots: int, n_classes: int, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return free slots: near_dist, near_row, bound and target."""
    shape = (n_slots, n_classes, n_neighbors)
    return (
        np.empty(shape),
        np.full(shape, -1, np.int32),
        np.full((n_classes, n_slots), np.inf),
        np.zeros((n_classes, n_slots), np.int32),
    )


def add_weights(
    ZT: np.ndarray,
    n_values: np.ndarray,
    is_plain: bool,
    queries: np.ndarray,
    y: np.ndarray,
    class_counts: np.ndarray,
    near_row: np.ndarray,
    first: int,
    last: int,
    weights: np.ndarray,
    shares: np.ndarray | None = None,
) -> None:
    """Add the contributions of the queries to the weights of columns first:last.

    By the formula of `ReliefF`, with the neighbours found in a class for k and, for two classes, 1
    for P(c) / (1 - P(c_r)). Each weight is one running sum over r, hits before misses, classes
    ascending, neighbours in slot order; the probabilities multiply the rounded quotient. With
    `shares`, neighbours are those of `weighted_neighbors`.
    """
    n_terms = near_row[0].size if len(near_row) else 0
    terms = np.empty(n_terms, np.int64), np.empty((2, n_terms))
    for a in range(first, last, N_STRIP):
        b = min(a + N_STRIP, last)
        fixed = np.ascontiguousarray(ZT[a:b].T), queries, y, class_counts, near_row, *terms
        if shares is not None:
            add_shares(fixed[0], queries, near_row, shares, n_values[a:b], weights[a:b])
        else:
            add_terms(*fixed, None if is_plain else n_values[a:b], weights[a:b])


@njit
def scan_panel(
    queries, is_symmetric, begin, end, offset, y, panel, near_dist, near_row, bound, target
):
    """Offer the rows of a filled panel to queries[begin:end]; queries[k] has slots ``offset + k``.

    In symmetric use rows before the panel were offered by `offer_queries`, and those of the panel
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


@njit
def fill_plain(
    ZT,
    columns,
    n_values,
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

    ``panel[k, i]`` becomes the distance of queries[k] and row i, the sum over `columns`, in order,
    of their differences. With z the scaled values, a numeric column differs by abs(z_r - z_i); one
    value missing: max(z, 1 - z) of the known one; both: 1. A nominal column, which misses none,
    differs by 0 if equal, else 1.

    `fill_plain` takes numeric columns without missing values, whose numbers are padded with that of
    a column of zeros to a multiple of 4; `fill_mixed` takes any. `is_symmetric`: the queries are
    consecutive rows and all rows are queries, so only distances to later rows are computed, and
    these rows are offered the queries at once; the slots are then of all rows.

    Example: queries 2, 3, 4, 5 of rows 0, ..., 7, symmetric. They are one group of four, which
    gets its distances to rows 2, ..., 7 (those to rows 0 and 1 are in the panel before). Rows 6 and
    7, which lie behind the panel, are then offered the queries 2, 3, 4, 5 in this order; the
    queries themselves find each other in `scan_panel`.
    """
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for q in range(0, queries.size, 4):
            begin = max(start, queries[q]) if is_symmetric else start
            if begin < stop:
                _sum_plain(ZT, columns, queries, q, begin, stop, panel)
        if is_symmetric:
            _offer_queries(queries, start, stop, y, panel, near_dist, near_row, bound, target)


@njit
def fill_mixed(
    ZT,
    columns,
    n_values,
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
    """Do what `fill_plain` does; nominal columns and missing values allowed."""
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for k in range(queries.size):
            begin = max(start, queries[k]) if is_symmetric else start
            if begin < stop:
                _sum_mixed(ZT, columns, n_values, queries[k], begin, stop, panel[k])
        if is_symmetric:
            _offer_queries(queries, start, stop, y, panel, near_dist, near_row, bound, target)


@njit_part
def _sum_plain(ZT, columns, queries, q, first, last, panel):
    """Fill the distances of queries q to q + 3 to rows first:last.

    A last group of fewer than 4 repeats its last query in the spare rows of the panel.
    """
    end = queries.size - 1
    r0, r1 = queries[q], queries[min(q + 1, end)]
    r2, r3 = queries[min(q + 2, end)], queries[min(q + 3, end)]
    d0, d1, d2, d3 = panel[q], panel[q + 1], panel[q + 2], panel[q + 3]
    for i in range(first, last):
        d0[i] = d1[i] = d2[i] = d3[i] = 0.0
    # Rows are separate sums and go into vector lanes; within a row the columns are added one by
    # one in order. Four columns per pass save loads and stores of the sums.
    for t in range(0, columns.size, 4):
        za, zb = ZT[columns[t]], ZT[columns[t + 1]]
        zc, zd = ZT[columns[t + 2]], ZT[columns[t + 3]]
        a0, a1, a2, a3 = za[r0], za[r1], za[r2], za[r3]
        b0, b1, b2, b3 = zb[r0], zb[r1], zb[r2], zb[r3]
        c0, c1, c2, c3 = zc[r0], zc[r1], zc[r2], zc[r3]
        e0, e1, e2, e3 = zd[r0], zd[r1], zd[r2], zd[r3]
        for i in range(uintp(first), uintp(last)):
            ua, ub, uc, ud = za[i], zb[i], zc[i], zd[i]
            d0[i] = (((d0[i] + abs(a0 - ua)) + abs(b0 - ub)) + abs(c0 - uc)) + abs(e0 - ud)
            d1[i] = (((d1[i] + abs(a1 - ua)) + abs(b1 - ub)) + abs(c1 - uc)) + abs(e1 - ud)
            d2[i] = (((d2[i] + abs(a2 - ua)) + abs(b2 - ub)) + abs(c2 - uc)) + abs(e2 - ud)
            d3[i] = (((d3[i] + abs(a3 - ua)) + abs(b3 - ub)) + abs(c3 - uc)) + abs(e3 - ud)


@njit_part
def _offer_queries(queries, first, last, y, panel, near_dist, near_row, bound, target):
    """Offer the queries of a panel to those of the rows first:last that lie behind it.

    A row has by now been offered every query of the earlier panels: all rows below queries[0]. It
    takes those of this panel in ascending order.
    """
    # Eight rows at a time: their slots stay in the first-level cache.
    for low in range(max(first, queries[queries.size - 1] + 1), last, 8):
        for k in range(queries.size):
            row = queries[k]
            c = y[row]
            for i in range(low, min(low + 8, last)):
                if panel[k, i] < bound[c, i]:
                    target[c, i], bound[c, i] = _offer(
                        panel[k, i], row, target[c, i], near_dist[i, c], near_row[i, c]
                    )


@njit_part
def _sum_mixed(ZT, columns, n_values, row, first, last, dist):
    """Fill the distances of one row to first:last; nominal columns, missing values allowed."""
    # What depends on the row alone is outside the loops.
    for i in range(first, last):
        dist[i] = 0.0
    for a in columns:
        u = ZT[a, row]
        z = ZT[a]
        if n_values[a] > 0:
            for i in range(uintp(first), uintp(last)):
                dist[i] += 0.0 if u == z[i] else 1.0
        elif u != u:
            for i in range(uintp(first), uintp(last)):
                known = 1.0 - z[i] if z[i] < 0.5 else z[i]
                dist[i] += 1.0 if z[i] != z[i] else known
        else:
            unknown = 1.0 - u if u < 0.5 else u
            for i in range(uintp(first), uintp(last)):
                dist[i] += unknown if z[i] != z[i] else abs(u - z[i])


@njit_inline
def _offer(distance, row, k, slots, slot_rows):
    """Put a row into slot k; return the next target and its bound, inf while a slot is free."""
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


@njit
def add_terms(strip, queries, y, class_counts, near_row, rows, factors, n_values, weights):
    """Add the queries to the weights of columns, side by side in `strip`, plain without values."""
    for q in range(queries.size):
        k = y[queries[q]]
        n_terms = _list_terms(q, k, class_counts, near_row, rows, factors)
        here = strip[queries[q]]
        for t in range(n_terms):
            there = strip[rows[t]]
            factor, divisor = factors[0, t], factors[1, t]
            if n_values is None:
                for f in range(weights.size):
                    weights[f] += factor * (abs(here[f] - there[f]) / divisor)
            else:
                for f in range(weights.size):
                    diff = _difference(here[f], there[f], n_values[f])
                    weights[f] += factor * (diff / divisor)


@njit
def add_shares(strip, queries, near_row, shares, n_values, weights):
    """Do the same for neighbours that count by given shares."""
    for q in range(queries.size):
        here = strip[queries[q]]
        for t in range(near_row.shape[1]):
            there, share = strip[near_row[q, t]], shares[q, t]
            for f in range(weights.size if share != 0.0 else 0):
                weights[f] += share * _difference(here[f], there[f], n_values[f])


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


@njit_part
def _difference(u, v, n_values):
    """Return the difference of two scaled values, as in `fill_plain`."""
    if n_values > 0:
        return 0.0 if u == v else 1.0
    if u != u and v != v:
        return 1.0
    if u != u or v != v:
        known = v if u != u else u
        return 1.0 - known if known < 0.5 else known
    return abs(u - v)
