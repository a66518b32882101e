"""FSDD, the distance discriminant: class moments of a column in, scores per sub-problem out."""

import numpy as np

from mauc.selectors.relevance.moments import subproblem_moments


def fsdd_relevance(problem, decomposition, chosen, beta=2.0, constants="last"):
    r"""Score features by the spread between classes minus that within them.

    Parameters
    ----------
    problem : Problem
        Missing values are left out of their feature. Weights are frequencies: weight 2 is the
        sample given twice.
    decomposition : Decomposition
    chosen : slice or list of int
    beta : float, default=2.0
        Weight of the spread within classes.
    constants : {"last", "first"}, default="last"
        Where features without spread rank.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        -inf (inf with ``constants="first"``) for a feature that is constant on a sub-problem or
        has fewer than two known values there.

    Notes
    -----
    With :math:`n_k` samples of class k, mean :math:`\bar f_k` and variance :math:`s_k^2` (over
    :math:`n_k - 1`, 0 for a single sample), and mean :math:`\bar f` and variance :math:`s^2`
    (over n - 1) of all (Eq. 8-11 of [1]_),

    .. math:: \frac{1}{s^2} \Big[ \sum_k \frac{n_k}{n} (\bar f_k - \bar f)^2
              - \beta \sum_k \frac{n_k}{n} s_k^2 \Big]

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    """
    moments = subproblem_moments(problem, decomposition, chosen)
    scores = np.column_stack([fsdd_of_moments(*part, beta) for part in moments])
    if constants == "first":
        scores[np.isneginf(scores)] = np.inf
    return scores


def fsdd_of_moments(count, offset, scatter, beta):
    """Compute FSDD from class counts, class means (minus any constant) and class scatters.

    Parameters
    ----------
    count, offset, scatter : ndarray of shape (n_features, n_classes)
        See `mauc.selectors.relevance.column_moments.class_moments`.
    beta : float

    Returns
    -------
    scores : ndarray of shape (n_features,)
    """
    n = count.sum(axis=1)
    share = count / np.maximum(n, 1e-300)[:, np.newaxis]
    centre = (share * offset).sum(axis=1)
    between = (share * (offset - centre[:, np.newaxis]) ** 2).sum(axis=1)
    has_spread = count > 1.0
    class_variance = np.where(has_spread, scatter / np.where(has_spread, count - 1.0, 1.0), 0.0)
    within = (share * class_variance).sum(axis=1)
    # The squares about the mean are those within the classes plus those between them.
    total = scatter.sum(axis=1) + n * between
    is_scored = (n > 1) & (total > 0)
    variance = np.where(is_scored, total, 1.0) / np.where(is_scored, n - 1.0, 1.0)
    return np.where(is_scored, (between - beta * within) / variance, -np.inf)
