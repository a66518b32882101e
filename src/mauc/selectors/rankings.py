"""Turn relevance scores into one ranking list per sub-problem, as columns stream by."""

from dataclasses import dataclass

import numpy as np

from mauc.parallel import run_blocks
from mauc.selectors.top_k import offer_block

TIES = ("index", "mauc")


@dataclass(frozen=True)
class RankingLists:
    """The best features of every sub-problem, best first.

    Parameters
    ----------
    features : ndarray of shape (n_subproblems, length), int64
    scores : ndarray of shape (n_subproblems, length)
    """

    features: np.ndarray
    scores: np.ndarray

    @property
    def n_lists(self):
        """Number of lists."""
        return self.features.shape[0]

    @property
    def length(self):
        """Entries of each list."""
        return self.features.shape[1]


def rank_features(problem, decomposition, relevance, length, ties="index", n_jobs=None):
    """Rank the features of a problem on every sub-problem.

    Only the best `length` of each list are held while blocks of columns pass by, so memory is
    O(n_subproblems * length + n_samples * block), never (n_features, n_subproblems). K
    features can be drawn from lists of K: whatever is popped from a list is selected by then.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    relevance : callable
        ``(problem, decomposition, chosen) -> scores``, see `mauc.selectors.relevance`.
    length : int
    ties : {"index", "mauc"}, default="index"
        Equal scores go by column number, the smaller first; or by the mean score over all
        sub-problems, the larger first, then by column number.
    n_jobs : int, optional

    Returns
    -------
    lists : RankingLists
    mean_scores : ndarray of shape (n_features,)
        Mean score of every feature over the sub-problems.
    """
    n_lists = decomposition.n_subproblems
    held_scores = np.empty((n_lists, length))
    held_seconds = np.empty((n_lists, length))
    held_features = np.empty((n_lists, length), np.int64)
    mean_scores = np.empty(problem.n_features)

    def score(block):
        return np.ascontiguousarray(relevance(problem, decomposition, block))

    n_held = 0
    for block, scores in run_blocks(score, problem.blocks(n_lists), n_jobs):
        mean_scores[block] = scores.mean(axis=1)
        seconds = mean_scores[block] if ties == "mauc" else np.zeros(len(scores))
        n_held = offer_block(
            scores, seconds, block.start, n_held, held_scores, held_seconds, held_features
        )
    order = np.lexsort((held_features, -held_seconds, -held_scores))
    lists = RankingLists(
        features=np.take_along_axis(held_features, order, axis=1),
        scores=np.take_along_axis(held_scores, order, axis=1),
    )
    return lists, mean_scores
