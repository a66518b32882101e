"""Signed rank sums of many paired samples at once: differences in, p-values out."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

Array = np.ndarray[Any, Any]

_DIGITS = 12  # differences that agree to this many digits of the largest value are ties
_MAX_FLIPPED = 13  # up to here SciPy goes through all signs when there are ties or zeros


def signed_rank_tests(values: Array, reference: Array) -> tuple[Array, Array, Array]:
    r"""Compute the two-sided signed rank test of every row.

    Parameters
    ----------
    values, reference : ndarray of shape (n_samples, n_pairs)
        Paired values, one sample per row, without NaN.

    Returns
    -------
    positive, negative : ndarray of shape (n_samples,)
        W+ and W-: sums of the ranks of positive and of negative differences; differences of
        zero are dropped first, ties share their mean rank.
    p_value : ndarray of shape (n_samples,)
        1 where all differences are zero.

    Notes
    -----
    The p-value is that of ``scipy.stats.wilcoxon(zero_method="wilcox", method="auto")``:

    ========================  ==========================================
    pairs, zeros included     null distribution
    ========================  ==========================================
    more than 50              normal, corrected for ties
    up to 50, all distinct    exact
    up to 13, ties or zeros   exact, over all signs of the ranks present
    14 to 50, ties or zeros   normal, corrected for ties
    ========================  ==========================================

    Subtraction leaves rounding errors (0.4 - 0.3 is not 0.3 - 0.2), so differences are first
    rounded to 12 digits of the largest value; otherwise ties would go unseen.
    """
    n_samples, n_pairs = values.shape
    units = in_units(values, reference)
    absolute = np.abs(units)
    n_zero = (absolute == 0).sum(axis=1)
    # Zeros hold the lowest ranks, so the others move down by their number.
    ranks = np.maximum(stats.rankdata(absolute, axis=1) - n_zero[:, None], 0)
    positive = np.where(units > 0, ranks, 0.0).sum(axis=1)
    negative = np.where(units < 0, ranks, 0.0).sum(axis=1)

    # A zero counts as a tie: a sample with zeros is not free of ties.
    is_tied = (np.diff(np.sort(absolute, axis=1), axis=1) == 0).any(axis=1) | (n_zero > 0)
    p_value = np.ones(n_samples)
    has_answer = n_zero < n_pairs
    for tied in (False, True):
        # SciPy chooses one null distribution for a whole batch: no batch mixes the two kinds.
        chosen = np.flatnonzero(has_answer & (is_tied == tied))
        if not len(chosen):
            continue
        if tied and n_pairs <= _MAX_FLIPPED:
            p_value[chosen] = [_p_of_signs(ranks[row], positive[row]) for row in chosen]
        else:
            p_value[chosen] = stats.wilcoxon(units[chosen], axis=1).pvalue
    return positive, negative, p_value


def in_units(values: Array, reference: Array) -> Array:
    """Return differences as whole multiples of the last digit that is looked at."""
    largest = np.maximum(np.abs(values), np.abs(reference)).max(axis=1, initial=0.0)
    largest = np.where(largest == 0, 1.0, largest)
    # 1e-290 keeps the unit itself above the smallest float.
    exponent = np.maximum(np.ceil(np.log10(largest)) - _DIGITS, -290)
    units: Array = np.round((values - reference) / 10.0 ** exponent[:, None])
    return units


def _p_of_signs(ranks: Array, positive: float) -> float:
    # Ranks are multiples of 1/2: twice a rank is an integer. SciPy's permutation test gives the
    # same number, but calls the statistic for each of the 2^n signs (0.2 s for 10 pairs).
    doubled = np.sort((2 * ranks[ranks > 0]).astype(np.int64))
    below = _count_up_to(tuple(doubled.tolist()))
    observed = round(2 * positive)
    n_signs = below[-1]
    at_most = below[observed]
    at_least = n_signs - (below[observed - 1] if observed else 0)
    return float(min(1.0, 2 * min(at_most, at_least) / n_signs))


@lru_cache(maxsize=4096)
def _count_up_to(doubled: tuple[int, ...]) -> Array:
    """Count the choices of signs with twice W+ at most 0, 1, 2, ..."""
    counts = np.zeros(sum(doubled) + 1, dtype=np.int64)
    counts[0] = 1
    for rank in doubled:
        with_rank = counts[:-rank].copy()
        counts[rank:] += with_rank
    return np.cumsum(counts)
