"""A greedy search that leaves near-ties to the halves: a model and rankings in, a ranking out."""

from typing import NamedTuple

import numpy as np
from numba import njit, uintp

from mauc.parallel import even_ranges, run_in, start_pool
from mauc.progress import track
from mauc.selectors.consensus.rules import Counts
from mauc.selectors.greedy_mauc.judging.model import Conditioning
from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus, fused

NEAR = 0.9  # of the largest gain: what gains so much is nearly as good


class GainRanking(NamedTuple):
    """The features in the order of choice."""

    ranking: np.ndarray  #: (n_wanted,)
    gains: np.ndarray  #: (n_wanted,): weighted part of the loss that each takes away


def rank_near_ties(model, rankings, n_wanted, *, n_threads=1):
    r"""Search as GreedyMAUC does; of features that gain nearly the same take the most frequent.

    Parameters
    ----------
    model : Model
        Of all samples; its effects are overwritten.
    rankings : ndarray of shape (n_halves, >= n_wanted), int64
        Of halves of the samples.
    n_wanted : int
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    GainRanking

    Notes
    -----
    The k-th step looks at the features whose gain
    :math:`b_f (L(S) - L(S \cup \{f\})) / L(S)` is at least 9/10 of the largest, with
    :math:`L(S) = \sum_p \exp(-\alpha D_p^2(S) / 8)` over the class pairs p and :math:`b_f` the
    prior weights of the model, and takes the one that most halves have among their first k; equal
    ones go by their gain, then by column. Constant features come last.
    """
    n_features, n_pairs = model.effects.shape
    counts = Counts(rankings, n_features)
    given, effects, rate = Conditioning(model, n_wanted), model.effects, model.rate
    prior = np.ones(n_features) if model.prior is None else model.prior
    blocks = even_ranges(n_features, n_threads)
    losses, is_left = np.empty(n_features), np.ones(n_features, bool)
    ranking, gains = np.empty(n_wanted, np.int64), np.empty(n_wanted)

    def rate_block(block, weights, total):
        part = slice(*block)
        rate_effects(
            effects[part], given.variances[part], weights, rate, total, given.is_left[part],
            np.empty(n_pairs), losses[part],
        )  # fmt: skip

    def condition_block(block, step):
        part = slice(*block)
        condition_effects(
            effects[part], given.slopes[step], given.factors[step, part], given.is_left[part]
        )

    with start_pool(len(blocks)) as pool:
        for step in track(range(n_wanted), "features"):
            counts.extend(step + 1)
            # The hardest pair has an error of 1: none is lost.
            weights = np.exp(-rate * (given.separations - given.separations.min()))
            total = float(weights.sum())
            run_in(pool, rate_block, blocks, weights, total)
            gain = np.maximum(prior * (total - losses) / total, 0.0)
            gain[~model.scores.varies] = -1.0
            gain[~is_left] = -2.0
            largest = gain.max()
            near = np.flatnonzero(gain >= min(NEAR * largest, largest))  # -1: constant ones alone
            held = counts.frequencies[near]
            near = near[held == held.max()]
            best = int(near[np.argmax(gain[near])])
            ranking[step], gains[step], is_left[best] = best, max(gain[best], 0.0), False
            if given.is_left[best]:  # a constant one explains nothing
                given.add(best, effects[best].copy())
                run_in(pool, condition_block, blocks, given.step - 1)
    return GainRanking(ranking, gains)


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
