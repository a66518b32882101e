"""Feature weights of ReliefF: columns -> scaled columns; neighbours -> sums of differences.

Both kernels work on a block of features, which is the unit of work for threads. Differences and
sums are those of WEKA's ReliefFAttributeEval in its order of additions, to the bit.
"""

import numpy as np
from numba import njit

from mauc.numerics.njit_part import njit_part

# Features per strip of the weight sums: long enough for vector loops, and a strip of a few
# thousand rows stays in the second-level cache.
N_STRIP = 64
# A column whose range is below this carries no difference (WEKA's tolerance).
MIN_RANGE = 1e-6


@njit(cache=True, nogil=True, error_model="numpy")
def scale_columns(XT, n_values, ZT):
    """Scale numeric columns to [0, 1] by their range; copy nominal ones.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        A block of columns; NaN is a missing value.
    n_values : ndarray of shape (n_features,), int32
        Number of values of a nominal column, 0 for a numeric one.
    ZT : ndarray of shape (n_features, n_samples), float64
        Filled with z = (x - lo) / (hi - lo), or 0 if hi - lo < 1e-6. Missing values stay NaN.

    Returns
    -------
    has_missing : bool
        Whether the filled block holds a NaN.
    """
    has_missing = False
    for a in range(XT.shape[0]):
        lo = np.inf
        hi = -np.inf
        for i in range(XT.shape[1]):
            x = np.float64(XT[a, i])
            # A comparison with NaN is false: missing values do not count.
            lo = x if x < lo else lo
            hi = x if x > hi else hi
        if n_values[a] > 0:
            lo = 0.0
            width = 1.0
        else:
            width = hi - lo
        is_constant = width < MIN_RANGE
        for i in range(XT.shape[1]):
            x = np.float64(XT[a, i])
            z = (x - lo) / width
            z = 0.0 if is_constant and x == x else z
            ZT[a, i] = z
            has_missing |= z != z
    return has_missing


@njit_part
def _difference(u, v, n_values):
    """Return the difference of two scaled values, as in the notes of `neighbors.fill_panel`."""
    if n_values > 0:
        if u != u or v != v:
            return 1.0 - 1.0 / n_values
        return 0.0 if u == v else 1.0
    if u != u and v != v:
        return 1.0
    if u != u or v != v:
        known = v if u != u else u
        return 1.0 - known if known < 0.5 else known
    return abs(u - v)


@njit(cache=True, nogil=True, error_model="numpy")
def add_weights(ZT, n_values, is_plain, queries, y, class_counts, near_row, first, last, weights):
    """Add the contributions of the queries to the weights of columns first:last.

    Parameters
    ----------
    ZT, n_values, is_plain, queries, y : see `neighbors.fill_panel`
    class_counts : ndarray of shape (n_classes,), int64
        Number of rows of each class in the data.
    near_row : ndarray of shape (n_queries, n_classes, n_neighbors), int32
    first, last : int
        Range of columns.
    weights : ndarray of shape (n_columns,), float64
        Added to: weights[a] is the sum over queries r of class k of

            - sum_hits diff_a / s_k + sum_{c != k} sum_misses [P(c) / (1 - P(k))] (diff_a / s_c)

        with s_c the neighbours found in class c, P(c) = n_c / n and, for two classes, 1 in place
        of the bracket. Each weight is one running sum over r, hits before misses, classes
        ascending, neighbours in slot order; the bracket multiplies the rounded quotient.
    """
    n_samples = y.size
    n_classes = near_row.shape[1]
    n_neighbors = near_row.shape[2]
    rows = np.empty(n_classes * n_neighbors, np.int32)
    factors = np.empty(rows.size)
    sizes = np.empty(rows.size)
    strip = np.zeros((n_samples, N_STRIP))
    total = np.zeros(N_STRIP)
    for a in range(first, last, N_STRIP):
        width = min(N_STRIP, last - a)
        for f in range(width):
            total[f] = weights[a + f]
            for i in range(n_samples):
                strip[i, f] = ZT[a + f, i]
        for q in range(queries.size):
            k = y[queries[q]]
            n_terms = 0
            for step in range(n_classes):
                # Own class first, then the others in order.
                c = k if step == 0 else (step - 1 if step <= k else step)
                factor = 1.0
                if c == k:
                    factor = -1.0
                elif n_classes > 2:
                    own = class_counts[k] / n_samples
                    factor = (class_counts[c] / n_samples) / (1.0 - own)
                n_found = 0
                while n_found < n_neighbors and near_row[q, c, n_found] >= 0:
                    n_found += 1
                for s in range(n_found):
                    rows[n_terms] = near_row[q, c, s]
                    factors[n_terms] = factor
                    sizes[n_terms] = n_found
                    n_terms += 1
            here = strip[queries[q], :width]
            for t in range(n_terms):
                there = strip[rows[t], :width]
                if is_plain:
                    for f in range(width):
                        total[f] += factors[t] * (abs(here[f] - there[f]) / sizes[t])
                else:
                    for f in range(width):
                        diff = _difference(here[f], there[f], n_values[a + f])
                        total[f] += factors[t] * (diff / sizes[t])
        for f in range(width):
            weights[a + f] = total[f]
