"""Ranks of all columns, and their correlations, as ARCO looks at them.

The *centred rank* of a row is #(values below) - #(values above), which is 2 r - (n + 1) with r the
rank among n rows, ties averaged. A missing value is tied with every value: its rank is 0. Ranks
of a column sum to 0, so Spearman's correlation of two columns is a quotient of whole numbers,

    rho = sum r_a r_b / sqrt(sum r_a^2 sum r_b^2),

and no order of rows, block of columns or number of threads changes a bit of it. With weights,
which count rows, ranks are floats and stored times the roots of the weights.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part
from mauc.data.problem import Problem
from mauc.engine.arrays import mean_of_quotients
from mauc.engine.levels import take_levels
from mauc.measure.pair_auc import WinCounter, folded_auc
from mauc.memory import Workspace
from mauc.parallel import count_threads, even_ranges, start_pool

# Products of ranks that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 20


class RankArrays(NamedTuple):
    """Centred ranks of all columns, from which kernels compute correlations."""

    ranks: np.ndarray  #: (n_features, n_samples), in units of `rank_step`
    squares: np.ndarray  #: sums of the squares of the ranks; 0 of constant columns


@dataclass(frozen=True)
class RankedFeatures:
    """Features as centred ranks, and the threads to compare them with."""

    arrays: RankArrays
    relevance: np.ndarray  #: mean AUC of every feature
    is_constant: np.ndarray
    blocks: list[tuple[int, int]]  #: ranges of features, one per thread
    pool: Any  #: for `mauc.parallel.run_in`
    max_rows: int  #: rows that a thread may read before it calls ``spilled.release``
    spilled: Workspace | None  #: of the ranks, if they are in a file


@contextmanager
def ranked_features(
    problem: Problem, pair_auc: np.ndarray | None = None, n_jobs: int | None = None
) -> Iterator[RankedFeatures]:
    """Rank the values of all columns and measure their AUCs, which `pair_auc` is filled with."""
    arrays, relevance = measure_ranks(problem, pair_auc, n_jobs)
    n_threads = min(count_threads(n_jobs), arrays.ranks.size // BLOCK_WORK)
    blocks = even_ranges(problem.n_features, n_threads)
    workspace = problem.workspace
    max_rows = workspace.rows_at_once(arrays.ranks[0].nbytes, len(blocks))
    spilled = workspace if workspace.is_spilled else None
    with start_pool(len(blocks)) as pool:
        yield RankedFeatures(
            arrays, relevance, arrays.squares == 0, blocks, pool, max_rows, spilled
        )


def measure_ranks(
    problem: Problem, pair_auc: np.ndarray | None = None, n_jobs: int | None = None
) -> tuple[RankArrays, np.ndarray]:
    """Return centred ranks and the mean AUC of every column; fill in `pair_auc`."""
    n_features, n_samples = problem.n_features, problem.n_samples
    rank_type: Any = np.int16 if n_samples <= 2**15 else np.int32
    if problem.sample_weight is not None:
        rank_type = np.float64
    ranks = problem.workspace.array((n_features, n_samples), rank_type)
    squares = np.empty(n_features, np.float64 if rank_type is np.float64 else np.int64)
    relevance = np.empty(n_features)
    arrays = ranks, squares, relevance
    for _ in problem.map(
        _measure_block,
        out=arrays if pair_auc is None else (*arrays, pair_auc),
        prepare=_prepare,
        n_scores=len(problem.max_wins),
        n_jobs=n_jobs,
        is_dense=True,
    ):
        pass
    return RankArrays(ranks, squares), relevance


def _prepare(problem: Problem) -> tuple[WinCounter, np.ndarray | None]:
    """Return what the blocks of columns have in common: a reader and the roots of the weights."""
    weight = problem.sample_weight
    reader = WinCounter(problem, np.arange(problem.n_samples, dtype=np.int32))
    return reader, None if weight is None else np.sqrt(weight)


def _measure_block(
    problem: Problem,
    block: slice,
    reader: WinCounter,
    roots: np.ndarray | None,
    ranks: np.ndarray,
    squares: np.ndarray,
    relevance: np.ndarray,
    *pair_auc: np.ndarray,
) -> None:
    """Fill in the arrays of some columns."""
    wins = reader.read(block, RankWriter(ranks, squares, roots))
    folded = folded_auc(wins, problem.max_wins)
    for out in pair_auc:
        out[:] = folded
    relevance[:] = mean_of_quotients(folded, problem.max_wins)


class RankWriter:
    """Writes centred ranks, in units of `rank_step`, and sums of squares, for a `WinCounter`."""

    def __init__(self, ranks: np.ndarray, squares: np.ndarray, roots: np.ndarray | None):
        self.ranks, self.squares = ranks, squares
        self._roots, self._step = roots, rank_step(ranks.shape[1])

    def write_levels(self, LT: Any, level_counts: Any, columns: Any) -> None:
        """Write the ranks of columns of levels, uint8, none of which is missing."""
        n_samples = LT.shape[1]
        ranks = 2 * np.cumsum(level_counts, axis=1) - level_counts - n_samples
        ranks = np.sign(ranks) * (np.abs(ranks) // self._step)
        self.squares[columns] = (level_counts * ranks * ranks).sum(axis=1)
        take_levels(LT, np.arange(n_samples), ranks.astype(self.ranks.dtype), columns, self.ranks)

    def write_sorted(self, keys: Any, n_known: Any, row_bits: int, columns: Any) -> None:
        """Write the ranks of sorted columns, whose keys hold the row."""
        _rank_sorted(keys, n_known, row_bits, self._step, columns, self.ranks, self.squares)

    def write_ranks(self, ranks: Any, tied: Any, columns: Any) -> None:
        """Write the ranks of rows with weights."""
        ranks *= self._roots
        self.ranks[columns] = ranks
        self.squares[columns] = [rank_product(row, row) for row in ranks]


def rank_step(n_samples: int) -> int:
    """Return the unit of ranks: 1 up to two million rows, as long as the squares sum to 63 bits."""
    return max(1, math.ceil(math.sqrt(n_samples**3 / (3 * 2**62))))


@njit
def _cut(rank, step):
    """Divide towards zero, so that x and -x have opposite ranks."""
    return rank // step if rank >= 0 else -(-rank // step)


@njit
def _rank_sorted(keys, n_known, row_bits, step, columns, ranks, squares):
    n = keys.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for j in range(keys.shape[0]):
        w, target, n_here = keys[j], ranks[columns[j]], n_known[j]
        if n_here < n:
            for i in range(n):
                target[i] = 0
        square = np.int64(0)
        start = 0
        # w[:start] are below w[start], which opens a run of equal values
        while start < n_here:
            stop = start + 1
            while stop < n_here and (w[stop] >> shift) == (w[start] >> shift):
                stop += 1
            rank = _cut(start + stop - n_here, step)
            for i in range(start, stop):
                target[uintp(w[i] & mask)] = rank
            square += (stop - start) * rank * rank
            start = stop
        squares[columns[j]] = square


@njit
def rank_product(a, b):
    """Return the sum of products of two rows of ranks."""
    total = np.int64(0)  # or a float of floats
    for i in range(uintp(a.shape[0])):
        total += a[i] * b[i]
    return total


@njit_part
def rank_correlation(ranks, squares, f, s):
    """Return the absolute rank correlation of two features: 1 for copies, 0 for constants."""
    if squares[f] == 0 or squares[s] == 0:
        return 0.0
    product = np.float64(abs(rank_product(ranks[f], ranks[s])))
    return product / math.sqrt(np.float64(squares[f]) * np.float64(squares[s]))
