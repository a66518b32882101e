"""Turn discretised features into the rounds of FCBF: predominant features, then what they cover."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mauc.parallel import run_in, start_pool
from mauc.selectors.information.joint_counts import fixed_log
from mauc.selectors.information.states import class_relevance, count_margins, feature_blocks
from mauc.selectors.information.uncertainty_step import mark_covered, uncertainty

# Words and look-ups that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19


@dataclass(frozen=True)
class FCBFRanking:
    """The features in order of rounds, in a round by relevance.

    Attributes
    ----------
    ranking : ndarray of shape (k,), int64
    rounds : ndarray of shape (k,), int64
        Round that kept each feature, 1 for the predominant ones; 0 for features that no round
        looked at.
    relevance : ndarray of shape (n_features,), float64
        SU of every feature and the class.
    """

    ranking: np.ndarray
    rounds: np.ndarray
    relevance: np.ndarray


def fcbf_ranking(
    D, n_states, y, n_classes, k, threshold=0.0, max_rounds=None, n_threads=1
):  # fmt: skip
    r"""Rank features by repeated FCBF.

    Parameters
    ----------
    D, n_states, y, n_classes, k, n_threads
        As for `mauc.selectors.information.mrmr_search.mrmr_ranking`.
    threshold : float, default=0.0
        Features of a lower relevance take no part in the rounds.
    max_rounds : int, optional
        End with so many rounds, though fewer than k features be ranked (but at least one).

    Returns
    -------
    FCBFRanking

    Notes
    -----
    A round goes through the features by descending SU(f, y), equal ones by column; it keeps the
    first, drops every later f with :math:`SU(f, p) \ge SU(f, y)` for the kept p, and goes on
    with the next that is left. The features it drops are those of the next round. Features
    below the threshold follow by SU. Features of SU 0 would fill one round each, by column; they
    are put there at once.

    Examples
    --------
    The second feature repeats the first:

    >>> import numpy as np
    >>> D = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> y = np.array([0, 1, 2, 2], dtype=np.int32)
    >>> found = fcbf_ranking(D, 2, y, 3, 3)
    >>> found.ranking, found.rounds
    (array([0, 2, 1]), array([1, 1, 2]))
    """
    n_features, n_samples = D.shape
    # Read-only views: one compiled version of each kernel, whatever the caller holds.
    D, y = D.view(), y.view()
    D.flags.writeable = y.flags.writeable = False
    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    blocks = feature_blocks(D, n_states, n_threads)
    with start_pool(len(blocks)) as pool:
        counted = count_margins(D, n_states, blocks, pool)
        shared = class_relevance(counted, y, n_classes, blocks, pool)
        entropies = (counted.log_n - counted.margin_logs) / (n_samples * counted.unit)
        class_counts = np.bincount(y, minlength=n_classes)
        log_y = sum(fixed_log(count, counted.table, counted.unit) for count in class_counts)
        class_entropy = (counted.log_n - log_y) / (n_samples * counted.unit)
        relevance = np.array(
            [uncertainty(i, h, class_entropy) for i, h in zip(shared, entropies, strict=True)]
        )
        order = np.argsort(-relevance, kind="stable")
        is_heard = (relevance >= threshold) & (relevance > 0.0)

        def cover(kept, left):
            is_covered = np.empty(len(left), np.bool_)
            n_blocks = min(len(blocks), 1 + len(left) * n_samples // (64 * BLOCK_WORK))
            bounds = np.linspace(0, len(left), n_blocks + 1).astype(np.int64)

            def mark(block):
                part = slice(*block)
                mark_covered(
                    counted.D, counted.n_states, counted.starts, counted.planes, counted.counts,
                    counted.margin_logs, counted.log_n, counted.table, counted.unit,
                    entropies, relevance, kept, left[part], is_covered[part],
                )  # fmt: skip

            run_in(pool, mark, list(pairwise(bounds)))
            return is_covered

        ranking, rounds = _rounds(order[is_heard[order]], k, max_rounds, cover)
    n_rest = k - len(ranking) if max_rounds is None else int(not ranking)
    rest = order[~is_heard[order]][:n_rest]
    return FCBFRanking(
        np.append(ranking, rest).astype(np.int64),
        np.append(rounds, np.zeros(len(rest))).astype(np.int64),
        relevance,
    )


def _rounds(order, k, max_rounds, cover):
    """Go through rounds until k features are ranked; return them and their rounds."""
    ranking, rounds = [], []
    n_round, left = 0, order
    while len(left) and len(ranking) < k and n_round != max_rounds:
        n_round += 1
        covered = [left[:0]]
        # left are the features of this round that are neither kept nor covered, best first
        while len(left) and len(ranking) < k:
            ranking.append(left[0])
            rounds.append(n_round)
            is_covered = cover(left[0], left[1:])
            covered.append(left[1:][is_covered])
            left = left[1:][~is_covered]
        left = order[np.isin(order, np.concatenate(covered))]
    return ranking, rounds
