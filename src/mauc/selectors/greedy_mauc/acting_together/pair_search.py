"""The greedy search with products of features: one feature, or two with their product, per move.

A product is no feature of its own: it counts as soon as both of its members are chosen. A move
takes one feature or all members of a product that are not chosen yet, whichever gains more per new
feature; the ranking is one of features.
"""

from typing import NamedTuple

import numpy as np

from mauc.parallel import run_in, start_pool
from mauc.progress import track
from mauc.selectors.greedy_mauc.acting_together.moves import (
    bring_up_to_date,
    loss_of,
    rate_moves,
    shrunk_correlations,
)
from mauc.selectors.greedy_mauc.searching.arithmetic import exp_minus
from mauc.selectors.greedy_mauc.searching.bounds import GainBounds
from mauc.selectors.greedy_mauc.searching.correlations import update_block, within_scales
from mauc.selectors.greedy_mauc.searching.search import (
    MAX_LOWER,
    GreedyRanking,
    empty_ranking,
    feature_blocks,
    first_of,
)
from mauc.selectors.greedy_mauc.searching.step import BATCH, count_better, find_best, take_feature


class PairRanking(NamedTuple):
    """A ranking of features and the products that came with them."""

    found: GreedyRanking
    columns: np.ndarray  #: features and products in the order in which they were added
    n_columns: np.ndarray  #: (k,): how many of them there are with each ranked feature
    steps: np.ndarray  #: (n_products,): place in the ranking at which each was added, or -1
    lower: np.ndarray  #: Cholesky factor of the correlations of `columns`


def pair_ranking(products, k, *, shrinkage, alpha, prior=None, keeps_steps=False, n_jobs=None):
    """Choose features that, with their products, separate all class pairs.

    Parameters
    ----------
    products : Products
        Its effects are overwritten.
    k, shrinkage, alpha, prior, keeps_steps, n_jobs
        As in `mauc.selectors.greedy_mauc.searching.search.greedy_ranking`.

    Returns
    -------
    PairRanking
    """
    search = _PairSearch(products, k, shrinkage, alpha, prior, keeps_steps, n_jobs)
    return search.run()


