"""Correctly rounded means of quotients: equal means get the same bits, whatever their terms.

The mean of AUCs a_p / b_p over class pairs p has another denominator in every term. Added in double
precision, equal means of two features come out apart by a unit in the last place, and the order of
the features would hang on rounding. Here the terms and their sum carry twice the digits, and the
few sums that lie too close to the middle between two doubles are taken as fractions.
"""

from fractions import Fraction

import numpy as np
from numba import uintp

from mauc.compile import njit

_UNIT = 2.0**-53  # largest relative error of a rounding
_SPLITTER = 2.0**27 + 1.0  # cuts 53 bits into two halves whose products are exact
_MAX_WHOLE = 2.0**52  # denominators for which a numerator is found again from its quotient


def mean_of_quotients(quotients, denominators=None):
    """Return the mean of every row, of shape (n_rows,): the double nearest to the true mean.

    Each of the quotients, of shape (n_rows, n_terms), is a whole number divided by its denominator
    (n_terms,); where it is not, its own value counts. Plain addition would give rows of equal
    means different numbers.
    """
    quotients = np.asarray(quotients, np.float64)
    n_rows, n_terms = quotients.shape
    if n_terms == 1 or n_rows == 0:
        return quotients.mean(axis=1)
    divisors = _divisors(denominators, n_terms)
    high, low = np.empty(n_rows), np.empty(n_rows)
    add_terms(np.ascontiguousarray(quotients), divisors, high, low)
    means, rest = _divide(high, low, float(n_terms))
    # The error of `rest` is below this, and a mean whose rest is that close to half the distance
    # of its neighbour may belong to the neighbour; below a power of two doubles lie twice as close.
    error = (n_terms + 8.0) ** 2 * _UNIT**2 * np.abs(means) + _UNIT * np.abs(rest)
    half = np.spacing(np.abs(means)) / 2
    is_close = np.minimum(np.abs(np.abs(rest) - half), np.abs(np.abs(rest) - half / 2)) <= error
    for row in np.flatnonzero(is_close):
        means[row] = _mean_of_fractions(quotients[row].tolist(), divisors.tolist())
    return means


def _divisors(denominators, n_terms):
    """Return the denominators of which numerators can be found again, 0 for the others."""
    if denominators is None:
        return np.zeros(n_terms)
    denominators = np.asarray(denominators, np.float64)
    is_whole = (denominators == np.rint(denominators)) & (denominators < _MAX_WHOLE)
    return np.where(is_whole & (denominators > 0), denominators, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def add_terms(quotients, divisors, high, low):
    """Fill in the sum of every row, in double precision (`high`), and what it lacks (`low`)."""
    for row in range(quotients.shape[0]):
        terms = quotients[row]
        total, lacking = 0.0, 0.0
        for p in range(uintp(terms.shape[0])):
            # The error of the sum (Knuth).
            quotient, divisor = terms[p], divisors[p]
            before = total
            total = before + quotient
            part = total - before
            lacking += (before - (total - part)) + (quotient - part)
            # What rounding took from the quotient, by the error of the product (Dekker).
            product = quotient * divisor
            numerator = np.rint(product)
            if divisor > 0.0 and numerator / divisor == quotient:
                scaled = _SPLITTER * quotient
                a_high = scaled - (scaled - quotient)
                a_low = quotient - a_high
                scaled = _SPLITTER * divisor
                b_high = scaled - (scaled - divisor)
                b_low = divisor - b_high
                error = a_high * b_high - product
                error = ((error + a_high * b_low) + a_low * b_high) + a_low * b_low
                lacking += ((numerator - product) - error) / divisor
        high[row], low[row] = total, lacking


def _divide(high, low, divisor):
    """Return (high + low) / divisor as a double and its remainder."""
    quotient = high / divisor
    product, error = _two_product(quotient, np.float64(divisor))
    return _two_sum(quotient, ((high - product) - error + low) / divisor)


def _two_sum(a, b):
    """Return a + b and the error of that sum (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    """Return a * b and the error of that product (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a):
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _mean_of_fractions(quotients, divisors):
    total = Fraction(0)
    for quotient, divisor in zip(quotients, divisors, strict=True):
        numerator = np.rint(quotient * divisor)
        if divisor > 0.0 and numerator / divisor == quotient:
            total += Fraction(int(numerator), int(divisor))
        else:
            total += Fraction(quotient)
    return float(total / len(quotients))
