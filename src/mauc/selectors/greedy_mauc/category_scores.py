"""Numbers for categories: the counts of a nominal column in, one score per category out.

The correlation of a nominal feature with others is that of these scores. They are the coordinates
of the categories on the leading axis of the correspondence analysis of categories and classes: of
all numbers for the categories, those whose means differ most between the classes.
"""

import numpy as np
from scipy import sparse

_MAX_STEPS = 200  # of the power method
_TOLERANCE = 1e-10
_DECIMALS = 9  # scores that agree in so many are equal, whatever the order of their sums was


def category_scores(counts):
    r"""Return the score of every category.

    Parameters
    ----------
    counts : CategoryCounts

    Returns
    -------
    scores : ndarray of shape (n_categories,), float64
        The largest is 1 or -1; 0 for categories that do not occur.

    Notes
    -----
    With :math:`n_{kv}` rows of class k in category v, n in all and :math:`c_k` the share of class
    k, the axis is the unit vector u that maximises

    .. math:: \lambda = \sum_v \frac{n_v}{n} f_v^2, \qquad
        f_v = \frac{1}{n_v} \sum_k n_{kv} a_k, \qquad a_k = u_k / \sqrt{c_k},

    a mean over the rows of a category, whose variance by chance is :math:`1/n_v`. It is shrunk
    towards 0, the mean of all rows, to :math:`f_v n_v \tau^2 / (1 + n_v \tau^2)`, where

    .. math:: \tau^2 = \max(0, n \lambda - (\sqrt{V - 1} + \sqrt{c - 1})^2)
        / (n - \sum_v n_v^2 / n)

    is what the scores of the V categories vary beyond chance; so the rare categories of a column of
    noise do not lie at its ends.
    """
    known = np.array([counts.of_class(k)[1].sum() for k in range(len(counts.totals))])
    n, shares = known.sum(), known / known.sum()
    inverse_roots = np.where(shares > 0, 1.0 / np.sqrt(np.maximum(shares, 1e-300)), 0.0)
    table = sparse.csc_array(
        (counts.counts, counts.categories, counts.starts), (counts.n_categories, len(known))
    )
    sizes = np.asarray(table.sum(axis=1)).ravel()
    inverse_sizes = np.where(sizes > 0, 1.0 / np.maximum(sizes, 1e-300), 0.0)
    profiles = sparse.dia_array((inverse_sizes[np.newaxis], [0]), (len(sizes),) * 2) @ table
    products = (table.T @ profiles).toarray() / n - np.outer(shares, shares)
    products *= np.outer(inverse_roots, inverse_roots)
    axis, inertia = _leading_axis(products, np.sqrt(shares))
    means = profiles @ (axis * inverse_roots)
    n_categories, n_classes = np.count_nonzero(sizes), np.count_nonzero(known)
    chance = (np.sqrt(n_categories - 1) + np.sqrt(n_classes - 1)) ** 2
    variance = max(0.0, n * inertia - chance) / max(n - (sizes * sizes).sum() / n, 1e-300)
    scores = means * sizes / (1.0 + sizes * variance)
    return scores / max(np.abs(scores).max(), 1e-300)


def rank_scores(scores):
    """Return the ranks 0, 1, ... of scores, float64; equal ones have the same."""
    return np.unique(scores.round(_DECIMALS), return_inverse=True)[1].astype(np.float64)


def class_signs(counts, scores):
    """Return for every class pair the sign of the difference of the mean scores, never 0."""
    means = np.zeros(len(counts.totals))
    for k in range(len(means)):
        categories, in_class = counts.of_class(k)
        means[k] = (scores[categories] * in_class).sum() / max(in_class.sum(), 1e-300)
    first, second = np.triu_indices(len(means), 1)
    return np.where(means[first] >= means[second], 1.0, -1.0)


def _leading_axis(matrix, trivial):
    """Return the eigenvector of the largest eigenvalue, and that, by the power method.

    It starts from the order of the classes, so that of several axes with the same eigenvalue
    (categories that determine the class) one is taken that tells all classes apart. Sums are
    NumPy's own: those of BLAS would depend on the number of threads.
    """
    axis = _unit(np.arange(1.0, len(matrix) + 1.0) * trivial, trivial)
    inertia = 0.0
    for _ in range(_MAX_STEPS):
        moved = _unit(np.einsum("kl,l->k", matrix, axis), trivial)
        change = np.abs(moved - axis).max()
        axis = moved
        if change < _TOLERANCE:
            break
    inertia = float(np.einsum("k,kl,l->", axis, matrix, axis))
    return axis, inertia


def _unit(vector, trivial):
    """Return a vector of length 1, orthogonal to the unit vector `trivial`."""
    vector = vector - trivial * np.einsum("k,k->", trivial, vector)
    return vector / max(np.sqrt(np.einsum("k,k->", vector, vector)), 1e-300)
