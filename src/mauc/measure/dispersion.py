"""Features whose spread tells classes apart: their distance from the median as a further column.

A class that lies on both sides of another one, or around it, has no effect on the order of the
values. The *folded* score of a normal score z is Phi^-1(2 Phi(|z|) - 1), the normal score of the
distance of a rank from the median rank: see "Dispersion" in docs/methods/greedy_mauc.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mauc.data.weights import pair_mean
from mauc.measure.effects import shrink_effects, standard_differences
from mauc.measure.normal_scores import MAX_SCORE, UNIT, NormalScores, class_moments
from mauc.results import short_name

MAX_FOLDED = 128  # features whose folded scores are kept
_MIN_CLASS_COUNT = 20  # kept samples of both classes, for an effect of spread
_LEVEL = 0.01  # of significance, divided by the number of effects
_DISCOUNT = 0.5  # of effects of spread: few classifiers use all of them, linear ones nothing
_BLOCK_CELLS = 2**21  # scores that are folded at once


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
    if pair_shares is None:
        pair_shares = np.full(effects.shape[1], 1.0 / effects.shape[1])
    found = [(np.zeros(0, np.int64), np.empty((0, effects.shape[1])), np.empty(0))]
    for block, spread in spread_effects(effects, scores):
        errors = np.exp(-(effects[block] ** 2) / 8.0)
        gains = pair_mean(errors * (1.0 - np.exp(-(spread**2) / 8.0)), pair_shares)
        used = np.flatnonzero(gains > 1.0 - pair_mean(errors, pair_shares))
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
    is_number[list(scores.nominal_shares)] = False
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


def chosen_by_spread(selector: Any, names: Sequence[str]) -> list[str]:
    """Return the names of the chosen features of a fitted selector that count by their spread."""
    folded = set(getattr(selector, "folded_features_", ()))
    return [names[j] for j in selector.ranking_ if j in folded]


def spread_sentence(selector: Any, names: Sequence[str]) -> str:
    """Return in words which these are, or nothing."""
    found = chosen_by_spread(selector, names)
    if not found:
        return ""
    listed, ending, its = ", ".join(map(short_name, found)), "s", "its"
    if len(found) > 1:
        ending, its = "", "their"
    return f"{listed} separate{ending} classes by {its} spread, which {its} AUC alone does not show"
