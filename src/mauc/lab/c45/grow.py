"""Grow C4.5 trees from rows with weights, of which a value may be missing.

Nodes are split on a stack, the left child first. A row whose tested value is missing goes to every
child with a part of its weight, so a node owns a copy of its rows, in an arena: the rows, and their
order by each numeric column. Entropies are sums in the order of the reference.

The kernel returns where a tree outgrows its arrays and is called again with larger ones:
allocations would take longer to compile than the rest of it.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.arrays import LN2
from mauc.lab.c45.tree import (
    EPS,
    GAP,
    Tree,
    choose_column,
    cut_between,
    enlarge_tree,
    goes_left,
    new_tree,
    plogp,
    smallest_branch,
)

if TYPE_CHECKING:
    from mauc.lab.c45.estimator import SortedColumns

_FIRST_CAPACITY = 256  # nodes


class Training(NamedTuple):
    """What does not change while a tree grows."""

    XT: np.ndarray  #: (n_features, n)
    y: np.ndarray  #: class codes
    order: np.ndarray  #: rows of each feature by ascending value
    columns: np.ndarray  #: the features that the tree may test
    n_values: np.ndarray  #: of these columns, 0 for a numeric one
    block_of: np.ndarray  #: of these columns, the block of a node that has their order
    in_mean: np.ndarray  #: whether a column counts in the mean gain
    repeats: np.ndarray  #: how many rows a row is by the rules of size


class Gains(NamedTuple):
    """What each column would gain at a node."""

    gain: np.ndarray
    ratio: np.ndarray
    is_valid: np.ndarray
    n_left: np.ndarray  #: rows of a numeric column before its best cut


class Children(NamedTuple):
    """The children of a node that is split, by number."""

    size: np.ndarray  #: rows
    base: np.ndarray  #: where their rows begin in the arena
    takes_missing: np.ndarray  #: 1 if rows with a missing value go there, too
    slot: np.ndarray  #: next free place in a block of the arena
    bags: np.ndarray  #: (n_children, n_classes), weights of the rows with a known value


class Scratch(NamedTuple):
    """Work space of a column or a node."""

    bags: np.ndarray  #: (n_bags, n_classes), class weights by value or side
    logs: np.ndarray  #: (2, n_classes), v log2 v of them
    present: np.ndarray  #: classes that a node has
    weight: np.ndarray  #: of every row, at the node
    branch: np.ndarray  #: of every row, -1 where its value is missing


class Arena(NamedTuple):
    """Rows of the nodes on the stack, in all orders, and their weights, in the first order."""

    row: np.ndarray
    weight: np.ndarray


def grow(
    data: "SortedColumns",
    columns: np.ndarray,
    weight: np.ndarray,
    repeats: np.ndarray,
    min_leaf: float,
) -> tuple[Tree, int]:
    """Return the unpruned tree of weighted rows, counted `repeats` times by rules, and its size."""
    n, k, n_classes, n_values = data.y.size, columns.size, data.n_classes, data.n_values[columns]
    is_numeric = n_values == 0
    # A nominal column with many values is left out of the mean gain, unless all columns are such.
    many = np.cumsum(0.3 * repeats)[-1]  # not `sum`: the order of the additions is part of it
    in_mean = is_numeric | (many - n_values > EPS)
    in_mean |= not in_mean.any()
    # A node's block: its rows, then their order by each numeric column.
    training = Training(
        data.XT,
        data.y,
        data.order,
        columns,
        n_values,
        np.cumsum(is_numeric),
        in_mean,
        repeats,
    )
    rows = np.vstack([np.arange(n), data.order[columns[is_numeric]]]).astype(np.int32).ravel()
    arena = Arena(rows, weight.copy())
    max_bags = max(2, int(n_values.max()))
    gains = Gains(np.empty(k), np.empty(k), np.empty(k, np.bool_), np.empty(k, np.int64))
    children = Children(
        np.empty(max_bags, np.int64),
        np.empty(max_bags, np.int64),
        np.empty(max_bags, np.int64),
        np.empty(max_bags, np.int64),
        np.empty((max_bags, n_classes)),
    )
    scratch = Scratch(
        np.empty((max_bags, n_classes)),
        np.empty((2, n_classes)),
        np.empty(n_classes, np.int64),
        np.empty(n),
        np.empty(n, np.int32),
    )
    tree = new_tree(max(_FIRST_CAPACITY, 1 + max_bags), n_classes)
    tree.counts[0] = np.bincount(data.y, weight, minlength=n_classes)
    stack = np.empty((tree.feature.size, 3), np.int64)
    stack[0] = 0, 0, n
    top, n_nodes = 1, 1
    while True:
        top, n_nodes, n_needed = split_nodes(
            training, float(min_leaf), gains, children, scratch, arena, tree, stack, top, n_nodes
        )
        if top == 0:
            return tree, n_nodes
        if n_needed > arena.weight.size:
            n_blocks = arena.row.size // arena.weight.size
            arena = Arena(
                np.resize(arena.row, 2 * n_needed * n_blocks),
                np.resize(arena.weight, 2 * n_needed),
            )
        else:
            tree = enlarge_tree(tree, n_nodes, 4 * n_nodes + max_bags)
            stack = np.resize(stack, (tree.feature.size, 3))


@njit
def split_nodes(training, min_leaf, gains, children, scratch, arena, tree, stack, top, n_nodes):
    """Split the nodes on the stack and their descendants, as far as there is room.

    A row of the stack is a node, where its weights begin in the arena and its number of rows; its
    block in the arena has the rows and, for column a, their order in block ``block_of[a]``. Returns
    how many nodes are left, the number of nodes, and the rows to allocate, 0 if it is nodes that
    lack.

    Example: rows 0, 1, 2 of weight 1 with values 5, NaN, 3 of one numeric column. The block of the
    root is 0 1 2 (its rows) and 2 0 1 (by value, missing last). A cut at 3 sends row 2 left, row 0
    right and row 1 both ways with weight 1/2 each: the left child is on top of the stack, with the
    block 1 2, 2 1, and the weights 1/2, 1.
    """
    feature, counts = tree.feature, tree.counts
    n_blocks = arena.row.size // arena.weight.size
    while top > 0 and n_nodes + scratch.bags.shape[0] <= feature.size:
        top -= 1
        node, begin, size = stack[top, 0], stack[top, 1], stack[top, 2]
        node_weight, largest_class = 0.0, 0.0
        for c in range(counts.shape[1]):
            node_weight += counts[node, c]
            largest_class = max(largest_class, counts[node, c])
        if 2.0 * min_leaf - node_weight > EPS or node_weight - largest_class < EPS:
            continue
        block = arena.row[n_blocks * begin : n_blocks * (begin + size)].copy()
        for i in range(size):
            scratch.weight[block[i]] = arena.weight[begin + i]
        best = choose_split(training, block, size, node_weight, min_leaf, gains, scratch)
        if best < 0:
            continue
        n_children, cut = np.int64(training.n_values[best]), np.nan
        if n_children == 0:
            n_children = np.int64(2)
            x, last_left = training.XT[training.columns[best]], gains.n_left[best] - 1
            last_left += training.block_of[best] * size
            lower, upper = np.float64(x[block[last_left]]), np.float64(x[block[last_left + 1]])
            cut = cut_between(x, training.order[training.columns[best]], lower, upper)
        known, n_missing = deal_rows(
            training, block, size, best, n_children, cut, children, scratch
        )
        if not math.isnan(cut) and (children.size[0] == 0 or children.size[1] == 0):
            continue  # the values at the cut are within EPS of another training value
        end = place_children(n_children, known, n_missing, begin, n_nodes, tree.share, children)
        if end > arena.weight.size:
            return top + 1, n_nodes, end
        feature[node], tree.threshold[node] = training.columns[best], cut
        tree.first_child[node], tree.n_children[node] = n_nodes, n_children
        count_children(
            training.y, block, size, n_children, n_missing, n_nodes, tree, children, scratch
        )
        send_rows(block, size, n_blocks, n_children, children, scratch.branch, arena.row)
        for v in range(n_children - 1, -1, -1):
            base, share = children.base[v], tree.share[n_nodes + v]
            for i in range(children.size[v]):
                row = arena.row[n_blocks * base + i]
                part = share if scratch.branch[row] < 0 else 1.0
                arena.weight[base + i] = scratch.weight[row] * part
            stack[top, 0], stack[top, 1], stack[top, 2] = n_nodes + v, base, children.size[v]
            top += 1
        n_nodes += n_children
    return top, n_nodes, np.int64(0)


@njit_part
def choose_split(training, block, size, node_weight, min_leaf, gains, scratch):
    """Return the column to test at a node, -1 if none gains; fill in what each would gain."""
    XT, columns, n_values = training.XT, training.columns, training.n_values
    gain, ratio, is_valid = gains.gain, gains.ratio, gains.is_valid
    bags = scratch.bags
    for a in range(columns.size):
        x, n_bags = XT[columns[a]], np.int64(n_values[a])
        is_valid[a] = False
        if n_bags > 0:
            if not scan_nominal(
                x, block[:size], training.y, scratch.weight, n_bags, min_leaf, bags
            ):
                continue
            gain[a], information = gain_and_information(bags, n_bags, node_weight)
            is_valid[a] = True
        else:
            start = training.block_of[a] * size
            gains.n_left[a], n_cuts = scan_numeric(
                x,
                block[start : start + size],
                training.y,
                scratch.weight,
                training.repeats,
                node_weight,
                min_leaf,
                bags,
                scratch.logs,
                scratch.present,
            )
            if gains.n_left[a] == 0:
                continue
            gain[a], information = gain_and_information(bags, np.int64(2), node_weight)
            gain[a] -= math.log(n_cuts) / LN2 / node_weight
            is_valid[a] = gain[a] >= EPS
        ratio[a] = gain[a] / information if information > 0.0 else 0.0
    return choose_column(gain, ratio, training.in_mean, is_valid)


@njit_part
def deal_rows(training, block, size, best, n_children, cut, children, scratch):
    """Find the branch of every row; return the known weight and how many rows miss the value."""
    x, y, is_numeric = training.XT[training.columns[best]], training.y, training.n_values[best] == 0
    branch, weight, bags, sizes = scratch.branch, scratch.weight, children.bags, children.size
    clear(bags, n_children)
    for v in range(n_children):
        sizes[v] = 0
    known, n_missing = 0.0, 0
    for i in range(size):
        row = block[i]
        value = np.float64(x[row])
        if math.isnan(value):
            branch[row] = -1
            n_missing += 1
            continue
        if is_numeric:
            branch[row] = 0 if goes_left(value, cut) else 1
        else:
            branch[row] = int(value)
        bags[branch[row], y[row]] += weight[row]
        sizes[branch[row]] += 1
        known += weight[row]
    return known, n_missing


@njit_part
def place_children(n_children, known, n_missing, begin, first, share, children):
    """Set the shares of the children and where their rows begin; return where the last ends.

    The node's rows are free again: its children take them, the first of them at the end.
    """
    for v in range(n_children):
        bag = 0.0
        for c in range(children.bags.shape[1]):
            bag += children.bags[v, c]
        share[first + v] = bag / known
        children.takes_missing[v] = bag / known > EPS
    end = begin
    for v in range(n_children - 1, -1, -1):
        children.size[v] += n_missing if children.takes_missing[v] else 0
        children.base[v] = end
        end += children.size[v]
    return end


@njit_part
def count_children(y, block, size, n_children, n_missing, first, tree, children, scratch):
    """Count the classes of the children, numbered from `first` on."""
    counts = tree.counts
    for v in range(n_children):
        for c in range(counts.shape[1]):
            counts[first + v, c] = children.bags[v, c]
    for i in range(size if n_missing > 0 else 0):
        row = block[i]
        if scratch.branch[row] < 0:
            for v in range(n_children):
                if children.takes_missing[v]:
                    counts[first + v, y[row]] += tree.share[first + v] * scratch.weight[row]


@njit_part
def send_rows(block, size, n_blocks, n_children, children, branch, arena):
    """Copy all orders of a node's rows to its children; branch -1: to those that take missing."""
    slot = children.slot
    for b in range(n_blocks):
        for v in range(n_children):
            slot[v] = n_blocks * children.base[v] + b * children.size[v]
        for i in range(b * size, (b + 1) * size):
            row = block[i]
            v = branch[row]
            if v < 0:
                for u in range(n_children):
                    if children.takes_missing[u]:
                        arena[slot[u]] = row
                        slot[u] += 1
            else:
                arena[slot[v]] = row
                slot[v] += 1


