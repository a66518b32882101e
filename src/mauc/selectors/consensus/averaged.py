"""A greedy search on the mean loss over several samples: models of GreedyMAUC in, a ranking out."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit, uintp

from mauc.parallel import even_ranges, run_in, start_pool
from mauc.progress import track
from mauc.selectors.greedy_mauc.judging.model import Conditioning
from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus, fused


class AveragedRanking(NamedTuple):
    """The features in the order of choice."""

    ranking: np.ndarray  #: (n_wanted,)
    gains: np.ndarray  #: (n_wanted,): weighted part of the mean loss that each takes away


def averaged_ranking(models, n_wanted, *, n_threads=1):
    r"""Choose features by the loss averaged over samples.

    Parameters
    ----------
    models : list of Model
        Of the same features, one per sample; their effects are overwritten.
    n_wanted : int
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    AveragedRanking

    Notes
    -----
    Each step takes :math:`\arg\max_f \sum_s b_{sf} (L_s(S) - L_s(S \cup \{f\})) / \sum_s L_s(S)`
    with :math:`L_s(S) = \sum_p \exp(-\alpha D_{sp}^2(S) / 8)`, s being the samples, p the class
    pairs and :math:`b_{sf}` the prior weights of the models, 1 without a prior; equal ones go by
    the mean of their weights, then by column. A feature that is constant in a sample adds nothing
    there. Those that gain nothing come last, the constant ones at the end.
    """
    n_features, n_pairs = models[0].effects.shape
    states = [_State(model, n_wanted) for model in models]
    blocks = even_ranges(len(states), n_threads)
    losses = np.empty((len(states), n_features))
    priors = np.array([np.ones(n_features) if m.prior is None else m.prior for m in models])
    varies = np.logical_or.reduce([model.scores.varies for model in models])
    is_left = np.ones(n_features, bool)
    ranking, gains = np.empty(n_wanted, np.int64), np.empty(n_wanted)

    def rate(block, lowest):
        errors = np.empty(n_pairs)
        return [states[s].rate(lowest, errors, losses[s]) for s in range(*block)]

    def take(block, feature):
        for s in range(*block):
            states[s].take(feature)

    with start_pool(len(blocks)) as pool:
        for step in track(range(n_wanted), "features"):
            # The hardest pair of all samples has an error of 1: none is lost.
            lowest = min(float(state.given.separations.min()) for state in states)
            totals = [total for part in run_in(pool, rate, blocks, lowest) for total in part]
            drops = priors * (np.array(totals)[:, np.newaxis] - losses)
            gain = np.maximum(drops.sum(axis=0) / math.fsum(totals), 0.0)
            gain[~varies] = -1.0
            gain[~is_left] = -2.0
            tied = np.flatnonzero(gain == gain.max())
            best = int(tied[np.argmax(priors.sum(axis=0)[tied])])
            ranking[step], gains[step], is_left[best] = best, max(gain[best], 0.0), False
            run_in(pool, take, blocks, best)
    return AveragedRanking(ranking, gains)


class _State:
    """Effects of one sample, given the chosen features."""

    def __init__(self, model, n_wanted):
        self.given = Conditioning(model, n_wanted)
        self._effects, self._rate = model.effects, model.rate
        self._n_pairs = model.effects.shape[1]

    def rate(self, lowest, errors, losses):
        """Fill in the loss with every feature that is left; return the loss without."""
        given = self.given
        weights = np.exp(-self._rate * (given.separations - lowest))
        total = float(weights.sum())
        rate_effects(
            self._effects, given.variances, weights, self._rate, total, given.is_left, errors,
            losses,
        )  # fmt: skip
        return total

    def take(self, feature):
        """Condition on a feature; one that is constant here explains nothing."""
        given = self.given
        if not given.is_left[feature]:
            return
        given.add(feature, self._effects[feature].copy())
        step = given.step - 1
        condition_effects(self._effects, given.slopes[step], given.factors[step], given.is_left)


@njit(cache=True, nogil=True)
def rate_effects(effects, variances, weights, rate, total, is_left, errors, losses):
    """Fill in the loss that remains with each feature.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
        Residual effects.
    variances : ndarray of shape (n_features,), float64
    weights : ndarray of shape (n_pairs,), float64
        Errors of the pairs by the chosen set.
    rate, total : float
        Error of a pair is exp(-rate D_p^2); the loss of a feature that adds nothing.
    is_left : ndarray of shape (n_features,), bool
    errors : ndarray of shape (n_pairs,), float64
        Work space.
    losses : ndarray of shape (n_features,), float64
    """
    n_pairs = uintp(weights.shape[0])
    for f in range(effects.shape[0]):
        losses[f] = total
        if not is_left[f]:
            continue
        row, inverse = effects[f], rate / variances[f]
        for p in range(n_pairs):
            errors[p] = weights[p] * exp_minus(row[p] * row[p] * inverse)
        # Four sums that do not wait for each other, in an order of their own.
        a = b = c = d = 0.0
        for p in range(0, weights.shape[0] - 3, 4):
            a += errors[p]
            b += errors[p + 1]
            c += errors[p + 2]
            d += errors[p + 3]
        for p in range(weights.shape[0] // 4 * 4, weights.shape[0]):
            a += errors[p]
        losses[f] = (a + b) + (c + d)


@njit(cache=True, nogil=True)
def condition_effects(effects, slope, factors, is_left):
    """Take off what a chosen feature explains of the effects of those that are left."""
    for f in range(effects.shape[0]):
        if is_left[f]:
            row, factor = effects[f], factors[f]
            for p in range(uintp(slope.shape[0])):
                row[p] = fused(-slope[p], factor, row[p])
