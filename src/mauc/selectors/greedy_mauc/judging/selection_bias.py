"""How much of a class mean is luck: the means of all features in, the share of luck out.

The features that a search takes are those with the largest differences between the classes, thus
also those with the most luck. How much to expect follows from the distribution of all features: if
those that are far out are no more than chance alone would make, all of their distance is luck.
"""

import numpy as np
from numba import njit

MAX_FEATURES = 4096  # enough to tell the distribution
_STEP, _N_BINS = 0.1, 100  # of |z|; what is beyond counts as at the end
_VARIANCES = np.append(0.0, 2.0 ** np.arange(-2, 11))  # of the components
_N_ITERATIONS = 1000


def count_sizes(z):
    """Return how many of the z values, which are finite, lie in each bin of their size."""
    bins = np.minimum(np.abs(z) / _STEP, _N_BINS).astype(np.int64)
    return np.bincount(bins.ravel(), minlength=_N_BINS + 1)


def shares_of_luck(chosen, counts):
    r"""Return the part of the distance of class means from the common mean that will not recur.

    Parameters
    ----------
    chosen : ndarray, float64
        z values of the class means in question: the distance of the mean of a class from the mean
        of all samples, over its standard error.
    counts : ndarray of int64
        The sizes of the z values of all features, from `count_sizes`.

    Returns
    -------
    shares : ndarray of the shape of `chosen`
        In [0, 1], beyond what leaving samples out one at a time accounts for.

    Notes
    -----
    True z values are taken as drawn from a mixture of normal distributions of mean 0 and
    variances :math:`\tau^2 = 0, 1/4, 1/2, 1, \ldots, 1024`, whose weights are those of the largest
    likelihood (1000 iterations of the EM algorithm), the standard error adding 1 to each. The
    expected true value is :math:`\rho z`, with :math:`\rho` the mean of
    :math:`\tau^2 / (1 + \tau^2)` by the probabilities of the components given z: it is the same
    whether or not the feature was chosen because of z [1]_ [2]_. Leaving a sample out takes
    :math:`1/z^2` already, what chance adds to the squared distance of a feature that was not
    chosen. The share is :math:`\max(0, 1 - \rho - 1/z^2)`.

    References
    ----------
    .. [1] B. Efron, "Tweedie's formula and selection bias", J. American Statistical Association
       106, 2011.
    .. [2] M. Stephens, "False discovery rates: a new deal", Biostatistics 18, 2017.
    """
    weights = _fit_weights(counts)
    probabilities = _likelihoods(np.abs(chosen)) * weights
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    kept = (probabilities * (_VARIANCES / (1.0 + _VARIANCES))).sum(axis=-1)
    chance = np.clip(np.abs(chosen), 1.0, 1e6) ** -2.0
    return np.maximum(0.0, 1.0 - kept - chance)


def _fit_weights(counts):
    """Return the weights of the components, given how often each size occurs."""
    likelihoods = _likelihoods((np.arange(_N_BINS + 1) + 0.5) * _STEP)
    weights = np.full(len(_VARIANCES), 1.0 / len(_VARIANCES))
    maximise(likelihoods, counts / counts.sum(), weights, np.empty_like(weights))
    return weights


def _likelihoods(sizes):
    """Return the likelihood of every component, given |z|, up to a factor; on a new last axis."""
    variances = 1.0 + _VARIANCES
    # The widest component is never far from the likeliest: no sum of these underflows.
    sizes = np.minimum(sizes, _N_BINS * _STEP)[..., np.newaxis]
    return np.exp(-0.5 * sizes * sizes / variances) / np.sqrt(variances)


@njit(cache=True, nogil=True)
def maximise(likelihoods, shares, weights, sums):
    """Update the weights of a mixture by the EM algorithm.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_bins, n_components), float64
    shares : ndarray of shape (n_bins,), float64
        Of all values, in each bin.
    weights : ndarray of shape (n_components,), float64
        Updated.
    sums : ndarray of shape (n_components,), float64
        Work space.
    """
    n_components = weights.shape[0]
    for _ in range(_N_ITERATIONS):
        for c in range(n_components):
            sums[c] = 0.0
        for b in range(shares.shape[0]):
            if shares[b] > 0.0:
                total = 0.0
                for c in range(n_components):
                    total += weights[c] * likelihoods[b, c]
                for c in range(n_components):
                    sums[c] += likelihoods[b, c] * (shares[b] / total)
        for c in range(n_components):
            weights[c] *= sums[c]
