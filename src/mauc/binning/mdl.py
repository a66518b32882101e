"""Supervised discretisation of columns by the minimum description length principle.

A segment of N rows with class entropy H is cut where the class entropy E of the two sides is
smallest; the cut is kept, and both sides are cut in turn, if and only if (Fayyad & Irani, 1993)

    H - E > (log2(c) + log2(3^k - 2) - (k H - k_R H_R - k_L H_L)) / N

with c the number of boundaries between distinct values and k, k_L, k_R the classes present. Of
equally good cuts the first one wins.

Columns are sorted and compressed into entries: a class and a number of rows of that class that
share a value. Those of a column ascend with the value, those of one value stand together. Entries
are int32 of shape (..., 3, width), with the rows CLASS, COUNT (never 0) and ENDS, the number of
distinct values that end with the entry: 1 for the last entry of a value, 0 for the others. Entries
of sub-problems may stand for several neighbouring values, see `one_vs_rest_entries`.

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
"""

import math

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.arrays import LN2
from mauc.engine.keys import (
    argsort_columns,
    label_bits_of,
    read_values,
    sort_keys,
    write_keys,
)

CLASS, COUNT, ENDS = 0, 1, 2

_MAX_DEPTH = 64  # the smaller side of a cut is treated first, so that the segments halve
_LOWEST = np.int64(-(2**62))


