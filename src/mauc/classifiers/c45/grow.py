"""Grow a C4.5 tree on complete numeric data: every row counts one, so counts are integers.

Sorted columns in, a flat tree out. A node owns the same stretch ``[start, end)`` of every sorted
column; a split partitions the stretches stably, so no column is ever sorted again. An entry of a
sorted column is one integer, the rank of the value in the high bits and the row number in the low
ones: a node reads its stretches sequentially and never accesses the columns themselves.
"""

import math

import numpy as np
from numba import njit

from mauc.classifiers.c45.nodes import (
    EPS,
    choose_column,
    goes_left,
    new_tree,
    reserve_nodes,
    smallest_branch,
    snap_threshold,
)
from mauc.classifiers.c45.scan import ROW_MASK, gain_of_cut, pack_column, scan_column
from mauc.numerics.njit_part import njit_part


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


@njit(cache=True, nogil=True)
def grow_complete(XT, y, n_classes, order, columns, min_leaf, class_of, logs, fixed, scale):
    """Grow the unpruned tree of complete numeric data with unit weights.

    Parameters
    ----------
    XT : read-only ndarray of shape (n_features, n)
    y : int32 ndarray of shape (n,)
        Class codes; `n_classes` counts also the classes without rows.
    order : int32 ndarray of shape (n_features, n)
        From `sort_orders`; it is read, never changed.
    columns : int32 ndarray of shape (k,)
        The columns the tree may use, in the order in which ties are broken.
    min_leaf : float
    class_of : uint16 ndarray of shape (n,)
        The class codes once more.
    logs, fixed, scale
        v log2 v up to the number of rows, see `mauc.numerics.log_table`.

    Returns
    -------
    tree : Tree
        With room for more nodes; the first `n_nodes` are in use.
    n_nodes : int
    """
    n, k = y.size, columns.size
    # few signatures of np.zeros for all work space: each one is compiled separately
    entries = np.zeros((k, n), np.int64)
    has_close_values = np.zeros(k, np.bool_)
    for a in range(k):
        has_close_values[a] = pack_column(XT[columns[a]], order[columns[a]], entries[a])
    step = np.zeros(n, np.int64)
    for v in range(n):
        step[v] = fixed[v + 1] - fixed[v]
    gain, ratio = np.zeros(k), np.zeros(k)
    n_left_of, live = np.zeros(k, np.int64), np.zeros(k, np.int64)
    is_valid, in_mean = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
    for a in range(k):
        live[a], in_mean[a] = a, True
    is_left = np.zeros(n, np.bool_)
    buffer = np.zeros(n, np.int64)
    total, left = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)

    # np.int64: a literal argument would compile the callee once more
    tree = new_tree(np.int64(64), n_classes)
    for i in range(n):
        tree.counts[0, y[i]] += 1.0
    n_nodes = np.int64(1)
    # Nodes to split: (node, start, end, number of live columns). live[:n_live] are the columns that
    # still vary at the node; its subtree only permutes them among themselves.
    stack = np.zeros((n + 2, 4), np.int64)
    stack[0, 2], stack[0, 3] = n, k
    top = 1
    while top > 0:
        top -= 1
        node, start, end, n_live = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        size = end - start
        largest_class = 0.0
        for c in range(n_classes):
            total[c] = np.int64(tree.counts[node, c])
            largest_class = max(largest_class, tree.counts[node, c])
        if 2.0 * min_leaf - size > EPS or size - largest_class < EPS:
            continue
        min_rows = smallest_branch(np.float64(size), n_classes, min_leaf)
        if 2.0 * min_rows - size > EPS:
            continue
        n_min = max(1, np.int64(math.ceil(min_rows - EPS)))
        margin = np.int64(math.floor(EPS * size * scale))

        for a in range(k):
            is_valid[a] = False
        b = 0
        while b < n_live:
            # the columns live[:b] are scanned and vary, live[n_live:] are constant at this node
            a = live[b]
            x = XT[columns[a]]
            stretch = entries[a, start:end]
            if (stretch[0] ^ stretch[size - 1]) <= ROW_MASK:
                n_live -= 1
                live[b] = live[n_live]
                live[n_live] = a
                continue
            b += 1
            n_left, n_cuts, fixed_gain = scan_column(
                x, has_close_values[a], stretch, class_of, total, left, fixed, step, margin, n_min
            )
            if n_left == 0:
                continue
            gain[a], ratio[a] = gain_of_cut(fixed_gain / scale, size, n_left, n_cuts, logs)
            n_left_of[a] = n_left
            is_valid[a] = gain[a] > 0.0
        best = choose_column(gain, ratio, in_mean, is_valid)
        if best < 0:
            continue

        x = XT[columns[best]]
        stretch = entries[best, start:end]
        lower = np.float64(x[np.uint32(stretch[n_left_of[best] - 1])])
        upper = np.float64(x[np.uint32(stretch[n_left_of[best]])])
        midpoint = (lower + upper) / 2.0
        if midpoint == upper:
            midpoint = lower
        threshold = snap_threshold(x, order[columns[best]], midpoint)

        n_left = 0
        for i in range(size):
            row = np.uint32(stretch[i])
            is_left[row] = goes_left(np.float64(x[row]), threshold)
            n_left += is_left[row]
        if n_left == 0 or n_left == size:
            continue  # the values at the cut are within EPS of another training value

        tree = reserve_nodes(tree, n_nodes, np.int64(2))
        tree.feature[node] = columns[best]
        tree.threshold[node] = threshold
        tree.first_child[node] = n_nodes
        tree.n_children[node] = 2
        for i in range(size):
            row = np.uint32(stretch[i])
            tree.counts[n_nodes + 1 - is_left[row], y[row]] += 1.0
        tree.share[n_nodes] = n_left / size
        tree.share[n_nodes + 1] = (size - n_left) / size
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
    return tree, n_nodes
