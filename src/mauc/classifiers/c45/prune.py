"""Collapse and prune a grown C4.5 tree: pessimistic errors, subtree raising.

Nodes are visited depth first, and the training rows are routed along in one `Rows` store.
"""

import math

import numpy as np
from numba import njit

from mauc.classifiers.c45.nodes import AVERAGE_SLACK, EPS, compact, copy_node, make_leaf
from mauc.classifiers.c45.route import Rows, measure_shares, split_rows
from mauc.numerics.njit_part import njit_part

TOLERATED_EXTRA_ERRORS = 0.1


@njit(cache=True, nogil=True)
def added_errors(n, e, confidence, z):
    """Return the errors to add to `e` errors among `n` rows for the upper confidence bound.

    With f = (e + 1/2) / n: n (f + z^2/2n + z sqrt(f/n - f^2/n + z^2/4n^2)) / (1 + z^2/n) - e, the
    normal approximation; below one error it is interpolated from the exact n (1 - confidence^(1/n))
    for e = 0.
    """
    base = 0.0
    fraction = 1.0
    if e < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if e == 0.0:
            return base
        fraction, e = e, 1.0
    if e + 0.5 >= n:
        bound = max(n - e, 0.0)
    else:
        f = (e + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
        bound = (f + z * z / (2.0 * n) + z * root) / (1.0 + z * z / n) * n - e
    return base + fraction * (bound - base)


@njit_part
def estimated_errors(counts, confidence, z):
    """Return the pessimistic errors of a leaf with these class counts."""
    total, largest = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        largest = max(largest, counts[c])
    if total < EPS:
        return 0.0
    return total - largest + added_errors(total, total - largest, confidence, z)


def collapse(tree, n_nodes):
    """Make a leaf of every node whose subtree makes no fewer training errors than a leaf."""
    total, largest = np.zeros(n_nodes), np.zeros(n_nodes)
    for weights in tree.counts[:n_nodes].T:  # not `sum`: the order of the additions is part of it
        total += weights
        np.maximum(largest, weights, out=largest)
    own = (total - largest).tolist()
    errors = own.copy()
    n_children, first_child = tree.n_children.tolist(), tree.first_child.tolist()
    leaves = []
    # children come after their parent, so the errors of all children are known
    for t in reversed(np.flatnonzero(tree.n_children[:n_nodes]).tolist()):
        below = 0.0
        for child in range(first_child[t], first_child[t] + n_children[t]):
            below += errors[child]
        errors[t] = below
        if below >= own[t] - AVERAGE_SLACK:
            leaves.append(t)
    tree.feature[leaves], tree.threshold[leaves] = -1, np.nan
    tree.first_child[leaves], tree.n_children[leaves] = 0, 0


@njit_part
def redistribute(tree, root, XT, y, rows, start, end, top, share, buffer, confidence, z, keep):
    """Send a stretch of rows through the subtree at `root`.

    Returns the store, which may have moved, and the estimated errors of the leaves with these rows.
    If `keep`, the class counts and shares of the subtree become those of these rows.
    """
    n_children_of, first_child = tree.n_children, tree.first_child
    counts_of, share_of = tree.counts, tree.share
    max_children = share.size
    bounds = np.zeros(max_children + 1, np.int64)
    counts = np.zeros(counts_of.shape[1])
    stack = np.zeros((8 * (max_children + 1), 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = root, start, end
    n_waiting = 1
    errors = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        t, first, last = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        n_children = n_children_of[t]
        if keep or n_children == 0:
            for c in range(counts.size):
                counts[c] = 0.0
            for i in range(first, last):
                counts[y[rows.row[i]]] += rows.weight[i]
            if keep:
                for c in range(counts.size):
                    counts_of[t, c] = counts[c]
        if n_children == 0:
            errors += estimated_errors(counts, confidence, z)
            continue
        measure_shares(tree, t, XT, rows, first, last, share)
        if keep:
            for v in range(n_children):
                share_of[first_child[t] + v] = share[v]
        rows, top = split_rows(tree, t, XT, rows, first, last, top, share, bounds, buffer)
        if n_waiting + n_children > stack.shape[0]:
            larger = np.zeros((2 * (n_waiting + n_children), 3), np.int64)
            for i in range(n_waiting):
                for j in range(3):
                    larger[i, j] = stack[i, j]
            stack = larger
        for v in range(n_children - 1, -1, -1):
            stack[n_waiting, 0] = first_child[t] + v
            stack[n_waiting, 1], stack[n_waiting, 2] = bounds[v], bounds[v + 1]
            n_waiting += 1
    return rows, errors


@njit_part
def largest_child(tree, t):
    """Return the child of largest weight, the last of equals."""
    total = 0.0
    for c in range(tree.counts.shape[1]):
        total += tree.counts[t, c]
    best, largest = 0, 0.0
    for v in range(tree.n_children[t]):
        bag = tree.share[tree.first_child[t] + v] * total
        if largest - bag < EPS:
            best, largest = v, bag
    return tree.first_child[t] + best


def prune_tree(tree, n_nodes, XT, y, weight, confidence, z, raising):
    """Return the tree pruned bottom-up.

    A node whose children are pruned becomes a leaf if its estimated errors exceed by at most 0.1
    those of the subtree and those of its largest branch with all rows of the node; else the branch
    replaces the node if its errors exceed those of the subtree by at most 0.1, and the node is
    pruned again.

    Parameters
    ----------
    tree, n_nodes : grown, collapsed tree
    XT, y, weight : the rows it was grown on
    confidence, z : float
        Confidence of the pessimistic bound and the normal quantile of 1 - confidence.
    raising : bool
        Whether a branch may replace its parent.
    """
    prune_nodes(tree, n_nodes, XT, y, weight, confidence, z, raising)
    return compact(tree)


@njit(cache=True, nogil=True)
def prune_nodes(tree, n_nodes, XT, y, weight, confidence, z, raising):
    """Prune in place, see `prune_tree`; nodes that are cut off stay in the arrays."""
    n_children_of, first_child = tree.n_children, tree.first_child
    counts_of, share_of = tree.counts, tree.share
    n = y.size
    rows = Rows(np.zeros(n, np.int32), np.zeros(n))
    buffer = Rows(np.zeros(n, np.int32), np.zeros(n))
    for i in range(n):
        rows.row[i], rows.weight[i] = i, weight[i]
    max_children = 1
    for t in range(n_nodes):
        max_children = max(max_children, n_children_of[t])
    bounds = np.zeros(max_children + 1, np.int64)
    share = np.zeros(max_children)
    begin_of, end_of = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    errors_of = np.zeros(n_nodes)
    end_of[0] = n
    # Frames: (node, next child to visit (-1: rows not yet sent down), free place before the node).
    stack = np.zeros((n_nodes + 1, 3), np.int64)
    stack[0, 1], stack[0, 2] = -1, n
    top, depth = n, 1
    while depth > 0:
        t = stack[depth - 1, 0]
        start, end = begin_of[t], end_of[t]
        n_children = n_children_of[t]
        child = stack[depth - 1, 1]
        if n_children == 0:
            errors_of[t] = estimated_errors(counts_of[t], confidence, z)
            top = stack[depth - 1, 2]
            depth -= 1
            continue
        if child < 0:
            for v in range(n_children):
                share[v] = share_of[first_child[t] + v]
            rows, top = split_rows(tree, t, XT, rows, start, end, top, share, bounds, buffer)
            for v in range(n_children):
                begin_of[first_child[t] + v] = bounds[v]
                end_of[first_child[t] + v] = bounds[v + 1]
            child = 0
        if child < n_children:
            stack[depth - 1, 1] = child + 1
            stack[depth, 0] = first_child[t] + child
            stack[depth, 1], stack[depth, 2] = -1, top
            depth += 1
            continue

        # the children are pruned; their rows are no longer needed
        top = stack[depth - 1, 2]
        leaf_errors = estimated_errors(counts_of[t], confidence, z)
        tree_errors = 0.0
        for v in range(n_children):
            tree_errors += errors_of[first_child[t] + v]
        branch = largest_child(tree, t)
        branch_errors = np.inf
        if raising:
            rows, branch_errors = redistribute(
                tree, branch, XT, y, rows, start, end, top, share, buffer, confidence, z,
                np.bool_(False),
            )  # fmt: skip
        tolerated = TOLERATED_EXTRA_ERRORS + EPS
        if leaf_errors < tree_errors + tolerated and leaf_errors < branch_errors + tolerated:
            make_leaf(tree, t)
        elif branch_errors < tree_errors + tolerated:
            copy_node(tree, branch, tree, t)
            rows, _ = redistribute(
                tree, t, XT, y, rows, start, end, top, share, buffer, confidence, z, np.bool_(True)
            )
            stack[depth - 1, 1] = -1
            continue
        errors_of[t] = tree_errors
        if n_children_of[t] == 0:
            errors_of[t] = leaf_errors
        depth -= 1
