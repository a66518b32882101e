"""A confidence interval of MAUC: labels and scores in, bootstrap values out."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from mauc.auc.score_auc import class_wins
from mauc.checks import check_int, check_real
from mauc.metrics.class_pairs import ClassPairs
from mauc.metrics.mauc import check_scored, warn_of_absent
from mauc.parallel import run_blocks
from mauc.problem.validate import check_generator

_BLOCK_RESAMPLES = 16  # per task


@dataclass(frozen=True, repr=False)
class MAUCInterval:
    """MAUC with its confidence interval.

    Parameters
    ----------
    mauc : float
        Of the samples themselves.
    lower, upper : float
        Percentiles of `values`.
    level : float
        Of the interval.
    values : ndarray of shape (n_bootstrap,)
        MAUC of the resamples.
    pair_lower, pair_upper : ndarray of shape (n_pairs,)
        The same percentiles for every class pair; NaN for pairs that are absent.
    """

    mauc: float
    lower: float
    upper: float
    level: float
    values: np.ndarray
    pair_lower: np.ndarray
    pair_upper: np.ndarray

    def __str__(self):
        return (
            f"MAUC {self.mauc:.4f}, {self.level:.0%} interval {self.lower:.4f} to "
            f"{self.upper:.4f} ({len(self.values)} resamples)"
        )

    __repr__ = __str__


def mauc_interval(
    y_true, y_score, *, labels=None, n_bootstrap=1000, level=0.95, random_state=0, n_jobs=None
):
    """Compute MAUC and its bootstrap confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores, as `mauc_score` takes them.
    labels : array-like of shape (n_classes,), optional
        The label of each score column.
    n_bootstrap : int, default=1000
        Number of resamples.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    interval : MAUCInterval

    Notes
    -----
    Samples are drawn with replacement within each class, so that every resample has the same class
    sizes, and the interval is that of the percentiles. The score columns are sorted
    once: a resample is a weight of each sample. The interval describes the uncertainty of this test
    set, not that of training.

    Examples
    --------
    >>> from mauc import mauc_interval
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2]
    >>> scores = [[5, 1, 1], [4, 2, 1], [1, 3, 2], [2, 4, 1], [1, 5, 1], [3, 3, 2], [0, 1, 5],
    ...           [1, 2, 3]]
    >>> print(mauc_interval(y, scores, n_bootstrap=200))
    MAUC 0.9306, 95% interval 0.8053 to 1.0000 (200 resamples)
    """
    check_int("n_bootstrap", n_bootstrap, 1)
    check_real("level", level, 0, 1, is_low_open=True, is_high_open=True)
    ST, codes, classes = check_scored(y_true, y_score, labels)
    pairs = ClassPairs(codes, classes)
    counts, first, second, is_present = pairs.totals, pairs.first, pairs.second, pairs.is_present
    warn_of_absent(classes, counts)
    members = [np.flatnonzero(codes == code) for code in np.flatnonzero(counts)]
    orders = np.argsort(ST, axis=1)
    scale = np.where(is_present, 4.0 * counts[first] * counts[second], np.nan)

    def pair_auc(weights):
        wins = np.empty((len(classes), len(classes)))
        class_wins(ST, orders, codes, weights, wins)
        return (wins[first, second] + wins[second, first]) / scale

    # A generator of its own for each resample: threads may take them in any order.
    if not isinstance(random_state, Integral | None):
        random_state = check_generator(random_state).randint(2**31 - 1)
    seeds = np.random.SeedSequence(random_state).spawn(n_bootstrap)
    auc = np.empty((n_bootstrap, len(first)))

    def resample(block):
        for place in range(block.start, block.stop):
            generator = np.random.default_rng(seeds[place])
            weights = np.zeros(len(codes))
            for rows in members:
                weights[rows] = generator.multinomial(
                    len(rows), np.full(len(rows), 1.0 / len(rows))
                )
            auc[place] = pair_auc(weights)

    starts = range(0, n_bootstrap, _BLOCK_RESAMPLES)
    blocks = (slice(start, min(start + _BLOCK_RESAMPLES, n_bootstrap)) for start in starts)
    for _ in run_blocks(resample, blocks, n_jobs):
        pass
    values = auc[:, is_present].mean(axis=1)
    tails = np.array([(1.0 - level) / 2, (1.0 + level) / 2])
    pair_bounds = np.full((2, len(first)), np.nan)
    pair_bounds[:, is_present] = np.quantile(auc[:, is_present], tails, axis=0)
    lower, upper = np.quantile(values, tails)
    return MAUCInterval(
        mauc=float(pair_auc(np.ones(len(codes)))[is_present].mean()),
        lower=float(lower),
        upper=float(upper),
        level=float(level),
        values=values,
        pair_lower=pair_bounds[0],
        pair_upper=pair_bounds[1],
    )
