"""Grow C4.5 trees: a fast path for complete numeric rows of weight 1, one for all others.

Both split the nodes on a stack, the left child first. On the fast path a node owns the same stretch
of every sorted column, which a split partitions stably; an entry is the rank of the value in the
high bits and the row number in the low ones, and entropies are sums over integer counts, looked up
in fixed point. On the other path a row whose tested value is missing goes to every child with a
part of its weight, so a node owns a copy of its rows, in an arena; entropies are sums in the order
of the reference, which is several times slower.

The kernels return where a tree outgrows its arrays and are called again with larger ones:
allocations would take longer to compile than the rest of them.
"""

import math
from typing import Any

import numpy as np

from mauc.compile import njit, njit_part
from mauc.engine.arrays import LN2, log_table
from mauc.lab.c45.tree import (
    EPS,
    GAP,
    choose_column,
    cut_between,
    enlarge_tree,
    goes_left,
    new_tree,
    plogp,
    smallest_branch,
)

ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1
_FIRST_CAPACITY = 256  # nodes


def grow_complete(data: Any, columns: Any, min_leaf: Any) -> Any:
    """Return the unpruned tree of complete numeric rows of weight 1, and its number of nodes."""
    n, k, n_classes = data.y.size, columns.size, data.n_classes
    entries, is_close = np.empty((k, n), np.int64), np.empty(k, np.bool_)
    pack_columns(data.XT, data.order, columns, entries, is_close)
    logs, fixed, scale = log_table(n, LN2)
    fixed_data = (
        data.XT,
        data.y.astype(np.uint16),
        data.order,
        columns,
        entries,
        is_close,
        logs,
        fixed,
        np.diff(fixed),
        scale,
        float(min_leaf),
    )
    work = (
        np.empty((2, k)),
        np.empty(k, np.bool_),
        np.empty(k, np.int64),
        np.arange(k),
        np.empty((2, n_classes), np.int64),
        np.empty(n, np.bool_),
        np.empty(n, np.int64),
    )
    stack = np.empty((n + 2, 4), np.int64)  # at most one node per row
    stack[0] = 0, 0, n, k
    top, n_nodes = 1, 1
    tree = new_tree(min(_FIRST_CAPACITY, 2 * n + 1), n_classes)
    tree.counts[0] = np.bincount(data.y, minlength=n_classes)
    while True:
        nodes = (tree.feature, tree.threshold, tree.first_child, tree.counts)
        top, n_nodes = split_complete(*fixed_data, *work, stack, top, n_nodes, *nodes)
        if top == 0:
            break
        tree = enlarge_tree(tree, n_nodes, 4 * n_nodes)
    tree.n_children[tree.feature >= 0] = 2
    return tree, n_nodes


