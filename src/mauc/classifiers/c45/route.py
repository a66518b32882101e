"""Route weighted rows through a C4.5 tree.

A row reaches a node with a weight; where its tested value is missing it goes to all children, and
its weight is divided among them.
"""

import math
from typing import NamedTuple

import numpy as np

from mauc.classifiers.c45.nodes import EPS, goes_left
from mauc.numerics.njit_part import njit_part


class Rows(NamedTuple):
    """Rows with their weights; a node owns a stretch of both arrays."""

    row: np.ndarray
    weight: np.ndarray


@njit_part
def branch_of(tree, t, value):
    """Return the child a value goes to, -1 if it is missing."""
    if math.isnan(value):
        return -1
    if math.isnan(tree.threshold[t]):
        return int(value)
    return 0 if goes_left(value, tree.threshold[t]) else 1


@njit_part
def measure_shares(tree, t, XT, rows, start, end, share):
    """Set ``share[v]`` to the part of the known weight of a stretch that goes to child v."""
    n_children = tree.n_children[t]
    for v in range(n_children):
        share[v] = 0.0
    known = 0.0
    for i in range(start, end):
        v = branch_of(tree, t, np.float64(XT[tree.feature[t], rows.row[i]]))
        if v >= 0:
            share[v] += rows.weight[i]
            known += rows.weight[i]
    for v in range(n_children):
        share[v] = share[v] / known if known >= EPS else 1.0 / n_children


@njit_part
def split_rows(tree, t, XT, rows, start, end, top, share, bounds, buffer):
    """Send the rows of a stretch to the children of node `t`.

    Without missing values the stretch itself is permuted, child after child. Otherwise the
    children's rows are written after `top`, which may move the store to larger arrays.

    Returns
    -------
    rows : Rows
    top : int
        First free place of the store. Child v has ``[bounds[v], bounds[v + 1])``.
    """
    n_children = np.int64(tree.n_children[t])
    column = XT[tree.feature[t]]
    size = np.zeros(n_children, np.int64)
    n_missing = 0
    for i in range(start, end):
        v = branch_of(tree, t, np.float64(column[rows.row[i]]))
        if v >= 0:
            size[v] += 1
        else:
            n_missing += 1
    begin = start
    if n_missing > 0:
        begin = top
        for v in range(n_children):
            if share[v] > EPS:
                size[v] += n_missing
        for v in range(n_children):
            top += size[v]
        if top > rows.row.size:
            larger = Rows(np.zeros(2 * top, np.int32), np.zeros(2 * top))
            for i in range(rows.row.size):
                larger.row[i], larger.weight[i] = rows.row[i], rows.weight[i]
            rows = larger
    bounds[0] = begin
    for v in range(n_children):
        bounds[v + 1] = bounds[v] + size[v]
    place = np.zeros(n_children, np.int64)
    for v in range(n_children):
        place[v] = bounds[v]
    if n_missing == 0:
        for i in range(end - start):
            buffer.row[i], buffer.weight[i] = rows.row[start + i], rows.weight[start + i]
    for i in range(start, end):
        row, weight = rows.row[i], rows.weight[i]
        if n_missing == 0:
            row, weight = buffer.row[i - start], buffer.weight[i - start]
        v = branch_of(tree, t, np.float64(column[row]))
        if v >= 0:
            rows.row[place[v]], rows.weight[place[v]] = row, weight
            place[v] += 1
            continue
        for u in range(n_children):
            if share[u] > EPS:
                rows.row[place[u]], rows.weight[place[u]] = row, weight * share[u]
                place[u] += 1
    return rows, top
