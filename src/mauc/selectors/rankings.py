"""Turn relevance scores into one ranking list per sub-problem, as columns stream by."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from mauc.numerics.exact_mean import mean_of_quotients
from mauc.numerics.njit_part import njit_part

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


def rank_features(
    problem, decomposition, relevance, length, ties="index", n_jobs=None, *, is_dense=True,
    reads_rows=False, denominators=None, **options,
):  # fmt: skip
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
    is_dense : bool, default=True
        Whether the relevance fills in sparse columns.
    reads_rows : bool, default=False
        Whether it reads rows where X lies row by row.
    denominators : ndarray of shape (n_subproblems,), optional
        Of the scores, where they are quotients such as AUCs: their means are then rounded once,
        so that equal means are equal numbers.
    **options
        Further arguments of the relevance.

    Returns
    -------
    lists : RankingLists
    mean_scores : ndarray of shape (n_features,)
        Mean score of every feature over the sub-problems.
    """
    arguments = (decomposition, relevance, length, ties)
    layout = {"is_dense": is_dense, "reads_rows": reads_rows, "denominators": denominators}
    if problem.cluster is not None:
        held, mean_scores = _hold_on_cluster(problem, *arguments, layout, options)
    else:
        held, mean_scores = hold_best(problem, *arguments, n_jobs, **layout, **options)
    return RankingLists(held.features, held.scores), mean_scores


class HeldLists(NamedTuple):
    """The best entries of every list, best first: arrays of shape (n_lists, length)."""

    scores: np.ndarray
    seconds: np.ndarray  #: break ties of scores
    features: np.ndarray

    def first(self, length):
        """Return the first entries of the lists, put in order."""
        order = np.lexsort((self.features, -self.seconds, -self.scores))[:, :length]
        return HeldLists(*(np.take_along_axis(part, order, axis=1) for part in self))

    def join(self, other, length):
        """Return the best of the entries of both."""
        parts = zip(self, other, strict=True)
        return HeldLists(*(np.concatenate(both, axis=1) for both in parts)).first(length)


def hold_best(
    problem, decomposition, relevance, length, ties, n_jobs=None, *, is_dense, reads_rows,
    denominators, **options,
):  # fmt: skip
    """Return the best entries of the lists, and the mean scores; parameters as above."""
    n_lists = decomposition.n_subproblems
    held_scores = np.empty((n_lists, length))
    held_seconds = np.empty((n_lists, length))
    held_features = np.empty((n_lists, length), np.int64)
    mean_scores = np.empty(problem.n_features)

    def score(block):
        return np.ascontiguousarray(relevance(problem, decomposition, block, **options))

    n_held = 0
    layout = {"is_dense": is_dense, "reads_rows": reads_rows}
    for block, scores in problem.run_blocks(score, n_lists, n_jobs, **layout):
        if denominators is None:
            mean_scores[block] = scores.mean(axis=1)
        else:
            mean_scores[block] = mean_of_quotients(scores, denominators)
        seconds = mean_scores[block] if ties == "mauc" else np.zeros(len(scores))
        n_held = offer_block(
            scores, seconds, block.start, n_held, held_scores, held_seconds, held_features
        )
    return HeldLists(held_scores, held_seconds, held_features).first(length), mean_scores


def _hold_on_cluster(problem, decomposition, relevance, length, ties, layout, options):
    """Return what `hold_best` does, from workers; `pair_auc` of the options is filled."""
    n_lists = decomposition.n_subproblems
    held = HeldLists(
        np.empty((n_lists, 0)), np.empty((n_lists, 0)), np.empty((n_lists, 0), np.int64)
    )
    mean_scores = np.empty(problem.n_features)
    pair_auc = options.get("pair_auc")
    keeps_auc = None if pair_auc is None else pair_auc.shape[1]
    arguments = (decomposition, relevance, length, ties, keeps_auc, layout)
    further = {name: value for name, value in options.items() if name != "pair_auc"}
    for part, found in problem.cluster.map_ranges(problem, hold_part, *arguments, further):
        best, mean_scores[part], of_pairs = found
        held = held.join(best._replace(features=best.features + part.start), length)
        if pair_auc is not None:
            pair_auc[part] = of_pairs
    return held, mean_scores


def hold_part(part, decomposition, relevance, length, ties, n_pairs, layout, options):
    """Return what `hold_best` does of a part of the columns, and its pair AUCs if they are kept.

    Called on a worker; `n_pairs` is the number of class pairs, or None if nothing is kept.
    """
    pair_auc = None
    if n_pairs is not None:
        pair_auc = np.empty((part.n_features, n_pairs))
        options = {**options, "pair_auc": pair_auc}
    length = min(length, part.n_features)
    held, mean_scores = hold_best(part, decomposition, relevance, length, ties, **layout, **options)
    return held, mean_scores, pair_auc


@njit(cache=True, nogil=True)
def offer_block(scores, seconds, first_feature, n_held, held_scores, held_seconds, held_features):
    """Offer a block of features to all lists.

    A list is a binary heap with its worst entry at the root. An entry is better if its score
    is larger, then its second score, then if its feature number is smaller; that order is
    total, so the outcome does not depend on the order in which blocks are offered.

    Parameters
    ----------
    scores : ndarray of shape (n_block, n_lists), float64
    seconds : ndarray of shape (n_block,), float64
        Breaks ties of `scores`.
    first_feature : int
        Number of the block's first feature.
    n_held : int
        Features offered so far, at most the length of a list.
    held_scores, held_seconds : ndarray of shape (n_lists, k), float64
    held_features : ndarray of shape (n_lists, k), int64

    Returns
    -------
    n_held : int
    """
    n_lists, k = held_scores.shape
    for b in range(scores.shape[0]):
        feature, second = first_feature + b, seconds[b]
        if n_held < k:
            for p in range(n_lists):
                held_scores[p, n_held] = scores[b, p]
                held_seconds[p, n_held] = second
                held_features[p, n_held] = feature
            n_held += 1
            if n_held == k:
                for p in range(n_lists):
                    for root in range(k // 2 - 1, -1, -1):
                        _sink(held_scores[p], held_seconds[p], held_features[p], root)
            continue
        for p in range(n_lists):
            # Most features fail this first test against the list's worst entry.
            if scores[b, p] < held_scores[p, 0]:
                continue
            if _is_worse(
                held_scores[p, 0], held_seconds[p, 0], held_features[p, 0],
                scores[b, p], second, feature,
            ):  # fmt: skip
                held_scores[p, 0] = scores[b, p]
                held_seconds[p, 0] = second
                held_features[p, 0] = feature
                # a literal would compile the part once more
                _sink(held_scores[p], held_seconds[p], held_features[p], np.int64(0))
    return n_held


@njit_part
def _is_worse(score, second, feature, other_score, other_second, other_feature):
    if score != other_score:
        return score < other_score
    if second != other_second:
        return second < other_second
    return feature > other_feature


@njit_part
def _sink(scores, seconds, features, root):
    """Move the entry at `root` down until no child is worse than it."""
    n = scores.shape[0]
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and _is_worse(
            scores[child + 1], seconds[child + 1], features[child + 1],
            scores[child], seconds[child], features[child],
        ):  # fmt: skip
            child += 1
        if not _is_worse(
            scores[child], seconds[child], features[child],
            scores[root], seconds[root], features[root],
        ):  # fmt: skip
            return
        scores[root], scores[child] = scores[child], scores[root]
        seconds[root], seconds[child] = seconds[child], seconds[root]
        features[root], features[child] = features[child], features[root]
        root = child
