"""Prune a C4.5 tree of complete numeric data with unit weights: all counts are whole numbers.

Sums of whole numbers are exact, so rows may be visited in any order: each goes down the tree by
itself. The rows of a node are a stretch of one array, and its children's stretches are parts of it.
The descendants of a node have consecutive numbers, as `grow_complete` gives them.
"""

import numpy as np
from numba import njit

from mauc.classifiers.c45.descend import descend
from mauc.classifiers.c45.nodes import EPS, compact
from mauc.classifiers.c45.prune import TOLERATED_EXTRA_ERRORS, added_errors
from mauc.numerics.njit_part import njit_part


def prune_complete(tree, n_nodes, XT, y, confidence, z, raising):
    """Return the tree pruned bottom-up; parameters and rules are those of `prune_tree`."""
    n, n_classes = y.size, tree.counts.shape[1]
    begin, size, last, place = np.zeros((4, n_nodes), np.int64)
    size[0] = n
    nodes = (tree.feature, tree.threshold, tree.first_child, tree.counts)
    prune_stretches(
        XT, y, *nodes, np.arange(n), np.empty((2, n), np.int64), begin, size, last, place,
        np.zeros(n_nodes, np.bool_), np.empty(n_nodes), np.zeros((n_nodes, n_classes)),
        confidence, z, raising,
    )  # fmt: skip
    is_leaf = tree.feature < 0
    tree.threshold[is_leaf] = np.nan
    tree.n_children[is_leaf] = 0
    return compact(tree)


@njit_part
def leaf_errors(counts, extra, t, confidence, z):
    """Return the pessimistic errors of node `t` as a leaf, with extra rows."""
    total, largest = 0.0, 0.0
    for c in range(counts.shape[1]):
        total += counts[t, c] + extra[t, c]
        largest = max(largest, counts[t, c] + extra[t, c])
    return total - largest + added_errors(total, total - largest, confidence, z)


@njit_part
def send_rows(
    XT, y, feature, threshold, first_child, counts, rows, spare, begin, size, place, is_waiting,
    root, last,
):  # fmt: skip
    """Send the rows of `root` to its descendants, the last of which is `last`; mark them all."""
    is_waiting[root] = True
    first = last + 1 if feature[root] < 0 else first_child[root]
    for j in range(first - 1, last + 1):
        t = root if j < first else j
        place[t] = 0
        if is_waiting[t]:
            if feature[t] >= 0:
                is_waiting[first_child[t]] = is_waiting[first_child[t] + 1] = True
            for c in range(counts.shape[1]):
                counts[t, c] = 0.0
    start, end = begin[root], begin[root] + size[root]
    for i in range(start, end):
        leaf = descend(XT, rows[i], feature, threshold, first_child, root)
        counts[leaf, y[rows[i]]] += 1.0
        place[leaf] += 1
        spare[0, i], spare[1, i] = rows[i], leaf
    for j in range(last, first - 2, -1):
        t = root if j < first else j
        if is_waiting[t]:
            size[t] = place[t]
            if feature[t] >= 0:
                child = first_child[t]
                size[t] = size[child] + size[child + 1]
                for c in range(counts.shape[1]):
                    counts[t, c] = counts[child, c] + counts[child + 1, c]
    for j in range(first - 1, last + 1):
        t = root if j < first else j
        place[t] = begin[t]
        if is_waiting[t] and feature[t] >= 0:
            child = first_child[t]
            begin[child] = begin[t]
            begin[child + 1] = begin[t] + size[child]
    for i in range(start, end):
        leaf = spare[1, i]
        rows[place[leaf]] = spare[0, i]
        place[leaf] += 1


@njit_part
def raised_errors(
    XT, y, feature, threshold, first_child, counts, rows, start, end, branch, extra, stack,
    confidence, z,
):  # fmt: skip
    """Return the estimated errors of a branch if it gets the rows ``[start, end)``, too."""
    for i in range(start, end):
        leaf = descend(XT, rows[i], feature, threshold, first_child, branch)
        extra[leaf, y[rows[i]]] += 1.0
    # leaves from left to right: the order of the additions is part of the result
    stack[0] = branch
    n_waiting = 1
    errors = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        t = stack[n_waiting]
        if feature[t] >= 0:
            stack[n_waiting], stack[n_waiting + 1] = first_child[t] + 1, first_child[t]
            n_waiting += 2
            continue
        errors += leaf_errors(counts, extra, t, confidence, z)
        for c in range(counts.shape[1]):
            extra[t, c] = 0.0
    return errors


@njit(cache=True, nogil=True, error_model="numpy")
def prune_stretches(
    XT, y, feature, threshold, first_child, counts, rows, spare, begin, size, last, place,
    is_waiting, errors, extra, confidence, z, raising,
):  # fmt: skip
    """Prune in place; nodes that are cut off stay in the arrays.

    Parameters
    ----------
    XT, y, confidence, z, raising
        As in `prune_tree`.
    feature, threshold, first_child, counts
        Arrays of the tree; the thresholds of new leaves are not changed.
    rows : int64 ndarray of shape (n,)
        Every row once; permuted.
    begin, size : int64 ndarrays of shape (n_nodes,)
        The rows of node t are ``rows[begin[t] : begin[t] + size[t]]``; given for the root.
    last : int64 ndarray of shape (n_nodes,)
        Work space: the last descendant of each node.
    spare, place, errors : ndarrays of shapes (2, n), (n_nodes,) and (n_nodes,)
        Work space.
    is_waiting : bool ndarray of shape (n_nodes,)
        All False. The nodes still to be pruned, children before parents.
    extra : float64 ndarray of shape (n_nodes, n_classes)
        All 0. Counts of rows that a raised branch would get.
    """
    for t in range(errors.size - 1, -1, -1):
        last[t] = t
        if feature[t] >= 0:
            last[t] = max(last[first_child[t]], last[first_child[t] + 1])
    tolerated = TOLERATED_EXTRA_ERRORS + EPS
    t, is_new = 0, True
    while t >= 0:
        if is_new:
            send_rows(
                XT, y, feature, threshold, first_child, counts, rows, spare, begin, size, place,
                is_waiting, t, last[t],
            )  # fmt: skip
            t, is_new = last[t], False
        if is_waiting[t]:
            is_waiting[t] = False
            errors[t] = leaf_errors(counts, extra, t, confidence, z)
            if feature[t] >= 0:
                child = np.int64(first_child[t])
                tree_errors = errors[child] + errors[child + 1]
                # the larger branch, the second of equals
                branch, other = child, child + 1
                if size[child] <= size[child + 1]:
                    branch, other = other, branch
                branch_errors = np.inf
                if raising:
                    branch_errors = raised_errors(
                        XT, y, feature, threshold, first_child, counts, rows, begin[other],
                        begin[other] + size[other], branch, extra, place, confidence, z,
                    )  # fmt: skip
                if min(tree_errors, branch_errors) + tolerated > errors[t]:
                    feature[t] = -1
                elif branch_errors < tree_errors + tolerated:
                    feature[t], threshold[t] = feature[branch], threshold[branch]
                    first_child[t] = first_child[branch]
                    is_new = True
                    continue
                else:
                    errors[t] = tree_errors
        t -= 1