def grow_weighted(data: Any, columns: Any, weight: Any, repeats: Any, min_leaf: Any) -> Any:
    """Return the unpruned tree of weighted rows, counted `repeats` times by rules, and its size."""
    n, k, n_classes, n_values = data.y.size, columns.size, data.n_classes, data.n_values[columns]
    is_numeric = n_values == 0
    # A nominal column with many values is left out of the mean gain, unless all columns are such.
    many = np.cumsum(0.3 * repeats)[-1]  # not `sum`: the order of the additions is part of it
    in_mean = is_numeric | (many - n_values > EPS)
    in_mean |= not in_mean.any()
    # A node's block: its rows, then their order by each numeric column.
    block_of = np.cumsum(is_numeric)
    arena = np.vstack([np.arange(n), data.order[columns[is_numeric]]]).astype(np.int32).ravel()
    arena_weight = weight.copy()
    max_bags = max(2, int(n_values.max()))
    fixed_data = (
        data.XT,
        data.y,
        data.order,
        columns,
        n_values,
        block_of,
        in_mean,
        repeats,
        float(min_leaf),
    )
    work = (
        np.empty((2, max_bags, n_classes)),
        np.empty((2, n_classes)),
        np.empty((2, k)),
        np.empty(k, np.bool_),
        np.empty(k, np.int64),
        np.empty(n),
        np.empty(n, np.int32),
        np.empty((4, max_bags), np.int64),
    )
    tree = new_tree(max(_FIRST_CAPACITY, 1 + max_bags), n_classes)
    tree.counts[0] = np.bincount(data.y, weight, minlength=n_classes)
    stack = np.empty((tree.feature.size, 3), np.int64)
    stack[0] = 0, 0, n
    top, n_nodes = 1, 1
    while True:
        top, n_nodes, n_needed = split_weighted(
            *fixed_data, *work, arena, arena_weight, stack, top, n_nodes, *tree
        )
        if top == 0:
            return tree, n_nodes
        if n_needed > arena_weight.size:
            arena = np.resize(arena, 2 * n_needed * (arena.size // arena_weight.size))
            arena_weight = np.resize(arena_weight, 2 * n_needed)
        else:
            tree = enlarge_tree(tree, n_nodes, 4 * n_nodes + max_bags)
            stack = np.resize(stack, (tree.feature.size, 3))


@njit(cache=True, nogil=True)
def pack_columns(XT, order, columns, entries, is_close):
    """Fill ``entries[a]`` with rank << ROW_BITS | row of column ``columns[a]``, sorted.

    ``is_close[a]``: two different values are within `GAP`, so ranks do not tell admissible cuts.
    """
    for a in range(columns.size):
        x, rows = XT[columns[a]], order[columns[a]]
        rank = np.int64(0)
        has_close_values = False
        below = np.float64(x[rows[0]])
        for i in range(rows.size):
            value = np.float64(x[np.uint32(rows[i])])
            if value != below:
                rank += 1
                has_close_values |= not below + GAP < value
                below = value
            entries[a, i] = (rank << ROW_BITS) | rows[i]
        is_close[a] = has_close_values


@njit(cache=True, nogil=True, error_model="numpy")
def split_complete(
    XT,
    class_of,
    order,
    columns,
    entries,
    is_close,
    logs,
    fixed,
    step,
    scale,
    min_leaf,
    gains,
    is_valid,
    n_left_of,
    live,
    class_counts,
    is_left,
    buffer,
    stack,
    top,
    n_nodes,
    feature,
    threshold,
    first_child,
    counts,
):
    """Split the nodes on the stack and their descendants, as far as there is room for nodes.

    A row of the stack is a node, the start and end of its entries and the number of its live
    columns: ``live[:n_live]``, of a permutation of all k, still vary at the node. Returns how many
    nodes are left on the stack, for lack of room, and the number of nodes.
    """
    gain, ratio = gains[0], gains[1]
    total, left = class_counts[0], class_counts[1]
    while top > 0 and n_nodes + 2 <= feature.size:
        top -= 1
        node, start, end, n_live = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        size = end - start
        largest_class = 0.0
        for c in range(total.size):
            total[c] = np.int64(counts[node, c])
            largest_class = max(largest_class, counts[node, c])
        if 2.0 * min_leaf - size > EPS or size - largest_class < EPS:
            continue
        min_rows = smallest_branch(np.float64(size), total.size, min_leaf)
        if 2.0 * min_rows - size > EPS:
            continue
        n_min = max(1, np.int64(math.ceil(min_rows - EPS)))
        margin = np.int64(math.floor(EPS * size * scale))

        for a in range(is_valid.size):
            is_valid[a] = False
        b = 0
        while b < n_live:
            # the columns live[:b] are scanned and vary, live[n_live:] are constant at this node
            a = live[b]
            if (entries[a, start] ^ entries[a, end - 1]) <= ROW_MASK:
                n_live -= 1
                live[b] = live[n_live]
                live[n_live] = a
                continue
            b += 1
            n_left, n_cuts, fixed_gain = scan_column(
                XT[columns[a]],
                is_close[a],
                entries[a, start:end],
                class_of,
                total,
                left,
                fixed,
                step,
                margin,
                n_min,
            )
            if n_left == 0:
                continue
            gain[a], ratio[a] = gain_of_cut(fixed_gain / scale, size, n_left, n_cuts, logs)
            n_left_of[a] = n_left
            is_valid[a] = gain[a] > 0.0
        best = choose_column(gain, ratio, is_valid, is_valid)
        if best < 0:
            continue

        x = XT[columns[best]]
        stretch = entries[best, start:end]
        lower = np.float64(x[np.uint32(stretch[n_left_of[best] - 1])])
        upper = np.float64(x[np.uint32(stretch[n_left_of[best]])])
        cut = cut_between(x, order[columns[best]], lower, upper)

        n_left = 0
        for i in range(size):
            row = np.uint32(stretch[i])
            is_left[row] = goes_left(np.float64(x[row]), cut)
            n_left += is_left[row]
        if n_left == 0 or n_left == size:
            continue  # the values at the cut are within EPS of another training value

        feature[node], threshold[node], first_child[node] = columns[best], cut, n_nodes
        for i in range(size):
            row = np.uint32(stretch[i])
            counts[n_nodes + 1 - is_left[row], class_of[row]] += 1.0
        if max(n_left, size - n_left) >= 2.0 * min_leaf - EPS:
            for b in range(n_live):
                partition_stretch(entries[live[b], start:end], is_left, buffer)
        for side in range(2):
            # the left child is on top of the stack
            stack[top + side, 0] = n_nodes + 1 - side
            stack[top + side, 1] = start + n_left if side == 0 else start
            stack[top + side, 2] = end if side == 0 else start + n_left
            stack[top + side, 3] = n_live
        top += 2
        n_nodes += 2
    return top, n_nodes


@njit_part
def scan_column(x, has_close_values, stretch, y, total, left, fixed, step, margin, n_min):
    """Return rows left of the best cut, 0 if none gains, the admissible cuts, the saved entropy.

    With f(v) = v log2 v, in fixed point, the cut's weighted entropy is f(n_L) + f(n_R) - s where s
    sums f over the classes left and right. Moving a row of class c with a rows already left changes
    s by step[a] - step[total[c] - a - 1], step[v] = f(v + 1) - f(v): two table look-ups. A later
    cut must be better by `margin`; a branch has `n_min` rows at least.
    """
    # np.uint32(entry) is the row; unsigned indices need no test for being negative.
    size = stretch.size
    s = np.int64(0)
    for c in range(total.size):
        left[c] = 0
        s += fixed[total[c]]
    unsplit = s - fixed[size]  # minus the node's own entropy: a cut must be larger
    best, best_left, n_cuts = unsplit, 0, 0
    for i in range(n_min - 1):
        c = np.uint32(y[np.uint32(stretch[i])])
        a = left[c]
        left[c] = a + 1
        s += step[np.uint32(a)] - step[np.uint32(total[c] - a - 1)]
    here = stretch[n_min - 1]
    for i in range(n_min - 1, size - n_min):
        # rows stretch[:i] are left, entry `here` = stretch[i] now joins them
        c = np.uint32(y[np.uint32(here)])
        a = left[c]
        left[c] = a + 1
        s += step[np.uint32(a)] - step[np.uint32(total[c] - a - 1)]
        following = stretch[i + 1]
        is_cut = (here ^ following) > ROW_MASK
        if has_close_values and is_cut:
            is_cut = np.float64(x[np.uint32(here)]) + GAP < np.float64(x[np.uint32(following)])
        n_cuts += is_cut
        candidate = s - fixed[np.uint32(i + 1)] - fixed[np.uint32(size - i - 1)]
        # `&`, not `and`: is_cut is unpredictable, a better cut is rare, so one branch is enough
        if is_cut & (candidate - best > margin):
            best, best_left = candidate, i + 1
        here = following
    return best_left, n_cuts, best - unsplit


@njit_part
def gain_of_cut(saved, size, n_left, n_cuts, logs):
    """Return the corrected gain, -1 if not positive, and the gain ratio, 0 without information."""
    gain = saved / size - math.log(n_cuts) / LN2 / size
    if gain < EPS:
        return -1.0, 0.0
    information = -logs[n_left] - logs[size - n_left] + logs[size]
    if information < EPS:
        return gain, 0.0
    return gain, gain / (information / size)


@njit_part
def partition_stretch(stretch, is_left, buffer):
    """Move the rows that go left to the front; both sides keep their order."""
    n_left, n_right = np.uint32(0), np.uint32(0)
    for i in range(stretch.size):
        # stretch[:n_left] and buffer[:n_right] hold the first i entries; of the two writes that
        # follow, only one is kept
        entry = stretch[i]
        side = np.uint32(is_left[np.uint32(entry)])
        stretch[n_left] = entry
        buffer[n_right] = entry
        n_left += side
        n_right += np.uint32(1) - side
    for i in range(n_right):
        stretch[n_left + i] = buffer[i]


@njit(cache=True, nogil=True, error_model="numpy")
def split_weighted(
    XT,
    y,
    order,
    columns,
    n_values,
    block_of,
    in_mean,
    repeats,
    min_leaf,
    both_bags,
    logs,
    gains,
    is_valid,
    n_left_of,
    weight,
    branch,
    children,
    arena,
    arena_weight,
    stack,
    top,
    n_nodes,
    feature,
    threshold,
    first_child,
    n_children_of,
    share,
    counts,
):
    """Split the nodes on the stack and their descendants, as far as there is room.

    A row of the stack is a node, where its weights begin in `arena_weight` and its number of rows;
    its block in `arena` has the rows and, for column a, their order in block ``block_of[a]``.
    Returns how many nodes are left, the number of nodes, and the rows to allocate, 0 if it is nodes
    that lack.
    """
    bags, best_bags = both_bags[0], both_bags[1]
    gain, ratio = gains[0], gains[1]
    n_classes, n_blocks = counts.shape[1], arena.size // arena_weight.size
    while top > 0 and n_nodes + bags.shape[0] <= feature.size:
        top -= 1
        node, begin, size = stack[top, 0], stack[top, 1], stack[top, 2]
        node_weight, largest_class = 0.0, 0.0
        for c in range(n_classes):
            node_weight += counts[node, c]
            largest_class = max(largest_class, counts[node, c])
        if 2.0 * min_leaf - node_weight > EPS or node_weight - largest_class < EPS:
            continue
        block = arena[n_blocks * begin : n_blocks * (begin + size)].copy()
        rows = block[:size]
        for i in range(size):
            weight[rows[i]] = arena_weight[begin + i]

        for a in range(columns.size):
            x, n_bags = XT[columns[a]], np.int64(n_values[a])
            is_valid[a] = False
            if n_bags > 0:
                if not scan_nominal(x, rows, y, weight, n_bags, min_leaf, bags):
                    continue
                gain[a], information = gain_and_information(bags, n_bags, node_weight)
                is_valid[a] = True
            else:
                stretch = block[block_of[a] * size : (block_of[a] + 1) * size]
                n_left_of[a], n_cuts = scan_numeric(
                    x, stretch, y, weight, repeats, node_weight, min_leaf, bags, logs
                )
                if n_left_of[a] == 0:
                    continue
                gain[a], information = gain_and_information(bags, np.int64(2), node_weight)
                gain[a] -= math.log(n_cuts) / LN2 / node_weight
                is_valid[a] = gain[a] >= EPS
            ratio[a] = gain[a] / information if information > 0.0 else 0.0
        best = choose_column(gain, ratio, in_mean, is_valid)
        if best < 0:
            continue

        x, n_children, cut = XT[columns[best]], np.int64(n_values[best]), np.nan
        is_numeric = n_children == 0
        if is_numeric:
            n_children = np.int64(2)
            last_left = block_of[best] * size + n_left_of[best] - 1
            lower, upper = np.float64(x[block[last_left]]), np.float64(x[block[last_left + 1]])
            cut = cut_between(x, order[columns[best]], lower, upper)
        child_size, base = children[0, :n_children], children[1, :n_children]
        takes_missing, slot = children[2, :n_children], children[3, :n_children]
        clear(best_bags, n_children)
        for v in range(n_children):
            child_size[v] = 0
        known, n_missing = 0.0, 0
        for i in range(size):
            row = rows[i]
            value = np.float64(x[row])
            if math.isnan(value):
                branch[row] = -1
                n_missing += 1
                continue
            if is_numeric:
                branch[row] = 0 if goes_left(value, cut) else 1
            else:
                branch[row] = int(value)
            best_bags[branch[row], y[row]] += weight[row]
            child_size[branch[row]] += 1
            known += weight[row]
        if is_numeric and (child_size[0] == 0 or child_size[1] == 0):
            continue  # the values at the cut are within EPS of another training value
        for v in range(n_children):
            bag = 0.0
            for c in range(n_classes):
                bag += best_bags[v, c]
            share[n_nodes + v] = bag / known
            takes_missing[v] = bag / known > EPS
        # The node's rows are free again: its children take them, the first of them at the end.
        end = begin
        for v in range(n_children - 1, -1, -1):
            child_size[v] += n_missing if takes_missing[v] else 0
            base[v] = end
            end += child_size[v]
        if end > arena_weight.size:
            return top + 1, n_nodes, end

        feature[node], threshold[node] = columns[best], cut
        first_child[node], n_children_of[node] = n_nodes, n_children
        for v in range(n_children):
            for c in range(n_classes):
                counts[n_nodes + v, c] = best_bags[v, c]
        for i in range(size if n_missing > 0 else 0):
            if branch[rows[i]] < 0:
                for v in range(n_children):
                    if takes_missing[v]:
                        part = share[n_nodes + v] * weight[rows[i]]
                        counts[n_nodes + v, y[rows[i]]] += part
        send_rows(block, size, n_blocks, branch, takes_missing, base, child_size, slot, arena)
        for v in range(n_children - 1, -1, -1):
            for i in range(child_size[v]):
                row = arena[n_blocks * base[v] + i]
                part = share[n_nodes + v] if branch[row] < 0 else 1.0
                arena_weight[base[v] + i] = weight[row] * part
            stack[top, 0], stack[top, 1], stack[top, 2] = n_nodes + v, base[v], child_size[v]
            top += 1
        n_nodes += n_children
    return top, n_nodes, np.int64(0)


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
def scan_numeric(x, stretch, y, weight, repeats, node_weight, min_leaf, bags, logs):
    """Return after how many rows of a sorted column the best cut is, 0 if none, and the cuts.

    ``bags[:2]`` become the class weights left and right of it; `logs` is work space.
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
def send_rows(block, size, n_blocks, branch, takes_missing, base, child_size, slot, arena):
    """Copy all orders of a node's rows to its children; branch -1: to those that take missing."""
    for b in range(n_blocks):
        for v in range(base.size):
            slot[v] = n_blocks * base[v] + b * child_size[v]
        for i in range(b * size, (b + 1) * size):
            row = block[i]
            v = branch[row]
            if v < 0:
                for u in range(base.size):
                    if takes_missing[u]:
                        arena[slot[u]] = row
                        slot[u] += 1
            else:
                arena[slot[v]] = row
                slot[v] += 1


@njit_part
def clear(bags, n_bags):
    """Set the first bags of a table to 0."""
    for v in range(n_bags):
        for c in range(bags.shape[1]):
            bags[v, c] = 0.0
