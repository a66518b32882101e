"""Every class of a column against the rest: entries of all of them in one passage.

Neighbouring distinct values that all belong to one side form a block, a value with rows of both
sides is a block of its own. Only the boundaries between blocks can be best cuts (Fayyad & Irani):
inside a block of one side S of `mdl_cuts`, as a function of the rows moved, has second derivative
(1/a - 1/(a + z)) + (1/b - 1/(b + w)) > 0 (a, b rows of that side left and right, z, w rows of the
other side, z + w > 0), so that it is strictly convex and largest at an end of the block. Class k
against the rest has at most 2 n_k + 1 blocks, so all c sub-problems together cost about as much as
two passes over the column, not c.
"""

import numpy as np
from numba import njit

from mauc.binning.value_runs import CLASS, COUNT, ENDS


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
