"""MDL discretisation of one column against many two-class sub-problems.

The `Runs` and `ClassLists` of a sorted column and the two sides of a sub-problem give the accepted
cuts. A sub-problem is first condensed into blocks: neighbouring distinct values that all belong to
one side form a block, a value with rows of both sides is a block of its own.

Only the boundaries between blocks can be best cuts (Fayyad & Irani): inside a block of one side S,
as a function of the rows moved, has second derivative
(1/a - 1/(a + z)) + (1/b - 1/(b + w)) > 0 (a, b rows of that side left and right, z, w rows of the
other side, z + w > 0), so that it is strictly convex and largest at an end of the block. Class k
against the rest has at most 2 n_k + 1 blocks, so all c sub-problems together cost about as much as
two passes over the column, not c.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from mauc.binning.mdl_cuts import is_worth_cutting, sort_cuts, split_entropy, tie_tolerance

Blocks = namedtuple("Blocks", ["n0", "n1", "values", "first", "last"])
"""Blocks of a two-class sub-problem, in ascending order of value.

n0, n1 : (n_blocks + 1,) int64, rows of either class below each block; n0[0] = n1[0] = 0.
values : (n_blocks + 1,) int64, distinct values of the sub-problem below each block.
first, last : (n_blocks,) int64, the runs of the column at the ends of each block.
"""


@njit(cache=True, nogil=True)
def empty_blocks(n):
    """Return work space for the blocks of a column of at most `n` known values."""
    return Blocks(
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@njit(cache=True, nogil=True)
def _add_value(mine, others, blocks, n_blocks, first, last, n_values, t_mine, t_others):
    """Append neighbouring values, or widen the last block if it holds only the same side.

    `mine` and `others` are ``blocks.n1`` and ``blocks.n0``, or vice versa. Returns the
    number of blocks.
    """
    is_new = n_blocks == 0 or (t_mine > 0 and t_others > 0)
    if not is_new:
        # the last block is widened only if all its rows are of the side of the new values
        last_mine = mine[n_blocks] - mine[n_blocks - 1]
        last_others = others[n_blocks] - others[n_blocks - 1]
        is_new = last_mine > 0 if t_others > 0 else last_others > 0
    if is_new:
        blocks.first[n_blocks] = first
        mine[n_blocks + 1] = mine[n_blocks]
        others[n_blocks + 1] = others[n_blocks]
        blocks.values[n_blocks + 1] = blocks.values[n_blocks]
        n_blocks += 1
    mine[n_blocks] += t_mine
    others[n_blocks] += t_others
    blocks.values[n_blocks] += n_values
    blocks.last[n_blocks - 1] = last
    return n_blocks


@njit(cache=True, nogil=True)
def block_class_against_rest(runs, n_runs, lists, k, own, blocks):
    """Fill `blocks` with class `k`, which becomes class `own` (0 or 1), against all other rows.

    Returns
    -------
    int
        Number of blocks.
    """
    mine = blocks.n1 if own == 1 else blocks.n0
    others = blocks.n0 if own == 1 else blocks.n1
    none = np.int64(0)
    n_blocks = np.int64(0)
    done = np.int64(0)
    # the first `done` runs are in the first n_blocks blocks
    for place in range(lists.start[k], lists.start[k + 1]):
        r = np.int64(lists.run[place])
        if r > done:
            rest = runs.rows[r] - runs.rows[done]
            n_blocks = _add_value(mine, others, blocks, n_blocks, done, r - 1, r - done, none, rest)
        t = np.int64(lists.count[place])
        rest = runs.rows[r + 1] - runs.rows[r] - t
        n_blocks = _add_value(mine, others, blocks, n_blocks, r, r, np.int64(1), t, rest)
        done = r + 1
    if done < n_runs:
        rest = runs.rows[n_runs] - runs.rows[done]
        n_blocks = _add_value(
            mine, others, blocks, n_blocks, done, n_runs - 1, n_runs - done, none, rest
        )
    return n_blocks


@njit(cache=True, nogil=True)
def block_class_pair(lists, k0, k1, blocks):
    """Fill `blocks` with the rows of class `k0` (class 0) and class `k1` (class 1).

    Returns
    -------
    int
        Number of blocks.
    """
    i, i_end = lists.start[k0], lists.start[k0 + 1]
    j, j_end = lists.start[k1], lists.start[k1 + 1]
    n_blocks = np.int64(0)
    far = np.int64(2**62)
    # the lists before i and j are in the first n_blocks blocks
    while i < i_end or j < j_end:
        r0 = np.int64(lists.run[i]) if i < i_end else far
        r1 = np.int64(lists.run[j]) if j < j_end else far
        r = min(r0, r1)
        t0 = np.int64(lists.count[i]) if r0 == r else np.int64(0)
        t1 = np.int64(lists.count[j]) if r1 == r else np.int64(0)
        i += r0 == r
        j += r1 == r
        n_blocks = _add_value(blocks.n1, blocks.n0, blocks, n_blocks, r, r, np.int64(1), t1, t0)
    return n_blocks


@njit(cache=True, nogil=True)
def _near_best_cuts(blocks, lo, hi, fixed, tolerance, s_of, near):
    """List, in ascending order, the blocks of a segment before which a cut may be the best."""
    n0, n1 = blocks.n0, blocks.n1
    below0, below1 = n0[lo], n1[lo]
    all0, all1 = n0[hi] - below0, n1[hi] - below1
    best = np.int64(-(2**62))
    for b in range(lo + 1, hi):
        z = np.uint64(n0[b] - below0)
        a = np.uint64(n1[b] - below1)
        w = np.uint64(all0) - z
        v = np.uint64(all1) - a
        here = (fixed[z] + fixed[a] - fixed[z + a]) + (fixed[w] + fixed[v] - fixed[w + v])
        s_of[b] = here
        best = max(best, here)
    least = best - tolerance
    n_near = 0
    for b in range(lo + 1, hi):
        if s_of[b] >= least:
            near[n_near] = b
            n_near += 1
    return n_near


@njit(cache=True, nogil=True)
def cut_blocks(blocks, n_blocks, logs, cuts, s_of, near):
    """Find the accepted cuts of a two-class sub-problem.

    Parameters
    ----------
    blocks : Blocks
    n_blocks : int
    logs : Logs
        Tables that reach the number of rows.
    cuts : ndarray of shape (>= n_blocks,), int64
        Filled with the block after each accepted cut, ascending.
    s_of, near : ndarray of shape (> n_blocks,), int64
        Work space.

    Returns
    -------
    int
        Number of cuts.
    """
    tolerance = tie_tolerance(logs, blocks.n0[n_blocks] + blocks.n1[n_blocks], np.int64(2))
    total = np.empty(2, np.int64)
    left = np.empty(2, np.int64)
    right = np.empty(2, np.int64)
    # the larger side stays on the stack while the smaller one is treated: 64 places suffice
    lows = np.empty(64, np.int64)
    highs = np.empty(64, np.int64)
    lows[0] = 0
    highs[0] = n_blocks
    depth = 1
    n_cuts = 0
    while depth > 0:
        depth -= 1
        lo = lows[depth]
        hi = highs[depth]
        total[0] = blocks.n0[hi] - blocks.n0[lo]
        total[1] = blocks.n1[hi] - blocks.n1[lo]
        if hi - lo < 2:
            continue
        n_near = _near_best_cuts(blocks, lo, hi, logs.fixed, tolerance, s_of, near)
        cut = -1
        best = np.inf
        for q in range(n_near):
            left[0] = blocks.n0[near[q]] - blocks.n0[lo]
            left[1] = blocks.n1[near[q]] - blocks.n1[lo]
            right[0] = total[0] - left[0]
            right[1] = total[1] - left[1]
            here = split_entropy(left, right, logs.vlogv)
            if here < best:
                best = here
                cut = near[q]
        left[0] = blocks.n0[cut] - blocks.n0[lo]
        left[1] = blocks.n1[cut] - blocks.n1[lo]
        right[0] = total[0] - left[0]
        right[1] = total[1] - left[1]
        n_boundaries = blocks.values[hi] - blocks.values[lo] - 1
        if not is_worth_cutting(total, left, right, n_boundaries, logs):
            continue
        cuts[n_cuts] = cut
        n_cuts += 1
        left_place, right_place = depth, depth + 1
        if cut - lo <= hi - cut:
            left_place, right_place = depth + 1, depth
        lows[left_place], highs[left_place] = lo, cut
        lows[right_place], highs[right_place] = cut, hi
        depth += 2
    sort_cuts(cuts, n_cuts)
    return n_cuts
