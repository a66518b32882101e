"""Find columns of few levels on a decimal grid: columns in, `Levels` out.

Counts, grades, bytes and rounded measurements need no sort: a table of levels by classes holds all
that their AUCs depend on.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, uintp

from mauc.numerics.njit_part import njit_part
from mauc.problem.columns import read_only

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
