r"""AUCs of class pairs and the largest possible error of each, from the bins of a feature.

The wins of class i over class j, twice the number of pairs of rows in which i has the higher value
plus the number of ties, are largest if the values of i lie as high and those of j as low as the
counts allow. Below edge e then lie :math:`L_i(e)` values of i and :math:`U_j(e)` of j, and in a bin
of several values all of i are above all of j:

.. math:: W^+ = \sum_b \ell_i(b)\,\Bigl(2 \sum_{a<b} u_j(a) + s_b\,u_j(b)\Bigr),
   \qquad s_b = 1 \text{ in bins of one value, } 2 \text{ in others,}

with :math:`\ell_k` and :math:`u_k` the differences of :math:`L_k` and :math:`U_k`. :math:`W^-` is
the reverse, with :math:`s_b = 1` or 0. To move a value of i up or one of j down never takes a win
away, so no data with these counts have more wins than :math:`W^+`.
"""

import numpy as np
from numba import uintp

from mauc.compile import njit

#: Sums of products are kept as two integers, high * 2**_SPLIT + low: neither overflows up to
#: 2**40 rows.
_SPLIT = 21
_MAX_EXACT = 2.0**62
_ROUNDING = 2.0**-50  # at least the error of the quotients and sums


def pair_bounds(bins):
    """Return the fewest and the most wins of every class pair that the counts of a feature allow.

    Parameters
    ----------
    bins : FeatureBins

    Returns
    -------
    fewest, most : ndarray of shape (n_pairs,)
        Missing values tie with every value. Of int64, or of float64 beyond 2**62.
    """
    known = np.ascontiguousarray(bins.counts[:-1].T)
    if bins.slack is None:
        upper = known
    else:
        upper = known.copy()
        upper[:, :-1] += bins.slack.T
        upper[:, 1:] -= bins.slack.T
    n_classes = len(known)
    wins = np.empty((2, 2, n_classes * (n_classes - 1) // 2), np.int64)
    sum_wins(known, upper, bins.is_single, wins)
    first, second = np.triu_indices(n_classes, 1)
    totals, missing = bins.counts.sum(axis=0), bins.counts[-1]
    ties = (missing[first], totals[second]), (totals[first] - missing[first], missing[second])
    is_large = 2.0 * totals.max(initial=0) ** 2.0 >= _MAX_EXACT
    if is_large:
        wins = wins.astype(np.float64)
        ties = tuple((np.float64(a), np.float64(b)) for a, b in ties)
    return tuple(
        high * 2**_SPLIT + low + sum(a * b for a, b in ties) for high, low in wins
    )  # fmt: skip


@njit(cache=True, nogil=True)
def sum_wins(low, high, is_single, wins):
    """Fill in the fewest and the most wins among known values.

    Parameters
    ----------
    low, high : ndarray of shape (n_classes, n_bins), int64
        Differences of the lower and of the upper bounds of the values below an edge.
    is_single : ndarray of shape (n_bins,), bool
    wins : ndarray of shape (2, 2, n_pairs), int64
        Fewest and most; high and low part.
    """
    n_classes, n_bins = low.shape
    mask = (np.int64(1) << np.int64(_SPLIT)) - np.int64(1)
    pair = 0
    for i in range(n_classes):
        low_i, high_i = low[i], high[i]
        for j in range(i + 1, n_classes):
            low_j, high_j = low[j], high[j]
            fewest_high, fewest_low = np.int64(0), np.int64(0)
            most_high, most_low = np.int64(0), np.int64(0)
            below_low, below_high = np.int64(0), np.int64(0)  # twice those in lower bins
            for b in range(uintp(n_bins)):
                l_j, h_j = low_j[b], high_j[b]
                single = np.int64(is_single[b])
                beaten = below_low + single * l_j
                fewest_high += high_i[b] * (beaten >> np.int64(_SPLIT))
                fewest_low += high_i[b] * (beaten & mask)
                beaten = below_high + (np.int64(2) - single) * h_j
                most_high += low_i[b] * (beaten >> np.int64(_SPLIT))
                most_low += low_i[b] * (beaten & mask)
                below_low += np.int64(2) * l_j
                below_high += np.int64(2) * h_j
            wins[0, 0, pair], wins[0, 1, pair] = fewest_high, fewest_low
            wins[1, 0, pair], wins[1, 1, pair] = most_high, most_low
            pair += 1


def estimate_auc(fewest, most, max_wins, *, folded):
    """Return AUCs in the middle of their bounds, and half the distance of the bounds.

    Parameters
    ----------
    fewest, most : ndarray of shape (n_features, n_pairs)
    max_wins : ndarray of shape (n_pairs,), float64
        2 n_i n_j; where it is 0 nothing is known, and the AUC is 1/2 with an error of 1/2.
    folded : bool

    Returns
    -------
    pair_auc, error : ndarray of shape (n_features, n_pairs)
        Where the bounds agree the AUC has the bits of `mauc.feature_pair_auc`, and the error is 0.
    """
    is_known = max_wins > 0
    divisor = np.where(is_known, max_wins, 1.0)
    wins = np.where(fewest == most, fewest, fewest / 2 + most / 2)
    wins = np.where(is_known, wins, 0.5)
    if folded:
        wins = np.maximum(divisor - wins, wins)
    error = np.where(fewest == most, 0.0, (most - fewest) / (2 * divisor) + _ROUNDING)
    return wins / divisor, np.where(is_known, error, 0.5)
