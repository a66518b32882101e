"""Features with their folded scores as moves of a search: two columns that are chosen at once.

A feature whose spread tells classes apart, see `mauc.measure.effects`, has a further column. The
gain of such a move is what both columns take away together.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from mauc.compile import njit
from mauc.engine.arithmetic import exp_minus
from mauc.measure.effects import RATE
from mauc.measure.normal_scores import MIN_VARIANCE

if TYPE_CHECKING:  # the search has these moves
    from mauc.search.greedy import SearchState


class FoldedScores:
    """The columns of folded scores in a search, one for each of some features, `folded`."""

    def __init__(self, state: "SearchState", folded: np.ndarray) -> None:
        self._features = folded
        self._columns = state.n_features + np.arange(len(folded))
        self._involved = np.concatenate([self._features, self._columns])
        self._correlations = state.correlations(self._features, self._columns)

    def has(self, feature: int) -> bool:
        """Whether a feature has folded scores."""
        return feature in self._features

    def better_move(
        self, state: "SearchState", gain: float, feature: int, relevance: np.ndarray
    ) -> tuple[float, int]:
        """Return the move of the larger gain: the one given, or a feature with folded scores.

        At the first step, `relevance` gets what these gain.
        """
        state.update_effects(self._involved[state.is_open[self._involved]])
        gains = self._joint_gains(state)
        if state.step == 0:
            relevance[self._features] = gains
        # Those that are chosen, or excluded by wishes, are not left.
        gains = state.prior[self._features] * state.is_left[self._features] * gains
        move = int(np.argmax(gains))
        if gains[move] <= max(gain, 0.0):
            return gain, feature
        return float(gains[move]), int(self._features[move])

    def _joint_gains(self, state: "SearchState") -> np.ndarray:
        """Return what each feature gains together with its folded scores."""
        features, columns = self._features, self._columns
        factors = state.factors[: state.step]

        def deviation(variance: np.ndarray) -> np.ndarray:
            """Return standard deviations as a column."""
            return np.sqrt(np.maximum(variance, MIN_VARIANCE))[:, np.newaxis]

        # The Cholesky factor of the two columns given the chosen ones, and their effects in
        # independent coordinates.
        covariance = self._correlations - (factors[:, features] * factors[:, columns]).sum(axis=0)
        root = deviation(state.variances[features])
        factor = covariance[:, np.newaxis] / root
        x = state.effects[features] / root
        y = state.effects[columns] - factor * x
        y /= deviation(state.variances[columns] - factor[:, 0] ** 2)
        losses = np.exp(-RATE * (x**2 + y**2)) @ state.weights
        return np.maximum(1.0 - losses, 0.0)

    def take(self, state: "SearchState", feature: int) -> tuple[int, float, float, float, float]:
        """Choose a feature and its folded score; return the fields of `Taken`, and the loss.

        Columns are conditioned on the feature, not yet on its folded score.
        """
        columns = self._columns[self._features == feature]
        weights, separations = state.weights.copy(), state.separations.copy()
        state.add(feature)
        state.update_effects(columns)
        state.take(int(columns[0]))
        return joint_step(separations, state.separations, weights)


@njit
def joint_step(before, after, weights):
    """Return the fields of `Taken` of columns added at once, and what error they leave."""
    pair, largest_drop, loss = 0, -1.0, 0.0
    for p in range(weights.shape[0]):
        left = exp_minus(RATE * (after[p] - before[p]))
        drop = weights[p] * (1.0 - left)
        if drop > largest_drop:
            pair, largest_drop = p, drop
        loss += weights[p] * left
    return pair, after[pair] - before[pair], largest_drop, math.sqrt(before[pair]), loss
