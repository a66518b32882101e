"""Correctly rounded means of quotients: equal means get the same bits, whatever their terms.

The mean of AUCs a_p / b_p over class pairs p has another denominator in every term. Added in double
precision, equal means of two features come out apart by a unit in the last place, and the order of
the features would hang on rounding. Here the terms and their sum carry twice the digits, and the
few sums that lie too close to the middle between two doubles are taken as fractions.
"""

from fractions import Fraction

import numpy as np

_UNIT = 2.0**-53  # largest relative error of a rounding
_SPLITTER = 2.0**27 + 1.0  # cuts 53 bits into two halves whose products are exact
_MAX_WHOLE = 2.0**52  # denominators for which a numerator is found again from its quotient


def mean_of_quotients(quotients, denominators=None):
    """Return the mean of every row, rounded once.

    Parameters
    ----------
    quotients : ndarray of shape (n_rows, n_terms), float64
        Each a whole number divided by its denominator; where it is not, its own value counts.
    denominators : ndarray of shape (n_terms,), optional

    Returns
    -------
    means : ndarray of shape (n_rows,), float64
        The double nearest to the true mean.

    Examples
    --------
    Both rows have the mean 8/9; plain addition gives them different numbers:

    >>> import numpy as np
    >>> from mauc.numerics.exact_mean import mean_of_quotients
    >>> quotients = np.array([[1, 4 / 6, 1], [1, 5 / 6, 5 / 6]])
    >>> quotients.mean(axis=1) == 8 / 9
    array([ True, False])
    >>> mean_of_quotients(quotients, np.array([2, 6, 6])) == 8 / 9
    array([ True,  True])
    """
    quotients = np.asarray(quotients, np.float64)
    n_rows, n_terms = quotients.shape
    if n_terms == 1 or n_rows == 0:
        return quotients.mean(axis=1)
    numerators, rests = _split_terms(quotients, denominators)
    high, low = _sum_terms(quotients, rests)
    means, rest = _divide(high, low, float(n_terms))
    # The error of `rest` is below this, and a mean whose rest is that close to half the distance
    # of its neighbour may belong to the neighbour; below a power of two doubles lie twice as close.
    error = (n_terms + 8.0) ** 2 * _UNIT**2 * np.abs(means) + _UNIT * np.abs(rest)
    half = np.spacing(np.abs(means)) / 2
    is_close = np.minimum(np.abs(np.abs(rest) - half), np.abs(np.abs(rest) - half / 2)) <= error
    for row in np.flatnonzero(is_close):
        means[row] = _mean_of_fractions(quotients[row], numerators[row], denominators)
    return means


def _split_terms(quotients, denominators):
    """Return the numerators, NaN where there is none, and what rounding took from the quotients."""
    if denominators is None:
        return np.full(quotients.shape, np.nan), np.zeros(quotients.shape)
    denominators = np.asarray(denominators, np.float64)
    is_whole = (denominators == np.rint(denominators)) & (denominators < _MAX_WHOLE)
    divisors = np.where(is_whole & (denominators > 0), denominators, np.nan)
    numerators = np.rint(quotients * divisors)
    numerators[numerators / divisors != quotients] = np.nan
    product, error = _two_product(quotients, divisors)
    rests = ((numerators - product) - error) / divisors
    return numerators, np.where(np.isnan(rests), 0.0, rests)


def _sum_terms(terms, rests):
    """Return the sum of every row and what is lacking to it; halves of the row are added up."""
    low = rests.sum(axis=1)
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        total, error = _two_sum(terms[:, :half], terms[:, half : 2 * half])
        low += error.sum(axis=1)
        terms = np.column_stack([total, terms[:, 2 * half :]])
    return terms[:, 0], low


def _divide(high, low, divisor):
    """Return (high + low) / divisor as a double and what is lacking to it."""
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


def _mean_of_fractions(quotients, numerators, denominators):
    total = Fraction(0)
    for term, quotient in enumerate(quotients):
        if np.isnan(numerators[term]):
            total += Fraction(float(quotient))
        else:
            total += Fraction(int(numerators[term]), int(denominators[term]))
    return float(total / len(quotients))
