"""Confidence bounds of AUCs, near 1 as well: class pairs and scores in, bounds out."""

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from mauc.metrics.components import pair_components

# Where few samples are on the wrong side, the variance of their components cannot be estimated:
# a share of theta (1 - theta), that of components spread evenly over [0, 1], is mixed in with the
# weight of one sample. benchmarks/coverage_intervals.py shows that this covers.
PRIOR_SHARE = 1 / 3
PRIOR_SAMPLES = 1.0
MAX_FREEDOM = 1e10  # beyond, Student's t is the normal distribution


def delong_bounds(ST, pairs, pair_auc, level):
    """Return the bounds of every pair of classes that is present and of the mean over them.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns.
    pairs : ClassPairs
    pair_auc : ndarray of shape (n_present,)
        (A_ij + A_ji) / 2 of the pairs that are present.
    level : float

    Returns
    -------
    bounds : ndarray of shape (2,)
        Lower and upper bound of the mean.
    pair_bounds : ndarray of shape (2, n_present)
    """
    components = pair_components(ST, pairs.codes, pairs.weights, pairs.scaled_totals)
    present = np.flatnonzero(pairs.scaled_totals)
    kept = np.flatnonzero(pairs.weights)
    codes = np.searchsorted(present, pairs.codes[kept])
    return component_bounds(
        components[np.ix_(kept, present)], codes, pairs.weights[kept], pair_auc, level
    )


def component_bounds(components, codes, weights, pair_auc, level):
    r"""Return the bounds of every pair of classes and of the mean over the pairs.

    Parameters
    ----------
    components : ndarray of shape (..., n_samples, n_classes)
        As `pair_components` returns them, of one or many score matrices.
    codes : ndarray of shape (n_samples,), int
        Every class has samples.
    weights : ndarray of shape (n_samples,), float64
        Positive.
    pair_auc : ndarray of shape (..., n_pairs)
    level : float

    Returns
    -------
    bounds : ndarray of shape (2, ...)
    pair_bounds : ndarray of shape (2, ..., n_pairs)

    Notes
    -----
    An AUC is a mean over the samples of either class, with the variance
    :math:`\sum_k s_k^2 / n_k`, :math:`s_k^2` being that of the components of class k (DeLong). MAUC
    is such a mean too: the component of a sample is the sum of those of its pairs, so all
    covariances between pairs that share samples are in it.
    """
    n_classes, n_pairs = components.shape[-1], pair_auc.shape[-1]
    shape = components.shape[:-2]
    sizes = np.empty(n_classes)
    pair_variances = np.empty((n_classes, *shape, n_classes))
    variances = np.empty((n_classes, *shape))
    for code in range(n_classes):
        own = components[..., codes == code, :]
        shares = weights[codes == code] / weights[codes == code].sum()
        sizes[code] = 1.0 / (shares**2).sum()
        pair_variances[code] = _variance(own, shares, sizes[code])
        variances[code] = _variance(own.sum(axis=-1) / n_pairs, shares, sizes[code], axis=-1)
    first, second = np.triu_indices(n_classes, 1)
    pair_bounds = _bounds(
        pair_auc,
        (np.moveaxis(pair_variances[first, ..., second], 0, -1),
         np.moveaxis(pair_variances[second, ..., first], 0, -1)),
        (sizes[first], sizes[second]), level, PRIOR_SHARE, 1.0,
    )  # fmt: skip
    # A class is in n_classes - 1 pairs. Its component varies by the square of their share in the
    # mean if they agree, by 1 / (n_classes - 1) of that if they are independent: between the two.
    largest = ((n_classes - 1) / n_pairs) ** 2
    share = PRIOR_SHARE * largest / np.sqrt(n_classes - 1)
    return _bounds(pair_auc.mean(axis=-1), variances, sizes, level, share, largest), pair_bounds


def _variance(values, shares, size, axis=-2):
    """Return the variance of values along an axis; infinite where one sample has all weight."""
    values = np.moveaxis(values, axis, -1)
    if size <= 1.0 + 1e-12:
        return np.full(values.shape[:-1], np.inf)
    center = values @ shares
    return (values - center[..., np.newaxis]) ** 2 @ shares**2 * size * (size / (size - 1.0))


def _bounds(auc, variances, sizes, level, prior_share, max_share):
    """Return exact binomial bounds at the number of trials that has the variance of the AUC.

    Parameters
    ----------
    auc : ndarray
    variances, sizes : sequence of ndarray
        Variance of the components and number of samples, of each class, which broadcast to `auc`.
    level : float
    prior_share, max_share : float
        Of theta (1 - theta): the variance that is mixed in, and the largest one.

    Returns
    -------
    bounds : ndarray of shape (2, ...)
    """
    total, freedom = np.zeros(np.shape(auc)), np.zeros(np.shape(auc))
    for variance, size in zip(variances, sizes, strict=True):
        prior = PRIOR_SAMPLES / size
        share = (variance + prior * prior_share) / (auc * (1.0 - auc) + prior)
        is_bound = share >= max_share  # a bound, not an estimate: it takes no degrees of freedom
        share = np.where(is_bound, max_share, share) / size
        total += share
        # Satterthwaite; what is mixed in counts as a sample here, too.
        freedom += np.where(is_bound, 0.0, share**2 / (size - 1.0 + PRIOR_SAMPLES))
    tail = (1.0 - level) / 2
    with np.errstate(divide="ignore"):
        quantile = stdtrit(np.minimum(total**2 / freedom, MAX_FREEDOM), 1.0 - tail)
    n_trials = (ndtri(1.0 - tail) / quantile) ** 2 / total
    wins, losses = auc * n_trials, (1.0 - auc) * n_trials
    with np.errstate(invalid="ignore"):
        lower = np.where(auc > 0.0, betaincinv(wins, losses + 1.0, tail), 0.0)
        upper = np.where(auc < 1.0, betaincinv(wins + 1.0, losses, 1.0 - tail), 1.0)
    return np.stack((lower, upper))
