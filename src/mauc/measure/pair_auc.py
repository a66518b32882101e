"""AUC of every feature on every class pair, by the path that suits a block of columns.

The kernels count *wins*: for each column and each pair of classes i < j, in the order
(0, 1), (0, 2), ..., the number 2 * #(x_i > x_j) + #(x_i = x_j) over all rows of class i and
class j (Eq. 13-14 of the paper, doubled so that it is an integer). Dividing once by
2 n_i n_j gives the AUC.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from mauc.checks import check_choice
from mauc.data.arguments import CategoricalFeatures, Client, MatrixLike
from mauc.data.columns import ColumnBlock, SparseColumns
from mauc.data.door import AUCS, FitOptions, make_problem, open_input
from mauc.data.problem import MISSING, Decomposition, MissingRule, Problem
from mauc.data.source import ColumnSource
from mauc.data.weights import pair_mean
from mauc.engine.arrays import mean_of_quotients, n_pairs_of, read_only
from mauc.engine.keys import key_blocks, label_bits_of, relabel, sort_columns, sort_with_rows
from mauc.engine.levels import MAX_LEVELS, can_count, count_levels, find_levels
from mauc.engine.nominal import CategoryCounts, count_categories, nominal_pair_auc, nominal_rest_auc
from mauc.engine.ordered import rank_ordered, sweep_ordered_columns, sweep_sparse_columns
from mauc.engine.sweep import sweep_keys
from mauc.exceptions import MaucError

_MIN_SHARE = 16  # AUCs are kept where 1/16 of the features or more are selected
_MAX_KEPT = 2**22  # values


def feature_pair_auc(
    X: MatrixLike,
    y: ArrayLike,
    *,
    folded: bool = True,
    missing: MissingRule = "tie",
    sample_weight: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = None,
    n_jobs: int | None = None,
    client: Client = None,
) -> np.ndarray:
    """Compute the AUC of every feature on every pair of classes.

    One sort per feature serves all pairs.

    Parameters
    ----------
    X : array-like, sparse matrix or source of shape (n_samples, n_features)
        Infinities are ordinary extreme values. Columns of a source, see `mauc.open_columns`, are
        read in blocks.
    y : array-like of shape (n_samples,)
        Class labels.
    folded : bool, default=True
        Return max(A, 1 - A); otherwise A, the AUC with the first class of the pair as the
        higher one, which nominal columns do not have.
    missing : {"tie", "side"}, default="tie"
        What a missing number is to the AUC: tied with every value, or below or above all of them,
        whichever separates the two classes better, as trees do; see docs/methods/selectors.md.
    sample_weight : array-like of shape (n_samples,), optional
        A pair of samples counts with the product of their weights.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Their AUC is leave-pair-out, see `mauc.MDFS`.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    client : distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, such as "tcp://host:8786", whose workers
        read the columns of X, a source (`mauc.open_columns`). The result is the same to the bit.

    Returns
    -------
    pair_auc : ndarray of shape (n_features, n_pairs)
        Pairs of the sorted labels in the order (0, 1), (0, 2), ..., (c-2, c-1).

    Examples
    --------
    Of the four pairs, three are in order and one is a tie:

    >>> import numpy as np
    >>> from mauc import feature_pair_auc
    >>> feature_pair_auc(np.array([[1], [2], [2], [3]]), [0, 0, 1, 1])
    array([[0.875]])
    """
    check_choice("missing", missing, MISSING)
    options = FitOptions(AUCS, categorical_features=categorical_features, missing=missing)
    X, y, sample_weight, joined = open_input(X, y, sample_weight, client)
    with joined as executor:
        problem = make_problem(X, y, options, sample_weight, executor=executor)
        return _all_pair_auc(problem, folded, n_jobs)


def _all_pair_auc(problem: Problem, folded: bool, n_jobs: int | None = None) -> np.ndarray:
    """Return the AUCs of all columns of a problem."""
    if not folded and problem.is_nominal.any():
        raise MaucError(
            f"folded must be True for nominal columns, whose categories have no order, "
            f"got False with nominal column {int(np.argmax(problem.is_nominal))}."
        )
    return _fill_pair_auc(problem, None, n_jobs, folded=folded)


def _fill_pair_auc(
    problem: Problem, chosen: np.ndarray | None, n_jobs: int | None, *, folded: bool
) -> np.ndarray:
    """Return the AUCs of chosen columns, or of all, (n_chosen, n_pairs)."""
    n_pairs = problem.n_pairs
    pair_auc = np.empty((problem.n_features if chosen is None else len(chosen), n_pairs))
    for _ in problem.map(
        _write_pair_auc, folded, columns=chosen, out=(pair_auc,), n_scores=n_pairs, n_jobs=n_jobs
    ):
        pass
    return pair_auc


def _write_pair_auc(problem: Problem, columns: ColumnBlock, folded: bool, out: np.ndarray) -> None:
    """Write the AUCs of some columns."""
    if folded:
        out[:] = pair_auc_of(problem, columns)
    else:
        wins, max_wins = pair_wins(problem, columns)
        np.divide(wins, max_wins, out=out)


def missing_report(X: MatrixLike, y: ArrayLike) -> dict[int, dict[str, float]]:
    """Return what missing numbers tell of the classes, by column that lacks some.

    ``missing`` is their share, ``known_auc`` the mean folded AUC of the rows that have a value and
    ``missing_auc`` that of having none. A source is not read again: nothing is found.
    """
    import pandas as pd

    if isinstance(X, ColumnSource):
        return {}
    problem = make_problem(X, y, FitOptions(AUCS))
    missing = np.vstack([problem.missing_weights(block) for block in problem.blocks()])
    columns = np.flatnonzero(missing.any(axis=1))
    shares = missing[columns] / problem.class_counts
    first, second = (shares[:, side] for side in np.triu_indices(problem.n_classes, 1))
    known = (1 - first) * (1 - second)  # of the pairs of rows; the others are tied
    excess = chosen_pair_auc(problem, columns) - 0.5
    known_auc = 0.5 + np.divide(excess, known, out=np.zeros_like(excess), where=known > 0)
    found = {
        "missing": missing[columns].sum(axis=1) / problem.n_samples,
        "known_auc": known_auc.mean(axis=1),
        "missing_auc": 0.5 + np.abs(first - second).mean(axis=1) / 2,
    }
    return pd.DataFrame(found, index=columns).to_dict("index")


def chosen_pair_auc(problem: Problem, chosen: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the folded AUCs of chosen columns, an array, of shape (n_chosen, n_pairs)."""
    return _fill_pair_auc(problem, chosen, n_jobs, folded=True)


