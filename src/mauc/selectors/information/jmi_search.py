"""Turn discretised features into the ranking of largest joint mutual information."""

import numpy as np

from mauc.parallel import run_in, start_pool
from mauc.selectors.information.jmi_step import add_joint_information, merge_classes
from mauc.selectors.information.joint_counts import MAX_CLASS_PRODUCTS, fixed_log, pack_planes
from mauc.selectors.information.mrmr_search import MRMRRanking
from mauc.selectors.information.states import class_relevance, count_margins, feature_blocks


def jmi_ranking(D, n_states, y, n_classes, k, n_threads=1):
    r"""Rank features by JMI.

    Parameters
    ----------
    D, n_states, y, n_classes, k, n_threads
        As for `mauc.selectors.information.mrmr_search.mrmr_ranking`.

    Returns
    -------
    MRMRRanking
        Scores are sums over the features chosen before; I(f; y) for the first.

    Notes
    -----
    First the feature of largest I(f; y); then, with S the chosen features, the largest
    :math:`\sum_{s \in S} I(f, s; y)`. A step adds one term to the sum of every candidate. Equal
    sums go by column; constant features come last.

    Examples
    --------
    The second feature repeats the first, so the third is chosen before it:

    >>> import numpy as np
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> jmi_ranking(D, 2, y, 3, 3).ranking
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
        is_constant = counted.counts.max(axis=1) == D.shape[1]
        contest = np.where(is_constant, -np.inf, relevance)
        class_counts = np.bincount(y, minlength=n_classes)
        log_y = sum(fixed_log(count, counted.table, counted.unit) for count in class_counts)
        ranking = np.empty(k, dtype=np.int64)
        scores = np.empty(k, dtype=np.float64)
        is_left = np.ones(n_features, dtype=np.bool_)
        sums = np.zeros(n_features)
        ranking[0] = np.argmax(contest)
        scores[0] = contest[ranking[0]]
        is_left[ranking[0]] = False

        def add(block, merged):
            return add_joint_information(
                counted.D, counted.n_states, counted.starts, counted.planes, counted.counts,
                *merged, log_y, counted.log_n, counted.table, counted.unit,
                contest, block[0], block[1], is_left, sums,
            )  # fmt: skip

        # sums are over ranking[:step - 1], and the last chosen feature is added to them.
        for step in range(1, k):
            merged = _merge(D[ranking[step - 1]], y, n_classes, counted.planes.shape[1])
            found = [(f, score) for f, score in run_in(pool, add, blocks, merged) if f >= 0]
            # max keeps the first of equals, and the blocks are in column order.
            ranking[step], scores[step] = max(found, key=lambda pair: pair[1])
            is_left[ranking[step]] = False
    return MRMRRanking(ranking, scores, relevance)


def _merge(codes, y, n_classes, n_words):
    """Return the codes of (s, y) with their planes, counts and groups."""
    z, counts, groups = merge_classes(codes, y, n_classes)
    z.flags.writeable = False
    n_planes = len(counts) - 1
    planes = np.empty((n_planes if n_planes <= MAX_CLASS_PRODUCTS else 0, n_words), np.uint64)
    pack_planes(z, len(planes), 0, planes)
    return z, planes, counts, groups
