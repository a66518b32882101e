"""Sort every column once: features and class codes in, sorted 32-bit words out.

A *word* holds the key of a value in its high bits and the row's class code in its low
``label_bits`` bits. Sorting words sorts a column and carries the labels along, and
``ndarray.sort`` on uint32 uses vector instructions where the machine has them. The contract of
a sorted row of words, on which every sweep relies:

* keys ascend, and **two words have the same key exactly when their values are equal**;
  within one key the class codes ascend;
* missing values (NaN) are left out: only the first ``n_known`` words of the row are filled.

A float does not fit into the bits left beside the label, so a key is a monotone image of the
value, and neighbouring values may collide in one key. `resolve_collisions` finds them after the
sort and renumbers the keys; a column with too many collisions gets keys of another kind, and if
that fails, dense ranks from an argsort.
"""

import numpy as np
from numba import njit

from mauc.auc.collisions import is_collision_free, resolve_collisions
from mauc.auc.keys import BITWISE, EXACT, LINEAR, bitwise_keys


def sort_block(XT, y, label_bits, keys):
    """Sort a block of columns into words.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Contiguous columns; read-only.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    label_bits : int
        Of `label_bits_of`.
    keys : ColumnKeys
        From `choose_keys` for the block and 32 - label_bits bits.

    Returns
    -------
    words : ndarray of shape (n_features, n_samples), uint32
    n_known : ndarray of shape (n_features,), int64
    """
    words = np.empty(XT.shape, np.uint32)
    is_resolved = np.zeros(XT.shape[0], np.bool_)
    _sort_unresolved(XT, y, label_bits, keys, words, is_resolved)
    if not is_resolved.all():
        # Linear keys crowd together under a heavy tail; bit patterns follow the magnitude.
        keys.kinds[~is_resolved] = BITWISE
        _sort_unresolved(XT, y, label_bits, keys, words, is_resolved)
        for j in np.flatnonzero(~is_resolved):
            order = np.argsort(XT[j])[: keys.n_known[j]]  # NumPy sorts NaN to the end
            rank_words(XT[j], y, order, label_bits, words[j])
    return words, keys.n_known


def _sort_unresolved(XT, y, label_bits, keys, words, is_resolved):
    """Write and sort the words of the columns that are not resolved, and resolve collisions."""
    row_keys = np.empty(XT.shape, np.uint32)
    for j in np.flatnonzero((keys.kinds == BITWISE) & ~is_resolved):
        row_keys[j] = bitwise_keys(XT[j], 32 - label_bits)
    pack_words(XT, y, label_bits, *keys[:-1], is_resolved, row_keys, words)
    if not is_resolved.any() and (keys.n_known == XT.shape[1]).all():
        words.sort(axis=1)
    else:
        for j in np.flatnonzero(~is_resolved):
            words[j, : keys.n_known[j]].sort()
    is_resolved |= keys.kinds == EXACT
    if is_resolved.all():
        return
    resolve_collisions(XT, row_keys, y, label_bits, keys.n_known, words, is_resolved)
    # Many equal keys may just be equal values: the sorted values tell.
    for j in np.flatnonzero(~is_resolved):
        known = words[j, : keys.n_known[j]]
        is_resolved[j] = is_collision_free(np.sort(XT[j]), known, label_bits)


@njit(cache=True, nogil=True)
def pack_words(XT, y, label_bits, kinds, lows, scales, n_known, is_resolved, row_keys, words):
    """Write the keys (BITWISE ones are given) and words of the columns that are not resolved.

    Both are in row order; words of missing values are left out.
    """
    n = XT.shape[1]
    shift = np.uint32(label_bits)
    for j in range(XT.shape[0]):
        x, keys, w, low, scale = XT[j], row_keys[j], words[j], lows[j], scales[j]
        if is_resolved[j]:
            continue
        if kinds[j] == EXACT:
            for i in range(n):
                key = np.uint32(np.int32(np.rint(np.float64(x[i]) * scale) - low))
                keys[i] = key
                w[i] = (key << shift) | np.uint32(y[i])
        elif kinds[j] == LINEAR:
            # The product of a rounded difference and a positive factor never decreases in x.
            for i in range(n):
                key = np.uint32(np.int32((np.float64(x[i]) - low) * scale))
                keys[i] = key
                w[i] = (key << shift) | np.uint32(y[i])
        else:
            for i in range(n):
                w[i] = (keys[i] << shift) | np.uint32(y[i])
        if n_known[j] < n:
            filled = 0
            for i in range(n):
                if x[i] == x[i]:
                    w[filled] = w[i]
                    filled += 1


@njit(cache=True, nogil=True)
def rank_words(x, y, order, label_bits, words):
    """Write the words of one column from its sorted order, dense ranks as keys."""
    shift = np.uint32(label_bits)
    rank = np.uint32(0)
    start = 0
    for i in range(order.shape[0]):
        row = order[i]
        if i > 0 and x[row] != x[order[i - 1]]:
            words[start:i].sort()  # codes ascend within a key
            rank += np.uint32(1)
            start = i
        words[i] = (rank << shift) | np.uint32(y[row])
    words[start : order.shape[0]].sort()
