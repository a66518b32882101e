"""Naive Bayes on one class pair, all folds: columns by class in, probabilities of the rows out."""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mauc.classifiers.bayes import (
    FLOOR_Z,
    MAX_VALUE,
    MIN_LIKELIHOOD,
    ONE_Z,
    SMALL_SCALE,
    fit_column,
    mean_gap,
)
from mauc.compile import njit
from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem
from mauc.engine.special import normal_cdf
from mauc.metrics.mauc import ClassPairs
from mauc.parallel import run_blocks


@njit(cache=True, nogil=True)
def pair_probabilities(
    columns, orders, n_values, starts, counts, folds, n_splits, work, counters, out
):
    """Compute for every row of a pair its class probabilities when its fold is left out.

    They are those of `mauc.classifiers.NormalNaiveBayes`, to the bit.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), float64
        Rows class after class, in their order within a class; NaN is missing.
    orders : ndarray of shape (n_features, n_samples), int32
        The places of each class sorted by value, missing last.
    n_values : ndarray of shape (n_features,), int64
        0 for numbers, else the number of categories, whose codes the column holds.
    starts, counts : ndarray of shape (2,), int64
        First place of each of the two classes, and their rows.
    folds : ndarray of shape (n_rows,), int32
        Test fold of the rows of the first class, then of the second.
    n_splits : int
    work : ndarray of shape (3, n_rows + 1), float64
        Work space; its last row holds the weights, 1.
    counters : ndarray of shape (>= n_values.max(), 2), int64
        Zero, and again zero at the end.
    out : ndarray of shape (n_rows, 2), float64
        Filled.
    """
    n_features, n_rows, n_first = columns.shape[0], len(folds), counts[0]
    ordered, train = work[0], work[1]
    codes = np.empty(n_rows, np.int32)
    sums, means, deviations = np.empty((2, 4)), np.empty(2), np.empty(2)
    totals = np.empty(2)
    for fold in range(n_splits):
        totals[0] = totals[1] = 0.0
        for i in range(n_rows):
            if folds[i] != fold:
                totals[0 if i < n_first else 1] += 1.0
        for i in range(n_rows):
            if folds[i] == fold:
                for k in range(2):
                    out[i, k] = (totals[k] + 1.0) / (totals[0] + totals[1] + 2.0)
        for j in range(n_features):
            column = columns[j]
            if n_values[j] > 0:
                _multiply_categories(column, starts, n_first, folds, fold, counters, out)
                continue
            n_known = _merge_training(column, orders[j], starts, counts, folds, fold, ordered)
            scale = 1.0
            if n_known > 0 and max(-ordered[0], ordered[n_known - 1]) > MAX_VALUE:
                scale = SMALL_SCALE
                for i in range(n_known):
                    ordered[i] *= scale
            ordered[n_known] = math.nan
            precision = mean_gap(ordered[: n_known + 1])
            n_train = 0
            for i in range(n_rows):
                if folds[i] != fold:
                    k = 0 if i < n_first else 1
                    train[n_train] = column[starts[k] + i - k * n_first]
                    codes[n_train] = k
                    n_train += 1
            fit_column(train[:n_train], codes, work[2], scale, precision, sums, means, deviations)
            half = precision / 2.0
            for i in range(n_rows):
                if folds[i] != fold:
                    continue
                k = 0 if i < n_first else 1
                value = column[starts[k] + i - k * n_first] * scale
                if not math.isnan(value):
                    value = np.rint(value / precision) * precision
                    for k in range(2):
                        distance, deviation = value - means[k], deviations[k]
                        lower, upper = (distance - half) / deviation, (distance + half) / deviation
                        likelihood = 0.0
                        if upper > FLOOR_Z and lower < ONE_Z:
                            likelihood = normal_cdf(upper) - normal_cdf(lower)
                        out[i, k] *= max(MIN_LIKELIHOOD, likelihood)
                _keep_from_vanishing(out, i)
    for i in range(n_rows):
        total = out[i, 0] + out[i, 1]
        out[i, 0] /= total
        out[i, 1] /= total


@njit(cache=True, nogil=True)
def count_wins(probabilities, folds, n_first, out):
    """Count per fold the wins of each class over the other in its own column of probabilities.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, 2), float64
    folds : ndarray of shape (n_rows,), int32
    n_first : int
        Rows of the first class, which come first.
    out : ndarray of shape (n_folds, 4), int64
        Zero. Twice the wins plus the ties of the first class and of the second; then the rows of
        both.
    """
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


@njit(cache=True, nogil=True)
def _merge_training(column, order, starts, counts, folds, fold, ordered):
    """Fill in the known training values of both classes, ascending; return how many there are."""
    first, second = 0, 0
    n_filled = 0
    while True:
        # places of test rows are passed over; missing values are last
        while first < counts[0] and folds[order[starts[0] + first] - starts[0]] == fold:
            first += 1
        while (
            second < counts[1] and folds[counts[0] + order[starts[1] + second] - starts[1]] == fold
        ):
            second += 1
        a, b = math.nan, math.nan
        if first < counts[0]:
            a = column[order[starts[0] + first]]
        if second < counts[1]:
            b = column[order[starts[1] + second]]
        if math.isnan(a) and math.isnan(b):
            return n_filled
        if math.isnan(b) or a <= b:
            ordered[n_filled] = a
            first += 1
        else:
            ordered[n_filled] = b
            second += 1
        n_filled += 1


