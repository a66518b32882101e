"""How hard class pairs are: the cross-validated AUC of Naive Bayes on every one of them.

The precision of a column, and with it the density of a class, depends on the values of both
classes, so that pairs share no densities. They share the order of the values in each class: the
training values of a pair are merged from it, not sorted.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from mauc.difficulty.pair_bayes import count_wins, pair_probabilities
from mauc.metrics.class_pairs import ClassPairs
from mauc.parallel import run_blocks
from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import Problem

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
    if problem.is_nominal is not None:
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
