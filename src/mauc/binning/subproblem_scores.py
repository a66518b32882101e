"""Discretise columns on sub-problems: cut points, and the scores CHI, SU and IG of the bins.

Every sub-problem is discretised against its own classes. The sort and the compression of a column
are shared by the whole problem and by all classes against the rest; other groups of classes, such
as pairs, are problems of their own on the rows of their classes, many of which are done at a time.
"""

from typing import NamedTuple

import numpy as np

from mauc.binning.contingency import N_STATISTICS, table_scores
from mauc.binning.mdl_binary import spread_classes
from mauc.binning.mdl_cuts import cut_regions
from mauc.binning.value_runs import make_entries
from mauc.numerics.log_table import log_table
from mauc.problem.columns import read_only
from mauc.progress import track

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
        L in fixed point up to the number of rows, see `mauc.numerics.log_table`.
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
