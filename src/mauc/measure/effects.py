"""Effects of all features on all class pairs: AUCs on the probit scale, freed of noise.

An AUC tells an effect badly where most pairs of rows are tied, and where classes are small. There,
effects are moved towards standardised differences of the normal scores; see
docs/methods/greedy_mauc.md.

A class that lies on both sides of another one, or around it, has no effect on the order of the
values, but one by their spread: on their distances from the median, which are a further column of a
search. The *folded* score of a normal score z is Phi^-1(2 Phi(|z|) - 1), the normal score of the
distance of a rank from the median rank: see "Dispersion" in docs/methods/greedy_mauc.md.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mauc.data.problem import Problem
from mauc.data.weights import pair_mean
from mauc.engine.arrays import read_only
from mauc.engine.nominal import apparent_pair_auc, nominal_pair_auc
from mauc.measure.nominal_scores import (
    MAX_SCORE,
    UNIT,
    NominalColumn,
    category_scores,
    class_signs,
    rank_scores,
)
from mauc.measure.normal_scores import (
    MIN_TIED,
    BlockScores,
    KeptRows,
    NormalScorer,
    NormalScores,
    class_moments,
    empty_scores,
)
from mauc.measure.pair_auc import WinCounter, folded_auc, unordered_columns

RATE = 1.0 / 8.0  # of the error bound exp(-D_p^2 / 8) of a pair whose squared effect is D_p^2
MAX_FOLDED = 128  # features whose folded scores are kept
MAX_AUC = 1.0 - 1e-4  # a perfect AUC of a finite sample is no proof of an infinite effect
MODEL_NOISE = 0.05  # square of an effect (AUC 0.56) that is not distinguished from model error
_MAX_SQUARE = 11.0  # of an effect (AUC 0.99): beyond, its variance is no better known
_MAX_TABLE = 2**18  # entries: 2 MiB, so that a table stays in a fast cache
_MAX_DIFFERENCE = 5.26  # the effect of the largest AUC that counts, 0.9999
_FULLY_TIED = 0.5  # share of tied pairs of rows from which on the AUC does not count
_PRIOR_DEGREES = 40.0  # of freedom, of the pooled variance in that of two classes
_HALF_SIZE = 30.0  # samples of a class at which the difference of a tied feature counts half
_SMALL_SHARE = 0.5  # of the difference, in the effect on the smallest classes
_ENOUGH = 100.0  # samples of a class from which on the AUC of a feature without ties is enough
_MIN_CLASS_COUNT = 20  # kept samples of both classes, for an effect of spread
_LEVEL = 0.01  # of significance, divided by the number of effects
_DISCOUNT = 0.5  # of effects of spread: few classifiers use all of them, linear ones nothing
_BLOCK_CELLS = 2**21  # scores that are folded at once


def measure(
    problem: Problem,
    *,
    max_samples: int | None = None,
    pair_auc: np.ndarray | None = None,
    n_room: int = 0,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, NormalScores]:
    """Return the effects, shape (n_features, n_pairs), and the normal scores of all features.

    `pair_auc` gets the folded AUCs of all features; scores have room for `n_room` further columns.
    """
    rows = KeptRows(problem, max_samples)
    scores = empty_scores(problem, rows, n_room)
    effects = np.empty((problem.n_features, len(problem.max_wins)))
    arrays = effects, scores.padded, scores.sums.T, scores.squares, scores.varies
    blocks = problem.map(
        _measure_block,
        *rows.sent(),
        out=arrays if pair_auc is None else (*arrays, pair_auc),
        prepare=_prepare,
        n_scores=effects.shape[1],
        n_jobs=n_jobs,
        is_dense=True,
    )
    for block, shares in blocks:
        for position, share in shares:
            scores.nominal[block.start + position] = NominalColumn(share)
    return effects, scores


def _prepare(
    problem: Problem, kept: np.ndarray | None, kept_weights: np.ndarray | None
) -> tuple[NormalScorer, "EffectEstimator", WinCounter]:
    """Return what the blocks of columns have in common; `kept` of None is all rows."""
    rows = KeptRows(problem, None, kept, kept_weights)
    scorer = NormalScorer(problem, rows)
    return scorer, EffectEstimator(problem), WinCounter(problem, rows.order)


def _measure_block(
    problem: Problem,
    block: slice,
    scorer: NormalScorer,
    estimator: "EffectEstimator",
    reader: WinCounter,
    effects: np.ndarray,
    padded: np.ndarray,
    sums: np.ndarray,
    squares: np.ndarray,
    varies: np.ndarray,
    *pair_auc: np.ndarray,
) -> list[tuple[int, float]]:
    """Fill in the arrays of some columns; return the confirmed shares of those without order."""
    written = BlockScores(scorer, padded, sums, squares, varies, takes_all=estimator.takes_all)
    wins = reader.read(block, written)
    estimator.write(wins, written, effects)
    for out in pair_auc:
        out[:] = folded_auc(wins, problem.max_wins)
    shares = []
    # They were read as codes; their scores are those of their categories instead.
    for at, counts in unordered_columns(problem, block):
        by_category = category_scores(counts)
        codes = problem.columns.floats([block.start + at])[0].astype(np.int64)
        # The codes of rows that do not count may be those of no category.
        values = rank_scores(by_category)[np.minimum(codes, counts.n_categories - 1)]
        reader.write_order(read_only(values[np.newaxis]), np.array([at]), written)
        folded, signs = nominal_pair_auc(counts), class_signs(counts, by_category)
        effects[at] = estimator.nominal(folded, signs)
        apparent = folded_effects(apparent_pair_auc(counts))
        share = (folded_effects(folded) ** 2).sum() / max((apparent**2).sum(), 1e-300)
        shares.append((at, float(min(share, 1.0))))
        for out in pair_auc:
            out[at] = folded
    return shares


class EffectEstimator:
    """Turns wins and class sums of normal scores into effects, positive for a higher first class.

    Without weights, few samples can only have few numbers of wins: the effects of their AUCs are
    looked up in a table, whose entries have the bits that `auc_effects` gives.
    """

    def __init__(self, problem: Problem):
        counts = problem.class_weights
        first, second = np.triu_indices(problem.n_classes, 1)
        self._counts, self._first, self._second = counts, first, second
        self._n_samples = counts.sum()
        self._max_wins = problem.max_wins
        self._variances = 1.0 / counts[first] + 1.0 / counts[second]
        sizes = 2.0 / (1.0 / counts[first] + 1.0 / counts[second])
        self._size_weights = sizes / (sizes + _HALF_SIZE)
        self._small_shares = _SMALL_SHARE * np.maximum(1.0 - sizes / _ENOUGH, 0.0)
        #: whether class sums of all features are needed, not only of those with many ties
        self.takes_all: bool = bool((self._small_shares > 0.0).any())
        self._table = None
        kinds, kind_of = np.unique(self._max_wins, return_inverse=True)
        n_wins = kinds.astype(np.int64) + 1
        n_effects = problem.n_features * len(self._max_wins)
        if problem.sample_weight is None and n_wins.sum() <= min(_MAX_TABLE, n_effects):
            starts = np.cumsum(n_wins) - n_wins
            wins = np.arange(n_wins.sum()) - np.repeat(starts, n_wins)
            self._table = auc_effects(wins, np.repeat(kinds, n_wins))
            self._starts = starts[kind_of.ravel()]

    def write(self, wins: np.ndarray, block: BlockScores, out: np.ndarray) -> None:
        """Write the effects of a block of features to `out`."""
        if self._table is None:
            out[:] = auc_effects(wins, self._max_wins)
        else:
            np.take(self._table, self._starts + wins, out=out)
        columns = block.columns
        if len(columns) == len(out):
            out[:] = self._blend(out, block, columns)
        elif len(columns) > 0:
            out[columns] = self._blend(out[columns], block, columns)
        shrink_effects(out, self._variances)

    def nominal(self, folded: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Return the effects of a nominal feature, whose AUCs are 1/2 or more."""
        return signs * shrink_effects(folded_effects(folded), self._variances)

    def _blend(self, effects: np.ndarray, block: BlockScores, columns: np.ndarray) -> np.ndarray:
        """Return effects of AUCs moved towards the standardised differences of the columns."""
        shares = block.n_tied[columns] / self._n_samples**2
        weights = np.clip((shares - MIN_TIED) / (_FULLY_TIED - MIN_TIED), 0.0, 1.0)
        weights = weights[:, np.newaxis] * self._size_weights
        if self.takes_all:
            weights += (1.0 - weights) * self._small_shares
        differences = standard_differences(
            block.moments[columns], self._counts, self._first, self._second
        )
        return weights * differences + (1.0 - weights) * effects


