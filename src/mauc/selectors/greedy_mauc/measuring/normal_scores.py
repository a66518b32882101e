"""Normal scores of all features: blocks of columns in, 8-bit scores sorted by class out."""

from dataclasses import dataclass, field

import numpy as np

from mauc.problem.class_order import group_by_class
from mauc.selectors.greedy_mauc.measuring.differences import BlockMoments
from mauc.selectors.greedy_mauc.measuring.row_sample import sample_rows
from mauc.selectors.greedy_mauc.measuring.score_columns import (
    level_scores,
    score_table,
    sorted_scores,
    sum_scores,
)

_ALIGN = 64  # scores: products over whole vectors have no remainder


@dataclass(frozen=True)
class NormalScores:
    r"""Normal scores of all features.

    Parameters
    ----------
    padded : ndarray of shape (n_features, >= n_kept), int8
        In units of 1/32, the rows sorted by class: one byte per cell, whatever the type of X.
        Zeros follow the scores.
    sums : ndarray of shape (n_classes, n_features), int64
        Sums over the rows of each class.
    squares : ndarray of shape (n_features,), int64
        Sums of squares over all rows.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class.
    varies : ndarray of shape (n_features,), bool
        False for a feature that is constant in all samples, kept or not.
    rows : ndarray of shape (n_kept,), int32
        The rows that are kept, sorted by class.
    nominal_squares : dict of int to float
        For every nominal feature of more than two categories, whose scores are made of the classes,
        the sum of its squared leave-pair-out effects over the class pairs.

    Notes
    -----
    The score of a row is :math:`\Phi^{-1}((r - 1/2) / n)` with r its rank among all n rows,
    ties averaged. A missing value is tied with every value: it scores 0 and counts half below
    and half above each known value. Rounding to 1/32 adds 1e-4 to a variance of about 1, far
    less than n rows tell about it.
    """

    padded: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    class_counts: np.ndarray
    varies: np.ndarray
    rows: np.ndarray
    nominal_squares: dict[int, float] = field(default_factory=dict)

    @property
    def scores(self):
        """The scores alone, shape (n_features, n_kept)."""
        return self.padded[:, : self.class_counts.sum()]


class NormalScorer:
    """Writes the scores of the columns of one problem, one block at a time, see `writer`.

    Parameters
    ----------
    problem : Problem
    max_samples : int, optional
        Keep the scores of at most so many samples, see `sample_rows`. Ranks are those among all
        samples.
    kept : ndarray of shape (n_kept,), int64, optional
        The samples whose scores are kept, from `kept_places`, if they are known already.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), int32
        The rows sorted by class.
    scores : NormalScores
        Complete when all columns are written.
    """

    def __init__(self, problem, max_samples=None, kept=None):
        self.order, starts = _rows_by_class(problem)
        self._all_starts, self._all_counts = starts, problem.class_counts
        self._labels = np.zeros(-(-problem.n_samples // 8) * 8, np.int32)
        self._labels[: problem.n_samples] = problem.codes
        n_samples = problem.n_samples
        self._kept = _places(problem, self.order, starts, max_samples) if kept is None else kept
        self._rows = self.order[self._kept]
        counts = np.bincount(problem.codes[self._rows], minlength=problem.n_classes)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._table = score_table(n_samples)
        n_features, n_padded = problem.n_features, -(-len(self._rows) // _ALIGN) * _ALIGN
        self.scores = NormalScores(
            np.zeros((n_features, n_padded), np.int8),
            np.empty((problem.n_classes, n_features), np.int64),
            np.empty(n_features, np.int64),
            counts,
            np.empty(n_features, np.bool_),
            self._rows,
        )

    def writer(self, block, *, takes_all):
        """Return what a `ColumnReader` needs to write scores and class sums of some columns."""
        return _BlockWriter(
            self, BlockMoments.of(block, len(self._all_counts), takes_all=takes_all)
        )

    def write_levels(self, LT, columns, block):
        """Write the scores of columns of levels, uint8, none of which is missing."""
        out, n_classes = self.scores, len(self._all_counts)
        column = np.zeros(len(self._labels), np.uint8)
        level_scores(
            LT, self._table, self._rows, columns, self._labels, self._all_counts,
            np.empty((4, 256), np.int32), np.empty(256, np.int8), column, column.view(np.uint64),
            np.empty(256, np.uint64), np.empty((2, n_classes), np.uint64), out.padded, out.varies,
            *block,
        )  # fmt: skip
        sum_scores(out.padded, self._starts, columns, out.sums, out.squares)

    def write_sorted(self, words, n_known, row_bits, columns, block):
        """Write the scores of sorted columns."""
        out = self.scores
        by_place = np.empty(words.shape[1], np.int8)
        sorted_scores(
            words, n_known, row_bits, self._table, self._kept, by_place, self._all_starts, columns,
            out.padded, out.varies, *block,
        )  # fmt: skip
        sum_scores(out.padded, self._starts, columns, out.sums, out.squares)


class _BlockWriter:
    """Scores of a block of columns, written by a `NormalScorer`, and their class sums."""

    def __init__(self, scorer, block):
        self._scorer, self.block = scorer, block

    def write_levels(self, LT, columns):
        self._scorer.write_levels(LT, columns, self.block)

    def write_sorted(self, words, n_known, row_bits, columns):
        self._scorer.write_sorted(words, n_known, row_bits, columns, self.block)


def kept_places(problem, max_samples=None):
    """Return the places, among the rows sorted by class, of the rows whose scores are kept.

    Returns
    -------
    kept : ndarray of shape (n_kept,), int64
    rows : ndarray of shape (n_kept,), int32
        The rows at these places.
    class_counts : ndarray of shape (n_classes,), int64
        Of the rows that are kept.
    """
    order, starts = _rows_by_class(problem)
    kept = _places(problem, order, starts, max_samples)
    rows = order[kept]
    return kept, rows, np.bincount(problem.codes[rows], minlength=problem.n_classes)


def _rows_by_class(problem):
    order, starts, _ = group_by_class(problem.codes, problem.n_classes)
    return order.astype(np.int32), starts


def _places(problem, order, starts, max_samples):
    if max_samples is None or max_samples >= problem.n_samples:
        return np.arange(problem.n_samples)
    return sample_rows(problem, order, starts, max_samples)
