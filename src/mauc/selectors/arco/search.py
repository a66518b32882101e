"""The greedy choice of ARCO: a Problem in, the features in the order of choice out."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs

from mauc.parallel import run_blocks, run_in, start_pool
from mauc.problem.decomposition import Decomposition
from mauc.selectors.arco.rank_columns import rank_columns, rank_type
from mauc.selectors.arco.step import best_of_block
from mauc.selectors.relevance.auc import auc_relevance

# Products of ranks that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 20


@dataclass(frozen=True)
class ARCORanking:
    """The features in the order of choice.

    Attributes
    ----------
    ranking : ndarray of shape (k,), int64
        Chosen features, the first chosen first.
    scores : ndarray of shape (k,), float64
        The criterion of each at the step of its choice; -inf for a constant feature.
    relevance : ndarray of shape (n_features,), float64
        Mean folded AUC of every feature over the class pairs.
    """

    ranking: np.ndarray
    scores: np.ndarray
    relevance: np.ndarray


def arco_ranking(problem, k, weight=1.0, n_jobs=None):
    """Rank features by AUC less their mean absolute rank correlation with the chosen ones.

    Parameters
    ----------
    problem : Problem
    k : int
        How many features to choose, 1 <= k <= n_features.
    weight : float, default=1.0
        Of the correlation, not negative.
    n_jobs : int, optional
        The result does not depend on it.

    Returns
    -------
    ARCORanking

    Notes
    -----
    Constant features have no correlation with anything and would be chosen before redundant ones;
    they come last instead, by column.
    """
    n_features = problem.n_features
    ranks, squares, relevance = _measure(problem, n_jobs)
    contest = np.where(squares == 0, -np.inf, relevance)
    ranking = np.empty(k, np.int64)
    scores = np.empty(k)
    is_left = np.ones(n_features, np.bool_)
    n_counted = np.zeros(n_features, np.int64)
    redundancy_sum = np.zeros(n_features)
    ranking[0] = np.argmax(contest)
    scores[0] = contest[ranking[0]]
    is_left[ranking[0]] = False
    n_threads = min(effective_n_jobs(n_jobs), n_features, ranks.size // BLOCK_WORK)
    bounds = np.linspace(0, n_features, max(1, n_threads) + 1).astype(np.int64)
    blocks = [(int(a), int(b)) for a, b in pairwise(bounds)]

    def best(block, n_chosen):
        return best_of_block(
            ranks, squares, contest, weight, ranking, n_chosen, block[0], block[1],
            is_left, n_counted, redundancy_sum,
        )  # fmt: skip

    with start_pool(len(blocks)) as pool:
        # ranking[:step] is the chosen set in the order of choice.
        for step in range(1, k):
            found = [(f, score) for f, score in run_in(pool, best, blocks, step) if f >= 0]
            # max keeps the first of equals, and the blocks are in column order.
            ranking[step], scores[step] = max(found, key=lambda pair: pair[1])
            is_left[ranking[step]] = False
    return ARCORanking(ranking, scores, relevance)


def _measure(problem, n_jobs):
    """Return centred ranks, their squares and the relevance of all features."""
    whole = Decomposition("whole", problem.n_classes)
    ranks = np.empty((problem.n_features, problem.n_samples), rank_type(problem.n_samples))
    squares = np.empty(problem.n_features, np.int64)
    relevance = np.empty(problem.n_features)

    def fill(block):
        rank_columns(problem.ordered_columns(block), ranks[block], squares[block])
        relevance[block] = auc_relevance(problem, whole, block)[:, 0]

    for _ in run_blocks(fill, problem.blocks(), n_jobs):
        pass
    return ranks, squares, relevance