def pair_auc_of(problem: Problem, chosen: ColumnBlock) -> np.ndarray:
    """Return the folded AUCs of columns, leave-pair-out for nominal ones: (n_chosen, n_pairs)."""
    pair_auc = folded_auc(*pair_wins(problem, chosen))
    for slot, counts in unordered_columns(problem, chosen):
        pair_auc[slot] = nominal_pair_auc(counts)
    return pair_auc


def auc_relevance(
    problem: Problem,
    decomposition: Decomposition,
    chosen: ColumnBlock,
    pair_auc: np.ndarray | None = None,
) -> np.ndarray:
    """Return the folded AUC, see `MDFS`; `pair_auc` gets those of the columns on all pairs."""
    wins, max_wins = pair_wins(problem, chosen)
    folded = folded_auc(wins, max_wins)
    unordered = list(unordered_columns(problem, chosen))
    for row, counts in unordered:
        folded[row] = nominal_pair_auc(counts)
    if pair_auc is not None:
        pair_auc[:] = folded
    if decomposition.name == "one-vs-rest":
        folded = folded_auc(*_rest_wins(wins, max_wins, problem.auc_weights[2]))
        for row, counts in unordered:
            folded[row] = nominal_rest_auc(counts)
    if decomposition.name == "whole":
        return mean_over_pairs(problem, folded)[:, np.newaxis]
    return folded


def mean_over_pairs(problem: Problem, pair_auc: np.ndarray) -> np.ndarray:
    """Return the means of (n_features, n_pairs) AUCs, rounded once, or weighted by the pairs."""
    if problem.pair_shares is None:
        return mean_of_quotients(pair_auc, problem.max_wins)
    return pair_mean(pair_auc, problem.pair_shares)


