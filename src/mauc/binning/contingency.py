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
from typing import NamedTuple

import numpy as np

from mauc.binning.mdl import cut_regions, make_entries, spread_classes
from mauc.compile import njit, njit_part
from mauc.engine.arrays import read_only
from mauc.engine.special import LN2, log_table
from mauc.progress import track

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


_BATCH_VALUES = 2**17  # values of sub-problems discretised at a time


class Bins(NamedTuple):
    """Columns discretised on sub-problems of equally many classes."""

    tables: np.ndarray  #: this and the next as in `cut_regions`
    n_bins: np.ndarray
    missing: np.ndarray  #: missing values by class, shape (n_columns, n_subproblems, n_local)
    points: np.ndarray  #: cut points of all columns and sub-problems in the order of the tables


def subproblem_scores(XT, y, roles, statistics, out, logs=None):
    """Score columns on each sub-problem after supervised MDL discretisation.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns, contiguous and read-only; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    roles : ndarray of shape (n_subproblems, n_classes), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.
    statistics : list of int
        Wanted scores, of CHI = 0, SU = 1 and IG = 2.
    out : ndarray of shape (len(statistics), n_features, n_subproblems), float64
        Filled.
    logs : (fixed, unit), optional
        L in fixed point up to the number of rows, see `mauc.engine.special`.
    """
    logs = logs or log_table(len(y), 1.0)[1:]
    for places, bins in _discretize(XT, y, roles, logs):
        missing = bins.missing.reshape(-1, bins.missing.shape[-1])
        scores = table_scores(bins.tables, bins.n_bins.ravel(), missing)
        scores = scores.reshape(N_STATISTICS, *bins.n_bins.shape)
        out[:, :, places] = scores[statistics]


def mdl_cut_points(XT, y, role, logs=None):
    """Find the MDL cut points of each column.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns, contiguous and read-only; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    role : ndarray of shape (n_classes,), int32
        ``arange(n_classes)`` for the whole problem, or one row of a role matrix.
    logs
        As in `subproblem_scores`.

    Returns
    -------
    points : ndarray of float64
        Cut points of all columns, ascending within a column.
    offsets : ndarray of shape (n_features + 1,), int64
        Column f has ``points[offsets[f]:offsets[f + 1]]``.
    """
    logs = logs or log_table(len(y), 1.0)[1:]
    ((_, bins),) = _discretize(XT, y, role[np.newaxis], logs)
    n_cuts = np.maximum(bins.n_bins[:, 0] - 1, 0)
    return bins.points, np.concatenate([[0], np.cumsum(n_cuts)])


def _discretize(XT, y, roles, logs):
    """Yield the places of sub-problems in `roles`, and the `Bins` of the columns on them."""
    n_classes = roles.shape[1]
    order = np.arange(n_classes)
    is_whole = (roles == order).all(axis=1) & (n_classes != 2)
    # a class against the rest: one class has the role 0 or 1, all others the other one
    is_binary = ((roles == 0) | (roles == 1)).all(axis=1) & (n_classes > 1)
    n_ones = roles.sum(axis=1)
    is_rest = [
        is_binary & (n_ones == n_classes - 1),
        is_binary & (n_ones == 1) & (n_classes > 2),
    ]  # by the role of the single class
    is_shared = is_whole | is_rest[0] | is_rest[1]
    if is_shared.any():
        entries, n_entries, values, missing = make_entries(XT, y, n_classes)
        if is_whole.any():
            regions = np.zeros((len(XT), 1, 2), np.int64)
            regions[:, 0, 1] = n_entries
            tables, n_bins = cut_regions(entries, regions, n_classes, *logs)
            whole = Bins(tables, n_bins, missing[:, np.newaxis], values)
            yield np.flatnonzero(is_whole), _with_points(whole, XT, y, order[np.newaxis])
        for own in range(2):
            places = np.flatnonzero(is_rest[own])
            if len(places):
                single = np.argmax(roles[places] == own, axis=1)
                spread, regions = spread_classes(entries, n_entries, n_classes, own)
                regions = np.ascontiguousarray(regions[:, single])
                tables, n_bins = cut_regions(spread, regions, 2, *logs)
                folded = np.empty((len(XT), len(places), 2), np.int64)
                folded[..., own] = missing[:, single]
                folded[..., 1 - own] = missing.sum(axis=1, keepdims=True) - missing[:, single]
                rest = Bins(tables, n_bins, folded, values)
                yield places, _with_points(rest, XT, y, roles[places])
    if not is_shared.all():
        yield from _discretize_parts(XT, y, roles, np.flatnonzero(~is_shared), logs)


