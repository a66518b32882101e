"""Standardised differences: class sums of normal scores in, a second measure of effects out.

An AUC tells an effect badly in two cases. Of a rare binary feature it is near 1/2, for most pairs
of rows are tied, however well its one tells two classes apart: with rates of 0.2 and 0 the AUC is
0.6, the effect of two normal classes with that AUC 0.36, and the difference of the means in
standard deviations 0.71. A linear score gets the latter from it. And of a dozen samples a class the
AUC is rough, and 1 for many features that are not equally good; the difference of the means, over a
deviation to which all classes contribute, is less so.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import uintp
from scipy.special import ndtri

from mauc.compile import njit
from mauc.data.problem import group_by_class
from mauc.engine.arrays import read_only
from mauc.engine.nominal import nominal_wins
from mauc.selectors.greedy_mauc.row_sample import sample_rows
from mauc.selectors.greedy_mauc.scores import (
    MIN_TIED,
    category_scores,
    class_signs,
    level_scores,
    rank_scores,
    score_table,
    sorted_scores,
    sum_scores,
)
from mauc.selectors.pair_auc import ColumnReader, folded_auc, unordered_columns

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
    rows : ndarray of shape (n_kept,), int32
        The rows that are kept, sorted by class.
    nominal_squares : dict of int to float
        For every nominal feature of more than two categories, whose scores are made of the classes,
        the sum of its squared leave-pair-out effects over the class pairs.

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
    rows: np.ndarray
    nominal_squares: dict[int, float] = field(default_factory=dict)

    @property
    def scores(self):
        """The scores alone, shape (n_features, n_kept)."""
        return self.padded[:, : self.class_counts.sum()]


class NormalScorer:
    """Writes the scores of the columns of one problem, one block at a time, see `writer`.

    Parameters
    ----------
    problem : Problem
    max_samples : int, optional
        Keep the scores of at most so many samples, see `sample_rows`. Ranks are those among all
        samples.
    kept : ndarray of shape (n_kept,), int64, optional
        The samples whose scores are kept, from `kept_places`, if they are known already.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), int32
        The rows sorted by class.
    scores : NormalScores
        Complete when all columns are written.
    """

    def __init__(self, problem, max_samples=None, kept=None):
        self.order, starts = _rows_by_class(problem)
        self._all_starts, self._all_counts = starts, problem.class_counts
        self._labels = np.zeros(-(-problem.n_samples // 8) * 8, np.int32)
        self._labels[: problem.n_samples] = problem.codes
        n_samples = problem.n_samples
        self._kept = _places(problem, self.order, starts, max_samples) if kept is None else kept
        self._rows = self.order[self._kept]
        counts = np.bincount(problem.codes[self._rows], minlength=problem.n_classes)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._table = score_table(n_samples)
        n_features, n_padded = problem.n_features, -(-len(self._rows) // _ALIGN) * _ALIGN
        self.scores = NormalScores(
            np.zeros((n_features, n_padded), np.int8),
            np.empty((problem.n_classes, n_features), np.int64),
            np.empty(n_features, np.int64),
            counts,
            np.empty(n_features, np.bool_),
            self._rows,
        )

    def writer(self, block, *, takes_all):
        """Return what a `ColumnReader` needs to write scores and class sums of some columns."""
        return _BlockWriter(
            self, BlockMoments.of(block, len(self._all_counts), takes_all=takes_all)
        )

    def write_levels(self, LT, columns, block):
        """Write the scores of columns of levels, uint8, none of which is missing."""
        out, n_classes = self.scores, len(self._all_counts)
        column = np.zeros(len(self._labels), np.uint8)
        level_scores(
            LT, self._table, self._rows, columns, self._labels, self._all_counts,
            np.empty((4, 256), np.int32), np.empty(256, np.int8), column, column.view(np.uint64),
            np.empty(256, np.uint64), np.empty((2, n_classes), np.uint64), out.padded, out.varies,
            *block,
        )  # fmt: skip
        sum_scores(out.padded, self._starts, columns, out.sums, out.squares)

    def write_sorted(self, words, n_known, row_bits, columns, block):
        """Write the scores of sorted columns."""
        out = self.scores
        by_place = np.empty(words.shape[1], np.int8)
        sorted_scores(
            words, n_known, row_bits, self._table, self._kept, by_place, self._all_starts, columns,
            out.padded, out.varies, *block,
        )  # fmt: skip
        sum_scores(out.padded, self._starts, columns, out.sums, out.squares)


class _BlockWriter:
    """Scores of a block of columns, written by a `NormalScorer`, and their class sums."""

    def __init__(self, scorer, block):
        self._scorer, self.block = scorer, block

    def write_levels(self, LT, columns):
        self._scorer.write_levels(LT, columns, self.block)

    def write_sorted(self, words, n_known, row_bits, columns):
        self._scorer.write_sorted(words, n_known, row_bits, columns, self.block)


def kept_places(problem, max_samples=None):
    """Return the places, among the rows sorted by class, of the rows whose scores are kept.

    Returns
    -------
    kept : ndarray of shape (n_kept,), int64
    rows : ndarray of shape (n_kept,), int32
        The rows at these places.
    class_counts : ndarray of shape (n_classes,), int64
        Of the rows that are kept.
    """
    order, starts = _rows_by_class(problem)
    kept = _places(problem, order, starts, max_samples)
    rows = order[kept]
    return kept, rows, np.bincount(problem.codes[rows], minlength=problem.n_classes)


def _rows_by_class(problem):
    order, starts, _ = group_by_class(problem.codes, problem.n_classes)
    return order.astype(np.int32), starts


def _places(problem, order, starts, max_samples):
    if max_samples is None or max_samples >= problem.n_samples:
        return np.arange(problem.n_samples)
    return sample_rows(problem, order, starts, max_samples)


MAX_AUC = 1.0 - 1e-4  # a perfect AUC of a finite sample is no proof of an infinite effect
MAX_SQUARE = 11.0  # of an effect (AUC 0.99): beyond, its variance is no better known
MIN_SQUARE = 1e-12
MODEL_NOISE = 0.05  # square of an effect (AUC 0.56) that is not distinguished from model error
_MAX_TABLE = 2**18  # entries: 2 MiB, so that a table stays in a fast cache


def effect_sizes(wins, max_wins, variances, noise_correction=0.0):
    r"""Return the effect of features on class pairs, positive where the first class is higher.

    Parameters
    ----------
    wins : ndarray of shape (n_features, n_pairs)
    max_wins : ndarray of shape (n_pairs,)
    variances : ndarray of shape (n_pairs,)
        1 / n_i + 1 / n_j, the variance of an estimated effect of 0.
    noise_correction : float, default=0.0

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
        Of x and of -x the same up to the sign, to the bit.

    Notes
    -----
    :math:`d = \sqrt 2 \Phi^{-1}(A)` of the clipped AUC, without its noise, see `take_off_noise`.
    """
    return take_off_noise(auc_effects(wins, max_wins), variances, noise_correction)


def auc_effects(wins, max_wins):
    """Return the distances of two normal classes of unit variance that give the clipped AUCs."""
    folded = folded_auc(wins, max_wins)
    effects = np.sqrt(2.0) * ndtri(np.minimum(folded, MAX_AUC))
    return np.where(2 * wins < max_wins, -effects, effects)


def take_off_noise(effects, variances, noise_correction):
    r"""Make effects smaller for the noise in them, in place, and return them.

    Notes
    -----
    They are multiplied by :math:`\max(0, 1 - \kappa s^2 / d^2)` with :math:`\kappa` the noise
    correction and :math:`s^2 = (1/n_i + 1/n_j)(1 + \min(d^2, 11) / 8) + 0.05`: the variance of d,
    and what the model is wrong by with any number of samples. It is the positive-part rule of James
    and Stein, one effect at a time.
    """
    if noise_correction > 0.0:
        squares = effects * effects
        noise = variances * (1.0 + np.minimum(squares, MAX_SQUARE) / 8.0) + MODEL_NOISE
        share = noise_correction * noise / np.maximum(squares, MIN_SQUARE)
        effects *= 1.0 - np.minimum(share, 1.0)
    return effects


class EffectSizer:
    """Turns the wins and class sums of blocks of features into effects.

    Few samples can only have few numbers of wins: the effects of their AUCs are then looked up in a
    table, whose entries have the bits that `auc_effects` gives.

    Parameters
    ----------
    problem : Problem
    noise_correction : float
        See `take_off_noise`; with 0, small classes are not helped either.

    Attributes
    ----------
    takes_all : bool
        Whether class sums of all features are needed, not only of those with many ties.
    """

    def __init__(self, problem, noise_correction):
        first, second = np.triu_indices(problem.n_classes, 1)
        self._max_wins = problem.max_wins
        self._variances = 1.0 / problem.class_counts[first] + 1.0 / problem.class_counts[second]
        self._noise_correction = noise_correction
        self._blend = DifferenceBlend(problem.class_counts, helps_small=noise_correction > 0.0)
        self.takes_all = self._blend.takes_all
        self._table = None
        kinds, kind_of = np.unique(self._max_wins, return_inverse=True)
        n_wins = kinds.astype(np.int64) + 1
        n_effects = problem.n_features * len(self._max_wins)
        if n_wins.sum() <= min(_MAX_TABLE, n_effects):
            starts = np.cumsum(n_wins) - n_wins
            wins = np.arange(n_wins.sum()) - np.repeat(starts, n_wins)
            self._table = auc_effects(wins, np.repeat(kinds, n_wins))
            self._starts = starts[kind_of.ravel()]

    def write(self, wins, block, out):
        """Write the effects of features.

        Parameters
        ----------
        wins : ndarray of shape (n_features, n_pairs), int64
        block : BlockMoments
        out : ndarray of shape (n_features, n_pairs), float64
        """
        if self._table is None:
            out[:] = auc_effects(wins, self._max_wins)
        else:
            look_up(wins, self._starts, self._table, out)
        places = block.places
        if len(places) == len(out):
            out[:] = self._blend.apply(out, block, places)
        elif len(places) > 0:
            out[places] = self._blend.apply(out[places], block, places)
        take_off_noise(out, self._variances, self._noise_correction)

    def nominal(self, wins, signs):
        """Return the effects of a nominal feature.

        Parameters
        ----------
        wins : ndarray of shape (n_pairs,)
            At least half of the largest possible wins, see `mauc.engine.nominal`.
        signs : ndarray of shape (n_pairs,)
            1 where the score of the first class is higher, -1 where it is lower.
        """
        sizes = effect_sizes(wins, self._max_wins, self._variances, self._noise_correction)
        return signs * sizes


@njit(cache=True, nogil=True)
def look_up(wins, starts, table, out):
    """Fill `out` with the entries of the table at ``starts[pair] + wins[feature, pair]``."""
    for j in range(wins.shape[0]):
        won, target = wins[j], out[j]
        for pair in range(uintp(starts.shape[0])):
            target[pair] = table[uintp(starts[pair] + won[pair])]


def measure(
    problem, *, noise_correction=0.0, max_samples=None, kept=None, pair_auc=None, n_jobs=None
):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `mauc.selectors.greedy_mauc.effects.take_off_noise`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    kept : ndarray of shape (n_kept,), int64, optional
        Which they are, if that is known already.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs of all features.
    n_jobs : int, optional

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
    scores : NormalScores
    """
    effects = np.empty((problem.n_features, len(problem.max_wins)))
    sizer = EffectSizer(problem, noise_correction)
    scorer = NormalScorer(problem, max_samples, kept)
    all_columns = ColumnReader(problem, None, scorer.order)

    def fill(block):
        writer = scorer.writer(block, takes_all=sizer.takes_all)
        reader = all_columns.with_writer(writer)
        wins = reader.read(block)
        sizer.write(wins, writer.block, effects[block])
        if pair_auc is not None:
            pair_auc[block] = folded_auc(wins, problem.max_wins)
        # They were read as codes, and are read again as scores of the categories.
        for place, counts in unordered_columns(problem, block):
            column = block.start + place
            by_category = category_scores(counts)
            codes = problem.float_columns([column])[0]
            ranks = np.append(rank_scores(by_category), np.nan)  # the last is of missing values
            values = ranks[np.where(np.isnan(codes), -1, codes).astype(np.int64)]
            reader.read_columns(read_only(values[np.newaxis]), np.array([column]))
            won = nominal_wins(counts)
            effects[column] = sizer.nominal(won, class_signs(counts, by_category))
            scorer.scores.nominal_squares[column] = float((effects[column] ** 2).sum())
            if pair_auc is not None:
                pair_auc[column] = won / problem.max_wins

    for _ in problem.run_blocks(fill, effects.shape[1], n_jobs, is_dense=True):
        pass
    return effects, scorer.scores
