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

from mauc.auc.words import label_bits_of, read_values, sort_column, sort_words, write_words

CLASS, COUNT, ENDS = 0, 1, 2


def sorted_columns(XT, y, n_classes):
    """Sort the columns of a block.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Columns, contiguous and read-only; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    n_classes : int

    Returns
    -------
    values : ndarray of shape (n_columns, n_samples), float64
        Known values of each column, ascending; the classes of one value come in any order.
    codes : ndarray of shape (n_columns, n_samples), int32
        Classes in that order.
    n_known : ndarray of shape (n_columns,), int64
    missing : ndarray of shape (n_columns, n_classes), int64
        Number of missing values of each class.
    """
    label_bits = label_bits_of(n_classes)
    words, n_known, layout = write_words(XT, y, label_bits)
    sort_words(words, n_known, label_bits)
    values = read_values(words, label_bits, layout, XT.dtype)
    codes = (words & np.uint64((1 << label_bits) - 1)).astype(np.int32)
    for f in np.flatnonzero(~layout.is_exact):
        sort_column(XT[f], y, values[f], codes[f])
    missing = np.zeros((len(XT), n_classes), np.int64)
    for f in np.flatnonzero(n_known < XT.shape[1]):
        missing[f] = np.bincount(y[np.isnan(XT[f])], minlength=n_classes)
    return values, codes, n_known, missing


def make_entries(XT, y, n_classes):
    """Sort the columns of a block and compress them. Parameters are those of `sorted_columns`.

    Returns
    -------
    entries : ndarray of shape (n_columns, 3, n_samples), int32
    n_entries : ndarray of shape (n_columns,), int64
    values, missing
        As in `sorted_columns`.
    """
    values, codes, n_known, missing = sorted_columns(XT, y, n_classes)
    entries = np.empty((len(XT), 3, XT.shape[1]), np.int32)
    n_entries = np.empty(len(XT), np.int64)
    fill_entries(values, codes, n_known, np.empty(n_classes, np.int64), entries, n_entries)
    return entries, n_entries, values, missing


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
