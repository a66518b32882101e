"""ARCO on a cluster: workers hold the ranks of their ranges of columns.

Every step each range proposes its best feature, and all are told the ranks of the one that is
taken. The correlation with it is added to all candidates at once; one process skips those that
cannot win, which changes no bit.
"""

import math

import numpy as np

from mauc.cluster import RangeStates
from mauc.selectors.arco.rank_columns import rank_product
from mauc.selectors.greedy_search import GreedySearch, row_parts


class RankState:
    """Ranks, relevance and redundancy of the columns of a range.

    Parameters
    ----------
    part : Problem
    first : int
        Number of the first column.
    measure : callable
        `mauc.selectors.arco.arco.measure`.
    weight : float
        Of the mean redundancy.
    n_kept_pairs : int or None
        Class pairs whose AUCs `summary` returns; None for nothing.
    """

    def __init__(self, part, first, measure, weight, n_kept_pairs):
        self._pair_auc = None
        if n_kept_pairs is not None:
            self._pair_auc = np.empty((part.n_features, n_kept_pairs))
        self._ranks, self._squares, self._relevance = measure(part, self._pair_auc)
        self._room = part.room  # the ranks may be in a file
        self._max_rows = self._room.rows_at_once(self._ranks[0].nbytes)
        self._first, self._weight, self._n_chosen = first, weight, 0
        self._masked = np.where(self._squares == 0, -np.inf, self._relevance)
        self._is_left = np.ones(part.n_features, np.bool_)
        self._sums = np.zeros(part.n_features)

    def summary(self):
        """Return the relevance of all columns, whether they are constant, and their pair AUCs."""
        return self._relevance, self._squares == 0, self._pair_auc

    def column(self, place):
        """Return the ranks of a column and the sum of their squares."""
        return np.array(self._ranks[place]), int(self._squares[place])

    def add(self, column, place, content, details):
        """Add the correlations with a chosen feature; see `mauc.cluster.states.State`."""
        if place >= 0:
            self._is_left[place] = False
        self._n_chosen += 1
        ranks, square = np.array(content[0]), content[1]
        if square == 0:
            return
        left = np.flatnonzero(self._is_left & (self._squares > 0))
        for first, last in row_parts(0, len(left), self._max_rows):
            for f in left[first:last]:
                product = float(abs(rank_product(self._ranks[f], ranks)))
                self._sums[f] += product / math.sqrt(float(self._squares[f]) * float(square))
            self._room.release()

    def propose(self):
        """Return the best feature that is left, or -1, and its criterion."""
        left = np.flatnonzero(self._is_left)
        if len(left) == 0:
            return -1, -np.inf
        scores = self._masked[left] - self._weight * (self._sums[left] / self._n_chosen)
        best = int(np.argmax(scores))  # the first of equals
        return self._first + int(left[best]), float(scores[best])


def rank_on_cluster(problem, n_wanted, measure, weight, pair_auc=None):
    """Rank features by ARCO.

    Parameters
    ----------
    problem : Problem
        On a cluster.
    n_wanted : int
    measure, weight
        As in `RankState`.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs of all features.

    Returns
    -------
    search : GreedySearch
        Finished.
    relevance : ndarray of shape (n_features,)
    """
    n_kept_pairs = None if pair_auc is None else pair_auc.shape[1]
    states = RangeStates(problem.cluster, problem, RankState, measure, weight, n_kept_pairs)
    relevance, is_constant, of_pairs = zip(*states.ask("summary"), strict=True)
    if pair_auc is not None:
        np.concatenate(of_pairs, out=pair_auc)
    relevance = np.concatenate(relevance)
    search = GreedySearch(relevance, np.concatenate(is_constant), n_wanted)

    def best(_, step):
        states.add(search.ranking[step - 1])
        found = [pair for pair in states.ask("propose") if pair[0] >= 0]
        return max(found, key=lambda pair: pair[1])  # the first of equals, in column order

    return search.run(best, [None], None), relevance
