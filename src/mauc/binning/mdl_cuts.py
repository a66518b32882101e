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
sum taken in the order of the definition, so that all decisions are those of the plain formula. A
sum of 2 k + 2 terms, none of its partial sums above L(N), is off by at most 2 k + 2 half units in
the last place of L(N), each term by as much again and a half, the quotient by two roundings more;
two such sums are compared, and each fixed-point term is off by half a unit.

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
from mauc.numerics.njit_part import njit_part

_MAX_DEPTH = 64  # the smaller side of a cut is treated first, so that the segments halve
_LOWEST = np.int64(-(2**62))


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
    sides = np.empty((5, max(n_local, _MAX_DEPTH)), np.int64)
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


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tables(entries, regions, fixed, unit, near, sides, tables, n_filled, n_bins, column):
    """Fill the tables of `cut_regions` from a column on, as long as there is room.

    Returns
    -------
    n_filled, column : int
        The rows filled, and the first column that found no room.
    """
    cuts, lows, highs = near[2], sides[3], sides[4]
    n_classes = tables.shape[1]
    for f in range(column, entries.shape[0]):
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        n_before = n_filled
        for s in range(regions.shape[1]):
            lows[0], highs[0] = regions[f, s, 0], regions[f, s, 1]
            depth, n_cuts = 1, 0
            while depth > 0:
                depth -= 1
                lo, hi = lows[depth], highs[depth]
                cut = _best_cut(cls, count, ends, lo, hi, n_classes, fixed, unit, near, sides)
                if cut < 0:
                    continue
                # cuts[:n_cuts] ascend; the new one goes before the larger ones
                place = n_cuts
                while place > 0 and cuts[place - 1] > cut:
                    cuts[place] = cuts[place - 1]
                    place -= 1
                cuts[place] = cut
                n_cuts += 1
                left = depth if cut - lo > hi - cut else depth + 1
                right = 2 * depth + 1 - left
                lows[left], highs[left] = lo, cut + 1
                lows[right], highs[right] = cut + 1, hi
                depth += 2
            n_bins[f, s] = 0
            if n_cuts == 0:
                continue
            if n_filled + n_cuts + 1 > tables.shape[0]:
                return n_before, f
            n_bins[f, s] = n_cuts + 1
            cuts[n_cuts] = regions[f, s, 1] - 1
            e = regions[f, s, 0]
            for q in range(n_cuts + 1):
                table = tables[n_filled]
                for k in range(n_classes):
                    table[k] = 0
                while e <= cuts[q]:
                    table[cls[e]] += count[e]
                    e += 1
                n_filled += 1
    return n_filled, entries.shape[0]


@njit_part
def _best_cut(cls, count, ends, lo, hi, n_classes, fixed, unit, near, sides):
    """Return the entry after which a segment is cut; -1 if it is not.

    `near` and `sides` are work space: cuts that may be the best with their S; rows by class of the
    segment and on either side of a cut.
    """
    total, left, right = sides[0], sides[1], sides[2]
    near_entry, near_s = near[0], near[1]
    for k in range(n_classes):
        total[k] = 0
        left[k] = 0
    for e in range(lo, hi):
        total[cls[e]] += count[e]
    n, s, n_present = np.uint64(0), np.int64(0), 0
    for k in range(n_classes):
        n += np.uint64(total[k])
        s += fixed[total[k]]
        n_present += total[k] > 0
    if n_present < 2:
        return np.int64(-1)
    s_whole, rows = s - fixed[n], np.float64(n)
    # the largest gap that rounding may hide, see above
    tolerance = np.int64((6 * n_classes + 16) * 2.0**-52 * (rows * math.log(rows)) * unit)
    tolerance += 2 * n_classes + 4
    # s is the sum over both sides of L(class count) with the entries before e on the left; the best
    # cuts so far are the last ones in near, all within tolerance of the best at their time
    best, least = _LOWEST, _LOWEST
    n_near, n_boundaries, n_left = 0, np.int64(0), np.uint64(0)
    for e in range(lo, hi - 1):
        k = np.uint64(cls[e])
        t = np.uint64(count[e])
        a = np.uint64(left[k])
        b = np.uint64(total[k]) - a
        s += (fixed[a + t] - fixed[a]) + (fixed[b - t] - fixed[b])
        left[k] = a + t
        n_left += t
        here = s - fixed[n_left] - fixed[n - n_left]
        n_boundaries += ends[e]
        if here >= least and ends[e] > 0:
            if here - tolerance > best:
                n_near = 0
            if here > best:
                best = here
                least = here - tolerance
            near_entry[n_near] = e
            near_s[n_near] = here
            n_near += 1
    # the last value has no boundary after it; an entry may stand for several values
    n_boundaries += ends[hi - 1] - 1
    if n_near == 0:
        return np.int64(-1)
    price = (math.log(n_boundaries) + math.log(math.pow(3.0, n_present) - 2.0)) / LN2
    gain = (best - s_whole) / (unit * LN2)
    if gain < price + n_present * (s_whole / (unit * LN2 * rows)) - (1e-3 + 1e-9 * rows):
        return np.int64(-1)
    for k in range(n_classes):
        left[k] = 0
    e, cut, smallest, is_worth = lo, np.int64(-1), np.inf, False
    for q in range(n_near):
        if near_s[q] < least:
            continue
        while e <= near_entry[q]:
            left[cls[e]] += count[e]
            e += 1
        for k in range(n_classes):
            right[k] = total[k] - left[k]
        s_left, n_left_rows = _add_logs(left, n_classes, 0.0)
        s_both, n_right_rows = _add_logs(right, n_classes, s_left)
        here = -s_both / ((n_left_rows + n_right_rows) * LN2)
        if here < smallest:
            smallest, cut = here, near_entry[q]
            is_worth = _is_worth_cutting(total, left, right, n_classes, smallest, n_boundaries)
    return cut if is_worth else np.int64(-1)


@njit_part
def _add_logs(counts, n_classes, s):
    """Add sum_k L(count_k) - L(n) to s, in this order; return it and n."""
    n = np.int64(0)
    for k in range(n_classes):
        if counts[k] > 0:
            s += counts[k] * math.log(counts[k])
            n += counts[k]
    return s - n * math.log(n), n


@njit_part
def _is_worth_cutting(total, left, right, n_classes, split_entropy, n_boundaries):
    """Whether the gain of the cut pays for its description."""
    s, n = _add_logs(total, n_classes, 0.0)
    prior = -s / (n * LN2)
    gain = prior - split_entropy
    if gain <= 0.0:
        return False
    k_total, k_left, k_right = 0, 0, 0
    for k in range(n_classes):
        k_total += total[k] > 0
        k_left += left[k] > 0
        k_right += right[k] > 0
    s, n_side = _add_logs(left, n_classes, 0.0)
    h_left = -s / (n_side * LN2)
    s, n_side = _add_logs(right, n_classes, 0.0)
    h_right = -s / (n_side * LN2)
    model_cost = math.log(math.pow(3.0, k_total) - 2.0) / LN2
    delta = model_cost - ((k_total * prior) - (k_right * h_right) - (k_left * h_left))
    return gain > (math.log(n_boundaries) / LN2 + delta) / n
