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


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def sort_column(x, y, values, codes, missing, keys, spare):
    """Sort the known values of one column and count the missing ones per class.

    Parameters
    ----------
    x : ndarray of shape (n_samples,), float32 or float64
        One column; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    values, codes : ndarray of shape (n_samples,), float64 and int32
        Filled, up to the returned length, with the known values in ascending order and their codes.
    missing : ndarray of shape (n_classes,), int64
        Filled with the number of missing values of each class.
    keys, spare : ndarray of shape (n_samples,), uint64
        Work space.

    Returns
    -------
    int
        Number of known values.
    """
    for k in range(missing.shape[0]):
        missing[k] = 0
    n_known = np.int64(0)
    for i in range(x.shape[0]):
        value = np.float64(x[i])
        if value == value:
            values[n_known] = value
            codes[n_known] = y[i]
            n_known += 1
        else:
            missing[y[i]] += 1
    sort_tagged(values, codes, n_known, keys, spare)
    return n_known


def make_entries(XT, y, n_classes):
    """Sort the columns of a block and compress them.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Columns; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    n_classes : int

    Returns
    -------
    entries : ndarray of shape (n_columns, 3, n_samples), int32
    n_entries : ndarray of shape (n_columns,), int64
    values : ndarray of shape (n_columns, n_samples), float64
        Known values of each column, ascending.
    missing : ndarray of shape (n_columns, n_classes), int64
        Number of missing values of each class.
    """
    n_columns, n = XT.shape
    entries = np.empty((n_columns, 3, n), np.int32)
    values = np.empty((n_columns, n))
    n_entries = np.empty(n_columns, np.int64)
    missing = np.empty((n_columns, n_classes), np.int64)
    keys = np.empty((2, n), np.uint64)
    fill_entries(XT, y, values, np.empty(n, np.int32), missing, keys, entries, n_entries)
    return entries, n_entries, values, missing


@njit(cache=True, nogil=True)
def fill_entries(XT, y, values, codes, missing, keys, entries, n_entries):
    """Fill the arrays of `make_entries`; `codes` and `keys` are work space."""
    places = np.empty(missing.shape[1], np.int64)
    for f in range(XT.shape[0]):
        n_known = sort_column(XT[f], y, values[f], codes, missing[f], keys[0], keys[1])
        for k in range(places.shape[0]):
            places[k] = -1
        n_filled, first = np.int64(0), np.int64(0)
        for i in range(n_known):
            # the rows before i are in the first n_filled entries
            if i > 0 and values[f, i] != values[f, i - 1]:
                entries[f, ENDS, n_filled - 1] = 1
                first = n_filled
            k = codes[i]
            # class k has an entry of the current value if and only if its place is not below first
            place = places[k]
            if place < first:
                place = n_filled
                places[k] = place
                entries[f, CLASS, place] = k
                entries[f, COUNT, place] = 0
                entries[f, ENDS, place] = 0
                n_filled += 1
            entries[f, COUNT, place] += 1
        if n_filled > 0:
            entries[f, ENDS, n_filled - 1] = 1
        n_entries[f] = n_filled
