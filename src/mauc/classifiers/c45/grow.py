"""Find the best cut of a sorted column when every row counts one.

An entry of a sorted column is one integer, the rank of the value in the high bits and the row
number in the low ones. Entropies are sums of v log2 v over integer counts, looked up in a table in
fixed point.
"""

import math

import numpy as np

from mauc.classifiers.c45.nodes import (
    EPS,
    GAP,
    Tree,
    choose_column,
    goes_left,
    smallest_branch,
    snap_threshold,
)
from mauc.compile import njit, njit_part
from mauc.engine.special import LN2, log_table

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
        f(v) = v log2 v in fixed point, see `mauc.engine.special.log_table`.
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


_FIRST_CAPACITY = 256  # nodes


@njit_part
def partition_stretch(stretch, is_left, buffer):
    """Move the rows that go left to the front; both sides keep their order."""
    n_left, n_right = np.uint32(0), np.uint32(0)
    for i in range(stretch.size):
        # stretch[:n_left] and buffer[:n_right] hold the first i entries; of the two writes that
        # follow, only one is kept
        entry = stretch[i]
        side = np.uint32(is_left[np.uint32(entry)])
        stretch[n_left] = entry
        buffer[n_right] = entry
        n_left += side
        n_right += np.uint32(1) - side
    for i in range(n_right):
        stretch[n_left + i] = buffer[i]


def grow_complete(XT, y, n_classes, order, columns, min_leaf):
    """Grow the unpruned tree of complete numeric data with unit weights.

    Parameters
    ----------
    XT : read-only ndarray of shape (n_features, n)
    y : int32 ndarray of shape (n,)
        Class codes; `n_classes` counts also the classes without rows.
    order : int32 ndarray of shape (n_features, n)
        From `argsort_columns`; it is read, never changed.
    columns : int32 ndarray of shape (k,)
        The columns the tree may use, in the order in which ties are broken.
    min_leaf : float

    Returns
    -------
    tree : Tree
        With room for more nodes; the first `n_nodes` are in use. The shares are not set.
    n_nodes : int
    """
    n, k = y.size, columns.size
    entries, is_close = np.empty((k, n), np.int64), np.empty(k, np.bool_)
    pack_columns(XT, order, columns, entries, is_close)
    logs, fixed, scale = log_table(n, LN2)
    data = (XT, y.astype(np.uint16), order, columns, entries, is_close, logs, fixed, np.diff(fixed))
    work = (
        np.empty((2, k)), np.empty(k, np.bool_), np.empty(k, np.int64), np.arange(k),
        np.empty((2, n_classes), np.int64), np.empty(n, np.bool_), np.empty(n, np.int64),
    )  # fmt: skip
    # Nodes to split, see `grow_nodes`: at most one per row.
    stack = np.empty((n + 2, 4), np.int64)
    stack[0] = 0, 0, n, k
    top, n_nodes = 1, 1
    tree = _enlarge(None, 0, min(_FIRST_CAPACITY, 2 * n + 1), n_classes)
    tree.counts[0] = np.bincount(y, minlength=n_classes)
    while True:
        nodes = (tree.feature, tree.threshold, tree.first_child, tree.counts)
        top, n_nodes = grow_nodes(*data, scale, min_leaf, *work, stack, top, n_nodes, *nodes)
        if top == 0:
            break
        tree = _enlarge(tree, n_nodes, 4 * n_nodes, n_classes)
    tree.n_children[tree.feature >= 0] = 2
    return tree, n_nodes


