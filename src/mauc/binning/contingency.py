"""The scores CHI, SU and IG of contingency tables of bins and classes.

The tables of discretised columns (see `mdl_cuts`), or those of the categories of nominal ones, give
the three scores. With T a table, row_i and col_j its sums, n its total and L(v) = v ln v:

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
from mauc.numerics.njit_part import njit_part

CHI, SU, IG = 0, 1, 2
N_STATISTICS = 3

# rows, columns and n * entropies (in nats) up to this size count as empty
_EMPTY = 1e-6


def table_scores(tables, n_bins, missing):
    """Compute CHI, SU and IG of tables.

    Parameters
    ----------
    tables : ndarray of shape (n_bins.sum(), n_classes), int64
        Known values by bin and class, one table below the other.
    n_bins : ndarray of shape (n_tables,), int64
    missing : ndarray of shape (n_tables, n_classes), int64
        Missing values by class.

    Returns
    -------
    scores : ndarray of shape (3, n_tables), float64
        CHI, SU and IG; zeros if nothing is known or there is one bin only.
    """
    scores = np.zeros((N_STATISTICS, len(n_bins)))
    shared = np.empty((n_bins.max(initial=0) + 1, tables.shape[1] + 1))
    fill_scores(tables, n_bins, missing, shared, scores)
    return scores


def nominal_scores(category, y, roles):
    """Score one nominal column, one bin per category, on each sub-problem.

    Parameters
    ----------
    category : ndarray of shape (n_samples,), int64
        Category codes from 0 on, negative for missing.
    y : ndarray of shape (n_samples,), int32
    roles : ndarray of shape (n_subproblems, n_classes), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.

    Returns
    -------
    scores : ndarray of shape (3, n_subproblems)
    """
    n_classes = roles.shape[1]
    n_categories = int(category.max(initial=-1)) + 1
    # the missing values are counted in the first row
    cells = (category.astype(np.int64) + 1) * n_classes + y
    counts = np.bincount(cells, minlength=(n_categories + 1) * n_classes).reshape(-1, n_classes)
    scores = np.empty((N_STATISTICS, len(roles)))
    for s, role in enumerate(roles):
        # the counts of the classes of the sub-problem, summed over the classes that become one
        is_member = role == np.arange(max(role.max() + 1, 1))[:, np.newaxis]
        local = np.ascontiguousarray(counts @ is_member.T.astype(np.int64))
        scores[:, s] = table_scores(local[1:], np.array([n_categories]), local[:1])[:, 0]
    return scores


@njit(cache=True, nogil=True, error_model="numpy")
def fill_scores(tables, n_bins, missing, shared, scores):
    """Fill the scores of `table_scores`.

    `shared` is work space for the largest table, its sums in the last row and column.
    """
    n_classes = tables.shape[1]
    begin = 0
    for table in range(n_bins.shape[0]):
        end = begin + n_bins[table]
        n_known = 0
        for i in range(begin, end):
            for j in range(n_classes):
                n_known += tables[i, j]
        if end - begin < 2 or n_known == 0:
            begin = end
            continue
        for j in range(n_classes):
            shared[end - begin, j] = 0.0
        n, l_cells, l_rows, within = 0.0, 0.0, 0.0, 0.0
        for i in range(end - begin):
            row = 0
            for j in range(n_classes):
                row += tables[begin + i, j]
            share = row / n_known
            total = 0.0
            for j in range(n_classes):
                count = np.float64(tables[begin + i, j])
                if missing[table, j] > 0:
                    count += share * missing[table, j]
                shared[i, j] = count
                cell = _xlogx(count)
                total += count
                shared[end - begin, j] += count
                l_cells += cell
                within += cell
            shared[i, n_classes] = total
            l_row = _xlogx(total)
            l_rows += l_row
            within -= l_row
            n += total
        l_n, l_columns, chi = _xlogx(n), 0.0, 0.0
        for j in range(n_classes):
            l_columns += _xlogx(shared[end - begin, j])
        # chi-square without continuity correction over the rows and columns that are not empty
        for i in range(end - begin):
            for j in range(n_classes):
                if shared[i, n_classes] > _EMPTY and shared[end - begin, j] > _EMPTY:
                    expected = (shared[end - begin, j] * shared[i, n_classes]) / n
                    difference = shared[i, j] - expected
                    chi += difference * difference / expected
        scores[CHI, table] = chi
        class_part, bin_part = l_columns - l_n, l_rows - l_n
        if abs(class_part) >= _EMPTY and abs(bin_part) >= _EMPTY:
            information = class_part - (l_cells - l_rows)
            scores[SU, table] = 2.0 * (information / (class_part + bin_part))
        scores[IG, table] = (l_n - l_columns) / (n * LN2) - -within / (n * LN2)
        begin = end


@njit_part
def _xlogx(v):
    """L(v), 0 for v = 0."""
    return v * math.log(v) if v > 0.0 else 0.0
