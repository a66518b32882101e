"""Tabulate v log v of counts, as floats and in fixed point: MDL cuts, mutual information, C4.5."""

import math

import numpy as np
from numba import njit

LN2 = math.log(2.0)
_CHUNK = 1 << 16  # entries rounded at once: a long table is not copied whole
SHORT = 1 << 12  # entries that Python computes in less time than the loop takes to compile


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
    # NumPy's logarithm may differ in the last bit from that of the kernels; Python's does not.
    if n < SHORT:
        logs[2:] = [v * math.log(v) for v in range(2, n + 1)]
    else:
        fill_logs(logs)
    logs /= ln_base
    unit = 2.0 ** math.floor(60.0 - math.log2(max(logs[n], 1.0)))
    fixed = np.empty(n + 1, np.int64)
    for start in range(0, n + 1, _CHUNK):
        part = slice(start, start + _CHUNK)
        fixed[part] = np.rint(logs[part] * unit)
    return logs, fixed, unit


@njit(cache=True, nogil=True)
def fill_logs(logs):
    """Fill v ln v."""
    for v in range(2, logs.shape[0]):
        logs[v] = v * math.log(v)
