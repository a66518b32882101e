"""mRMR, JMI and FCBF on a cluster: workers hold the states of their ranges of columns.

Every step each range proposes its best feature, and all are told the states of the one that is
taken. Information is a quotient of whole numbers, so sums over the chosen features, in the order of
choice, have the same bits as in one process. There candidates that cannot win are skipped; here the
term of a chosen feature is added to all at once, so that it need not be kept.
"""

import numpy as np
from sklearn.base import clone

from mauc.cluster import RangeStates
from mauc.engine.arrays import read_only
from mauc.selectors.base import single_ranking
from mauc.selectors.greedy_search import GreedySearch, row_parts
from mauc.selectors.information.binned import target_information


class BinnedState:
    """Discretised columns of a range.

    Parameters
    ----------
    part : Problem
    first : int
        Number of the first column.
    selector : BinnedSelector
        Says how columns are discretised.
    """

    def __init__(self, part, first, selector):
        self._context = selector.binned(part)  # open as long as the state is there
        self.features = self._context.__enter__()
        self.first = first
        self.is_left = np.ones(part.n_features, np.bool_)
        self.masked = np.where(self.features.is_constant, -np.inf, self.features.relevance)

    def summary(self):
        """Return the relevance of all columns, whether they are constant, and their L."""
        features = self.features
        return features.relevance, features.is_constant, features.arrays.margin_logs

    def column(self, place):
        """Return what `target_information` needs of a column."""
        arrays = self.features.arrays
        planes = arrays.planes[arrays.starts[place] : arrays.starts[place + 1]]
        return (
            np.array(arrays.D[place]), int(arrays.n_states[place]), np.array(planes),
            np.array(arrays.counts[place]), int(arrays.margin_logs[place]),
        )  # fmt: skip

    def take(self, place):
        """Take a column from the candidates, if it is in the range."""
        if place >= 0:
            self.is_left[place] = False

    def shared_information(self, chosen, places):
        """Return I(f; t) of columns and a chosen one."""
        states, n_states, planes, counts, margin_log = chosen
        # Arrays that were sent may be read-only or not: one compiled version is enough.
        target = read_only(np.array(states)), n_states, np.array(planes), np.array(counts)
        shared = np.empty(len(places))
        for first, last in row_parts(0, len(places), self.features.max_rows):
            target_information(
                *self.features.arrays, *target, margin_log, places[first:last],
                shared[first:last],
            )  # fmt: skip
            self.features.room.release()
        return shared


def rank_on_cluster(selector, problem, n_wanted, kind):
    """Rank features by mRMR or JMI.

    Parameters
    ----------
    selector : BinnedSelector
    problem : Problem
        On a cluster.
    n_wanted : int
    kind : subclass of BinnedState
        With a method ``propose() -> (feature, score)``.

    Returns
    -------
    Ranked
    """
    states = binned_states(selector, problem, kind)
    relevance, is_constant, _ = map(np.concatenate, zip(*states.ask("summary"), strict=True))
    search = GreedySearch(relevance, is_constant, n_wanted)

    def best(_, step):
        states.add(search.ranking[step - 1])
        found = [pair for pair in states.ask("propose") if pair[0] >= 0]
        return max(found, key=lambda pair: pair[1])  # the first of equals, in column order

    search.run(best, [None], None)
    return single_ranking(problem, search.ranking, search.scores, relevance)


def binned_states(selector, problem, kind):
    """Return the states of all columns of a problem on a cluster."""
    return RangeStates(problem.cluster, problem, kind, clone(selector).set_params(n_jobs=1))
