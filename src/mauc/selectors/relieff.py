"""ReliefF: nearest hits and misses, the same bits for any division of the work between threads.

Distances are those of WEKA's ReliefFAttributeEval in its order of additions, and candidates are
offered in ascending order, so tied distances keep the same neighbours.

A query holds K slots per class: `near_row[q, c]` (the rows, -1 while free) and `near_dist[q, c]`;
`bound[c, q]` is the distance a candidate has to beat (inf while a slot is free) and `target[c, q]`
the slot it takes (the first free one, then the first of the largest distance).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uintp

from mauc.checks import check_int, is_int
from mauc.compile import njit, njit_part
from mauc.data.columns import default_names
from mauc.data.door import check_generator
from mauc.exceptions import MaucError, TinyUnitsWarning, format_labels, warn_user
from mauc.parallel import count_threads, even_ranges
from mauc.progress import track
from mauc.search.selection import single_ranking
from mauc.selectors.base import RankingSelector

# A column whose range is below this carries no difference (WEKA's tolerance).
MIN_RANGE = 1e-6
# Distances are summed for 4 queries, 4 columns and a tile of rows at a time: the tile of all
# columns stays in the second-level cache, the sums in the first.
N_TILE = 256
# Features per strip of the weight sums: long enough for vector loops, and a strip of a few
# thousand rows stays in the second-level cache.
N_STRIP = 64
N_CACHED = 1 << 16  # distances that stay in the second-level cache
# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once.
SLOT_BYTES = 1 << 29
SLOT_SIZE = 12  # of a neighbour: its row, its distance


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(RankingSelector):
    r"""Rank features by ReliefF weights.

    A feature is good if it differs between a sample and its nearest neighbours of other
    classes (misses) and does not between the sample and its nearest neighbours of the same
    class (hits). The weights are those of WEKA's ReliefFAttributeEval, to the bit.

    Parameters
    ----------
    n_features_to_select : int, float, "all", "auto", "fdr" or None, default=None
        How many features to select: a number, a fraction of all, all of them (a full ranking), as
        many as `mauc.select_k` finds enough, whose curve is then `size_curve_`, those that separate
        some pair of classes significantly ("fdr"), or half of them (None).
    fdr_alpha : float, default=0.05
        Of "fdr": the share of the selected features that may be expected to separate no classes, by
        the tests of `mauc.pair_tests`, which are of location: features that differ between classes
        in spread alone are left out. Where no feature is significant, one is selected, with a
        warning.
    n_neighbors : int, default=10
        Hits, and misses of every other class, of a sample.
    n_iterations : "all", "log" or int, default="all"
        How many samples are compared with their neighbours: all of them once, or this many drawn
        with replacement, in proportion to weights; "log" is round(ln n), the paper's choice (noisy,
        but linear time).
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        They differ by 0 or 1.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Pass an int or a SeedSequence for reproducible results; the others are advanced.
        Draws of the samples.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns in the order of selection. Rankings are nested: the first 10 are the
        choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Weight of every feature, in [-1, 1]; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names, such as "setosa vs virginica".
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    With diff the difference of two samples in feature f, scaled by its range, S the samples
    drawn, :math:`H_r` the k nearest hits and :math:`M_{r,c}` the k nearest misses of class c,

    .. math:: W_f = \frac{1}{|S|} \sum_{r \in S} \Big[ -\frac{1}{k} \sum_{h \in H_r}
              \mathrm{diff}_f(r, h) + \sum_{c \ne c_r} \frac{P(c)}{1 - P(c_r)}
              \frac{1}{k} \sum_{m \in M_{r,c}} \mathrm{diff}_f(r, m) \Big]

    Distances are sums of differences. A missing value differs from a known one z, scaled to
    [0, 1], by max(z, 1 - z), and from a missing one by 1. Memory is O(n c k), never n x n.

    A source of columns is read in passes (docs/methods/selectors.md); `fit` warns if they take
    hours, and "log" draws few.

    With weights, neighbours are taken until their weights sum to k, of equal distances those of
    earlier rows first; the copies that a weight above 1 stands for are hits of each other.

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

    n_neighbors: int = 10
    n_iterations: Any = "all"
    categorical_features: Any = None
    random_state: Any = None

    _no_cluster = "its distances are sums over all columns, in their order"

    def check_options(self) -> Any:
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
        rows, n_threads = self._draw_rows(problem), count_threads(self.n_jobs)
        if problem.columns.is_streamed:
            from mauc.selectors.relieff_streamed import streamed_weights

            weights, widths = streamed_weights(problem, rows, n_neighbors, n_threads)
            _warn_of_tiny_ranges(problem, widths)
        else:
            XT = problem.columns.floats(slice(None))
            _warn_of_tiny_ranges(problem, column_widths(XT))
            weights = relieff_weights(
                XT,
                problem.codes,
                problem.n_classes,
                rows,
                n_neighbors,
                n_threads,
                problem.is_nominal,
                problem.sample_weight,
            )
        ranking = np.argsort(-weights, kind="stable")[:n_wanted]
        return single_ranking(problem, ranking, weights[ranking], weights)

    def _draw_rows(self, problem):
        """Return the sampled rows, or None for all."""
        n_iterations, total = self.n_iterations, problem.class_weights.sum()
        if n_iterations == "all":
            return None
        if n_iterations == "log":
            n_iterations = max(1, round(np.log(total)))
        generator = check_generator(self.random_state)
        if problem.sample_weight is None:
            return generator.randint(problem.n_samples, size=n_iterations)
        ends = np.cumsum(problem.sample_weight)
        if total.is_integer():  # the rows that would be drawn if each were given so often
            return np.searchsorted(ends, generator.randint(int(total), size=n_iterations), "right")
        drawn = np.searchsorted(ends, total * generator.random_sample(n_iterations), "right")
        return np.minimum(drawn, len(ends) - 1)


