"""Turn discretised features into the ranking of minimal redundancy, maximal relevance.

In come codes ``D`` of shape (n_features, n_samples) and classes ``y``; out comes an
`MRMRRanking`. See Peng, Long & Ding (2005) and Eq. (12) of the paper for the difference form.
"""

from dataclasses import dataclass

import numpy as np

from mauc.parallel import run_in, start_pool
from mauc.selectors.information.mrmr_step import best_of_block
from mauc.selectors.information.states import class_relevance, count_margins, feature_blocks


@dataclass(frozen=True)
class MRMRRanking:
    """The features in the order of choice.

    Attributes
    ----------
    ranking : ndarray of shape (k,), int64
        Chosen features, the first chosen first.
    scores : ndarray of shape (k,), float64
        The criterion of each at the step of its choice; I(f; y) at the first step; -inf for a
        constant feature.
    relevance : ndarray of shape (n_features,), float64
        I(f; y) in nats of every feature.
    """

    ranking: np.ndarray
    scores: np.ndarray
    relevance: np.ndarray


def mrmr_ranking(D, n_states, y, n_classes, k, quotient=False, n_threads=1):
    """Rank features by mRMR.

    Parameters
    ----------
    D : ndarray of shape (n_features, n_samples), uint8, C-contiguous
        State of each sample in each feature; a missing value is one more state.
    n_states : int or ndarray of shape (n_features,)
        Codes of feature j are below ``n_states[j]``, at most 256. A state may be empty.
    y : ndarray of shape (n_samples,), int32
        Classes, 0 .. n_classes - 1.
    n_classes : int
    k : int
        How many features to choose, 1 <= k <= n_features.
    quotient : bool, default=False
        False for the difference form (MID), True for the quotient form (MIQ).
    n_threads : int, default=1
        Candidates are shared out in blocks. The result does not depend on it.

    Returns
    -------
    MRMRRanking

    Notes
    -----
    First the feature of largest I(f; y); then, with S the chosen features, the largest

        MID = I(f; y) - mean_{s in S} I(f; s),
        MIQ = I(f; y) / max(mean_{s in S} I(f; s), 1e-9).

    Equal scores go by column index. A feature of one state has no information on anything: MID
    would give it 0, above every feature that is more redundant than relevant, so that constant
    features would be chosen before informative ones. They come last instead, by column index.

    Examples
    --------
    The second feature repeats the first, so the third is chosen before it:

    >>> import numpy as np
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> mrmr_ranking(D, 2, y, 3, 3).ranking
    array([0, 2, 1])
    """
    n_features = D.shape[0]
    # Read-only views: one compiled version of each kernel, whatever the caller holds.
    D, y = D.view(), y.view()
    D.flags.writeable = y.flags.writeable = False
    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    blocks = feature_blocks(D, n_states, n_threads)
    with start_pool(len(blocks)) as pool:
        counted = count_margins(D, n_states, blocks, pool)
        relevance = class_relevance(counted, y, n_classes, blocks, pool)
        # A constant feature is never better than another: -inf also bounds all its criteria.
        is_constant = counted.counts.max(axis=1) == D.shape[1]
        contest = np.where(is_constant, -np.inf, relevance)

        ranking = np.empty(k, dtype=np.int64)
        scores = np.empty(k, dtype=np.float64)
        is_left = np.ones(n_features, dtype=np.bool_)
        n_counted = np.zeros(n_features, dtype=np.int64)
        redundancy_sum = np.zeros(n_features, dtype=np.float64)
        ranking[0] = np.argmax(contest)
        scores[0] = contest[ranking[0]]
        is_left[ranking[0]] = False

        def best(block, n_chosen):
            return best_of_block(
                counted.D, counted.n_states, counted.starts, counted.planes, counted.counts,
                counted.margin_logs, counted.log_n, counted.table, counted.unit,
                contest, ranking, n_chosen, quotient, block[0], block[1],
                is_left, n_counted, redundancy_sum,
            )  # fmt: skip

        # ranking[:step] is the chosen set S in the order of choice.
        for step in range(1, k):
            found = [(f, score) for f, score in run_in(pool, best, blocks, step) if f >= 0]
            # max keeps the first of equals, and the blocks are in column order.
            ranking[step], scores[step] = max(found, key=lambda pair: pair[1])
            is_left[ranking[step]] = False
    return MRMRRanking(ranking, scores, relevance)
