"""What GreedyMAUC measures first: effects on class pairs, normal scores, how far to shrink.

A Problem in; effects, 8-bit normal scores sorted by class and a shrinkage intensity out.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mauc.auc.counting import write_levels
from mauc.auc.levels import find_levels
from mauc.auc.pair_auc import dense_wins, fold_wins
from mauc.parallel import run_blocks
from mauc.problem.columns import read_only
from mauc.problem.decomposition import Decomposition
from mauc.selectors.greedy_mauc.score_columns import (
    level_scores,
    score_table,
    sum_scores,
    value_scores,
)

MAX_AUC = 1.0 - 1e-4  # a perfect AUC of a finite sample is no proof of an infinite effect
MAX_SQUARE = 11.0  # of an effect (AUC 0.99): beyond, its variance is no better known
MIN_SQUARE = 1e-12
MODEL_NOISE = 0.05  # square of an effect (AUC 0.56) that is not distinguished from model error
N_SHRINKAGE_FEATURES = 64  # enough for a mean over 2016 pairs of features
MIN_CLASS_COUNT = 3  # samples that a class needs for a correlation of its own


def effect_sizes(wins, max_wins, variances, noise_correction=0.0, folded=None):
    r"""Return the effect of features on class pairs, positive where the first class is higher.

    Parameters
    ----------
    wins : ndarray of shape (n_features, n_pairs)
    max_wins : ndarray of shape (n_pairs,)
    variances : ndarray of shape (n_pairs,)
        1 / n_i + 1 / n_j, the variance of an estimated effect of 0.
    noise_correction : float, default=0.0
    folded : ndarray of shape (n_features, n_pairs), float64, optional
        Gets the folded AUCs.

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
        Of x and of -x the same up to the sign, to the bit.

    Notes
    -----
    :math:`d = \sqrt 2 \Phi^{-1}(A)` of the clipped AUC, times
    :math:`\max(0, 1 - \kappa s^2 / d^2)` with :math:`\kappa` the noise correction and
    :math:`s^2 = (1/n_i + 1/n_j)(1 + \min(d^2, 11) / 8) + 0.05`: the variance of d, and what the
    model is wrong by with any number of samples. It is the positive-part rule of James and
    Stein, one effect at a time.
    """
    if folded is None:
        folded = np.empty(wins.shape)
    fold_wins(wins, max_wins, folded)
    effects = np.sqrt(2.0) * ndtri(np.minimum(folded, MAX_AUC))
    if noise_correction > 0.0:
        squares = effects * effects
        noise = variances * (1.0 + np.minimum(squares, MAX_SQUARE) / 8.0) + MODEL_NOISE
        share = noise_correction * noise / np.maximum(squares, MIN_SQUARE)
        effects *= 1.0 - np.minimum(share, 1.0)
    return np.where(2 * wins < max_wins, -effects, effects)


def measure(problem, *, noise_correction=0.0, max_samples=None, pair_auc=None, n_jobs=None):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `effect_sizes`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs of all features.
    n_jobs : int, optional

    Returns
    -------
    effects : ndarray of shape (n_pairs, n_features), float64
    scores : NormalScores
    """
    pairs = Decomposition("one-vs-one", problem.n_classes)
    effects = np.empty((pairs.n_subproblems, problem.n_features))
    first, second = pairs.members.T
    variances = 1.0 / problem.class_counts[first] + 1.0 / problem.class_counts[second]
    scorer = NormalScorer(problem, max_samples)
    scores = scorer.make_room()

    def fill(block):
        XT = problem.ordered_columns(block)
        wins = dense_wins(XT, problem.codes, problem.class_counts)
        folded = None if pair_auc is None else pair_auc[block]
        found = effect_sizes(wins, problem.max_wins, variances, noise_correction, folded)
        effects[:, block] = found.T
        scorer.write(XT, block, scores)

    for _ in run_blocks(fill, problem.blocks(len(effects), is_dense=True), n_jobs):
        pass
    return effects, scores