def _warn_of_tiny_ranges(problem, widths):
    """Warn of numeric columns that vary, but by less than ReliefF looks at."""
    is_tiny = (widths > 0) & (widths < MIN_RANGE)
    is_tiny &= ~problem.is_nominal
    tiny = np.flatnonzero(is_tiny)
    if len(tiny):
        names = problem.feature_names
        names = default_names(tiny) if names is None else names[tiny]
        warn_user(
            f"{len(tiny)} of {problem.n_features} features ({format_labels(names)}) vary by less "
            f"than {MIN_RANGE:g} and count as constant, as in WEKA; pass them in a smaller unit, "
            f"or scale them, for example with sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )


def relieff_weights(
    XT: Any,
    y: Any,
    n_classes: int,
    rows: Any = None,
    n_neighbors: int = 10,
    n_threads: int = 1,
    is_nominal: Any = None,
    sample_weight: Any = None,
) -> np.ndarray:
    """Return the ReliefF weight of every feature of columns in memory.

    A class may be absent from `y`; with two classes misses are not weighted by class probabilities.
    `rows` are the sampled rows, repeats allowed; None takes all, each as often as its weight says.
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = SLOT_SIZE * n_samples * n_classes * n_neighbors
    # Where all rows are queries, the distance of two rows is computed once.
    is_symmetric = rows is None and slot_bytes <= SLOT_BYTES and sample_weight is None
    panel_queries = max(1, min(PANEL_QUERIES, PANEL_SIZE // n_samples, queries.size))
    with ThreadPoolExecutor(n_threads) as pool:

        def run(tasks):
            each = map if n_threads == 1 else pool.map
            return list(each(lambda task: task[0](*task[1:]), tasks))

        def split(n, first=0):
            return [(first, first + n)] if n_threads == 1 else even_ranges(n, n_threads, first)

        n_values = np.append(count_values(XT, is_nominal), np.int32(0))
        # The last row of ZT stays zero: the column that pads groups of four.
        ZT = np.zeros((n_features + 1, n_samples))
        tasks = [(scale_columns, XT[a:b], n_values[a:b], ZT[a:b]) for a, b in split(n_features)]
        is_plain = not (any(run(tasks)) or n_values.any())
        columns = np.arange(n_features)
        if is_plain:
            # A column of zeros adds nothing to any distance.
            columns = columns[ZT[:-1].any(axis=1)]
            columns = np.append(columns, np.full(-columns.size % 4, n_features))

        class_counts = np.bincount(y, minlength=n_classes)
        weights = np.zeros(n_features)

        def weigh(block, near_row, shares=None):
            fixed = (ZT, n_values, is_plain, block, y, class_counts, near_row)
            return [(add_weights, *fixed, a, b, weights, shares) for a, b in split(n_features)]

        n_rows = panel_queries + -panel_queries % 4
        panels = [np.empty((n_rows, n_samples)) for _ in range(2 if is_symmetric else 1)]
        slots: Any = new_slots(n_samples, n_classes, n_neighbors) if is_symmetric else None
        scans: list[Any] = []
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
                for a, b in split(n_samples - offset, offset)
            ]
            # Symmetric use: a panel is scanned while the next one is filled. The scan only touches
            # the slots of its own queries, the fill those of rows after the next panel.
            run(fills + scans)
            scans = [
                (scan_panel, block, is_symmetric, a, b, offset, y, panel, *slots)
                for a, b in split(block.size)
            ]
            if sample_weight is not None:
                near = weighted_neighbors(panel, block, y, sample_weight, rows is None, n_neighbors)
                run(weigh(block, *near))
                scans = []
            elif not is_symmetric:
                run(scans)
                run(weigh(block, slots[1]))
                scans = []
        if is_symmetric:
            run(scans)
            run(weigh(queries, slots[1]))
    is_drawn = rows is not None or sample_weight is None
    weights *= 1.0 / (queries.size if is_drawn else sample_weight.sum())
    return weights


def weighted_neighbors(
    panel: Any, queries: np.ndarray, y: Any, sample_weight: Any, takes_all: Any, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return neighbours of queries, given their distances to all rows, and what each counts.

    A row counts by that part of its weight that is among the first `n_neighbors` of its class, hits
    negative; `takes_all` counts queries by their weights. Both are (n_queries, n_found).
    """
    priors = np.bincount(y, sample_weight) / sample_weight.sum()
    found = []
    for c in range(len(priors)):
        rows, is_own = np.flatnonzero(y == c), y[queries] == c
        order = np.argsort(panel[: queries.size, rows], axis=1, kind="stable")
        near = rows[order]
        weights = sample_weight[near]
        # Of the rows that a query stands for, all but itself are its neighbours.
        weights = np.where(near == queries[:, np.newaxis], np.maximum(weights - 1.0, 0.0), weights)
        taken = np.clip(n_neighbors - (np.cumsum(weights, axis=1) - weights), 0.0, weights)
        n_near = 1 + int(np.flatnonzero(taken.any(axis=0)).max(initial=-1))
        total = taken.sum(axis=1)
        factor = priors[c] / (1.0 - priors[y[queries]]) if len(priors) > 2 else 1.0
        factor = np.where(is_own, -1.0, factor) / np.where(total > 0, total, 1.0)
        if takes_all:
            factor *= sample_weight[queries]
        found.append((near[:, :n_near], taken[:, :n_near] * factor[:, np.newaxis]))
    near, shares = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
    return near.astype(np.int32), shares


def count_values(XT: Any, is_nominal: Any) -> np.ndarray:
    """Return the number of values of nominal columns, 0 for numeric ones; int32."""
    n_values = np.zeros(XT.shape[0], np.int32)
    if is_nominal is None:
        return n_values
    for a in np.flatnonzero(is_nominal):
        values = np.unique(XT[a])
        # Two values scale to 0 and 1: equality is then the numeric case.
        is_binary = values.size == 2 and values[1] - values[0] >= MIN_RANGE
        n_values[a] = 0 if is_binary else values.size
    return n_values


def column_widths(XT: Any) -> Any:
    """Return the largest less the lowest known value of every column."""
    return np.fmax.reduce(XT, axis=1) - np.fmin.reduce(XT, axis=1)


def scale_columns(XT: Any, n_values: Any, ZT: Any) -> bool:
    """Fill `ZT` with columns scaled to [0, 1], nominal ones copied; return if any is missing."""
    is_nominal = n_values > 0
    with np.errstate(all="ignore"):
        lo = np.fmin.reduce(XT, axis=1).astype(np.float64)
        lo[is_nominal] = 0.0
        width = np.fmax.reduce(XT, axis=1) - lo
        width[is_nominal] = 1.0
        np.subtract(XT, lo[:, None], out=ZT)
        ZT /= width[:, None]
    for a in np.flatnonzero(width < MIN_RANGE):
        ZT[a, XT[a] == XT[a]] = 0.0
    return bool(np.isnan(ZT).any())


def new_slots(
    n_slots: int, n_classes: int, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return free slots: near_dist, near_row, bound and target."""
    shape = (n_slots, n_classes, n_neighbors)
    return (
        np.empty(shape),
        np.full(shape, -1, np.int32),
        np.full((n_classes, n_slots), np.inf),
        np.zeros((n_classes, n_slots), np.int32),
    )


def fill_panel(
    ZT: Any,
    columns: Any,
    n_values: Any,
    is_plain: Any,
    queries: np.ndarray,
    is_symmetric: Any,
    first: Any,
    last: Any,
    y: Any,
    panel: Any,
    near_dist: Any,
    near_row: Any,
    bound: Any,
    target: Any,
    accumulate: bool = False,
) -> None:
    """Fill distances of the queries to rows first:last, and offer the queries to these rows.

    ``panel[k, i]`` becomes the distance of queries[k] and row i, the sum over `columns`, in order,
    of their differences; `accumulate` adds to it. With z the scaled values, a numeric column
    differs by abs(z_r - z_i); one value missing: max(z, 1 - z) of the known one; both: 1. A nominal
    column, which misses none, differs by 0 if equal, else 1.

    `is_plain`: all columns are numeric and without missing values, and padded with zeros to a
    multiple of 4, as the rows of the panel always are. `is_symmetric`: the queries are consecutive
    rows and all rows are queries, so only distances to later rows are computed (in groups of 4).
    """
    slots = near_dist, near_row, bound, target
    # Distances of mixed columns are offered while they are in the second-level cache.
    tile = last - first if is_plain else max(N_TILE, N_CACHED // queries.size)
    for start in range(first, last, tile):
        stop = min(start + tile, last)
        if not is_plain:
            fill_mixed(ZT, columns, n_values, queries, is_symmetric, start, stop, accumulate, panel)
        fill_tiles(
            ZT, columns, is_plain, queries, is_symmetric, start, stop, accumulate, y, panel, *slots
        )


def add_weights(
    ZT: Any,
    n_values: Any,
    is_plain: Any,
    queries: np.ndarray,
    y: Any,
    class_counts: np.ndarray,
    near_row: Any,
    first: Any,
    last: Any,
    weights: Any,
    shares: Any = None,
) -> None:
    """Add the contributions of the queries to the weights of columns first:last.

    By the formula of `ReliefF`, with the neighbours found in a class for k and, for two classes, 1
    for P(c) / (1 - P(c_r)). Each weight is one running sum over r, hits before misses, classes
    ascending, neighbours in slot order; the probabilities multiply the rounded quotient. `ZT` and
    `y` are of all rows, or of some that the queries and their neighbours are among. With `shares`,
    neighbours are those of `weighted_neighbors`.
    """
    n_terms = near_row[0].size if len(near_row) else 0
    terms = np.empty(n_terms, np.int64), np.empty((2, n_terms))
    for a in range(first, last, N_STRIP):
        b = min(a + N_STRIP, last)
        fixed = np.ascontiguousarray(ZT[a:b].T), queries, y, class_counts, near_row, *terms
        if shares is not None:
            add_shares(fixed[0], queries, near_row, shares, n_values[a:b], weights[a:b])
        else:
            add_terms(*fixed, None if is_plain else n_values[a:b], weights[a:b])


@njit(cache=True, nogil=True, error_model="numpy")
def scan_panel(
    queries, is_symmetric, begin, end, offset, y, panel, near_dist, near_row, bound, target
):
    """Offer the rows of a filled panel to queries[begin:end]; queries[k] has slots ``offset + k``.

    In symmetric use rows before the panel were offered by `fill_tiles`, and those of the panel
    before the query are in the query's column.
    """
    for k in range(begin, end):
        q = offset + k
        row = queries[k]
        start = 0
        if is_symmetric:
            # No one else reads these entries of the panel.
            start = queries[0]
            for h in range(k):
                panel[k, start + h] = panel[h, row]
        for i in range(start, y.size):
            c = y[i]
            if panel[k, i] < bound[c, q] and i != row:
                target[c, q], bound[c, q] = _offer(
                    panel[k, i], i, target[c, q], near_dist[q, c], near_row[q, c]
                )


@njit(cache=True, nogil=True, error_model="numpy")
def fill_mixed(ZT, columns, n_values, queries, is_symmetric, first, last, accumulate, panel):
    """Fill the distances of `fill_panel`; nominal columns and missing values allowed."""
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for k in range(queries.size):
            begin = max(start, queries[k]) if is_symmetric else start
            if begin < stop:
                _sum_mixed(ZT, columns, n_values, queries[k], begin, stop, accumulate, panel[k])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tiles(
    ZT,
    columns,
    is_plain,
    queries,
    is_symmetric,
    first,
    last,
    accumulate,
    y,
    panel,
    near_dist,
    near_row,
    bound,
    target,
):
    """Do what `fill_panel` does, but fill no distances unless `is_plain`."""
    n_queries = queries.size
    for start in range(first, last, N_TILE):
        stop = min(start + N_TILE, last)
        for q in range(0, n_queries if is_plain else 0, 4):
            begin = max(start, queries[q]) if is_symmetric else start
            if begin >= stop:
                continue
            # A last group of fewer than 4 repeats its last query in the spare panel rows.
            r0, r1 = queries[q], queries[min(q + 1, n_queries - 1)]
            r2, r3 = queries[min(q + 2, n_queries - 1)], queries[min(q + 3, n_queries - 1)]
            d0, d1, d2, d3 = panel[q], panel[q + 1], panel[q + 2], panel[q + 3]
            for i in range(begin, stop if not accumulate else begin):
                d0[i] = d1[i] = d2[i] = d3[i] = 0.0
            # Rows are separate sums and go into vector lanes; within a row the columns are added
            # one by one in order. Four columns per pass save loads and stores of the sums.
            for t in range(0, columns.size, 4):
                za, zb = ZT[columns[t]], ZT[columns[t + 1]]
                zc, zd = ZT[columns[t + 2]], ZT[columns[t + 3]]
                a0, a1, a2, a3 = za[r0], za[r1], za[r2], za[r3]
                b0, b1, b2, b3 = zb[r0], zb[r1], zb[r2], zb[r3]
                c0, c1, c2, c3 = zc[r0], zc[r1], zc[r2], zc[r3]
                e0, e1, e2, e3 = zd[r0], zd[r1], zd[r2], zd[r3]
                for i in range(uintp(begin), uintp(stop)):
                    ua, ub, uc, ud = za[i], zb[i], zc[i], zd[i]
                    d0[i] = (((d0[i] + abs(a0 - ua)) + abs(b0 - ub)) + abs(c0 - uc)) + abs(e0 - ud)
                    d1[i] = (((d1[i] + abs(a1 - ua)) + abs(b1 - ub)) + abs(c1 - uc)) + abs(e1 - ud)
                    d2[i] = (((d2[i] + abs(a2 - ua)) + abs(b2 - ub)) + abs(c2 - uc)) + abs(e2 - ud)
                    d3[i] = (((d3[i] + abs(a3 - ua)) + abs(b3 - ub)) + abs(c3 - uc)) + abs(e3 - ud)
        if is_symmetric:
            # Row i has by now been offered every query of the earlier panels: all rows below
            # queries[0]. It takes those of this panel in ascending order.
            begin = max(start, queries[n_queries - 1] + 1)
            # Eight rows at a time: their slots stay in the first-level cache.
            for low in range(begin, stop, 8):
                for k in range(n_queries):
                    row = queries[k]
                    c = y[row]
                    for i in range(low, min(low + 8, stop)):
                        if panel[k, i] < bound[c, i]:
                            target[c, i], bound[c, i] = _offer(
                                panel[k, i], row, target[c, i], near_dist[i, c], near_row[i, c]
                            )


@njit_part
def _sum_mixed(ZT, columns, n_values, row, first, last, accumulate, dist):
    """Fill the distances of one row to first:last; nominal columns, missing values allowed."""
    # What depends on the row alone is outside the loops.
    for i in range(first, last if not accumulate else first):
        dist[i] = 0.0
    for a in columns:
        u = ZT[a, row]
        z = ZT[a]
        if n_values[a] > 0:
            for i in range(uintp(first), uintp(last)):
                dist[i] += 0.0 if u == z[i] else 1.0
        elif u != u:
            for i in range(uintp(first), uintp(last)):
                known = 1.0 - z[i] if z[i] < 0.5 else z[i]
                dist[i] += 1.0 if z[i] != z[i] else known
        else:
            unknown = 1.0 - u if u < 0.5 else u
            for i in range(uintp(first), uintp(last)):
                dist[i] += unknown if z[i] != z[i] else abs(u - z[i])


@njit(inline="always", error_model="numpy")
def _offer(distance, row, k, slots, slot_rows):
    """Put a row into slot k; return the next target and its bound, inf while a slot is free."""
    slots[k] = distance
    slot_rows[k] = row
    if k + 1 < slots.size and slot_rows[k + 1] < 0:
        return k + 1, np.inf
    worst = 0
    largest = slots[0]
    for s in range(1, slots.size):
        if slots[s] > largest:
            largest = slots[s]
            worst = s
    return worst, largest


@njit(cache=True, nogil=True, error_model="numpy")
def add_terms(strip, queries, y, class_counts, near_row, rows, factors, n_values, weights):
    """Add the queries to the weights of columns, side by side in `strip`, plain without values."""
    for q in range(queries.size):
        k = y[queries[q]]
        n_terms = _list_terms(q, k, class_counts, near_row, rows, factors)
        here = strip[queries[q]]
        for t in range(n_terms):
            there = strip[rows[t]]
            factor, divisor = factors[0, t], factors[1, t]
            if n_values is None:
                for f in range(weights.size):
                    weights[f] += factor * (abs(here[f] - there[f]) / divisor)
            else:
                for f in range(weights.size):
                    diff = _difference(here[f], there[f], n_values[f])
                    weights[f] += factor * (diff / divisor)


@njit(cache=True, nogil=True, error_model="numpy")
def add_shares(strip, queries, near_row, shares, n_values, weights):
    """Do the same for neighbours that count by given shares."""
    for q in range(queries.size):
        here = strip[queries[q]]
        for t in range(near_row.shape[1]):
            there, share = strip[near_row[q, t]], shares[q, t]
            for f in range(weights.size if share != 0.0 else 0):
                weights[f] += share * _difference(here[f], there[f], n_values[f])


@njit_part
def _list_terms(q, k, class_counts, near_row, rows, factors):
    """List the terms of a query of class k: neighbours, factors, divisors; return their number."""
    n_classes, n_neighbors = near_row.shape[1], near_row.shape[2]
    n_terms, n_samples = 0, 0
    for count in class_counts:
        n_samples += count
    for step in range(n_classes):
        # Own class first, then the others in order.
        c = k if step == 0 else (step - 1 if step <= k else step)
        factor = 1.0
        if c == k:
            factor = -1.0
        elif n_classes > 2:
            own = class_counts[k] / n_samples
            factor = (class_counts[c] / n_samples) / (1.0 - own)
        n_found = 0
        while n_found < n_neighbors and near_row[q, c, n_found] >= 0:
            n_found += 1
        for s in range(n_found):
            rows[n_terms] = near_row[q, c, s]
            factors[0, n_terms] = factor
            factors[1, n_terms] = n_found
            n_terms += 1
    return n_terms


@njit_part
def _difference(u, v, n_values):
    """Return the difference of two scaled values, as in `fill_panel`."""
    if n_values > 0:
        return 0.0 if u == v else 1.0
    if u != u and v != v:
        return 1.0
    if u != u or v != v:
        known = v if u != u else u
        return 1.0 - known if known < 0.5 else known
    return abs(u - v)
