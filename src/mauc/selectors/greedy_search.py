"""The greedy search that mRMR, JMI and ARCO share: the best feature given those chosen before.

What a step looks at, states or ranks of all features, may be in a temporary file
(`mauc.memory`). A block of features is then gone through in parts, and after each of them
the pages of the file are released. No bit of the result depends on the parts.
"""

import numpy as np

from mauc.parallel import even_ranges, run_in
from mauc.progress import track


class GreedySearch:
    """Choose the most relevant feature, then step by step the best one given the chosen.

    `ranking` has the chosen features in order, `scores` their criteria at the step of choice (the
    relevance at the first), `is_left` says which are still candidates. Equal scores go by column.
    A constant feature has no information on anything and no redundancy either, so that it would be
    chosen before redundant ones: constants come last instead, by column, with a score of -inf,
    which is their `masked_relevance` and bounds all their criteria.
    """

    def __init__(self, relevance, is_constant, k):
        self.masked_relevance = np.where(is_constant, -np.inf, relevance)
        self.ranking = np.empty(k, np.int64)
        self.scores = np.empty(k)
        self.is_left = np.ones(len(relevance), np.bool_)
        first = int(np.argmax(self.masked_relevance))
        self.ranking[0], self.scores[0] = first, self.masked_relevance[first]
        self.is_left[first] = False

    def run(self, best_of_block, blocks, pool, prepare=None):
        """Choose the other features and return self.

        ``best_of_block(block, given)`` returns the best candidate of a range of features, the
        lowest of equals or -1 if none is left, and its score; it runs in the threads of `pool`.
        The blocks are in column order. `given` is the number of chosen features, or what
        ``prepare(step)`` returns, which is called once per step.
        """
        # ranking[:step] is the chosen set in the order of choice.
        for step in track(range(1, len(self.ranking)), "features"):
            given = step if prepare is None else prepare(step)
            if pool is None:
                best, best_score = best_of_block(blocks[0], given)
            else:
                best, best_score = -1, -np.inf
                for feature, score in run_in(pool, best_of_block, blocks, given):
                    if feature >= 0 and (best < 0 or score > best_score):  # the first of equals
                        best, best_score = feature, score
            self.ranking[step], self.scores[step] = best, best_score
            self.is_left[best] = False
        return self


def row_parts(first, last, max_rows):
    """Cut a range of rows into parts of at most `max_rows`."""
    return even_ranges(last - first, -(-(last - first) // max_rows), first)
