"""The percentile bootstrap of MAUC: labels and scores in, the AUCs of resamples out."""

from numbers import Integral

import numpy as np

from mauc.auc.score_auc import class_wins
from mauc.parallel import run_blocks
from mauc.problem.validate import check_generator

_BLOCK_RESAMPLES = 16  # per task


def resampled_auc(ST, codes, weights, n_bootstrap, random_state, n_jobs):
    """Return the AUCs of all class pairs in resamples within the classes.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns. They are sorted once: a resample is a weight of each sample.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        A sample that is drawn twice has twice its weight; one of weight 0 is not drawn.
    n_bootstrap : int
    random_state : int, RandomState or None
    n_jobs : int or None

    Returns
    -------
    auc : ndarray of shape (n_bootstrap, n_pairs)
        (A_ij + A_ji) / 2, NaN for pairs of which a class is absent.
    """
    n_classes = len(ST)
    first, second = np.triu_indices(n_classes, 1)
    members = [np.flatnonzero((codes == code) & (weights > 0)) for code in range(n_classes)]
    orders = np.argsort(ST, axis=1)
    # A generator of its own for each resample: threads may take them in any order.
    generator = check_generator(random_state)
    if not isinstance(random_state, Integral | None):
        random_state = generator.randint(2**31 - 1)
    seeds = np.random.SeedSequence(random_state).spawn(n_bootstrap)
    auc = np.empty((n_bootstrap, len(first)))

    def resample(block):
        for place in range(block.start, block.stop):
            generator = np.random.default_rng(seeds[place])
            drawn = np.zeros(len(codes))
            for rows in members:
                if len(rows):
                    shares = np.full(len(rows), 1.0 / len(rows))
                    drawn[rows] = generator.multinomial(len(rows), shares) * weights[rows]
            totals = np.bincount(codes, drawn, minlength=n_classes)
            scale = 4.0 * totals[first] * totals[second]
            wins = np.empty((n_classes, n_classes))
            class_wins(ST, orders, codes, drawn, wins)
            auc[place] = (wins[first, second] + wins[second, first]) / np.where(
                scale > 0, scale, np.nan
            )

    starts = range(0, n_bootstrap, _BLOCK_RESAMPLES)
    blocks = (slice(start, min(start + _BLOCK_RESAMPLES, n_bootstrap)) for start in starts)
    for _ in run_blocks(resample, blocks, n_jobs):
        pass
    return auc
