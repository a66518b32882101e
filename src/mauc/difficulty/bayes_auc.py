"""Cross-validated AUC of Naive Bayes on every class pair.

Pairs share no densities, whose precision depends on both classes, but the order of the values in
each class: the training values of a pair are merged from it, not sorted.
"""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
from sklearn.utils import gen_batches

from mauc.classifiers.likelihood import (
    fit_column,
    keep_from_vanishing,
    normal_cell,
    scale_and_precision,
)
from mauc.compile import njit, njit_part
from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem
from mauc.metrics.mauc import ClassPairs
from mauc.parallel import run_blocks

_BLOCK_CELLS = 2**20  # of a task: rows times columns of its pairs
_MAX_COMPARED = 2**16  # samples of one class times those of the other: beyond, scores are sorted


def pair_bayes_auc(
    problem: Problem, n_folds: int, seed: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return the mean AUC of `NormalNaiveBayes` over stratified folds of every pair, to the bit.

    It is NaN for a pair with a class of one sample.
    """
    rows, starts, _ = problem.by_class
    columns = np.empty((problem.n_features, problem.n_samples))
    orders = np.empty(columns.shape, np.int32)
    for block in problem.blocks():
        columns[block] = problem.columns.floats(block)[:, rows]
        for first, end in pairwise(starts):
            orders[block, first:end] = np.argsort(columns[block, first:end], axis=1, kind="stable")
    n_values = np.zeros(problem.n_features, np.int64)  # of nominal columns; 0 marks numbers
    for column in np.flatnonzero(problem.is_nominal):
        known = columns[column][~np.isnan(columns[column])]
        n_values[column] = 1 + int(known.max(initial=0))
    first_rows = rows[starts[:-1]]  # of each class in the table

    def measure(pair: np.ndarray) -> float:
        counts = problem.class_counts[pair]
        n_splits = min(n_folds, *counts)
        if n_splits < 2:
            return np.nan
        # The class that comes first in the table is shuffled first.
        is_turned = first_rows[pair[0]] > first_rows[pair[1]]
        parts = fold_numbers(*counts[:: -1 if is_turned else 1], n_splits, seed)
        folds = np.concatenate(parts[:: -1 if is_turned else 1])
        codes = np.repeat(np.array([0, 1], np.int32), counts)
        probabilities = _priors(codes, folds, n_splits)[folds]
        work = np.ones((4, len(folds)))
        counters = np.zeros((max(1, n_values.max()), 2), np.int64)
        multiply_pair(
            columns, orders, n_values, starts[pair], counts, codes, folds, n_splits, work,
            np.empty_like(codes), counters, probabilities,
        )  # fmt: skip
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        if counts[0] * counts[1] <= _MAX_COMPARED:
            wins = np.zeros((n_splits, 4), np.int64)
            count_wins(probabilities, folds, int(counts[0]), wins)
            scale = 2.0 * wins[:, 2] * wins[:, 3]
            return float(np.mean((wins[:, 0] / scale + wins[:, 1] / scale) / 2))
        tests = [folds == fold for fold in range(n_splits)]
        values = [ClassPairs(codes[test], np.arange(2)).mauc(probabilities[test]) for test in tests]
        return float(np.mean(values))

    def measure_block(block: slice) -> list[float]:
        return [measure(pair) for pair in pairs[block]]

    pairs = Decomposition("one-vs-one", problem.n_classes).members
    cells = 2 * columns.size // problem.n_classes
    width = min(64, 1 + _BLOCK_CELLS // cells)
    blocks = gen_batches(len(pairs), width)
    parts = run_blocks(measure_block, blocks, n_jobs, unit="blocks of class pairs")
    return np.concatenate([auc for _, auc in parts])


@lru_cache(maxsize=2**16)
def fold_numbers(
    n_first: int, n_second: int, n_splits: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the test fold of every sample of two classes, as ``StratifiedKFold`` shuffles them."""
    generator = np.random.RandomState(seed)
    folds = np.arange(n_splits)
    # Sorted by class, every n_splits-th sample goes to the same fold.
    in_first = -((folds - n_first) // n_splits)
    in_both = -((folds - n_first - n_second) // n_splits)
    parts = []
    for counts in (in_first, in_both - in_first):
        part = np.repeat(folds, counts)
        generator.shuffle(part)
        parts.append(part.astype(np.int32))
    return parts[0], parts[1]


def _priors(codes: np.ndarray, folds: np.ndarray, n_splits: int) -> np.ndarray:
    """Return the priors of both classes, (n_splits, 2), without the rows of each fold."""
    tested = np.bincount(2 * folds + codes, minlength=2 * n_splits).reshape(-1, 2)
    totals = tested.sum(axis=0) - tested
    return (totals + 1.0) / (totals.sum(axis=1, keepdims=True) + 2.0)


@njit(cache=True, nogil=True)
def multiply_pair(
    columns, orders, n_values, starts, counts, codes, folds, n_splits, work, train_codes, counters,
    out,
):  # fmt: skip
    """Multiply into `out`, (n_rows, 2), the likelihoods of all columns, a row's fold left out.

    `columns` hold the rows class after class, `orders` the ranks within each class; `n_values` is 0
    for numbers, else the number of categories. Work space: `work` (4, n_rows), its last row all 1,
    `train_codes`, and `counters`, all 0, also at the end.
    """
    n_rows = len(folds)
    values, ordered, train, weights = work[0], work[1], work[2], work[3]
    sums, means, deviations = np.empty((2, 4)), np.empty(2), np.empty(2)
    for j in range(columns.shape[0]):
        for i in range(n_rows):
            values[i] = columns[j, starts[codes[i]] + i - codes[i] * counts[0]]
        for fold in range(n_splits):
            if n_values[j] > 0:
                _multiply_categories(values, codes, folds, fold, counters, out)
                continue
            n_known = _merge_training(values, orders[j], starts, counts, folds, fold, ordered)
            scale, precision = scale_and_precision(ordered[:n_known])
            n_train = 0
            for i in range(n_rows):
                if folds[i] != fold:
                    train[n_train], train_codes[n_train] = values[i], codes[i]
                    n_train += 1
            fit_column(
                train[:n_train], train_codes, weights, scale, precision, sums, means, deviations
            )
            for i in range(n_rows):
                if folds[i] != fold:
                    continue
                value = values[i] * scale
                if not math.isnan(value):
                    value = np.rint(value / precision) * precision
                    for k in range(2):
                        out[i, k] *= normal_cell(value - means[k], deviations[k], precision)
                keep_from_vanishing(out, i, max(out[i, 0], out[i, 1]))


@njit_part
def _merge_training(values, order, starts, counts, folds, fold, ordered):
    """Fill in the known training values of both classes, ascending; return how many there are."""
    first, second, n_filled = 0, 0, 0
    while True:
        # test rows are passed over; missing values are last
        while first < counts[0] and folds[order[starts[0] + first]] == fold:
            first += 1
        while second < counts[1] and folds[counts[0] + order[starts[1] + second]] == fold:
            second += 1
        a, b = math.nan, math.nan
        if first < counts[0]:
            a = values[order[starts[0] + first]]
        if second < counts[1]:
            b = values[counts[0] + order[starts[1] + second]]
        if math.isnan(a) and math.isnan(b):
            return n_filled
        if math.isnan(b) or a <= b:
            ordered[n_filled] = a
            first += 1
        else:
            ordered[n_filled] = b
            second += 1
        n_filled += 1


@njit_part
def _multiply_categories(values, codes, folds, fold, counters, out):
    """Multiply the likelihoods of a nominal column, Laplace's estimates, into the probabilities."""
    n_seen, n_first, n_second = 0, 0, 0
    for i in range(len(folds)):
        if folds[i] != fold and not math.isnan(values[i]):
            v = int(values[i])
            n_seen += counters[v, 0] + counters[v, 1] == 0
            counters[v, codes[i]] += 1
            n_first += codes[i] == 0
            n_second += codes[i] == 1
    for i in range(len(folds)):
        if folds[i] != fold:
            continue
        if not math.isnan(values[i]):
            v = int(values[i])
            if counters[v, 0] + counters[v, 1] > 0:  # other categories have no information
                out[i, 0] *= (counters[v, 0] + 1.0) / (n_first + n_seen)
                out[i, 1] *= (counters[v, 1] + 1.0) / (n_second + n_seen)
        keep_from_vanishing(out, i, max(out[i, 0], out[i, 1]))
    for i in range(len(folds)):
        if not math.isnan(values[i]):
            counters[int(values[i]), 0] = 0
            counters[int(values[i]), 1] = 0


@njit(cache=True, nogil=True)
def count_wins(probabilities, folds, n_first, out):
    """Count per fold twice the wins plus the ties of both classes, each in its column; and rows."""
    n_rows = len(folds)
    for i in range(n_rows):
        out[folds[i], 2 if i < n_first else 3] += 1
    for i in range(n_first):
        fold, first, second = folds[i], probabilities[i, 0], probabilities[i, 1]
        won = 0
        lost = 0
        for other in range(n_first, n_rows):
            if folds[other] == fold:
                won += 2 * (first > probabilities[other, 0]) + (first == probabilities[other, 0])
                lost += 2 * (probabilities[other, 1] > second) + (second == probabilities[other, 1])
        out[fold, 0] += won
        out[fold, 1] += lost
