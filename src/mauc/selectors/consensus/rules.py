"""Rankings of halves in, one ranking out: by frequency or by mean rank.

The k-th feature is chosen by what the first k features of every half say, so that the ranking of
fewer features is the beginning of that of more.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.data.problem import group_by_class
from mauc.exceptions import SmallClassWarning, listed, warn_user
from mauc.parallel import even_ranges, run_in, start_pool
from mauc.progress import track
from mauc.selectors.greedy_mauc.row_sample import hash_all_rows
from mauc.selectors.greedy_mauc.search import Conditioning, exp_minus, fused


class Counts:
    """Frequencies and mean ranks of all features among the first k of every half.

    Parameters
    ----------
    rankings : ndarray of shape (n_halves, n_ranked), int64
    n_features : int

    Attributes
    ----------
    size : int
        k; 0 at first.
    frequencies : ndarray of shape (n_features,), float64
        Share of the halves that have a feature among their first k.
    """

    def __init__(self, rankings, n_features):
        self._rankings = rankings
        self._held = np.zeros(n_features, np.int64)
        self._places = np.zeros(n_features, np.int64)  # sums of the ranks of those that are held
        self.size = 0

    def extend(self, size):
        """Look at the first `size` features of every half."""
        for place in range(self.size, size):
            np.add.at(self._held, self._rankings[:, place], 1)
            np.add.at(self._places, self._rankings[:, place], place + 1)
        self.size = size

    @property
    def frequencies(self):
        """Share of the halves that have a feature among their first `size`."""
        return self._held / len(self._rankings)

    @property
    def rank_sums(self):
        """Sum of the ranks over the halves; a feature beyond the first k has rank k + 1."""
        return self._places + (len(self._rankings) - self._held) * (self.size + 1)

    @property
    def mean_ranks(self):
        """Mean of the ranks over the halves."""
        return self.rank_sums / len(self._rankings)


def rank_by_counts(rankings, n_features, rule):
    """Return a consensus of rankings.

    Parameters
    ----------
    rankings : ndarray of shape (n_halves, n_ranked), int64
    n_features : int
    rule : {"frequency", "rank"}
        By the frequency, equal ones by the mean rank, or by the mean rank alone; then by column.

    Returns
    -------
    ranking : ndarray of shape (n_ranked,), int64
    scores : ndarray of shape (n_ranked,), float64
        The frequency, or the mean rank, of each feature when it was chosen.
    """
    n_ranked = rankings.shape[1]
    counts = Counts(rankings, n_features)
    is_left = np.ones(n_features, bool)
    ranking, scores = np.empty(n_ranked, np.int64), np.empty(n_ranked)
    for step in range(n_ranked):
        counts.extend(step + 1)
        left = np.flatnonzero(is_left)
        if rule == "frequency":
            held = counts.frequencies[left]
            left = left[held == held.max()]
        best = left[np.argmin(counts.rank_sums[left])]  # the lowest column of equals
        said = counts.frequencies if rule == "frequency" else counts.mean_ranks
        ranking[step], scores[step] = best, said[best]
        is_left[best] = False
    return ranking, scores


def complementary_halves(problem, n_pairs, rng):
    """Return the rows of the halves, two after the other being complementary.

    Parameters
    ----------
    problem : Problem
    n_pairs : int
    rng : RandomState

    Returns
    -------
    halves : list of ndarray, int64
        2 n_pairs arrays of ascending rows. The rows of a class are known by a hash of the ranks of
        their values: another order of the rows gives the same halves. A half has each class with
        half of its rows; where their number is odd, the halves take turns in having one more. The
        row of a class of one is in both.
    """
    order, starts, _ = group_by_class(problem.codes, problem.n_classes)
    hashes = hash_all_rows(problem)[order]
    groups = [
        order[start + np.argsort(hashes[start:stop], kind="stable")]
        for start, stop in pairwise(starts)
    ]
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"a class needs 2 samples to be in both halves; the one sample of {listed(single)} "
            f"is in all halves, so what is measured on it is not resampled.",
            SmallClassWarning,
        )
    halves = []
    for _ in range(n_pairs):
        first, second = [], []
        turn = int(rng.randint(2))
        for group in groups:
            shuffled = group[rng.permutation(len(group))]
            if len(shuffled) == 1:
                first.append(shuffled)
                second.append(shuffled)
                continue
            n_first = (len(shuffled) + turn) // 2
            turn = turn ^ (len(shuffled) % 2)
            first.append(shuffled[:n_first])
            second.append(shuffled[n_first:])
        halves += [np.sort(np.concatenate(half)).astype(np.int64) for half in (first, second)]
    return halves


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


SHOWN_THRESHOLD = 0.8  # frequency whose bound is told


def stability_sentence(selector):
    """Return the stability of a fitted `ConsensusSelector`, and how many features may be wrong.

    Returns
    -------
    sentence : str
        Without a capital letter and a full stop; "" if all features were selected, for there was
        nothing to choose. A bound that does not exclude that all are wrong is left out.
    """
    found = selector.stability_
    if math.isnan(found.value):
        return ""
    bound = selector.error_control_.at(SHOWN_THRESHOLD)
    n = bound.n_features
    counted = f"{n:,} features are" if n > 1 else "1 feature is" if n == 1 else "no feature is"
    sentence = (
        f"stability over {len(selector.rankings_):,} halves of the samples: {found.value:.3f} "
        f"({found.lower:.3f} to {found.upper:.3f}); {counted} chosen from {SHOWN_THRESHOLD:.0%} of "
        f"them or more"
    )
    if bound.worst_case < n:
        digits = 1 if bound.worst_case >= 0.1 else 4
        sentence += f", of which at most {bound.worst_case:.{digits}f} are expected to be wrong"
    return sentence
