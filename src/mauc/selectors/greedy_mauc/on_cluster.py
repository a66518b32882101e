"""GreedyMAUC on a cluster: workers hold effects and normal scores of their ranges of columns.

Every step each range proposes its best feature; this process takes the best of them and tells all
ranges what it needs: the normal scores of that one feature, which go from worker to worker, and its
effects and factors.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mauc.cluster import RangeStates
from mauc.progress import track
from mauc.selectors.greedy_mauc.effects import NormalScores, kept_places, measure
from mauc.selectors.greedy_mauc.search import (
    BATCH,
    GainBounds,
    count_better,
    empty_ranking,
    find_best,
    first_of,
    take_feature,
    update_block,
    within_scales,
)


class Proposal(NamedTuple):
    """The best feature of a range."""

    feature: int  #: -1 if none is left
    loss: float  #: the part of the error that remains with it
    prior: float  #: its weight
    effects: np.ndarray
    variance: float
    factors: np.ndarray
    n_better: int  #: features of the range that gain more than the last chosen one on its pair
    relevance: np.ndarray | None  #: of all features of the range, at the first step


class Taken(NamedTuple):
    """What all ranges are told of a chosen feature."""

    shrinkage: float
    taken: tuple  #: of `take_feature`
    factors: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    prior: np.ndarray | None  #: of all features, with the first chosen one; for states built anew


class EffectState:
    """Effects and normal scores of a range of columns, given the features chosen so far.

    Parameters
    ----------
    part : Problem
    first : int
        Number of the first column.
    kept : ndarray of shape (n_kept,), int64
    n_wanted : int
    noise_correction, alpha : float
    keeps_auc : bool
        Whether `summary` returns the pair AUCs.
    """

    def __init__(self, part, first, kept, n_wanted, noise_correction, alpha, keeps_auc):
        n, n_pairs = part.n_features, len(part.max_wins)
        self._first, self._rate = first, alpha / 8.0
        self._pair_auc = np.empty((n, n_pairs)) if keeps_auc else None
        self._effects, self._scores = measure(
            part, noise_correction=noise_correction, kept=kept, pair_auc=self._pair_auc
        )
        # One column more, for the chosen feature.
        centers, scales = within_scales(self._scores)
        self._centers = np.hstack([centers, np.zeros((len(centers), 1))])
        self._scales = np.append(scales, 0.0)
        self._is_left = self._scores.varies.copy()
        self._n_updates = np.zeros(n, np.int64)
        self._variances, self._losses = np.ones(n), np.ones(n)
        self._factors, self._slopes = np.empty((n_wanted, n)), np.empty((n_wanted, n_pairs))
        self._weights = np.full(n_pairs, 1.0 / n_pairs)
        self._prior = np.ones(n)
        self._bounds = GainBounds(n, self._weights, self._rate)
        self._step, self._n_better = 0, 0

    def summary(self):
        """Return what this process has to know of all columns."""
        scores = self._scores
        nominal = {self._first + j: square for j, square in scores.nominal_squares.items()}
        pair_auc, self._pair_auc = self._pair_auc, None
        return scores.varies, scores.sums, scores.squares, nominal, pair_auc

    def rows(self, columns):
        """Return the normal scores of those of some columns that are in the range, by column."""
        places = [int(j) for j in columns if 0 <= j - self._first < len(self._variances)]
        return {j: self._scores.scores[j - self._first].copy() for j in places}

    def column(self, place):
        """Return the normal scores of a column, its class centers and its scale."""
        return (
            self._scores.padded[place].copy(), self._centers[:, place].copy(),
            float(self._scales[place]),
        )  # fmt: skip

    def add(self, column, place, content, details):
        """Condition on a chosen feature; see `mauc.cluster.states.State`."""
        padded, center, scale = content
        n, step = len(self._variances), self._step
        self._set_prior(details.prior)
        self._slopes[step], self._weights = details.slopes, np.array(details.weights)
        if place >= 0:
            self._is_left[place] = False
        self._step = step + 1
        self._bounds.advance(self._step, self._slopes, self._weights)
        self._n_better = count_better(
            *details.taken[:4], self._effects, self._n_updates, step, self._slopes, self._factors,
            self._variances, 0, n, self._is_left, self._bounds.limits,
        )  # fmt: skip
        self._centers[:, n], self._scales[n] = center, scale
        factors = np.zeros(len(self._factors))
        factors[:step] = details.factors
        update_block(
            self._scores.padded, padded.astype(np.int16), self._centers, self._scales,
            details.shrinkage, n, step, factors, details.taken[4], 0, n, self._is_left,
            self._factors, self._variances,
        )  # fmt: skip
        self._bounds.update((0, n), self._variances)

    def propose(self, prior=None):
        """Return the best feature that is left.

        Parameters
        ----------
        prior : ndarray of shape (n_features,), float64, optional
            Weights of all features of the data, at the first step; later they are known.
        """
        self._set_prior(prior)
        bounds, losses = self._bounds, self._losses
        best = find_best(
            self._effects, self._n_updates, self._step, self._slopes, self._factors,
            self._variances, self._weights, self._rate, self._prior, 0, len(losses),
            self._is_left,
            bounds.place, bounds.places, bounds.variances, bounds.reaches, bounds.limits, losses,
            np.empty(BATCH, np.int64), np.empty((BATCH, len(self._slopes))),
            np.zeros((BATCH, len(self._weights))),
        )  # fmt: skip
        relevance = None
        if self._step == 0:
            relevance = np.where(self._scores.varies, np.maximum(1.0 - losses, 0.0), 0.0)
        return Proposal(
            self._first + best if best >= 0 else -1, float(losses[best]), float(self._prior[best]),
            self._effects[best].copy(), float(self._variances[best]),
            self._factors[: self._step, best].copy(), self._n_better, relevance,
        )  # fmt: skip

    def _set_prior(self, prior):
        if prior is not None:
            self._prior = np.array(prior[self._first : self._first + len(self._losses)])

    def n_better(self):
        """Return how many features gain more than the last chosen one on its pair."""
        return self._n_better


class _Rows:
    """Rows of normal scores, fetched when they are asked for."""

    def __init__(self, states):
        self._states = states

    def __getitem__(self, columns):
        found: dict[int, np.ndarray] = {}
        for part in self._states.ask("rows", columns):
            found.update(part)
        return np.stack([found[int(j)] for j in columns])


@dataclass(frozen=True)
class RemoteScores(NormalScores):
    """Normal scores that lie on workers; sums and squares are here."""

    states: Any = None

    @property
    def scores(self):
        """The scores alone, of any columns: ``scores[columns]``."""
        return _Rows(self.states)


def measure_on_cluster(problem, k, *, noise_correction, max_samples, alpha, pair_auc=None):
    """Measure effects and normal scores on the workers; parameters as in `measure`.

    Returns
    -------
    states : RangeStates
    scores : RemoteScores
    """
    kept, rows, class_counts = kept_places(problem, max_samples)
    states = RangeStates(
        problem.cluster, problem, EffectState, kept, k, noise_correction, alpha,
        pair_auc is not None,
    )  # fmt: skip
    nominal_squares: dict[int, float] = {}
    varies, sums, squares = [], [], []
    for (first, last), found in zip(states.ranges, states.ask("summary"), strict=True):
        varies.append(found[0])
        sums.append(found[1])
        squares.append(found[2])
        nominal_squares.update(found[3])
        if pair_auc is not None:
            pair_auc[first:last] = found[4]
    scores = RemoteScores(
        np.empty((0, 0), np.int8), np.concatenate(sums, axis=1), np.concatenate(squares),
        class_counts, np.concatenate(varies), rows, nominal_squares, states,
    )  # fmt: skip
    return states, scores


def rank_on_cluster(states, scores, k, *, shrinkage, alpha, prior=None, keeps_steps=False):
    """Choose features as `mauc.selectors.greedy_mauc.search.greedy_ranking` does.

    Parameters
    ----------
    states, scores
        From `measure_on_cluster`.
    k, shrinkage, alpha, prior, keeps_steps
        As in `greedy_ranking`.

    Returns
    -------
    GreedyRanking
    """
    n_chosen = min(k, int(scores.varies.sum()))
    proposals = states.ask("propose", prior)
    n_pairs = len(proposals[0].effects)
    found = empty_ranking(k, n_chosen, len(scores.varies), n_pairs, keeps_steps=keeps_steps)
    found.relevance[:] = np.concatenate([proposal.relevance for proposal in proposals])
    separations, slopes = np.zeros(n_pairs), np.empty((max(n_chosen, 1), n_pairs))
    weights = np.full(n_pairs, 1.0 / n_pairs)
    for step in track(range(n_chosen), "features"):
        if step > 0:
            proposals = states.ask("propose")
            found.ranks[step - 1] += sum(proposal.n_better for proposal in proposals)
        offers = [one for one in proposals if one.feature >= 0]
        losses, weights_of = (np.array([one[place] for one in offers]) for place in (1, 2))
        best = offers[first_of(range(len(offers)), losses, weights_of)]
        found.ranking[step], found.gains[step] = best.feature, max(1.0 - best.loss, 0.0)
        factors, factor_s = np.empty((len(slopes), 1)), np.empty(len(slopes))
        factors[:step, 0] = best.factors
        taken = take_feature(
            0, step, np.array(best.effects)[np.newaxis], np.array([best.variance]), factors,
            alpha / 8.0, separations, weights, slopes, factor_s,
        )  # fmt: skip
        found.note(step, taken, factor_s, separations)
        told = Taken(
            shrinkage, taken, factor_s[:step].copy(), slopes[step].copy(), weights.copy(),
            prior if step == 0 else None,
        )  # fmt: skip
        states.add(best.feature, told)
    if n_chosen > 0:
        found.ranks[n_chosen - 1] += sum(states.ask("n_better"))
    found.finish(n_chosen, scores.varies, separations)
    return found
