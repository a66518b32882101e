"""Contingency tables of bins and classes, and the scores CHI, SU and IG that are read from them.

The cuts of a discretised column, or the category codes of a nominal one, give the table of shape
(n_bins, n_classes) and the three scores.

With T the table, row_i and col_j its sums, n its total and L(v) = v ln v:

    CHI = sum_ij (T_ij - e_ij)^2 / e_ij,    e_ij = row_i col_j / n
    SU  = 2 I / (H(bin) + H(class)),        n I = sum L(T_ij) - sum L(row_i) - sum L(col_j) + L(n)
    IG  = H(class) - H(class | bin)         in bits

Missing values are distributed over the bins in proportion to the known ones, class by class:
T_ij += (row_i / sum_i row_i) * missing_j.
"""

import math

import numpy as np
from numba import njit

from mauc.numerics.log_table import LN2

CHI, SU, IG = 0, 1, 2
N_STATISTICS = 3

# rows, columns and n * entropies (in nats) up to this size count as empty
_EMPTY = 1e-6


@njit(cache=True, nogil=True)
def _xlogx(v, vlogv):
    """L(v): from the table for whole numbers, computed with the same bits for fractions."""
    if v <= 0.0:
        return 0.0
    whole = np.int64(v)
    return vlogv[whole] if whole == v else v * math.log(v)


@njit(cache=True, nogil=True)
def share_missing(counts, missing, table):
    """Fill `table` with the counts and the missing values, distributed in proportion.

    Parameters
    ----------
    counts : ndarray of shape (n_bins, n_classes), int64
    missing : ndarray of shape (n_classes,), int64
    table : ndarray of shape (n_bins, n_classes), float64
        Filled, with zeros if no value is known.

    Returns
    -------
    int
        Number of known values.
    """
    n_bins, n_classes = counts.shape
    n_known = 0
    for i in range(n_bins):
        for j in range(n_classes):
            n_known += counts[i, j]
    for i in range(n_bins):
        row = 0
        for j in range(n_classes):
            row += counts[i, j]
        share = row / n_known if n_known > 0 else 0.0
        for j in range(n_classes):
            table[i, j] = counts[i, j]
            if missing[j] > 0:
                table[i, j] += share * missing[j]
    return n_known


@njit(cache=True, nogil=True)
def table_scores(counts, missing, vlogv, scores):
    """Compute CHI, SU and IG of one table.

    Parameters
    ----------
    counts : ndarray of shape (n_bins, n_classes), int64
        Known values by bin and class.
    missing : ndarray of shape (n_classes,), int64
        Missing values by class.
    vlogv : ndarray of shape (> number of rows,), float64
        v ln v of the whole numbers.
    scores : ndarray of shape (3,), float64
        Filled in the order CHI, SU, IG; zeros if nothing is known or there is one bin only.
    """
    n_bins, n_classes = counts.shape
    scores[:] = 0.0
    if n_bins < 2:
        return
    table = np.empty((n_bins, n_classes))
    if share_missing(counts, missing, table) == 0:
        return
    rows = np.zeros(n_bins)
    columns = np.zeros(n_classes)
    n = 0.0
    l_cells = 0.0
    l_rows = 0.0
    within = 0.0
    for i in range(n_bins):
        for j in range(n_classes):
            cell = _xlogx(table[i, j], vlogv)
            rows[i] += table[i, j]
            columns[j] += table[i, j]
            l_cells += cell
            within += cell
        row = _xlogx(rows[i], vlogv)
        l_rows += row
        within -= row
        n += rows[i]
    l_columns = 0.0
    between = 0.0
    for j in range(n_classes):
        column = _xlogx(columns[j], vlogv)
        l_columns += column
        between -= column
    l_n = _xlogx(n, vlogv)
    scores[CHI] = _chi_square(table, rows, columns, n)
    class_part = l_columns - l_n
    bin_part = l_rows - l_n
    if abs(class_part) >= _EMPTY and abs(bin_part) >= _EMPTY:
        information = class_part - (l_cells - l_rows)
        scores[SU] = 2.0 * (information / (class_part + bin_part))
    scores[IG] = (between + l_n) / (n * LN2) - -within / (n * LN2)


