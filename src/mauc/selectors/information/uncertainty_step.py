"""Symmetrical uncertainty of pairs of discretised features: which ones a kept feature covers.

In come features in states (see joint_counts.py); entropies and information are sums
of whole numbers divided once, so copies have an uncertainty of exactly 1 with each other.
"""

import numpy as np
from numba import njit

from mauc.selectors.information.joint_counts import (
    complete_counts,
    histogram_counts,
    information,
    plane_counts,
)


@njit(cache=True, nogil=True)
def uncertainty(shared, entropy_a, entropy_b):
    """Return 2 I(a; b) / (H(a) + H(b)), 0 where neither has any entropy."""
    total = entropy_a + entropy_b
    return 2.0 * shared / total if total > 0.0 else 0.0


@njit(cache=True, nogil=True)
def mark_covered(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    entropies, relevance, kept, candidates, is_covered,
):  # fmt: skip
    """Mark the candidates that tell as much about a kept feature as about the class.

    Parameters
    ----------
    D, n_states, starts, planes, counts, margin_logs, table, unit
        See `mauc.selectors.information.joint_counts.feature_margins`.
    log_n : int
        L(n_samples).
    entropies : ndarray of shape (n_features,), float64
        In nats.
    relevance : ndarray of shape (n_features,), float64
        Symmetrical uncertainty of every feature and the class.
    kept : int
    candidates : ndarray of int64
        Features to look at.
    is_covered : ndarray of the same shape, bool
        Filled: whether SU(kept, f) >= SU(f, y).
    """
    n_samples = D.shape[1]
    width = counts.shape[1]
    joint = np.empty((width, width), dtype=np.int64)
    n_s = starts[kept + 1] - starts[kept]
    for place in range(candidates.shape[0]):
        f = candidates[place]
        n_f = starts[f + 1] - starts[f]
        if n_f > 0 and n_s > 0:
            plane_counts(planes, starts[f], n_f, planes, starts[kept], n_s, joint)
            complete_counts(joint, counts[f], n_states[f], counts[kept], n_states[kept])
        else:
            histogram_counts(D[f], n_states[f], D[kept], n_states[kept], joint)
        shared = information(
            joint, n_states[f], n_states[kept], margin_logs[f], margin_logs[kept],
            log_n, n_samples, table, unit,
        )  # fmt: skip
        is_covered[place] = uncertainty(shared, entropies[f], entropies[kept]) >= relevance[f]