@dataclass(frozen=True)
class NormalScores:
    r"""Normal scores of all features.

    Parameters
    ----------
    scores : ndarray of shape (n_features, n_kept), int8
        In units of 1/32, the rows sorted by class: one byte per cell, whatever the type of X.
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
        Keep the scores of at most so many samples, evenly spaced when they are sorted by
        class. Ranks are those among all samples.
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
            levels = find_levels(XT)
            has_levels = levels.n_levels > 0
            has_levels[has_levels] = ~np.isnan(XT[has_levels]).any(axis=1)
            if has_levels.all():
                self._write_levels(XT, levels, scores, varies)
            elif not has_levels.any():
                self._write_values(XT, scores, varies)
            else:
                part, part_varies = np.empty_like(scores), np.empty_like(varies)
                n_levels = has_levels.sum()
                self._write_levels(
                    read_only(XT[has_levels]), levels.take(has_levels),
                    part[:n_levels], part_varies[:n_levels],
                )  # fmt: skip
                self._write_values(
                    read_only(XT[~has_levels]), part[n_levels:], part_varies[n_levels:]
                )
                order = np.argsort(~has_levels, kind="stable")
                scores[order], varies[order] = part, part_varies
        sum_scores(scores, self._starts, out.sums[block], out.squares[block])

    def _write_levels(self, XT, levels, scores, varies):
        LT = np.empty(XT.shape, np.uint8)
        no_labels, no_missing = np.zeros(0, np.int32), np.zeros((len(XT), 1), np.int64)
        write_levels(XT, levels.lows, levels.factors, no_labels, LT, no_missing)
        level_scores(read_only(LT), self._table, self._rows, scores, varies)

    def _write_values(self, XT, scores, varies):
        ascending = np.sort(XT, axis=1)
        value_scores(XT, ascending, self._table, self._steps, self._rows, scores, varies)


def estimate_shrinkage(scores):
    r"""Return the shrinkage intensity of the within-class correlations.

    Parameters
    ----------
    scores : NormalScores
        Up to 64 of the features that vary, at even distances, are looked at.

    Returns
    -------
    shrinkage : float
        In [0, 1].

    Notes
    -----
    One correlation r of two features is used for all class pairs, pooled over the c classes of
    n samples. It misses that of one pair of classes by chance, with variance
    :math:`(1 - r^2)^2 / (n - c)`, and because the classes differ, with half the variance s^2 of
    the correlation r_k of a class about r,

    .. math:: s^2 = \sum_k \frac{n_k}{n}
        \Big[ (r_k - r)^2 - \frac{(1 - r_k^2)^2}{n_k - 1} \Big].

    The multiple (1 - shrinkage) r of least mean squared error over the pairs of features has

    .. math:: \lambda = \frac{h}{h + \overline{r^2}}, \qquad
        h = \frac{\overline{(1 - r^2)^2}}{n - c} + \frac{\max(0, \overline{s^2})}{2},

    where bars are means over pairs of features. The first part is the analytic intensity of
    Ledoit & Wolf [1]_ and Schaefer & Strimmer [2]_. Sums are of whole numbers, thus exact.

    References
    ----------
    .. [1] O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", J. Multivariate Analysis 88, 2004.
    .. [2] J. Schaefer, K. Strimmer, "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4, 2005.
    """
    varying = np.flatnonzero(scores.varies)
    n_chosen = min(N_SHRINKAGE_FEATURES, len(varying))
    counts = scores.class_counts
    n_free = counts.sum() - np.count_nonzero(counts)
    if n_chosen < 2:
        return 0.0
    if n_free < 1:
        return 1.0
    chosen = varying[np.arange(n_chosen) * len(varying) // n_chosen]
    values = scores.scores[chosen].astype(np.float64)
    pairs = np.triu_indices(n_chosen, 1)
    stops = np.cumsum(counts)
    scatters = {}
    for k in np.flatnonzero(counts):
        part = values[:, stops[k] - counts[k] : stops[k]]
        total = part.sum(axis=1)
        # Products of whole numbers below 2^53: exact, whatever the order of the sum.
        scatters[k] = part @ part.T - np.outer(total, total) / counts[k]
    r = _correlations(sum(scatters.values()))[pairs]
    spread, weight = 0.0, 0
    for k, scatter in scatters.items():
        if counts[k] >= MIN_CLASS_COUNT:
            r_k = _correlations(scatter)[pairs]
            chance = (1.0 - r_k**2) ** 2 / (counts[k] - 1)
            spread += counts[k] * np.mean((r_k - r) ** 2 - chance)
            weight += counts[k]
    error = np.mean((1.0 - r**2) ** 2) / n_free + max(0.0, spread) / max(weight, 1) / 2
    return float(min(1.0, error / (error + np.mean(r**2))))


def _correlations(scatter):
    """Return correlations from sums of squares and products, 0 where nothing varies."""
    deviations = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    # Whole numbers that differ have a scatter of 1/2 or more.
    inverse = np.where(deviations > 0.5, 1.0 / np.maximum(deviations, 0.5), 0.0)
    return scatter * inverse[:, None] * inverse
