"""Choose how floats become monotone 32-bit keys: columns in, `ColumnKeys` out."""

from typing import NamedTuple

import numpy as np
from numba import njit, uintp

# How the keys of a column are made.
EXACT = 0  # (x - min) * 10**d: whole or decimal numbers, no two values share a key
LINEAR = 1  # floor((x - min) * scale): good for values of one magnitude
BITWISE = 2  # the leading bits of the ordered bit pattern: for heavy tails and infinities

MAX_DECIMALS = 6


class ColumnKeys(NamedTuple):
    """How the keys of a block of columns are made; arrays of shape (n_features,)."""

    kinds: np.ndarray  #: EXACT, LINEAR or BITWISE
    lows: np.ndarray  #: the smallest value (EXACT: times the scale; BITWISE: unused)
    scales: np.ndarray  #: the factor of EXACT and LINEAR
    n_known: np.ndarray  #: values that are not NaN
    n_levels: np.ndarray  #: EXACT: one more than the largest key; else 0

    def take(self, chosen):
        """Return the keys of some of the columns."""
        return ColumnKeys(*(part[chosen] for part in self))


def label_bits_of(n_classes):
    """Return the number of low bits that a class code needs in a word."""
    return max(1, int(n_classes - 1).bit_length())


def fits_words(n_samples, n_classes):
    """Return whether ranks of n samples and the class codes fit into 32 bits together."""
    return int(n_samples).bit_length() + label_bits_of(n_classes) <= 32


def choose_keys(XT, n_bits):
    """Choose for each column how its keys of `n_bits` bits are made.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Contiguous columns.
    n_bits : int

    Returns
    -------
    keys : ColumnKeys
    """
    lows = XT.min(axis=1).astype(np.float64)
    highs = XT.max(axis=1).astype(np.float64)
    n_known = np.full(XT.shape[0], XT.shape[1])
    has_missing = np.isnan(lows)  # NumPy's min and max propagate NaN
    if has_missing.any():
        n_known -= np.isnan(XT).sum(axis=1)
        lows[has_missing] = np.fmin.reduce(XT[has_missing], axis=1)
        highs[has_missing] = np.fmax.reduce(XT[has_missing], axis=1)
        lows[n_known == 0] = highs[n_known == 0] = 0.0
    last_key = float(2**n_bits - 1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        widths = highs - lows
        scales = last_key / widths
    is_linear = np.isfinite(widths) & np.isfinite(scales)
    kinds = np.where(is_linear, LINEAR, BITWISE)
    n_levels = np.zeros(XT.shape[0], np.int64)
    factors = np.zeros(XT.shape[0])
    find_decimal_factors(XT, widths, last_key, factors)
    is_exact = factors > 0.0
    kinds[is_exact] = EXACT
    scales[is_exact] = factors[is_exact]
    lows[is_exact] = np.rint(lows[is_exact] * factors[is_exact])
    n_levels[is_exact] = np.rint(highs[is_exact] * factors[is_exact]) - lows[is_exact] + 1
    return ColumnKeys(kinds, lows, scales, n_known, n_levels)


@njit(cache=True, nogil=True)
def find_decimal_factors(XT, widths, last_key, factors):
    """Fill `factors` with the power of ten that makes a column whole numbers, or 0.

    Data from text files have few decimals. A value that is the float nearest to k / 10**d
    is identified by k, so k is an exact key. Float64 columns that were
    float32 once hold the float32 nearest to k / 10**d.
    """
    for j in range(XT.shape[0]):
        factor = 1.0
        for _ in range(MAX_DECIMALS + 1):
            if not widths[j] * factor <= last_key:
                break
            if _is_decimal(XT[j], factor, False) or _is_decimal(XT[j], factor, True):
                factors[j] = factor
                break
            factor *= 10.0


@njit(cache=True, nogil=True)
def _is_decimal(x, factor, is_single):
    n = x.shape[0]
    # 64 values at a time: a column of reals is rejected after the first of them.
    for start in range(0, n, 64):
        n_wrong = 0
        for i in range(uintp(start), uintp(min(start + 64, n))):
            value = np.float64(x[i])
            nearest = np.rint(value * factor) / factor
            if is_single:
                nearest = np.float64(np.float32(nearest))
            n_wrong += (nearest != value) & (value == value)
        if n_wrong > 0:
            return False
    return True


def bitwise_keys(x, n_bits):
    """Return the leading `n_bits` bits in which the bit patterns differ; NaN gets any key."""
    # Unsigned integers that compare like the floats; + 0.0 turns -0.0 into 0.0.
    bits = (x.astype(np.float64) + 0.0).view(np.uint64)
    bits = np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(2**63))
    known = bits[~np.isnan(x)]
    span = int(known.max() - known.min())
    return (bits - known.min()) >> np.uint64(max(0, span.bit_length() - n_bits))