def standard_differences(
    moments: np.ndarray, class_counts: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return standardised differences, shape (n_columns, n_pairs), from class sums and squares."""
    sums = moments[:, 0].astype(np.float64)
    means = sums / class_counts
    scatters = np.maximum(moments[:, 1] - sums * means, 0.0)
    pooled = np.zeros(len(moments))
    for scatter in scatters.T:  # in this order, however many columns there are
        pooled += scatter
    pooled *= _PRIOR_DEGREES / max(class_counts.sum() - len(class_counts), 1)
    found = means[:, first] - means[:, second]
    variances = scatters[:, first] + scatters[:, second]
    variances += pooled[:, np.newaxis]
    variances /= class_counts[first] + class_counts[second] - 2.0 + _PRIOR_DEGREES
    # Scores that do not vary in any class: the largest difference, or none.
    np.sqrt(variances, out=variances)
    np.maximum(variances, 1e-9, out=variances)
    found /= variances
    return np.clip(found, -_MAX_DIFFERENCE, _MAX_DIFFERENCE, out=found)


def auc_effects(wins: np.ndarray, max_wins: np.ndarray) -> np.ndarray:
    """Return the distances of two normal classes of unit variance that give the clipped AUCs.

    Those of x and of -x are the same up to the sign, to the bit.
    """
    effects = folded_effects(folded_auc(wins, max_wins))
    return np.where(2 * wins < max_wins, -effects, effects)


def folded_effects(folded: np.ndarray) -> np.ndarray:
    """Return the effects of folded AUCs."""
    return np.sqrt(2.0) * ndtri(np.minimum(folded, MAX_AUC))


def shrink_effects(effects: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Make effects smaller for the noise in them, in place, and return them."""
    squares = effects * effects
    noise = variances * (1.0 + np.minimum(squares, _MAX_SQUARE) / 8.0) + MODEL_NOISE
    ratios = squares / noise
    # A line through 0 that touches 1 - 1 / x: no effect becomes 0, so that the order of those
    # below the noise is kept.
    effects *= np.where(ratios < 2.0, ratios / 4.0, 1.0 - 1.0 / np.maximum(ratios, 2.0))
    return effects


class Candidates(NamedTuple):
    """The columns of a search: features, followed by the folded scores of some of them."""

    effects: np.ndarray  #: (n_features + n_folded, n_pairs)
    scores: NormalScores
    folded: np.ndarray = np.zeros(0, np.int64)  #: the features that have folded scores, ascending

    def take(self, features: np.ndarray) -> "Candidates":
        """Return some features, ascending, with their folded scores."""
        n_features = len(self.effects) - len(self.folded)
        is_taken = np.isin(self.folded, features)
        kept = np.concatenate([features, n_features + np.flatnonzero(is_taken)])
        folded = np.searchsorted(features, self.folded[is_taken])
        return Candidates(self.effects[kept], self.scores.taken(kept), folded)


def _fold_table() -> np.ndarray:
    """Return the folded score of every score, by its byte; that of missing values, 0, stays."""
    sizes = np.abs(np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float64)) / UNIT
    with np.errstate(divide="ignore"):
        folded = np.rint(UNIT * ndtri(2.0 * ndtr(sizes) - 1.0))
    folded[0] = 0.0
    return np.clip(folded, -MAX_SCORE, MAX_SCORE).astype(np.int8)


