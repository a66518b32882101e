"""The scores CHI, SU and IG of contingency tables of bins and classes.

With T a table, row_i and col_j its sums, n its total and L(v) = v ln v:

    CHI = sum_ij (T_ij - e_ij)^2 / e_ij,    e_ij = row_i col_j / n
    SU  = 2 I / (H(bin) + H(class)),        n I = sum L(T_ij) - sum L(row_i) - sum L(col_j) + L(n)
    IG  = H(class) - H(class | bin)         in bits

Missing values are distributed over the bins in proportion to the known ones, class by class. Every
sub-problem is discretised against its own classes (see `mdl`); its role of a class, a row of
(n_subproblems, n_classes), is the class that it becomes, -1 when its rows are left out.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mauc.binning.mdl import cut_regions, make_entries, one_vs_rest_entries, sorted_columns
from mauc.compile import njit
from mauc.engine.arrays import LN2, RowCounts, count_rows, read_only
from mauc.progress import track

CHI, SU, IG = 0, 1, 2
N_STATISTICS = 3

# rows, columns and n * entropies (in nats) up to this size count as empty
_EMPTY = 1e-6
_BATCH_VALUES = 2**17  # values of sub-problems discretised at a time


def subproblem_scores(
    XT: np.ndarray,
    y: np.ndarray,
    roles: np.ndarray,
    statistics: list[int],
    out: np.ndarray,
    rows: RowCounts | None = None,
) -> None:
    """Fill `out`, (n_statistics, n_features, n_subproblems), with scores of MDL bins."""
    rows = rows or count_rows(len(y))
    for chosen, bins in _discretize(XT, y, roles, rows):
        missing = bins.missing.reshape(-1, bins.missing.shape[-1])
        scores = table_scores(bins.tables, bins.n_bins.ravel(), missing, rows.step)
        scores = scores.reshape(N_STATISTICS, *bins.n_bins.shape)
        out[:, :, chosen] = scores[statistics]


def mdl_cut_points(
    XT: np.ndarray, y: np.ndarray, role: np.ndarray, rows: RowCounts | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the MDL cut points of all columns, and where those of each column start."""
    ((_, bins),) = _discretize(XT, y, role[np.newaxis], rows or count_rows(len(y)))
    n_cuts = np.maximum(bins.n_bins[:, 0] - 1, 0)
    return bins.points, np.concatenate([[0], np.cumsum(n_cuts)])


def nominal_scores(
    category: np.ndarray, y: np.ndarray, roles: np.ndarray, rows: RowCounts | None = None
) -> np.ndarray:
    """Return CHI, SU and IG, (3, n_subproblems), of a nominal column."""
    n_classes, n_local = roles.shape[1], max(int(roles.max()) + 1, 1)
    n_categories = int(category.max(initial=-1)) + 1
    cells = category.astype(np.int64) * n_classes + y
    rows = rows or count_rows(0)
    counts = np.bincount(cells, rows.weights, n_categories * n_classes).reshape(-1, n_classes)
    # the counts of the classes of a sub-problem, summed over the classes that become one
    is_member = roles[:, np.newaxis, :] == np.arange(n_local)[:, np.newaxis]
    local = counts @ is_member.transpose(0, 2, 1).astype(counts.dtype)
    n_bins = np.full(len(roles), n_categories)
    missing = np.zeros((len(roles), n_local))
    return table_scores(local.reshape(-1, n_local), n_bins, missing, rows.step)


def table_scores(
    tables: np.ndarray, n_bins: np.ndarray, missing: np.ndarray, step: float = 1.0
) -> np.ndarray:
    """Return CHI, SU and IG, (3, n_tables), of tables in counts of `step` rows; 0 if not cut."""
    counts, missing = tables * step, missing * step
    if missing.any():
        table = np.repeat(np.arange(len(n_bins)), n_bins)
        rows = counts.sum(axis=1)
        n_known = np.bincount(table, rows, len(n_bins))
        share = rows / np.maximum(n_known, 1e-300)[table]
        counts += share[:, np.newaxis] * missing[table]
    sums = np.zeros((7, len(n_bins)))
    sums[0] = 1.0
    sum_tables(counts, n_bins, np.empty(len(tables)), np.empty(tables.shape[1]), sums)
    n, l_n, chi, l_cells, l_rows, l_columns, within = sums
    scores = np.zeros((N_STATISTICS, len(n_bins)))
    scores[CHI] = chi
    class_part, bin_part = l_columns - l_n, l_rows - l_n
    has_entropy = (abs(class_part) >= _EMPTY) & (abs(bin_part) >= _EMPTY)
    entropies = np.where(has_entropy, class_part + bin_part, 1.0)
    information = np.where(has_entropy, class_part - (l_cells - l_rows), 0.0)
    scores[SU] = 2.0 * (information / entropies)
    scores[IG] = (l_n - l_columns) / (n * LN2) - -within / (n * LN2)
    return scores


