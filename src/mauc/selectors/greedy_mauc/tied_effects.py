"""Effects of features with ties: class sums of normal scores in, standardised differences out.

Of a rare binary feature the AUC is near 1/2, for most pairs of rows are tied, however well its one
tells two classes apart: with rates of 0.2 and 0 the AUC is 0.6, the effect of two normal classes
with that AUC 0.36, and the difference of the means in standard deviations 0.71. A linear score gets
the latter from it.
"""

from typing import NamedTuple

import numpy as np

from mauc.selectors.greedy_mauc.score_columns import MIN_TIED

MAX_DIFFERENCE = 5.26  # the effect of the largest AUC that counts, 0.9999
FULLY_TIED = 0.5  # share of tied pairs of rows from which on the AUC does not count
PRIOR_DEGREES = 40.0  # of freedom, of the pooled variance in that of two classes
HALF_SIZE = 30.0  # samples of a class at which the difference counts half


class BlockTies(NamedTuple):
    """The ties of a block of columns, filled by the kernels of `score_columns`."""

    first: int  #: number of the first column
    n_tied: np.ndarray  #: (n_columns,), int64: tied ordered pairs of rows, 0 if they are few
    moments: np.ndarray  #: (n_columns, 2, n_classes), int64: sums of scores, of squares, if tied

    @classmethod
    def of(cls, block, n_classes):
        """Return room for the columns of a slice."""
        n = block.stop - block.start
        return cls(block.start, np.empty(n, np.int64), np.empty((n, 2, n_classes), np.int64))


class TieWeigher:
    r"""Puts standardised differences in the place of effects where a feature has many ties.

    Parameters
    ----------
    class_counts : ndarray of shape (n_classes,), int64

    Notes
    -----
    With :math:`m_k` the mean of the normal scores of class k, :math:`Q_k` the sum of their squared
    distances from it and v that of all classes over n - c, the difference on the pair (i, j) is

    .. math:: g = (m_i - m_j) \Big/ \sqrt{\frac{Q_i + Q_j + 40 v}{n_i + n_j - 2 + 40}},

    clipped to [-5.26, 5.26], and has the weight

    .. math:: w = \min\Big(1, \max\Big(0, \frac{t - 0.1}{0.4}\Big)\Big) \frac{h}{h + 30}, \qquad
        h = \frac{2}{1/n_i + 1/n_j},

    t being the share of tied pairs of rows, :math:`\sum_v n_v^2 / n^2` over the values v. A missing
    value is tied with every value: its pairs are among those of t, and its score is 0. Small
    classes, whose standard deviations are hardly known, keep the effects of their AUCs. All sums
    are of all rows, in whole numbers; without two rows that are tied w is 0.
    """

    def __init__(self, class_counts):
        self._counts = class_counts.astype(np.float64)
        self._n_samples = int(class_counts.sum())
        self._first, self._second = np.triu_indices(len(class_counts), 1)
        sizes = 2.0 / (1.0 / self._counts[self._first] + 1.0 / self._counts[self._second])
        self._size_weights = sizes / (sizes + HALF_SIZE)
        self._degrees = self._counts[self._first] + self._counts[self._second] - 2.0 + PRIOR_DEGREES

    def blend(self, effects, ties, places):
        """Return effects that are moved towards the standardised differences.

        Parameters
        ----------
        effects : ndarray of shape (n_places, n_pairs), float64
            Those of the AUCs, nothing taken off.
        ties : BlockTies
        places : ndarray of shape (n_places,), int64
            The columns, all of them tied.
        """
        shares = ties.n_tied[places] / np.float64(self._n_samples) ** 2
        weights = np.clip((shares - MIN_TIED) / (FULLY_TIED - MIN_TIED), 0.0, 1.0)
        weights = weights[:, np.newaxis] * self._size_weights
        return weights * self.differences(ties.moments[places]) + (1.0 - weights) * effects

    def differences(self, moments):
        """Return the standardised differences of columns, shape (n_columns, n_pairs).

        Parameters
        ----------
        moments : ndarray of shape (n_columns, 2, n_classes), int64
            Sums of the scores over each class, and of their squares.
        """
        sums = moments[:, 0].astype(np.float64)
        means = sums / self._counts
        scatters = np.maximum(moments[:, 1] - sums * means, 0.0)
        pooled = np.zeros(len(moments))
        for scatter in scatters.T:  # in this order, however many columns there are
            pooled += scatter
        pooled *= PRIOR_DEGREES / max(self._n_samples - len(self._counts), 1)
        found = means[:, self._first] - means[:, self._second]
        variances = scatters[:, self._first] + scatters[:, self._second]
        variances += pooled[:, np.newaxis]
        variances /= self._degrees
        # Scores that do not vary in any class: the largest difference, or none.
        np.sqrt(variances, out=variances)
        np.maximum(variances, 1e-9, out=variances)
        found /= variances
        return np.clip(found, -MAX_DIFFERENCE, MAX_DIFFERENCE, out=found)
