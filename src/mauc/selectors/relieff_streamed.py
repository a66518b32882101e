"""ReliefF of a source: the columns pass by, once for every panel of samples."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from mauc.engine.arrays import read_only
from mauc.exceptions import LongFitWarning, warn_user
from mauc.memory import format_bytes
from mauc.parallel import even_ranges, run_blocks
from mauc.progress import track
from mauc.selectors.relieff import (
    SLOT_SIZE,
    add_weights,
    column_widths,
    count_values,
    fill_panel,
    new_slots,
    scale_columns,
    scan_panel,
    weighted_neighbors,
)

# Parts of the memory of a source: for distances, and for scaled columns.
_PANEL_SHARE, _COLUMNS_SHARE = 4, 8
_MAX_COLUMNS = 64
# Rough seconds of one difference, and of a byte of the temporary file; of a fit to warn of.
_DIFFERENCE_TIME, _BYTE_TIME = 3e-10, 1e-9
_LONG = 3600.0


def streamed_weights(
    problem: Any, rows: Any = None, n_neighbors: int = 10, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ReliefF weight and the range of every feature of a source, in passes over it."""
    queries = np.arange(problem.n_samples) if rows is None else np.array(rows, np.int64)
    n_slots = problem.n_classes * n_neighbors
    columns = _ScaledColumns(problem, queries.size, n_slots, n_threads)
    panels = [
        queries[start : start + columns.n_panel]
        for start in range(0, queries.size, columns.n_panel)
    ]
    weights, sample_weight = np.zeros(problem.n_features), problem.sample_weight
    y = problem.codes.astype(np.int32)
    class_counts = np.bincount(y, minlength=problem.n_classes)
    distances = np.empty((columns.n_panel, problem.n_samples))
    found = None  # the last panel with its neighbours
    with ThreadPoolExecutor(n_threads) as pool:

        def run(function, tasks):
            return list((map if n_threads == 1 else pool.map)(lambda task: function(*task), tasks))

        for number in track(range(len(panels) + 1), "passes"):
            panel = panels[number] if number < len(panels) else queries[:0]
            slots = new_slots(panel.size, problem.n_classes, n_neighbors)
            for part in columns.parts():
                if found is not None:
                    _weigh(run, part, found, class_counts, n_threads, weights)
                if panel.size:
                    fixed = part.ZT, part.columns, part.n_values, part.is_plain, panel, False
                    further = y, distances, *slots, part.start > 0
                    rows_of = even_ranges(problem.n_samples, n_threads)
                    run(fill_panel, [(*fixed, a, b, *further) for a, b in rows_of])
            if sample_weight is not None:
                sizes = sample_weight, rows is None
                near = weighted_neighbors(distances, panel, y, *sizes, n_neighbors)
                found = _Neighbors.of(panel, near[0], y, near[1])
                continue
            scanned = 0, y, distances, *slots
            parts = even_ranges(panel.size, n_threads) if panel.size else []
            run(scan_panel, [(panel, False, a, b, *scanned) for a, b in parts])
            found = _Neighbors.of(panel, slots[1], y)
    is_counted = rows is None and sample_weight is not None
    weights *= 1.0 / (sample_weight.sum() if is_counted else queries.size)
    return weights, columns.widths


class _Neighbors(NamedTuple):
    """A panel of queries with its neighbours, as positions in the rows that are among them."""

    rows: np.ndarray
    queries: np.ndarray
    near_row: np.ndarray
    y: np.ndarray
    shares: np.ndarray | None

    @classmethod
    def of(cls, panel, near_row, y, shares=None):
        is_found = near_row >= 0
        rows = np.unique(np.concatenate([panel, near_row[is_found]]))
        positions = np.where(is_found, np.searchsorted(rows, near_row), -1).astype(np.int32)
        return cls(rows, np.searchsorted(rows, panel), positions, y[rows], shares)


class _Part(NamedTuple):
    """Scaled columns from `start` on, and what `fill_panel` needs to know of them."""

    start: int
    ZT: np.ndarray  #: (> n_columns, n_samples); zeros in the last row
    columns: np.ndarray  #: rows of the columns in `ZT`, padded with the last to a multiple of 4
    n_values: np.ndarray
    is_plain: bool
    n_columns: int


def _weigh(run, part, found, class_counts, n_threads, weights):
    """Add the contributions of queries to the weights of the columns of a part."""
    ZT = part.ZT[: part.n_columns, found.rows]
    fixed = ZT, part.n_values, part.is_plain, found.queries, found.y, class_counts, found.near_row
    of_part = weights[part.start : part.start + part.n_columns]
    ranges = even_ranges(part.n_columns, n_threads)
    run(add_weights, [(*fixed, a, b, of_part, found.shares) for a, b in ranges])