class Bins(NamedTuple):
    """Columns discretised on sub-problems of equally many classes."""

    tables: np.ndarray  #: this and the next as in `cut_regions`
    n_bins: np.ndarray
    missing: np.ndarray  #: missing values by class, shape (n_columns, n_subproblems, n_local)
    points: np.ndarray  #: cut points of all columns and sub-problems in the order of the tables


def _discretize(
    XT: np.ndarray, y: np.ndarray, roles: np.ndarray, rows: RowCounts
) -> Iterator[tuple[np.ndarray, Bins]]:
    """Yield the rows of some sub-problems in `roles`, and the `Bins` of the columns on them."""
    n_classes, order = roles.shape[1], np.arange(roles.shape[1])
    is_whole = (roles == order).all(axis=1) & (n_classes != 2)
    is_rest = ((roles == 0).sum(axis=1) == 1) & ((roles == 1).sum(axis=1) == n_classes - 1)
    is_rest &= ~is_whole
    if (is_whole | is_rest).any():
        columns = sorted_columns(XT, y, n_classes, rows.weights)
        values, missing = columns.values, columns.missing
        entries, n_entries = make_entries(columns)
        sizes = columns.sizes, rows.weights
    if is_whole.any():
        regions = np.zeros((len(XT), 1, 2), np.int64)
        regions[:, 0, 1] = n_entries
        tables, n_bins = cut_regions(entries, regions, n_classes, rows)
        bins = Bins(tables, n_bins, missing[:, np.newaxis], values)
        yield np.flatnonzero(is_whole), _with_points(bins, XT, y, order[np.newaxis], *sizes)
    if is_rest.any():
        single = np.argmax(roles[is_rest] == 0, axis=1)
        entries, regions = one_vs_rest_entries(entries, n_entries, n_classes)
        tables, n_bins = cut_regions(entries, np.ascontiguousarray(regions[:, single]), 2, rows)
        own = missing[:, single]
        folded = np.stack([own, missing.sum(axis=1, keepdims=True) - own], axis=2)
        bins = Bins(tables, n_bins, folded, values)
        yield np.flatnonzero(is_rest), _with_points(bins, XT, y, roles[is_rest], *sizes)
    others = np.flatnonzero(~(is_whole | is_rest))
    if len(others):
        yield from _discretize_parts(XT, y, roles, others, rows)


def _discretize_parts(
    XT: np.ndarray, y: np.ndarray, roles: np.ndarray, chosen: np.ndarray, row_counts: RowCounts
) -> Iterator[tuple[np.ndarray, Bins]]:
    """Discretise columns on sub-problems that leave classes out, many of them at a time.

    The rows of each role are filled up to the same number with missing values, which are not
    counted as such afterwards.
    """
    counts, counted = np.bincount(y, minlength=roles.shape[1]), row_counts
    members = np.split(np.argsort(y, kind="stable"), np.cumsum(counts)[:-1])
    n_roles = np.maximum(roles[chosen].max(axis=1) + 1, 1)
    sizes = np.column_stack([(roles[chosen] == r) @ counts for r in range(n_roles.max())])
    # Neighbours have as many roles and about as many rows.
    order = np.lexsort((sizes[:, 0], sizes.sum(axis=1), n_roles))
    for batch in track(_batches(order, sizes.sum(axis=1) * len(XT), n_roles), "batches of pairs"):
        widths = sizes[batch].max(axis=0)[: n_roles[batch[0]]]
        ends = np.cumsum(widths)
        rows = np.full((len(batch), ends[-1]), -1)
        for taken, s in zip(rows, chosen[batch], strict=True):
            for role, end in enumerate(ends):
                parts = [members[code] for code in np.flatnonzero(roles[s] == role)]
                own = np.concatenate(parts) if parts else rows[0, :0]
                taken[end - widths[role] : end - widths[role] + len(own)] = own
        columns = XT[:, rows]
        columns[:, rows < 0] = np.nan
        columns = read_only(columns.reshape(len(XT) * len(batch), rows.shape[1]))
        local = np.repeat(np.arange(len(widths), dtype=np.int32), widths)
        whole = np.arange(len(widths), dtype=np.int32)[np.newaxis]
        if row_counts.weights is not None:
            weights = np.where(rows < 0, 1, row_counts.weights[rows])
            counted = row_counts._replace(weights=np.tile(weights, (len(XT), 1)))
        ((_, bins),) = _discretize(columns, local, whole, counted)
        missing = bins.missing.reshape(len(XT), len(batch), len(widths))
        missing = missing - (widths - sizes[batch][:, : len(widths)])
        n_bins = bins.n_bins.reshape(len(XT), len(batch))
        yield chosen[batch], bins._replace(n_bins=n_bins, missing=missing)


