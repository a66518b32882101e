"""Find columns of few levels on a decimal grid: columns in, `Levels` out.

Counts, grades, bytes and rounded measurements need no sort: a table of levels by classes holds all
that their AUCs depend on.
"""

from typing import NamedTuple

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part
from mauc.engine.arrays import n_pairs_of, read_only
from mauc.engine.sweep import LANES, add_multiple, aligned_rows, padded_length

MAX_LEVELS = 256  # they fit into a byte
_MAX_DECIMALS = 6
_N_SAMPLED = 16  # values that a column of reals is rejected after


class Levels(NamedTuple):
    """The levels ``rint(x * factor) - low`` of columns; arrays of shape (n_features,)."""

    lows: np.ndarray  #: the smallest value times the factor
    factors: np.ndarray  #: a power of ten
    n_levels: np.ndarray  #: one more than the largest level; 0 for columns without levels

    def take(self, chosen):
        """Return the levels of some of the columns."""
        return Levels(*(part[chosen] for part in self))


def find_levels(XT):
    """Find the columns that hold at most `MAX_LEVELS` levels of a decimal grid.

    Data from text files have few decimals. A value that is the float nearest to k / 10**d is
    identified by k. Float64 columns that were float32 once hold the float32 nearest to it.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Contiguous columns, read-only; NaN are passed over.

    Returns
    -------
    levels : Levels
    """
    n_features, n_samples = XT.shape
    levels = Levels(
        np.zeros(n_features), np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
    )
    # A table much larger than the column costs more than sorting.
    max_levels = min(MAX_LEVELS, n_samples)
    sample = read_only(np.ascontiguousarray(XT[:, :: max(1, n_samples // _N_SAMPLED)]))
    _find(XT, sample, max_levels, *levels)
    return levels


@njit(cache=True, nogil=True)
def _find(XT, sample, max_levels, lows, factors, n_levels):
    for j in range(XT.shape[0]):
        if _is_off_grid(sample[j]):
            continue
        factor = 1.0
        for _ in range(_MAX_DECIMALS + 1):
            for is_single in (False, True):
                low, high = 0.0, 0.0
                for values in (sample[j], XT[j]):
                    if high - low < max_levels:
                        low, high = _grid_range(values, factor, is_single)
                if high - low < max_levels:
                    # A column without a known value has one level.
                    lows[j], factors[j] = min(low, high), factor
                    n_levels[j] = max(0, np.int64(high - low)) + 1
                    break
            if n_levels[j] > 0:
                break
            factor *= 10.0


@njit_part
def _is_off_grid(x):
    """Return whether a value is on no grid: the finest holds the others."""
    finest = 10.0**_MAX_DECIMALS
    for i in range(x.shape[0]):
        value = np.float64(x[i])
        nearest = np.rint(value * finest) / finest
        # Larger values times the factor are not exact; NaN is passed over.
        if abs(value) < 2.0**30 and nearest != value and np.float32(nearest) != value:
            return True
    return False


@njit_part
def _grid_range(x, factor, is_single):
    """Return the smallest and largest k with x = k / factor; an infinite range if there is none."""
    n = x.shape[0]
    low, high = np.inf, -np.inf
    # 64 values at a time, so that most columns of reals are rejected early.
    for start in range(0, n, 64):
        n_wrong = 0
        for i in range(uintp(start), uintp(min(start + 64, n))):
            value = np.float64(x[i])
            place = np.rint(value * factor)
            nearest = place / factor
            if is_single:
                nearest = np.float64(np.float32(nearest))
            n_wrong += (nearest != value) & (value == value)
            low = place if place < low else low
            high = place if place > high else high
        if n_wrong > 0:
            return -np.inf, np.inf
    if high < low:
        return 0.0, 0.0
    return low, high


MAX_CLASSES = 256  # class codes are held in bytes here


def count_levels(LT, y, class_counts, n_levels, n_missing):
    """Count, for every column of levels and class pair, how often the first class is higher.

    Parameters
    ----------
    LT : ndarray of shape (n_features, n_samples), uint8
        Levels: the values, or their differences from the smallest one.
    y : ndarray of shape (n_samples,), int32
        Class codes below 256.
    class_counts : ndarray of shape (n_classes,), int64
    n_levels : ndarray of shape (n_features,), int64
        One more than the largest level of each column.
    n_missing : ndarray of shape (n_features, n_classes), int64
        Missing values of each class; such rows have level 0 in `LT`.

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), int64
        As from `mauc.engine.sweep.sweep_words`.
    """
    n_samples, n_classes = LT.shape[1], class_counts.shape[0]
    length = padded_length(n_classes)
    table, won = aligned_rows(MAX_LEVELS, length), aligned_rows(n_classes, length)
    middle = aligned_rows(1, length)
    wide_won = np.zeros((n_classes, n_classes), np.int64)
    column = np.zeros(n_samples + 8 - n_samples % 8, np.uint8)
    eights = column.view(np.uint64)
    labels = np.zeros(column.shape[0], np.uint8)
    labels[:n_samples] = y
    wins = np.zeros((LT.shape[0], n_pairs_of(n_classes)), np.int64)
    _count_columns(
        LT, labels, class_counts, n_levels, n_missing, column, eights,
        table, table.view(np.uint64), middle, won, wide_won, wins,
    )  # fmt: skip
    return wins


@njit(cache=True, nogil=True)
def _count_columns(
    LT, labels, class_counts, n_levels, n_missing, column, eights,
    table, table_pairs, middle, won, wide_won, wins,
):  # fmt: skip
    n_classes = class_counts.shape[0]
    n = LT.shape[1]
    known = np.empty(n_classes, np.int64)
    for j in range(LT.shape[0]):
        for i in range(n):
            column[i] = LT[j, i]
        table[: n_levels[j]] = 0
        _count_above_zero(column, eights, labels, table)
        _sum_levels(table, n_levels[j], middle)
        has_missing = False
        for k in range(n_classes):
            known[k] = class_counts[k] - n_missing[j, k]
            table[0, k] = known[k] - middle[0, k]
            has_missing |= n_missing[j, k] > 0
        if 2 * n * n < 2**32:
            won[:] = 0
            _sweep_table(table, table_pairs, n_levels[j], middle, won)
            _add_upper_triangle(won, wins[j])
        else:
            wide_won[:] = 0
            _sweep_table_wide(table, n_levels[j], wide_won)
            _add_upper_triangle(wide_won, wins[j])
        if has_missing:
            _add_missing(class_counts, known, wins[j])


@njit_part
def _sum_levels(table, n_levels, total):
    """Fill `total` with the class counts of all levels but 0."""
    total[:] = 0
    size = uintp(4 * LANES)
    row_size = uintp(4 * table.shape[1])
    first, target = uintp(table.ctypes.data), uintp(total.ctypes.data)
    for level in range(uintp(1), uintp(n_levels)):
        for v in range(uintp(0), row_size, size):
            add_multiple(target + v, first + level * row_size + v, np.uint32(1))


@njit_part
def _count_above_zero(column, eights, labels, table):
    # Level 0, the background of images and counts, need not be counted: it follows from the
    # class sizes. So eight rows of it are skipped at once, and so is the padding.
    for block in range(uintp(eights.shape[0])):
        if eights[block] != 0:
            first = block * uintp(8)
            for lane in range(uintp(8)):
                i = first + lane
                table[uintp(column[i]), uintp(labels[i])] += np.uint32(1)


@njit_part
def _sweep_table(table, table_pairs, n_levels, middle, won):
    """Add ``t_i (2 below_j + t_j)`` of every level, t being its class counts."""
    n_classes, length = won.shape
    middle[:] = 0  # 2 * below + t
    m = uintp(middle.ctypes.data)
    a = uintp(won.ctypes.data)
    t = uintp(table.ctypes.data)
    size = uintp(4 * LANES)
    row_size = uintp(4 * length)
    for level in range(uintp(n_levels)):
        filled = np.uint64(0)
        for pair in range(uintp(table_pairs.shape[1])):
            filled |= table_pairs[level, pair]
        if filled == 0:
            continue
        for v in range(uintp(0), row_size, size):
            add_multiple(m + v, t + level * row_size + v, np.uint32(1))
        for k in range(uintp(n_classes)):
            count = np.uint32(table[level, k])
            if count > 0:
                for v in range(uintp(0), row_size, size):
                    add_multiple(a + k * row_size + v, m + v, count)
        for v in range(uintp(0), row_size, size):
            add_multiple(m + v, t + level * row_size + v, np.uint32(1))


@njit_part
def _sweep_table_wide(table, n_levels, won):
    """Do the same in 64 bits, for counts whose products exceed 32."""
    n_classes = won.shape[0]
    below = np.zeros(n_classes, np.int64)
    for level in range(n_levels):
        for i in range(n_classes):
            count = np.int64(table[level, i])
            if count > 0:
                for j in range(i + 1, n_classes):
                    won[i, j] += count * (2 * below[j] + np.int64(table[level, j]))
        for i in range(n_classes):
            below[i] += table[level, i]


@njit(cache=True, nogil=True)
def write_levels(XT, lows, factors, labels, LT, n_missing):
    """Turn columns into their levels; NaN becomes level 0 and is counted."""
    n_missing[:] = 0
    for j in range(XT.shape[0]):
        low, factor = lows[j], factors[j]
        n_nan = 0
        for i in range(XT.shape[1]):
            value = np.float64(XT[j, i])
            level = np.int32(np.rint(value * factor) - low)
            LT[j, i] = np.uint8(level) if value == value else np.uint8(0)
            n_nan += value != value
        if n_nan > 0:
            for i in range(XT.shape[1]):
                n_missing[j, labels[i]] += XT[j, i] != XT[j, i]


@njit_part
def _add_upper_triangle(won, out):
    pair = uintp(0)
    for i in range(won.shape[0]):
        for j in range(i + 1, won.shape[0]):
            out[pair] += won[i, j]
            pair += uintp(1)


@njit_part
def _add_missing(class_counts, known, out):
    """Add 1 for each pair of rows in which at least one value is missing."""
    pair = 0
    for i in range(class_counts.shape[0]):
        for j in range(i + 1, class_counts.shape[0]):
            out[pair] += class_counts[i] * class_counts[j] - known[i] * known[j]
            pair += 1
