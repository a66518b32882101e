"""Supervised discretisation of columns by the minimum description length principle.

The entries of sorted columns (see `value_runs`) give the accepted cuts, as tables of bins and
classes.

A segment of N rows with class entropy H is cut where the class entropy E of the two sides is
smallest; the cut is kept, and both sides are cut in turn, if and only if (Fayyad & Irani)

    H - E > (log2(c) + log2(3^k - 2) - (k H - k_R H_R - k_L H_L)) / N

with c the number of boundaries between distinct values and k, k_L, k_R the classes present. Of
equally good cuts the first one wins.

How the best cut is found
-------------------------
With L(v) = v ln v, left counts a_j and right counts b_j, N ln 2 E = -S where

    S = sum_j L(a_j) - L(sum_j a_j) + sum_j L(b_j) - L(sum_j b_j).

S is followed from cut to cut in 64-bit fixed point: moving rows of one class changes two terms, and
integer sums carry no rounding error from step to step. Cuts whose S lies within `tolerance` of the
best, which covers the rounding of both forms, are then compared in double precision with every
sum taken in the order of the definition, so that all decisions are those of the plain formula.

Entropies are not negative, so that N (H - E) > log2(c) + log2(3^k - 2) - k H is necessary for the
cut: where it fails clearly, as in most columns of noise, nothing is computed in double precision.

References
----------
Fayyad & Irani (1993), Multi-interval discretization of continuous-valued attributes for
classification learning, IJCAI.
"""

import math

import numpy as np
from numba import njit

from mauc.binning.value_runs import CLASS, COUNT, ENDS
from mauc.numerics.log_table import LN2

_MAX_DEPTH = 64  # the smaller side of a cut is treated first, so that the segments halve
_LOWEST = np.int64(-(2**62))
_TOTAL, _LEFT, _RIGHT = 0, 1, 2


def cut_regions(entries, regions, n_local, fixed, unit):
    """Discretise columns on their sub-problems.

    Parameters
    ----------
    entries : ndarray of shape (n_columns, 3, room), int32
    regions : ndarray of shape (n_columns, n_subproblems, 2), int64
        Where the entries of each sub-problem start and end.
    n_local : int
        Number of classes of a sub-problem.
    fixed, unit
        L in fixed point up to the number of rows, see `mauc.numerics.log_table`.

    Returns
    -------
    tables : ndarray of shape (n_tables, n_local), int64
        Rows by bin and class: the bins of the first sub-problem of the first column that is cut,
        and so on.
    n_bins : ndarray of shape (n_columns, n_subproblems), int64
        Number of bins, 0 for those without a cut.
    """
    n_columns, n_subproblems, _ = regions.shape
    room = int((regions[..., 1] - regions[..., 0]).max(initial=0)) + 1
    near = np.empty((3, room), np.int64)
    sides = np.empty((3, n_local), np.int64)
    n_bins = np.zeros((n_columns, n_subproblems), np.int64)
    tables = np.empty((8 * n_bins.size + 64, n_local), np.int64)
    n_filled, column = 0, 0
    while True:
        n_filled, column = fill_tables(
            entries, regions, fixed, unit, near, sides, tables, n_filled, n_bins, column
        )
        if column == n_columns:
            return tables[:n_filled], n_bins
        wider = np.empty((2 * len(tables) + room * n_subproblems, n_local), np.int64)
        wider[:n_filled] = tables[:n_filled]
        tables = wider