def _batches(order: np.ndarray, n_values: np.ndarray, n_roles: np.ndarray) -> list[np.ndarray]:
    """Cut an order of sub-problems into batches of about `_BATCH_VALUES` and of as many roles."""
    batches, start = [], 0
    while start < len(order):
        length = max(1, _BATCH_VALUES // max(1, n_values[order[start]]))
        batch = order[start : start + length]
        batches.append(batch[n_roles[batch] == n_roles[batch[0]]])
        start += len(batches[-1])
    return batches


def _with_points(
    bins: Bins,
    XT: np.ndarray,
    y: np.ndarray,
    roles: np.ndarray,
    sizes: np.ndarray | None,
    weights: np.ndarray | None,
) -> Bins:
    """Replace the sorted values of the columns by the cut points of the sub-problems.

    `sizes` are the weights of the sorted values, `weights` those of the rows or of XT; or None.
    The midpoint of two neighbouring floating-point numbers is one of them: such tables are counted
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
    weights = np.broadcast_to(1 if weights is None else weights, XT.shape)
    if sizes is not None:  # the rows whose weights add up to that
        sums = np.cumsum(sizes, axis=1)
        found = [np.searchsorted(sums[f], n, "right") for f, n in zip(columns, rows, strict=True)]
        rows = np.array(found, np.int64)
    below, above = bins.points[columns, rows - 1], bins.points[columns, rows]
    with np.errstate(over="ignore", invalid="ignore"):
        points = (below + above) / 2.0
    for again in np.unique(table[~((below <= points) & (points < above))]):
        f, s = divmod(int(again), bins.n_bins.shape[1])
        counted = bins.tables[starts[again] : starts[again] + n_bins[again]]
        counted[:] = _count_by_value(
            XT[f], roles[s][y], points[table == again], counted.shape, weights[f]
        )
    return bins._replace(points=points)


def _count_by_value(
    x: np.ndarray,
    local: np.ndarray,
    points: np.ndarray,
    shape: tuple[int, int],
    weights: np.ndarray,
) -> np.ndarray:
    """Count the rows by bin, the number of points strictly below the value, and class."""
    is_known = (x == x) & (local >= 0)
    counts = np.zeros(shape, np.int64)
    bins = np.searchsorted(points, x[is_known])
    np.add.at(counts, (bins, local[is_known]), weights[is_known])
    return counts


@njit
def sum_tables(counts, n_bins, rows, columns, sums):
    """Fill in n, L(n), CHI and the sums of L(T_ij), L(row_i), L(col_j), L(T_ij) - L(row_i)."""
    n_classes = counts.shape[1]
    end = np.int64(0)
    for table in range(n_bins.shape[0]):
        begin = end
        end += n_bins[table]
        for j in range(n_classes):
            columns[j] = 0.0
        n = chi = l_cells = l_rows = l_columns = within = 0.0
        for i in range(begin, end):
            row = 0.0
            for j in range(n_classes):
                count = counts[i, j]
                if count > 0.0:
                    cell = count * math.log(count)
                    row += count
                    columns[j] += count
                    l_cells += cell
                    within += cell
            rows[i] = row
            n += row
            if row > 0.0:
                cell = row * math.log(row)
                l_rows += cell
                within -= cell
        if n_bins[table] < 2 or n == 0.0:
            continue
        # chi-square without continuity correction over the rows and columns that are not empty
        for i in range(begin, end):
            for j in range(n_classes):
                if rows[i] > _EMPTY and columns[j] > _EMPTY:
                    expected = (columns[j] * rows[i]) / n
                    difference = counts[i, j] - expected
                    chi += difference * difference / expected
        for j in range(n_classes):
            if columns[j] > 0.0:
                l_columns += columns[j] * math.log(columns[j])
        sums[0, table] = n
        sums[1, table] = n * math.log(n)
        sums[2, table] = chi
        sums[3, table] = l_cells
        sums[4, table] = l_rows
        sums[5, table] = l_columns
        sums[6, table] = within
