"""Supervised discretisation of one column by the minimum description length principle.

The `Runs` of a sorted column give the accepted cuts, each as the run before it.

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

References
----------
Fayyad & Irani (1993), Multi-interval discretization of continuous-valued attributes for
classification learning, IJCAI.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

from mauc.numerics.log_table import LN2, log_table

Logs = namedtuple("Logs", ["vlogv", "fixed", "unit", "model_cost"])
"""Tables of logarithms for one training set.

vlogv : (n + 1,) float64, v ln v for the counts 0..n.
fixed : (n + 1,) int64, the same in units of 1 / unit.
unit : float, a power of two.
model_cost : (n_classes + 1,) float64, log2(3^k - 2) for k classes present.
"""


@njit(cache=True, nogil=True)
def make_logs(n, n_classes):
    """Return the tables for segments of at most `n` rows and `n_classes` classes."""
    vlogv, fixed, unit = log_table(n, 1.0)
    model_cost = np.zeros(n_classes + 1)
    for k in range(1, n_classes + 1):
        model_cost[k] = math.log(math.pow(3.0, k) - 2.0) / LN2
    return Logs(vlogv, fixed, unit, model_cost)


@njit(cache=True, nogil=True)
def tie_tolerance(logs, n, n_classes):
    """Largest gap in fixed-point S that rounding may hide, for segments of at most `n` rows.

    A sum of 2 k + 2 terms, none of its partial sums above L(n), is off by at most 2 k + 2 half
    units in the last place of L(n), each term by as much again and a half, the quotient by two
    roundings more; two such sums are compared, and each fixed-point term is off by half a unit.
    """
    relative = (6 * n_classes + 16) * 2.0**-52
    return np.int64(relative * logs.vlogv[n] * logs.unit) + 2 * n_classes + 4


@njit(cache=True, nogil=True)
def entropy(counts, vlogv):
    """Class entropy in bits."""
    total = 0
    negative = 0.0
    for k in range(len(counts)):
        negative -= vlogv[counts[k]]
        total += counts[k]
    if total == 0:
        return 0.0
    return (negative + vlogv[total]) / (total * LN2)


@njit(cache=True, nogil=True)
def split_entropy(left, right, vlogv):
    """Mean class entropy in bits of the two sides, weighted by their rows."""
    n_left = 0
    n_right = 0
    s = 0.0
    for k in range(len(left)):
        s += vlogv[left[k]]
        n_left += left[k]
    s -= vlogv[n_left]
    for k in range(len(right)):
        s += vlogv[right[k]]
        n_right += right[k]
    s -= vlogv[n_right]
    return -s / ((n_left + n_right) * LN2)


@njit(cache=True, nogil=True)
def is_worth_cutting(total, left, right, n_boundaries, logs):
    """Whether the gain of the cut pays for its description."""
    prior = entropy(total, logs.vlogv)
    gain = prior - split_entropy(left, right, logs.vlogv)
    if gain <= 0.0:
        return False
    n = 0
    k_total = 0
    k_left = 0
    k_right = 0
    for k in range(len(total)):
        n += total[k]
        k_total += total[k] > 0
        k_left += left[k] > 0
        k_right += right[k] > 0
    h_left = entropy(left, logs.vlogv)
    h_right = entropy(right, logs.vlogv)
    delta = logs.model_cost[k_total] - ((k_total * prior) - (k_right * h_right) - (k_left * h_left))
    return gain > (math.log(n_boundaries) / LN2 + delta) / n


@njit(cache=True, nogil=True)
def _near_best_cuts(runs, lo, hi, total, left, logs, tolerance, s_of, near):
    """List, in ascending order, the entries of a segment after which a cut may be the best.

    A cut follows the last entry of its run. Every boundary between distinct values is tried.
    """
    fixed = logs.fixed
    cls, count, end_of = runs.cls, runs.count, runs.end_of
    first = runs.start[lo]
    # no cut after the last run of the segment
    last = runs.start[hi - 1]
    n = np.uint64(runs.rows[hi] - runs.rows[lo])
    lowest = np.int64(-(2**62))
    s = np.int64(0)
    for k in range(len(total)):
        left[k] = 0
        s += fixed[total[k]]
    n_left = np.uint64(0)
    best = lowest
    # s is the sum over both sides of L(class count) with the entries before e on the left
    for e in range(first, last):
        k = np.uint64(cls[e])
        t = np.uint64(count[e])
        a = np.uint64(left[k])
        b = np.uint64(total[k]) - a
        s += (fixed[a + t] - fixed[a]) + (fixed[b - t] - fixed[b])
        left[k] = a + t
        n_left += t
        here = s - fixed[n_left] - fixed[n - n_left]
        here = here if end_of[e] >= 0 else lowest
        s_of[e] = here
        best = max(best, here)
    least = best - tolerance
    n_near = 0
    for e in range(first, last):
        if s_of[e] >= least:
            near[n_near] = e
            n_near += 1
    return n_near


@njit(cache=True, nogil=True)
def _first_best_cut(runs, lo, near, n_near, total, left, right, best_left, vlogv):
    """Return the first of the listed cuts of smallest entropy; fill `best_left` with its counts."""
    for k in range(len(total)):
        left[k] = 0
    best_entry = -1
    best = np.inf
    e = runs.start[lo]
    for q in range(n_near):
        while e <= near[q]:
            left[runs.cls[e]] += runs.count[e]
            e += 1
        for k in range(len(total)):
            right[k] = total[k] - left[k]
        here = split_entropy(left, right, vlogv)
        if here < best:
            best = here
            best_entry = near[q]
            for k in range(len(total)):
                best_left[k] = left[k]
    return runs.end_of[best_entry]


@njit(cache=True, nogil=True)
def cut_runs(runs, n_runs, n_classes, logs, cuts, s_of, near):
    """Find the accepted cuts of one column.

    Parameters
    ----------
    runs : Runs
        Runs of the column, or of a sub-problem of it.
    n_runs, n_classes : int
    logs : Logs
        Tables that reach the number of rows and of classes.
    cuts : ndarray of shape (>= n_runs,), int64
        Filled with the run before each accepted cut, ascending.
    s_of, near : ndarray of shape (>= number of entries,), int64
        Work space.

    Returns
    -------
    int
        Number of cuts.
    """
    if n_runs < 2:
        return 0
    tolerance = tie_tolerance(logs, runs.rows[n_runs], n_classes)
    left = np.empty(n_classes, np.int64)
    right = np.empty(n_classes, np.int64)
    best_left = np.empty(n_classes, np.int64)
    # The larger side stays on the stack while the smaller one, at most half the segment, is
    # treated: the segments halve with the depth, so that 64 places suffice.
    lows = np.empty(64, np.int64)
    highs = np.empty(64, np.int64)
    totals = np.zeros((64, n_classes), np.int64)
    for e in range(runs.start[n_runs]):
        totals[0, runs.cls[e]] += runs.count[e]
    lows[0] = 0
    highs[0] = n_runs
    depth = 1
    n_cuts = 0
    while depth > 0:
        depth -= 1
        lo = lows[depth]
        hi = highs[depth]
        total = totals[depth]
        n_present = 0
        for k in range(n_classes):
            n_present += total[k] > 0
        if hi - lo < 2 or n_present < 2:
            continue
        n_near = _near_best_cuts(runs, lo, hi, total, left, logs, tolerance, s_of, near)
        cut = _first_best_cut(runs, lo, near, n_near, total, left, right, best_left, logs.vlogv)
        for k in range(n_classes):
            right[k] = total[k] - best_left[k]
        if not is_worth_cutting(total, best_left, right, hi - lo - 1, logs):
            continue
        cuts[n_cuts] = cut
        n_cuts += 1
        left_place, right_place = depth, depth + 1
        if cut + 1 - lo <= hi - cut - 1:
            left_place, right_place = depth + 1, depth
        lows[left_place], highs[left_place] = lo, cut + 1
        lows[right_place], highs[right_place] = cut + 1, hi
        for k in range(n_classes):
            totals[left_place, k] = best_left[k]
            totals[right_place, k] = right[k]
        depth += 2
    sort_cuts(cuts, n_cuts)
    return n_cuts


@njit(cache=True, nogil=True)
def sort_cuts(cuts, n_cuts):
    """Sort the few cuts of a column in ascending order."""
    for q in range(1, n_cuts):
        cut = cuts[q]
        place = q
        # cuts[:q] ascend; cut goes before the larger ones
        while place > 0 and cuts[place - 1] > cut:
            cuts[place] = cuts[place - 1]
            place -= 1
        cuts[place] = cut
