"""Normal scores of all features in 8 bits, with the ties and class sums of their columns.

A *score* is Phi^-1((r - 1/2) / n) in units of 1 / `UNIT`, rounded to a whole number, with r the
rank of the value among all n rows, ties averaged. Whole numbers make every sum of products
exact, so that no number of threads and no order of rows changes a bit. A missing value is tied
with every value: its score is 0, and it counts half below and half above each known value.
Rounding adds 1e-4 to a variance of about 1, far less than n rows tell about it.

With weights, which count rows, a row has the score that its copies would have, and sums are of
floats.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numba import uintp
from scipy.special import ndtri

from mauc.compile import njit
from mauc.data.problem import Problem
from mauc.data.rows import hashed_rows
from mauc.engine.levels import take_levels
from mauc.measure.nominal_scores import MAX_SCORE, UNIT, NominalColumn
from mauc.parallel import scratch_array

MIN_TIED = 0.1  # share of tied pairs of rows up to which the AUC alone tells the effect
_ALIGN = 64  # scores: products over whole vectors have no remainder
MIN_VARIANCE = 1e-3  # floor of a residual variance: that of a copy of other features is 0
_MIN_WITHIN = 0.25  # whole numbers that differ within a class have a scatter of 1/2 or more
_N_SHRINKAGE_FEATURES = 64  # enough for a mean over 2016 pairs of features
_MAX_FLOOR = 0.5  # of the shrinkage: beyond, a copy of a feature would pass for another one
_DOUBT = 1.5  # over the number of classes: errors over few class pairs do not cancel
_MIN_CLASS_COUNT = 3  # samples that a class needs for a correlation of its own
_STRIDE = 64  # ranks


@dataclass(frozen=True)
class NormalScores:
    """Normal scores of all features."""

    #: (>= n_features, >= n_kept), int8: rows sorted by class, then zeros; further columns have room
    padded: np.ndarray
    sums: np.ndarray  #: (n_classes, n_features), int64 or float64: of the kept rows of each class
    squares: np.ndarray  #: (n_features,), int64 or float64: sums of squares over all kept rows
    class_counts: np.ndarray  #: (n_classes,), int64: kept rows of each class
    varies: np.ndarray  #: (n_features,), bool: False if constant in all samples, kept or not
    rows: np.ndarray  #: (n_kept,), int32: the rows that are kept, sorted by class
    class_sizes: np.ndarray  #: (n_classes,): weights of all rows of each class, or their numbers
    weights: np.ndarray | None = None  #: (>= n_kept,): of the kept rows, then zeros
    nominal: dict[int, NominalColumn] = field(default_factory=dict)  #: by column

    @property
    def scores(self) -> np.ndarray:
        """The scores alone, shape (>= n_features, n_kept)."""
        return self.padded[:, : self.class_counts.sum()]

    @cached_property
    def class_weights(self) -> np.ndarray:
        """The weights of the kept rows of each class, or their numbers."""
        if self.weights is None:
            return self.class_counts
        stops = np.cumsum(self.class_counts)
        return np.array([part.sum() for part in np.split(self.weights, stops)[:-1]])

    @cached_property
    def row_weights(self) -> np.ndarray:
        """What the scores of one of two columns are multiplied by, for sums of products of both.

        Ones without weights, of 16 bits so that the products have as many.
        """
        if self.weights is None:
            return np.ones(self.padded.shape[1], np.int16)
        return self.weights

    def products(self, first: np.ndarray | int, second: np.ndarray | int) -> np.ndarray:
        """Return the sums of the products of two columns, or of many."""
        kind = np.int64 if self.weights is None else np.float64
        weighted = self.padded[first] * self.row_weights
        return np.einsum("...i,...i->...", weighted, self.padded[second], dtype=kind)

    def values(self, columns: np.ndarray, part: slice) -> np.ndarray:
        """Return scores of some kept rows times the roots of their weights, for products."""
        values = self.padded[columns, part]
        return values if self.weights is None else values * np.sqrt(self.weights[part])

    def extended(self, padded: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> "NormalScores":
        """Return them with further columns, in the room after these, which count as constant."""
        n_before, n_new = len(self.squares), len(squares)
        self.padded[n_before : n_before + n_new] = padded
        return replace(
            self,
            sums=np.concatenate([self.sums, sums], axis=1),
            squares=np.concatenate([self.squares, squares]),
            varies=np.append(self.varies, np.zeros(n_new, bool)),
        )

    def taken(self, columns: np.ndarray) -> "NormalScores":
        """Return those of some columns alone, in the order given."""
        nominal = self.nominal
        return replace(
            self,
            padded=self.padded[columns],
            sums=self.sums[:, columns],
            squares=self.squares[columns],
            varies=self.varies[columns],
            nominal={at: nominal[f] for at, f in enumerate(columns.tolist()) if f in nominal},
        )

    @property
    def confirmed_roots(self) -> np.ndarray:
        """The roots of the shares of nominal columns, 1 for other columns."""
        roots = np.ones(len(self.squares))
        for column, known in self.nominal.items():
            roots[column] = max(math.sqrt(known.share), 1e-6)
        return roots

    def unexplained(
        self, columns: np.ndarray, s: int, centers: np.ndarray, scales: np.ndarray
    ) -> np.ndarray:
        """Return the parts of variances that groups of equal s leave, of what a line leaves.

        `centers` and `scales` are those of `within_scales`.
        """
        keys = np.repeat(256 * np.arange(len(self.class_counts)), self.class_counts)
        keys += self.scores[s]
        order = np.argsort(keys, kind="stable")
        starts = np.append(np.flatnonzero(np.diff(keys[order], prepend=-999)), len(keys))
        weights, sizes, at = self.weights, np.diff(starts), np.arange(len(columns))
        if weights is not None:
            weights = weights[order]
            sizes = np.add.reduceat(weights, starts[:-1])
        n_groups, n, n_classes = len(sizes), sizes.sum(), np.count_nonzero(self.class_counts)
        if n_groups >= n:
            return np.ones(len(columns))
        moments = class_moments(self.scores[columns][:, order], at, starts, weights)
        between = (moments[:, 0] ** 2 / sizes).sum(axis=1)
        shared = self.products(columns, s).astype(np.float64)
        for center, own in zip(centers[:, columns], centers[:, s], strict=True):
            between -= center * center
            shared -= center * own
        r = shared * scales[columns] * scales[s]
        unexplained = (1.0 - between * scales[columns] ** 2) * (n - n_classes) / (n - n_groups)
        return np.maximum(unexplained, 0.0) / np.maximum(1.0 - r * r, 1e-9)

    def within_scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `within_scales` of the kept rows."""
        sizes = np.where(self.class_counts > 0, self.class_weights, 1)
        return within_scales(self.sums, self.squares, sizes)


