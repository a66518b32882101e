"""Effects of features on class pairs: wins and class sums in, distances of normal classes out."""

import numpy as np
from numba import njit, uintp
from scipy.special import ndtri

from mauc.auc.pair_auc import folded_auc
from mauc.selectors.greedy_mauc.measuring.differences import DifferenceBlend

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
            At least half of the largest possible wins, see `mauc.auc.nominal_auc`.
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
