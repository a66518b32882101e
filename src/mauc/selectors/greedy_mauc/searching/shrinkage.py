"""How far to shrink the within-class correlations: normal scores in, an intensity out."""

import numpy as np

N_SHRINKAGE_FEATURES = 64  # enough for a mean over 2016 pairs of features
MIN_CLASS_COUNT = 3  # samples that a class needs for a correlation of its own


def estimate_shrinkage(scores):
    r"""Return the shrinkage intensity of the within-class correlations.

    Parameters
    ----------
    scores : NormalScores
        Up to 64 of the features that vary, at even distances, are looked at.

    Returns
    -------
    shrinkage : float
        In [0, 1].

    Notes
    -----
    One correlation r of two features is used for all class pairs, pooled over the c classes of
    n samples. It misses that of one pair of classes by chance, with variance
    :math:`(1 - r^2)^2 / (n - c)`, and because the classes differ, with half the variance s^2 of
    the correlation r_k of a class about r,

    .. math:: s^2 = \sum_k \frac{n_k}{n}
        \Big[ (r_k - r)^2 - \frac{(1 - r_k^2)^2}{n_k - 1} \Big].

    The multiple (1 - shrinkage) r of least mean squared error over the pairs of features has

    .. math:: \lambda = \frac{h}{h + \overline{r^2}}, \qquad
        h = \frac{\overline{(1 - r^2)^2}}{n - c} + \frac{\max(0, \overline{s^2})}{2},

    where bars are means over pairs of features. The first part is the analytic intensity of
    Ledoit & Wolf [1]_ and Schaefer & Strimmer [2]_. Sums are of whole numbers, thus exact.

    References
    ----------
    .. [1] O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", J. Multivariate Analysis 88, 2004.
    .. [2] J. Schaefer, K. Strimmer, "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4, 2005.
    """
    varying = np.flatnonzero(scores.varies)
    n_chosen = min(N_SHRINKAGE_FEATURES, len(varying))
    counts = scores.class_counts
    n_free = counts.sum() - np.count_nonzero(counts)
    if n_chosen < 2:
        return 0.0
    if n_free < 1:
        return 1.0
    chosen = varying[np.arange(n_chosen) * len(varying) // n_chosen]
    values = scores.scores[chosen].astype(np.float64)
    pairs = np.triu_indices(n_chosen, 1)
    stops = np.cumsum(counts)
    scatters = {}
    for k in np.flatnonzero(counts):
        part = values[:, stops[k] - counts[k] : stops[k]]
        total = part.sum(axis=1)
        # Products of whole numbers below 2^53: exact, whatever the order of the sum.
        scatters[k] = part @ part.T - np.outer(total, total) / counts[k]
    r = _correlations(sum(scatters.values()))[pairs]
    spread, weight = 0.0, 0
    for k, scatter in scatters.items():
        if counts[k] >= MIN_CLASS_COUNT:
            r_k = _correlations(scatter)[pairs]
            chance = (1.0 - r_k**2) ** 2 / (counts[k] - 1)
            spread += counts[k] * np.mean((r_k - r) ** 2 - chance)
            weight += counts[k]
    error = np.mean((1.0 - r**2) ** 2) / n_free + max(0.0, spread) / max(weight, 1) / 2
    return float(min(1.0, error / (error + np.mean(r**2))))


def _correlations(scatter):
    """Return correlations from sums of squares and products, 0 where nothing varies."""
    deviations = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    # Whole numbers that differ have a scatter of 1/2 or more.
    inverse = np.where(deviations > 0.5, 1.0 / np.maximum(deviations, 0.5), 0.0)
    return scatter * inverse[:, None] * inverse
