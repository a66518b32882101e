"""Find the best split of a column when rows have weights and values may be missing or nominal."""

import math

import numpy as np

from mauc.classifiers.c45.nodes import (
    EPS,
    GAP,
    choose_column,
    goes_left,
    make_leaf,
    new_tree,
    plogp,
    reserve_nodes,
    smallest_branch,
    snap_threshold,
)
from mauc.compile import njit, njit_part
from mauc.engine.special import LN2


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


@njit_part
def enlarge(array, size):
    """Return a copy of `array` with room for `size` entries."""
    larger = np.zeros(size, array.dtype)
    for i in range(array.size):
        larger[i] = array[i]
    return larger


@njit_part
def send_rows(block, size, n_blocks, branch, takes_missing, base, child_size, arena):
    """Copy the rows of a node to its children; all blocks keep their order.

    `block` holds `n_blocks` orders of the node's `size` rows; ``branch[row]`` is the child, -1 for
    all that take missing values. Child v gets the same orders of its ``child_size[v]`` rows from
    ``arena[base[v]]`` on.
    """
    n_children = base.size
    place = np.zeros(n_children, np.int64)
    for b in range(n_blocks):
        for v in range(n_children):
            place[v] = base[v] + b * child_size[v]
        for i in range(b * size, (b + 1) * size):
            row = block[i]
            v = branch[row]
            if v < 0:
                for u in range(n_children):
                    if takes_missing[u]:
                        arena[place[u]] = row
                        place[u] += 1
            else:
                arena[place[v]] = row
                place[v] += 1


