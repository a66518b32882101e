"""Find the best split of a column when rows have weights and values may be missing or nominal."""

import math

import numpy as np

from mauc.classifiers.c45.nodes import EPS, GAP, plogp, smallest_branch
from mauc.numerics.njit_part import njit_part


@njit_part
def gain_and_information(bags, n_bags, node_weight):
    """Return gain and split information of a bags x classes table of weights.

    gain = (1 - u) (H - H_split), u the part of the weight that is missing; the split information
    counts the missing weight as one more bag. Both are per unit of weight, the gain per unit of
    known weight.
    """
    n_classes = bags.shape[1]
    known, node, split, information = 0.0, 0.0, 0.0, 0.0
    for v in range(n_bags):
        bag = 0.0
        for c in range(n_classes):
            bag += bags[v, c]
            split += plogp(bags[v, c])
        split -= plogp(bag)
        information -= plogp(bag)
        known += bag
    for c in range(n_classes):
        of_class = 0.0
        for v in range(n_bags):
            of_class += bags[v, c]
        node += plogp(of_class)
    missing = node_weight - known
    numerator = (1.0 - missing / node_weight) * (plogp(known) - node + split)
    gain = 0.0 if abs(numerator) < EPS else numerator / known
    information += plogp(node_weight) - plogp(missing)
    return gain, (information / node_weight if abs(information) >= EPS else 0.0)


@njit_part
def scan_nominal(x, rows, y, weight, n_values, min_leaf, bags):
    """Fill the values x classes table; return whether two values have enough weight for a split."""
    bags[:n_values] = 0.0
    for i in range(rows.size):
        value = np.float64(x[rows[i]])
        if not math.isnan(value):
            bags[int(value), y[rows[i]]] += weight[rows[i]]
    n_large = 0
    for v in range(n_values):
        bag = 0.0
        for c in range(bags.shape[1]):
            bag += bags[v, c]
        if min_leaf - bag < EPS:
            n_large += 1
    return n_large > 1


@njit_part
def scan_numeric(x, stretch, y, weight, repeats, node_weight, min_leaf, bags, logs):
    """Find the best cut of one sorted column.

    Parameters
    ----------
    x, y : ndarrays of shape (n,)
        Column and classes.
    stretch : int32 ndarray of shape (size,)
        The rows of the node by ascending value, missing values last.
    weight, repeats : float64 ndarrays of shape (n,)
        Weight of each row at this node, and how many rows it represents.
    node_weight, min_leaf : float
    bags : float64 ndarray of shape (2 or more, n_classes)
        Filled with the class weights left and right of the best cut.
    logs : float64 ndarray of shape (2, n_classes)
        Work space: v log2 v of each bag and class.

    Returns
    -------
    i_best : int
        The cut is after ``stretch[:i_best]``; 0 if no cut gains anything.
    n_cuts : int
    """
    n_classes = bags.shape[1]
    bags[:2] = 0.0
    known, n_rows = 0.0, 0.0
    n_known = 0
    while n_known < stretch.size:
        row = stretch[n_known]
        if math.isnan(np.float64(x[row])):
            break
        bags[1, y[row]] += weight[row]
        known += weight[row]
        # the size rule counts rows; a fraction of a row is a row
        n_rows += repeats[row]
        n_known += 1
    smallest = smallest_branch(known, n_classes, min_leaf)
    if n_known < 2 or 2.0 * smallest - n_rows > EPS:
        return 0, 0
    node_entropy = plogp(known)
    for c in range(n_classes):
        logs[0, c] = 0.0
        logs[1, c] = plogp(bags[1, c])
    for c in range(n_classes):
        node_entropy -= logs[1, c]
    left, right = 0.0, known
    known_part = 1.0 - (node_weight - known) / node_weight
    best_gain, i_best, n_cuts = 0.0, 0, 0
    for i in range(n_known - 1):
        # bags[0] and left hold the weights of stretch[:i], bags[1] and right those of stretch[i:]
        row = stretch[i]
        c, w = y[row], weight[row]
        bags[0, c] += w
        bags[1, c] -= w
        left += w
        right -= w
        logs[0, c] = plogp(bags[0, c])
        logs[1, c] = plogp(bags[1, c])
        if not np.float64(x[row]) + GAP < np.float64(x[stretch[i + 1]]):
            continue
        if smallest - left >= EPS or smallest - right >= EPS:
            continue
        n_cuts += 1
        entropy = 0.0
        for u in range(n_classes):
            entropy -= logs[0, u]
        entropy += plogp(left)
        for u in range(n_classes):
            entropy -= logs[1, u]
        entropy += plogp(right)
        gain = known_part * (node_entropy - entropy) / known
        if gain - best_gain > EPS:
            best_gain, i_best = gain, i + 1
    bags[:2] = 0.0
    for i in range(n_known):
        bags[0 if i < i_best else 1, y[stretch[i]]] += weight[stretch[i]]
    return i_best, n_cuts
