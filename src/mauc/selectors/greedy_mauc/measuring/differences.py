"""Standardised differences: class sums of normal scores in, a second measure of effects out.

An AUC tells an effect badly in two cases. Of a rare binary feature it is near 1/2, for most pairs
of rows are tied, however well its one tells two classes apart: with rates of 0.2 and 0 the AUC is
0.6, the effect of two normal classes with that AUC 0.36, and the difference of the means in
standard deviations 0.71. A linear score gets the latter from it. And of a dozen samples a class the
AUC is rough, and 1 for many features that are not equally good; the difference of the means, over a
deviation to which all classes contribute, is less so.
"""

from typing import NamedTuple

import numpy as np

from mauc.selectors.greedy_mauc.measuring.score_columns import MIN_TIED

MAX_DIFFERENCE = 5.26  # the effect of the largest AUC that counts, 0.9999
FULLY_TIED = 0.5  # share of tied pairs of rows from which on the AUC does not count
PRIOR_DEGREES = 40.0  # of freedom, of the pooled variance in that of two classes
HALF_SIZE = 30.0  # samples of a class at which the difference of a tied feature counts half
SMALL_SHARE = 0.5  # of the difference, in the effect on the smallest classes
ENOUGH = 100.0  # samples of a class from which on the AUC of a feature without ties is enough


class BlockMoments(NamedTuple):
    """Ties and class sums of a block of columns, filled by the kernels of `score_columns`."""

    first: int  #: number of the first column
    takes_all: bool  #: whether the sums of columns without ties are wanted, too
    n_tied: np.ndarray  #: (n_columns,), int64: tied ordered pairs of rows, 0 if they are few
    moments: np.ndarray  #: (n_columns, 2, n_classes), int64: sums of scores, of squares

    @classmethod
    def of(cls, block, n_classes, *, takes_all):
        """Return room for the columns of a slice."""
        n = block.stop - block.start
        moments = np.empty((n, 2, n_classes), np.int64)
        return cls(block.start, takes_all, np.empty(n, np.int64), moments)

    @property
    def places(self):
        """The columns whose sums are filled in."""
        return np.arange(len(self.n_tied)) if self.takes_all else np.flatnonzero(self.n_tied)


class DifferenceBlend:
    r"""Moves effects towards standardised differences where AUCs tell them badly.

    Parameters
    ----------
    class_counts : ndarray of shape (n_classes,), int64
    helps_small : bool, default=True
        Whether small classes count; otherwise ties alone do.

    Attributes
    ----------
    takes_all : bool
        Whether features without ties are changed, too: some class is small.

    Notes
    -----
    With :math:`m_k` the mean of the normal scores of class k, :math:`Q_k` the sum of their squared
    distances from it and v that of all classes over n - c, the difference on the pair (i, j) is

    .. math:: g = (m_i - m_j) \Big/ \sqrt{\frac{Q_i + Q_j + 40 v}{n_i + n_j - 2 + 40}},

    clipped to [-5.26, 5.26]. Its weight is :math:`1 - (1 - w)(1 - u)` with

    .. math:: w = \min\Big(1, \max\Big(0, \frac{t - 0.1}{0.4}\Big)\Big) \frac{h}{h + 30}, \qquad
        u = \frac12 \max\Big(0, 1 - \frac{h}{100}\Big), \qquad
        h = \frac{2}{1/n_i + 1/n_j},

    t being the share of tied pairs of rows, :math:`\sum_v n_v^2 / n^2` over the values v. A missing
    value is tied with every value: its pairs are among those of t, and its score is 0. All sums are
    of all rows, in whole numbers; without two rows that are tied w is 0.
    """

    def __init__(self, class_counts, *, helps_small=True):
        self._counts = class_counts.astype(np.float64)
        self._n_samples = int(class_counts.sum())
        self._first, self._second = np.triu_indices(len(class_counts), 1)
        sizes = 2.0 / (1.0 / self._counts[self._first] + 1.0 / self._counts[self._second])
        self._size_weights = sizes / (sizes + HALF_SIZE)
        self._small_shares = SMALL_SHARE * np.maximum(1.0 - sizes / ENOUGH, 0.0)
        self.takes_all = helps_small and bool((self._small_shares > 0.0).any())
        self._degrees = self._counts[self._first] + self._counts[self._second] - 2.0 + PRIOR_DEGREES

    def apply(self, effects, block, places):
        """Return effects that are moved towards the standardised differences.

        Parameters
        ----------
        effects : ndarray of shape (n_places, n_pairs), float64
            Those of the AUCs, nothing taken off.
        block : BlockMoments
        places : ndarray of shape (n_places,), int64
            Columns whose sums are filled in.
        """
        shares = block.n_tied[places] / np.float64(self._n_samples) ** 2
        weights = np.clip((shares - MIN_TIED) / (FULLY_TIED - MIN_TIED), 0.0, 1.0)
        weights = weights[:, np.newaxis] * self._size_weights
        if block.takes_all:
            weights += (1.0 - weights) * self._small_shares
        return weights * self.differences(block.moments[places]) + (1.0 - weights) * effects

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
