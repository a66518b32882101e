"""Decide which ranking list speaks next: one small class a schedule.

A schedule is asked for a list by ``next_list(is_open)``. One that `insists` lets the list
speak until it has brought a feature that is new; otherwise a feature that is already
selected is dropped and the turn is over, as in Algorithm 1 of the paper. One that
`needs_scores` is told the scores of every selected feature on all sub-problems.
"""

import numpy as np
from scipy.special import ndtri

_LARGEST_AUC = 1 - 1e-4  # where the probit of a perfect AUC is clipped
_BATCH = 256  # random numbers drawn at once; fixed, so that a longer walk begins the same


class Random:
    """Draw a list uniformly at random: the schedule of MDFS."""

    insists = False
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.n_lists = decomposition.n_subproblems
        self.rng = rng
        self.drawn = iter(())

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.randint(self.n_lists, size=_BATCH)

    def next_list(self, is_open):
        """Return the list whose turn it is."""
        while True:
            for speaker in self.drawn:
                # Drawing again leaves the open lists equally likely.
                if is_open[speaker]:
                    return speaker
            self.drawn = iter(self.draw_batch())


class RandRobin(Random):
    """Draw a list at random by the share of the samples that it is about."""

    insists = True

    def __init__(self, decomposition, class_weights, rng):
        super().__init__(decomposition, class_weights, rng)
        self.shares = decomposition.shares(class_weights)

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.choice(self.n_lists, size=_BATCH, p=self.shares)


class RoundRobin:
    """Take the lists in turn: pairs in tournament order, classes in label order."""

    insists = True
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.order = decomposition.rounds()
        self.turn = -1

    def next_list(self, is_open):
        """Return the list whose turn it is."""
        while True:
            self.turn = (self.turn + 1) % len(self.order)
            if is_open[self.order[self.turn]]:
                return self.order[self.turn]


class Hardest:
    r"""Let the sub-problem speak that the selected features separate least.

    The separation that a set S has collected for a sub-problem is the sum over S of
    :math:`\Phi^{-1}(A)^2`, A being the AUC of a feature there; the first of equals speaks.
    """

    insists = True
    needs_scores = True

    def __init__(self, decomposition, class_weights, rng):
        self.separation = np.zeros(decomposition.n_subproblems)

    def next_list(self, is_open):
        """Return the list whose turn it is."""
        return int(np.argmin(np.where(is_open, self.separation, np.inf)))

    def observe(self, scores):
        """Take note of the scores of a selected feature on all sub-problems."""
        self.separation += ndtri(np.minimum(scores, _LARGEST_AUC)) ** 2


SCHEDULES = {
    "random": Random,
    "round_robin": RoundRobin,
    "rand_robin": RandRobin,
    "hardest": Hardest,
}
