"""The greedy search: effects and normal scores in, features in the order of choice out."""

from typing import NamedTuple

import numpy as np

from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.progress import track
from mauc.selectors.greedy_mauc.judging.model import SearchState
from mauc.selectors.greedy_mauc.searching.bounds import GainBounds
from mauc.selectors.greedy_mauc.searching.correlations import update_block, within_scales
from mauc.selectors.greedy_mauc.searching.step import BATCH, count_better, find_best, take_feature

# Rough seconds of a product, and of all else that a feature takes per step, and what a step must
# take for a thread to be worth its call.
_PRODUCT_TIME, _FEATURE_TIME, _THREAD_TIME = 5e-11, 3e-8, 5e-5
MAX_LOWER = 512  # rows of the Cholesky factor that are returned


class GreedyRanking(NamedTuple):
    """The features in the order of choice; arrays of shape (k,) but for the last four."""

    ranking: np.ndarray
    pairs: np.ndarray  #: the class pair whose error each feature lowers most
    ranks: np.ndarray  #: place of the feature among those left by the gain on that pair, from 1
    gains: np.ndarray  #: part of the error of the set so far that the feature takes away
    separations: np.ndarray  #: (k, n_pairs): D_p^2 of the features so far, or only the last row
    lower: np.ndarray  #: (<= k, <= k): Cholesky factor of the correlations, 512 rows at most
    relevance: np.ndarray  #: (n_features,): gain of every feature at the first step
    state: SearchState | None = None  #: what the search leaves behind, if it is in this process

    def note(self, step, taken, factor_s, separations):
        """Write down what `take_feature` returned, and the factors and separations so far."""
        self.pairs[step] = taken[0]
        if step < len(self.lower):
            self.lower[step, :step] = factor_s[:step]
            self.lower[step, step] = taken[4]
        if len(self.separations) == len(self.ranking):
            self.separations[step] = separations

    def finish(self, n_chosen, varies, separations):
        """Add the constant features, which tell nothing: they come last, by column."""
        self.ranking[n_chosen:] = np.flatnonzero(~varies)[: len(self.ranking) - n_chosen]
        keeps_steps = len(self.separations) == len(self.ranking)
        self.separations[n_chosen if keeps_steps else 0 :] = separations

    def first(self, k):
        """Return the ranking of the first k features; the separations of all steps are needed."""
        return GreedyRanking(*(part[:k] for part in self[:-2]), self.relevance, self.state)


def empty_ranking(k, n_chosen, n_features, n_pairs, *, keeps_steps):
    """Return a ranking to be filled: of k features, `n_chosen` of which are not constant."""
    return GreedyRanking(
        np.empty(k, np.int64), np.zeros(k, np.int64), np.ones(k, np.int64),
        np.zeros(k), np.empty((k if keeps_steps else 1, n_pairs)),
        np.zeros((min(n_chosen, MAX_LOWER),) * 2), np.zeros(n_features),
    )  # fmt: skip


def greedy_ranking(
    effects, scores, k, *, shrinkage, alpha, prior=None, keeps_steps=False, n_jobs=None
):
    """Choose features that together separate all class pairs.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
        Overwritten.
    scores : NormalScores
    k : int
        How many features to choose.
    shrinkage : float
        In [0, 1]: within-class correlations count 1 - shrinkage times.
    alpha : float
        Error of a pair is taken as exp(-alpha D_p^2 / 8).
    prior : ndarray of shape (n_features,), float64, optional
        Weights in (0, 1] that gains are multiplied by when they are compared.
    keeps_steps : bool, default=False
        Whether the separations of all steps are kept, which takes as much memory as the effects.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    GreedyRanking
    """
    n_features, n_pairs = effects.shape
    n_chosen = min(k, int(scores.varies.sum()))
    centers, scales = within_scales(scores)
    is_left = scores.varies.copy()
    n_updates = np.zeros(n_features, np.int64)
    variances, losses = np.ones(n_features), np.ones(n_features)
    factors = np.empty((max(n_chosen, 1), n_features))
    factor_s = np.empty(len(factors))
    separations, slopes = np.zeros(n_pairs), np.empty((len(factors), n_pairs))
    weights = np.full(n_pairs, 1.0 / n_pairs)
    found = empty_ranking(k, n_chosen, n_features, n_pairs, keeps_steps=keeps_steps)
    rate = alpha / 8.0
    prior = np.ones(n_features) if prior is None else prior
    bounds = GainBounds(n_features, weights, rate)
    blocks = feature_blocks(n_features, scores.padded.shape[1], n_jobs)

    def rank_last(block, step, taken):
        return count_better(
            *taken[:4], effects, n_updates, step - 1, slopes, factors, variances, *block,
            is_left, bounds.limits,
        )  # fmt: skip

    def add_last(block, step, s, taken):
        n_better = rank_last(block, step, taken)
        update_block(
            scores.padded, scores.padded[s].astype(np.int16), centers, scales, shrinkage, s,
            step - 1, factor_s, taken[4], *block, is_left, factors, variances,
        )  # fmt: skip
        return n_better

    def find_next(block, step, s, taken):
        n_better = 0
        if step > 0:
            n_better = add_last(block, step, s, taken)
            bounds.update(block, variances)
        best = find_best(
            effects, n_updates, step, slopes, factors, variances, weights, rate, prior, *block,
            is_left, bounds.place, bounds.places, bounds.variances, bounds.reaches, bounds.limits,
            losses,
            np.empty(BATCH, np.int64), np.empty((BATCH, len(slopes))), np.zeros((BATCH, n_pairs)),
        )  # fmt: skip
        return n_better, best

    s, taken = 0, ()
    with start_pool(len(blocks)) as pool:
        # found.ranking[:step] is the chosen set; variances are given it, effects given a part.
        for step in track(range(n_chosen), "features"):
            n_better, bests = zip(*run_in(pool, find_next, blocks, step, s, taken), strict=True)
            found.ranks[step - 1] += sum(n_better) if step > 0 else 0
            if step == 0:
                # The weights sum to 1 up to rounding: a gain of nothing may come out below 0.
                found.relevance[:] = np.where(scores.varies, np.maximum(1.0 - losses, 0.0), 0.0)
            s = first_of((f for f in bests if f >= 0), losses, prior)
            found.ranking[step] = s
            found.gains[step] = max(1.0 - losses[s], 0.0)
            taken = take_feature(
                s, step, effects, variances, factors, rate, separations, weights, slopes, factor_s
            )
            is_left[s] = False
            bounds.advance(step + 1, slopes, weights)
            found.note(step, taken, factor_s, separations)
        if n_chosen > 0:
            found.ranks[n_chosen - 1] += sum(run_in(pool, add_last, blocks, n_chosen, s, taken))
    found.finish(n_chosen, scores.varies, separations)
    return found._replace(
        state=SearchState(effects, n_updates, slopes[:n_chosen], factors[:n_chosen], scores.varies)
    )


def first_of(features, losses, prior):
    """Return the feature that is before all others by `is_before`.

    It compares one feature per thread, and is not worth a compiled call.
    """
    return min(
        features, key=lambda f: (-prior[f] * max(1.0 - losses[f], 0.0), -prior[f], losses[f], f)
    )


def feature_blocks(n_features, n_kept, n_jobs):
    """Cut the features into at most one block per thread, each worth its thread."""
    step = n_features * (n_kept * _PRODUCT_TIME + _FEATURE_TIME)
    return even_ranges(n_features, min(count_threads(n_jobs), int(step / _THREAD_TIME)))
