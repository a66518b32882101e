"""Fit a C4.5 tree on prepared arrays and follow it: the face of the tree kernels."""

import math

import numpy as np
from numba import njit
from scipy.special import ndtri

from mauc.classifiers.c45.grow import grow_complete
from mauc.classifiers.c45.grow_weighted import grow_weighted
from mauc.classifiers.c45.nodes import EPS, Tree, compact
from mauc.classifiers.c45.prune import collapse, prune_tree
from mauc.classifiers.c45.route import branch_of

MAX_PACKED_CLASSES = 1 << 16  # the fast grower keeps classes in 16 bits


def fit_tree(
    XT,
    y,
    n_classes,
    order,
    columns,
    *,
    n_values=None,
    weight=None,
    repeats=None,
    has_missing=False,
    confidence=0.25,
    min_leaf=2.0,
    prune=True,
    raising=True,
):
    """Grow, collapse and prune a C4.5 tree.

    Parameters
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n), C-contiguous
        Nominal columns hold codes 0, 1, ...; NaN is a missing value.
    y : int32 ndarray of shape (n,)
        Class codes.
    n_classes : int
        Number of classes, also those without rows.
    order : int32 ndarray of shape (n_features, n)
        Sorted rows of each column, from `order.sort_orders`. Trees on different
        `columns` share it; it is not changed.
    columns : int32 ndarray of shape (k,)
        Columns the tree may use. Ties between columns go to the earlier in this array.
    n_values : int32 ndarray of shape (n_features,) or None
        Number of values of a nominal column, 0 for a numeric one. None: all numeric.
    weight : float64 ndarray of shape (n,) or None
        Positive weights of the rows. None: all 1.
    repeats : float64 ndarray of shape (n,) or None
        How many rows each one stands for where C4.5 counts rows, not weight. None: 1, as J48 does;
        pass the weights to make a row of weight 2 the same as the row given twice.
    has_missing : bool
        Whether one of `columns` has missing values.
    confidence, min_leaf, prune, raising
        Confidence of pruning, least weight of a branch, whether to prune, whether to raise
        subtrees.

    Returns
    -------
    tree : Tree
    """
    is_plain = n_values is None and weight is None and not has_missing
    if is_plain and n_classes <= MAX_PACKED_CLASSES:
        tree, n_nodes = grow_complete(XT, y, n_classes, order, columns, float(min_leaf))
    else:
        if n_values is None:
            n_values = np.zeros(XT.shape[0], np.int32)
        ones = np.ones(y.size)
        tree, n_nodes = grow_weighted(
            XT,
            y,
            n_classes,
            order,
            columns,
            n_values,
            ones if weight is None else weight,
            ones if repeats is None else repeats,
            float(min_leaf),
        )
    collapse(tree, n_nodes)
    if not prune:
        return compact(tree)
    row_weight = np.ones(y.size) if weight is None else weight
    z = float(ndtri(1.0 - confidence))
    return prune_tree(tree, n_nodes, XT, y, row_weight, float(confidence), z, bool(raising))


@njit(cache=True, nogil=True)
def predict_fractions(tree, XT, out):
    """Fill `out` with the class fractions of the leaf each row reaches.

    A row whose tested value is missing goes to all non-empty children, weighted by their shares,
    and gets the weighted mean. An empty child and a nominal value without a child stand for the
    class fractions of the node itself.

    Parameters
    ----------
    tree : Tree
    XT : read-only ndarray of shape (n_features, n)
    out : float64 ndarray of shape (n, n_classes)
    """
    n_nodes, n_classes = tree.counts.shape
    total = np.zeros(n_nodes)
    for t in range(n_nodes):
        for c in range(n_classes):
            total[t] += tree.counts[t, c]
    node = np.zeros(n_nodes, np.int64)
    weight = np.zeros(n_nodes)
    for i in range(XT.shape[1]):
        out[i] = 0.0
        node[0], weight[0] = 0, 1.0
        waiting = 1
        while waiting > 0:
            waiting -= 1
            t, w = node[waiting], weight[waiting]
            # descend as long as the value is known; t is never an empty node, the root excepted
            while tree.n_children[t] > 0:
                v = branch_of(tree, t, np.float64(XT[tree.feature[t], i]))
                if v < 0 or v >= tree.n_children[t] or total[tree.first_child[t] + v] < EPS:
                    break
                t = tree.first_child[t] + v
            if tree.n_children[t] > 0 and math.isnan(np.float64(XT[tree.feature[t], i])):
                for v in range(tree.n_children[t] - 1, -1, -1):
                    child = tree.first_child[t] + v
                    if total[child] >= EPS:
                        node[waiting], weight[waiting] = child, w * tree.share[child]
                        waiting += 1
                continue
            for c in range(n_classes):
                out[i, c] += w * (tree.counts[t, c] / total[t])


__all__ = ["Tree", "fit_tree", "predict_fractions"]
