"""mRMR, JMI and FCBF on a cluster: workers hold the states of their ranges of columns.

Every step each range proposes its best feature, and all are told the states of the one that is
taken. Information is a quotient of whole numbers, so sums over the chosen features, in the order of
choice, have the same bits as in one process. There candidates that cannot win are skipped; here the
term of a chosen feature is added to all at once, so that it need not be kept.
"""

import numpy as np
from sklearn.base import clone

from mauc.cluster import RangeStates
from mauc.problem.columns import read_only
from mauc.selectors.base import one_list
from mauc.selectors.greedy_search import GreedySearch
from mauc.selectors.information.binned import class_margins, target_information
from mauc.selectors.information.jmi import add_joint_information, merge_last
from mauc.selectors.information.mrmr import REDUNDANCY_FLOOR


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
        self._context = selector._binned(part)  # held as long as the state
        self._features = self._context.__enter__()
        self._first = first
        self._is_left = np.ones(part.n_features, np.bool_)
        self._masked = np.where(self._features.is_constant, -np.inf, self._features.relevance)

    def summary(self):
        """Return the relevance of all columns, whether they are constant, and their L."""
        features = self._features
        return features.relevance, features.is_constant, features.arrays.margin_logs

    def column(self, place):
        """Return what `target_information` needs of a column."""
        arrays = self._features.arrays
        planes = arrays.planes[arrays.starts[place] : arrays.starts[place + 1]]
        return (
            np.array(arrays.D[place]), int(arrays.n_states[place]), np.array(planes),
            np.array(arrays.counts[place]), int(arrays.margin_logs[place]),
        )  # fmt: skip

    def _take(self, place):
        if place >= 0:
            self._is_left[place] = False

    def _information(self, target, places):
        """Return I(f; t) of columns and a chosen one."""
        states, n_states, planes, counts, margin_log = target
        shared = np.empty(len(places))
        # Arrays that were sent may be read-only or not: one compiled version is enough.
        target_information(
            *self._features.arrays, read_only(np.array(states)), n_states, np.array(planes),
            np.array(counts), margin_log, places, shared,
        )  # fmt: skip
        return shared


class MRMRState(BinnedState):
    """Relevance and redundancy of the columns of a range."""

    def __init__(self, part, first, selector):
        super().__init__(part, first, selector)
        self._sums = np.zeros(part.n_features)
        self._is_quotient = selector.criterion == "quotient"
        self._n_chosen = 0

    def add(self, column, place, content, details):
        """Add the information that a chosen feature shares; see `mauc.cluster.states.State`."""
        self._take(place)
        self._n_chosen += 1
        left = np.flatnonzero(self._is_left & (self._masked > -np.inf))
        self._sums[left] += self._information(content, left)

    def propose(self):
        """Return the best feature that is left, or -1, and its criterion."""
        left = np.flatnonzero(self._is_left)
        if len(left) == 0:
            return -1, -np.inf
        redundancy = self._sums[left] / self._n_chosen
        if self._is_quotient:
            scores = self._masked[left] / np.maximum(redundancy, REDUNDANCY_FLOOR)
        else:
            scores = self._masked[left] - redundancy
        best = int(np.argmax(scores))  # the first of equals
        return self._first + int(left[best]), float(scores[best])


class JMIState(BinnedState):
    """Sums of joint information of the columns of a range."""

    def __init__(self, part, first, selector):
        super().__init__(part, first, selector)
        self._sums = np.zeros(part.n_features)
        self._best = (-1, -np.inf)

    def add(self, column, place, content, details):
        """Add the joint information with a chosen feature; see `mauc.cluster.states.State`."""
        self._take(place)
        features = self._features
        best, score = add_joint_information(
            *features.arrays, *merge_last(np.array(content[0]), features), features.log_y,
            self._masked, 0, len(self._sums), self._is_left, self._sums,
        )  # fmt: skip
        self._best = (self._first + int(best) if best >= 0 else -1, float(score))

    def propose(self):
        """Return the best feature that is left, or -1, and its sum."""
        return self._best


class FCBFState(BinnedState):
    """Columns of a range, and the feature that was kept last."""

    _kept = None

    def add(self, column, place, content, details):
        """Keep a feature; see `mauc.cluster.states.State`."""
        self._kept = content

    def share(self, left):
        """Return the information that the kept feature shares with columns, by their numbers."""
        places = left - self._first
        is_here = (places >= 0) & (places < len(self._is_left))
        return self._information(self._kept, places[is_here])


def rank_on_cluster(selector, problem, n_wanted, kind):
    """Rank features by mRMR or JMI.

    Parameters
    ----------
    selector : BinnedSelector
    problem : Problem
        On a cluster.
    n_wanted : int
    kind : {MRMRState, JMIState}

    Returns
    -------
    Ranked
    """
    states = _binned_states(selector, problem, kind)
    relevance, is_constant, _ = map(np.concatenate, zip(*states.ask("summary"), strict=True))
    search = GreedySearch(relevance, is_constant, n_wanted)

    def best(_, step):
        states.add(search.ranking[step - 1])
        found = [pair for pair in states.ask("propose") if pair[0] >= 0]
        return max(found, key=lambda pair: pair[1])  # the first of equals, in column order

    search.run(best, [None], None)
    return one_list(problem, search.ranking, search.scores, relevance)


def measure_on_cluster(selector, problem):
    """Return what FCBF knows of all columns of a problem on a cluster.

    Returns
    -------
    information : ndarray of shape (n_features,), float64
        About the class.
    entropies : ndarray of shape (n_features,), float64
    class_entropy : float
    share : callable
        ``(kept, left) -> information`` that a feature shares with others.
    """
    states = _binned_states(selector, problem, FCBFState)
    information, _, margin_logs = map(np.concatenate, zip(*states.ask("summary"), strict=True))
    table, unit, _, _, log_y = class_margins(problem.codes, problem.n_classes, problem.count_logs)
    n_units = problem.n_samples * unit

    def share(kept, left):
        order = np.argsort(left, kind="stable")
        states.add(kept)
        shared = np.empty(len(left))
        shared[order] = np.concatenate(states.ask("share", left[order]))
        return shared

    log_n = table[problem.n_samples]
    return information, (log_n - margin_logs) / n_units, (log_n - log_y) / n_units, share


def _binned_states(selector, problem, kind):
    return RangeStates(problem.cluster, problem, kind, clone(selector).set_params(n_jobs=1))
