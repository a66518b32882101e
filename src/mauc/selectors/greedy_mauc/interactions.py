"""Pairs of features whose correlation differs between the classes: normal scores in, pairs out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import uintp
from scipy.stats import chi2

from mauc.compile import njit
from mauc.data.problem import Problem
from mauc.engine.arrays import read_only
from mauc.extras import optional_import
from mauc.parallel import run_in, start_pool
from mauc.progress import track
from mauc.results import MAX_ROWS, Printed, SmallTable, short_name
from mauc.selectors.greedy_mauc.effects import NormalScores, measure
from mauc.selectors.greedy_mauc.prediction import Prediction
from mauc.selectors.greedy_mauc.search import (
    BATCH,
    MAX_LOWER,
    MIN_VARIANCE,
    GainBounds,
    GreedyRanking,
    Model,
    condition_on,
    count_better,
    empty_ranking,
    exp_minus,
    feature_blocks,
    find_best,
    first_of,
    fused,
    greedy_ranking,
    state_of,
    take_feature,
    update_block,
    within_scales,
)

MAX_PAIRS = 60  # that are kept
LEVEL = 0.01  # of significance, divided by the number of pairs that are tested
_MIN_CLASS_COUNT = 4  # samples of a class, for a variance of 1 / (n - 3)
_MAX_CORRELATION = 0.999
_MIN_SCATTER = 0.25  # whole numbers that differ have a scatter of 1/2 or more
_ROWS = 1024  # samples whose sums of products stay below 2^24: exact in float32
_BLOCK_CELLS = 2**20  # pairs that are tested at once


class FoundPairs(NamedTuple):
    """Pairs of features, the smallest p-value first."""

    pairs: np.ndarray  #: (n_found, 2), int64: columns, the lower first
    p_values: np.ndarray  #: (n_found,): of one pair, not corrected for the number of pairs
    n_tested: int


def find_pairs(scores, columns):
    r"""Return the pairs of features whose correlations differ most between the classes.

    Parameters
    ----------
    scores : NormalScores
    columns : ndarray of shape (n_columns,), int64
        Features to look at, ascending.

    Returns
    -------
    FoundPairs
        At most 60, with p below 0.01 over the number of pairs tested.

    Notes
    -----
    With :math:`r_k` the correlation of two features in class k of :math:`n_k \ge 4` samples and
    :math:`z_k = \mathrm{artanh}\, r_k`, whose variance is :math:`1 / (n_k - 3)`,

    .. math:: Q = \sum_k (n_k - 3) (z_k - \bar z)^2

    about the weighted mean is chi-square with one degree less than there are classes, if all
    correlations are equal. Classes in which a feature is constant do not count for its pairs. Sums
    of products are of whole numbers, and exact. Equal p-values go by Q, then by column.
    """
    n = len(columns)
    n_tested = n * (n - 1) // 2
    classes = _Classes(scores, columns)
    found: list[tuple[np.ndarray, ...]] = []
    if n_tested > 0 and len(classes.weights) >= 2:
        critical = chi2.isf(LEVEL / n_tested, np.maximum(np.arange(len(classes.weights)), 1))
        critical[0] = np.inf  # a single class has nothing to differ from
        block = max(1, _BLOCK_CELLS // n)
        for start in range(0, n, block):
            statistics, freedom = classes.test_block(start, min(start + block, n))
            first, second = np.nonzero(np.triu(statistics > critical[freedom], 1))
            found.append(
                (first + start, second + start, statistics[first, second], freedom[first, second])
            )
    first, second, statistics, freedom = (
        np.concatenate(part) for part in (zip(*found, strict=True) if found else [[[]]] * 4)
    )
    p_values = chi2.sf(statistics, np.maximum(freedom, 1))
    best = np.lexsort((second, first, -statistics, p_values))[:MAX_PAIRS]
    pairs = np.column_stack([first[best], second[best]]).astype(np.int64)
    return FoundPairs(columns[pairs], p_values[best], n_tested)


class _Classes:
    """The samples of each class, as the test of pairs needs them."""

    def __init__(self, scores, columns):
        counts = scores.class_counts
        used = np.flatnonzero(counts >= _MIN_CLASS_COUNT)
        stops = np.cumsum(counts)
        self.weights = counts[used] - 3.0
        values = scores.scores[columns]
        self._parts, self._centers, self._inverses = [], [], []
        for k in used:
            part = values[:, stops[k] - counts[k] : stops[k]].astype(np.float32)
            squares = np.zeros(len(columns))
            for start in range(0, counts[k], _ROWS):
                rows = part[:, start : start + _ROWS]
                squares += np.einsum("fi,fi->f", rows, rows)
            center = scores.sums[k, columns] / np.sqrt(counts[k])
            scatter = squares - center * center
            varies = scatter > _MIN_SCATTER
            inverse = np.where(varies, 1.0 / np.sqrt(np.maximum(scatter, _MIN_SCATTER)), 0.0)
            self._parts.append(part)
            self._centers.append(center)
            self._inverses.append(inverse)

    def test_block(self, start, stop):
        """Return Q and its degrees of freedom, of features of a range with those from `start` on.

        Returns
        -------
        statistics : ndarray of shape (stop - start, n_columns - start), float64
        freedom : ndarray of the same shape, int64
        """
        shape = stop - start, self._parts[0].shape[0] - start
        total, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        n_classes = np.zeros(shape, np.int64)
        for k, part in enumerate(self._parts):
            products = np.zeros(shape)
            for row in range(0, part.shape[1], _ROWS):
                rows = part[:, row : row + _ROWS]
                products += rows[start:stop] @ rows[start:].T
            center, inverse = self._centers[k], self._inverses[k]
            products -= np.outer(center[start:stop], center[start:])
            products *= np.outer(inverse[start:stop], inverse[start:])
            z = np.arctanh(np.clip(products, -_MAX_CORRELATION, _MAX_CORRELATION))
            is_used = np.outer(inverse[start:stop] > 0.0, inverse[start:] > 0.0)
            weight = self.weights[k] * is_used
            total += weight
            first += weight * z
            second += weight * z * z
            n_classes += is_used
        statistics = second - first * first / np.maximum(total, 1.0)
        return statistics, np.maximum(n_classes - 1, 0)


@njit(cache=True, nogil=True)
def bring_up_to_date(columns, effects, n_updates, step, slopes, factors):
    """Condition the effects of some columns on all columns chosen so far.

    Parameters
    ----------
    columns : ndarray of shape (n,), int64
    effects, n_updates, step, slopes, factors
        As in `mauc.selectors.greedy_mauc.search.find_best`.
    """
    for f in columns:
        row = effects[f]
        for t in range(n_updates[f], step):
            slope, factor = slopes[t], factors[t, f]
            for p in range(uintp(row.shape[0])):
                row[p] = fused(-slope[p], factor, row[p])
        n_updates[f] = step


@njit(cache=True, nogil=True)
def loss_of(row, variance, weights, rate):
    """Return the part of the error that remains with a column, as `find_best` computes it."""
    inverse, loss = rate / variance, 0.0
    for p in range(row.shape[0]):
        loss = fused(weights[p], exp_minus(row[p] * row[p] * inverse), loss)
    return loss


@njit(cache=True, nogil=True)
def rate_moves(
    members, correlations, n_features, is_open, effects, step, factors, variances, weights, rate,
    prior, columns, covariances, roots, values,
):  # fmt: skip
    """Rate every product together with those of its members that are not chosen.

    Parameters
    ----------
    members : ndarray of shape (n_products, 2), int64
    correlations : ndarray of shape (n_products, 3), float64
        Shrunk correlations of the two members, of the first and of the second with the product.
    n_features : int
        Number of the first product among the columns.
    is_open : ndarray of shape (n_columns,), bool
        Columns that are not chosen.
    effects, step, factors, variances, weights, rate
        As in `find_best`; effects are up to date.
    prior : ndarray of shape (n_features,), float64
    columns : ndarray of shape (3,), int64
    covariances : ndarray of shape (3, 3), float64
    roots : ndarray of shape (3,), float64
        Work space.
    values : ndarray of shape (n_products,), float64
        Filled: gain per new feature, times the mean prior weight of these; -1 where none is new.
    """
    for j in range(members.shape[0]):
        values[j] = -1.0
        n_new, weight = 0, 0.0
        for side in range(2):
            if is_open[members[j, side]]:
                columns[n_new] = members[j, side]
                weight += prior[members[j, side]]
                n_new += 1
        if n_new == 0:
            continue
        columns[n_new] = n_features + j
        n_columns = n_new + 1
        for a in range(n_columns):
            for b in range(a):
                # Columns are members in their order, then the product.
                if columns[a] < n_features:
                    r = correlations[j, 0]
                else:
                    r = correlations[j, 1 if columns[b] == members[j, 0] else 2]
                for t in range(step):
                    r = fused(-factors[t, columns[a]], factors[t, columns[b]], r)
                for t in range(b):
                    r = fused(-covariances[a, t], covariances[b, t], r)
                covariances[a, b] = r / roots[b]
            left = variances[columns[a]]
            for b in range(a):
                left -= covariances[a, b] * covariances[a, b]
            roots[a] = math.sqrt(max(left, MIN_VARIANCE))
        loss = 0.0
        for p in range(weights.shape[0]):
            # x are the effects in independent coordinates.
            x0 = effects[columns[0], p] / roots[0]
            x1 = fused(-covariances[1, 0], x0, effects[columns[1], p]) / roots[1]
            distance = x0 * x0 + x1 * x1
            if n_columns == 3:
                x2 = fused(-covariances[2, 0], x0, effects[columns[2], p])
                x2 = fused(-covariances[2, 1], x1, x2) / roots[2]
                distance += x2 * x2
            loss = fused(weights[p], exp_minus(rate * distance), loss)
        values[j] = weight / n_new * max(1.0 - loss, 0.0) / n_new


def shrunk_correlations(scores, centers, scales, pairs, shrinkage):
    """Return the shrunk within-class correlations of pairs of columns.

    Parameters
    ----------
    scores : NormalScores
    centers, scales
        From `mauc.selectors.greedy_mauc.search.within_scales`.
    pairs : ndarray of shape (n, 2), int64
    shrinkage : float
    """
    first, second = pairs.T
    sums = np.array(
        [scores.padded[a].astype(np.int64) @ scores.padded[b].astype(np.int64) for a, b in pairs]
    )
    within = sums - (centers[:, first] * centers[:, second]).sum(axis=0)
    return (1.0 - shrinkage) * within * scales[first] * scales[second]


class Products(NamedTuple):
    """Features, and after them the products of pairs of them that tell classes apart."""

    effects: np.ndarray  #: (n_features + n_products, n_pairs)
    scores: NormalScores
    members: np.ndarray  #: (n_products, 2), int64: the two features of each product
    places: np.ndarray  #: (n_products,), int64: of each product, among the pairs that were given


def add_products(effects, scores, found, noise_correction):
    r"""Append the products of the normal scores of pairs of features.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
    scores : NormalScores
    found : FoundPairs
    noise_correction : float

    Returns
    -------
    Products
        Those without an effect are left out. In `scores`, products count as constant: only
        features are candidates by themselves.

    Notes
    -----
    The effect of a product is that of a feature with the values :math:`z_f z_g`, but the noise
    correction is multiplied by :math:`2 \ln N` with N the number of pairs that were tested: the
    largest square of so many effects of noise is about so large. An effect whose square does not
    exceed :math:`d_f^2 + d_g^2` on a class pair is set to 0: the features tell these two classes
    apart without their product.
    """
    counts = scores.class_counts
    present = np.flatnonzero(counts)
    values = scores.scores[found.pairs[:, 0]].astype(np.float32)
    values *= scores.scores[found.pairs[:, 1]]
    codes = np.repeat(np.arange(len(present), dtype=np.int32), counts[present])
    problem = Problem(read_only(values.T), codes, np.arange(len(present)), counts[present])
    factor = max(1.0, 2.0 * np.log(max(found.n_tested, 1)))
    of_products, product_scores = measure(problem, noise_correction=noise_correction * factor)
    # Class pairs of which no sample was kept have no effect.
    is_present = np.isin(np.arange(len(counts)), present)
    first, second = np.triu_indices(len(counts), 1)
    wide = np.zeros((len(found.pairs), effects.shape[1]))
    wide[:, is_present[first] & is_present[second]] = of_products
    alone = (effects[found.pairs] ** 2).sum(axis=1)
    wide[wide * wide <= alone] = 0.0
    places = np.flatnonzero(wide.any(axis=1) & product_scores.varies)
    sums = np.zeros((len(counts), len(found.pairs)), np.int64)
    sums[present] = product_scores.sums
    together = replace(
        scores,
        padded=np.concatenate([scores.padded, product_scores.padded[places]]),
        sums=np.concatenate([scores.sums, sums[:, places]], axis=1),
        squares=np.concatenate([scores.squares, product_scores.squares[places]]),
        varies=np.concatenate([scores.varies, np.zeros(len(places), bool)]),
    )
    return Products(np.concatenate([effects, wide[places]]), together, found.pairs[places], places)


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
        As in `mauc.selectors.greedy_mauc.search.greedy_ranking`.

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


MAX_FEATURES = 1500  # of which all pairs are tested, whatever the number of classes
MAX_TESTED = 2**26  # correlations, one per pair and class: two seconds
N_CANDIDATES = 300  # features with more: the first of the search without products


class Interaction(NamedTuple):
    """Two features whose correlation differs between the classes."""

    first: int  #: column number
    second: int
    first_name: str
    second_name: str
    p_value: float  #: of this pair alone
    step: int  #: step of the trace from which on their product counts, 0 for the first; or -1


@dataclass(frozen=True, repr=False)
class Interactions(Printed):
    """Pairs of features that act together, the smallest p-value first; iterating gives tuples.

    It prints as a table; steps are counted from 1 there.

    Parameters
    ----------
    pairs : ndarray of shape (n_found, 2), int64
        Column numbers, the lower first.
    p_values : ndarray of shape (n_found,)
    steps : ndarray of shape (n_found,), int64
        Step of the trace with which the product was added: that of the later of its features. -1
        if one of them was not selected, or the product tells no class pair apart.
    names : ndarray of shape (n_found, 2)
    n_tested : int
        Pairs that were tested.
    """

    pairs: np.ndarray
    p_values: np.ndarray
    steps: np.ndarray
    names: np.ndarray
    n_tested: int

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, place: int) -> Interaction:
        first, second = self.pairs[place].tolist()
        first_name, second_name = map(str, self.names[place])
        p_value, step = float(self.p_values[place]), int(self.steps[place])
        return Interaction(first, second, first_name, second_name, p_value, step)

    def __iter__(self) -> Iterator[Interaction]:
        return (self[place] for place in range(len(self)))

    def first(self, k: int) -> "Interactions":
        """Return the same for a selection of the first k features."""
        return replace(self, steps=np.where(self.steps < k, self.steps, -1))

    @property
    def members(self) -> set[int]:
        """The features of all products that count."""
        return set(self.pairs[self.steps >= 0].ravel().tolist())

    def lines(self, names) -> list[str]:
        """Return one line per product that counts, under these names of all features."""
        return [
            f"{names[one.first]} and {names[one.second]} act together (p = {one.p_value:.1e})"
            for one in self
            if one.step >= 0
        ]

    def to_frame(self):
        """Return the pairs as a pandas DataFrame."""
        pd = optional_import("pandas", "data frames")
        return pd.DataFrame(list(self), columns=list(Interaction._fields))

    def printed_parts(self) -> list[str | SmallTable]:
        """Return the first pairs as a table."""
        rows = [
            [
                short_name(one.first_name), short_name(one.second_name), f"{one.p_value:.1e}",
                str(one.step + 1) if one.step >= 0 else "-",
            ]
            for one in (self[place] for place in range(min(len(self), MAX_ROWS)))
        ]  # fmt: skip
        if not rows:
            return [f"no interaction among {self.n_tested:,} pairs of features"]
        heads = ["feature", "with", "p-value", "step"]
        return [SmallTable(heads, rows, len(self), right=("step",))]


class PairPrediction(Prediction):
    """The MAUC to expect of features with their products, one value per feature."""

    def __init__(self, found, scores, shrinkage):
        # The share of luck in a distance is estimated from features and products alike.
        varies = scores.varies.copy()
        varies[found.columns] = True
        super().__init__(found.columns, found.lower, replace(scores, varies=varies), shrinkage)
        self._n_columns = found.n_columns

    @cached_property
    def mauc(self):
        """In [0.5, 1), shape (k,)."""
        return super().mauc[self._n_columns - 1]


def rank_with_interactions(effects, scores, k, *, noise_correction, feature_names, **search):
    """Choose features as `greedy_ranking` does, some of them together with another one.

    Parameters
    ----------
    effects, scores, k
        As in `greedy_ranking`.
    noise_correction : float
    feature_names : ndarray of shape (n_features,)
    **search
        Options of `greedy_ranking`.

    Returns
    -------
    found : GreedyRanking
    prediction : Prediction
    interactions : Interactions
    """
    columns = _candidates(effects, scores, search)
    pairs = find_pairs(scores, columns)
    steps = np.full(len(pairs.pairs), -1)
    shrinkage = search["shrinkage"]
    products = None
    if len(pairs.pairs) > 0:
        products = add_products(effects, scores, pairs, noise_correction)
    if products is None or len(products.members) == 0:
        found = greedy_ranking(effects, scores, k, **search)
        prediction = Prediction(found.ranking, found.lower, scores, shrinkage)
    else:
        ranked = pair_ranking(products, k, **search)
        # The features that could replace others are those of a search without products.
        model = Model(effects, scores, shrinkage, search["alpha"] / 8.0)
        state = state_of(model, condition_on(model, ranked.found.ranking))
        found = ranked.found._replace(state=state)
        prediction = PairPrediction(ranked, products.scores, shrinkage)
        steps[products.places] = ranked.steps
    names = np.asarray(feature_names)[pairs.pairs]
    return (
        found,
        prediction,
        Interactions(pairs.pairs, pairs.p_values, steps, names, pairs.n_tested),
    )


def _candidates(effects, scores, search):
    """Return the features whose pairs are tested: those that vary and are no categories."""
    is_number = scores.varies.copy()
    is_number[list(scores.nominal_squares)] = False
    n_numbers, n_classes = int(is_number.sum()), len(scores.class_counts)
    n_tested = n_numbers * (n_numbers - 1) // 2 * n_classes
    if n_numbers > MAX_FEATURES and n_tested > MAX_TESTED:
        options = {**search, "keeps_steps": False}
        n_chosen = min(N_CANDIDATES + len(scores.nominal_squares), len(effects))
        ranking = greedy_ranking(effects.copy(), scores, n_chosen, **options).ranking
        return np.sort(ranking[is_number[ranking]][:N_CANDIDATES])
    return np.flatnonzero(is_number)
