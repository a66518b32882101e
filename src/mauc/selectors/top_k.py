"""Keep the best K features of every list while blocks of scores pass by."""

from numba import njit


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
                _sink(held_scores[p], held_seconds[p], held_features[p], 0)
    return n_held


@njit(cache=True, nogil=True)
def _is_worse(score, second, feature, other_score, other_second, other_feature):
    if score != other_score:
        return score < other_score
    if second != other_second:
        return second < other_second
    return feature > other_feature


@njit(cache=True, nogil=True)
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
