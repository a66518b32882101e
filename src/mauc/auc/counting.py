"""Count class-pair wins in columns of few levels: no sort, one table per column."""

import numpy as np
from numba import njit, uintp

from mauc.auc.levels import MAX_LEVELS
from mauc.auc.sweep import aligned_rows, padded_length
from mauc.auc.vector import LANES, add_multiple
from mauc.numerics.njit_part import njit_part
from mauc.problem.decomposition import n_pairs_of

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
        As from `mauc.auc.sweep.sweep_words`.
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