def _discretize_parts(XT, y, roles, places, logs):
    """Discretise columns on sub-problems that leave classes out, many of them at a time.

    The rows of each role are filled up to the same number with missing values, which are not
    counted as such afterwards, so that the sub-problems of a batch differ in their values alone.
    """
    counts = np.bincount(y, minlength=roles.shape[1])
    members = np.split(np.argsort(y, kind="stable"), np.cumsum(counts)[:-1])
    n_roles = np.maximum(roles[places].max(axis=1) + 1, 1)
    sizes = np.column_stack([(roles[places] == r) @ counts for r in range(n_roles.max())])
    # Neighbours have as many roles and about as many rows.
    order = np.lexsort((sizes[:, 0], sizes.sum(axis=1), n_roles))
    for batch in track(_batches(order, sizes.sum(axis=1) * len(XT), n_roles), "batches of pairs"):
        widths = sizes[batch].max(axis=0)[: n_roles[batch[0]]]
        ends = np.cumsum(widths)
        rows = np.full((len(batch), ends[-1]), -1)
        for taken, place in zip(rows, places[batch], strict=True):
            for role, end in enumerate(ends):
                own = [members[code] for code in np.flatnonzero(roles[place] == role)]
                own = np.concatenate(own) if own else rows[0, :0]
                taken[end - widths[role] : end - widths[role] + len(own)] = own
        columns = XT[:, rows]
        columns[:, rows < 0] = np.nan
        columns = read_only(columns.reshape(len(XT) * len(batch), rows.shape[1]))
        local = np.repeat(np.arange(len(widths), dtype=np.int32), widths)
        whole = np.arange(len(widths), dtype=np.int32)[np.newaxis]
        ((_, bins),) = _discretize(columns, local, whole, logs)
        shape = (len(XT), len(batch))
        yield (
            places[batch],
            bins._replace(
                n_bins=bins.n_bins.reshape(shape),
                missing=bins.missing.reshape(*shape, len(widths))
                - (widths - sizes[batch][:, : len(widths)]),
            ),
        )


def _batches(order, n_values, n_roles):
    """Cut an order of sub-problems into batches of about `_BATCH_VALUES` and of as many roles."""
    batches, start = [], 0
    while start < len(order):
        length = max(1, _BATCH_VALUES // max(1, n_values[order[start]]))
        batch = order[start : start + length]
        batches.append(batch[n_roles[batch] == n_roles[batch[0]]])
        start += len(batches[-1])
    return batches


def _with_points(bins, XT, y, roles):
    """Replace the sorted values of the columns by the cut points of the sub-problems.

    The bins are those of the cut points, which need not separate the values as the cuts do: the
    midpoint of two neighbouring floating-point numbers is one of them. Such tables are counted
    again by value.
    """
    if len(bins.tables) == 0:
        return bins._replace(points=np.empty(0))
    n_bins = bins.n_bins.ravel()
    starts = np.cumsum(n_bins) - n_bins
    ends = np.cumsum(bins.tables.sum(axis=1))
    before = np.concatenate([[0], ends])[starts]
    of_bin = np.repeat(np.arange(len(n_bins)), n_bins)
    is_last = np.zeros(len(ends), bool)
    is_last[(starts + n_bins - 1)[n_bins > 0]] = True
    table = of_bin[~is_last]
    rows = ends[~is_last] - before[table]  # below each cut
    columns = table // bins.n_bins.shape[1]
    below, above = bins.points[columns, rows - 1], bins.points[columns, rows]
    with np.errstate(over="ignore", invalid="ignore"):
        points = (below + above) / 2.0
    for again in np.unique(table[~((below <= points) & (points < above))]):
        f, s = divmod(int(again), bins.n_bins.shape[1])
        counted = bins.tables[starts[again] : starts[again] + n_bins[again]]
        counted[:] = _count_by_value(XT[f], roles[s][y], points[table == again], counted.shape)
    return bins._replace(points=points)


def _count_by_value(x, local, points, shape):
    """Count the rows by bin, the number of points strictly below the value, and class."""
    is_known = (x == x) & (local >= 0)
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (np.searchsorted(points, x[is_known]), local[is_known]), 1)
    return counts
