"""Pairs of features whose correlation differs between the classes, and the search with products.

The same search has the folded scores of single features, see `dispersion`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from mauc.compile import njit
from mauc.data.columns import DenseColumns
from mauc.data.problem import Problem
from mauc.engine.arrays import read_only
from mauc.layout import Layout, plain_layout
from mauc.parallel import start_pool
from mauc.progress import track
from mauc.results import MAX_ROWS, Result, plural, short_name
from mauc.selectors.greedy_mauc.dispersion import FOLDED, find_folded, folded_moments
from mauc.selectors.greedy_mauc.effects import measure
from mauc.selectors.greedy_mauc.scores import NormalScores
from mauc.selectors.greedy_mauc.search import (
    MIN_VARIANCE,
    GreedyRanking,
    SearchState,
    Taken,
    best_feature,
    empty_ranking,
    exp_minus,
    search_features,
)

MAX_PAIRS = 60  # that are kept
MAX_FEATURES = 1500  # of which all pairs are tested, whatever the number of classes
MAX_TESTED = 2**26  # correlations, one per pair and class: two seconds
N_CANDIDATES = 300  # features with more: the first of the search without products
_LEVEL = 0.01  # of significance, divided by the number of pairs that are tested
_MIN_CLASS_COUNT = 4  # samples of a class, for a variance of 1 / (n - 3)
_MAX_CORRELATION = 0.999
_MIN_SCATTER = 0.25  # whole numbers that differ have a scatter of 1/2 or more
_ROWS = 1024  # samples whose sums of products stay below 2^24: exact in float32
_BLOCK_CELLS = 2**20  # pairs that are tested at once


@dataclass(frozen=True, repr=False)
class Interactions(Result):
    """Pairs of interacting features, whose correlations differ between classes, by p-value.

    A product is added with the later of its features; its step is 0 if one of them was not
    selected, or if it separates no class pair.
    """

    pairs: np.ndarray  #: (n_found, 2), int64: column numbers, the lower first
    p_values: np.ndarray  #: (n_found,)
    steps: np.ndarray  #: (n_found,), int64: of the trace, with which each product was added
    names: np.ndarray  #: (n_found, 2)
    n_tested: int  #: pairs that were tested

    def __len__(self) -> int:
        return len(self.pairs)

    def first(self, k: int) -> "Interactions":
        """Return the same for a selection of the first k features."""
        return replace(self, steps=np.where(self.steps <= k, self.steps, 0))

    @property
    def members(self) -> set[int]:
        """The features of all products that count."""
        return set(self.pairs[self.steps > 0].ravel().tolist())

    def lines(self, names: Any) -> list[str]:
        """Return one line per product that counts, under these names of all features."""
        text = "{} and {} act together (p = {:.1e})"
        used = [one for one in self if one.step > 0]
        return [text.format(names[one.first], names[one.second], one.p_value) for one in used]

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`: features, names, p-value and step of every pair."""
        columns = (*self.pairs.T, *self.names.astype(str).T, self.p_values, self.steps)
        fields = ("first", "second", "first_name", "second_name", "p_value", "step")
        return {name: part.tolist() for name, part in zip(fields, columns, strict=True)}

    def printed_parts(self) -> list[str | Layout]:
        """Return the first pairs as a table."""
        rows = [
            [short_name(a), short_name(b), f"{p:.1e}", str(step) if step > 0 else "-"]
            for _, _, a, b, p, step in islice(self, MAX_ROWS)
        ]
        if not rows:
            return [f"no interaction among {plural(self.n_tested, 'pair')} of features"]
        heads = ["feature", "with", "p-value", "step"]
        return [plain_layout(heads, rows, len(self), right=("step",))]


