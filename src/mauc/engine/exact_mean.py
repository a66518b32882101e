"""Correctly rounded means of quotients: equal means get the same bits, whatever their terms.

The mean of AUCs a_p / b_p over class pairs p has another denominator in every term. Added in double
precision, equal means of two features come out apart by a unit in the last place, and the order of
the features would hang on rounding. Here the terms and their sum carry twice the digits, and the
few sums that lie too close to the middle between two doubles are taken as fractions.
"""

from fractions import Fraction

import numpy as np
from numba import uintp

from mauc.compile import njit, njit_part

_UNIT = 2.0**-53  # largest relative error of a rounding
_SPLITTER = 2.0**27 + 1.0  # cuts 53 bits into two halves whose products are exact
_MAX_WHOLE = 2.0**52  # denominators for which a numerator is found again from its quotient


def mean_of_quotients(quotients: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """Return the double nearest to the mean of every row of quotients, of shape (n_rows, n_terms).

    They are whole numbers divided by the denominators; where one is not, its own value counts.
    """
    quotients = np.asarray(quotients, np.float64)
    n_rows, n_terms = quotients.shape
    if n_terms == 1 or n_rows == 0:
        return quotients.mean(axis=1)
    # Those of which numerators can be found again, 0 for the others.
    is_whole = (denominators == np.rint(denominators)) & (denominators < _MAX_WHOLE)
    divisors = np.where(is_whole & (denominators > 0), denominators, 0.0).astype(np.float64)
    means, rest = np.empty(n_rows), np.empty(n_rows)
    fill_means(np.ascontiguousarray(quotients), divisors, means, rest)
    # The error of `rest` is below this, and a mean whose rest is that close to half the distance
    # of its neighbour may belong to the neighbour; below a power of two doubles lie twice as close.
    error = (n_terms + 8.0) ** 2 * _UNIT**2 * np.abs(means) + _UNIT * np.abs(rest)
    half = np.spacing(np.abs(means)) / 2
    is_close = np.minimum(np.abs(np.abs(rest) - half), np.abs(np.abs(rest) - half / 2)) <= error
    for row in np.flatnonzero(is_close):
        means[row] = _mean_of_fractions(quotients[row].tolist(), divisors.tolist())
    return means


@njit(cache=True, nogil=True, error_model="numpy")
def fill_means(quotients, divisors, means, rest):
    """Fill in the mean of every row, in double precision, and what it lacks."""
    n_terms = np.float64(quotients.shape[1])
    for row in range(quotients.shape[0]):
        terms = quotients[row]
        total, lacking = 0.0, 0.0
        for p in range(uintp(terms.shape[0])):
            quotient, divisor = terms[p], divisors[p]
            total, lost = _two_sum(total, quotient)
            lacking += lost
            # What rounding took from the quotient.
            product, error = _two_product(quotient, divisor)
            numerator = np.rint(product)
            if divisor > 0.0 and numerator / divisor == quotient:
                lacking += ((numerator - product) - error) / divisor
        mean = total / n_terms
        product, error = _two_product(mean, n_terms)
        means[row], rest[row] = _two_sum(mean, ((total - product) - error + lacking) / n_terms)


@njit_part
def _two_sum(a, b):
    """Return a + b and the error of that sum (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit_part
def _two_product(a, b):
    """Return a * b and the error of that product (Dekker)."""
    product = a * b
    scaled = _SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = _SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _mean_of_fractions(quotients, divisors):
    total = Fraction(0)
    for quotient, divisor in zip(quotients, divisors, strict=True):
        numerator = np.rint(quotient * divisor)
        if divisor > 0.0 and numerator / divisor == quotient:
            total += Fraction(int(numerator), int(divisor))
        else:
            total += Fraction(quotient)
    return float(total / len(quotients))
