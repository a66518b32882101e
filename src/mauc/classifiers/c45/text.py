"""A C4.5 tree as text, one test or leaf per line."""

import math
from numbers import Real

import numpy as np

from mauc.classifiers.c45.nodes import EPS


def format_number(value, decimals=6):
    """Format a number with at most `decimals` decimals and no trailing zeros."""
    scaled = math.floor(abs(value) * 10.0**decimals + 0.5)
    if scaled == 0:
        return "0"
    text = f"{scaled / 10.0**decimals:.{decimals}f}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text


def format_weight(weight):
    """Format a weight with one or two decimals, halves rounded up."""
    return repr(math.floor(weight * 100.0 + 0.5) / 100.0)


def largest_class(counts):
    """Return the most frequent class, of (nearly) equals the first."""
    best = 0
    for c in range(1, len(counts)):
        if counts[c] - counts[best] > EPS:
            best = c
    return best


def describe_test(tree, node, child, feature_names, categories):
    """Return the test on the branch from `node` to its `child`-th child, as ``petal <= 0.6``."""
    feature = int(tree.feature[node])
    name = feature_names[feature]
    if feature in categories:
        value = categories[feature][child]
        return f"{name} = {value:g}" if isinstance(value, Real) else f"{name} = {value}"
    return f"{name} {'<=' if child == 0 else '>'} {format_number(float(tree.threshold[node]))}"


def describe_leaf(tree, node, parent, class_names):
    """Return the leaf's class with the weight that reached it / the weight it gets wrong."""
    counts = tree.counts[node]
    total = float(counts.sum())
    if total < EPS and parent >= 0:
        return f"{class_names[largest_class(tree.counts[parent])]} (0.0)"
    best = largest_class(counts)
    wrong = total - float(counts[best])
    errors = f"/{format_weight(wrong)}" if wrong > EPS else ""
    return f"{class_names[best]} ({format_weight(total)}{errors})"


def tree_to_text(tree, feature_names, class_names, categories):
    """Return the tree in the layout of J48's printout.

    Parameters
    ----------
    tree : Tree
    feature_names, class_names : sequences of str
    categories : dict of int to ndarray
        Values of the nominal columns.

    Returns
    -------
    text : str
    """
    n_leaves = int(np.count_nonzero(tree.n_children == 0))
    lines = []
    if tree.n_children[0] == 0:
        lines.append(f": {describe_leaf(tree, 0, -1, class_names)}")
    # Branches to print: (parent, child number, depth); the first child is on top.
    waiting = [(0, v, 0) for v in reversed(range(tree.n_children[0]))]
    while waiting:
        parent, v, depth = waiting.pop()
        node = int(tree.first_child[parent]) + v
        line = "|   " * depth + describe_test(tree, parent, v, feature_names, categories)
        if tree.n_children[node] == 0:
            line += f": {describe_leaf(tree, node, parent, class_names)}"
        lines.append(line)
        waiting += [(node, u, depth + 1) for u in reversed(range(tree.n_children[node]))]
    lines += ["", f"Number of Leaves  : {n_leaves}", ""]
    lines += [f"Size of the tree : {len(tree.feature)}", ""]
    return "\n".join(lines)
