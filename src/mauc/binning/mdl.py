"""Supervised discretisation of columns by the minimum description length principle.

A segment of N rows with class entropy H is cut where the class entropy E of the two sides is
smallest; the cut is kept, and both sides are cut in turn, if and only if (Fayyad & Irani, 1993)

    H - E > (log2(c) + log2(3^k - 2) - (k H - k_R H_R - k_L H_L)) / N

with c the number of boundaries between distinct values and k, k_L, k_R the classes present. Of
equally good cuts the first one wins.

Columns are sorted and compressed into entries: a class and a number of rows of that class that
share a value. Entries are int32 of shape (..., 3, width), ascending with the value, with the rows
CLASS, COUNT (never 0) and ENDS, the number of distinct values that end with the entry. Where rows
have weights (see `RowCounts`), entries are int64 and COUNT is a sum of weights. Cuts are compared
in fixed point, close ones again in double precision; docs/methods/mdl.md has the sums, and why all
decisions are those of the plain formula.
"""

import math
from typing import NamedTuple

import numpy as np

from mauc.compile import njit
from mauc.engine.arrays import LN2, RowCounts, fixed_log, log_of
from mauc.engine.keys import argsort_columns, label_bits_of, read_values, sort_keys, write_keys

CLASS, COUNT, ENDS = 0, 1, 2

_LOWEST = np.int64(-(2**62))


class SortedColumns(NamedTuple):
    """Columns by ascending value, in the order of the arguments of kernels."""

    values: np.ndarray  #: this and the next two have shape (n_columns, n_samples)
    codes: np.ndarray
    sizes: np.ndarray | None  #: weights of the rows, None where there are none
    n_known: np.ndarray  #: the first values of a column are known, the others anything
    missing: np.ndarray  #: missing values by class, or their weight, (n_columns, n_classes)


