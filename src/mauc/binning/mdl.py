"""Sort columns and compress each into entries: values in order with their class counts.

An *entry* is a class and a number of rows of that class that share a value. The entries of a column
ascend with the value; those of one value stand together, one per class that has it, and the last
of them is marked. Everything that MDL needs to know about a column is in its entries.

Entries are int32 of shape (..., 3, room), with the rows

CLASS : class of the entry.
COUNT : number of rows, never 0.
ENDS : number of distinct values that end with the entry: 1 for the last entry of a value, 0 for the
    others. Entries of sub-problems may stand for several neighbouring values, see `mdl_binary`.
"""

import math

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.keys import (
    argsort_columns,
    label_bits_of,
    read_values,
    sort_keys,
    write_keys,
)
from mauc.engine.special import LN2

CLASS, COUNT, ENDS = 0, 1, 2


def sorted_columns(XT, y, n_classes):
    """Sort the columns of a block.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Columns, contiguous and read-only; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    n_classes : int

    Returns
    -------
    values : ndarray of shape (n_columns, n_samples), float64
        Known values of each column, ascending; the classes of one value come in any order.
    codes : ndarray of shape (n_columns, n_samples), int32
        Classes in that order.
    n_known : ndarray of shape (n_columns,), int64
    missing : ndarray of shape (n_columns, n_classes), int64
        Number of missing values of each class.
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


def make_entries(XT, y, n_classes):
    """Sort the columns of a block and compress them. Parameters are those of `sorted_columns`.

    Returns
    -------
    entries : ndarray of shape (n_columns, 3, n_samples), int32
    n_entries : ndarray of shape (n_columns,), int64
    values, missing
        As in `sorted_columns`.
    """
    values, codes, n_known, missing = sorted_columns(XT, y, n_classes)
    entries = np.empty((len(XT), 3, XT.shape[1]), np.int32)
    n_entries = np.empty(len(XT), np.int64)
    fill_entries(values, codes, n_known, np.empty(n_classes, np.int64), entries, n_entries)
    return entries, n_entries, values, missing


@njit(cache=True, nogil=True)
def fill_entries(values, codes, n_known, places, entries, n_entries):
    """Fill the entries of sorted columns; `places` is work space for every class."""
    for f in range(values.shape[0]):
        value, code = values[f], codes[f]
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        for k in range(places.shape[0]):
            places[k] = -1
        n_filled, first = 0, 0
        for i in range(n_known[f]):
            # the rows before i are in the first n_filled entries
            if i > 0 and value[i] != value[i - 1]:
                ends[n_filled - 1] = 1
                first = n_filled
            k = code[i]
            # class k has an entry of the current value if and only if its place is not below first
            place = places[k]
            if place < first:
                place = n_filled
                places[k] = place
                cls[place] = k
                count[place] = 0
                ends[place] = 0
                n_filled += 1
            count[place] += 1
        if n_filled > 0:
            ends[n_filled - 1] = 1
        n_entries[f] = n_filled


def spread_classes(entries, n_entries, n_classes, own):
    """Turn the entries of columns into those of every class against the rest.

    Parameters
    ----------
    entries : ndarray of shape (n_columns, 3, n_samples), int32
    n_entries : ndarray of shape (n_columns,), int64
    n_classes : int
    own : {0, 1}
        Number of the single class in its sub-problem; the rest has the other one.

    Returns
    -------
    spread : ndarray of shape (n_columns, 3, room), int32
        Entries of the sub-problems, one per block of one side and two per block of both.
    regions : ndarray of shape (n_columns, n_classes, 2), int64
        Where those of each class start and end.
    """
    n_columns = len(entries)
    # an entry becomes at most three: the rest before it, and a block of both sides
    room = 3 * int(n_entries.max(initial=0)) + n_classes
    spread = np.empty((n_columns, 3, room), np.int32)
    regions = np.empty((n_columns, n_classes, 2), np.int64)
    done = np.empty((2, n_classes), np.int64)
    fill_spread(entries, n_entries, np.int32(own), done, spread, regions)
    return spread, regions


@njit(cache=True, nogil=True)
def fill_spread(entries, n_entries, own, done, spread, regions):
    """Fill the arrays of `spread_classes`.

    ``done[0, k]`` rows and ``done[1, k]`` distinct values are in the entries of class k so far.
    """
    n_classes = regions.shape[1]
    rest = np.int32(1 - own)
    rows_done, values_done = done[0], done[1]
    for f in range(entries.shape[0]):
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        to_cls, to_count, to_ends = spread[f, CLASS], spread[f, COUNT], spread[f, ENDS]
        region = regions[f]
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
                n_own = count[e]
                place = region[k, 1]
                if n_rows > rows_done[k]:
                    to_cls[place] = rest
                    to_count[place] = n_rows - rows_done[k]
                    to_ends[place] = n_values - values_done[k]
                    place += 1
                if n_own < n_here:
                    to_cls[place] = own
                    to_count[place] = n_own
                    to_ends[place] = 0
                    to_cls[place + 1] = rest
                    to_count[place + 1] = n_here - n_own
                    to_ends[place + 1] = 1
                    place += 2
                elif place > region[k, 0] and to_cls[place - 1] == own:
                    # a block of both sides ends with the rest, so this one holds k alone
                    to_count[place - 1] += n_own
                    to_ends[place - 1] += 1
                else:
                    to_cls[place] = own
                    to_count[place] = n_own
                    to_ends[place] = 1
                    place += 1
                region[k, 1] = place
                rows_done[k], values_done[k] = n_rows + n_here, n_values + 1
            n_rows += n_here
            n_values += 1
            first = last + 1
        for k in range(n_classes):
            if n_rows > rows_done[k]:
                place = region[k, 1]
                to_cls[place] = rest
                to_count[place] = n_rows - rows_done[k]
                to_ends[place] = n_values - values_done[k]
                region[k, 1] = place + 1


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
        L in fixed point up to the number of rows, see `mauc.engine.special`.

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