def within_scales(
    sums: np.ndarray, squares: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what turns dot products into within-class correlations.

    Centers, (n_classes, n_columns), are class sums over the roots of class sizes; scales,
    (n_columns,), one over the root of the scatter within the classes, 0 if there is none.
    """
    centers = sums / np.sqrt(sizes)[:, np.newaxis]
    within = squares.astype(np.float64)
    for center in centers:
        within -= center * center
    return centers, np.where(within > _MIN_WITHIN, 1.0 / np.sqrt(np.maximum(within, 0.1)), 0.0)


def row_scales(
    rows: np.ndarray, class_counts: np.ndarray, class_weights: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return class sums of rows of scores, sorted by class, and their `within_scales`."""
    starts = np.append(0, np.cumsum(class_counts))
    moments = class_moments(rows, np.arange(len(rows)), starts, weights)
    sums, squares = moments[:, 0].T, moments[:, 1].sum(axis=1)
    return sums, *within_scales(sums, squares, class_weights)


class KeptRows:
    """The rows in `order` by class, class k from ``starts[k]`` on, and which are kept.

    `kept` are the offsets in `order` of the rows on which correlations are measured, `kept_weights`
    their weights and `weights` those of all rows, or None. Where the rows are too many, a kept one
    has as many of the `max_samples` as its copies would have.
    """

    def __init__(
        self,
        problem: Problem,
        max_samples: int | None,
        kept: np.ndarray | None = None,
        kept_weights: np.ndarray | None = None,
    ):
        codes, n_classes, given = problem.codes, problem.n_classes, problem.sample_weight
        self.starts: np.ndarray
        order, self.starts, weights = problem.by_class
        self.order: np.ndarray = order.view(np.int32)
        self.weights: np.ndarray | None = None if given is None else weights
        total = len(order) if given is None else float(weights.sum())
        if max_samples is not None and max_samples < max(total, len(order)):
            kept = hashed_rows(problem, self.order, self.starts, max_samples, self.weights)
            kept, counts = np.unique(kept, return_counts=True)
            kept_weights = counts * min(1.0, total / max_samples)
        elif kept is None:
            kept, kept_weights = np.arange(len(order)), self.weights
        self.kept: np.ndarray = kept
        #: the rows that are kept, by class, their number in each, and their weights, then zeros
        self.kept_rows: np.ndarray = self.order[kept]
        self.kept_counts: np.ndarray = np.bincount(codes[self.kept_rows], minlength=n_classes)
        self.n_padded: int = -(-len(kept) // _ALIGN) * _ALIGN
        self.kept_weights: np.ndarray | None = None
        if self.weights is not None:
            self.kept_weights = np.zeros(self.n_padded)
            self.kept_weights[: len(kept)] = kept_weights

    def sent(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the arguments that make them again elsewhere: none where all rows are kept."""
        if len(self.kept) == len(self.order):
            return None, None
        weights = self.kept_weights
        return self.kept, None if weights is None else weights[: len(self.kept)]


def empty_scores(problem: Problem, rows: KeptRows, n_room: int) -> NormalScores:
    """Return the scores of a problem, to be filled in, with room for further columns."""
    kind = np.int64 if rows.weights is None else np.float64
    return NormalScores(
        np.zeros((problem.n_features + n_room, rows.n_padded), np.int8),
        np.empty((problem.n_classes, problem.n_features), kind),
        np.empty(problem.n_features, kind),
        rows.kept_counts,
        np.empty(problem.n_features, np.bool_),
        rows.kept_rows,
        problem.class_weights,
        rows.kept_weights,
    )


class NormalScorer:
    """What the scores of all columns of a problem have in common."""

    def __init__(self, problem: Problem, rows: KeptRows):
        self.rows: KeptRows = rows
        self.class_weights: np.ndarray = problem.class_weights
        # The score of a weighted rank is computed.
        self.table: np.ndarray = score_table(problem.n_samples if rows.weights is None else 1)
        self.kept_starts: np.ndarray = np.concatenate([[0], np.cumsum(rows.kept_counts)])


class BlockScores:
    """Scores, ties and class sums, of all rows, of a block of columns; a `WinCounter` writes.

    The arrays are the parts of those of `NormalScores` that belong to the block; `sums` has one
    row per column.
    """

    def __init__(
        self,
        scorer: NormalScorer,
        padded: np.ndarray,
        sums: np.ndarray,
        squares: np.ndarray,
        varies: np.ndarray,
        *,
        takes_all: bool,
    ):
        self.takes_all: bool = takes_all
        self._scorer = scorer
        self._padded, self._sums, self._squares, self._varies = padded, sums, squares, varies
        #: tied ordered pairs of rows per column, 0 if they are few
        self.n_tied: np.ndarray = np.empty(len(varies), squares.dtype)
        #: sums of the scores over each class, and of their squares
        shape = len(self.n_tied), 2, len(scorer.class_weights)
        self.moments: np.ndarray = np.empty(shape, squares.dtype)

    @property
    def columns(self) -> np.ndarray:
        """The columns of the block whose sums count: those with many ties, or all."""
        return np.arange(len(self.n_tied)) if self.takes_all else np.flatnonzero(self.n_tied)

    def write_levels(self, LT: np.ndarray, level_counts: np.ndarray, columns: np.ndarray) -> None:
        """Write the scores of columns of levels, uint8, none of which is missing."""
        scorer, n = self._scorer, LT.shape[1]
        scores = scorer.table[2 * np.cumsum(level_counts, axis=1) - level_counts]
        n_pairs = (level_counts * level_counts).sum(axis=1)
        is_tied = (n_pairs > n) & (n_pairs > MIN_TIED * n * n)
        self.n_tied[columns] = np.where(is_tied, n_pairs, 0)
        # Two levels are half of all ranks apart or more: their scores differ.
        self._varies[columns] = n_pairs < n * n
        out, targets = self._targets(columns)
        take_levels(LT, scorer.rows.order, scores, targets, out)
        self._sum(out, targets, columns)

    def write_sorted(
        self, keys: np.ndarray, n_known: np.ndarray, row_bits: int, columns: np.ndarray
    ) -> None:
        """Write the scores of sorted columns."""
        scorer = self._scorer
        out, targets = self._targets(columns)
        n_tied, varies = np.empty(len(columns), np.int64), np.empty(len(columns), np.bool_)
        sorted_scores(keys, n_known, row_bits, scorer.table, targets, out, varies, n_tied)
        self.n_tied[columns], self._varies[columns] = n_tied, varies
        self._sum(out, targets, columns)

    def write_ranks(self, ranks: np.ndarray, tied: np.ndarray, columns: np.ndarray) -> None:
        """Write the scores of columns with these centred ranks, of rows with weights."""
        rows, total = self._scorer.rows, self._scorer.class_weights.sum()
        lower = np.maximum(total - np.abs(ranks[:, rows.order]), 0.0) / (2.0 * total)
        scores = np.clip(np.rint(UNIT * ndtri(lower)), -MAX_SCORE, 0.0)
        scores = (scores * -np.sign(ranks[:, rows.order])).astype(np.int8)
        is_tied = (tied > total) & (tied > MIN_TIED * total * total)
        self.n_tied[columns] = np.where(is_tied, tied, 0.0)
        self._varies[columns] = scores.min(axis=1) != scores.max(axis=1)
        self._sum(scores, np.arange(len(columns)), columns)

    def _targets(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the scores of all rows go: the result itself if all rows are kept."""
        scorer = self._scorer
        n_samples = len(scorer.rows.order)
        if len(scorer.rows.kept) == n_samples:
            return self._padded, columns
        return scratch_array("scores", (len(columns), n_samples), np.int8), np.arange(len(columns))

    def _sum(self, found: np.ndarray, targets: np.ndarray, columns: np.ndarray) -> None:
        """Sum the scores of all rows, which are in rows `targets` of `found`, and of those kept."""
        scorer = self._scorer
        moments = class_moments(found, targets, scorer.rows.starts, scorer.rows.weights)
        self.moments[columns] = moments
        if found is not self._padded:
            self._padded[columns, : len(scorer.rows.kept_rows)] = found[:, scorer.rows.kept]
            moments = class_moments(
                self._padded, columns, scorer.kept_starts, scorer.rows.kept_weights
            )
        self._sums[columns], self._squares[columns] = moments[:, 0], moments[:, 1].sum(axis=1)


def class_moments(
    scores: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray | None,
    table: np.ndarray | None = None,
) -> np.ndarray:
    """Return sums of scores and of squares of rows ``starts[k]:starts[k + 1]``; `table` by byte."""
    kind = np.int64 if weights is None else np.float64
    moments = np.empty((len(columns), 2, len(starts) - 1), kind)
    if weights is None:
        sum_scores(scores, columns, starts, table, moments)
        return moments
    for k, (start, stop) in enumerate(pairwise(starts)):
        part = scores[columns, start:stop]
        part = (part if table is None else table[part]).astype(np.float64)
        weighted = part * weights[start:stop]
        # Sums are NumPy's own: those of BLAS would depend on the number of threads.
        moments[:, 0, k], moments[:, 1, k] = weighted.sum(axis=1), (weighted * part).sum(axis=1)
    return moments


def score_table(n_samples: int) -> np.ndarray:
    """Return the score of every doubled rank, shape (2 n_samples + 1,), int8.

    Entry t, for 0 < t < 2 n, is the score of (r - 1/2) / n = t / (2 n). It is odd about the middle,
    so that x and -x have opposite scores.
    """

    def score(t: np.ndarray) -> np.ndarray:
        """Return the scores of some doubled ranks."""
        lower = ndtri(t / (2 * n_samples))
        return np.clip(np.rint(UNIT * lower), -MAX_SCORE, 0).astype(np.int8)

    # There are few scores and they ascend: between two equal ones nothing is computed.
    ends = np.append(np.arange(1, n_samples, _STRIDE), n_samples)
    of_ends = score(ends)
    table = np.zeros(2 * n_samples + 1, np.int8)
    table[1:n_samples] = np.repeat(of_ends[:-1], np.diff(ends))
    table[n_samples] = of_ends[-1]
    inner = ends[:-1][np.diff(of_ends) != 0, np.newaxis] + np.arange(_STRIDE)
    inner = inner[inner <= n_samples]
    table[inner] = score(inner)
    table[n_samples : 2 * n_samples] = -table[n_samples:0:-1]
    return table


def estimate_shrinkage(scores: NormalScores) -> float:
    """Return the shrinkage of correlations: "Shrinkage" in docs/methods/greedy_mauc.md."""
    varying = np.flatnonzero(scores.varies)
    n_chosen = min(_N_SHRINKAGE_FEATURES, len(varying))
    counts, sizes = scores.class_counts, scores.class_weights
    n_free = sizes.sum() - np.count_nonzero(counts)
    if n_chosen < 2:
        return 0.0
    if n_free < 1:
        return 1.0
    chosen = varying[np.arange(n_chosen) * len(varying) // n_chosen]
    pairs = np.triu_indices(n_chosen, 1)
    stops = np.cumsum(counts)
    scatters = {}
    for k in np.flatnonzero(counts):
        rows = slice(stops[k] - counts[k], stops[k])
        part, total = scores.values(chosen, rows).astype(np.float64), scores.sums[k, chosen]
        # Products of whole numbers below 2^53: exact, whatever the order of the sum.
        scatters[k] = part @ part.T - np.outer(total, total) / sizes[k]
    r = _correlations(sum(scatters.values()))[pairs]
    spread, weight = 0.0, 0
    for k, scatter in scatters.items():
        if sizes[k] >= _MIN_CLASS_COUNT:
            r_k = _correlations(scatter)[pairs]
            chance = (1.0 - r_k**2) ** 2 / (sizes[k] - 1)
            spread += sizes[k] * np.mean((r_k - r) ** 2 - chance)
            weight += sizes[k]
    error = np.mean((1.0 - r**2) ** 2) / n_free + max(0.0, spread) / max(weight, 1) / 2
    # Of as many correlations as there are features, chance alone makes the largest so large.
    floor = min(_MAX_FLOOR, math.sqrt(2.0 * math.log(len(varying)) / n_free))
    return float(min(1.0, max(floor, error / (error + np.mean(r**2)))))


def resolve_shrinkage(given: float | None, scores: NormalScores) -> tuple[float, float]:
    """Return the shrinkage of correlations and the doubt in them: as given, or from the data."""
    if given is not None:
        return given, 0.0
    return estimate_shrinkage(scores), _DOUBT / len(scores.class_counts)


def _correlations(scatter: np.ndarray) -> np.ndarray:
    """Return correlations from sums of squares and products, 0 where nothing varies."""
    deviations = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    # Whole numbers that differ have a scatter of 1/2 or more.
    inverse = np.where(deviations > 0.5, 1.0 / np.maximum(deviations, 0.5), 0.0)
    return scatter * inverse[:, None] * inverse


@njit
def sorted_scores(keys, n_known, row_bits, table, targets, out, varies, n_tied):
    """Fill row ``targets[j]`` of `out` with the scores of column j, which is sorted already.

    `keys` of shape (n_columns, n_samples), uint64, ascend, with the offset of a row among the rows
    sorted by class in their `row_bits` low bits; keys of equal values agree in the bits above, and
    those beyond ``n_known[j]`` are of missing values. `n_tied` counts ordered pairs of rows with
    equal values, or of which one is missing, a row with itself among them; 0 if that is at most
    1/10 of all, or nothing ties.
    """
    n = keys.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for j in range(keys.shape[0]):
        w, target = keys[j], out[targets[j]]
        n_here = n_known[j]
        n_missing = n - n_here
        if n_missing > 0:
            for i in range(n):
                target[i] = 0
        n_equal = 0
        for i in range(uintp(1), uintp(max(n_here, 1))):
            n_equal += (w[i] >> shift) == (w[i - uintp(1)] >> shift)
        varies[j] = False
        n_pairs = n_here
        if n_equal == 0:
            for i in range(uintp(n_here)):
                target[uintp(w[i] & mask)] = table[uintp(2) * i + uintp(1 + n_missing)]
            if n_here > 0:
                varies[j] = table[1 + n_missing] != table[2 * n_here - 1 + n_missing]
        else:
            start = n_pairs = 0
            lowest = score = np.int8(0)
            # w[start] opens a run of equal values; the rows before it have their scores
            while start < n_here:
                stop = start + 1
                while stop < n_here and (w[stop] >> shift) == (w[start] >> shift):
                    stop += 1
                score = table[start + stop + n_missing]
                lowest = score if start == 0 else lowest
                for i in range(start, stop):
                    target[uintp(w[i] & mask)] = score
                n_pairs += (stop - start) * (stop - start)
                start = stop
            varies[j] = lowest != score
        n_pairs += n_missing * (n + n_here)
        is_tied = n_pairs > n and np.float64(n_pairs) > MIN_TIED * np.float64(n) * np.float64(n)
        n_tied[j] = n_pairs if is_tied else np.int64(0)


@njit
def sum_scores(scores, targets, starts, table, moments):
    """Fill in the sums of rows of scores over each class, from ``starts[k]`` on, and of squares."""
    for j in range(targets.shape[0]):
        row = scores[targets[j]]
        for k in range(starts.shape[0] - 1):
            total = square = np.int64(0)
            for i in range(uintp(starts[k]), uintp(starts[k + 1])):
                value = np.int64(row[i]) if table is None else np.int64(table[row[i]])
                total += value
                square += value * value
            moments[j, 0, k], moments[j, 1, k] = total, square
