"""MAUC of many score matrices of the same samples: the labels are looked at once."""

import numpy as np

from mauc.auc.score_auc import class_wins
from mauc.exceptions import MaucError, UndefinedMAUCError


class TestLabels:
    """The labels of a test set, ready to score.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    classes : ndarray of shape (n_classes,)
        Labels of the score columns, sorted.
    """

    __test__ = False  # not a test, whatever pytest thinks of the name

    def __init__(self, y, classes):
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise MaucError(
                f"y_test must hold only classes of y_train, got also {unknown[:5].tolist()}."
            )
        self._codes = np.searchsorted(classes, y).astype(np.int32)
        self._totals = np.bincount(self._codes, minlength=len(classes)).astype(np.float64)
        if (self._totals > 0).sum() < 2:
            raise UndefinedMAUCError("MAUC compares classes: y_test must hold at least 2 of them.")
        first, second = np.triu_indices(len(classes), 1)
        is_present = (self._totals[first] > 0) & (self._totals[second] > 0)
        self._first, self._second = first[is_present], second[is_present]
        self._twice_pairs = 2 * self._totals[self._first] * self._totals[self._second]
        self._weights = np.ones(len(y))
        self._wins = np.empty((len(classes), len(classes)))

    def mauc(self, scores):
        """Return what `mauc.mauc_score` returns, to the bit.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two
            classes
        """
        if scores.ndim == 1:
            scores = np.column_stack((-scores, scores))
        ST = np.ascontiguousarray(scores.T, dtype=np.float64)
        if np.isnan(ST).any():
            raise MaucError("the scores of the classifier must not contain NaN.")
        class_wins(ST, np.argsort(ST, axis=1), self._codes, self._weights, self._wins)
        auc_first = self._wins[self._first, self._second] / self._twice_pairs
        auc_second = self._wins[self._second, self._first] / self._twice_pairs
        return float(np.mean((auc_first + auc_second) / 2))