@njit(cache=True, nogil=True)
def grow_weighted(XT, y, n_classes, order, columns, n_values, row_weight, repeats, min_leaf):
    """Grow the unpruned tree of rows with weights.

    Parameters
    ----------
    XT : read-only ndarray of shape (n_features, n)
        NaN is missing; a nominal column holds the codes 0..n_values-1.
    y : int32 ndarray of shape (n,)
    n_classes : int
    order : int32 ndarray of shape (n_features, n)
    columns : int32 ndarray of shape (k,)
    n_values : int32 ndarray of shape (n_features,)
        Values of a nominal column, 0 for a numeric one.
    row_weight : float64 ndarray of shape (n,)
        Positive weights.
    repeats : float64 ndarray of shape (n,)
        How many rows each row represents where the rules count rows: 1 as in J48, or its weight, so
        that a row of weight 2 is the same as the row given twice.
    min_leaf : float

    Returns
    -------
    tree : Tree
    n_nodes : int
    """
    n, k = y.size, columns.size
    # A nominal column with many values is left out of the mean gain, unless all columns are such.
    many = 0.0
    for i in range(n):
        many += 0.3 * repeats[i]
    in_mean = np.zeros(k, np.bool_)
    is_any_in_mean = False
    max_bags = 2
    for a in range(k):
        in_mean[a] = many - n_values[columns[a]] > EPS or n_values[columns[a]] == 0
        is_any_in_mean |= in_mean[a]
        max_bags = max(max_bags, n_values[columns[a]])
    if not is_any_in_mean:
        in_mean[:] = True
    bags, best_bags = np.zeros((max_bags, n_classes)), np.zeros((max_bags, n_classes))
    logs = np.zeros((2, n_classes))
    gain, ratio, midpoint = np.zeros(k), np.zeros(k), np.zeros(k)
    is_valid = np.zeros(k, np.bool_)
    weight = np.zeros(n)
    branch = np.zeros(n, np.int32)

    # A node's block: its rows, then their order by each numeric column.
    block_of = np.zeros(k, np.int64)
    n_blocks = np.int64(1)
    for a in range(k):
        if n_values[columns[a]] == 0:
            block_of[a] = n_blocks
            n_blocks += 1
    arena = np.zeros(n_blocks * n, np.int32)
    arena_weight = row_weight.copy()
    for i in range(n):
        arena[i] = i
    for a in range(k):
        if n_values[columns[a]] == 0:
            for i in range(n):
                arena[block_of[a] * n + i] = order[columns[a], i]

    # np.int64: a literal argument would compile the callee once more
    tree = new_tree(np.int64(64), n_classes)
    for i in range(n):
        tree.counts[0, y[i]] += row_weight[i]
    n_nodes = np.int64(1)
    # Nodes to split: (node, place in arena_weight, rows); n_blocks times the place is it in arena.
    stack = np.zeros((64, 3), np.int64)
    stack[0, 2] = n
    top = 1
    while top > 0:
        top -= 1
        node, begin, size = stack[top, 0], stack[top, 1], stack[top, 2]
        node_weight, largest_class = 0.0, 0.0
        for c in range(n_classes):
            node_weight += tree.counts[node, c]
            largest_class = max(largest_class, tree.counts[node, c])
        if 2.0 * min_leaf - node_weight > EPS or node_weight - largest_class < EPS:
            continue
        block = arena[n_blocks * begin : n_blocks * (begin + size)].copy()
        rows = block[:size]
        for i in range(size):
            weight[rows[i]] = arena_weight[begin + i]

        for a in range(k):
            x = XT[columns[a]]
            n_bags = np.int64(n_values[columns[a]])
            is_valid[a] = False
            if n_bags > 0:
                if not scan_nominal(x, rows, y, weight, n_bags, min_leaf, bags):
                    continue
                gain[a], information = gain_and_information(bags, n_bags, node_weight)
                is_valid[a] = True
            else:
                stretch = block[block_of[a] * size : (block_of[a] + 1) * size]
                i_best, n_cuts = scan_numeric(
                    x, stretch, y, weight, repeats, node_weight, min_leaf, bags, logs
                )
                if i_best == 0:
                    continue
                gain[a], information = gain_and_information(bags, np.int64(2), node_weight)
                gain[a] -= math.log(n_cuts) / LN2 / node_weight
                is_valid[a] = gain[a] >= EPS
                upper = np.float64(x[stretch[i_best]])
                midpoint[a] = (np.float64(x[stretch[i_best - 1]]) + upper) / 2.0
                if midpoint[a] == upper:
                    midpoint[a] = np.float64(x[stretch[i_best - 1]])
            ratio[a] = gain[a] / information if information > 0.0 else 0.0
        best = choose_column(gain, ratio, in_mean, is_valid)
        if best < 0:
            continue

        x = XT[columns[best]]
        is_numeric = n_values[columns[best]] == 0
        n_children = np.int64(2) if is_numeric else np.int64(n_values[columns[best]])
        tree = reserve_nodes(tree, n_nodes, n_children)
        tree.feature[node] = columns[best]
        tree.first_child[node] = n_nodes
        tree.n_children[node] = n_children
        if is_numeric:
            tree.threshold[node] = snap_threshold(x, order[columns[best]], midpoint[best])
        best_bags[:n_children] = 0.0
        known, n_missing = 0.0, 0
        child_size = np.zeros(n_children, np.int64)
        takes_missing = np.zeros(n_children, np.bool_)
        for i in range(size):
            row = rows[i]
            value = np.float64(x[row])
            if math.isnan(value):
                branch[row] = -1
                n_missing += 1
                continue
            if is_numeric:
                branch[row] = 0 if goes_left(value, tree.threshold[node]) else 1
            else:
                branch[row] = int(value)
            best_bags[branch[row], y[row]] += weight[row]
            child_size[branch[row]] += 1
            known += weight[row]
        if is_numeric and (child_size[0] == 0 or child_size[1] == 0):
            make_leaf(tree, node)  # the values at the cut are within EPS of another training value
            continue
        for v in range(n_children):
            bag = 0.0
            for c in range(n_classes):
                bag += best_bags[v, c]
                tree.counts[n_nodes + v, c] = best_bags[v, c]
            tree.share[n_nodes + v] = bag / known
            takes_missing[v] = bag / known > EPS
        for i in range(size):
            if branch[rows[i]] < 0:
                for v in range(n_children):
                    if takes_missing[v]:
                        part = tree.share[n_nodes + v] * weight[rows[i]]
                        tree.counts[n_nodes + v, y[rows[i]]] += part

        # The node's place is free again: its children take it, the first of them at the end.
        base = np.zeros(n_children, np.int64)
        end = begin
        for v in range(n_children - 1, -1, -1):
            child_size[v] += n_missing if takes_missing[v] else 0
            base[v] = end
            end += child_size[v]
        if end > arena_weight.size:
            arena_weight = enlarge(arena_weight, 2 * end)
            arena = enlarge(arena, n_blocks * 2 * end)
        send_rows(block, size, n_blocks, branch, takes_missing, n_blocks * base, child_size, arena)
        if top + n_children > stack.shape[0]:
            larger = np.zeros((2 * (top + n_children), 3), np.int64)
            for i in range(top):
                for j in range(3):
                    larger[i, j] = stack[i, j]
            stack = larger
        for v in range(n_children - 1, -1, -1):
            for i in range(child_size[v]):
                row = arena[n_blocks * base[v] + i]
                part = tree.share[n_nodes + v] if branch[row] < 0 else 1.0
                arena_weight[base[v] + i] = weight[row] * part
            stack[top, 0], stack[top, 1], stack[top, 2] = n_nodes + v, base[v], child_size[v]
            top += 1
        n_nodes += n_children
    return tree, n_nodes
