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


def rank_columns(XT, ranks, squares):
    """Fill in the centred ranks of columns.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), uint8, float32 or float64
        Read-only and contiguous.
    ranks : ndarray of shape (n_features, n_samples), int16 or int32
        Of `rank_type`; filled, in units of `rank_step`.
    squares : ndarray of shape (n_features,), int64
        Filled with the sums of their squares; 0 for a constant column.
    """
    step = rank_step(XT.shape[1])
    if XT.dtype == np.uint8:
        _rank_levels(XT, step, ranks, squares)
    else:
        _rank_ordered(XT, np.argsort(XT, axis=1), step, ranks, squares)


def rank_type(n_samples):
    """Return the narrower type that holds the ranks of `n_samples` rows."""
    return np.int16 if n_samples <= 2**15 else np.int32


@njit(cache=True, nogil=True)
def _cut(rank, step):
    """Divide towards zero, so that x and -x have opposite ranks."""
    return rank // step if rank >= 0 else -(-rank // step)


@njit(cache=True, nogil=True)
def _rank_levels(LT, step, ranks, squares):
    n = LT.shape[1]
    counts, of_level = np.empty(256, np.int64), np.empty(256, np.int64)
    for j in range(LT.shape[0]):
        levels, target = LT[j], ranks[j]
        counts[:] = 0
        for i in range(uintp(n)):
            counts[levels[i]] += 1
        n_below, square = 0, np.int64(0)
        for level in range(256):
            rank = _cut(2 * n_below + counts[level] - n, step)
            of_level[level] = rank
            square += counts[level] * rank * rank
            n_below += counts[level]
        squares[j] = square
        for i in range(uintp(n)):
            target[i] = of_level[levels[i]]


@njit(cache=True, nogil=True)
def _rank_ordered(XT, orders, step, ranks, squares):
    n = XT.shape[1]
    for j in range(XT.shape[0]):
        column, order, target = XT[j], orders[j], ranks[j]
        n_known = n
        while n_known > 0 and column[order[n_known - 1]] != column[order[n_known - 1]]:
            n_known -= 1
            target[order[n_known]] = 0
        square = np.int64(0)
        start = 0
        # order[:start] are below column[order[start]], which opens a run of equal values
        while start < n_known:
            value = column[order[start]]
            stop = start + 1
            while stop < n_known and column[order[stop]] == value:
                stop += 1
            rank = _cut(start + stop - n_known, step)
            for i in range(start, stop):
                target[order[i]] = rank
            square += (stop - start) * rank * rank
            start = stop
        squares[j] = square


@njit(cache=True, nogil=True)
def rank_product(a, b):
    """Return the sum of products of two rows of ranks."""
    total = np.int64(0)
    for i in range(uintp(a.shape[0])):
        total += np.int64(a[i]) * np.int64(b[i])
    return total
