"""Draw features from ranking lists: lists and a schedule in, a Walk out.

A schedule is one small class. It is asked for the next list by ``next_list(is_open)``. One that
`draws_until_new` takes features from that list until one is new; otherwise a feature that is
already selected is dropped and the turn is over, as in Algorithm 1 of the paper. One that
`needs_scores` gets the scores of every selected feature on all sub-problems.
"""

import numpy as np
from scipy.special import ndtri

from mauc.selectors.trace import Walk

_LARGEST_AUC = 1 - 1e-4  # where the probit of a perfect AUC is clipped
_BATCH = 256  # random numbers drawn at once; fixed, so that a longer walk begins the same


class Random:
    """Draw a list uniformly at random: the schedule of MDFS."""

    draws_until_new = False
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.n_lists = decomposition.n_subproblems
        self.rng = rng
        self.drawn = iter(())

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.randint(self.n_lists, size=_BATCH)

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        while True:
            for number in self.drawn:
                # Drawing again leaves the open lists equally likely.
                if is_open[number]:
                    return number
            self.drawn = iter(self.draw_batch())


class RandRobin(Random):
    """Draw a list at random by the share of the samples that it is about."""

    draws_until_new = True

    def __init__(self, decomposition, class_weights, rng):
        super().__init__(decomposition, class_weights, rng)
        self.shares = decomposition.shares(class_weights)

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.choice(self.n_lists, size=_BATCH, p=self.shares)


class RoundRobin:
    """Take the lists in turn: pairs in tournament order, classes in label order."""

    draws_until_new = True
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.order = decomposition.rounds()
        self.turn = -1

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        while True:
            self.turn = (self.turn + 1) % len(self.order)
            if is_open[self.order[self.turn]]:
                return self.order[self.turn]


class RoundRobinDrop(RoundRobin):
    """Take the lists in turn, one feature of each: one that is already selected is dropped.

    Of the two rules this one comes closer to the published values of SCHI and SSU in most cases
    (docs/reproduction/README.md).
    """

    draws_until_new = False


class Hardest:
    r"""Draw from the sub-problem that the selected features separate least.

    The separation that a set S has collected for a sub-problem is the sum over S of
    :math:`\Phi^{-1}(A)^2`, A being the AUC of a feature there; of equals the first.
    """

    draws_until_new = True
    needs_scores = True

    def __init__(self, decomposition, class_weights, rng):
        self.separation = np.zeros(decomposition.n_subproblems)

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        return int(np.argmin(np.where(is_open, self.separation, np.inf)))

    def observe(self, scores):
        """Take note of the scores of a selected feature on all sub-problems."""
        self.separation += ndtri(np.minimum(scores, _LARGEST_AUC)) ** 2


SCHEDULES = {
    "random": Random,
    "round_robin": RoundRobin,
    "rand_robin": RandRobin,
    "hardest": Hardest,
    "round_robin_drop": RoundRobinDrop,
}


def draw_features(lists, schedule, n_wanted, score_feature):
    """Draw features from ranking lists until `n_wanted` are selected (Algorithm 1).

    Parameters
    ----------
    lists : RankingLists
    schedule : object
        One of `SCHEDULES`.
    n_wanted : int
    score_feature : callable
        ``feature -> AUC`` on every sub-problem; called for schedules that need it.

    Returns
    -------
    walk : Walk
    """
    heads = np.zeros(lists.n_lists, np.int64)
    is_open = np.ones(lists.n_lists, bool)
    selected = {}
    while len(selected) < n_wanted and is_open.any():
        drawn_list = schedule.next_list(is_open)
        is_new = False
        while is_open[drawn_list] and not is_new:
            head = heads[drawn_list]
            heads[drawn_list] += 1
            is_open[drawn_list] = heads[drawn_list] < lists.length
            feature = int(lists.features[drawn_list, head])
            is_new = feature not in selected
            if is_new:
                selected[feature] = (drawn_list, head + 1, lists.scores[drawn_list, head])
                if schedule.needs_scores:
                    schedule.observe(score_feature(feature))
            if not schedule.draws_until_new:
                break
    drawn, ranks, scores = zip(*selected.values(), strict=True)
    return Walk(np.array(list(selected)), np.array(drawn), np.array(ranks), np.array(scores))
