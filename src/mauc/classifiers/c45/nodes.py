"""The flat C4.5 tree, its tolerances, and the small formulas that growing and pruning share.

Every comparison of the reference (WEKA 3.6.14's J48) has the tolerance ``EPS``; the trees agree
only if it is applied here, too.
"""

import math
from typing import NamedTuple

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.special import LN2

EPS = 1e-6  # tolerance of every comparison
GAP = 1e-5  # neighbouring values closer than this are not separated
AVERAGE_SLACK = 1e-3  # a gain this far below the average still counts; also used in collapsing


class Tree(NamedTuple):
    """Arrays over the nodes; the children of a node are consecutive.

    Attributes
    ----------
    feature : int32 ndarray of shape (n_nodes,)
        Column tested at the node, -1 at a leaf.
    threshold : float64 ndarray of shape (n_nodes,)
        Numeric split: ``x <= threshold + EPS`` goes to the first child, else to the second. NaN at
        a leaf and at a nominal split, where value v goes to child v.
    first_child, n_children : int32 ndarrays of shape (n_nodes,)
        Child v is node ``first_child + v``; both are 0 at a leaf.
    share : float64 ndarray of shape (n_nodes,)
        Part of the parent's known weight that came to this node: where a missing value goes.
    counts : float64 ndarray of shape (n_nodes, n_classes)
        Training weight of each class at the node.
    """

    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    share: np.ndarray
    counts: np.ndarray


@njit_part
def new_tree(capacity, n_classes):
    """Return a tree of `capacity` empty leaves."""
    feature = np.zeros(capacity, np.int32)
    threshold, share = np.zeros(capacity), np.zeros(capacity)
    for t in range(capacity):
        feature[t], threshold[t], share[t] = -1, np.nan, 1.0
    first_child, n_children = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
    return Tree(feature, threshold, first_child, n_children, share, np.zeros((capacity, n_classes)))


@njit_part
def copy_node(source, s, target, t):
    """Make node `t` of `target` what node `s` of `source` is, its share excepted."""
    target.feature[t] = source.feature[s]
    target.threshold[t] = source.threshold[s]
    target.first_child[t] = source.first_child[s]
    target.n_children[t] = source.n_children[s]
    for c in range(source.counts.shape[1]):
        target.counts[t, c] = source.counts[s, c]


@njit_part
def reserve_nodes(tree, n_nodes, n_more):
    """Return `tree`, or a larger copy of it if `n_more` nodes do not fit after `n_nodes`."""
    if n_nodes + n_more <= tree.feature.size:
        return tree
    larger = new_tree(np.int64(max(2 * tree.feature.size, n_nodes + n_more)), tree.counts.shape[1])
    for t in range(n_nodes):
        copy_node(tree, t, larger, t)
        larger.share[t] = tree.share[t]
    return larger


@njit_part
def make_leaf(tree, t):
    """Remove the subtree below node `t`; the class counts stay."""
    tree.feature[t] = -1
    tree.threshold[t] = np.nan
    tree.first_child[t] = 0
    tree.n_children[t] = 0


def compact(tree):
    """Return the nodes that can be reached from the root, parents before children."""
    level = np.zeros(1, np.intp)
    levels = [level]
    while True:
        level = level[tree.feature[level] >= 0]
        if level.size == 0:
            break
        n_children = tree.n_children[level]
        # child v of a node is v places after its first one
        offset = np.cumsum(n_children) - n_children
        nth = np.arange(offset[-1] + n_children[-1]) - np.repeat(offset, n_children)
        level = np.repeat(tree.first_child[level], n_children) + nth
        levels.append(level)
    packed = Tree(*(array[np.concatenate(levels)] for array in tree))
    n_before = np.cumsum(packed.n_children, dtype=np.int32) - packed.n_children
    packed.first_child[:] = np.where(packed.n_children > 0, 1 + n_before, 0)
    return packed


@njit_part
def goes_left(value, threshold):
    """Return whether a known value takes the first branch of a numeric split."""
    return value - threshold < EPS or value <= threshold


@njit(cache=True, nogil=True)
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
    """Return the position of the best column, -1 if no split is valid.

    Among the valid columns whose gain is not below the mean gain (less `AVERAGE_SLACK`), the
    largest gain ratio wins; a later column must win by more than `EPS`.
    """
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
def snap_threshold(x, order, midpoint):
    """Return the largest training value not above `midpoint`, over the ENTIRE training set.

    The reference scans the rows in file order and replaces its candidate only by a value larger by
    more than `EPS`; that equals the largest value unless another one is within `EPS` below it.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The column, rows in file order.
    order : int32 ndarray of shape (n,)
        Its rows by ascending value, missing values last.
    midpoint : float
    """
    # x[order[:low]] go left of the midpoint, x[order[high:]] do not (nor do missing values).
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
