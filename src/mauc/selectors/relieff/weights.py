"""ReliefF weights: the kernels over panels of queries, with threads around them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from mauc.selectors.relieff.neighbors import fill_panel, scan_panel
from mauc.selectors.relieff.updates import MIN_RANGE, add_weights, scale_columns

# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once (12 bytes a slot).
SLOT_BYTES = 1 << 29


def relieff_weights(
    XT,
    y,
    n_classes,
    rows=None,
    n_neighbors=10,
    n_threads=1,
    is_nominal=None,
    *,
    panel_queries=None,
    use_symmetry=True,
):
    """Compute the ReliefF weight of every feature.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        Columns, C-contiguous and read-only; NaN is a missing value.
    y : ndarray of shape (n_samples,), int32
        Class codes in 0 .. n_classes - 1; a class may be absent.
    n_classes : int
        With two classes misses are not weighted by class probabilities.
    rows : ndarray of shape (n_queries,), int, optional
        The sampled rows, repeats allowed; None takes each row once.
    n_neighbors : int, default=10
        Hits, and misses per other class.
    n_threads : int, default=1
        The weights are the same bits for any number.
    is_nominal : ndarray of shape (n_features,), bool, optional
        Columns compared by equality. With a missing value their difference is 1 - 1 / v, v the
        number of distinct known values in the column.
    panel_queries : int, optional
        Queries per panel, from the size of the data by default; changes no bit.
    use_symmetry : bool, default=True
        Where all rows are queries, compute the distance of two rows once; changes no bit.

    Returns
    -------
    weights : ndarray of shape (n_features,), float64
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = 12 * n_samples * n_classes * n_neighbors
    is_symmetric = use_symmetry and rows is None and slot_bytes <= SLOT_BYTES
    if panel_queries is None:
        panel_queries = min(PANEL_QUERIES, PANEL_SIZE // n_samples)
    panel_queries = max(1, min(panel_queries, queries.size))
    with ThreadPoolExecutor(n_threads) as pool:

        def run(tasks):
            if n_threads == 1:
                return [kernel(*arguments) for kernel, *arguments in tasks]
            return [future.result() for future in [pool.submit(*task) for task in tasks]]

        n_values = _count_values(XT, is_nominal)
        # The last row of ZT stays zero: the column that pads groups of four.
        ZT = np.zeros((n_features + 1, n_samples))
        tasks = [
            (scale_columns, XT[a:b], n_values[a:b], ZT[a:b])
            for a, b in _cut(0, n_features, n_threads)
        ]
        is_plain = not (any(run(tasks)) or n_values.any())
        columns = np.arange(n_features)
        if is_plain:
            # A column of zeros adds nothing to any distance.
            columns = columns[ZT[:-1].any(axis=1)]
            columns = np.append(columns, np.full(-columns.size % 4, n_features))

        class_counts = np.bincount(y, minlength=n_classes)
        weights = np.zeros(n_features)

        def weigh(block, near_row):
            fixed = (ZT, n_values, is_plain, block, y, class_counts, near_row)
            return [(add_weights, *fixed, a, b, weights) for a, b in _cut(0, n_features, n_threads)]

        n_rows = panel_queries + -panel_queries % 4
        panels = [np.empty((n_rows, n_samples)) for _ in range(2 if is_symmetric else 1)]
        slots = _new_slots(n_samples, n_classes, n_neighbors) if is_symmetric else None
        scans = []
        for number, start in enumerate(range(0, queries.size, panel_queries)):
            block = queries[start : start + panel_queries]
            panel = panels[number % len(panels)]
            if not is_symmetric:
                slots = _new_slots(block.size, n_classes, n_neighbors)
            offset = start if is_symmetric else 0
            fixed = (ZT, columns, n_values, is_plain, block, is_symmetric)
            fills = [
                (fill_panel, *fixed, a, b, y, panel, *slots)
                for a, b in _cut(offset, n_samples, n_threads)
            ]
            # Symmetric use: a panel is scanned while the next one is filled. The scan only touches
            # the slots of its own queries, the fill those of rows after the next panel.
            run(fills + scans)
            scans = [
                (scan_panel, block, is_symmetric, a, b, offset, y, panel, *slots)
                for a, b in _cut(0, block.size, n_threads)
            ]
            if not is_symmetric:
                run(scans)
                run(weigh(block, slots[1]))
                scans = []
        if is_symmetric:
            run(scans)
            run(weigh(queries, slots[1]))
    weights *= 1.0 / queries.size
    return weights


def _count_values(XT, is_nominal):
    """Count the values of nominal columns, 0 for numeric ones (and the padding column)."""
    n_values = np.zeros(XT.shape[0] + 1, np.int32)
    if is_nominal is None:
        return n_values
    for a in np.flatnonzero(is_nominal):
        values = np.unique(XT[a])
        known = values[values == values]
        # Two values without a missing one scale to 0 and 1: equality is then the numeric case.
        is_binary = values.size == 2 and known.size == 2 and known[1] - known[0] >= MIN_RANGE
        n_values[a] = 0 if is_binary else max(1, known.size)
    return n_values


def _new_slots(n_slots, n_classes, n_neighbors):
    """Free slots: near_dist, near_row, bound, target (see `mauc.selectors.relieff.neighbors`)."""
    shape = (n_slots, n_classes, n_neighbors)
    return (
        np.empty(shape),
        np.full(shape, -1, np.int32),
        np.full((n_classes, n_slots), np.inf),
        np.zeros((n_classes, n_slots), np.int32),
    )


def _cut(first, last, n_parts):
    """Cut first:last into at most n_parts ranges of nearly equal, non-zero length."""
    n_parts = max(1, min(n_parts, last - first))
    edges = [first + (last - first) * p // n_parts for p in range(n_parts + 1)]
    return list(pairwise(edges))
