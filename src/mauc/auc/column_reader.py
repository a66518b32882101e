"""Read columns for AUCs and ranks: blocks of columns in, wins out, orders passed on by the way.

Methods that need the ranks of a column beside its AUCs get both from one sort, or from the levels
of the column without any.
"""

from copy import copy

import numpy as np

from mauc.auc.counting import write_levels
from mauc.auc.levels import find_levels
from mauc.auc.pair_auc import dense_wins
from mauc.auc.sorted_rows import sort_with_rows, write_class_words
from mauc.auc.sweep import sweep_words
from mauc.auc.words import label_bits_of, word_blocks
from mauc.problem.columns import read_only


class ColumnReader:
    """Counts the wins of dense columns and passes on what it learns of their order.

    Parameters
    ----------
    problem : Problem
    writer : object
        With methods ``write_levels(LT, columns)`` for columns of bytes without missing values and
        ``write_sorted(words, n_known, row_bits, columns)`` for sorted columns; `columns` are their
        numbers. See `mauc.auc.sorted_rows.sort_with_rows`.
    rows : ndarray of shape (n_samples,), int32
        The rows in the order in which the sorted words number them.
    """

    def __init__(self, problem, writer, rows):
        self._problem, self._writer, self._rows = problem, writer, rows
        self._labels = np.empty(len(rows), np.int32)
        self._labels[rows] = np.arange(len(rows), dtype=np.int32)
        # They are read in the order of the values: fewer bytes, more of them in a cache.
        is_narrow = problem.n_classes <= 256
        self._codes = problem.codes[rows].astype(np.uint8 if is_narrow else np.int32)
        self._label_bits = label_bits_of(problem.n_classes)

    def with_writer(self, writer):
        """Return a reader of the same problem that passes orders on to another writer."""
        other = copy(self)
        other._writer = writer
        return other

    def read(self, block):
        """Return the wins of the columns of a slice.

        Returns
        -------
        wins : ndarray of shape (n_columns, n_pairs), int64
        """
        XT = self._problem.ordered_columns(block)
        return self.read_columns(XT, np.arange(block.start, block.stop))

    def read_columns(self, XT, columns):
        """Return the wins of values that are given.

        Parameters
        ----------
        XT : ndarray of shape (n_columns, n_samples), uint8, float32 or float64
            Contiguous columns, read-only.
        columns : ndarray of shape (n_columns,), int64
            Their numbers.
        """
        if self._problem.is_small:
            is_bytes = XT.dtype == np.uint8
            return self._read_values(read_only(XT.astype(np.float32)) if is_bytes else XT, columns)
        if XT.dtype == np.uint8:
            return self._read_levels(XT, columns)
        levels = find_levels(XT)
        has_levels = levels.n_levels > 0
        has_levels[has_levels] = ~np.isnan(XT[has_levels]).any(axis=1)
        if not has_levels.any():
            return self._read_values(XT, columns)
        LT = _as_bytes(read_only(XT[has_levels]), levels.take(has_levels))
        if has_levels.all():
            return self._read_levels(LT, columns)
        wins = np.empty((len(XT), len(self._problem.max_wins)), np.int64)
        wins[has_levels] = self._read_levels(LT, columns[has_levels])
        wins[~has_levels] = self._read_values(read_only(XT[~has_levels]), columns[~has_levels])
        return wins

    def _read_levels(self, LT, columns):
        self._writer.write_levels(LT, columns)
        return dense_wins(LT, self._problem.codes, self._problem.class_counts)

    def _read_values(self, XT, columns):
        wins = np.empty((len(XT), len(self._problem.max_wins)), np.int64)
        for part in word_blocks(XT):
            words, n_known, row_bits = sort_with_rows(XT[part], self._labels, self._rows)
            self._writer.write_sorted(words, n_known, row_bits, columns[part])
            write_class_words(words, n_known, row_bits, self._codes, self._label_bits)
            counts = self._problem.class_counts
            wins[part] = sweep_words(words, n_known, counts, self._label_bits)
        return wins


def _as_bytes(XT, levels):
    """Return the levels of columns without missing values, uint8."""
    LT = np.empty(XT.shape, np.uint8)
    no_labels, no_missing = np.zeros(0, np.int32), np.zeros((len(XT), 1), np.int64)
    write_levels(XT, levels.lows, levels.factors, no_labels, LT, no_missing)
    return read_only(LT)
