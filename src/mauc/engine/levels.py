"""Columns of few levels on a decimal grid, which need no sort.

Of counts, grades, bytes and rounded measurements, a table of levels by classes holds all that their
AUCs depend on.
"""

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.engine.arrays import LANES, aligned_rows, n_pairs_of, padded_length
from mauc.engine.sweep import add_multiple
from mauc.parallel import scratch_array

MAX_LEVELS = 256  # they fit into a byte
_MAX_CLASSES = 256  # so do the class codes
_MAX_ROWS = 2**26  # whose pairs, counted twice, a double holds exactly
_MAX_DECIMALS = 6
_N_SAMPLED = 16  # values that tell columns of reals from others
_EXACT = 2.0**30  # beyond, a value times the finest factor is not exact
_CHUNK = 256  # values that are checked at once: most columns are rejected early


def can_count(n_samples: int, n_classes: int) -> bool:
    """Whether `count_levels` can count this many rows and classes."""
    return n_samples <= _MAX_ROWS and n_classes <= _MAX_CLASSES


def find_levels(XT: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the columns that hold at most `MAX_LEVELS` levels of a decimal grid.

    Data from text files have few decimals: a value that is the float nearest to k / 10**d is
    identified by k. Float64 columns that were float32 once hold the float32 nearest to it. Returns
    the levels ``k - min(k)`` (uint8, of `scratch_array`; 0 where missing), `n_levels`, one more
    than the largest or 0 for columns without levels, and how many values of the others are missing.
    """
    n_features, n_samples = XT.shape
    # A table much larger than the column costs more than sorting.
    max_levels = min(MAX_LEVELS, n_samples)
    n_levels, n_missing = np.zeros((2, n_features), np.int64)
    LT = scratch_array("levels", XT.shape, np.uint8)
    decimals = _sample_decimals(XT[:, :: max(1, n_samples // _N_SAMPLED)], max_levels)
    columns = np.flatnonzero(decimals <= _MAX_DECIMALS)
    if len(columns) > 0:
        if XT.dtype != np.float64:
            single, XT = XT, scratch_array("doubles", XT.shape, np.float64)
            XT[columns] = single[columns]
        doubles = XT.view()
        doubles.flags.writeable = False
        factors = 10.0 ** np.arange(_MAX_DECIMALS + 1)
        _write_levels(doubles, columns, decimals, factors, max_levels, LT, n_levels, n_missing)
    return LT, n_levels, n_missing


def _sample_decimals(sample: np.ndarray, max_levels: int) -> np.ndarray:
    """Return the decimals from which on columns may lie on a grid; `_MAX_DECIMALS` + 1 for none."""
    sample = sample.astype(np.float64)
    finest = 10.0**_MAX_DECIMALS
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(sample * finest)
        nearest = steps / finest
        is_off = (nearest != sample) & (nearest.astype(np.float32) != sample)
        # Missing values lie on every grid; what is not exact here is left to the whole column.
        is_exact = np.abs(sample) < _EXACT
        decimals = np.where((is_off & is_exact).any(axis=1), _MAX_DECIMALS + 1, 0)
        left = np.flatnonzero(decimals == 0)
        if len(left) == 0:
            return decimals
        steps = np.where(is_exact[left], steps[left], 0.0)
        for d in range(_MAX_DECIMALS):
            # Values of d decimals are whole numbers of 10**(6 - d) finest steps.
            coarse = steps / 10.0 ** (_MAX_DECIMALS - d)
            needs_more = (np.rint(coarse) != coarse).any(axis=1)
            if not needs_more.any():
                break
            decimals[left] += needs_more
        ranges = np.fmax.reduce(sample[left], axis=1) - np.fmin.reduce(sample[left], axis=1)
        # Half a level is for rounding: what is in doubt is decided by the whole column.
        has_many = ranges * 10.0 ** decimals[left] >= max_levels + 0.5
    decimals[left[has_many]] = _MAX_DECIMALS + 1
    return decimals


@njit
def _write_levels(XT, columns, decimals, factors, max_levels, LT, n_levels, n_missing):
    n = uintp(XT.shape[1])
    for c in range(columns.shape[0]):
        j = columns[c]
        x, levels = XT[j], LT[j]
        first = 0.0  # the first known value: a column without one has one level
        for i in range(n):
            if x[i] == x[i]:
                first = x[i]
                break
        for d in range(decimals[j], factors.shape[0]):
            factor = factors[d]
            # Steps from there are whole numbers, whose minimum LLVM vectorises.
            origin = np.rint(first * factor)
            low, high = np.int32(0), np.int32(0)
            n_off_double = n_off_single = n_far = n_nan = start = uintp(0)
            is_open = is_few = True
            while is_open:
                stop = start + uintp(_CHUNK) if start + uintp(_CHUNK) < n else n
                for i in range(start, stop):
                    value = x[i]
                    k = np.rint(value * factor)
                    nearest = k / factor
                    # NaN is counted by all four.
                    n_off_double += uintp(nearest != value)
                    n_off_single += uintp(np.float64(np.float32(nearest)) != value)
                    n_nan += uintp(value != value)
                    k -= origin
                    is_near = abs(k) < max_levels
                    n_far += uintp(not is_near)
                    step = np.int32(k if is_near else 0.0)
                    low = step if step < low else low
                    high = step if step > high else high
                start = stop
                is_few = n_far == n_nan and high - low < max_levels
                is_open = start < n and is_few and (n_off_double == n_nan or n_off_single == n_nan)
            if not is_few:
                break
            if n_off_double > n_nan and n_off_single > n_nan:
                continue
            n_levels[j], n_missing[j] = high - low + 1, n_nan
            origin += low
            for i in range(n):
                value = x[i]
                level = np.int32(np.rint(value * factor) - origin)
                levels[i] = np.uint8(level) if value == value else np.uint8(0)
            break


def count_levels(
    LT: np.ndarray,
    y: np.ndarray,
    class_counts: np.ndarray,
    n_levels: np.ndarray,
    n_missing: np.ndarray | None = None,
    level_counts: np.ndarray | None = None,
) -> np.ndarray:
    """Return the wins of columns of levels, uint8, as `mauc.engine.sweep.sweep_keys` does.

    `n_missing`, (n_features, n_classes), counts missing values, which have level 0. Zeros in
    `level_counts`, (n_features, `MAX_LEVELS`), become the known values of each level.
    """
    if level_counts is None:
        level_counts = np.empty((0, MAX_LEVELS), np.int64)
    n_samples, n_classes = LT.shape[1], class_counts.shape[0]
    known = np.tile(class_counts, (LT.shape[0], 1))
    if n_missing is not None:
        known -= n_missing
    length = padded_length(n_classes)
    table = np.zeros((MAX_LEVELS, length), np.uint32)
    sums = aligned_rows(n_classes + 2, length, np.float64)
    column = np.zeros(n_samples + 8 - n_samples % 8, np.uint8)
    labels = np.zeros(column.shape[0], np.uint8)
    labels[:n_samples] = y
    wins = np.empty((LT.shape[0], n_pairs_of(n_classes)), np.int64)
    _count_columns(
        LT,
        labels,
        known,
        n_levels,
        column,
        column.view(np.uint64),
        table,
        sums[0],
        sums[1],
        sums.reshape(-1),
        np.uint64(sums.ctypes.data),
        level_counts,
        wins,
    )
    if n_missing is not None and n_missing.any():
        # A pair of rows with a missing value counts as equal.
        first, second = np.triu_indices(n_classes, 1)
        wins += class_counts[first] * class_counts[second] - known[:, first] * known[:, second]
    return wins


@njit
def _count_columns(
    LT,
    labels,
    known,
    n_levels,
    column,
    eights,
    table,
    here,
    middle,
    sums,
    sums_at,
    level_counts,
    wins,
):
    """Count the wins of known values; `table` is zero before and after.

    `sums`, at the address `sums_at`, has the counts t of a level, 2 * below + t, and the wins of
    each class; `here` and `middle` are the first two of these rows.
    """
    n, n_classes, length = uintp(LT.shape[1]), uintp(known.shape[1]), uintp(table.shape[1])
    row_size = uintp(8) * length
    for j in range(LT.shape[0]):
        x = LT[j]
        for i in range(n):
            column[i] = x[i]
        # Level 0, the background of images and counts, need not be counted: it follows from the
        # class sizes. So eight rows of it are skipped at once, and so is the padding.
        for block in range(uintp(eights.shape[0])):
            if eights[block] != 0:
                for i in range(block * uintp(8), block * uintp(8) + uintp(8)):
                    table[uintp(column[i]), uintp(labels[i])] += np.uint32(1)
        for k in range(n_classes):
            total = np.int64(0)
            for level in range(1, n_levels[j]):
                total += np.int64(table[level, k])
            table[0, k] = np.uint32(known[j, k] - total)
        for k in range(uintp(sums.shape[0])):
            sums[k] = 0.0
        for level in range(uintp(n_levels[j])):
            t = table[level]
            n_here = uintp(0)
            for k in range(length):
                n_here += uintp(t[k])
                here[k] = np.float64(t[k])
                middle[k] += here[k]
            if n_here == 0:
                continue
            if level_counts.shape[0] > 0:
                level_counts[j, level] = n_here
            # Add t_i (2 below_j + t_j).
            for k in range(n_classes):
                if t[k] > 0:
                    for v in range(uintp(0), length, uintp(LANES)):
                        at = sums_at + uintp(8) * v
                        add_multiple(at + (k + uintp(2)) * row_size, at + row_size, here[k])
            for k in range(length):
                middle[k] += here[k]
                t[k] = 0
        pair = uintp(0)
        for i in range(n_classes):
            for k in range(i + uintp(1), n_classes):
                wins[j, pair] = np.int64(sums[(i + uintp(2)) * length + k])
                pair += uintp(1)


@njit
def take_levels(LT, rows, values, targets, out):
    """Write ``values[j, level]`` of some rows of column j to row ``targets[j]`` of `out`."""
    for j in range(LT.shape[0]):
        levels, of_levels, target = LT[j], values[j], out[targets[j]]
        for i in range(uintp(rows.shape[0])):
            target[i] = of_levels[levels[uintp(rows[i])]]