def _rest_wins(
    wins: np.ndarray, max_wins: np.ndarray, exponents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sum pair wins, numerators and denominators, to the wins of each class over all others.

    The wins of classes i and j are in units of two to the power ``exponents[i] + exponents[j]``.
    """
    n_classes = len(exponents)
    first, second = np.triu_indices(n_classes, 1)
    rest = np.zeros((wins.shape[0], n_classes))  # whole numbers are exact up to 2**53
    rest_max = np.zeros(n_classes)
    heaviest = [np.delete(exponents, k).max() for k in range(n_classes)]
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        unit_i, unit_j = np.ldexp(1.0, [exponents[j] - heaviest[i], exponents[i] - heaviest[j]])
        rest[:, i] += unit_i * wins[:, pair]
        rest[:, j] += unit_j * (max_wins[pair] - wins[:, pair])
        rest_max[i] += unit_i * max_wins[pair]
        rest_max[j] += unit_j * max_wins[pair]
    return rest, rest_max


def unordered_columns(
    problem: Problem, chosen: ColumnBlock
) -> Iterator[tuple[int, CategoryCounts]]:
    """Yield the index in `chosen` and the `CategoryCounts` of columns whose values have no order.

    Two categories have an order, up to its direction, which does not matter to a folded AUC.
    """
    columns = np.arange(problem.n_features)[chosen]
    for slot in np.flatnonzero(problem.is_nominal[columns]):
        counts = category_counts(problem, int(columns[slot]))
        if not counts.is_ordered:
            yield int(slot), counts


def category_counts(problem: Problem, column: int) -> CategoryCounts:
    """Return the `CategoryCounts` of a nominal column."""
    values = problem.columns.floats([column])[0]
    return count_categories(values, problem.codes, problem.n_classes, problem.row_weights)


def allocate_pair_auc(problem: Problem, n_selected: int) -> np.ndarray | None:
    """Return an array for the pair AUCs of all features if keeping them pays, else None."""
    shape = (problem.n_features, problem.n_pairs)
    is_worth = n_selected * _MIN_SHARE >= problem.n_features and shape[0] * shape[1] <= _MAX_KEPT
    return np.empty(shape) if is_worth else None


def pair_wins(problem: Problem, chosen: ColumnBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return the wins of features, (n_chosen, n_pairs), and the largest possible wins, 2 n_i n_j.

    With extreme weights both are in units of the pair, see `scale_weights`.
    """
    known = problem.columns.known_wins
    if known is not None:
        return known[chosen], problem.max_wins
    weights, totals, _ = problem.auc_weights
    max_wins = problem.max_wins
    if isinstance(problem.columns, SparseColumns):
        if weights is None:
            weights = np.ones(problem.n_samples)
        data, indices, indptr = problem.columns.entries(chosen)
        wins = sparse_wins(data, indices, indptr, problem.codes, weights, totals)
    elif weights is not None:
        wins = weighted_wins(problem.columns.ordered(chosen), problem.codes, weights, totals)
    else:
        XT = problem.columns.ordered(chosen)
        wins = dense_wins(XT, problem.codes, problem.class_counts)
    if problem.missing == "side":
        wins = _to_side(problem, chosen, wins)
    if weights is not None:
        np.clip(wins, 0.0, max_wins, out=wins)  # sums of weights are rounded
    return wins, max_wins


def _to_side(problem: Problem, chosen: ColumnBlock, wins: np.ndarray) -> np.ndarray:
    """Move missing values, which tie in `wins`, below or above all others, as separates better.

    Of m_i and m_j missing values, that changes the wins by n_i m_j - m_i n_j, up or down.
    """
    missing, totals = problem.missing_weights(chosen), problem.auc_weights[1]
    first, second = np.triu_indices(problem.n_classes, 1)
    moved = np.abs(totals[first] * missing[:, second] - missing[:, first] * totals[second])
    return wins + np.where(2 * wins < problem.max_wins, -moved, moved)


def dense_wins(XT: np.ndarray, y: np.ndarray, class_counts: np.ndarray) -> np.ndarray:
    """Count the wins of columns, one per row of `XT`: int64 of shape (n_features, n_pairs)."""
    if not can_count(len(y), len(class_counts)):
        return _sweep(XT, y, class_counts)
    if XT.dtype == np.uint8:
        return count_levels(XT, y, class_counts, XT.max(axis=1) + np.int64(1))
    LT, n_levels, n_missing = find_levels(XT)
    wins = np.empty((len(XT), n_pairs_of(len(class_counts))), np.int64)
    for columns in _all_or_some(n_levels > 0):
        missing_counts = np.zeros((len(n_levels[columns]), len(class_counts)), np.int64)
        for j in np.flatnonzero(n_missing[columns]):
            missing_counts[j] = np.bincount(
                y[np.isnan(XT[columns][j])], minlength=len(class_counts)
            )
        wins[columns] = count_levels(
            read_only(LT[columns]), y, class_counts, n_levels[columns], missing_counts
        )
    for columns in _all_or_some(n_levels == 0):
        wins[columns] = _sweep(XT[columns], y, class_counts)
    return wins


def _all_or_some(is_chosen: np.ndarray) -> Iterator[slice | np.ndarray]:
    """Yield a slice if all columns are chosen, their numbers if some are; nothing if none is."""
    if is_chosen.all():
        yield slice(None)
    elif is_chosen.any():
        yield np.flatnonzero(is_chosen)


def weighted_wins(
    XT: np.ndarray,
    y: np.ndarray,
    sample_weight: np.ndarray,
    class_weights: np.ndarray,
    orders: np.ndarray | None = None,
) -> np.ndarray:
    """Sum the wins of dense columns, float64; a pair of rows counts with weight w_a w_b."""
    if XT.dtype == np.uint8:
        XT = read_only(XT.astype(np.float32))
    wins = np.empty((XT.shape[0], n_pairs_of(class_weights.shape[0])), np.float64)
    orders = np.argsort(XT, axis=1) if orders is None else orders
    sweep_ordered_columns(XT, orders, y, sample_weight, class_weights, wins)
    return wins


def sparse_wins(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    y: np.ndarray,
    sample_weight: np.ndarray,
    class_weights: np.ndarray,
) -> np.ndarray:
    """Sum the wins of the columns of a CSC matrix, float64, without filling in its zeros."""
    wins = np.empty((indptr.shape[0] - 1, n_pairs_of(class_weights.shape[0])), np.float64)
    sweep_sparse_columns(data, indices, indptr, y, sample_weight, class_weights, wins)
    return wins


def _sweep(XT: np.ndarray, y: np.ndarray, class_counts: np.ndarray) -> np.ndarray:
    label_bits = label_bits_of(class_counts.shape[0])
    wins = np.empty((XT.shape[0], n_pairs_of(class_counts.shape[0])), np.int64)
    for part in key_blocks(XT):
        keys, n_known = sort_columns(XT[part], y, label_bits)
        wins[part] = sweep_keys(keys, n_known, class_counts, label_bits)
    return wins


def folded_auc(wins: np.ndarray, max_wins: np.ndarray) -> np.ndarray:
    """Return AUCs folded around 1/2, as counts: x and -x then have the same bits."""
    folded = max_wins - wins
    np.maximum(folded, wins, out=folded)
    folded /= max_wins
    return folded


class OrderWriter(Protocol):
    """What is told the order of columns; `columns` are positions in the block."""

    def write_levels(self, LT: np.ndarray, level_counts: np.ndarray, columns: np.ndarray) -> None:
        """Take columns of bytes without missing values."""

    def write_sorted(
        self, keys: np.ndarray, n_known: np.ndarray, row_bits: int, columns: np.ndarray
    ) -> None:
        """Take sorted columns."""

    def write_ranks(self, ranks: np.ndarray, tied: np.ndarray, columns: np.ndarray) -> None:
        """Take the centred ranks of columns."""


class WinCounter:
    """Counts the wins of dense columns and passes on what it learns of their order.

    The keys of sorted columns number the `rows` in their order. Of rows with weights the writer
    gets the centred ranks instead, see `rank_ordered`.
    """

    def __init__(self, problem: Problem, rows: np.ndarray):
        self._problem, self._rows = problem, rows
        self._labels = np.empty(problem.n_samples, np.int32)
        self._labels[rows] = np.arange(len(rows), dtype=np.int32)
        # They are read in the order of the values: fewer bytes, more of them in a cache.
        is_narrow = problem.n_classes <= 256
        self._codes = problem.codes[rows].astype(np.uint8 if is_narrow else np.int32)

    def read(self, block: ColumnBlock, writer: OrderWriter) -> np.ndarray:
        """Return the wins of the columns of a block, of shape (n_columns, n_pairs)."""
        XT = self._problem.columns.ordered(block)
        columns = np.arange(len(XT))
        if self._problem.sample_weight is not None:
            return self._read_weighted(XT, columns, writer)
        if not can_count(XT.shape[1], self._problem.n_classes):
            values = read_only(XT.astype(np.float32)) if XT.dtype == np.uint8 else XT
            return self._read_values(values, columns, writer)
        if XT.dtype == np.uint8:
            return self._read_levels(XT, XT.max(axis=1) + np.int64(1), columns, writer)
        LT, n_levels, n_missing = find_levels(XT)
        has_levels = (n_levels > 0) & (n_missing == 0)
        wins = np.empty((len(XT), len(self._problem.max_wins)), np.int64)
        for chosen in _all_or_some(has_levels):
            wins[chosen] = self._read_levels(
                read_only(LT[chosen]), n_levels[chosen], columns[chosen], writer
            )
        for chosen in _all_or_some(~has_levels):
            wins[chosen] = self._read_values(XT[chosen], columns[chosen], writer)
        return wins

    def write_order(self, XT: np.ndarray, columns: np.ndarray, writer: OrderWriter) -> None:
        """Tell the writer the order of values that are given, without counting wins."""
        if self._problem.sample_weight is not None:
            self._write_ranks(XT, np.argsort(XT, axis=1, kind="stable"), columns, writer)
            return
        for part in key_blocks(XT):
            self._write_sorted(XT[part], columns[part], writer)

    def _read_weighted(
        self, XT: np.ndarray, columns: np.ndarray, writer: OrderWriter
    ) -> np.ndarray:
        # Stable: equal values are summed in the order of the rows, whatever rows are left out.
        problem, orders = self._problem, np.argsort(XT, axis=1, kind="stable")
        weights, totals, _ = problem.auc_weights
        assert weights is not None
        wins = weighted_wins(XT, problem.codes, weights, totals, orders)
        self._write_ranks(XT, orders, columns, writer)
        return np.clip(wins, 0.0, problem.max_wins, out=wins)  # sums of weights are rounded

    def _read_levels(
        self, LT: np.ndarray, n_levels: np.ndarray, columns: np.ndarray, writer: OrderWriter
    ) -> np.ndarray:
        problem, level_counts = self._problem, np.zeros((len(LT), MAX_LEVELS), np.int64)
        wins = count_levels(
            LT, problem.codes, problem.class_counts, n_levels, level_counts=level_counts
        )
        writer.write_levels(LT, level_counts[:, : n_levels.max()], columns)
        return wins

    def _read_values(self, XT: np.ndarray, columns: np.ndarray, writer: OrderWriter) -> np.ndarray:
        label_bits = label_bits_of(self._problem.n_classes)
        wins = np.empty((len(XT), len(self._problem.max_wins)), np.int64)
        for part in key_blocks(XT):
            keys, n_known, row_bits = self._write_sorted(XT[part], columns[part], writer)
            relabel(keys, n_known, row_bits, self._codes, label_bits)
            wins[part] = sweep_keys(keys, n_known, self._problem.class_counts, label_bits)
        return wins

    def _write_ranks(
        self, XT: np.ndarray, orders: np.ndarray, columns: np.ndarray, writer: OrderWriter
    ) -> None:
        ranks, tied = np.empty(XT.shape), np.empty(len(XT))
        rank_ordered(XT, orders, self._problem.sample_weight, ranks, tied)
        writer.write_ranks(ranks, tied, columns)

    def _write_sorted(
        self, XT: np.ndarray, columns: np.ndarray, writer: OrderWriter
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Sort columns, tell the writer, and return their keys, known values and bits of a row."""
        keys, n_known, row_bits = sort_with_rows(XT, self._labels, self._rows)
        writer.write_sorted(keys, n_known, row_bits, columns)
        return keys, n_known, row_bits
