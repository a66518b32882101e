"""ReliefF weights of columns in memory: columns in, the weight of every feature out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mauc.parallel import even_ranges
from mauc.progress import track
from mauc.selectors.relieff.neighbors import fill_panel, new_slots, scan_panel
from mauc.selectors.relieff.updates import add_weights, count_values, scale_columns

# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once (12 bytes per slot).
SLOT_BYTES = 1 << 29


def relieff_weights(XT, y, n_classes, rows=None, n_neighbors=10, n_threads=1, is_nominal=None):
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

    Returns
    -------
    weights : ndarray of shape (n_features,), float64
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = 12 * n_samples * n_classes * n_neighbors
    # Where all rows are queries, the distance of two rows is computed once.
    is_symmetric = rows is None and slot_bytes <= SLOT_BYTES
    panel_queries = max(1, min(PANEL_QUERIES, PANEL_SIZE // n_samples, queries.size))
    with ThreadPoolExecutor(n_threads) as pool:

        def run(tasks):
            each = map if n_threads == 1 else pool.map
            return list(each(lambda task: task[0](*task[1:]), tasks))

        n_values = np.append(count_values(XT, is_nominal), np.int32(0))
        # The last row of ZT stays zero: the column that pads groups of four.
        ZT = np.zeros((n_features + 1, n_samples))
        tasks = [
            (scale_columns, XT[a:b], n_values[a:b], ZT[a:b])
            for a, b in even_ranges(n_features, n_threads)
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
            return [
                (add_weights, *fixed, a, b, weights) for a, b in even_ranges(n_features, n_threads)
            ]

        n_rows = panel_queries + -panel_queries % 4
        panels = [np.empty((n_rows, n_samples)) for _ in range(2 if is_symmetric else 1)]
        slots = new_slots(n_samples, n_classes, n_neighbors) if is_symmetric else None
        scans = []
        starts = range(0, queries.size, panel_queries)
        for number, start in enumerate(track(starts, "blocks of samples")):
            block = queries[start : start + panel_queries]
            panel = panels[number % len(panels)]
            if not is_symmetric:
                slots = new_slots(block.size, n_classes, n_neighbors)
            offset = start if is_symmetric else 0
            fixed = (ZT, columns, n_values, is_plain, block, is_symmetric)
            fills = [
                (fill_panel, *fixed, a, b, y, panel, *slots)
                for a, b in even_ranges(n_samples - offset, n_threads, offset)
            ]
            # Symmetric use: a panel is scanned while the next one is filled. The scan only touches
            # the slots of its own queries, the fill those of rows after the next panel.
            run(fills + scans)
            scans = [
                (scan_panel, block, is_symmetric, a, b, offset, y, panel, *slots)
                for a, b in even_ranges(block.size, n_threads)
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
