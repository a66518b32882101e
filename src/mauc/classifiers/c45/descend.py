"""Let complete rows go down a C4.5 tree of numeric splits, each by itself."""

import numpy as np
from numba import njit

from mauc.classifiers.c45.nodes import goes_left
from mauc.numerics.njit_part import njit_part


@njit_part
def descend(XT, row, feature, threshold, first_child, t):
    """Return the leaf that a row reaches from node `t`, -1 if a value on the way is missing."""
    while feature[np.uint32(t)] >= 0:
        value = np.float64(XT[np.uint32(feature[np.uint32(t)]), np.uint32(row)])
        if value != value:
            return np.int64(-1)
        is_right = not goes_left(value, threshold[np.uint32(t)])
        t = np.int64(first_child[np.uint32(t)]) + is_right
    return t


@njit(cache=True, nogil=True)
def find_leaves(XT, feature, threshold, first_child, leaf_of):
    """Fill the leaf of each row; return whether all values on the way were known."""
    is_known = True
    for i in range(leaf_of.size):
        leaf_of[i] = descend(XT, i, feature, threshold, first_child, np.int64(0))
        is_known &= leaf_of[i] >= 0
    return is_known
