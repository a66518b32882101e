"""Find the best cut of a sorted column when every row counts one.

An entry of a sorted column is one integer, the rank of the value in the high bits and the row
number in the low ones. Entropies are sums of v log2 v over integer counts, looked up in a table in
fixed point.
"""

import math

import numpy as np
from numba import njit

from mauc.classifiers.c45.nodes import EPS, GAP
from mauc.numerics.log_table import LN2
from mauc.numerics.njit_part import njit_part

ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1


@njit(cache=True, nogil=True)
def pack_columns(XT, order, columns, entries, is_close):
    """Fill ``entries[a]`` with rank << ROW_BITS | row of column ``columns[a]``, sorted.

    Equal values have equal ranks. ``is_close[a]`` becomes whether two different values are within
    `GAP` of each other: then the ranks do not tell where a cut is admissible.
    """
    for a in range(columns.size):
        x, rows = XT[columns[a]], order[columns[a]]
        rank = np.int64(0)
        has_close_values = False
        below = np.float64(x[rows[0]])
        for i in range(rows.size):
            value = np.float64(x[np.uint32(rows[i])])
            if value != below:
                rank += 1
                has_close_values |= not below + GAP < value
                below = value
            entries[a, i] = (rank << ROW_BITS) | rows[i]
        is_close[a] = has_close_values


@njit_part
def scan_column(x, has_close_values, stretch, y, total, left, fixed, step, margin, n_min):
    """Find the best cut of one sorted column at one node.

    Parameters
    ----------
    x, has_close_values : ndarray of shape (n,) and bool
        The column; it is read only if some of its values are close.
    stretch : int64 ndarray of shape (size,)
        The packed rows of the node by ascending value.
    y : uint16 ndarray of shape (n,)
    total : int64 ndarray of shape (n_classes,)
        Class counts of the node.
    left : int64 ndarray of shape (n_classes,)
        Work space.
    fixed : int64 ndarray
        f(v) = v log2 v in fixed point, see `mauc.numerics.log_table.log_table`.
    step : int64 ndarray
        ``fixed[v + 1] - fixed[v]``.
    margin : int
        By how much a later cut must be better to replace the best: ``EPS * size`` in fixed point.
    n_min : int
        Minimum number of rows of a branch.

    Returns
    -------
    n_left : int
        Rows left of the best cut; 0 if no cut gains anything.
    n_cuts : int
        Admissible cuts, for the correction log2(n_cuts) / size.
    fixed_gain : int
        Entropy that the best cut saves, times size, in fixed point.

    Notes
    -----
    With f(v) = v log2 v, the cut's weighted entropy is f(n_L) + f(n_R) - s where s sums f over the
    classes left and right. Moving a row of class c with a rows already left changes s by
    step[a] - step[total[c] - a - 1]: two table look-ups, no logarithm.
    """
    # np.uint32(entry) is the row; unsigned indices need no test for being negative.
    size = stretch.size
    s = np.int64(0)
    for c in range(total.size):
        left[c] = 0
        s += fixed[total[c]]
    unsplit = s - fixed[size]  # minus the node's own entropy: a cut must be larger
    best, best_left, n_cuts = unsplit, 0, 0
    for i in range(n_min - 1):
        c = np.uint32(y[np.uint32(stretch[i])])
        a = left[c]
        left[c] = a + 1
        s += step[np.uint32(a)] - step[np.uint32(total[c] - a - 1)]
    here = stretch[n_min - 1]
    for i in range(n_min - 1, size - n_min):
        # rows stretch[:i] are left, entry `here` = stretch[i] now joins them
        c = np.uint32(y[np.uint32(here)])
        a = left[c]
        left[c] = a + 1
        s += step[np.uint32(a)] - step[np.uint32(total[c] - a - 1)]
        following = stretch[i + 1]
        is_cut = (here ^ following) > ROW_MASK
        if has_close_values and is_cut:
            is_cut = np.float64(x[np.uint32(here)]) + GAP < np.float64(x[np.uint32(following)])
        n_cuts += is_cut
        candidate = s - fixed[np.uint32(i + 1)] - fixed[np.uint32(size - i - 1)]
        # `&`, not `and`: is_cut is unpredictable, a better cut is rare, so one branch is enough
        if is_cut & (candidate - best > margin):
            best, best_left = candidate, i + 1
        here = following
    return best_left, n_cuts, best - unsplit


@njit_part
def gain_of_cut(saved, size, n_left, n_cuts, logs):
    """Return the corrected gain and the gain ratio of a cut that saves entropy `saved` / size.

    gain = saved / size - log2(n_cuts) / size, invalid (returned as -1) if not positive;
    ratio = gain / (split information), 0 if that vanishes.
    """
    gain = saved / size - math.log(n_cuts) / LN2 / size
    if gain < EPS:
        return -1.0, 0.0
    information = -logs[n_left] - logs[size - n_left] + logs[size]
    if information < EPS:
        return gain, 0.0
    return gain, gain / (information / size)
