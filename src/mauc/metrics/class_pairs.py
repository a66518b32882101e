"""AUC on every pair of classes: labels once, then score columns in, AUCs of the pairs out."""

import numpy as np

from mauc.auc.score_auc import class_wins
from mauc.exceptions import MaucError, UndefinedMAUCError, listed
from mauc.problem.weights import scale_by_class


class ClassPairs:
    """The class pairs of labelled samples: what the AUCs of many score matrices share.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int32
        Class of each sample, as a place in `classes`.
    classes : ndarray of shape (n_classes,)
        Labels of the score columns.
    weights : ndarray of shape (n_samples,), float64, optional
        All 1 by default; a sample of weight 0 counts as absent.
    name : str, default="y_true"
        Name of the labels, for error messages.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        Scaled within each class: AUCs do not depend on it, and no product of weights overflows.
    scaled_totals : ndarray of shape (n_classes,)
        Their sums.
    totals : ndarray of shape (n_classes,)
        Samples of each class, or their weight.
    first, second : ndarray of shape (n_pairs,)
        Places in `classes` of the two classes of each pair.
    is_present : ndarray of shape (n_pairs,), bool
        Whether both classes have samples.
    """

    def __init__(self, codes, classes, weights=None, *, name="y_true"):
        self.codes = codes
        self.totals = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
        if weights is None:
            self.weights, self.scaled_totals = np.ones(len(codes)), self.totals
        else:
            self.weights, _ = scale_by_class(weights, codes, len(classes))
            self.scaled_totals = np.bincount(codes, self.weights, minlength=len(classes))
        if (self.totals > 0).sum() < 2:
            raise UndefinedMAUCError(
                f"MAUC compares classes: {name} must hold samples of at least 2 classes, "
                f"got only {listed(classes[self.totals > 0]) or 'none'}."
            )
        self.first, self.second = np.triu_indices(len(classes), 1)
        scale = 2 * self.scaled_totals[self.first] * self.scaled_totals[self.second]
        self.is_present = scale > 0
        self._scale = np.where(self.is_present, scale, np.nan)

    @classmethod
    def of_test(cls, y_test, classes, weights=None):
        """Return the pairs of a test part.

        Parameters
        ----------
        y_test : ndarray of shape (n_samples,)
            Labels.
        classes : ndarray of shape (n_classes,)
            Labels of the training part, sorted: those of the score columns.
        weights : ndarray of shape (n_samples,), float64, optional
        """
        unknown = np.setdiff1d(y_test, classes)
        if len(unknown):
            raise MaucError(
                f"y_test must hold only classes of y_train, got also {listed(unknown)}."
            )
        codes = np.searchsorted(classes, y_test).astype(np.int32)
        return cls(codes, classes, weights, name="y_test")

    def auc(self, ST):
        """Return A_ij and A_ji of every pair, NaN where a class is absent.

        Parameters
        ----------
        ST : ndarray of shape (n_classes, n_samples), float64
            Score columns, contiguous.
        """
        wins = np.empty((len(ST), len(ST)))
        class_wins(ST, np.argsort(ST, axis=1), self.codes, self.weights, wins)
        return (
            wins[self.first, self.second] / self._scale,
            wins[self.second, self.first] / self._scale,
        )

    def mauc(self, scores):
        """Return what `mauc.mauc_score` returns, to the bit.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two
            classes
        """
        auc_first, auc_second = self.auc(score_columns(scores, "the scores of the classifier"))
        return float(np.mean(((auc_first + auc_second) / 2)[self.is_present]))


def score_columns(scores, name):
    """Return score columns as contiguous rows, shape (n_classes, n_samples), float64.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two classes
    name : str
        For the error message.
    """
    ST = np.stack((-scores, scores)) if scores.ndim == 1 else scores.T
    ST = np.ascontiguousarray(ST, dtype=np.float64)
    if np.isnan(ST).any():
        raise MaucError(f"{name} must not contain NaN: a sample without a score has no rank.")
    return ST