class _PairSearch:
    def __init__(self, products, k, shrinkage, alpha, prior, keeps_steps, n_jobs):
        self._effects, self._scores, self._members, _ = products
        n_columns, n_pairs = self._effects.shape
        n_products = len(self._members)
        self._n_features = n_columns - n_products
        self._shrinkage, self._rate = shrinkage, alpha / 8.0
        self._prior = np.ones(self._n_features) if prior is None else prior
        self._n_chosen = min(k, int(self._scores.varies.sum()))
        n_steps = self._n_chosen + n_products
        self._centers, self._scales = within_scales(self._scores)
        self._is_left = self._scores.varies.copy()  # features
        self._is_open = self._is_left.copy()  # and products
        self._is_open[self._n_features :] = True
        self._n_updates = np.zeros(n_columns, np.int64)
        self._variances, self._losses = np.ones(n_columns), np.ones(n_columns)
        self._factors, self._factor_s = np.empty((n_steps, n_columns)), np.empty(n_steps)
        self._separations, self._slopes = np.zeros(n_pairs), np.empty((n_steps, n_pairs))
        self._weights = np.full(n_pairs, 1.0 / n_pairs)
        self._bounds = GainBounds(self._n_features, self._weights, self._rate)
        self._blocks = feature_blocks(self._n_features, self._scores.padded.shape[1], n_jobs)
        self._step, self._n_ranked = 0, 0
        self._columns: list[int] = []
        self._n_columns = np.zeros(k, np.int64)
        self._steps = np.full(n_products, -1)
        self._found = empty_ranking(
            k, self._n_chosen, self._n_features, n_pairs, keeps_steps=keeps_steps
        )
        self._lower = np.zeros((min(n_steps, MAX_LOWER),) * 2)
        products_at = self._n_features + np.arange(n_products)
        first, second = self._members.T
        self._correlations = np.column_stack(
            [
                shrunk_correlations(
                    self._scores, self._centers, self._scales, np.column_stack(pair), shrinkage
                )
                for pair in ((first, second), (first, products_at), (second, products_at))
            ]
        )
        self._involved = np.concatenate([np.unique(self._members), products_at])
        self._pool = None

    def run(self):
        """Return the ranking."""
        found = self._found
        with start_pool(len(self._blocks)) as self._pool:
            turns = iter(track(range(self._n_chosen), "features"))
            while self._n_ranked < self._n_chosen:
                for feature in self._next_features()[: self._n_chosen - self._n_ranked]:
                    next(turns)
                    self._choose(feature)
            next(turns, None)
        varies = self._scores.varies[: self._n_features]
        found.finish(self._n_chosen, varies, self._separations)
        self._n_columns[self._n_chosen :] = len(self._columns)
        n_lower = min(len(self._columns), len(self._lower))
        return PairRanking(
            found, np.array(self._columns), self._n_columns, self._steps,
            self._lower[:n_lower, :n_lower],
        )  # fmt: skip

    def _next_features(self):
        """Return the features of the best move."""
        bests = run_in(self._pool, self._find_best, self._blocks)
        if self._step == 0:
            losses = self._losses[: self._n_features]
            gains = np.maximum(1.0 - losses, 0.0)
            self._found.relevance[:] = np.where(self._is_left[: self._n_features], gains, 0.0)
        best = first_of((f for f in bests if f >= 0), self._losses, self._prior)
        gain = self._prior[best] * max(1.0 - self._losses[best], 0.0)
        open_columns = self._involved[self._is_open[self._involved]]
        self._update_effects(open_columns)
        values = np.empty(len(self._members))
        rate_moves(
            self._members, self._correlations, self._n_features, self._is_open, self._effects,
            self._step, self._factors, self._variances, self._weights, self._rate, self._prior,
            np.empty(3, np.int64), np.zeros((3, 3)), np.zeros(3), values,
        )  # fmt: skip
        move = int(np.argmax(values))
        if values[move] <= gain:
            return [best]
        new = [int(f) for f in self._members[move] if self._is_open[f]]
        for f in new:
            self._losses[f] = self._loss(f)
        is_second = len(new) == 2 and first_of(new, self._losses, self._prior) == new[1]
        return new[::-1] if is_second else new

    def _find_best(self, block):
        bounds = self._bounds
        return find_best(
            self._effects, self._n_updates, self._step, self._slopes, self._factors,
            self._variances, self._weights, self._rate, self._prior, *block, self._is_left,
            bounds.place, bounds.places, bounds.variances, bounds.reaches, bounds.limits,
            self._losses, np.empty(BATCH, np.int64), np.empty((BATCH, len(self._slopes))),
            np.zeros((BATCH, len(self._weights))),
        )  # fmt: skip

    def _loss(self, column):
        return loss_of(self._effects[column], self._variances[column], self._weights, self._rate)

    def _update_effects(self, columns):
        bring_up_to_date(
            columns, self._effects, self._n_updates, self._step, self._slopes, self._factors
        )

    def _choose(self, feature):
        """Rank a feature, and add it with all products that it completes."""
        found, place, step = self._found, self._n_ranked, self._step
        weights, separations = self._weights.copy(), self._separations.copy()
        variances, limits = self._variances.copy(), self._bounds.limits.copy()
        self._update_effects(np.array([feature]))
        loss = self._loss(feature)
        taken = self._add(feature)
        complete = ~self._is_open[self._members].any(axis=1) & self._is_open[self._n_features :]
        for j in np.flatnonzero(complete):
            self._add(self._n_features + j)
            self._steps[j] = place
        if complete.any():
            taken, loss = self._whole_step(weights, separations)
        found.ranking[place], found.pairs[place] = feature, taken[0]
        found.gains[place] = max(1.0 - loss, 0.0)
        if len(found.separations) == len(found.ranking):
            found.separations[place] = self._separations
        n_better = run_in(
            self._pool,
            lambda block: count_better(
                *taken[:4], self._effects, self._n_updates, step, self._slopes, self._factors,
                variances, *block, self._is_left, limits,
            ),
            self._blocks,
        )  # fmt: skip
        found.ranks[place] += sum(n_better)
        self._n_columns[place] = len(self._columns)
        self._n_ranked += 1

    def _whole_step(self, weights, separations):
        """Return what `take_feature` returns, of a feature and its products, and the loss."""
        gains = self._separations - separations
        left = np.array([exp_minus(self._rate * gain) for gain in gains])
        drops = weights * (1.0 - left)
        pair = int(np.argmax(drops))
        before = float(np.sqrt(separations[pair]))
        loss = 0.0
        for weight, part in zip(weights, left, strict=True):
            loss += weight * part
        return (pair, float(gains[pair]), float(drops[pair]), before), loss

    def _add(self, column):
        """Condition everything on a column."""
        step = self._step
        self._update_effects(np.array([column]))
        taken = take_feature(
            column, step, self._effects, self._variances, self._factors, self._rate,
            self._separations, self._weights, self._slopes, self._factor_s,
        )  # fmt: skip
        self._is_open[column] = self._is_left[column] = False
        if step < len(self._lower):
            self._lower[step, :step] = self._factor_s[:step]
            self._lower[step, step] = taken[4]
        self._columns.append(int(column))
        self._step = step + 1
        self._bounds.advance(self._step, self._slopes, self._weights)
        row = self._scores.padded[column].astype(np.int16)
        last = self._blocks[-1]

        def update(block):
            stop = len(self._variances) if block == last else block[1]  # products go with the last
            update_block(
                self._scores.padded, row, self._centers, self._scales, self._shrinkage, column,
                step, self._factor_s, taken[4], block[0], stop, self._is_open, self._factors,
                self._variances,
            )  # fmt: skip
            self._bounds.update(block, self._variances)

        run_in(self._pool, update, self._blocks)
        return taken
