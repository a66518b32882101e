"""Normal scores of columns: a Problem in, 8-bit scores sorted by class and their sums out."""

from dataclasses import dataclass

import numpy as np

from mauc.auc.counting import MOST_LEVELS, write_levels
from mauc.auc.keys import EXACT, choose_keys
from mauc.problem.layout import read_only
from mauc.selectors.greedy_mauc.score_columns import (
    level_scores,
    score_table,
    sum_scores,
    value_scores,
)


@dataclass(frozen=True)
class NormalScores:
    r"""Normal scores of all features.

    Parameters
    ----------
    scores : ndarray of shape (n_features, n_kept), int8
        In units of 1/32, the rows sorted by class: one byte a cell, whatever the type of X.
    sums : ndarray of shape (n_features, n_classes), int64
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

    scores: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    class_counts: np.ndarray
    varies: np.ndarray


class NormalScorer:
    """Writes the scores of blocks of columns of one problem.

    Parameters
    ----------
    problem : Problem
    max_samples : int, optional
        Keep the scores of at most so many samples: every so-and-so-manieth when they are
        sorted by class. Ranks are those among all samples.
    """

    def __init__(self, problem, max_samples=None):
        rows = np.argsort(problem.codes, kind="stable")
        if max_samples is not None and max_samples < len(rows):
            rows = rows[np.arange(max_samples) * len(rows) // max_samples]
        counts = np.bincount(problem.codes[rows], minlength=problem.n_classes)
        self._rows, self._shape = rows, (problem.n_features, len(rows), problem.n_classes)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._table, self._steps = score_table(problem.n_samples)

    def make_room(self):
        """Return scores to be filled in."""
        n_features, n_kept, n_classes = self._shape
        return NormalScores(
            np.empty((n_features, n_kept), np.int8),
            np.empty((n_features, n_classes), np.int64),
            np.empty(n_features, np.int64),
            np.diff(self._starts),
            np.empty(n_features, np.bool_),
        )

    def write(self, XT, block, out):
        """Write the scores of columns `XT`, which are the features of a slice, into `out`.

        Parameters
        ----------
        XT : ndarray of shape (n_columns, n_samples), uint8, float32 or float64
            Read-only and contiguous.
        block : slice
        out : NormalScores
        """
        scores, varies = out.scores[block], out.varies[block]
        if XT.dtype == np.uint8:
            level_scores(XT, self._table, self._rows, scores, varies)
        else:
            keys = choose_keys(XT, 8)
            has_levels = (keys.kinds == EXACT) & (keys.n_levels <= MOST_LEVELS)
            has_levels &= keys.n_known == XT.shape[1]
            if has_levels.all():
                self._write_levels(XT, keys, scores, varies)
            elif not has_levels.any():
                self._write_values(XT, scores, varies)
            else:
                part, part_varies = np.empty_like(scores), np.empty_like(varies)
                n_levels = has_levels.sum()
                self._write_levels(
                    read_only(XT[has_levels]), keys.take(has_levels),
                    part[:n_levels], part_varies[:n_levels],
                )  # fmt: skip
                self._write_values(
                    read_only(XT[~has_levels]), part[n_levels:], part_varies[n_levels:]
                )
                order = np.argsort(~has_levels, kind="stable")
                scores[order], varies[order] = part, part_varies
        sum_scores(scores, self._starts, out.sums[block], out.squares[block])

    def _write_levels(self, XT, keys, scores, varies):
        levels = np.empty(XT.shape, np.uint8)
        no_labels, no_missing = np.zeros(0, np.int32), np.zeros((len(XT), 1), np.int64)
        write_levels(XT, keys.lows, keys.scales, no_labels, levels, no_missing)
        level_scores(read_only(levels), self._table, self._rows, scores, varies)

    def _write_values(self, XT, scores, varies):
        ascending = np.sort(XT, axis=1)
        value_scores(XT, ascending, self._table, self._steps, self._rows, scores, varies)
