"""What the kernels share: read-only views, aligned rows, v log v, weights, pairs, exact means.

The mean of AUCs a_p / b_p over class pairs p has another denominator in every term. Added in double
precision, equal means of two features come out apart by a unit in the last place, and the order of
the features would hang on rounding. In `mean_of_quotients` the terms and their sum carry twice the
digits, and the few sums that lie too close to the middle between two doubles are taken as
fractions.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import uintp
from numpy.typing import DTypeLike

from mauc.compile import njit, njit_part

_LINE_BYTES = 64
LANES = 16  # classes that the engine counts at once
LN2 = math.log(2.0)
_CHUNK = 1 << 16  # entries rounded at once: a long table is not copied whole
_MAX_COUNT = 2**53  # up to which doubles hold all whole numbers
_WEIGHT_BITS = 44  # of a total of weights that are not whole
SHORT = 1 << 12  # entries that Python computes in less time than the loop takes to compile

_UNIT = 2.0**-53  # largest relative error of a rounding
_SPLITTER = 2.0**27 + 1.0  # cuts 53 bits into two halves whose products are exact
_MAX_WHOLE = 2.0**52  # denominators for which a numerator is found again from its quotient


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    # A view has a flag of its own; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def n_pairs_of(n_classes: int) -> int:
    """Return the number of class pairs, c (c - 1) / 2."""
    return n_classes * (n_classes - 1) // 2


def pair_index(i: int, j: int, n_classes: int) -> int:
    """Return the index of the pair i < j in the order (0, 1), (0, 2), ..., (c-2, c-1)."""
    return i * (2 * n_classes - i - 1) // 2 + j - i - 1


def padded_length(n_classes: int) -> int:
    """Return the smallest multiple of LANES that is not below `n_classes`."""
    return -(-n_classes // LANES) * LANES


def aligned_rows(n_rows: int, length: int, dtype: DTypeLike = np.uint32) -> np.ndarray:
    """Return zeroed rows that start on a cache line: no access straddles two lines."""
    itemsize = np.dtype(dtype).itemsize
    n_extra = _LINE_BYTES // itemsize
    raw = np.zeros(n_rows * length + n_extra, dtype)
    skip = -(raw.ctypes.data // itemsize) % n_extra
    return raw[skip : skip + n_rows * length].reshape(n_rows, length)


def log_table(n: int, ln_base: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Tabulate L(v) = v ln v / ln_base for v = 0..n; `ln_base` is 1.0 for nats, `LN2` for bits.

    Returns L as float64, L times `unit` rounded to int64, sums of which are exact and so the same
    in every order, and `unit`, the largest power of two for which four terms stay below 2**63.
    """
    logs = np.zeros(n + 1)
    # NumPy's logarithm may differ in the last bit from that of the kernels; Python's does not.
    if n < SHORT:
        logs[2:] = [v * math.log(v) for v in range(2, n + 1)]
    else:
        fill_logs(logs)
    logs /= ln_base
    unit = _log_unit(logs[n])
    fixed = np.empty(n + 1, np.int64)
    for start in range(0, n + 1, _CHUNK):
        part = slice(start, start + _CHUNK)
        fixed[part] = np.rint(logs[part] * unit)
    return logs, fixed, unit


def _log_unit(largest: float) -> float:
    """Return the largest power of two with which four terms of such sums stay below 2**63."""
    return 2.0 ** math.floor(60.0 - math.log2(max(largest, 1.0)))


class RowCounts(NamedTuple):
    """How rows are counted, in whole numbers whose sums are exact, and L of a count, in nats."""

    logs: np.ndarray | None  #: this, the next and `unit` as of `log_table`; None with weights
    fixed: np.ndarray | None
    unit: float
    n: int  #: the sum of all counts
    weights: np.ndarray | None = None  #: (n_samples,), int64; None: every row counts 1
    step: float = 1.0  #: rows that a weight of 1 stands for

    def fixed_logs(self, counts: np.ndarray) -> np.ndarray:
        """Return what kernels get by `fixed_log`."""
        if self.fixed is not None:
            return self.fixed[counts]
        # Python's logarithm is that of the kernels.
        found = [round(v * math.log(v) * self.unit) if v else 0 for v in counts.ravel().tolist()]
        return np.array(found, np.int64).reshape(counts.shape)


def count_rows(n_samples: int, weights: np.ndarray | None = None) -> RowCounts:
    """Return how to count rows whose weights are numbers of rows, or those of a unit."""
    if weights is None:
        logs, fixed, unit = log_table(n_samples, 1.0)
        return RowCounts(logs, fixed, unit, n_samples)
    total, smallest = math.fsum(weights), float(weights[weights > 0].min())
    # Whole numbers are kept, multiples of the smallest weight counted: what is equal stays so.
    step = next((unit for unit in (1.0, smallest) if _are_multiples(weights, unit, total)), None)
    step = step or math.ldexp(1.0, math.frexp(total)[1] - _WEIGHT_BITS)
    units = np.maximum(np.rint(weights / step), weights > 0).astype(np.int64)
    n = int(units.sum())
    return RowCounts(None, None, _log_unit(n * math.log(n)), n, units, step)


def _are_multiples(weights: np.ndarray, unit: float, total: float) -> bool:
    """Whether weights are multiples of a unit, to rounding of divisions, and their sums exact."""
    return total / unit < _MAX_COUNT and bool(
        (np.abs(weights - np.rint(weights / unit) * unit) <= 2.0**-50 * weights).all()
    )


@njit_part
def log_of(logs, count):
    """Return L of a count; without a table (None) it is computed."""
    if logs is None:
        return count * math.log(count) if count > 0 else 0.0
    return logs[count]


@njit_part
def fixed_log(fixed, count, unit):
    """Return L of a count in fixed point; without a table (None) it is computed."""
    if fixed is None:
        return np.int64(np.rint(log_of(fixed, count) * unit))
    return fixed[count]


@njit
def fill_logs(logs):
    """Fill v ln v."""
    for v in range(2, logs.shape[0]):
        logs[v] = v * math.log(v)


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


@njit
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


def _mean_of_fractions(
    quotients: Sequence[float] | np.ndarray, divisors: Sequence[float] | np.ndarray
) -> float:
    total = Fraction(0)
    for quotient, divisor in zip(quotients, divisors, strict=True):
        numerator = np.rint(quotient * divisor)
        if divisor > 0.0 and numerator / divisor == quotient:
            total += Fraction(int(numerator), int(divisor))
        else:
            total += Fraction(quotient)
    return float(total / len(quotients))
