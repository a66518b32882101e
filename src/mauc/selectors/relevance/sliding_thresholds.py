"""Wins of columns cut by sliding thresholds: the area under the ROC curve of FAST.

Sorted columns with their class codes and a role matrix (see `mauc.binning.subproblem_scores`) give
the wins of the first class over the second on every sub-problem. The known values of a sub-problem
are cut into bins of equal numbers of samples, the mean of each bin is a threshold, and the
trapezoids under the points (false, true positives) of all thresholds are the AUC of x cut at the
thresholds, equal states counting half.

Values that equal the mean of their bin are common where a column holds few digits, and whether they
do must not hang on rounding: k and k / 10 have the same order, so they get the same thresholds.
"""

import numpy as np
from numba import njit

from mauc.numerics.njit_part import njit_part

_EPSILON = 2.0**-52


@njit(cache=True, nogil=True)
def sliding_wins(values_of, codes_of, n_known_of, missing_of, is_whole, roles, n_bins, out):
    """Count the wins of cut columns.

    Parameters
    ----------
    values_of, codes_of, n_known_of, missing_of
        The sorted columns, see `mauc.binning.value_runs.sorted_columns`; a missing value ties with
        every value.
    is_whole : ndarray of shape (n_features,), bool
        Whether a column holds whole numbers only, whose sums are exact.
    roles : ndarray of shape (n_subproblems, n_classes), int32
        0 for the classes of the first side, 1 for the second, -1 for those left out.
    n_bins : int
    out : ndarray of shape (n_features, n_subproblems), int64
        Filled: 2 #(s_0 > s_1) + #(s_0 = s_1) over the samples of either side, s the state.
    """
    n, n_classes = values_of.shape[1], roles.shape[1]
    grouped = np.empty(n + n_classes, np.float64)
    starts, places = np.zeros(n_classes + 1, np.int64), np.empty(n_classes, np.int64)
    part, sides = np.empty(n, np.float64), np.empty(n, np.int64)
    for f in range(values_of.shape[0]):
        values, codes, n_known = values_of[f], codes_of[f], n_known_of[f]
        missing = missing_of[f]
        _group(values, codes, n_known, starts, places, grouped)
        for s in range(roles.shape[0]):
            role = roles[s]
            known, gone = np.zeros(2, np.int64), np.zeros(2, np.int64)
            only = np.full(2, -1, np.int64)
            n_members = 0
            for k in range(n_classes):
                if role[k] >= 0:
                    n_members += 1
                    only[role[k]] = k
                    known[role[k]] += starts[k + 1] - starts[k] - 1
                    gone[role[k]] += missing[k]
            if n_members == 2 and only[0] >= 0 and only[1] >= 0:
                first, second = starts[only[0]], starts[only[1]]
                _merge(grouped, first, second, known[0] + known[1], part, sides)
            else:
                _take(values, codes, n_known, role, part, sides)
            wins = _cut_wins(part, sides, known[0] + known[1], n_bins, is_whole[f])
            # A pair of samples with a missing value is a tie.
            both = (known[0] + gone[0]) * (known[1] + gone[1])
            out[f, s] = wins + both - known[0] * known[1]


@njit_part
def _group(values, codes, n_known, starts, places, grouped):
    """Write the sorted values class by class, each class with an infinity at its end.

    Class k is ``grouped[starts[k]:starts[k + 1]]``.
    """
    starts[:] = 0
    for i in range(n_known):
        starts[codes[i] + 1] += 1
    for k in range(len(places)):
        starts[k + 1] += starts[k] + 1
        places[k] = starts[k]
        grouped[starts[k + 1] - 1] = np.inf
    for i in range(n_known):
        k = codes[i]
        grouped[places[k]] = values[i]
        places[k] += 1


@njit_part
def _merge(grouped, a, b, n, part, sides):
    """Merge the n values of two classes, from a and from b on, into one ascending list."""
    # part[:i] holds the values before a and before b. A branch would be mispredicted half the time.
    for i in range(n):
        u, v = grouped[a], grouped[b]
        is_second = np.int64(v < u)
        part[i] = min(u, v)
        sides[i] = is_second
        a += 1 - is_second
        b += is_second


@njit_part
def _take(values, codes, n_known, role, part, sides):
    """Copy the values of the classes that have a role, in order."""
    i = 0
    for row in range(n_known):
        side = role[codes[row]]
        if side >= 0:
            part[i], sides[i] = values[row], side
            i += 1


@njit_part
def _cut_wins(values, sides, n, n_bins, is_whole):
    """Return the wins of side 0 over side 1 by the states of n ascending values."""
    wins, less = np.int64(0), np.int64(0)
    top, i = 0, 0
    for b in range(n_bins + 1):
        low, rise = 0.0, np.inf
        if b < n_bins:
            # bounds are b n / n_bins, halves rounded up; a bin may be empty
            bottom, top = top, (2 * (b + 1) * n + n_bins) // (2 * n_bins)
            if top == bottom:
                continue
            low, high, size = values[bottom], values[top - 1], top - bottom
            total = 0.0
            for place in range(bottom, top):
                total += values[place] - low
            rise = min(total / size, high - low)
            if not is_whole:
                # Each value is rounded, and so is each addition: what is closer to the mean than
                # that counts as equal to it.
                rise += (4 + size) * _EPSILON * max(abs(low), abs(high))
        # values[:i] are at most an earlier threshold; `less` of them are of side 1
        n_first, n_second = np.int64(0), np.int64(0)
        while i < n and values[i] - low <= rise:
            n_second += sides[i]
            n_first += 1 - sides[i]
            i += 1
        wins += n_first * (2 * less + n_second)
        less += n_second
    return wins
