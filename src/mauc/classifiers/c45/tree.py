"""Fit a C4.5 tree on sorted columns, and predict with it."""

import math

import numpy as np
from scipy.special import ndtri

from mauc.classifiers.c45.grow import grow_complete
from mauc.classifiers.c45.grow_weighted import grow_weighted
from mauc.classifiers.c45.nodes import EPS, compact
from mauc.classifiers.c45.prune import branch_of, collapse, find_leaves, prune_complete, prune_tree
from mauc.compile import njit

MAX_PACKED_CLASSES = 1 << 16  # the fast grower keeps classes in 16 bits


def fit_tree(data, columns, *, confidence=0.25, min_leaf=2.0, prune=True, raising=True):
    """Grow, collapse and prune a C4.5 tree.

    Parameters
    ----------
    data : SortedColumns
        Trees on different `columns` share it; it is not changed. A row of weight 2 is the same as
        the row given twice.
    columns : int32 ndarray of shape (k,)
        Columns the tree may use. Ties between columns go to the earlier in this array.
    confidence : float, default=0.25
        Confidence of pruning.
    min_leaf : float, default=2.0
        Smallest weight of a branch.
    prune, raising : bool, default=True
        Whether to prune, and whether to raise subtrees.

    Returns
    -------
    tree : Tree
    """
    XT, y, n_classes, weight = data.XT, data.y, data.n_classes, data.weight
    is_plain = not (data.n_values[columns].any() or data.has_missing[columns].any())
    z = float(ndtri(1.0 - confidence))
    limits = float(confidence), z, bool(raising)
    if is_plain and weight is None and n_classes <= MAX_PACKED_CLASSES:
        tree, n_nodes = grow_complete(XT, y, n_classes, data.order, columns, float(min_leaf))
        collapse(tree, n_nodes)
        tree = prune_complete(tree, n_nodes, XT, y, *limits) if prune else compact(tree)
        size, is_inner = tree.counts.sum(axis=1), tree.feature >= 0
        tree.share[1:] = size[1:] / np.repeat(size[is_inner], 2)
        return tree
    weight = np.ones(y.size) if weight is None else weight
    tree, n_nodes = grow_weighted(
        XT, y, n_classes, data.order, columns, data.n_values, weight, weight, float(min_leaf)
    )
    collapse(tree, n_nodes)
    return prune_tree(tree, n_nodes, XT, y, weight, *limits) if prune else compact(tree)


def predict_fractions(tree, XT, out):
    """Fill `out` with the class fractions of the leaf each row reaches.

    A row whose tested value is missing goes to all non-empty children, weighted by their shares,
    and gets the weighted mean. At an empty child, and for a nominal value without a child, it gets
    the class fractions of the node itself.

    Parameters
    ----------
    tree : Tree
    XT : read-only ndarray of shape (n_features, n)
    out : float64 ndarray of shape (n, n_classes)
    """
    total = np.zeros(len(tree.counts))
    for weights in tree.counts.T:  # not `sum`: the order of the additions is part of the result
        total += weights
    is_nominal = (tree.n_children > 0) & np.isnan(tree.threshold)
    if not is_nominal.any() and total.min() >= EPS:
        leaf_of = np.empty(len(out), np.int64)
        if find_leaves(XT, tree.feature, tree.threshold, tree.first_child, leaf_of):
            np.take(tree.counts / total[:, None], leaf_of, axis=0, out=out)
            return
    fill_fractions(tree, XT, total, out)


@njit(cache=True, nogil=True)
def fill_fractions(tree, XT, total, out):
    """Fill `out`, see `predict_fractions`; `total` is the weight of each node."""
    n_children_of, first_child, feature_of = tree.n_children, tree.first_child, tree.feature
    counts_of, share_of = tree.counts, tree.share
    n_nodes, n_classes = counts_of.shape
    node = np.zeros(n_nodes, np.int64)
    weight = np.zeros(n_nodes)
    for i in range(XT.shape[1]):
        for c in range(n_classes):
            out[i, c] = 0.0
        node[0], weight[0] = 0, 1.0
        waiting = 1
        while waiting > 0:
            waiting -= 1
            t, w = node[waiting], weight[waiting]
            # descend as long as the value is known; t is never an empty node, the root excepted
            while n_children_of[t] > 0:
                v = branch_of(tree, t, np.float64(XT[feature_of[t], i]))
                if v < 0 or v >= n_children_of[t] or total[first_child[t] + v] < EPS:
                    break
                t = first_child[t] + v
            if n_children_of[t] > 0 and math.isnan(np.float64(XT[feature_of[t], i])):
                for v in range(n_children_of[t] - 1, -1, -1):
                    child = first_child[t] + v
                    if total[child] >= EPS:
                        node[waiting], weight[waiting] = child, w * share_of[child]
                        waiting += 1
                continue
            for c in range(n_classes):
                out[i, c] += w * (counts_of[t, c] / total[t])