class _ScaledColumns:
    """Gives out scaled columns, kept by the first pass if more than one follows; see `widths`."""

    def __init__(self, problem, n_queries, n_slots, n_threads):
        self._problem, self._n_threads = problem, n_threads
        memory, column_bytes = problem.columns.source.memory, 8 * problem.n_samples
        # With weights, all distances of a query are sorted.
        query_bytes = column_bytes * (1 if problem.sample_weight is None else 6)
        query_bytes += SLOT_SIZE * n_slots
        most = n_queries + -n_queries % 4
        self.n_panel = min(most, _multiple(memory // _PANEL_SHARE // query_bytes))
        most = problem.n_features + -problem.n_features % 4
        n_held = _multiple(memory // _COLUMNS_SHARE // column_bytes - 1)
        n_held = min(n_held, most, _MAX_COLUMNS)
        # Of the columns held, the rows that are neighbours are copied twice for the weights.
        n_near = min(problem.n_samples, self.n_panel * (1 + n_slots))
        problem.workspace.reserve(
            self.n_panel * query_bytes + (n_held + 1) * column_bytes + 16 * n_held * n_near
        )
        # The last row stays zero: the column that pads groups of four.
        self._ZT = np.zeros((n_held + 1, problem.n_samples))
        self.widths = np.empty(problem.n_features)
        self._n_values = np.empty(problem.n_features, np.int32)
        n_passes = -(-n_queries // self.n_panel) + 1
        self._kept = None
        if n_passes > 2:
            is_narrow = np.result_type(problem.columns.dtype, np.float32) == np.float32
            kind = np.dtype(np.float32 if is_narrow else np.float64)
            _warn_of_time(problem, n_queries, n_passes, kind.itemsize, n_threads)
            shape = problem.n_features, problem.n_samples
            self._kept = problem.workspace.array(shape, kind)
        self._is_first = True

    def parts(self):
        """Yield the columns of a pass in order, as parts that hold until the next one is taken."""
        held, n_held = [], 0
        for block, (ZT, is_plain) in self._blocks():
            for row in range(len(ZT)):
                self._ZT[n_held] = ZT[row]
                held.append(is_plain)
                n_held += 1
                stop = block.start + row + 1
                if n_held == len(self._ZT) - 1 or stop == self._problem.n_features:
                    yield self._part(stop - n_held, n_held, all(held))
                    held, n_held = [], 0
        self._is_first = False

    def _part(self, start, n_columns, is_plain):
        columns = np.arange(n_columns)
        if is_plain:
            columns = np.append(columns, np.full(-n_columns % 4, len(self._ZT) - 1))
        n_values = self._n_values[start : start + n_columns]
        return _Part(start, self._ZT, columns, n_values, is_plain, n_columns)

    def _blocks(self):
        if self._is_first or self._kept is None:
            return self._problem.map(_scale_block, self, n_jobs=self._n_threads, is_dense=True)
        blocks = self._problem.columns.blocks(is_dense=True)
        return run_blocks(self._scale, blocks, self._n_threads)

    def _scale(self, block):
        problem = self._problem
        if self._is_first or self._kept is None:
            XT = problem.columns.floats(block)
        else:
            XT = read_only(self._kept[block])
        if self._is_first:
            nominal = problem.is_nominal[block]
            self._n_values[block] = count_values(XT, nominal)
            self.widths[block] = column_widths(XT)
            if self._kept is not None:
                self._kept[block] = XT
        ZT = np.empty(XT.shape)
        has_missing = scale_columns(XT, self._n_values[block], ZT)
        problem.workspace.release()
        return ZT, not (has_missing or self._n_values[block].any())


def _scale_block(problem, block, columns):
    return columns._scale(block)


def _multiple(n):
    """Return the multiple of 4 that is not above n, at least 4."""
    return max(4, n // 4 * 4)


def _warn_of_time(problem, n_queries, n_passes, itemsize, n_threads):
    n_cells = problem.n_samples * problem.n_features
    seconds = n_cells * (
        n_queries * _DIFFERENCE_TIME / n_threads + n_passes * itemsize * _BYTE_TIME
    )
    if seconds > _LONG:
        warn_user(
            f"ReliefF compares {n_queries:,} samples with all {problem.n_samples:,} in "
            f"{problem.n_features:,} columns, which takes {n_passes:,} passes over "
            f"{format_bytes(n_cells * itemsize)} and about {seconds / 3600:,.0f} hours; "
            f'n_iterations="log" draws {max(1, round(np.log(problem.n_samples)))} samples, and '
            f"more memory makes fewer passes.",
            LongFitWarning,
        )
