"""ReliefF: nearest hits and misses, of columns in memory or of a source."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from mauc.checks import check_int, is_int
from mauc.data.validate import check_generator
from mauc.engine.arrays import read_only
from mauc.exceptions import LongFitWarning, MaucError, TinyUnitsWarning, listed, warn_user
from mauc.memory import format_bytes
from mauc.parallel import count_threads, even_ranges, run_blocks
from mauc.progress import track
from mauc.selectors.base import RankingSelector, single_ranking
from mauc.selectors.relieff.neighbors import (
    MIN_RANGE,
    add_weights,
    column_widths,
    count_values,
    fill_panel,
    new_slots,
    scale_columns,
    scan_panel,
)
from mauc.texts import insert_texts

# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once.
SLOT_BYTES = 1 << 29
_SLOT_BYTES = 12  # of a neighbour: its row, its distance
# Parts of the memory of a source: for distances, and for scaled columns.
_PANEL_SHARE, _COLUMNS_SHARE = 4, 8
_MAX_COLUMNS = 64
# Rough seconds of one difference, and of a byte of the temporary file; of a fit to warn of.
_DIFFERENCE_TIME, _BYTE_TIME = 3e-10, 1e-9
_LONG = 3600.0


@insert_texts
class ReliefF(RankingSelector):
    r"""Rank features by ReliefF weights.

    A feature is good if it differs between a sample and its nearest neighbours of other
    classes (misses) and does not between the sample and its nearest neighbours of the same
    class (hits). The weights are those of WEKA's ReliefFAttributeEval, to the bit.

    Parameters
    ----------
    {n_features_to_select}
    n_neighbors : int, default=10
        Hits, and misses of every other class, of a sample.
    n_iterations : "all", "log" or int, default="all"
        How many samples are compared with their neighbours: all of them once, or this many drawn
        with replacement; "log" is round(ln n), the paper's choice (noisy, but linear time).
    {categorical_features}
        They differ by 0 or 1.
    {random_state}
        Draws of the samples.
    {n_jobs, verbose}

    Attributes
    ----------
    {ranking_, support_, scores_}
        Weight of every feature, in [-1, 1]; equal ones rank by column.
    {trace_}
    {pair_auc_, decomposition_, subproblem_names_, classes_, n_features_in_, feature_names_in_}

    Notes
    -----
    With diff the difference of two samples in feature f, scaled by its range, S the samples
    drawn, :math:`H_r` the k nearest hits and :math:`M_{r,c}` the k nearest misses of class c,

    .. math:: W_f = \frac{1}{|S|} \sum_{r \in S} \Big[ -\frac{1}{k} \sum_{h \in H_r}
              \mathrm{diff}_f(r, h) + \sum_{c \ne c_r} \frac{P(c)}{1 - P(c_r)}
              \frac{1}{k} \sum_{m \in M_{r,c}} \mathrm{diff}_f(r, m) \Big]

    Distances are sums of differences. A missing value differs from a known one z, scaled to
    [0, 1], by max(z, 1 - z), and from a missing one by 1. Memory is O(n c k), never n x n.

    A source of columns is read once to find the neighbours of as many samples as its `memory` has
    room for, 8 bytes for each of them and every row, and once for the weights. Where the memory
    holds fewer samples than are drawn, the columns are kept in a temporary file and read from there
    once more for every so many samples; `fit` warns if that takes hours. "log" draws few samples.

    A feature whose range is below 1e-6, whatever its unit, counts as constant, as in WEKA; `fit`
    warns of it. Scale features in tiny units first.

    References
    ----------
    .. [1] M. Robnik-Sikonja, I. Kononenko, "Theoretical and empirical analysis of ReliefF and
       RReliefF", Machine Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import ReliefF
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF(2).fit(X, y).ranking_
    array([3, 2])
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        n_neighbors=10,
        n_iterations="all",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_iterations = n_iterations
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _no_cluster = "its distances are sums over all columns, in their order"

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        wanted = self.n_iterations
        is_word = isinstance(wanted, str) and wanted in ("all", "log")
        if not is_word and not (is_int(wanted) and wanted >= 1):
            raise MaucError(
                f'n_iterations must be "all", "log" or an int of at least 1, got {wanted!r}.'
            )
        check_generator(self.random_state)
        return check_int("n_neighbors", self.n_neighbors, 1)

    def _rank(self, problem, n_wanted, n_neighbors):
        rows, n_threads = self._draw_rows(problem.n_samples), count_threads(self.n_jobs)
        if problem.is_streamed:
            weights, widths = streamed_weights(problem, rows, n_neighbors, n_threads)
            _warn_of_tiny_ranges(problem, widths)
        else:
            XT = problem.float_columns(slice(None))
            _warn_of_tiny_ranges(problem, column_widths(XT))
            weights = relieff_weights(
                XT, problem.codes, problem.n_classes, rows, n_neighbors, n_threads,
                problem.is_nominal,
            )  # fmt: skip
        ranking = np.argsort(-weights, kind="stable")[:n_wanted]
        return single_ranking(problem, ranking, weights[ranking], weights)

    def _draw_rows(self, n_samples):
        """Return the sampled rows, or None for all."""
        n_iterations = self.n_iterations
        if n_iterations == "all":
            return None
        if n_iterations == "log":
            n_iterations = max(1, round(np.log(n_samples)))
        return check_generator(self.random_state).randint(n_samples, size=n_iterations)


