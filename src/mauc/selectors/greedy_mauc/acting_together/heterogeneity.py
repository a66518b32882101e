"""Pairs of features whose correlation differs between the classes: normal scores in, pairs out."""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

MAX_PAIRS = 60  # that are kept
LEVEL = 0.01  # of significance, divided by the number of pairs that are tested
_MIN_CLASS_COUNT = 4  # samples of a class, for a variance of 1 / (n - 3)
_MAX_CORRELATION = 0.999
_MIN_SCATTER = 0.25  # whole numbers that differ have a scatter of 1/2 or more
_ROWS = 1024  # samples whose sums of products stay below 2^24: exact in float32
_BLOCK_CELLS = 2**20  # pairs that are tested at once


class FoundPairs(NamedTuple):
    """Pairs of features, the smallest p-value first."""

    pairs: np.ndarray  #: (n_found, 2), int64: columns, the lower first
    p_values: np.ndarray  #: (n_found,): of one pair, not corrected for the number of pairs
    n_tested: int


def find_pairs(scores, columns):
    r"""Return the pairs of features whose correlations differ most between the classes.

    Parameters
    ----------
    scores : NormalScores
    columns : ndarray of shape (n_columns,), int64
        Features to look at, ascending.

    Returns
    -------
    FoundPairs
        At most 60, with p below 0.01 over the number of pairs tested.

    Notes
    -----
    With :math:`r_k` the correlation of two features in class k of :math:`n_k \ge 4` samples and
    :math:`z_k = \mathrm{artanh}\, r_k`, whose variance is :math:`1 / (n_k - 3)`,

    .. math:: Q = \sum_k (n_k - 3) (z_k - \bar z)^2

    about the weighted mean is chi-square with one degree less than there are classes, if all
    correlations are equal. Classes in which a feature is constant do not count for its pairs. Sums
    of products are of whole numbers, and exact. Equal p-values go by Q, then by column.
    """
    n = len(columns)
    n_tested = n * (n - 1) // 2
    classes = _Classes(scores, columns)
    found: list[tuple[np.ndarray, ...]] = []
    if n_tested > 0 and len(classes.weights) >= 2:
        critical = chi2.isf(LEVEL / n_tested, np.maximum(np.arange(len(classes.weights)), 1))
        critical[0] = np.inf  # a single class has nothing to differ from
        block = max(1, _BLOCK_CELLS // n)
        for start in range(0, n, block):
            statistics, freedom = classes.test_block(start, min(start + block, n))
            first, second = np.nonzero(np.triu(statistics > critical[freedom], 1))
            found.append(
                (first + start, second + start, statistics[first, second], freedom[first, second])
            )
    first, second, statistics, freedom = (
        np.concatenate(part) for part in (zip(*found, strict=True) if found else [[[]]] * 4)
    )
    p_values = chi2.sf(statistics, np.maximum(freedom, 1))
    best = np.lexsort((second, first, -statistics, p_values))[:MAX_PAIRS]
    pairs = np.column_stack([first[best], second[best]]).astype(np.int64)
    return FoundPairs(columns[pairs], p_values[best], n_tested)


class _Classes:
    """The samples of each class, as the test of pairs needs them."""

    def __init__(self, scores, columns):
        counts = scores.class_counts
        used = np.flatnonzero(counts >= _MIN_CLASS_COUNT)
        stops = np.cumsum(counts)
        self.weights = counts[used] - 3.0
        values = scores.scores[columns]
        self._parts, self._centers, self._inverses = [], [], []
        for k in used:
            part = values[:, stops[k] - counts[k] : stops[k]].astype(np.float32)
            squares = np.zeros(len(columns))
            for start in range(0, counts[k], _ROWS):
                rows = part[:, start : start + _ROWS]
                squares += np.einsum("fi,fi->f", rows, rows)
            center = scores.sums[k, columns] / np.sqrt(counts[k])
            scatter = squares - center * center
            varies = scatter > _MIN_SCATTER
            inverse = np.where(varies, 1.0 / np.sqrt(np.maximum(scatter, _MIN_SCATTER)), 0.0)
            self._parts.append(part)
            self._centers.append(center)
            self._inverses.append(inverse)

    def test_block(self, start, stop):
        """Return Q and its degrees of freedom, of features of a range with those from `start` on.

        Returns
        -------
        statistics : ndarray of shape (stop - start, n_columns - start), float64
        freedom : ndarray of the same shape, int64
        """
        shape = stop - start, self._parts[0].shape[0] - start
        total, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        n_classes = np.zeros(shape, np.int64)
        for k, part in enumerate(self._parts):
            products = np.zeros(shape)
            for row in range(0, part.shape[1], _ROWS):
                rows = part[:, row : row + _ROWS]
                products += rows[start:stop] @ rows[start:].T
            center, inverse = self._centers[k], self._inverses[k]
            products -= np.outer(center[start:stop], center[start:])
            products *= np.outer(inverse[start:stop], inverse[start:])
            z = np.arctanh(np.clip(products, -_MAX_CORRELATION, _MAX_CORRELATION))
            is_used = np.outer(inverse[start:stop] > 0.0, inverse[start:] > 0.0)
            weight = self.weights[k] * is_used
            total += weight
            first += weight * z
            second += weight * z * z
            n_classes += is_used
        statistics = second - first * first / np.maximum(total, 1.0)
        return statistics, np.maximum(n_classes - 1, 0)