def search_derived(
    effects: np.ndarray, scores: NormalScores, k: int, names: np.ndarray, noise_correction: float,
    *, interactions: bool, search: Callable[..., Any] | None = None, **options: Any,
) -> tuple[SearchState, GreedyRanking, np.ndarray, Interactions | None]:  # fmt: skip
    """Choose features with their folded scores and, with `interactions`, with their products.

    Returns the features that have folded scores, too. The scores have room for all of them.
    `search` is that under constraints, if there are any.
    """
    shares = options.get("pair_shares")
    folded, spread = find_folded(effects, scores, noise_correction, shares)
    pairs, numbers = None, np.zeros(0, np.int64)
    columns = add_folded(effects, scores, folded, spread)
    if interactions:
        pairs = find_pairs(scores, _candidates(effects, scores, options), np.asarray(names))
        columns, numbers = add_products(columns, pairs, noise_correction)
    state, found, steps = (search or search_columns)(columns, k, options)
    if pairs is not None:
        pairs.steps[numbers] = steps[len(folded) :]
    return state, found, folded, pairs


def _candidates(effects, scores, options):
    """Return the features whose pairs are tested: those that vary and are not nominal."""
    is_number = scores.varies & ~np.isin(range(len(effects)), list(scores.nominal_shares))
    n_numbers, n_classes = int(is_number.sum()), len(scores.class_counts)
    n_tested = n_numbers * (n_numbers - 1) // 2 * n_classes
    if n_numbers > MAX_FEATURES and n_tested > MAX_TESTED:
        n_chosen = min(N_CANDIDATES + len(scores.nominal_shares), len(effects))
        state = SearchState(effects.copy(), scores, n_chosen, **options)
        ranking = search_features(state, n_chosen).ranking
        return np.sort(ranking[is_number[ranking]][:N_CANDIDATES])
    return np.flatnonzero(is_number)


