"""The flat C4.5 tree: its nodes, its formulas with the tolerances of J48, and prediction."""

import math
from typing import NamedTuple

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.arrays import LN2

EPS = 1e-6  # tolerance of every comparison of the reference, WEKA 3.6.14's J48
GAP = 1e-5  # neighbouring values closer than this are not separated
AVERAGE_SLACK = 1e-3  # a gain this far below the average still counts; also used in collapsing


class Tree(NamedTuple):
    """Arrays of shape (n_nodes,); the children of a node are consecutive.

    At a numeric split ``x <= threshold + EPS`` goes to the first child, else to the second; at a
    nominal split value v goes to child v.
    """

    feature: np.ndarray  #: int32, column tested at the node, -1 at a leaf
    threshold: np.ndarray  #: float64, NaN at a leaf and at a nominal split
    first_child: np.ndarray  #: int32, child v is node ``first_child + v``; 0 at a leaf
    n_children: np.ndarray  #: int32, 0 at a leaf
    share: np.ndarray  #: float64, part of the parent's known weight: where a missing value goes
    counts: np.ndarray  #: float64 (n_nodes, n_classes), training weight of each class


def new_tree(capacity: int, n_classes: int) -> Tree:
    """Return a tree of `capacity` empty leaves."""
    return Tree(
        np.full(capacity, -1, np.int32),
        np.full(capacity, np.nan),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.ones(capacity),
        np.zeros((capacity, n_classes)),
    )


def enlarge_tree(tree: Tree, n_nodes: int, capacity: int) -> Tree:
    """Return a tree of `capacity` nodes, the first `n_nodes` of which are those of `tree`."""
    larger = new_tree(capacity, tree.counts.shape[1])
    for old, new in zip(tree, larger, strict=True):
        new[:n_nodes] = old[:n_nodes]
    return larger


def compact(tree: Tree) -> Tree:
    """Return the nodes that can be reached from the root, parents before children."""
    level = np.zeros(1, np.intp)
    levels = [level]
    while True:
        level = level[tree.feature[level] >= 0]
        if level.size == 0:
            break
        n_children = tree.n_children[level]
        # child v of a node is v nodes after its first one
        offset = np.cumsum(n_children) - n_children
        nth = np.arange(offset[-1] + n_children[-1]) - np.repeat(offset, n_children)
        level = np.repeat(tree.first_child[level], n_children) + nth
        levels.append(level)
    packed = Tree(*(array[np.concatenate(levels)] for array in tree))
    n_before = np.cumsum(packed.n_children, dtype=np.int32) - packed.n_children
    packed.first_child[:] = np.where(packed.n_children > 0, 1 + n_before, 0)
    return packed


def predict_fractions(tree: Tree, XT: np.ndarray) -> np.ndarray:
    """Return the class fractions, (n, n_classes), of the leaf or leaves that each row reaches."""
    total = np.zeros(len(tree.counts))
    for weights in tree.counts.T:  # not `sum`: the order of the additions is part of the result
        total += weights
    is_nominal = (tree.n_children > 0) & np.isnan(tree.threshold)
    if not is_nominal.any() and total.min() >= EPS:
        leaf_of = np.empty(XT.shape[1], np.int64)
        if find_leaves(XT, tree.feature, tree.threshold, tree.first_child, leaf_of):
            return (tree.counts / total[:, np.newaxis])[leaf_of]
    out = np.zeros((XT.shape[1], tree.counts.shape[1]))
    fill_fractions(tree, XT, total, out)
    return out


@njit
def find_leaves(XT, feature, threshold, first_child, leaf_of):
    """Fill the leaf of each row; return whether all values on the way were known."""
    is_known = True
    for i in range(leaf_of.size):
        leaf_of[i] = descend(XT, i, feature, threshold, first_child, np.int64(0))
        is_known &= leaf_of[i] >= 0
    return is_known


@njit
def fill_fractions(tree, XT, total, out):
    """Fill `out`, all 0, see `predict_fractions`; `total` is the weight of each node."""
    n_children_of, first_child, feature_of = tree.n_children, tree.first_child, tree.feature
    counts_of, share_of = tree.counts, tree.share
    n_nodes, n_classes = counts_of.shape
    node = np.zeros(n_nodes, np.int64)
    weight = np.zeros(n_nodes)
    for i in range(XT.shape[1]):
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


@njit_part
def descend(XT, row, feature, threshold, first_child, t):
    """Return the leaf that a row reaches from node `t`, -1 if a value on the way is missing."""
    while feature[np.uint32(t)] >= 0:
        value = np.float64(XT[np.uint32(feature[np.uint32(t)]), np.uint32(row)])
        if value != value:
            return np.int64(-1)
        is_right = not goes_left(value, threshold[np.uint32(t)])
        t = np.int64(first_child[np.uint32(t)]) + is_right
    return t


@njit_part
def branch_of(tree, t, value):
    """Return the child a value goes to, -1 if it is missing."""
    if math.isnan(value):
        return -1
    if math.isnan(tree.threshold[t]):
        return int(value)
    return 0 if goes_left(value, tree.threshold[t]) else 1


@njit_part
def goes_left(value, threshold):
    """Return whether a known value takes the first branch of a numeric split."""
    return value - threshold < EPS or value <= threshold


@njit_part
def plogp(v):
    """Return v log2 v, 0 below the tolerance."""
    if v < EPS:
        return 0.0
    return v * math.log(v) / LN2


@njit_part
def smallest_branch(weight, n_classes, min_leaf):
    """Return the minimum weight of a numeric branch: 10 % of the mean class, `min_leaf` to 25."""
    smallest = 0.1 * weight / n_classes
    if smallest - min_leaf < EPS or smallest <= min_leaf:
        return min_leaf
    if smallest - 25.0 > EPS:
        return 25.0
    return smallest


@njit_part
def choose_column(gain, ratio, counts_in_mean, is_valid):
    """Return the valid column of largest ratio whose gain is not below the mean; -1 without any."""
    total = 0.0
    n_valid = 0
    for a in range(gain.size):
        if is_valid[a] and counts_in_mean[a]:
            total += gain[a]
            n_valid += 1
    if n_valid == 0:
        return -1
    mean = total / n_valid
    best, best_ratio = -1, 0.0
    for a in range(gain.size):
        if is_valid[a] and gain[a] >= mean - AVERAGE_SLACK and ratio[a] - best_ratio > EPS:
            best, best_ratio = a, ratio[a]
    return best


@njit_part
def cut_between(x, order, lower, upper):
    """Return the threshold between two values: the largest training value not above their midpoint.

    The reference scans all rows in file order and replaces its candidate only by a value larger by
    more than `EPS`; that equals the largest value unless another one is within `EPS` below it.
    """
    midpoint = (lower + upper) / 2.0
    if midpoint == upper:
        midpoint = lower
    # x[order[:low]] go left of the midpoint, x[order[high:]] do not (nor do missing values, last).
    low, high = 0, order.size
    while low < high:
        middle = (low + high) // 2
        if goes_left(np.float64(x[order[middle]]), midpoint):
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return midpoint
    largest = np.float64(x[order[low - 1]])
    # x[order[:low]] are more than EPS below the largest, x[order[high:]] are not.
    low, high = 0, low - 1
    while low < high:
        middle = (low + high) // 2
        if largest - np.float64(x[order[middle]]) > EPS:
            low = middle + 1
        else:
            high = middle
    if np.float64(x[order[low]]) == largest:
        return largest
    snapped = -np.inf
    for i in range(x.size):
        value = np.float64(x[i])
        if goes_left(value, midpoint) and value - snapped > EPS:
            snapped = value
    return snapped
