"""Tabulate v log v of counts, as floats and in fixed point: MDL cuts, mutual information, C4.5."""

import math

import numpy as np
from numba import njit

LN2 = math.log(2.0)


@njit(cache=True, nogil=True)
def log_table(n, ln_base):
    """Tabulate L(v) = v ln v / ln_base for v = 0..n.

    Parameters
    ----------
    n : int
        The largest count that can occur.
    ln_base : float
        1.0 for nats, `LN2` for bits.

    Returns
    -------
    logs : ndarray of shape (n + 1,), float64
    fixed : ndarray of shape (n + 1,), int64
        L(v) times `unit`, rounded. Sums of these are exact: they are the same in every order.
    unit : float
        The largest power of two for which four terms stay below 2**63.
    """
    logs = np.zeros(n + 1)
    for v in range(2, n + 1):
        logs[v] = v * math.log(v) / ln_base
    unit = 2.0 ** math.floor(60.0 - math.log2(max(logs[n], 1.0)))
    fixed = np.empty(n + 1, np.int64)
    for v in range(n + 1):
        fixed[v] = np.int64(np.rint(logs[v] * unit))
    return logs, fixed, unit