@njit(cache=True, nogil=True)
def _multiply_categories(column, starts, n_first, folds, fold, counters, out):
    """Multiply the likelihoods of a nominal column, Laplace's estimates, into the probabilities."""
    n_rows = len(folds)
    n_seen, n_known_first, n_known_second = 0, 0, 0
    for i in range(n_rows):
        k = 0 if i < n_first else 1
        value = column[starts[k] + i - k * n_first]
        if folds[i] != fold and not math.isnan(value):
            v = int(value)
            if counters[v, 0] + counters[v, 1] == 0:
                n_seen += 1
            counters[v, k] += 1
            if k == 0:
                n_known_first += 1
            else:
                n_known_second += 1
    for i in range(n_rows):
        k = 0 if i < n_first else 1
        value = column[starts[k] + i - k * n_first]
        if folds[i] != fold:
            continue
        if not math.isnan(value):
            v = int(value)
            if counters[v, 0] + counters[v, 1] > 0:  # others tell nothing
                out[i, 0] *= (counters[v, 0] + 1.0) / (n_known_first + n_seen)
                out[i, 1] *= (counters[v, 1] + 1.0) / (n_known_second + n_seen)
        _keep_from_vanishing(out, i)
    for i in range(n_rows):
        k = 0 if i < n_first else 1
        value = column[starts[k] + i - k * n_first]
        if not math.isnan(value):
            counters[int(value), 0] = 0
            counters[int(value), 1] = 0


@njit(cache=True, nogil=True)
def _keep_from_vanishing(out, i):
    largest = max(out[i, 0], out[i, 1])
    if 0.0 < largest < MIN_LIKELIHOOD:
        out[i, 0] *= 1e75
        out[i, 1] *= 1e75


_BLOCK_CELLS = 2**20  # of a task: rows times columns of its pairs
_MAX_COMPARED = 2**16  # samples of one class times those of the other: beyond, scores are sorted


def pair_bayes_auc(
    problem: Problem, n_folds: int, seed: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return the AUC of `mauc.classifiers.NormalNaiveBayes` on every pair, to the bit.

    Parameters
    ----------
    problem : Problem
    n_folds : int
        Stratified folds, those of scikit-learn's ``StratifiedKFold`` with shuffling; no more than
        the smaller class has samples.
    seed : int
        Of the folds.
    n_jobs : int, optional

    Returns
    -------
    auc : ndarray of shape (n_pairs,)
        Mean over the folds; NaN for a pair with a class of one sample.
    """
    rows, starts, _ = problem.by_class
    columns = np.empty((problem.n_features, problem.n_samples))
    orders = np.empty(columns.shape, np.int32)
    for block in problem.blocks():
        columns[block] = problem.float_columns(block)[:, rows]
        for first, end in pairwise(starts):
            order = np.argsort(columns[block, first:end], axis=1, kind="stable")
            orders[block, first:end] = order + first
    n_values = np.zeros(problem.n_features, np.int64)  # of nominal columns; 0 marks numbers
    if problem.is_nominal.any():
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
        probabilities = np.empty((len(folds), 2))
        work = np.ones((3, len(folds) + 1))
        counters = np.zeros((n_values.max() if n_values.any() else 1, 2), np.int64)
        pair_probabilities(
            columns, orders, n_values, starts[pair], counts, folds, n_splits, work, counters,
            probabilities,
        )  # fmt: skip
        if counts[0] * counts[1] <= _MAX_COMPARED:
            wins = np.zeros((n_splits, 4), np.int64)
            count_wins(probabilities, folds, int(counts[0]), wins)
            scale = 2.0 * wins[:, 2] * wins[:, 3]
            return float(np.mean((wins[:, 0] / scale + wins[:, 1] / scale) / 2))
        codes = np.repeat(np.array([0, 1], np.int32), counts)
        tests = [folds == fold for fold in range(n_splits)]
        values = [ClassPairs(codes[test], np.arange(2)).mauc(probabilities[test]) for test in tests]
        return float(np.mean(values))

    def measure_block(block: slice) -> list[float]:
        return [measure(pair) for pair in pairs[block]]

    pairs = Decomposition("one-vs-one", problem.n_classes).members
    cells = 2 * columns.size // problem.n_classes
    width = min(64, 1 + _BLOCK_CELLS // cells)
    blocks = [slice(at, at + width) for at in range(0, len(pairs), width)]
    parts = run_blocks(measure_block, blocks, n_jobs, unit="blocks of class pairs")
    return np.concatenate([auc for _, auc in parts])


@lru_cache(maxsize=2**16)
def fold_numbers(
    n_first: int, n_second: int, n_splits: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the test fold of every sample of two classes, as ``StratifiedKFold`` shuffles them.

    Parameters
    ----------
    n_first, n_second : int
        Samples of the class that comes first in the table, and of the other.
    n_splits, seed : int

    Returns
    -------
    first, second : ndarray of shape (n_first,) and (n_second,), int32
    """
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
