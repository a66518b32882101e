"""A confidence interval of MAUC and of every class pair: labels and scores in, bounds out."""

from dataclasses import dataclass

import numpy as np

from mauc.checks import check_choice, check_int, check_real
from mauc.exceptions import MaucError
from mauc.metrics.bootstrap import resampled_auc
from mauc.metrics.class_pairs import ClassPairs
from mauc.metrics.delong import delong_bounds
from mauc.metrics.mauc import check_scored, warn_of_absent
from mauc.problem.validate import check_weights

METHODS = ("delong", "percentile")
N_BOOTSTRAP = 1000


@dataclass(frozen=True, repr=False)
class MAUCInterval:
    """MAUC with its confidence interval.

    Parameters
    ----------
    mauc : float
        Of the samples themselves.
    lower, upper : float
    level : float
        Of the interval.
    pair_lower, pair_upper : ndarray of shape (n_pairs,)
        Bounds of every class pair, NaN for pairs that are absent. Each holds with the level on
        its own, not all of them together.
    method : {"delong", "percentile"}
    values : ndarray of shape (n_bootstrap,), or None
        MAUC of the resamples, for method "percentile".
    """

    mauc: float
    lower: float
    upper: float
    level: float
    pair_lower: np.ndarray
    pair_upper: np.ndarray
    method: str = "delong"
    values: np.ndarray | None = None

    @property
    def origin(self):
        """How the bounds were found, in two words."""
        return "DeLong variance" if self.values is None else f"{len(self.values)} resamples"

    def __str__(self):
        return (
            f"MAUC {self.mauc:.4f}, {100 * self.level:g}% interval {self.lower:.4f} to "
            f"{self.upper:.4f} ({self.origin})"
        )

    __repr__ = __str__


def mauc_interval(
    y_true, y_score, *, labels=None, sample_weight=None, method="delong", n_bootstrap=None,
    level=0.95, random_state=0, n_jobs=None,
):  # fmt: skip
    r"""Compute MAUC and its confidence interval, and those of the class pairs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores, as `mauc_score` takes them.
    labels : array-like of shape (n_classes,), optional
        The label of each score column.
    sample_weight : array-like of shape (n_samples,), optional
        As in `mauc_score`. Weights are importances, not counts: only their ratios within a class
        matter, and unequal ones widen the interval (see Notes).
    method : {"delong", "percentile"}, default="delong"
        How the bounds are found; "percentile" is the bootstrap.
    n_bootstrap : int, optional
        Number of resamples of method "percentile", 1000 by default.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0
        Of the resamples.
    n_jobs : int, optional
        Threads of the bootstrap. The result does not depend on it.

    Returns
    -------
    interval : MAUCInterval

    Notes
    -----
    The interval describes the uncertainty of this test set, not that of training.

    "delong": MAUC is a mean over the samples of every class k, of components :math:`V` that say
    how often a sample is on the right side of those of other classes, so its variance is
    estimated by :math:`\sum_k s_k^2 / n_k` [1]_, covariances between pairs included. The number
    of binary trials of the same variance, :math:`\hat\theta (1 - \hat\theta) / \sum_k s_k^2 / n_k`,
    reduced for the degrees of freedom of the estimate, gives the bounds of Clopper and Pearson,
    as in surveys [2]_. Near 0 and 1, where few or no samples are on the wrong side,
    :math:`s_k^2` says nothing: the variance of uniform components is mixed in with the weight of
    one sample. So the interval is never empty: that of two classes of 20 samples each, perfectly
    separated, is 0.877 to 1. For a class of a single sample the largest possible variance is
    used. With weights, variances are those of weighted means, and :math:`n_k` is
    :math:`(\sum w)^2 / \sum w^2`.

    "percentile": samples are drawn with replacement within each class and the bounds are
    percentiles of the resamples; with weights a sample brings its own along. They are too
    narrow for small classes and empty for perfect scores.

    Coverage of both, by benchmarks/coverage_intervals.py, is in docs/intervals.md.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    .. [2] E. L. Korn, B. I. Graubard, "Confidence Intervals for Proportions with Small Expected
       Number of Positive Counts Estimated from Survey Data", Survey Methodology 24, 1998.

    Examples
    --------
    >>> from mauc import mauc_interval
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2]
    >>> scores = [[5, 1, 1], [4, 2, 1], [1, 3, 2], [2, 4, 1], [1, 5, 1], [3, 3, 2], [0, 1, 5],
    ...           [1, 2, 3]]
    >>> print(mauc_interval(y, scores))
    MAUC 0.9306, 95% interval 0.4500 to 1.0000 (DeLong variance)
    """
    check_choice("method", method, METHODS)
    check_int("n_bootstrap", n_bootstrap, 1, optional=True)
    if n_bootstrap is not None and method != "percentile":
        raise MaucError(
            f'n_bootstrap is for method="percentile", got {n_bootstrap} with method={method!r}.'
        )
    check_real("level", level, 0, 1, is_low_open=True, is_high_open=True)
    ST, codes, classes = check_scored(y_true, y_score, labels, sample_weight)
    weights = None if sample_weight is None else check_weights(sample_weight, codes)
    pairs = ClassPairs(codes, classes, weights)
    warn_of_absent(classes, pairs.totals)
    auc_first, auc_second = pairs.auc(ST)
    pair_auc = (auc_first + auc_second) / 2
    pair_bounds = np.full((2, len(pair_auc)), np.nan)
    values = None
    if method == "delong":
        bounds, pair_bounds[:, pairs.is_present] = delong_bounds(
            ST, pairs, pair_auc[pairs.is_present], level
        )
    else:
        n_bootstrap = N_BOOTSTRAP if n_bootstrap is None else n_bootstrap
        resampled = resampled_auc(ST, codes, pairs.weights, n_bootstrap, random_state, n_jobs)
        resampled = resampled[:, pairs.is_present]
        tails = np.array([(1.0 - level) / 2, (1.0 + level) / 2])
        values = resampled.mean(axis=1)
        bounds = np.quantile(values, tails)
        pair_bounds[:, pairs.is_present] = np.quantile(resampled, tails, axis=0)
    return MAUCInterval(
        mauc=float(np.mean(pair_auc[pairs.is_present])),
        lower=float(bounds[0]),
        upper=float(bounds[1]),
        level=float(level),
        pair_lower=pair_bounds[0],
        pair_upper=pair_bounds[1],
        method=method,
        values=values,
    )