FOLDED = _fold_table()


def folded_moments(scores: NormalScores, columns: np.ndarray) -> np.ndarray:
    """Return sums and sums of squares of folded scores, shape (n_columns, 2, n_classes)."""
    starts = np.append(0, np.cumsum(scores.class_counts))
    return class_moments(scores.padded.view(np.uint8), columns, starts, scores.weights, FOLDED)


def find_folded(
    effects: np.ndarray, scores: NormalScores, pair_shares: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return features whose spread separates class pairs, ascending, and their effects by it."""

    def mean(values: np.ndarray) -> np.ndarray:
        """Return the mean over the class pairs by their shares."""
        return values.mean(axis=1) if pair_shares is None else pair_mean(values, pair_shares)

    found = [(np.zeros(0, np.int64), np.empty((0, effects.shape[1])), np.empty(0))]
    for block, spread in spread_effects(effects, scores):
        if not spread.any():
            continue
        errors = np.exp(-RATE * effects[block] ** 2)
        gains = mean(errors * (1.0 - np.exp(-RATE * spread**2)))
        used = np.flatnonzero(gains > 1.0 - mean(errors))
        found.append((block[used], spread[used], gains[used]))
    columns, spread, gains = (np.concatenate(part) for part in zip(*found, strict=True))
    best = np.sort(np.argsort(-gains, kind="stable")[:MAX_FOLDED])
    return columns[best], spread[best]


def spread_effects(
    effects: np.ndarray, scores: NormalScores
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of numeric features and their effects by spread, 0 where it tells nothing."""
    counts = scores.class_weights
    first, second = np.triu_indices(len(counts), 1)
    large = np.flatnonzero(np.minimum(counts[first], counts[second]) >= _MIN_CLASS_COUNT)
    is_number = scores.varies.copy()
    is_number[list(scores.nominal)] = False
    columns = np.flatnonzero(is_number)
    if len(large) == 0:
        columns = columns[:0]
    both = first[large], second[large]
    variances = 1.0 / counts[both[0]] + 1.0 / counts[both[1]]
    luck = chi2.isf(_LEVEL / max(len(columns) * len(large), 1), 1) * variances
    width = max(1, _BLOCK_CELLS // max(scores.padded.shape[1], len(first)))
    for start in range(0, len(columns), width):
        block = columns[start : start + width]
        present = np.where(counts > 0, counts, 1)
        effect = standard_differences(folded_moments(scores, block), present, *both)
        shrink_effects(effect, variances)
        squares, ordered = effect**2, effects[block] ** 2
        is_used = (squares > luck) & (squares > 2.0 * ordered[:, large])
        spread = np.zeros(ordered.shape)
        spread[:, large] = _DISCOUNT * is_used * effect
        yield block, spread


def with_folded(
    effects: np.ndarray, scores: NormalScores, pair_shares: np.ndarray | None = None
) -> Candidates:
    """Return features with the folded scores of those that need them, for which there is room."""
    return add_folded(effects, scores, *find_folded(effects, scores, pair_shares))


def add_folded(
    effects: np.ndarray, scores: NormalScores, folded: np.ndarray, spread: np.ndarray
) -> Candidates:
    """Append the folded scores of features, whose effects are `spread`."""
    if len(folded) == 0:
        return Candidates(effects, scores, folded)
    padded, moments = FOLDED[scores.padded[folded].view(np.uint8)], folded_moments(scores, folded)
    extended = scores.extended(padded, moments[:, 0].T, moments[:, 1].sum(axis=1))
    return Candidates(np.concatenate([effects, spread]), extended, folded)
