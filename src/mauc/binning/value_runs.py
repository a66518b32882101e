"""Sort a column and compress it into runs of equal values with their class counts.

A column sorted by `sort_column` becomes a `Runs`: one run per distinct value, and in it one entry
(class, count) per class that has the value. All sub-problems of the column read the same runs; the
sort and the compression happen once.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from mauc.numerics.radix_sort import sort_tagged

Runs = namedtuple("Runs", ["value", "start", "rows", "cls", "count", "end_of"])
"""Runs of equal values of one sorted column, in ascending order.

value : (n_runs,) float64, the distinct values.
start : (n_runs + 1,) int64, run r holds the entries start[r]:start[r + 1].
rows : (n_runs + 1,) int64, rows[r] known values lie below value[r].
cls, count : (n_entries,) int32, class of the entry and its number of rows, never 0.
end_of : (n_entries,) int32, r for the last entry of run r, -1 for the others.

The arrays are work space for the longest column: only the first n_runs or n_entries are used.
"""

ClassLists = namedtuple("ClassLists", ["start", "run", "count"])
"""The entries of `Runs` grouped by class; class k has the places start[k]:start[k + 1].

start : (n_classes + 1,) int64.
run, count : (n_entries,) int32, run and number of rows of each entry, runs ascending.
"""


@njit(cache=True, nogil=True)
def empty_runs(n):
    """Return work space for the runs of a column of at most `n` known values."""
    return Runs(
        np.empty(n, np.float64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
    )


@njit(cache=True, nogil=True)
def empty_class_lists(n, n_classes):
    """Return work space for the class lists of a column of at most `n` known values."""
    start = np.zeros(n_classes + 1, np.int64)
    return ClassLists(start, np.empty(n, np.int32), np.empty(n, np.int32))


@njit(cache=True, nogil=True)
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
    missing[:] = 0
    n_known = 0
    for i in range(len(x)):
        value = np.float64(x[i])
        if value == value:
            values[n_known] = value
            codes[n_known] = y[i]
            n_known += 1
        else:
            missing[y[i]] += 1
    sort_tagged(values, codes, n_known, keys, spare)
    return n_known


@njit(cache=True, nogil=True)
def compress_runs(values, codes, n_known, role, runs):
    """Fill `runs` from a sorted column.

    Parameters
    ----------
    values : ndarray of shape (>= n_known,), float64
        Known values in ascending order.
    codes : ndarray of shape (>= n_known,), int32
        Class codes in that order.
    n_known : int
    role : ndarray of shape (n_classes,), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out;
        ``arange(n_classes)`` keeps all classes.
    runs : Runs
        Filled.

    Returns
    -------
    int
        Number of runs.
    """
    place_of = np.zeros(len(role), np.int64) - 1
    cls, count, end_of = runs.cls, runs.count, runs.end_of
    n_entries = 0
    n_rows = 0
    n_runs = 0
    i = 0
    # the rows before i are in the first n_runs runs and n_entries entries
    while i < n_known:
        value = values[i]
        first = n_entries
        # place_of[k] >= first if and only if class k has an entry in the current run
        while i < n_known and values[i] == value:
            k = role[codes[i]]
            i += 1
            if k < 0:
                continue
            n_rows += 1
            place = place_of[k]
            if place < first:
                place_of[k] = n_entries
                cls[n_entries] = k
                count[n_entries] = 1
                end_of[n_entries] = -1
                n_entries += 1
            else:
                count[place] += 1
        if n_entries > first:
            end_of[n_entries - 1] = n_runs
            runs.value[n_runs] = value
            n_runs += 1
            runs.start[n_runs] = n_entries
            runs.rows[n_runs] = n_rows
    return n_runs


@njit(cache=True, nogil=True)
def fill_class_lists(runs, n_runs, lists):
    """Fill `lists` with the entries of `runs`, grouped by class in ascending order of value."""
    start, run_of, count = lists
    n_classes = len(start) - 1
    n_entries = runs.start[n_runs]
    place = np.zeros(n_classes + 1, np.int64)
    for e in range(n_entries):
        place[runs.cls[e] + 1] += 1
    for k in range(n_classes):
        place[k + 1] += place[k]
    for k in range(n_classes + 1):
        start[k] = place[k]
    r = 0
    # place[k] is where the next entry of class k goes; r is the run of entry e
    for e in range(n_entries):
        k = runs.cls[e]
        run_of[place[k]] = r
        count[place[k]] = runs.count[e]
        place[k] += 1
        r += runs.end_of[e] >= 0
