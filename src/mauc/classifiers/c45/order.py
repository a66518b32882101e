"""Sort every column once: the row orders that all trees of one training set share."""

import numpy as np
from numba import njit

from mauc.numerics.radix_sort import sort_tagged
from mauc.problem import columns


def sort_orders(XT):
    """Return the rows of each column by ascending value, ties by row, missing values last.

    Parameters
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n_samples)

    Returns
    -------
    order : int32 ndarray of shape (n_features, n_samples)
    """
    # A tree is grown so fast that only a quarter of a small table is sorted sooner by NumPy.
    if XT.size <= columns.SMALL_SIZE // 4:
        return np.argsort(XT, axis=1, kind="stable").astype(np.int32)
    order = np.empty(XT.shape, np.int32)
    fill_orders(XT, np.empty(XT.shape[1]), np.empty((2, XT.shape[1]), np.uint64), order)
    return order


@njit(cache=True, nogil=True)
def fill_orders(XT, values, keys, order):
    """Fill the rows of `sort_orders`; `values` and `keys` are work space."""
    n = XT.shape[1]
    for j in range(XT.shape[0]):
        rows = order[j]
        n_known = np.int64(0)  # a literal would compile the sort once more
        for i in range(n):
            value = np.float64(XT[j, i])
            if value == value:
                values[n_known] = value + 0.0  # turns -0.0 into 0.0
                rows[n_known] = i
                n_known += 1
        sort_tagged(values, rows, n_known, keys[0], keys[1])
        place = n_known
        for i in range(n if n_known < n else 0):
            if XT[j, i] != XT[j, i]:
                rows[place] = i
                place += 1
