"""What `GreedyMAUC` chooses: how many features, by which search, and what is known of them then."""

from functools import partial
from typing import NamedTuple

import numpy as np

from mauc.data.wishes import Wishes
from mauc.measure.effects import Candidates, with_folded
from mauc.measure.normal_scores import NormalScores
from mauc.search.alternatives import PendingAlternatives
from mauc.search.greedy import (
    MAX_HELD,
    GreedyRanking,
    SearchOptions,
    SearchState,
    condition_on,
    search_candidates,
)
from mauc.search.prediction import Prediction
from mauc.search.sets import FeatureSets, predict_sets
from mauc.search.units import search_units

PREDICTED_SLACK = 0.0005  # of MAUC: what more features have to add
_MORE = 4  # features that count beside twice as many, where few are chosen


class Choice(NamedTuple):
    """The chosen features and what is known of them."""

    ranking: GreedyRanking
    predicted: Prediction | np.ndarray  #: MAUC to expect of the features so far
    separations: np.ndarray  #: (n_pairs,): D_p^2 of all chosen columns
    folded: np.ndarray  #: the features that have folded scores, ascending
    alternatives: PendingAlternatives


class _Searched(NamedTuple):
    """A search that is over; `sets` are those whose MAUC is predicted, None if it is no matter."""

    state: SearchState
    ranking: GreedyRanking
    sets: FeatureSets | None
    folded: np.ndarray


def choose_features(
    effects: np.ndarray,
    scores: NormalScores,
    n_wanted: int,
    options: SearchOptions,
    wishes: Wishes | None = None,
    only_enough: bool = False,
) -> Choice:
    """Choose features, under wishes if there are any.

    `only_enough`: of the features, the fewest that are predicted to be enough. Effects are
    overwritten, and the scores have room for folded ones.
    """
    n, rival = n_wanted, None
    if options.pair_shares is not None:  # sets of one size are compared
        if only_enough:
            searched = _search(effects.copy(), scores, n, options, wishes)
            n = _count_enough(searched.ranking, _predict(searched).mauc, wishes)
        if n < (len(effects) if wishes is None else wishes.n_available):
            unweighted = options._replace(pair_shares=None)
            rival = _search(effects.copy(), scores, n, unweighted, wishes).ranking.ranking
    searched = _search(effects, scores, n, options, wishes, rival)
    ranking, prediction = searched.ranking, _predict(searched)
    predicted: Prediction | np.ndarray = prediction
    if only_enough and options.pair_shares is None:
        n = _count_enough(ranking, prediction.mauc, wishes)
        ranking, predicted = ranking.first(n), prediction.mauc[:n]
    state = searched.state
    pending = PendingAlternatives(state, predicted, ranking.ranking, set(searched.folded.tolist()))
    is_large = state.is_large
    if len(searched.folded) > 0:  # alternatives are features alone
        pending.state = partial(_plain_state, effects, scores, ranking.ranking, options)
        is_large |= scores.padded.nbytes > MAX_HELD
    if wishes is not None:
        pending.is_free = wishes.is_free
        pending.excluded |= set(np.flatnonzero(~wishes.is_free).tolist())
    if is_large:
        _ = pending.found
    separations = state.separations_of(ranking.n_steps[-1])
    return Choice(ranking, predicted, separations, searched.folded, pending)


def enough_features(mauc: np.ndarray) -> int:
    """Return the least number of features to which many more add little predicted MAUC.

    `mauc` is that of the first 1, 2, ... features, 0 where a set of so many is no choice.
    """
    for n in range(1, len(mauc)):
        if 0.0 < mauc[n - 1] >= mauc[: 2 * n + _MORE].max() - PREDICTED_SLACK:
            return n
    return len(mauc)


def _count_enough(found: GreedyRanking, mauc: np.ndarray, wishes: Wishes | None) -> int:
    """Return `enough_features` of a ranking: under wishes, a number that ends with a unit."""
    if wishes is not None:
        mauc = np.where(wishes.ends(found.ranking), mauc, 0.0)
    return enough_features(mauc)


def _search(
    effects: np.ndarray,
    scores: NormalScores,
    n: int,
    options: SearchOptions,
    wishes: Wishes | None = None,
    rival: np.ndarray | None = None,
) -> _Searched:
    """Search n features; `rival` are those that may be chosen in their place."""
    candidates = with_folded(effects, scores, options.pair_shares)
    if wishes is None and rival is None:
        return _Searched(*search_candidates(candidates, n, options), None, candidates.folded)
    return _Searched(*search_units(wishes, candidates, n, options, rival), candidates.folded)


def _predict(searched: _Searched) -> Prediction:
    """Return the MAUC to expect of the first features of a ranking; its state leaves."""
    left = searched.state.leave()
    if searched.sets is None:
        return Prediction(left, searched.ranking.n_steps)
    return predict_sets(left, searched.ranking, searched.sets)


def _plain_state(
    effects: np.ndarray, scores: NormalScores, ranking: np.ndarray, options: SearchOptions
) -> SearchState:
    """Return a state of the features of a ranking alone, after the last step."""
    state = SearchState(Candidates(effects, scores), len(ranking), options)
    condition_on(state, ranking).leave()
    return state
