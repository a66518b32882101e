"""What GreedyMAUC measures first: a Problem in, effects on class pairs and normal scores out."""

import numpy as np

from mauc.auc.counting import write_levels
from mauc.auc.pair_auc import dense_wins, fold_wins
from mauc.auc.sorted_rows import MAX_ROWS, RowSorter, find_levels
from mauc.parallel import run_blocks
from mauc.problem.columns import read_only
from mauc.selectors.greedy_mauc.effects import EffectSizer
from mauc.selectors.greedy_mauc.normal_scores import NormalScorer


def measure(problem, *, noise_correction=0.0, max_samples=None, pair_auc=None, n_jobs=None):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `mauc.selectors.greedy_mauc.effects.effect_sizes`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs of all features.
    n_jobs : int, optional

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
    scores : NormalScores
    """
    effects = np.empty((problem.n_features, len(problem.max_wins)))
    sizer = EffectSizer(problem, noise_correction)
    reader = ColumnReader(problem, max_samples)
    scores = reader.scorer.make_room()

    def fill(block):
        wins = reader.read(block, scores)
        sizer.write(wins, effects[block])
        if pair_auc is not None:
            fold_wins(wins, problem.max_wins, pair_auc[block])

    for _ in run_blocks(fill, problem.blocks(effects.shape[1], is_dense=True), n_jobs):
        pass
    return effects, scores


class ColumnReader:
    """Finds wins and normal scores of blocks of columns, in one sort where that is possible.

    Parameters
    ----------
    problem : Problem
    max_samples : int, optional
        See `NormalScorer`.
    """

    def __init__(self, problem, max_samples=None):
        self._problem = problem
        self._sorter = RowSorter(problem) if problem.n_samples <= MAX_ROWS else None
        self.scorer = NormalScorer(problem, max_samples)

    def read(self, block, scores):
        """Return the wins of the columns of a slice, and write their normal scores.

        Returns
        -------
        wins : ndarray of shape (n_columns, n_pairs), int64
        """
        XT = self._problem.ordered_columns(block)
        columns = np.arange(block.start, block.stop)
        if XT.dtype == np.uint8:
            return self._read_levels(XT, columns, scores)
        keys, has_levels = find_levels(XT, 32 - self._sorter.row_bits if self._sorter else 8)
        if not has_levels.any():
            return self._read_values(XT, keys, columns, scores)
        wins = np.empty((len(XT), len(self._problem.max_wins)), np.int64)
        counted = keys.take(has_levels)
        levels = np.empty((len(counted.lows), XT.shape[1]), np.uint8)
        no_labels, no_missing = np.zeros(0, np.int32), np.zeros((len(levels), 1), np.int64)
        write_levels(
            read_only(XT[has_levels]), counted.lows, counted.scales, no_labels, levels, no_missing
        )
        wins[has_levels] = self._read_levels(read_only(levels), columns[has_levels], scores)
        if not has_levels.all():
            others = ~has_levels
            wins[others] = self._read_values(
                read_only(XT[others]), keys.take(others), columns[others], scores
            )
        return wins

    def _read_levels(self, LT, columns, scores):
        self.scorer.write_levels(LT, columns, scores)
        return dense_wins(LT, self._problem.codes, self._problem.class_counts)

    def _read_values(self, XT, keys, columns, scores):
        if self._sorter is None:
            self.scorer.write(XT, columns, scores)
            return dense_wins(XT, self._problem.codes, self._problem.class_counts)
        words, n_known = self._sorter.sort(XT, keys)
        self.scorer.write_sorted(words, n_known, self._sorter.row_bits, columns, scores)
        return self._sorter.wins(words, n_known)
