"""Numbers for categories: the counts of a nominal column in, one score per category out.

The correlation of a nominal feature with others is that of these scores. They are the coordinates
of the categories on the leading axis of the correspondence analysis of categories and classes: of
all numbers for the categories, those whose means differ most between the classes.
"""

import numpy as np
from scipy import sparse

_N_SQUARES = 8  # the power method takes 2^8 steps
_MAX_SQUARED = 64  # classes whose matrix is squared; with more, a vector is multiplied step by step
_MAX_DENSE = 2**22  # products of a dense table of categories and classes
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
    sizes = np.bincount(counts.categories, counts.counts, minlength=counts.n_categories)
    products = _profile_products(counts, sizes) / n - np.outer(shares, shares)
    products *= np.outer(inverse_roots, inverse_roots)
    axis, inertia = _leading_axis(products, np.sqrt(shares))
    classes = np.repeat(np.arange(len(known)), np.diff(counts.starts))
    of_entries = counts.counts * (axis * inverse_roots)[classes]
    totals = np.bincount(counts.categories, of_entries, minlength=counts.n_categories)
    n_categories, n_classes = np.count_nonzero(sizes), np.count_nonzero(known)
    chance = (np.sqrt(n_categories - 1) + np.sqrt(n_classes - 1)) ** 2
    variance = max(0.0, n * inertia - chance) / max(n - (sizes * sizes).sum() / n, 1e-300)
    scores = totals / (1.0 + sizes * variance)
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


def _profile_products(counts, sizes):
    """Return the sums over the categories of n_kv n_lv / n_v, shape (n_classes, n_classes)."""
    n_classes = len(counts.totals)
    shares = counts.counts / sizes[counts.categories]
    if counts.n_categories * n_classes**2 > _MAX_DENSE:
        shape = (counts.n_categories, n_classes)
        table = sparse.csc_array((counts.counts, counts.categories, counts.starts), shape)
        profiles = sparse.csc_array((shares, counts.categories, counts.starts), shape)
        return (table.T @ profiles).toarray()
    table, profiles = np.zeros((2, n_classes, counts.n_categories))
    places = np.repeat(np.arange(n_classes), np.diff(counts.starts)), counts.categories
    table[places], profiles[places] = counts.counts, shares
    return np.einsum("kv,lv->kl", table, profiles)


def _leading_axis(matrix, trivial):
    """Return the eigenvector of the largest eigenvalue, and that, by the power method.

    It starts from the order of the classes, so that of several axes with the same eigenvalue
    (categories that determine the class) one is taken that tells all classes apart. Sums are
    NumPy's own: those of BLAS would depend on the number of threads.
    """
    axis = _unit(np.arange(1.0, len(matrix) + 1.0) * trivial, trivial)
    if len(matrix) <= _MAX_SQUARED:
        power = matrix
        for _ in range(_N_SQUARES):
            power = power / max(np.abs(power).max(), 1e-300)
            power = np.einsum("kl,lm->km", power, power)
        axis = _unit(np.einsum("kl,l->k", power, axis), trivial)
    else:
        for _ in range(2**_N_SQUARES):
            axis = _unit(np.einsum("kl,l->k", matrix, axis), trivial)
    return axis, float(np.einsum("k,k->", axis, np.einsum("kl,l->k", matrix, axis)))


def _unit(vector, trivial):
    """Return a vector of length 1, orthogonal to the unit vector `trivial`."""
    vector = vector - trivial * np.einsum("k,k->", trivial, vector)
    return vector / max(np.sqrt(np.einsum("k,k->", vector, vector)), 1e-300)
