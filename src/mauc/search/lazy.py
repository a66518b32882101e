"""Greedy choice of one feature after another, by a score given those chosen before."""

from typing import Any, Self

import numpy as np

from mauc.parallel import run_in, with_progress


class GreedySearch:
    """Choose the most relevant feature, then step by step the best one given the chosen.

    Equal scores go by column. Constant features, which are redundant to nothing, would be chosen
    before redundant ones: they come last instead, with a score, and `masked_relevance`, of -inf.
    What a step looks at may be in a file (`mauc.memory.Workspace`) and is then gone through in
    parts, on which no bit of the result depends.
    """

    def __init__(self, relevance: np.ndarray, is_constant: Any, k: int):
        self.masked_relevance: np.ndarray = np.where(is_constant, -np.inf, relevance)
        self.ranking: np.ndarray = np.empty(k, np.int64)
        self.scores: np.ndarray = np.empty(k)
        self.is_left: np.ndarray = np.ones(len(relevance), np.bool_)
        first = int(np.argmax(self.masked_relevance))
        self.ranking[0], self.scores[0] = first, self.masked_relevance[first]
        self.is_left[first] = False

    def run(self, best_of_block: Any, blocks: Any, pool: Any, prepare: Any = None) -> Self:
        """Choose the other features and return self.

        ``best_of_block(block, given)`` returns the best candidate of a range of features, the
        lowest of equals or -1 if none is left, and its score; `given` is the step, or
        ``prepare(step)``.
        """
        # ranking[:step] is the chosen set in the order of choice.
        for step in with_progress(range(1, len(self.ranking)), "features"):
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


def row_parts(first: int, last: int, max_rows: int) -> list[tuple[int, int]]:
    """Cut a range of rows into parts of at most `max_rows`."""
    return [(start, min(start + max_rows, last)) for start in range(first, last, max_rows)]
