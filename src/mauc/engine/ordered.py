"""Sum class-pair wins over columns in sorted order: weights and sparse columns.

The order of a column is given as row numbers, weights are floats, and the rows that a
sparse column does not store form one group at zero. With unit weights all sums are whole
numbers below 2**53 and therefore exact: the results have the bits of the integer kernels.
"""

import numpy as np

from mauc.compile import njit


@njit
def sweep_ordered(values, codes, weights, implicit, missing, class_weights, out):
    """Sum the wins of one column.

    `values` are its known values in ascending order, `codes` and `weights` those of their rows;
    `implicit` is the weight of the rows of each class that are zero without being stored, `missing`
    of those whose value is missing. `out`, of shape (n_pairs,), is filled with the sum of
    w_a w_b (2 [x_a > x_b] + [x_a = x_b]) over rows a of class i and b of class j, for i < j; a
    missing value counts as equal to every other.
    """
    n_classes = implicit.shape[0]
    below = np.zeros(n_classes, np.float64)
    tied = np.zeros(n_classes, np.float64)
    wins = np.zeros((n_classes, n_classes), np.float64)
    zero_is_due = implicit.any()
    i = 0
    # values[:i] are counted in `below`, and the group at zero is unless it is still due.
    while i < values.shape[0] or zero_is_due:
        value = values[i] if i < values.shape[0] else np.inf
        holds_implicit = zero_is_due and value >= 0.0
        if holds_implicit:
            value = 0.0
            tied[:] = implicit
            zero_is_due = False
        first = i
        while i < values.shape[0] and values[i] == value:
            tied[codes[i]] += weights[i]
            i += 1
        if i - first == 1 and not holds_implicit:
            # A single row: only its own class wins anything.
            k = codes[first]
            _add_group(k, tied, below, wins)
            below[k] += tied[k]
            tied[k] = 0.0
        else:
            for k in range(n_classes):
                if tied[k] != 0.0:
                    _add_group(k, tied, below, wins)
            for k in range(n_classes):
                below[k] += tied[k]
                tied[k] = 0.0
    pair = 0
    for a in range(n_classes):
        for b in range(a + 1, n_classes):
            out[pair] = wins[a, b]
            if missing[a] != 0.0 or missing[b] != 0.0:
                known = (class_weights[a] - missing[a]) * (class_weights[b] - missing[b])
                out[pair] += class_weights[a] * class_weights[b] - known
            pair += 1


@njit
def _add_group(k, tied, below, wins):
    for j in range(tied.shape[0]):
        wins[k, j] += tied[k] * (2.0 * below[j] + tied[j])


@njit
def sweep_ordered_columns(XT, orders, y, sample_weight, class_weights, out):
    """Sum the wins of dense columns, given their orders (missing values last)."""
    n_classes = class_weights.shape[0]
    implicit = np.zeros(n_classes, np.float64)
    for j in range(XT.shape[0]):
        missing = np.zeros(n_classes, np.float64)
        n_known = XT.shape[1]
        while n_known > 0 and XT[j, orders[j, n_known - 1]] != XT[j, orders[j, n_known - 1]]:
            n_known -= 1
            row = orders[j, n_known]
            missing[y[row]] += sample_weight[row]
        order = orders[j, :n_known]
        values = np.empty(n_known, np.float64)
        for i in range(n_known):
            values[i] = XT[j, order[i]]
        sweep_ordered(
            values, y[order], sample_weight[order], implicit, missing, class_weights, out[j]
        )


@njit
def rank_ordered(XT, orders, weights, ranks, tied):
    """Fill in centred ranks, the weight of the rows below less that above, 0 of missing values.

    ``tied[j]`` becomes the weight of the ordered pairs of rows that tie in column j, each row with
    itself among them; a missing value ties with every row.
    """
    for j in range(XT.shape[0]):
        x, order, target = XT[j], orders[j], ranks[j]
        n_known, known, missing = 0, 0.0, 0.0
        for row in order:
            if x[row] == x[row]:
                n_known += 1
                known += weights[row]
            else:
                missing += weights[row]
                target[row] = 0.0
        tied[j] = missing * (missing + 2.0 * known)
        start, below = 0, 0.0
        # order[:start] are below the next run of equal values, with weight `below`
        while start < n_known:
            stop, equal = start, 0.0
            while stop < n_known and x[order[stop]] == x[order[start]]:
                equal += weights[order[stop]]
                stop += 1
            for i in range(start, stop):
                target[order[i]] = 2.0 * below + equal - known
            tied[j] += equal * equal
            below += equal
            start = stop


@njit
def sweep_sparse_columns(data, indices, indptr, y, sample_weight, class_weights, out):
    """Sum the wins of the columns of a CSC matrix; values that are not stored are 0."""
    n_classes = class_weights.shape[0]
    for j in range(indptr.shape[0] - 1):
        implicit = class_weights.copy()
        missing = np.zeros(n_classes, np.float64)
        values = np.empty(indptr[j + 1] - indptr[j], np.float64)
        rows = np.empty(values.shape[0], np.int64)
        n_known = 0
        for i in range(indptr[j], indptr[j + 1]):
            row, value = indices[i], np.float64(data[i])
            implicit[y[row]] -= sample_weight[row]
            if value == value:
                values[n_known], rows[n_known] = value, row
                n_known += 1
            else:
                missing[y[row]] += sample_weight[row]
        order = np.argsort(values[:n_known])
        rows = rows[order]
        sweep_ordered(
            values[order], y[rows], sample_weight[rows], implicit, missing, class_weights, out[j]
        )


@njit
def class_wins(ST, orders, codes, weights, out):
    """Sum, for class i and column i of ST, the wins of its samples over those of every class j.

    ``out[i, j]`` is the sum of w_a w_b (2 [s_a > s_b] + [s_a = s_b]) over samples a of class i and
    b of class j, s being column i, which ``orders[i]`` sorts.
    """
    n_classes, n = ST.shape
    below = np.empty(n_classes, np.float64)
    tied = np.zeros(n_classes, np.float64)
    for i in range(n_classes):
        scores, order = ST[i], orders[i]
        for j in range(n_classes):
            below[j] = 0.0
            out[i, j] = 0.0
        start = 0
        while start < n:
            # order[start:stop] share a score; `below` holds all classes' weight before them.
            stop = start
            while stop < n and scores[order[stop]] == scores[order[start]]:
                tied[codes[order[stop]]] += weights[order[stop]]
                stop += 1
            own = tied[i]
            if own != 0.0:
                for j in range(n_classes):
                    out[i, j] += own * (2.0 * below[j] + tied[j])
            for i_tied in range(start, stop):
                k = codes[order[i_tied]]
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop
