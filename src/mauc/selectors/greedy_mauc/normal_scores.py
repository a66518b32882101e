"""Normal scores of all features: blocks of columns in, 8-bit scores sorted by class out."""

from dataclasses import dataclass

import numpy as np

from mauc.auc.counting import write_levels
from mauc.problem.columns import read_only
from mauc.selectors.greedy_mauc.score_columns import (
    level_scores,
    score_table,
    sorted_scores,
    sum_scores,
    value_scores,
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

    @property
    def scores(self):
        """The scores alone, shape (n_features, n_kept)."""
        return self.padded[:, : self.class_counts.sum()]


class NormalScorer:
    """Writes the scores of blocks of columns of one problem.

    Parameters
    ----------
    problem : Problem
    max_samples : int, optional
        Keep the scores of at most so many samples, evenly spaced when they are sorted by
        class. Ranks are those among all samples.
    """

    def __init__(self, problem, max_samples=None):
        rows = np.argsort(problem.codes, kind="stable")
        places = np.arange(len(rows))
        if max_samples is not None and max_samples < len(rows):
            places = np.arange(max_samples) * len(rows) // max_samples
        counts = np.bincount(problem.codes[rows[places]], minlength=problem.n_classes)
        self._places, self._rows = places, rows[places]
        self._shape = (problem.n_features, problem.n_classes)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._table, self._steps = score_table(problem.n_samples)

    def make_room(self):
        """Return scores to be filled in."""
        n_features, n_classes = self._shape
        return NormalScores(
            np.zeros((n_features, -(-len(self._rows) // _ALIGN) * _ALIGN), np.int8),
            np.empty((n_classes, n_features), np.int64),
            np.empty(n_features, np.int64),
            np.diff(self._starts),
            np.empty(n_features, np.bool_),
        )

    def write(self, XT, columns, out):
        """Write the scores of columns `XT` into `out`.

        Parameters
        ----------
        XT : ndarray of shape (n_columns, n_samples), float32 or float64
            Read-only and contiguous.
        columns : ndarray of shape (n_columns,), int64
            Their numbers.
        out : NormalScores
        """
        ascending = np.sort(XT, axis=1)
        value_scores(
            XT, ascending, self._table, self._steps, self._rows, columns, out.padded, out.varies
        )
        self._sum(columns, out)

    def write_levels(self, LT, columns, out):
        """Write the scores of columns of levels, uint8, none of which is missing."""
        level_scores(LT, self._table, self._rows, columns, out.padded, out.varies)
        self._sum(columns, out)

    def write_sorted(self, words, n_known, row_bits, columns, out):
        """Write the scores of columns that `mauc.auc.sorted_rows.RowSorter` sorted."""
        by_place = np.empty(words.shape[1], np.int8)
        sorted_scores(
            words, n_known, row_bits, self._table, self._places, by_place, columns,
            out.padded, out.varies,
        )  # fmt: skip
        self._sum(columns, out)

    def _sum(self, columns, out):
        sum_scores(out.padded, self._starts, columns, out.sums, out.squares)