def find_pairs(scores: NormalScores, columns: np.ndarray, names: np.ndarray) -> Interactions:
    """Return the pairs of features whose correlations differ most between the classes."""
    n = len(columns)
    n_tested = n * (n - 1) // 2
    used = np.flatnonzero(scores.class_weights >= _MIN_CLASS_COUNT)
    found: list[tuple[np.ndarray, ...]] = [tuple(np.zeros((4, 0), np.int64))]
    if n_tested > 0 and len(used) >= 2:
        classes = [_class_part(scores, columns, k) for k in used]
        critical = chi2.isf(_LEVEL / n_tested, np.maximum(np.arange(len(used)), 1))
        critical[0] = np.inf  # a single class has nothing to differ from
        width = max(1, _BLOCK_CELLS // n)
        for start in range(0, n, width):
            statistics, freedom = _test_block(classes, start, min(start + width, n), n)
            at = first, second = np.nonzero(np.triu(statistics > critical[freedom], 1))
            found.append((first + start, second + start, statistics[at], freedom[at]))
    first, second, statistics, freedom = (np.concatenate(p) for p in zip(*found, strict=True))
    p_values = chi2.sf(statistics, np.maximum(freedom, 1))
    best = np.lexsort((second, first, -statistics, p_values))[:MAX_PAIRS]
    pairs = np.column_stack([first[best], second[best]]).astype(np.int64)
    steps = np.zeros(len(pairs), np.int64)
    return Interactions(columns[pairs], p_values[best], steps, names[columns[pairs]], n_tested)


def _class_part(scores, columns, k):
    """Return the scores of a class, their centers, inverse deviations and n_k - 3."""
    rows, stop = scores.class_counts[k], scores.class_counts[: k + 1].sum()
    part, count = scores.values(columns, slice(stop - rows, stop)), scores.class_weights[k]
    part = part.astype(np.float32) if scores.weights is None else part
    center = scores.sums[k, columns] / np.sqrt(count)
    scatter = np.einsum("fi,fi->f", part, part, dtype=np.float64) - center * center
    inverse = 1.0 / np.sqrt(np.maximum(scatter, _MIN_SCATTER))
    return part, center, np.where(scatter > _MIN_SCATTER, inverse, 0.0), count - 3.0


def _test_block(classes, start, stop, n):
    """Return Q and its degrees of freedom, of features of a range with those from `start` on."""
    shape = stop - start, n - start
    total, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    n_classes = np.zeros(shape, np.int64)
    for part, center, inverse, weight in classes:
        products = np.zeros(shape)
        for rows in np.split(part, range(_ROWS, part.shape[1], _ROWS), axis=1):
            products += rows[start:stop] @ rows[start:].T
        products -= np.outer(center[start:stop], center[start:])
        products *= np.outer(inverse[start:stop], inverse[start:])
        z = np.arctanh(np.clip(products, -_MAX_CORRELATION, _MAX_CORRELATION))
        is_used = np.outer(inverse[start:stop] > 0.0, inverse[start:] > 0.0)
        weights = weight * is_used
        total += weights
        first += weights * z
        second += weights * z * z
        n_classes += is_used
    statistics = second - first * first / np.maximum(total, 1.0)
    return statistics, np.maximum(n_classes - 1, 0)


class DerivedColumns(NamedTuple):
    """Features, followed by columns made of them: folded scores, and products of two."""

    effects: np.ndarray  #: (n_features + n_derived, n_pairs)
    scores: NormalScores
    members: np.ndarray  #: (n_derived, 2), int64: features of each product, or twice the folded one


def take_features(columns: DerivedColumns, features: np.ndarray) -> DerivedColumns:
    """Return some features, ascending, with the columns that are made of these alone."""
    n_features = len(columns.effects) - len(columns.members)
    derived = np.flatnonzero(np.isin(columns.members, features).all(axis=1))
    kept = np.concatenate([features, n_features + derived])
    members = np.searchsorted(features, columns.members[derived])
    return DerivedColumns(columns.effects[kept], columns.scores.taken(kept), members)


def add_folded(
    effects: np.ndarray, scores: NormalScores, folded: np.ndarray, spread: np.ndarray
) -> DerivedColumns:
    """Append the folded scores of features, whose effects are `spread`."""
    members = np.column_stack([folded, folded])
    if len(folded) == 0:
        return DerivedColumns(effects, scores, members)
    padded, moments = FOLDED[scores.padded[folded].view(np.uint8)], folded_moments(scores, folded)
    extended = scores.extended(padded, moments[:, 0].T, moments[:, 1].sum(axis=1))
    return DerivedColumns(np.concatenate([effects, spread]), extended, members)


def add_products(
    columns: DerivedColumns, found: Interactions, noise_correction: float
) -> tuple[DerivedColumns, np.ndarray]:
    """Append the products of pairs of features that have an effect; return which pairs, too."""
    effects, scores, pairs = columns.effects, columns.scores, found.pairs
    if len(pairs) == 0:
        return columns, np.zeros(0, np.int64)
    counts = scores.class_counts
    present = np.flatnonzero(counts)
    values = scores.scores[pairs[:, 0]].astype(np.float32)
    values *= scores.scores[pairs[:, 1]]
    codes = np.repeat(np.arange(len(present), dtype=np.int32), counts[present])
    table, is_nominal = DenseColumns(read_only(values.T)), np.zeros(len(pairs), bool)
    weights = None if scores.weights is None else scores.weights[: len(codes)]
    problem = Problem(table, codes, np.arange(len(present)), counts[present], is_nominal, weights)
    factor = max(1.0, 2.0 * np.log(max(found.n_tested, 1)))
    of_products, product_scores = measure(problem, noise_correction=noise_correction * factor)
    # Class pairs of which no sample was kept have no effect.
    first, second = np.triu_indices(len(counts), 1)
    wide = np.zeros((len(pairs), effects.shape[1]))
    wide[:, (counts[first] > 0) & (counts[second] > 0)] = of_products
    wide[wide * wide <= (effects[pairs] ** 2).sum(axis=1)] = 0.0
    numbers = np.flatnonzero(wide.any(axis=1) & product_scores.varies)
    sums = np.zeros((len(counts), len(pairs)), product_scores.sums.dtype)
    sums[present] = product_scores.sums
    extended = scores.extended(
        product_scores.padded[numbers], sums[:, numbers], product_scores.squares[numbers]
    )
    effects = np.concatenate([effects, wide[numbers]])
    members = np.concatenate([columns.members, pairs[numbers]])
    return DerivedColumns(effects, extended, members), numbers


class ProductSearch:
    """The search of k features with the products that they complete."""

    def __init__(self, state: SearchState, members: np.ndarray, k: int) -> None:
        self.state: SearchState = state
        self.members: np.ndarray = members
        self.found: GreedyRanking = empty_ranking(state, k)
        self.products: Any = state.n_features + np.arange(len(members))
        self.product_steps: np.ndarray = np.zeros(len(members), np.int64)
        self._involved = np.concatenate([np.unique(members), self.products])
        first, second = members.T
        columns = ((first, second), (first, self.products), (second, self.products))
        self._correlations = [shrunk_correlations(state, *pair) for pair in columns]

    def run(self) -> tuple[GreedyRanking, np.ndarray]:
        """Return the ranking, and the step of each product, or 0."""
        state, n_chosen = self.state, int(self.found.n_steps[-1])
        with start_pool(len(state.blocks)) as state.pool:
            features: list[int] = []
            for rank in track(range(n_chosen), "features"):
                features = features or self.best_move()[1]
                self.choose(features.pop(0), rank)
        self.found.n_steps[n_chosen:] = state.step
        return self.found, self.product_steps

    def best_move(self) -> tuple[float, list[int]]:
        """Return the gain of the best move and its features: one, or those a product lacks."""
        state, gain, features = self.state, -1.0, []
        bests = [f for f in state.run(state.find_best) if f >= 0]
        if bests:
            features = [best_feature(bests, state.losses, state.prior)]
            gain = state.prior[features[0]] * max(1.0 - state.losses[features[0]], 0.0)
        if state.step == 0:
            self.found.relevance[:] = state.feature_gains()
        if len(self.members) == 0:
            return gain, features
        state.update_effects(self._involved[state.is_open[self._involved]])
        gains, weights = score_pairs(state, self.members, self.products, self._correlations)
        # Members that are not chosen must be candidates: constraints may exclude them.
        is_out = state.is_open[self.members] & ~state.is_left[self.members]
        weights = weights * ~is_out.any(axis=1)
        if state.step == 0:
            is_folded = self.members[:, 0] == self.members[:, 1]
            self.found.relevance[self.members[is_folded, 0]] = gains[is_folded]
        move = int(np.argmax(weights * gains))
        if weights[move] * gains[move] <= max(gain, 0.0):
            return gain, features
        new = [int(f) for f in np.unique(self.members[move]) if state.is_open[f]]
        for f in new:
            state.find_best((f, f + 1))  # its loss
        in_order = best_feature(new, state.losses, state.prior) == new[0]
        return float(weights[move] * gains[move]), new if in_order else new[::-1]

    def choose(self, feature: int, rank: int) -> None:
        """Rank a feature, and add it with all products that it completes."""
        state, found = self.state, self.found
        step, variances, limits = state.step, state.variances.copy(), state.bounds.limits.copy()
        weights, separations = state.weights.copy(), state.separations.copy()
        state.find_best((feature, feature + 1))  # its effects and loss
        loss, taken = state.losses[feature], state.add(feature)
        is_lacking = state.is_open[self.members].any(axis=1)
        completes = ~is_lacking & state.is_open[self.products]
        for j in np.flatnonzero(completes):
            state.update_effects(self.products[j : j + 1])
            state.add(self.products[j])
            self.product_steps[j] = rank + 1
        if completes.any():
            *joint, loss = joint_step(separations, state.separations, weights, state.rate)
            taken = Taken(*joint)
        found.ranking[rank], found.pairs[rank] = feature, taken.pair
        found.gains[rank], found.n_steps[rank] = max(1.0 - loss, 0.0), state.step
        found.ranks[rank] += sum(
            state.run(lambda block: state.count_better(block, taken, step, variances, limits))
        )


def search_columns(
    columns: DerivedColumns, k: int, options: dict[str, Any]
) -> tuple[SearchState, GreedyRanking, np.ndarray]:
    """Choose k features by their gains alone; return the step of each derived column, or 0, too."""
    n_new = len(columns.members)
    if n_new == 0:
        state = SearchState(columns.effects, columns.scores, k, **options)
        return state, search_features(state, k), np.zeros(0, np.int64)
    n_folded = int((columns.members[:, 0] == columns.members[:, 1]).sum())
    n_steps = k + min(k, n_folded) + n_new - n_folded
    state = SearchState(columns.effects, columns.scores, n_steps, n_products=n_new, **options)
    return state, *ProductSearch(state, columns.members, k).run()


def score_pairs(state: Any, members: Any, products: Any, correlations: Any) -> tuple[Any, Any]:
    """Return the gain per new feature of every product with its members that are not chosen.

    Also the mean prior weights of these, 0 if there are none; folded scores have one member.
    `correlations` are those of the two members of each product, and of either with it.
    """
    first, second = members.T
    is_new = state.is_open[members].T[:, :, np.newaxis]
    is_new[1, first == second] = False
    factors, variances = state.factors[: state.step], state.variances[:, np.newaxis]

    def covariance(a, b, r):
        return (r - (factors[:, a] * factors[:, b]).sum(axis=0))[:, np.newaxis]

    def deviation(variance):
        return np.sqrt(np.maximum(variance, MIN_VARIANCE))

    # The Cholesky factor of the three columns given the chosen ones, and x, their effects in
    # independent coordinates. A chosen member has no effect left and correlates with nothing.
    root_0 = deviation(variances[first])
    c_10 = is_new.all(axis=0) * covariance(first, second, correlations[0]) / root_0
    root_1 = deviation(variances[second] - c_10**2)
    c_20 = is_new[0] * covariance(first, products, correlations[1]) / root_0
    c_21 = (is_new[1] * covariance(second, products, correlations[2]) - c_20 * c_10) / root_1
    root_2 = deviation(variances[products] - c_20**2 - c_21**2)
    x_0 = is_new[0] * state.effects[first] / root_0
    x_1 = (is_new[1] * state.effects[second] - c_10 * x_0) / root_1
    x_2 = (state.effects[products] - c_20 * x_0 - c_21 * x_1) / root_2
    losses = np.exp(-state.rate * (x_0**2 + x_1**2 + x_2**2)) @ state.weights
    n_new = np.maximum(is_new[:, :, 0].sum(axis=0), 1)
    weights = (state.prior[members].T * is_new[:, :, 0]).sum(axis=0) / n_new
    return np.maximum(1.0 - losses, 0.0) / n_new, weights


def shrunk_correlations(state: Any, first: Any, second: Any) -> Any:
    """Return the shrunk within-class correlations of pairs of columns."""
    centers = state.centers
    within = state.scores.products(first, second) - (centers[:, first] * centers[:, second]).sum(
        axis=0
    )
    return (1.0 - state.shrinkage) * within * state.scales[first] * state.scales[second]


@njit(cache=True, nogil=True)
def joint_step(before, after, weights, rate):
    """Return the fields of `Taken` of columns added at once, and what error they leave."""
    pair, largest_drop, loss = 0, -1.0, 0.0
    for p in range(weights.shape[0]):
        left = exp_minus(rate * (after[p] - before[p]))
        drop = weights[p] * (1.0 - left)
        if drop > largest_drop:
            pair, largest_drop = p, drop
        loss += weights[p] * left
    return pair, after[pair] - before[pair], largest_drop, math.sqrt(before[pair]), loss
