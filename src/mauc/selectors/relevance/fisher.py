"""Fisher score and ANOVA F: class moments of a column in, scores per sub-problem out."""

import numpy as np

from mauc.selectors.relevance.moments import pool_means, subproblem_moments


def fisher_relevance(problem, decomposition, chosen):
    r"""Score features by the scatter between classes over that within them.

    Parameters
    ----------
    problem : Problem
        Missing values are left out of their feature. Weights are frequencies: weight 2 is the
        sample given twice.
    decomposition : Decomposition
    chosen : slice or list of int

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        0 for a feature that is constant on a sub-problem, inf for one that is constant within
        its classes only.

    Notes
    -----
    With :math:`n_k` samples of class k, mean :math:`\mu_k` and variance :math:`\sigma_k^2` (over
    :math:`n_k`), and mean :math:`\mu` of all,

    .. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k \sigma_k^2}

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd ed., 2001.
    """
    parts = [_scatters(*part) for part in subproblem_moments(problem, decomposition, chosen)]
    return np.column_stack([_quotient(between, within) for between, within, _, _ in parts])


def anova_relevance(problem, decomposition, chosen):
    r"""Score features by the F statistic of a one-way analysis of variance.

    Parameters and returns as in `fisher_relevance`; a feature with at most one known value per
    class scores 0, because there is no variance within classes.

    Notes
    -----
    With n known values of c classes,

    .. math:: F = \frac{\sum_k n_k (\mu_k - \mu)^2 / (c - 1)}{\sum_k n_k \sigma_k^2 / (n - c)}

    Classes without a known value do not count in c.
    """
    scores = []
    for part in subproblem_moments(problem, decomposition, chosen):
        between, within, n, n_groups = _scatters(*part)
        is_free = (n_groups > 1) & (n > n_groups)
        # An infinite quotient must not be multiplied by 0 degrees of freedom.
        freedom = np.where(is_free, n - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
        scores.append(np.where(is_free, freedom * _quotient(between, within), 0.0))
    return np.column_stack(scores)


def _scatters(count, offset, scatter):
    """Return the scatter between and within classes, and the numbers of values and of classes."""
    n, _, between = pool_means(count, offset)
    return between, scatter.sum(axis=1), n, (count > 0).sum(axis=1)


def _quotient(between, within):
    """Return between / within: inf without scatter within, 0 without any scatter."""
    has_within = within > 0
    quotient = between / np.where(has_within, within, 1.0)
    return np.where(has_within, quotient, np.where(between > 0, np.inf, 0.0))
