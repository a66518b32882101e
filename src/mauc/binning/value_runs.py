"""Sort columns and compress each into entries: values in order with their class counts.

An *entry* is a class and a number of rows of that class that share a value. The entries of a column
ascend with the value; those of one value stand together, one per class that has it, and the last
of them is marked. Everything that MDL needs to know about a column is in its entries.

Entries are int32 of shape (..., 3, room), with the rows

CLASS : class of the entry.
COUNT : number of rows, never 0.
ENDS : number of distinct values that end with the entry: 1 for the last entry of a value, 0 for the
    others. Entries of sub-problems may stand for several neighbouring values, see `mdl_binary`.
"""

import numpy as np
from numba import njit

from mauc.numerics.radix_sort import sort_tagged

CLASS, COUNT, ENDS = 0, 1, 2
_MAX_SMALL = 1 << 20  # values that NumPy sorts sooner than the radix sort is compiled


def is_small(problem):
    """Whether the columns of a problem are sorted sooner than a sort is compiled."""
    return problem.n_samples * problem.n_features <= _MAX_SMALL


def sorted_columns(XT, y, n_classes, *, by_numpy=False):
    """Sort the columns of a block.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Columns; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    n_classes : int
    by_numpy : bool, default=False
        Sort by NumPy, which is slower but need not be compiled. The classes of one value may then
        come in another order.

    Returns
    -------
    values : ndarray of shape (n_columns, n_samples), float64
        Known values of each column, ascending.
    codes : ndarray of shape (n_columns, n_samples), int32
        Classes in that order.
    n_known : ndarray of shape (n_columns,), int64
    missing : ndarray of shape (n_columns, n_classes), int64
        Number of missing values of each class.
    """
    n_columns, n = XT.shape
    missing = np.zeros((n_columns, n_classes), np.int64)
    if by_numpy:
        order = np.argsort(XT, axis=1)
        values = np.take_along_axis(XT, order, axis=1).astype(np.float64, copy=False)
        is_missing = np.isnan(XT)
        n_known = n - is_missing.sum(axis=1)
        for f in np.flatnonzero(n_known < n):
            missing[f] = np.bincount(y[is_missing[f]], minlength=n_classes)
        return values, y[order], n_known, missing
    values, codes = np.empty((n_columns, n)), np.empty((n_columns, n), np.int32)
    n_known, keys = np.empty(n_columns, np.int64), np.empty((2, n), np.uint64)
    sort_columns(XT, y, values, codes, n_known, missing, keys)
    return values, codes, n_known, missing


def make_entries(XT, y, n_classes, *, by_numpy=False):
    """Sort the columns of a block and compress them. Parameters are those of `sorted_columns`.

    Returns
    -------
    entries : ndarray of shape (n_columns, 3, n_samples), int32
    n_entries : ndarray of shape (n_columns,), int64
    values, missing
        As in `sorted_columns`.
    """
    values, codes, n_known, missing = sorted_columns(XT, y, n_classes, by_numpy=by_numpy)
    entries = np.empty((len(XT), 3, XT.shape[1]), np.int32)
    n_entries = np.empty(len(XT), np.int64)
    fill_entries(values, codes, n_known, np.empty(n_classes, np.int64), entries, n_entries)
    return entries, n_entries, values, missing


@njit(cache=True, nogil=True)
def sort_columns(XT, y, values, codes, n_known, missing, keys):
    """Fill the arrays of `sorted_columns`; `keys` is work space."""
    for f in range(XT.shape[0]):
        x, value, code = XT[f], values[f], codes[f]
        n_filled = np.int64(0)
        for i in range(x.shape[0]):
            if x[i] == x[i]:
                value[n_filled] = x[i]
                code[n_filled] = y[i]
                n_filled += 1
            else:
                missing[f, y[i]] += 1
        sort_tagged(value, code, n_filled, keys[0], keys[1])
        n_known[f] = n_filled


@njit(cache=True, nogil=True)
def fill_entries(values, codes, n_known, places, entries, n_entries):
    """Fill the entries of sorted columns; `places` is work space for every class."""
    for f in range(values.shape[0]):
        value, code = values[f], codes[f]
        cls, count, ends = entries[f, CLASS], entries[f, COUNT], entries[f, ENDS]
        for k in range(places.shape[0]):
            places[k] = -1
        n_filled, first = 0, 0
        for i in range(n_known[f]):
            # the rows before i are in the first n_filled entries
            if i > 0 and value[i] != value[i - 1]:
                ends[n_filled - 1] = 1
                first = n_filled
            k = code[i]
            # class k has an entry of the current value if and only if its place is not below first
            place = places[k]
            if place < first:
                place = n_filled
                places[k] = place
                cls[place] = k
                count[place] = 0
                ends[place] = 0
                n_filled += 1
            count[place] += 1
        if n_filled > 0:
            ends[n_filled - 1] = 1
        n_entries[f] = n_filled
