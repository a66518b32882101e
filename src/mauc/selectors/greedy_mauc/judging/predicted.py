"""MAUC to expect of the chosen features: normal scores and Cholesky rows in, one MAUC per step out.

The score of a set is the linear discriminant of its normal scores, with the correlations that the
search used. Each sample is scored by the discriminant of all others, in closed form: in the
coordinates in which the correlations are those of independent features (one more per step), the
distances of a sample from the class means are sums of squares, and leaving the sample out moves
its own class mean and changes the covariance by a matrix of rank one.
"""

import math
from collections.abc import Mapping
from copy import copy
from functools import cached_property

import numpy as np
from numba import njit, uintp

from mauc.auc.score_auc import class_wins
from mauc.selectors.greedy_mauc.judging.selection_bias import (
    MAX_FEATURES,
    count_sizes,
    shares_of_luck,
)
from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus
from mauc.selectors.greedy_mauc.searching.correlations import within_scales

_MIN_SCATTER = 0.25  # of a feature that is constant in every class
_MAX_GAP = 600.0  # of two logarithms; beyond, the smaller term is lost in a sum of doubles
_MIN_LEFT = 0.02  # of a direction that is left without one sample


def evaluated_sizes(n_features):
    """Return the sizes for which MAUC is predicted: 1 to 8, then each a quarter above the last."""
    sizes = [1]
    while (larger := sizes[-1] + max(1, sizes[-1] // 4)) <= n_features:
        sizes.append(larger)
    return sizes


class Prediction(Mapping):
    r"""The MAUC to expect of the first features of a ranking, computed when it is asked for.

    As a mapping it has one key, "predicted_mauc", for the trace of a selection.

    Parameters
    ----------
    ranking : ndarray of shape (k,), int64
        Chosen features. Those beyond the rows of `lower` add nothing: they are constant, or
        beyond the number of features that is looked at.
    lower : ndarray of shape (<= k, <= k), float64
        Cholesky factor of the shrunk correlations of the first of them.
    scores : NormalScores
        Only what belongs to the chosen features is kept.
    shrinkage : float
        The shrinkage in `lower`.

    Notes
    -----
    With :math:`\Sigma` the shrunk covariance on :math:`\nu = n - c` degrees of freedom, x a sample
    of class k of :math:`n_k`, r its distance from the mean of the others of its class, and
    :math:`v_g` its distance from the mean of class g,

    .. math:: D_g^2 = \frac{\nu - 1}{\nu} \Big[ v_g^T \Sigma^{-1} v_g
        + \frac{b\, (v_g^T \Sigma^{-1} r)^2}{1 - b\, r^T \Sigma^{-1} r} \Big], \qquad
        b = \frac{(1 - \lambda)(n_k - 1)}{\nu n_k},

    is its squared distance from class g when x is left out (Sherman and Morrison; the diagonal
    that shrinkage adds is taken as fixed). In all :math:`v_g` the sample is first moved towards
    the mean of all samples by what its class mean owes to the choice of the features, see
    `shares_of_luck`. The numbers of the categories of a nominal feature were made of the classes of
    the samples: of the distances between its class means, what its leave-pair-out effects do not
    confirm is luck, too. Its score for class g is the logarithm of the odds of g, prior
    probabilities being the class frequencies; samples that agree in all features get the mean of
    their scores, for a tie must stay one. A pair of classes with :math:`n_i n_j` pairs of samples
    has :math:`A = (w + 1/2) / (n_i n_j + 1)`, w being the wins, so that no finite sample promises
    1; MAUC is the mean over both scores of all pairs (Hand and Till).
    """

    def __init__(self, ranking, lower, scores, shrinkage):
        self._n_ranked, self._lower, self._shrinkage = len(ranking), lower, shrinkage
        columns = ranking[: len(lower)]
        present = np.flatnonzero(scores.class_counts)
        self._counts = counts = scores.class_counts[present].astype(np.float64)
        n_samples = int(counts.sum())
        self._n_free = n_samples - len(counts)
        self._is_possible = self._n_free >= 1 and len(counts) >= 2 and len(columns) > 0
        if not self._is_possible:
            return
        scales = within_scales(scores)[1]
        scales = np.where(scales > 0.0, scales, 1.0 / math.sqrt(_MIN_SCATTER))
        scales *= math.sqrt(self._n_free)
        self._errors = np.sqrt(1.0 / counts - 1.0 / n_samples)[:, np.newaxis]

        def means(features):
            sums = scores.sums[np.ix_(present, features)]
            by_class = sums / counts[:, np.newaxis] * scales[features]
            return by_class, sums.sum(axis=0) / n_samples * scales[features]

        varying = np.flatnonzero(scores.varies)
        n_looked_at = min(len(varying), MAX_FEATURES)
        by_class, common = means(varying[np.arange(n_looked_at) * len(varying) // n_looked_at])
        self._sizes = count_sizes((by_class - common) / self._errors)
        self._by_class, self._common = means(columns)
        self._rows, self._scales = scores.scores[columns], scales[columns]
        self._confirmed = np.full(len(columns), np.inf)
        for place, column in enumerate(columns):
            if int(column) in scores.nominal_squares:
                self._confirmed[place] = scores.nominal_squares[int(column)]

    def __getitem__(self, name):
        if name != "predicted_mauc":
            raise KeyError(name)
        return self.mauc

    def __iter__(self):
        return iter(["predicted_mauc"])

    def __len__(self):
        return 1

    def first(self, k):
        """Return the prediction for the first k features alone."""
        part = copy(self)
        part.mauc = self.mauc[:k]
        return part

    @cached_property
    def mauc(self):
        """In [0.5, 1), shape (k,).

        Between two sizes of `evaluated_sizes` that of the last; 0.5 if nothing can be left out,
        because no class has two samples.
        """
        predicted = np.full(self._n_ranked, 0.5)
        if not self._is_possible:
            return predicted
        counts = self._counts
        n_classes, n_samples = len(counts), int(counts.sum())
        codes = np.repeat(np.arange(n_classes, dtype=np.int32), counts.astype(np.int64))
        points = self._standard_points()
        groups = _TiedSamples(n_samples)
        squares = np.zeros((n_samples, n_classes))
        products, leverages = np.zeros_like(squares), np.zeros(n_samples)
        log_odds = np.empty((n_classes, n_samples))
        priors = np.log(counts / n_samples)
        sizes = set(evaluated_sizes(len(points)))
        for step in range(len(points)):
            whiten(self._lower[step], step, points)
            add_distances(points[step], codes, counts, squares, products, leverages)
            groups.split(self._rows[step])
            if step + 1 in sizes:
                leave_out(
                    squares, products, leverages, codes, counts, priors, self._shrinkage,
                    self._n_free, np.empty(n_classes), np.empty(n_classes), log_odds,
                )  # fmt: skip
                groups.average(log_odds)
                predicted[step:] = _mauc(log_odds, codes, counts)
        return predicted

    def _standard_points(self):
        """Return samples, class means, their luck and the common mean, one row per feature.

        All are in units of the standard deviation within the classes.
        """
        distances = self._by_class - self._common
        shares = shares_of_luck(distances / self._errors, self._sizes)
        n_classes = len(distances)
        # The sum over the pairs of the squared distances between class means.
        apparent = n_classes * (distances**2).sum(axis=0) - distances.sum(axis=0) ** 2
        part = self._confirmed / np.maximum(apparent, 1e-300)
        luck = np.maximum(shares, 1.0 - np.sqrt(np.minimum(part, 1.0))) * distances
        n_samples = self._rows.shape[1]
        points = np.empty((len(self._rows), n_samples + 2 * len(luck) + 1))
        points[:, :n_samples] = self._rows
        points[:, :n_samples] *= self._scales[:, np.newaxis]
        points[:, n_samples:-1] = np.concatenate([self._by_class, luck]).T
        points[:, -1] = self._common
        return points


class _TiedSamples:
    """Samples that agree in all features so far."""

    def __init__(self, n_samples):
        self._groups = np.zeros(n_samples, np.int64)
        self._n_groups = 1

    def split(self, scores):
        """Tell the samples of each group apart by their scores, int8."""
        if self._n_groups < len(self._groups):
            words = self._groups * 256 + (scores.astype(np.int64) + 128)
            self._groups = np.unique(words, return_inverse=True)[1].ravel()
            self._n_groups = int(self._groups.max()) + 1

    def average(self, rows):
        """Replace the values of each group by their mean, in every row."""
        if self._n_groups < len(self._groups):
            sizes = np.bincount(self._groups)
            for row in rows:
                # Those of a class are equal and follow each other: no order of them matters.
                row[:] = (np.bincount(self._groups, row) / sizes)[self._groups]


def _mauc(log_odds, codes, counts):
    wins = np.empty((len(counts), len(counts)))
    class_wins(log_odds, np.argsort(log_odds, axis=1), codes, np.ones(len(codes)), wins)
    is_pair = ~np.eye(len(counts), dtype=bool)
    auc = (wins / 2.0 + 0.5) / (np.outer(counts, counts) + 1.0)
    return max(0.5, float(auc[is_pair].mean()))


@njit(cache=True, nogil=True)
def whiten(lower_row, step, points):
    """Make row `step` of the points independent of the rows before it."""
    row = points[step]
    for t in range(step):
        factor, other = lower_row[t], points[t]
        for i in range(uintp(row.shape[0])):
            row[i] -= factor * other[i]
    root = lower_row[step]
    for i in range(uintp(row.shape[0])):
        row[i] /= root


@njit(cache=True, nogil=True)
def add_distances(points, codes, counts, squares, products, leverages):
    """Add one coordinate to the distances of all samples.

    Parameters
    ----------
    points : ndarray of shape (n_samples + 2 n_classes + 1,), float64
        See `_standard_points`.
    codes : ndarray of shape (n_samples,), int32
    counts : ndarray of shape (n_classes,), float64
    squares, products : ndarray of shape (n_samples, n_classes), float64
        v_g' v_g and v_g' r of every sample; updated.
    leverages : ndarray of shape (n_samples,), float64
        r' r; updated.
    """
    n, n_classes = codes.shape[0], counts.shape[0]
    for i in range(n):
        k = codes[i]
        # A class of one sample is left with the mean of all samples.
        own = points[i] - (points[n + k] if counts[k] > 1.0 else points[n + 2 * n_classes])
        r = own * counts[k] / (counts[k] - 1.0) if counts[k] > 1.0 else own
        luck = points[n + n_classes + k]
        leverages[i] += r * r
        for g in range(n_classes):
            v = r - luck if g == k else points[i] - luck - points[n + g]
            squares[i, g] += v * v
            products[i, g] += v * r


@njit(cache=True, nogil=True)
def leave_out(
    squares, products, leverages, codes, counts, priors, shrinkage, n_free, logs, terms, log_odds
):
    """Fill in the logarithm of the odds of every class, each sample being left out in turn.

    Parameters
    ----------
    squares, products, leverages, codes, counts
        As above.
    priors : ndarray of shape (n_classes,), float64
        Logarithms.
    shrinkage : float
    n_free : int
    logs, terms : ndarray of shape (n_classes,), float64
        Work space.
    log_odds : ndarray of shape (n_classes, n_samples), float64
    """
    n_classes = counts.shape[0]
    for i in range(codes.shape[0]):
        b = (1.0 - shrinkage) * (1.0 - 1.0 / counts[codes[i]]) / n_free
        b /= max(1.0 - b * leverages[i], _MIN_LEFT)
        largest, second, top = -np.inf, -np.inf, 0
        for g in range(n_classes):
            distance = squares[i, g] + b * products[i, g] * products[i, g]
            logs[g] = priors[g] - 0.5 * distance * (n_free - 1.0) / n_free
            if logs[g] > largest:
                largest, second, top = logs[g], largest, g
            elif logs[g] > second:
                second = logs[g]
        # Odds of the top class are against the others alone: nothing cancels.
        others = 0.0
        for g in range(n_classes):
            terms[g] = exp_minus(largest - logs[g])
            others += terms[g] if g != top else 0.0
        for g in range(n_classes):
            rest = largest + math.log(others + (1.0 - terms[g]))
            if g == top:
                rest = largest + math.log(others) if largest - second < _MAX_GAP else second
            log_odds[g, i] = logs[g] - rest
