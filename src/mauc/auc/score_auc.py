"""Wins of each class over every other one in its own score column, from sorted orders."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def class_wins(ST, orders, codes, weights, out):
    """Sum, for class i and column i, the wins of its samples over those of every class j.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns.
    orders : ndarray of shape (n_classes, n_samples), int64
        Order that sorts each column.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    out : ndarray of shape (n_classes, n_classes), float64
        Filled: out[i, j] is the sum of w_a w_b (2 [s_a > s_b] + [s_a = s_b]) over samples a of
        class i and b of class j, s being column i. Whole numbers if the weights are.
    """
    n_classes, n = ST.shape
    below = np.empty(n_classes, np.float64)
    tied = np.zeros(n_classes, np.float64)
    for i in range(n_classes):
        scores, order = ST[i], orders[i]
        for j in range(n_classes):
            below[j] = 0.0
            out[i, j] = 0.0
        start = 0
        while start < n:
            # order[start:stop] share a score; `below` holds all classes' weight before them.
            stop = start
            while stop < n and scores[order[stop]] == scores[order[start]]:
                tied[codes[order[stop]]] += weights[order[stop]]
                stop += 1
            own = tied[i]
            if own != 0.0:
                for j in range(n_classes):
                    out[i, j] += own * (2.0 * below[j] + tied[j])
            for place in range(start, stop):
                k = codes[order[place]]
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop
