"""Prune C4.5 trees bottom-up, in place, by the rule of docs/methods/classifiers.md.

Weighted rows are sent depth first through one store; nodes that are cut off stay in the arrays.
"""

import math
from typing import NamedTuple

import numpy as np

from mauc.compile import njit, njit_part
from mauc.lab.c45.tree import AVERAGE_SLACK, EPS, Tree, branch_of

TOLERATED_EXTRA_ERRORS = 0.1


def collapse(tree: Tree, n_nodes: int) -> None:
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


@njit
def prune_tree(tree, n_nodes, XT, y, weight, confidence, z, raising):
    """Prune in place a tree of rows with weights; `z` is the quantile of 1 - confidence."""
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
    share, none = np.zeros(max_children), np.zeros(counts_of.shape[1])
    begin_of, end_of = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    errors_of = np.zeros(n_nodes)
    end_of[0] = n
    # Frames: (node, next child to visit (-1: rows not yet sent down), free slot before the node).
    stack, waiting = np.zeros((n_nodes + 1, 3), np.int64), np.zeros((n_nodes + 1, 3), np.int64)
    stack[0, 1], stack[0, 2] = -1, n
    top, depth = n, 1
    while depth > 0:
        t = stack[depth - 1, 0]
        start, end = begin_of[t], end_of[t]
        n_children = n_children_of[t]
        child = stack[depth - 1, 1]
        if n_children == 0:
            errors_of[t] = leaf_errors(counts_of[t], none, confidence, z)
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
        own_errors = leaf_errors(counts_of[t], none, confidence, z)
        tree_errors = 0.0
        for v in range(n_children):
            tree_errors += errors_of[first_child[t] + v]
        branch = largest_child(tree, t)
        branch_errors = np.inf
        if raising:
            rows, branch_errors = redistribute(
                tree,
                branch,
                XT,
                y,
                rows,
                start,
                end,
                top,
                share,
                none,
                buffer,
                waiting,
                confidence,
                z,
                np.bool_(False),
            )
        tolerated = TOLERATED_EXTRA_ERRORS + EPS
        if own_errors < tree_errors + tolerated and own_errors < branch_errors + tolerated:
            tree.feature[t], tree.threshold[t] = -1, np.nan
            first_child[t], n_children_of[t] = 0, 0
        elif branch_errors < tree_errors + tolerated:
            tree.feature[t], tree.threshold[t] = tree.feature[branch], tree.threshold[branch]
            first_child[t], n_children_of[t] = first_child[branch], n_children_of[branch]
            rows, _ = redistribute(
                tree,
                t,
                XT,
                y,
                rows,
                start,
                end,
                top,
                share,
                none,
                buffer,
                waiting,
                confidence,
                z,
                np.bool_(True),
            )
            stack[depth - 1, 1] = -1
            continue
        errors_of[t] = tree_errors
        if n_children_of[t] == 0:
            errors_of[t] = own_errors
        depth -= 1


@njit_part
def redistribute(
    tree, root, XT, y, rows, start, end, top, share, none, buffer, waiting, confidence, z, keep
):
    """Send rows through the subtree at `root`; return the store, which may move, and leaf errors.

    If `keep`, the class counts and shares of the subtree become those of these rows.
    """
    n_children_of, first_child = tree.n_children, tree.first_child
    counts_of, share_of = tree.counts, tree.share
    bounds, counts = np.zeros(share.size + 1, np.int64), np.zeros(counts_of.shape[1])
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = root, start, end
    n_waiting = 1
    errors = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        t, first, last = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
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
            errors += leaf_errors(counts, none, confidence, z)
            continue
        measure_shares(tree, t, XT, rows, first, last, share)
        if keep:
            for v in range(n_children):
                share_of[first_child[t] + v] = share[v]
        rows, top = split_rows(tree, t, XT, rows, first, last, top, share, bounds, buffer)
        for v in range(n_children - 1, -1, -1):
            waiting[n_waiting, 0] = first_child[t] + v
            waiting[n_waiting, 1], waiting[n_waiting, 2] = bounds[v], bounds[v + 1]
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


class Rows(NamedTuple):
    """Rows with their weights; a node owns a stretch of both arrays."""

    row: np.ndarray
    weight: np.ndarray


@njit_part
def measure_shares(tree, t, XT, rows, start, end, share):
    """Set ``share[v]`` to the part of the known weight of a stretch that goes to child v."""
    n_children = tree.n_children[t]
    for v in range(n_children):
        share[v] = 0.0
    known = 0.0
    for i in range(start, end):
        v = branch_of(tree, t, np.float64(XT[tree.feature[t], rows.row[i]]))
        if v >= 0:
            share[v] += rows.weight[i]
            known += rows.weight[i]
    for v in range(n_children):
        share[v] = share[v] / known if known >= EPS else 1.0 / n_children


@njit_part
def split_rows(tree, t, XT, rows, start, end, top, share, bounds, buffer):
    """Send the rows of a stretch to the children of node `t`, child v from ``bounds[v]`` on.

    Without missing values the stretch itself is permuted. Otherwise the children's rows are written
    after `top`, which may move the store. Returns the store and its first free slot.
    """
    n_children = np.int64(tree.n_children[t])
    column = XT[tree.feature[t]]
    size = np.zeros(n_children, np.int64)
    n_missing = 0
    for i in range(start, end):
        v = branch_of(tree, t, np.float64(column[rows.row[i]]))
        if v >= 0:
            size[v] += 1
        else:
            n_missing += 1
    begin = start
    if n_missing > 0:
        begin = top
        for v in range(n_children):
            if share[v] > EPS:
                size[v] += n_missing
        for v in range(n_children):
            top += size[v]
        if top > rows.row.size:
            larger = Rows(np.zeros(2 * top, np.int32), np.zeros(2 * top))
            for i in range(rows.row.size):
                larger.row[i], larger.weight[i] = rows.row[i], rows.weight[i]
            rows = larger
    bounds[0] = begin
    for v in range(n_children):
        bounds[v + 1] = bounds[v] + size[v]
    slot = np.zeros(n_children, np.int64)
    for v in range(n_children):
        slot[v] = bounds[v]
    if n_missing == 0:
        for i in range(end - start):
            buffer.row[i], buffer.weight[i] = rows.row[start + i], rows.weight[start + i]
    for i in range(start, end):
        row, weight = rows.row[i], rows.weight[i]
        if n_missing == 0:
            row, weight = buffer.row[i - start], buffer.weight[i - start]
        v = branch_of(tree, t, np.float64(column[row]))
        if v >= 0:
            rows.row[slot[v]], rows.weight[slot[v]] = row, weight
            slot[v] += 1
            continue
        for u in range(n_children):
            if share[u] > EPS:
                rows.row[slot[u]], rows.weight[slot[u]] = row, weight * share[u]
                slot[u] += 1
    return rows, top


@njit_part
def leaf_errors(counts, extra, confidence, z):
    """Return the pessimistic errors of a leaf with the sum of two class counts."""
    total, largest = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c] + extra[c]
        largest = max(largest, counts[c] + extra[c])
    if total < EPS:
        return 0.0
    return total - largest + added_errors(total, total - largest, confidence, z)


@njit_part
def added_errors(n, e, confidence, z):
    """Return the errors to add to `e` errors among `n` rows for the upper confidence bound."""
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
