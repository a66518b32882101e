"""Grow a C4.5 tree on complete numeric data: every row counts one, so counts are integers.

Sorted columns in, a flat tree out. A node owns the same stretch ``[start, end)`` of every sorted
column; a split partitions the stretches stably, so no column is ever sorted again. An entry of a
sorted column is one integer, the rank of the value in the high bits and the row number in the low
ones: a node reads its stretches sequentially and never accesses the columns themselves.

The kernels allocate nothing: work space comes from Python, and where a tree outgrows its arrays
the kernel returns and is called again with larger ones. Allocations would take longer to compile
than the rest of them.
"""

import math

import numpy as np
from numba import njit

from mauc.classifiers.c45.nodes import (
    EPS,
    Tree,
    choose_column,
    goes_left,
    smallest_branch,
    snap_threshold,
)
from mauc.classifiers.c45.scan import ROW_MASK, gain_of_cut, pack_columns, scan_column
from mauc.numerics.log_table import LN2, log_table
from mauc.numerics.njit_part import njit_part

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
        From `sort_orders`; it is read, never changed.
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
        v log2 v up to the number of rows, see `mauc.numerics.log_table`.
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