def _warn_of_tiny_ranges(problem, widths):
    """Warn of numeric columns that vary, but by less than ReliefF looks at."""
    is_tiny = (widths > 0) & (widths < MIN_RANGE)
    if problem.is_nominal is not None:
        is_tiny &= ~problem.is_nominal
    tiny = np.flatnonzero(is_tiny)
    if len(tiny):
        names = problem.feature_names
        names = [f"x{j}" for j in tiny] if names is None else names[tiny]
        warn_user(
            f"{len(tiny)} of {problem.n_features} features ({listed(names)}) vary by less than "
            f"{MIN_RANGE:g} and count as constant, as in WEKA; give them in a smaller unit, or "
            f"scale them, for example with sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )


def relieff_weights(XT, y, n_classes, rows=None, n_neighbors=10, n_threads=1, is_nominal=None):
    """Return the ReliefF weight of every feature of columns in memory.

    A class may be absent from `y`; with two classes misses are not weighted by class probabilities.
    `rows` are the sampled rows, repeats allowed; None takes each row once. Nominal columns are
    compared by equality; with a missing value their difference is 1 - 1 / v, v the number of
    distinct known values in the column. The weights are the same bits for any number of threads.
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = _SLOT_BYTES * n_samples * n_classes * n_neighbors
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


def streamed_weights(problem, rows=None, n_neighbors=10, n_threads=1):
    """Return the ReliefF weight and the range of every feature of a source.

    The distances of a panel of queries to all rows are sums over the columns, in their order. They
    are added up as the columns pass by, a few at a time, so that they have the same bits as where
    all columns are in memory. With the neighbours of a panel known, its part of the weights is
    added in the next pass, the one that finds the neighbours of the next panel.
    """
    queries = np.arange(problem.n_samples) if rows is None else np.array(rows, np.int64)
    n_slots = problem.n_classes * n_neighbors
    columns = _ScaledColumns(problem, queries.size, n_slots, n_threads)
    panels = [
        queries[start : start + columns.n_panel]
        for start in range(0, queries.size, columns.n_panel)
    ]
    weights = np.zeros(problem.n_features)
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
            fixed = 0, y, distances, *slots
            parts = even_ranges(panel.size, n_threads) if panel.size else []
            run(scan_panel, [(panel, False, a, b, *fixed) for a, b in parts])
            found = _Neighbors.of(panel, slots[1], y)
    weights *= 1.0 / queries.size
    return weights, columns.widths


class _Neighbors(NamedTuple):
    """A panel of queries with its neighbours, as positions in the rows that are among them."""

    rows: np.ndarray
    queries: np.ndarray
    near_row: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, panel, near_row, y):
        is_found = near_row >= 0
        rows = np.unique(np.concatenate([panel, near_row[is_found]]))
        positions = np.where(is_found, np.searchsorted(rows, near_row), -1).astype(np.int32)
        return cls(rows, np.searchsorted(rows, panel), positions, y[rows])


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
    tasks = [(*fixed, a, b, of_part) for a, b in even_ranges(part.n_columns, n_threads)]
    run(add_weights, tasks)


class _ScaledColumns:
    """Gives out the scaled columns of a source, pass after pass.

    The first pass reads the source and fills `widths`, the ranges of all columns. If there are
    many, it keeps the columns, in memory or in a temporary file, for the others; a second pass
    reads the source again. Distances of `n_panel` queries, a multiple of 4, are held at once.
    """

    def __init__(self, problem, n_queries, n_slots, n_threads):
        self._problem, self._n_threads = problem, n_threads
        memory, column_bytes = problem.X.source.memory, 8 * problem.n_samples
        query_bytes = column_bytes + _SLOT_BYTES * n_slots
        most = n_queries + -n_queries % 4
        self.n_panel = min(most, _multiple(memory // _PANEL_SHARE // query_bytes))
        most = problem.n_features + -problem.n_features % 4
        n_held = _multiple(memory // _COLUMNS_SHARE // column_bytes - 1)
        n_held = min(n_held, most, _MAX_COLUMNS)
        # Of the columns held, the rows that are neighbours are copied twice for the weights.
        n_near = min(problem.n_samples, self.n_panel * (1 + n_slots))
        problem.room.reserve(
            self.n_panel * query_bytes + (n_held + 1) * column_bytes + 16 * n_held * n_near
        )
        # The last row stays zero: the column that pads groups of four.
        self._ZT = np.zeros((n_held + 1, problem.n_samples))
        self.widths = np.empty(problem.n_features)
        self._n_values = np.empty(problem.n_features, np.int32)
        n_passes = -(-n_queries // self.n_panel) + 1
        self._kept = None
        if n_passes > 2:
            is_narrow = np.result_type(problem.X.dtype, np.float32) == np.float32
            kind = np.dtype(np.float32 if is_narrow else np.float64)
            _warn_of_time(problem, n_queries, n_passes, kind.itemsize, n_threads)
            shape = problem.n_features, problem.n_samples
            self._kept = problem.room.array(shape, kind)
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
            return self._problem.run_blocks(self._scale, n_jobs=self._n_threads, is_dense=True)
        blocks = list(self._problem.blocks(is_dense=True))
        return run_blocks(self._scale, blocks, self._n_threads)

    def _scale(self, block):
        problem = self._problem
        if self._is_first or self._kept is None:
            XT = problem.float_columns(block)
        else:
            XT = read_only(self._kept[block])
        if self._is_first:
            nominal = None if problem.is_nominal is None else problem.is_nominal[block]
            self._n_values[block] = count_values(XT, nominal)
            self.widths[block] = column_widths(XT)
            if self._kept is not None:
                self._kept[block] = XT
        ZT = np.empty(XT.shape)
        has_missing = scale_columns(XT, self._n_values[block], ZT)
        problem.room.release()
        return ZT, not (has_missing or self._n_values[block].any())


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