def sorted_columns(
    XT: np.ndarray, y: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted values of columns, their classes, the known rows, the missing by class.

    Values, float64, and classes, int32, have shape (n_columns, n_samples) and ascend; the classes
    of one value come in any order.
    """
    label_bits = label_bits_of(n_classes)
    keys, n_known, layout = write_keys(XT, y, label_bits)
    sort_keys(keys, n_known, label_bits)
    values = read_values(keys, label_bits, layout)
    codes = (keys & np.uint64((1 << label_bits) - 1)).astype(np.int32)
    lossy = np.flatnonzero(layout.n_lost)
    for f, order in zip(lossy, argsort_columns(XT[lossy]), strict=True):
        values[f], codes[f] = XT[f, order] + 0.0, y[order]  # -0.0 is 0.0
    missing = np.zeros((len(XT), n_classes), np.int64)
    for f in np.flatnonzero(n_known < XT.shape[1]):
        missing[f] = np.bincount(y[np.isnan(XT[f])], minlength=n_classes)
    return values, codes, n_known, missing


def make_entries(
    XT: np.ndarray, y: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the entries of columns, how many each has, the sorted values, the missing by class."""
    values, codes, n_known, missing = sorted_columns(XT, y, n_classes)
    entries = np.empty((len(XT), 3, XT.shape[1]), np.int32)
    n_entries = np.empty(len(XT), np.int64)
    fill_entries(values, codes, n_known, np.empty(n_classes, np.int64), entries, n_entries)
    return entries, n_entries, values, missing


def one_vs_rest_entries(
    entries: np.ndarray, n_entries: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries of every class, 0, against the rest, 1, and where those of each are.

    The regions, start and end, have shape (n_columns, n_classes, 2). Neighbouring distinct values
    that all belong to one side form a block, a value with rows of both sides is a block of its own.
    Only the boundaries between blocks can be best cuts: inside a block of one side S, as a function
    of the rows moved, has second derivative (1/a - 1/(a + z)) + (1/b - 1/(b + w)) > 0 (a, b rows of
    that side left and right, z, w rows of the other side, z + w > 0), so that it is strictly convex
    and largest at an end of the block. Class k against the rest has at most 2 n_k + 1 blocks, so
    all c sub-problems together cost about as much as two passes over the column, not c.
    """
    n_columns = len(entries)
    # an entry becomes at most three: the rest before it, and a block of both sides
    width = 3 * int(n_entries.max(initial=0)) + n_classes
    spread = np.empty((n_columns, 3, width), np.int32)
    regions = np.empty((n_columns, n_classes, 2), np.int64)
    done = np.empty((2, n_classes), np.int64)
    fill_one_vs_rest(entries, n_entries, done, spread, regions)
    return spread, regions


def cut_regions(
    entries: np.ndarray, regions: np.ndarray, n_local: int, fixed: np.ndarray, unit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tables of bins and classes of columns on sub-problems of `n_local` classes.

    The tables, int64, stand below each other, those of the first column first; the numbers of bins,
    (n_columns, n_subproblems), are 0 without a cut. `fixed` and `unit` are L in fixed point up to
    the number of rows, see `mauc.engine.arrays`.
    """
    n_columns, n_subproblems, _ = regions.shape
    width = int((regions[..., 1] - regions[..., 0]).max(initial=0)) + 1
    near = np.empty((3, width), np.int64)
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
        wider = np.empty((2 * len(tables) + width * n_subproblems, n_local), np.int64)
        wider[:n_filled] = tables[:n_filled]
        tables = wider


@njit(cache=True, nogil=True)
def fill_entries(values, codes, n_known, entry_of, entries, n_entries):
    """Fill the entries of sorted columns; `entry_of` is work space for every class."""
    for f in range(values.shape[0]):
        value, code = values[f], codes[f]
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        for k in range(entry_of.shape[0]):
            entry_of[k] = -1
        n_filled, first = 0, 0
        for i in range(n_known[f]):
            # the rows before i are in the first n_filled entries
            if i > 0 and value[i] != value[i - 1]:
                ends[n_filled - 1] = 1
                first = n_filled
            k = code[i]
            # class k has an entry of the current value if and only if it is not below first
            e = entry_of[k]
            if e < first:
                e = n_filled
                entry_of[k] = e
                cls[e] = k
                count[e] = 0
                ends[e] = 0
                n_filled += 1
            count[e] += 1
        if n_filled > 0:
            ends[n_filled - 1] = 1
        n_entries[f] = n_filled


@njit(cache=True, nogil=True)
def fill_one_vs_rest(entries, n_entries, done, spread, regions):
    """Fill the arrays of `one_vs_rest_entries`.

    ``done[0, k]`` rows and ``done[1, k]`` distinct values are in the entries of class k so far.
    """
    n_classes = regions.shape[1]
    rows_done, values_done = done[0], done[1]
    for f in range(entries.shape[0]):
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        to, region = spread[f], regions[f]
        for k in range(n_classes):
            rows_done[k], values_done[k] = 0, 0
        for e in range(n_entries[f]):
            rows_done[cls[e]] += 1
        start = np.int64(0)
        for k in range(n_classes):
            region[k, 0], region[k, 1] = start, start
            start += 3 * rows_done[k] + 1
            rows_done[k] = 0
        first, n_rows, n_values = np.int64(0), np.int64(0), np.int64(0)
        # the entries before first hold n_rows rows of n_values distinct values
        while first < n_entries[f]:
            last = first
            n_here = np.int64(count[last])
            while ends[last] == 0:
                last += 1
                n_here += count[last]
            for e in range(first, last + 1):
                k = cls[e]
                n_own = np.int64(count[e])
                at = region[k, 1]
                if n_rows > rows_done[k]:
                    _put(to, at, 1, n_rows - rows_done[k], n_values - values_done[k])
                    at += 1
                if n_own < n_here:
                    _put(to, at, 0, n_own, 0)
                    _put(to, at + 1, 1, n_here - n_own, 1)
                    at += 2
                elif at > region[k, 0] and to[CLASS, at - 1] == 0:
                    # a block of both sides ends with the rest, so this one holds k alone
                    to[COUNT, at - 1] += n_own
                    to[ENDS, at - 1] += 1
                else:
                    _put(to, at, 0, n_own, 1)
                    at += 1
                region[k, 1] = at
                rows_done[k], values_done[k] = n_rows + n_here, n_values + 1
            n_rows += n_here
            n_values += 1
            first = last + 1
        for k in range(n_classes):
            if n_rows > rows_done[k]:
                at = region[k, 1]
                _put(to, at, 1, n_rows - rows_done[k], n_values - values_done[k])
                region[k, 1] = at + 1


@njit_part
def _put(to, at, cls, count, ends):
    """Write an entry."""
    to[CLASS, at], to[COUNT, at], to[ENDS, at] = cls, count, ends


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tables(entries, regions, fixed, unit, near, sides, tables, n_filled, n_bins, column):
    """Fill the tables of `cut_regions` from a column on, until they are full.

    Returns the rows filled, and the first column that did not fit. `near` and `sides` are work
    space, see `_best_cut`; their further rows hold cuts, and segments still to be cut.
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
                at = n_cuts
                while at > 0 and cuts[at - 1] > cut:
                    cuts[at] = cuts[at - 1]
                    at -= 1
                cuts[at] = cut
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
