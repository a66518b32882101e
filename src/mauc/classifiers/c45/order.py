"""Sort every column once: the row orders that all trees of one training set share."""

import numpy as np
from numba import njit

from mauc.numerics.radix_sort import sort_tagged


@njit(cache=True, nogil=True)
def sort_orders(XT):
    """Return the rows of each column by ascending value, ties by row, missing values last.

    Parameters
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n_samples)

    Returns
    -------
    order : int32 ndarray of shape (n_features, n_samples)
    """
    n_features, n = XT.shape
    order = np.empty((n_features, n), np.int32)
    values = np.empty(n, np.float64)
    keys, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for j in range(n_features):
        rows = order[j]
        n_known = np.int64(0)  # a literal would compile the sort once more
        for i in range(n):
            value = np.float64(XT[j, i])
            if value == value:
                values[n_known] = value + 0.0  # turns -0.0 into 0.0
                rows[n_known] = i
                n_known += 1
        sort_tagged(values, rows, n_known, keys, spare)
        place = n_known
        for i in range(n if n_known < n else 0):
            if XT[j, i] != XT[j, i]:
                rows[place] = i
                place += 1
    return order
