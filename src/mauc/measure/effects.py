"""Effects of all features on all class pairs: AUCs on the probit scale, freed of noise.

An AUC tells an effect badly where most pairs of rows are tied, and where classes are small. There,
effects are moved towards standardised differences of the normal scores; see
docs/methods/greedy_mauc.md.
"""

import numpy as np
from scipy.special import ndtri

from mauc.data.problem import Problem
from mauc.engine.arrays import read_only
from mauc.engine.nominal import apparent_pair_auc, nominal_pair_auc
from mauc.measure.normal_scores import (
    MIN_TIED,
    BlockScores,
    KeptRows,
    NormalScorer,
    NormalScores,
    category_scores,
    class_signs,
    empty_scores,
    rank_scores,
)
from mauc.measure.pair_auc import ColumnReader, folded_auc, unordered_columns

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
            scores.nominal_shares[block.start + position] = share
    return effects, scores


def _prepare(
    problem: Problem, kept: np.ndarray | None, kept_weights: np.ndarray | None
) -> tuple[NormalScorer, "EffectEstimator", ColumnReader]:
    """Return what the blocks of columns have in common; `kept` of None is all rows."""
    rows = KeptRows(problem, None, kept, kept_weights)
    scorer = NormalScorer(problem, rows)
    return scorer, EffectEstimator(problem), ColumnReader(problem, rows.order)


def _measure_block(
    problem: Problem,
    block: slice,
    scorer: NormalScorer,
    estimator: "EffectEstimator",
    reader: ColumnReader,
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
    # They were read as codes, and are read again as scores of the categories.
    for at, counts in unordered_columns(problem, block):
        by_category = category_scores(counts)
        codes = problem.columns.floats([block.start + at])[0].astype(np.int64)
        # The codes of rows that do not count may be those of no category.
        values = rank_scores(by_category)[np.minimum(codes, counts.n_categories - 1)]
        reader.read_columns(read_only(values[np.newaxis]), np.array([at]), written)
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

    def _blend(self, effects, block, columns):
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