def _enlarge(tree, n_nodes, capacity, n_classes):
    """Return a tree with room for `capacity` nodes; the first `n_nodes` are those of `tree`."""
    larger = Tree(
        np.full(capacity, -1, np.int32), np.full(capacity, np.nan), np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32), np.ones(capacity), np.zeros((capacity, n_classes)),
    )  # fmt: skip
    if tree is not None:
        for old, new in zip(tree, larger, strict=True):
            new[:n_nodes] = old[:n_nodes]
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
def grow_nodes(
    XT, class_of, order, columns, entries, is_close, logs, fixed, step, scale, min_leaf,
    gains, is_valid, n_left_of, live, class_counts, is_left, buffer,
    stack, top, n_nodes, feature, threshold, first_child, counts,
):  # fmt: skip
    """Split the nodes on the stack and their descendants, as far as there is room for nodes.

    Parameters
    ----------
    XT, order, columns, min_leaf
        As in `grow_complete`.
    class_of : uint16 ndarray of shape (n,)
        Class codes.
    entries, is_close
        From `pack_columns`.
    logs, fixed, scale
        v log2 v up to the number of rows, see `mauc.engine.special`.
    step : int64 ndarray of shape (n,)
        ``fixed[v + 1] - fixed[v]``.
    gains : float64 ndarray of shape (2, k)
        Work space: gains and gain ratios of the columns at a node.
    is_valid, n_left_of : bool and int64 ndarrays of shape (k,)
        Work space: whether a column has a cut, and the rows left of it.
    live : int64 ndarray of shape (k,)
        A permutation of the columns, see the stack.
    class_counts : int64 ndarray of shape (2, n_classes)
        Work space: class counts of the node and left of a cut.
    is_left, buffer : bool and int64 ndarrays of shape (n,)
        Work space.
    stack, top : int64 ndarray of shape (n + 2, 4) and int
        Nodes to split: (node, start, end, number of live columns). ``live[:n_live]`` are the
        columns that still vary at the node; its subtree only permutes them among themselves.
    n_nodes : int
    feature, threshold, first_child, counts
        Arrays of the tree.

    Returns
    -------
    top, n_nodes : int
        Nodes still to be split, for which there is no room, and nodes of the tree.
    """
    gain, ratio = gains[0], gains[1]
    total, left = class_counts[0], class_counts[1]
    while top > 0 and n_nodes + 2 <= feature.size:
        top -= 1
        node, start, end, n_live = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        size = end - start
        largest_class = 0.0
        for c in range(total.size):
            total[c] = np.int64(counts[node, c])
            largest_class = max(largest_class, counts[node, c])
        if 2.0 * min_leaf - size > EPS or size - largest_class < EPS:
            continue
        min_rows = smallest_branch(np.float64(size), total.size, min_leaf)
        if 2.0 * min_rows - size > EPS:
            continue
        n_min = max(1, np.int64(math.ceil(min_rows - EPS)))
        margin = np.int64(math.floor(EPS * size * scale))

        for a in range(is_valid.size):
            is_valid[a] = False
        b = 0
        while b < n_live:
            # the columns live[:b] are scanned and vary, live[n_live:] are constant at this node
            a = live[b]
            if (entries[a, start] ^ entries[a, end - 1]) <= ROW_MASK:
                n_live -= 1
                live[b] = live[n_live]
                live[n_live] = a
                continue
            b += 1
            n_left, n_cuts, fixed_gain = scan_column(
                XT[columns[a]], is_close[a], entries[a, start:end], class_of, total, left, fixed,
                step, margin, n_min,
            )  # fmt: skip
            if n_left == 0:
                continue
            gain[a], ratio[a] = gain_of_cut(fixed_gain / scale, size, n_left, n_cuts, logs)
            n_left_of[a] = n_left
            is_valid[a] = gain[a] > 0.0
        best = choose_column(gain, ratio, is_valid, is_valid)
        if best < 0:
            continue

        x = XT[columns[best]]
        stretch = entries[best, start:end]
        lower = np.float64(x[np.uint32(stretch[n_left_of[best] - 1])])
        upper = np.float64(x[np.uint32(stretch[n_left_of[best]])])
        midpoint = (lower + upper) / 2.0
        if midpoint == upper:
            midpoint = lower
        cut = snap_threshold(x, order[columns[best]], midpoint)

        n_left = 0
        for i in range(size):
            row = np.uint32(stretch[i])
            is_left[row] = goes_left(np.float64(x[row]), cut)
            n_left += is_left[row]
        if n_left == 0 or n_left == size:
            continue  # the values at the cut are within EPS of another training value

        feature[node], threshold[node], first_child[node] = columns[best], cut, n_nodes
        for i in range(size):
            row = np.uint32(stretch[i])
            counts[n_nodes + 1 - is_left[row], class_of[row]] += 1.0
        if max(n_left, size - n_left) >= 2.0 * min_leaf - EPS:
            for b in range(n_live):
                partition_stretch(entries[live[b], start:end], is_left, buffer)
        for side in range(2):
            # the left child is on top of the stack
            stack[top + side, 0] = n_nodes + 1 - side
            stack[top + side, 1] = start + n_left if side == 0 else start
            stack[top + side, 2] = end if side == 0 else start + n_left
            stack[top + side, 3] = n_live
        top += 2
        n_nodes += 2
    return top, n_nodes
