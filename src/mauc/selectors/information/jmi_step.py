"""One step of JMI: what every candidate tells about the class together with a chosen feature.

In come discretised features (see joint_counts.py) and a chosen one s, merged with the
classes y into one code z; out come running sums of I(f, s; y) and the best candidate of a block.
From the counts of (f, z), with L(v) = v log v,

    n I(f, s; y) = sum L(n_fsy) - sum L(n_fs) - sum L(n_y) + L(n),

so one joint count a candidate gives both sums. L is in fixed point: sums of whole numbers.
"""

import numpy as np
from numba import njit

from mauc.selectors.information.joint_counts import (
    MAX_CLASS_PRODUCTS,
    complete_counts,
    fixed_log,
    histogram_counts,
    plane_counts,
)


def merge_classes(codes, y, n_classes):
    """Merge a row of states and the classes into one code, leaving out pairs that do not occur.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), uint8
    y : ndarray of shape (n_samples,), int32
    n_classes : int

    Returns
    -------
    z : ndarray of shape (n_samples,), int32
        Codes in the order of (state, class).
    counts : ndarray of shape (n_codes,), int64
    groups : ndarray of shape (n_states_present + 1,), int64
        Codes ``groups[a]`` to ``groups[a + 1]`` share a state.
    """
    pairs = codes.astype(np.int64) * n_classes + y
    counts = np.bincount(pairs)
    present = np.flatnonzero(counts)
    places = np.zeros(len(counts), np.int32)
    places[present] = np.arange(len(present))
    starts = np.flatnonzero(np.diff(present // n_classes, prepend=-1))
    groups = np.append(starts, len(present)).astype(np.int64)
    return places[pairs], counts[present].astype(np.int64), groups


@njit(cache=True, nogil=True)
def add_joint_information(
    D, n_states, starts, planes, counts, z, z_planes, z_counts, groups,
    log_y, log_n, table, unit, contest, first, last, is_left, sums,
):  # fmt: skip
    """Add I(f, s; y) to the sums of features ``first`` to ``last`` and find the largest.

    Parameters
    ----------
    D, n_states, starts, planes, counts, table, unit
        See `mauc.selectors.information.joint_counts.feature_margins`.
    z, z_counts, groups
        From `merge_classes`.
    z_planes : ndarray of shape (n_codes - 1, n_words), uint64
        Bit planes of z, or of shape (0, n_words) where there are too many codes.
    log_y, log_n : int
        Sum of L over the classes, and L(n_samples).
    contest : ndarray of shape (n_features,), float64
        -inf for features that must come last, anything else for the others.
    first, last : int
    is_left : ndarray of shape (n_features,), bool
    sums : ndarray of shape (n_features,), float64
        Updated.

    Returns
    -------
    best : int
        The candidate of the largest sum, the lowest of equals; -1 if there is none left.
    best_score : float
        Its sum, or -inf if it must come last.
    """
    n_samples, n_codes = z.shape[0], z_counts.shape[0]
    joint = np.empty((counts.shape[1], n_codes), dtype=np.int64)
    best, best_score = -1, -np.inf
    for f in range(first, last):
        if not is_left[f]:
            continue
        score = contest[f]
        if score > -np.inf:
            n_planes = starts[f + 1] - starts[f]
            is_planed = z_planes.shape[0] == n_codes - 1 and n_planes > 0
            if is_planed and n_planes * (n_codes - 1) <= MAX_CLASS_PRODUCTS:
                plane_counts(planes, starts[f], n_planes, z_planes, 0, n_codes - 1, joint)
                complete_counts(joint, counts[f], n_states[f], z_counts, n_codes)
            else:
                histogram_counts(D[f], n_states[f], z, n_codes, joint)
            total = log_n - log_y
            for a in range(n_states[f]):
                for g in range(groups.shape[0] - 1):
                    margin = np.int64(0)
                    for code in range(groups[g], groups[g + 1]):
                        margin += joint[a, code]
                        total += fixed_log(joint[a, code], table, unit)
                    total -= fixed_log(margin, table, unit)
            # Rounding of the entries of L can leave a few units of either sign.
            sums[f] += max(total, 0) / (n_samples * unit)
            score = sums[f]
        if best < 0 or score > best_score:
            best, best_score = f, score
    return best, best_score
