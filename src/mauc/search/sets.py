"""The MAUC to expect of sets of features, whatever the order in which they were chosen.

What a feature adds to those before it decides how much of it is taken for luck, so a prediction
needs an order. That of a set is the order in which a search without wishes chooses its features.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mauc.measure.effects import Candidates
from mauc.search.greedy import (
    MAX_EVALUATED,
    GreedyRanking,
    Leftover,
    SearchOptions,
    search_candidates,
    spread_columns,
)
from mauc.search.prediction import Prediction, evaluated_sizes, predict_sizes


class FeatureSets:
    """Predicts the MAUC of sets of features."""

    def __init__(self, candidates: Candidates, options: SearchOptions) -> None:
        self._candidates, self._options = candidates, options._replace(n_jobs=1)

    @cached_property
    def _scales(self) -> np.ndarray:
        return self._candidates.scores.within_scales()[1] * self._candidates.scores.confirmed_roots

    def mauc(self, features: np.ndarray) -> float:
        """Return the MAUC to expect of a set of features, given by their columns."""
        scores, folded = self._candidates.scores, self._candidates.folded
        first = len(self._candidates.effects) - len(folded)
        chosen = first + np.flatnonzero(np.isin(folded, features))
        others = spread_columns(scores.varies, chosen)
        return self.predict(features, scores.sums[:, others], self._scales[others])

    def predict(
        self, features: np.ndarray, other_sums: np.ndarray, other_scales: np.ndarray
    ) -> float:
        """Do so, given the class sums and scales that tell the distances of all features."""
        part = self.take(features)
        k = min(len(features), MAX_EVALUATED)
        left = search_candidates(part._candidates, k, part._options)[0].leave()
        left = left._replace(other_sums=other_sums, other_scales=other_scales)
        return predict_sizes(left, evaluated_sizes(len(left.rows))[-1:])[0]

    def take(self, features: np.ndarray) -> "FeatureSets":
        """Return what it takes for some features alone, in the order of their columns."""
        features, prior = np.sort(features), self._options.prior
        options = self._options._replace(prior=None if prior is None else prior[features])
        return FeatureSets(self._candidates.take(features), options)


@dataclass(eq=False)
class SetPrediction(Prediction):
    """The MAUC to expect of the first features of a ranking, each time as a set."""

    positions: np.ndarray  #: of the ranked features in `sets`, as far as MAUC is predicted
    sets: FeatureSets  #: of these features alone

    @cached_property
    def mauc(self) -> np.ndarray:
        """In [0.5, 1), shape (k,): of the last of `evaluated_sizes`, and of the whole set."""
        places = np.searchsorted(evaluated_sizes(MAX_EVALUATED), self.n_steps, "right")
        is_evaluated = np.diff(places, prepend=0) > 0
        is_evaluated[len(self.positions) - 1] = True
        others = self.left.other_sums, self.left.other_scales
        ends = np.flatnonzero(is_evaluated) + 1
        predicted = [self.sets.predict(self.positions[:end], *others) for end in ends]
        return np.array([0.5, *predicted])[np.cumsum(is_evaluated)]


def predict_sets(left: Leftover, found: GreedyRanking, sets: FeatureSets) -> SetPrediction:
    """Return the MAUC to expect of the first features of a ranking, each time as a set."""
    is_last = np.append(found.n_steps >= MAX_EVALUATED, True)
    chosen = found.ranking[: int(np.argmax(is_last)) + 1]
    positions = np.searchsorted(np.sort(chosen), chosen)
    return SetPrediction(left, found.n_steps, positions, sets.take(chosen))