def sorted_columns(
    XT: np.ndarray, y: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> SortedColumns:
    """Sort columns; `weights` are whole numbers of rows or, of shape of XT, of values."""
    sizes = None
    if weights is None:
        label_bits = label_bits_of(n_classes)
        keys, n_known, layout = write_keys(XT, y, label_bits)
        sort_keys(keys, n_known, label_bits)
        values = read_values(keys, label_bits, layout)
        codes = (keys & np.uint64((1 << label_bits) - 1)).astype(np.int32)
        lossy = np.flatnonzero(layout.n_lost)
        for f, order in zip(lossy, argsort_columns(XT[lossy]), strict=True):
            values[f], codes[f] = XT[f, order] + 0.0, y[order]  # -0.0 is 0.0
    else:
        XT = np.where(weights > 0, XT, np.nan)  # rows of weight 0 are missing values of weight 0
        orders, n_known = argsort_columns(XT), (XT == XT).sum(axis=1)
        values = np.take_along_axis(XT.astype(np.float64), orders, axis=1) + 0.0
        weights = np.broadcast_to(weights, XT.shape)
        codes, sizes = y[orders], np.take_along_axis(weights, orders, axis=1)
    missing = np.zeros((len(XT), n_classes), np.int64)
    for f in np.flatnonzero(n_known < XT.shape[1]):
        gone = np.isnan(XT[f])
        of_gone = None if weights is None else weights[f, gone]
        missing[f] = np.bincount(y[gone], of_gone, minlength=n_classes)
    return SortedColumns(values, codes, sizes, n_known, missing)


def make_entries(columns: SortedColumns) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries of columns, and how many each has."""
    n_columns, n_samples = columns.values.shape
    dtype = np.int32 if columns.sizes is None else np.int64
    entries, n_entries = np.empty((n_columns, 3, n_samples), dtype), np.empty(n_columns, np.int64)
    entry_of = np.empty(columns.missing.shape[1], np.int64)
    fill_entries(*columns[:4], entry_of, entries, n_entries)
    return entries, n_entries


def one_vs_rest_entries(
    entries: np.ndarray, n_entries: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks (docs/methods/mdl.md) of every class, 0, and the rest, 1, and regions."""
    n_columns = len(entries)
    # an entry becomes at most three: the rest before it, and a block of both sides
    width = 3 * int(n_entries.max(initial=0)) + n_classes
    spread = np.empty((n_columns, 3, width), entries.dtype)
    regions = np.empty((n_columns, n_classes, 2), np.int64)
    done = np.empty((2, n_classes), np.int64)
    fill_one_vs_rest(entries, n_entries, done, spread, regions)
    return spread, regions


def cut_regions(
    entries: np.ndarray, regions: np.ndarray, n_local: int, rows: RowCounts
) -> tuple[np.ndarray, np.ndarray]:
    """Return tables of bins and classes, one below the other, and the bins of each, 0 if uncut."""
    n_columns, n_subproblems, _ = regions.shape
    bounds = regions.reshape(-1, 2)
    width = int((bounds[:, 1] - bounds[:, 0]).max(initial=0)) + 1
    near = np.empty((3, width), np.int64)
    sides = np.empty((2, n_local), np.uint64)
    costs = np.array([_model_cost(n_present) for n_present in range(n_local + 1)])
    n_bins = np.zeros(len(bounds), np.int64)
    tables = np.empty((8 * len(bounds) + 64, n_local), np.int64)
    n_filled = done = 0
    while True:
        done = fill_tables(
            entries,
            bounds,
            done,
            rows.logs,
            rows.fixed,
            rows.unit,
            rows.step,
            costs,
            near,
            sides,
            tables,
            n_filled,
            n_bins,
        )
        n_filled = int(n_bins[:done].sum())
        if done == len(bounds):
            return tables[:n_filled], n_bins.reshape(n_columns, n_subproblems)
        wider = np.empty((2 * len(tables) + width, n_local), np.int64)
        wider[:n_filled] = tables[:n_filled]
        tables = wider


def _model_cost(n_present: int) -> float:
    """Return log2(3^k - 2) of the classes that are present; 0 for fewer than two."""
    power, square = 1.0, 3.0
    # by squaring, as kernels compute powers: beyond 3^33 other ways may round otherwise
    while n_present > 0:
        power *= square if n_present % 2 else 1.0
        square *= square
        n_present //= 2
    return math.log(max(power - 2.0, 1.0)) / LN2


@njit
def fill_entries(values, codes, sizes, n_known, entry_of, entries, n_entries):
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
            count[e] += 1 if sizes is None else sizes[f, i]
        if n_filled > 0:
            ends[n_filled - 1] = 1
        n_entries[f] = n_filled


@njit
def fill_one_vs_rest(entries, n_entries, done, spread, regions):
    """Fill the arrays of `one_vs_rest_entries`; `done`: rows and values of each class so far."""
    n_classes = regions.shape[1]
    for f in range(entries.shape[0]):
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        side, size, n_ends = spread[f, CLASS], spread[f, COUNT], spread[f, ENDS]
        for k in range(n_classes):
            done[0, k] = 0
            done[1, k] = 0
        for e in range(n_entries[f]):
            done[0, cls[e]] += 1
        start = np.int64(0)
        for k in range(n_classes):
            regions[f, k, 0] = start
            regions[f, k, 1] = start
            start += 3 * done[0, k] + 1
            done[0, k] = 0
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
                at = regions[f, k, 1]
                if n_rows > done[0, k]:
                    side[at] = 1
                    size[at] = n_rows - done[0, k]
                    n_ends[at] = n_values - done[1, k]
                    at += 1
                n_rest = n_here - count[e]
                # a block of both sides ends with the rest, so that of an entry of k is k alone
                if n_rest > 0 or at == regions[f, k, 0] or side[at - 1] > 0:
                    side[at] = 0
                    size[at] = 0
                    n_ends[at] = 0
                    at += 1
                size[at - 1] += count[e]
                if n_rest == 0:
                    n_ends[at - 1] += 1
                else:
                    side[at] = 1
                    size[at] = n_rest
                    n_ends[at] = 1
                    at += 1
                regions[f, k, 1] = at
                done[0, k] = n_rows + n_here
                done[1, k] = n_values + 1
            n_rows += n_here
            n_values += 1
            first = last + 1
        for k in range(n_classes):
            if n_rows > done[0, k]:
                at = regions[f, k, 1]
                side[at] = 1
                size[at] = n_rows - done[0, k]
                n_ends[at] = n_values - done[1, k]
                regions[f, k, 1] = at + 1


@njit
def fill_tables(
    entries, bounds, done, logs, fixed, unit, step, costs, near, sides, tables, n_filled, n_bins
):
    """Fill the tables of `cut_regions` from the region `done` on; return the first without space.

    Work space: `near`, cuts that may be best, their S, ends of segments; `sides`, class counts.
    """
    n_classes, bit = tables.shape[1], unit * LN2 / step
    total, left, later = sides[0], sides[1], near[2]
    for region in range(done, bounds.shape[0]):
        f = region // (bounds.shape[0] // entries.shape[0])
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        n_before, n_later = n_filled, 1
        lo, later[0] = bounds[region, 0], bounds[region, 1]
        # the tables hold the segments before lo; later[:n_later] are the ends of the others, that
        # of the next segment last
        while n_later > 0:
            hi = later[n_later - 1]
            for k in range(n_classes):
                total[k] = 0
                left[k] = 0
            for e in range(lo, hi):
                total[cls[e]] += np.uint64(count[e])
            n, s, n_present, s_total = np.uint64(0), np.int64(0), 0, 0.0
            for k in range(n_classes):
                n += total[k]
                s += fixed_log(fixed, total[k], unit)
                s_total += log_of(logs, total[k])
                n_present += total[k] > 0
            s_whole, size = s - fixed_log(fixed, n, unit), np.float64(n)
            rows = size * step
            # the largest gap that rounding may hide, see above
            tolerance = np.int64((6 * n_classes + 16) * 2.0**-52 * log_of(logs, n) * unit)
            tolerance += 2 * n_classes + 4
            # s is the sum over both sides of L(class count) with the entries before e on the left;
            # the best cuts so far are the last ones in near, all within tolerance of the best at
            # their time
            best, least = _LOWEST, _LOWEST
            n_near, n_boundaries, n_left = 0, np.int64(0), np.uint64(0)
            stop = hi - 1 if n_present > 1 else lo
            for e in range(lo, stop):
                k = np.uint64(cls[e])
                t = np.uint64(count[e])
                a = left[k]
                b = total[k] - a
                s += fixed_log(fixed, a + t, unit) - fixed_log(fixed, a, unit)
                s += fixed_log(fixed, b - t, unit) - fixed_log(fixed, b, unit)
                left[k] = a + t
                n_left += t
                here = s - fixed_log(fixed, n_left, unit) - fixed_log(fixed, n - n_left, unit)
                n_boundaries += ends[e]
                if here >= least and ends[e] > 0:
                    if here - tolerance > best:
                        n_near = 0
                    if here > best:
                        best = here
                        least = here - tolerance
                    near[0, n_near] = e
                    near[1, n_near] = here
                    n_near += 1
            cut = np.int64(-1)
            if n_near > 0:
                # the last value has no boundary after it; an entry may stand for several values
                boundary_cost = math.log(n_boundaries + ends[hi - 1] - 1) / LN2
                model_cost = costs[n_present]
                price = boundary_cost + model_cost - 1e-3 - 1e-9 * rows
                if best - s_whole < bit * price + n_present * (s_whole / rows):
                    n_near = 0
                prior = -(s_total - log_of(logs, n)) / (size * LN2)
                for k in range(n_classes):
                    left[k] = 0
                e, smallest = lo, np.inf
                for q in range(n_near):
                    if near[1, q] < least:
                        continue
                    while e <= near[0, q]:
                        left[cls[e]] += np.uint64(count[e])
                        e += 1
                    n_left, s_left, s_right, k_left, k_right = np.uint64(0), 0.0, 0.0, 0, 0
                    for k in range(n_classes):
                        right = total[k] - left[k]
                        n_left += left[k]
                        s_left += log_of(logs, left[k])
                        s_right += log_of(logs, right)
                        k_left += left[k] > 0
                        k_right += right > 0
                    n_right = n - n_left
                    s_left -= log_of(logs, n_left)
                    s_both = s_left
                    for k in range(n_classes):
                        s_both += log_of(logs, total[k] - left[k])
                    l_right = log_of(logs, n_right)
                    entropy = -(s_both - l_right) / (size * LN2)
                    if entropy < smallest:
                        smallest = entropy
                        h_left = -s_left / (np.float64(n_left) * LN2)
                        h_right = -(s_right - l_right) / (np.float64(n_right) * LN2)
                        delta = n_present * prior - k_right * h_right - k_left * h_left
                        gain = prior - entropy
                        is_worth = gain > (boundary_cost + (model_cost - delta)) / rows
                        cut = e - 1 if is_worth and gain > 0.0 else np.int64(-1)
            if cut >= 0:
                later[n_later] = cut + 1
                n_later += 1
                continue
            if n_filled == tables.shape[0]:
                return region
            for k in range(n_classes):
                tables[n_filled, k] = total[k]
            n_filled += 1
            n_later -= 1
            lo = hi
        if n_filled == n_before + 1:
            n_filled = n_before  # one segment without a cut
        n_bins[region] = n_filled - n_before
    return bounds.shape[0]