@njit(cache=True, nogil=True)
def fill_tables(entries, regions, fixed, unit, near, sides, tables, n_filled, n_bins, column):
    """Fill the tables of `cut_regions` from a column on, as long as there is room.

    Returns
    -------
    n_filled, column : int
        The rows filled, and the first column that found no room.
    """
    cuts = near[2]
    stack = np.empty((_MAX_DEPTH, 2), np.int64)
    for f in range(column, entries.shape[0]):
        n_before = n_filled
        for s in range(regions.shape[1]):
            begin, end = regions[f, s, 0], regions[f, s, 1]
            stack[0, 0], stack[0, 1] = begin, end
            depth, n_cuts = 1, 0
            while depth > 0:
                depth -= 1
                lo, hi = stack[depth, 0], stack[depth, 1]
                cut = _best_cut(entries[f], lo, hi, fixed, unit, near, sides)
                if cut < 0:
                    continue
                # cuts[:n_cuts] ascend; the new one goes before the larger ones
                place = n_cuts
                while place > 0 and cuts[place - 1] > cut:
                    cuts[place] = cuts[place - 1]
                    place -= 1
                cuts[place] = cut
                n_cuts += 1
                left, right = (depth, depth + 1) if cut - lo > hi - cut else (depth + 1, depth)
                stack[left, 0], stack[left, 1] = lo, cut + 1
                stack[right, 0], stack[right, 1] = cut + 1, hi
                depth += 2
            if n_cuts == 0:
                n_bins[f, s] = 0
                continue
            if n_filled + n_cuts + 1 > tables.shape[0]:
                return n_before, f
            n_bins[f, s] = n_cuts + 1
            e = begin
            for q in range(n_cuts + 1):
                last = cuts[q] + 1 if q < n_cuts else end
                for k in range(tables.shape[1]):
                    tables[n_filled, k] = 0
                while e < last:
                    tables[n_filled, entries[f, CLASS, e]] += entries[f, COUNT, e]
                    e += 1
                n_filled += 1
    return n_filled, entries.shape[0]


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _best_cut(entries, lo, hi, fixed, unit, near, sides):
    """Return the entry after which a segment is cut; -1 if it is not.

    `near` and `sides` are work space: cuts that may be the best with their S; rows by class of the
    segment and on either side of a cut.
    """
    n_classes = sides.shape[1]
    for k in range(n_classes):
        sides[_TOTAL, k] = 0
        sides[_LEFT, k] = 0
    for e in range(lo, hi):
        sides[_TOTAL, entries[CLASS, e]] += entries[COUNT, e]
    n, s, n_present = np.uint64(0), np.int64(0), 0
    for k in range(n_classes):
        n += np.uint64(sides[_TOTAL, k])
        s += fixed[sides[_TOTAL, k]]
        n_present += sides[_TOTAL, k] > 0
    if n_present < 2:
        return np.int64(-1)
    s_whole = s - fixed[n]
    tolerance = _tie_tolerance(np.float64(n), unit, n_classes)
    # s is the sum over both sides of L(class count) with the entries before e on the left; the best
    # cuts so far are the last ones in near, all within tolerance of the best at their time
    best, least = _LOWEST, _LOWEST
    n_near, n_boundaries, n_left = 0, np.int64(0), np.uint64(0)
    for e in range(lo, hi - 1):
        k = np.uint64(entries[CLASS, e])
        t = np.uint64(entries[COUNT, e])
        a = np.uint64(sides[_LEFT, k])
        b = np.uint64(sides[_TOTAL, k]) - a
        s += (fixed[a + t] - fixed[a]) + (fixed[b - t] - fixed[b])
        sides[_LEFT, k] = a + t
        n_left += t
        here = s - fixed[n_left] - fixed[n - n_left]
        n_boundaries += entries[ENDS, e]
        if here >= least and entries[ENDS, e] > 0:
            if here - tolerance > best:
                n_near = 0
            if here > best:
                best = here
                least = here - tolerance
            near[0, n_near] = e
            near[1, n_near] = here
            n_near += 1
    # the last value has no boundary after it; an entry may stand for several values
    n_boundaries += entries[ENDS, hi - 1] - 1
    if n_near == 0:
        return np.int64(-1)
    rows = np.float64(n)
    price = (math.log(n_boundaries) + math.log(math.pow(3.0, n_present) - 2.0)) / LN2
    gain = (best - s_whole) / (unit * LN2)
    margin = 1e-3 + 1e-9 * rows
    if gain < price + n_present * (s_whole / (unit * LN2 * rows)) - margin:
        return np.int64(-1)
    cut, smallest, e = np.int64(-1), np.inf, lo
    for k in range(n_classes):
        sides[_LEFT, k] = 0
    for q in range(n_near):
        if near[1, q] < least:
            continue
        e = _move_left(entries, e, near[0, q] + 1, sides)
        here, n_left_rows = _add_logs(sides[_LEFT], 0.0)
        here, n_right_rows = _add_logs(sides[_RIGHT], here)
        here = -here / ((n_left_rows + n_right_rows) * LN2)
        if here < smallest:
            smallest, cut = here, near[0, q]
    if e != cut + 1:
        for k in range(n_classes):
            sides[_LEFT, k] = 0
        _move_left(entries, lo, cut + 1, sides)
    return cut if _is_worth_cutting(sides, smallest, n_boundaries) else np.int64(-1)


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _tie_tolerance(n, unit, n_classes):
    """Largest gap in fixed-point S that rounding may hide, for segments of `n` rows.

    A sum of 2 k + 2 terms, none of its partial sums above L(n), is off by at most 2 k + 2 half
    units in the last place of L(n), each term by as much again and a half, the quotient by two
    roundings more; two such sums are compared, and each fixed-point term is off by half a unit.
    """
    relative = (6 * n_classes + 16) * 2.0**-52
    return np.int64(relative * (n * math.log(n)) * unit) + 2 * n_classes + 4


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _move_left(entries, e, end, sides):
    """Move the entries from `e` to `end` to the left side, set the right one; return `end`."""
    while e < end:
        sides[_LEFT, entries[CLASS, e]] += entries[COUNT, e]
        e += 1
    for k in range(sides.shape[1]):
        sides[_RIGHT, k] = sides[_TOTAL, k] - sides[_LEFT, k]
    return e


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _add_logs(counts, s):
    """Add sum_k L(count_k) - L(n) to s, in this order; return it and n."""
    n = np.int64(0)
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            s += counts[k] * math.log(counts[k])
            n += counts[k]
    return s - n * math.log(n), n


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _is_worth_cutting(sides, split_entropy, n_boundaries):
    """Whether the gain of the cut pays for its description."""
    s, n = _add_logs(sides[_TOTAL], 0.0)
    prior = -s / (n * LN2)
    gain = prior - split_entropy
    if gain <= 0.0:
        return False
    k_total, k_left, k_right = 0, 0, 0
    for k in range(sides.shape[1]):
        k_total += sides[_TOTAL, k] > 0
        k_left += sides[_LEFT, k] > 0
        k_right += sides[_RIGHT, k] > 0
    s, n_side = _add_logs(sides[_LEFT], 0.0)
    h_left = -s / (n_side * LN2)
    s, n_side = _add_logs(sides[_RIGHT], 0.0)
    h_right = -s / (n_side * LN2)
    model_cost = math.log(math.pow(3.0, k_total) - 2.0) / LN2
    delta = model_cost - ((k_total * prior) - (k_right * h_right) - (k_left * h_left))
    return gain > (math.log(n_boundaries) / LN2 + delta) / n
