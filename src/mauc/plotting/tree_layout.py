"""Place the nodes of a tree by the size of their texts, as deep as a page allows.

Places are inches. A level of the tree is a band across the page that holds the texts of its nodes;
edges run between the bands and beside the texts, so that none is drawn through a text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

GAP = 0.12  # between the texts of a level
EDGE = 0.34  # between two levels, for the edges
MARGIN = 0.1  # around the tree
SPACE = 0.05  # before and after the test of a branch

#: width and height of the test before a node and of its box: (node, is_cut) -> (label, box)
Measure = Callable[[int, bool], tuple[tuple[float, float], tuple[float, float]]]


@dataclass(frozen=True)
class TreeLayout:
    """Nodes shown and where their texts stand.

    Attributes
    ----------
    is_down : bool
        Whether the root is on top, else it is on the left.
    nodes : list of int
        Nodes shown, parents before children.
    cut : set of int
        Those of them whose children are left out.
    start, middle, box_start, box_end : dict of int to float
        Along the depth: where the edge to a node ends, and where its box begins and ends; across
        it, the middle of its texts.
    bands : list of tuple of float
        Where the texts of every level begin and end.
    width, height : float
    """

    is_down: bool
    nodes: list[int]
    cut: set[int]
    start: dict[int, float]
    middle: dict[int, float]
    box_start: dict[int, float]
    box_end: dict[int, float]
    bands: list[tuple[float, float]]
    width: float
    height: float

    def point(self, along: float, across: float) -> tuple[float, float]:
        """Return x and y of a place."""
        return (across, along) if self.is_down else (along, across)


def node_depths(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth of every node and the number of levels below it."""
    n_nodes = len(tree.feature)
    depth, below = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    for t in range(n_nodes):
        depth[_children(tree, t)] = depth[t] + 1  # children come after their parent
    for t in range(n_nodes - 1, -1, -1):
        if tree.n_children[t] > 0:
            below[t] = below[_children(tree, t)].max() + 1
    return depth, below


def lay_out(tree: Any, measure: Measure, max_depth: int, *, is_down: bool) -> TreeLayout:
    """Place the nodes down to a depth.

    Parameters
    ----------
    tree : Tree
    measure : callable
        Sizes of the texts of a node.
    max_depth : int
        Children of nodes at this depth are left out.
    is_down : bool
        The root on top, or on the left.

    Returns
    -------
    layout : TreeLayout
    """
    nodes, depth, parents = [0], {0: 0}, {0: -1}
    for t in nodes:  # grows while it is read
        if depth[t] < max_depth:
            for child in _children(tree, t).tolist():
                nodes.append(child)
                depth[child], parents[child] = depth[t] + 1, t
    cut = {t for t in nodes if depth[t] == max_depth and tree.n_children[t] > 0}
    along_label, along_box, across = {}, {}, {}
    for t in nodes:
        label, box = measure(t, t in cut)
        along, side = (1, 0) if is_down else (0, 1)
        along_label[t] = label[along] + 2 * SPACE if label[along] > 0 else 0.0
        along_box[t], across[t] = box[along], max(label[side], box[side]) + GAP
    room = dict(across)  # of the whole subtree
    inner = [t for t in nodes if t not in cut and tree.n_children[t] > 0]
    for t in reversed(inner):
        room[t] = max(across[t], sum(room[child] for child in _children(tree, t).tolist()))
    bands, place = [], MARGIN
    for level in range(max(depth.values()) + 1):
        here = [t for t in nodes if depth[t] == level]
        length = max(along_label[t] + along_box[t] for t in here)
        bands.append((place, place + length))
        place += length + EDGE
    middle = _middles(tree, inner, across, room)
    start = {t: bands[depth[t]][0] for t in nodes}
    box_start = {t: start[t] + along_label[t] for t in nodes}
    box_end = {t: box_start[t] + along_box[t] for t in nodes}
    size = (room[0] + 2 * MARGIN, bands[-1][1] + MARGIN)
    width, height = size if is_down else size[::-1]
    return TreeLayout(
        is_down, nodes, cut, start, middle, box_start, box_end, bands, width, height
    )  # fmt: skip


def deepest_layout(
    tree: Any, measure: Measure, limits: tuple[float, float], *, is_down: bool
) -> TreeLayout:
    """Return the layout of the most levels whose width and height stay within the limits.

    The root and its children are shown in any case.
    """
    n_levels = int(node_depths(tree)[1][0])
    best = lay_out(tree, measure, min(1, n_levels), is_down=is_down)
    for max_depth in range(2, n_levels + 1):
        layout = lay_out(tree, measure, max_depth, is_down=is_down)
        if layout.width <= limits[0] and layout.height <= limits[1]:
            best = layout
        # The note of a cut may be wider than what it stands for, but not much.
        elif layout.width > 2 * limits[0] or layout.height > 2 * limits[1]:
            break
    return best


def edge_lines(tree: Any, layout: TreeLayout) -> list[list[tuple[float, float]]]:
    """Return the corners of every edge, in the order of the children."""
    shown, lines = set(layout.nodes), []
    for t in layout.nodes:
        if t in layout.cut:
            continue
        for child in _children(tree, t).tolist():
            if child in shown:
                bend = layout.start[child] - EDGE / 2
                corners = [
                    (layout.box_end[t], layout.middle[t]), (bend, layout.middle[t]),
                    (bend, layout.middle[child]), (layout.start[child], layout.middle[child]),
                ]  # fmt: skip
                lines.append([layout.point(*corner) for corner in corners])
    return lines


def _children(tree: Any, t: int) -> np.ndarray:
    return tree.first_child[t] + np.arange(tree.n_children[t])


def _middles(
    tree: Any, inner: list[int], across: dict[int, float], room: dict[int, float]
) -> dict[int, float]:
    """Return the place of every node across the depth: a parent in the middle of its children."""
    left = {0: MARGIN}
    for t in inner:
        children = _children(tree, t).tolist()
        at = left[t] + (room[t] - sum(room[child] for child in children)) / 2
        for child in children:
            left[child] = at
            at += room[child]
    middle = {t: left[t] + room[t] / 2 for t in left}
    for t in reversed(inner):
        first, *_, last = _children(tree, t).tolist()
        wanted = (middle[first] + middle[last]) / 2
        # Within its own room, whatever its children are like.
        low = left[t] + across[t] / 2
        middle[t] = min(max(wanted, low), left[t] + room[t] - across[t] / 2)
    return middle
