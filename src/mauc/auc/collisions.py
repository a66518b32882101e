"""Resolve collisions after the sort: keys that several values share are renumbered."""

import numpy as np
from numba import njit, uintp

from mauc.auc.sweep import count_equal

# 2**32 / golden ratio: a hash that spreads neighbouring keys. A product of uint32 is a uint64 in
# Numba, so it is cut back to 32 bits wherever it is used.
_SPREAD = np.uint32(2654435769)
_MARK_SHIFT = np.uint32(18)  # 2**14 marks, 16 KiB: they stay in the first-level cache
_MAX_MEMBERS = 64  # of one key; they are sorted by insertion
_MIN_WORDS = 16  # per equal neighbour: a column with more equal keys is not repaired


@njit(cache=True, nogil=True)
def resolve_collisions(XT, row_keys, y, label_bits, n_known, words, is_resolved):
    """Compare sorted words with the values and renumber keys that several values share.

    Columns with few equal keys are repaired; columns with many, or with many words of one
    key (a value that many rows share), are left unresolved.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
    row_keys : ndarray of shape (n_features, n_samples), uint32
        Keys in row order.
    y : ndarray of shape (n_samples,), int32
    label_bits : int
    n_known : ndarray of shape (n_features,), int64
    words : ndarray of shape (n_features, n_samples), uint32
        Sorted words; repaired in place.
    is_resolved : ndarray of shape (n_features,), bool
        Columns that are skipped; set for every column that now is free of collisions.
    """
    n = XT.shape[1]
    shift = np.uint32(label_bits)
    max_equal = n // _MIN_WORDS
    shared = np.empty(max_equal + 1, np.uint32)
    starts = np.empty(max_equal + 2, np.int64)
    filled = np.empty(max_equal + 2, np.int64)
    values = np.empty(2 * max_equal + 2, np.float64)
    codes = np.empty(2 * max_equal + 2, np.uint32)
    marks = np.empty(1 << 14, np.uint8)
    for j in range(XT.shape[0]):
        w = words[j, : n_known[j]]
        if is_resolved[j]:
            continue
        n_equal = count_equal(w, shift)
        if n_equal > max_equal:
            continue
        is_resolved[j] = True
        if n_equal == 0:
            continue
        marks[:] = 0
        n_shared = _find_shared(w, shift, shared, starts, marks)
        largest = 0
        for g in range(n_shared):
            filled[g] = starts[g]
            largest = max(largest, starts[g + 1] - starts[g])
        if largest > _MAX_MEMBERS:
            is_resolved[j] = False
            continue
        _collect(XT[j], y, row_keys[j], marks, shared, starts, n_shared, filled, values, codes)
        has_collision = False
        for g in range(n_shared):
            has_collision |= values[starts[g]] != values[starts[g + 1] - 1]
        if has_collision:
            _renumber(shared, starts, n_shared, values, codes, shift, w)


@njit(cache=True, nogil=True)
def is_collision_free(sorted_values, words, label_bits):
    """Return whether equal keys and equal values go together in one sorted column."""
    shift = np.uint32(label_bits)
    n_wrong = 0
    for i in range(uintp(max(0, words.shape[0] - 1))):
        following = i + uintp(1)
        is_tied_key = (words[i] >> shift) == (words[following] >> shift)
        n_wrong += is_tied_key != (sorted_values[i] == sorted_values[following])
    return n_wrong == 0


@njit(cache=True, nogil=True)
def _find_shared(words, shift, shared, starts, marks):
    """List the keys that several words share, ascending, and where their members start."""
    n = words.shape[0]
    n_shared = 0
    starts[0] = 0
    i = 0
    while i < n - 1:
        if i + 33 <= n and count_equal(words[i : i + 33], shift) == 0:
            i += 32
            continue
        stop = min(i + 32, n - 1)
        while i < stop:
            key, first = words[i] >> shift, i
            while i < n and (words[i] >> shift) == key:
                i += 1
            if i - first > 1:
                shared[n_shared] = key
                starts[n_shared + 1] = starts[n_shared] + i - first
                marks[uintp(np.uint32(key * _SPREAD) >> _MARK_SHIFT)] = 1
                n_shared += 1
    return n_shared


@njit(cache=True, nogil=True)
def _collect(x, y, keys, marks, shared, starts, n_shared, filled, values, codes):
    """Gather the values and codes of every shared key, ordered by value, then code."""
    n = keys.shape[0]
    a, b = shared[0], shared[min(1, n_shared - 1)]
    c, d = shared[min(2, n_shared - 1)], shared[n_shared - 1]
    # 64 rows at a time: random data share only a few keys, and most chunks hold none of them.
    for start in range(0, n, 64):
        stop = min(start + 64, n)
        if n_shared <= 4:
            n_hits = 0
            for i in range(uintp(start), uintp(stop)):
                key = keys[i]
                n_hits += (key == a) | (key == b) | (key == c) | (key == d)
            if n_hits == 0:
                continue
        for i in range(uintp(start), uintp(stop)):
            if marks[uintp(np.uint32(keys[i] * _SPREAD) >> _MARK_SHIFT)] != 0:
                _insert(x[i], y[i], keys[i], shared, starts, n_shared, filled, values, codes)


@njit(cache=True, nogil=True)
def _insert(value, code, key, shared, starts, n_shared, filled, values, codes):
    """Insert a value into the members of its key, if that is a shared one."""
    low, high = 0, n_shared  # shared[:low] < key <= shared[high:]
    while low < high:
        middle = (low + high) // 2
        if shared[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low == n_shared or shared[low] != key or value != value:
        return
    # values[starts[low]:p] are sorted; the new one is inserted.
    p = filled[low]
    filled[low] += 1
    while p > starts[low] and (
        values[p - 1] > value or (values[p - 1] == value and codes[p - 1] > code)
    ):
        values[p], codes[p] = values[p - 1], codes[p - 1]
        p -= 1
    values[p], codes[p] = value, code


@njit(cache=True, nogil=True)
def _renumber(shared, starts, n_shared, values, codes, shift, words):
    """Replace all keys by dense ranks of their values."""
    mask = (np.uint32(1) << shift) - np.uint32(1)
    rank = np.uint32(0)
    g = 0
    i = 0
    while i < words.shape[0]:
        if g < n_shared and (words[i] >> shift) == shared[g]:
            for p in range(starts[g], starts[g + 1]):
                if p > starts[g] and values[p] != values[p - 1]:
                    rank += np.uint32(1)
                words[i] = (rank << shift) | codes[p]
                i += 1
            g += 1
        else:
            words[i] = (rank << shift) | (words[i] & mask)
            i += 1
        rank += np.uint32(1)