@njit_part
def scan_nominal(x, rows, y, weight, n_values, min_leaf, bags):
    """Fill the values x classes table; return whether two values have enough weight for a split."""
    clear(bags, n_values)
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
def scan_numeric(x, stretch, y, weight, repeats, node_weight, min_leaf, bags, logs, present):
    """Return after how many rows of a sorted column the best cut is, 0 if none, and the cuts.

    ``bags[:2]`` become the class weights left and right of it; `logs` and `present` are work space.
    """
    n_classes = bags.shape[1]
    clear(bags, np.int64(2))
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
    n_present = 0
    for c in range(n_classes):
        logs[0, c] = 0.0
        logs[1, c] = plogp(bags[1, c])
        node_entropy -= logs[1, c]
        if bags[1, c] > 0.0:  # the others add 0 to every entropy
            present[n_present] = c
            n_present += 1
    left, right = 0.0, known
    known_part = 1.0 - (node_weight - known) / node_weight
    best_gain, i_best, n_cuts = 0.0, 0, 0
    following = np.float64(x[stretch[0]])
    for i in range(n_known - 1):
        # bags[0] and left hold the weights of stretch[:i], bags[1] and right those of stretch[i:]
        row, value = stretch[i], following
        following = np.float64(x[stretch[i + 1]])
        c, w = y[row], weight[row]
        bags[0, c] += w
        bags[1, c] -= w
        left += w
        right -= w
        logs[0, c] = plogp(bags[0, c])
        logs[1, c] = plogp(bags[1, c])
        if not value + GAP < following:
            continue
        if smallest - left >= EPS or smallest - right >= EPS:
            continue
        n_cuts += 1
        entropy = 0.0
        for u in range(n_present):
            entropy -= logs[0, present[u]]
        entropy += plogp(left)
        for u in range(n_present):
            entropy -= logs[1, present[u]]
        entropy += plogp(right)
        gain = known_part * (node_entropy - entropy) / known
        if gain - best_gain > EPS:
            best_gain, i_best = gain, i + 1
    clear(bags, np.int64(2))
    for i in range(n_known):
        bags[0 if i < i_best else 1, y[stretch[i]]] += weight[stretch[i]]
    return i_best, n_cuts


@njit_part
def gain_and_information(bags, n_bags, node_weight):
    """Return gain and split information, missing weight as a bag, of a bags x classes table."""
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
def clear(bags, n_bags):
    """Set the first bags of a table to 0."""
    for v in range(n_bags):
        for c in range(bags.shape[1]):
            bags[v, c] = 0.0