@njit(cache=True, nogil=True)
def _chi_square(table, rows, columns, n):
    """Chi-square without continuity correction over the rows and columns that are not empty."""
    chi = 0.0
    for i in range(len(rows)):
        if rows[i] <= _EMPTY:
            continue
        for j in range(len(columns)):
            if columns[j] > _EMPTY:
                expected = (columns[j] * rows[i]) / n
                difference = table[i, j] - expected
                chi += difference * difference / expected
    return chi


@njit(cache=True, nogil=True)
def fill_by_run(runs, n_runs, cuts, n_cuts, counts):
    """Count the rows by bin and class, bin q ending with run ``cuts[q]``."""
    counts[:] = 0
    e = np.int64(0)
    for q in range(n_cuts + 1):
        end = runs.start[cuts[q] + 1] if q < n_cuts else runs.start[n_runs]
        while e < end:
            counts[q, runs.cls[e]] += runs.count[e]
            e += 1


@njit(cache=True, nogil=True)
def fill_by_block(blocks, n_blocks, cuts, n_cuts, counts):
    """Count the rows of a pair by bin and class, bin q ending before block ``cuts[q]``."""
    lo = np.int64(0)
    for q in range(n_cuts + 1):
        hi = cuts[q] if q < n_cuts else n_blocks
        counts[q, 0] = blocks.n0[hi] - blocks.n0[lo]
        counts[q, 1] = blocks.n1[hi] - blocks.n1[lo]
        lo = hi


@njit(cache=True, nogil=True)
def fill_by_value(values, codes, n_known, role, cuts, n_cuts, counts):
    """Count the rows of a sub-problem by bin and class.

    The bin of a value is the number of cut points strictly below it.

    Parameters
    ----------
    values, codes : ndarray of shape (>= n_known,), float64 and int32
        Sorted column.
    n_known : int
    role : ndarray of shape (n_classes,), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.
    cuts : ndarray of shape (>= n_cuts,), float64
        Cut points, ascending.
    n_cuts : int
    counts : ndarray of shape (n_cuts + 1, n_local), int64
        Filled.
    """
    counts[:] = 0
    q = np.int64(0)
    # q cut points are strictly below the value of row i
    for i in range(n_known):
        while q < n_cuts and cuts[q] < values[i]:
            q += 1
        k = role[codes[i]]
        if k >= 0:
            counts[q, k] += 1


@njit(cache=True, nogil=True)
def fold_classes(counts, role, folded):
    """Fill `folded`, the table of a sub-problem, from the table of all classes."""
    folded[:] = 0
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            if role[k] >= 0:
                folded[i, role[k]] += counts[i, k]


@njit(cache=True, nogil=True)
def n_roles(role):
    """Return the number of classes of a sub-problem, at least 1."""
    highest = 0
    for k in range(len(role)):
        highest = max(highest, role[k])
    return highest + 1


@njit(cache=True, nogil=True)
def nominal_scores(category, y, n_classes, n_categories, roles, vlogv, statistics, out):
    """Score nominal columns, one bin per category, on each sub-problem.

    Parameters
    ----------
    category : ndarray of shape (n_features, n_samples), int32
        Category codes 0..n_categories[j] - 1, negative for missing.
    y : ndarray of shape (n_samples,), int32
    n_classes : int
    n_categories : ndarray of shape (n_features,), int64
    roles : ndarray of shape (n_subproblems, n_classes), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.
    vlogv : ndarray of shape (> n_samples,), float64
        v ln v of the whole numbers.
    statistics : ndarray of int64
        Wanted scores, of CHI = 0, SU = 1 and IG = 2.
    out : ndarray of shape (len(statistics), n_features, n_subproblems), float64
        Filled.
    """
    scores = np.empty(N_STATISTICS)
    missing = np.empty((1, n_classes), np.int64)
    for f in range(category.shape[0]):
        counts = np.zeros((n_categories[f], n_classes), np.int64)
        missing[:] = 0
        for i in range(len(y)):
            bin_ = category[f, i]
            if bin_ >= 0:
                counts[bin_, y[i]] += 1
            else:
                missing[0, y[i]] += 1
        for s in range(len(roles)):
            n_local = n_roles(roles[s])
            local_counts = np.empty((n_categories[f], n_local), np.int64)
            local_missing = np.empty((1, n_local), np.int64)
            fold_classes(counts, roles[s], local_counts)
            fold_classes(missing, roles[s], local_missing)
            table_scores(local_counts, local_missing[0], vlogv, scores)
            for q in range(len(statistics)):
                out[q, f, s] = scores[statistics[q]]
