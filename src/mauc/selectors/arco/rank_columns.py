"""Centred ranks of columns as whole numbers: columns in, ranks and their squares out.

The *centred rank* of a row is #(values below) - #(values above), which is 2 r - (n + 1) with r the
rank among n rows, ties averaged. A missing value is tied with every value: its rank is 0. Ranks
of a column sum to 0, so Spearman's correlation of two columns is a quotient of whole numbers,

    rho = sum r_a r_b / sqrt(sum r_a^2 sum r_b^2),

and no order of rows, block of columns or number of threads changes a bit of it.
"""

import math

import numpy as np
from numba import njit, uintp


def rank_step(n_samples):
    """Return the unit of ranks, 1 as long as the sum of n squares up to (n - 1)^2 fits 63 bits.

    It does up to two million rows; with more rows the unit is larger.
    """
    return max(1, math.ceil(math.sqrt(n_samples**3 / (3 * 2**62))))


class RankWriter:
    """Writes the centred ranks of columns, for a `mauc.auc.column_reader.ColumnReader`.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    ranks : ndarray of shape (n_features, n_samples), int16 or int32
        In units of `rank_step`; complete when all columns are written. In a temporary file where
        the memory of a source does not hold them (`Problem.room`).
    squares : ndarray of shape (n_features,), int64
        The sums of their squares; 0 for a constant column.
    """

    def __init__(self, problem):
        n_features, n_samples = problem.n_features, problem.n_samples
        self.ranks = problem.room.array((n_features, n_samples), rank_type(n_samples))
        self.squares = np.empty(n_features, np.int64)
        self._step = rank_step(n_samples)

    def write_levels(self, LT, columns):
        """Write the ranks of columns of levels, uint8, none of which is missing."""
        _rank_levels(LT, self._step, columns, self.ranks, self.squares)

    def write_sorted(self, words, n_known, row_bits, columns):
        """Write the ranks of sorted columns, whose words hold the row."""
        _rank_sorted(words, n_known, row_bits, self._step, columns, self.ranks, self.squares)


def rank_type(n_samples):
    """Return the narrower type that holds the ranks of `n_samples` rows."""
    return np.int16 if n_samples <= 2**15 else np.int32


@njit(cache=True, nogil=True)
def _cut(rank, step):
    """Divide towards zero, so that x and -x have opposite ranks."""
    return rank // step if rank >= 0 else -(-rank // step)


@njit(cache=True, nogil=True)
def _rank_levels(LT, step, columns, ranks, squares):
    n = LT.shape[1]
    counts, of_level = np.empty(256, np.int64), np.empty(256, np.int64)
    for j in range(LT.shape[0]):
        levels, target = LT[j], ranks[columns[j]]
        for level in range(256):
            counts[level] = 0
        for i in range(uintp(n)):
            counts[levels[i]] += 1
        n_below, square = 0, np.int64(0)
        for level in range(256):
            rank = _cut(2 * n_below + counts[level] - n, step)
            of_level[level] = rank
            square += counts[level] * rank * rank
            n_below += counts[level]
        squares[columns[j]] = square
        for i in range(uintp(n)):
            target[i] = of_level[levels[i]]


@njit(cache=True, nogil=True)
def _rank_sorted(words, n_known, row_bits, step, columns, ranks, squares):
    n = words.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for j in range(words.shape[0]):
        w, target, n_here = words[j], ranks[columns[j]], n_known[j]
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


@njit(cache=True, nogil=True)
def rank_product(a, b):
    """Return the sum of products of two rows of ranks."""
    total = np.int64(0)
    for i in range(uintp(a.shape[0])):
        total += np.int64(a[i]) * np.int64(b[i])
    return total
