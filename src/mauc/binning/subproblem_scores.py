"""CHI, SU and IG of MDL-discretised columns on any set of sub-problems.

Columns, class codes and a role matrix give one score per column and sub-problem. The
role matrix says what each class becomes in each sub-problem: roles[s, k] is the class of
sub-problem s that class k becomes, -1 when its rows are left out. So the whole problem is
(0, 1, ..., c - 1), class k against the rest has 1 at k and 0 elsewhere, the pair (i, j) has 0 at
i, 1 at j and -1 elsewhere. Each sub-problem is discretised against its own classes; the sort and
the compression of a column are shared by all of them.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from mauc.binning.contingency import (
    N_STATISTICS,
    fill_by_block,
    fill_by_run,
    fill_by_value,
    fold_classes,
    n_roles,
    table_scores,
)
from mauc.binning.mdl_binary import (
    block_class_against_rest,
    block_class_pair,
    cut_blocks,
    empty_blocks,
)
from mauc.binning.mdl_cuts import cut_runs, make_logs
from mauc.binning.value_runs import (
    compress_runs,
    empty_class_lists,
    empty_runs,
    fill_class_lists,
    sort_column,
)

# kinds of sub-problems: one class against all others, two classes, anything else
_AGAINST_REST, _PAIR, _GROUPED = 0, 1, 2

Column = namedtuple("Column", ["values", "codes", "missing", "runs", "lists"])
"""One sorted column: known values, their codes, missing values per class (1, n_classes), runs."""

Work = namedtuple("Work", ["logs", "identity", "part", "blocks", "cuts", "s_of", "near", "points"])
"""Tables and work space shared by the sub-problems; `points` receives the cut points."""


@njit(cache=True, nogil=True)
def empty_column(n, n_classes):
    """Return work space for a column of at most `n` known values."""
    return Column(
        np.empty(n, np.float64),
        np.empty(n, np.int32),
        np.zeros((1, n_classes), np.int64),
        empty_runs(n),
        empty_class_lists(n, n_classes),
    )


@njit(cache=True, nogil=True)
def empty_work(n, n_classes):
    """Return work space for the sub-problems of columns of at most `n` known values."""
    identity = np.empty(n_classes, np.int32)
    for k in range(n_classes):
        identity[k] = k
    return Work(
        make_logs(n, n_classes),
        identity,
        empty_runs(n),
        empty_blocks(n),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.float64),
    )


@njit(cache=True, nogil=True)
def classify_roles(role):
    """Return how a sub-problem is treated.

    Returns
    -------
    kind, class_0, class_1 : int
        The two classes of a pair. Against the rest, class_1 is the single class and class_0 its
        role (0 or 1).
    """
    n_left_out = 0
    n_higher = 0
    n_of = np.zeros(2, np.int64)
    one_of = np.zeros(2, np.int64)
    for k in range(len(role)):
        if role[k] < 0:
            n_left_out += 1
        elif role[k] > 1:
            n_higher += 1
        else:
            n_of[role[k]] += 1
            one_of[role[k]] = k
    kind, class_0, class_1 = _GROUPED, np.int64(0), np.int64(0)
    if n_higher == 0 and n_of[0] == 1 and n_of[1] == 1:
        kind, class_0, class_1 = _PAIR, one_of[0], one_of[1]
    elif n_higher == 0 and n_left_out == 0 and n_of[0] > 0 and n_of[1] > 0:
        if n_of[1] == 1:
            kind, class_0, class_1 = _AGAINST_REST, np.int64(1), one_of[1]
        elif n_of[0] == 1:
            kind, class_0, class_1 = _AGAINST_REST, np.int64(0), one_of[0]
    return kind, class_0, class_1


@njit(cache=True, nogil=True)
def discretize_subproblem(column, n_known, n_runs, role, is_whole, work):
    """Discretise one column against the classes of one sub-problem.

    Parameters
    ----------
    column : Column
        Sorted column with its runs and class lists.
    n_known, n_runs : int
    role : ndarray of shape (n_classes,), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.
    is_whole : bool
        Whether the roles are those of the whole problem, so that its runs can be used.
    work : Work
        ``work.points`` is filled with the cut points, ascending.

    Returns
    -------
    counts : ndarray of shape (n_cuts + 1, n_local), int64
        Known values by bin and class.
    """
    runs, blocks, cuts, points = column.runs, work.blocks, work.cuts, work.points
    kind, class_0, class_1 = classify_roles(role)
    if kind == _GROUPED:
        n_part = n_runs
        if not is_whole:
            runs = work.part
            n_part = compress_runs(column.values, column.codes, n_known, role, runs)
        n_local = n_roles(role)
        n_cuts = cut_runs(runs, n_part, n_local, work.logs, cuts, work.s_of, work.near)
        counts = np.empty((n_cuts + 1, n_local), np.int64)
        fill_by_run(runs, n_part, cuts, n_cuts, counts)
    else:
        if kind == _PAIR:
            n_blocks = block_class_pair(column.lists, class_0, class_1, blocks)
        else:
            n_blocks = block_class_against_rest(
                runs, n_runs, column.lists, class_1, class_0, blocks
            )
        n_cuts = cut_blocks(blocks, n_blocks, work.logs, cuts, work.s_of, work.near)
        counts = np.empty((n_cuts + 1, 2), np.int64)
        fill_by_block(blocks, n_blocks, cuts, n_cuts, counts)
    is_separated = True
    for q in range(n_cuts):
        if kind == _GROUPED:
            below, above = runs.value[cuts[q]], runs.value[cuts[q] + 1]
        else:
            below, above = runs.value[blocks.last[cuts[q] - 1]], runs.value[blocks.first[cuts[q]]]
        points[q] = (below + above) / 2.0
        is_separated = is_separated and below <= points[q] < above
    # The bins are those of the cut points, which need not separate the values as the cuts do: the
    # midpoint of two neighbouring floating-point numbers is one of them.
    if not is_separated:
        fill_by_value(column.values, column.codes, n_known, role, points, n_cuts, counts)
    return counts


@njit(cache=True, nogil=True)
def are_whole(roles):
    """Return, for each sub-problem, whether every class keeps its own number."""
    flags = np.empty(len(roles), np.bool_)
    for s in range(len(roles)):
        flags[s] = True
        for k in range(roles.shape[1]):
            flags[s] &= roles[s, k] == k
    return flags


@njit(cache=True, nogil=True)
def subproblem_scores(XT, y, roles, statistics, out):
    """Score columns on each sub-problem after supervised MDL discretisation.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    roles : ndarray of shape (n_subproblems, n_classes), int32
        Class of the sub-problem that each class becomes, -1 when its rows are left out.
    statistics : ndarray of int64
        Wanted scores, of CHI = 0, SU = 1 and IG = 2.
    out : ndarray of shape (len(statistics), n_features, n_subproblems), float64
        Filled.
    """
    n = len(y)
    column = empty_column(n, roles.shape[1])
    work = empty_work(n, roles.shape[1])
    keys = np.empty(n, np.uint64)
    spare = np.empty(n, np.uint64)
    scores = np.empty(N_STATISTICS)
    is_whole = are_whole(roles)
    for f in range(XT.shape[0]):
        n_known = sort_column(XT[f], y, column.values, column.codes, column.missing[0], keys, spare)
        n_runs = compress_runs(column.values, column.codes, n_known, work.identity, column.runs)
        fill_class_lists(column.runs, n_runs, column.lists)
        for s in range(len(roles)):
            counts = discretize_subproblem(column, n_known, n_runs, roles[s], is_whole[s], work)
            missing = np.empty((1, counts.shape[1]), np.int64)
            fold_classes(column.missing, roles[s], missing)
            table_scores(counts, missing[0], work.logs.vlogv, scores)
            for q in range(len(statistics)):
                out[q, f, s] = scores[statistics[q]]


@njit(cache=True, nogil=True)
def mdl_cut_points(XT, y, role):
    """Find the MDL cut points of each column.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns; NaN is missing.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    role : ndarray of shape (n_classes,), int32
        ``arange(n_classes)`` for the whole problem, or one row of a role matrix.

    Returns
    -------
    points : ndarray of float64
        Cut points of all columns, ascending within a column.
    offsets : ndarray of shape (n_features + 1,), int64
        Column f has ``points[offsets[f]:offsets[f + 1]]``.
    """
    n = len(y)
    column = empty_column(n, len(role))
    work = empty_work(n, len(role))
    keys = np.empty(n, np.uint64)
    spare = np.empty(n, np.uint64)
    is_whole = are_whole(role.reshape(1, len(role)))[0]
    points = np.empty(16 * XT.shape[0] + 16, np.float64)
    offsets = np.zeros(XT.shape[0] + 1, np.int64)
    for f in range(XT.shape[0]):
        n_known = sort_column(XT[f], y, column.values, column.codes, column.missing[0], keys, spare)
        n_runs = compress_runs(column.values, column.codes, n_known, work.identity, column.runs)
        fill_class_lists(column.runs, n_runs, column.lists)
        n_cuts = len(discretize_subproblem(column, n_known, n_runs, role, is_whole, work)) - 1
        begin = offsets[f]
        end = begin + n_cuts
        if end > len(points):
            wider = np.empty(2 * end, np.float64)
            for q in range(begin):
                wider[q] = points[q]
            points = wider
        for q in range(n_cuts):
            points[begin + q] = work.points[q]
        offsets[f + 1] = end
    return points[: offsets[-1]].copy(), offsets
