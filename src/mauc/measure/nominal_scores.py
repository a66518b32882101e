"""Scores of the categories of nominal features: axes of their correspondence analysis.

The categories of a feature have no order. The first axis gives them one, and normal scores by it;
what other axes tell of the classes is for a prediction.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mauc.engine.nominal import CategoryCounts

UNIT = 32  # steps of a score per standard deviation: 127 of them reach 3.97, as 14000 ranks do
MAX_SCORE = 127
_N_SQUARES = 8  # the power method takes 2^8 steps
_MAX_SQUARED = 64  # classes whose matrix is squared; with more, a vector is multiplied step by step
_MAX_DENSE = 2**22  # products of a dense table of categories and classes
_MAX_FURTHER = 3  # axes of a nominal feature beside the first
_MIN_INERTIA = 1e-9  # of an axis
_DECIMALS = 9  # scores that agree to this many are equal, whatever the order of their sums was


@dataclass(eq=False)
class NominalColumn:
    """What is known of a feature of more than two categories beside its scores."""

    #: the part of the squared effects of its scores, which are made of the classes, that
    #: leave-pair-out AUCs confirm, in [0, 1]
    share: float
    _axes: np.ndarray | None = None

    def axes(self, scores: np.ndarray, class_counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the `further_axes` of the kept rows, computed when they are first asked for."""
        if self._axes is None:
            self._axes = further_axes(scores, class_counts, weights)
        return self._axes


def category_scores(counts: CategoryCounts) -> np.ndarray:
    """Return the score of every category; the largest is 1 or -1, 0 those that do not occur."""
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


def further_axes(scores: np.ndarray, class_counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return up to three more scores of the categories of a nominal feature, by sample, int8.

    They are the leading axes of the correspondence analysis, without what is linear in the
    `scores`, which are those of samples sorted by class.
    """
    codes = np.repeat(np.arange(len(class_counts)), class_counts)
    values, groups = np.unique(scores, return_inverse=True)
    shape = len(class_counts), len(values)
    table = np.bincount(codes * shape[1] + groups, weights, shape[0] * shape[1]).reshape(shape)
    table = table[class_counts > 0] / table.sum()
    by_class, roots = table.sum(axis=1), np.sqrt(table.sum(axis=0))
    expected = np.outer(by_class, roots * roots)
    residuals = (table - expected) / np.sqrt(expected)
    axis = _unit(values * roots, roots)
    residuals -= np.outer(np.einsum("kv,v->k", residuals, axis), axis)
    found = np.zeros((max(0, min(_MAX_FURTHER, len(values) - 2, len(table) - 2)), len(scores)))
    for row in found:
        products = np.einsum("kv,lv->kl", residuals, residuals)
        axis, inertia = _leading_axis(products, np.sqrt(by_class))
        if weights.sum() * inertia <= (math.sqrt(len(values) - 2) + math.sqrt(len(table) - 2)) ** 2:
            break
        along = np.einsum("k,kv->v", axis, residuals)
        units = UNIT * along / (roots * math.sqrt(max(inertia, _MIN_INERTIA)))
        row[:] = np.clip(np.rint(units), -MAX_SCORE, MAX_SCORE)[groups]
        residuals -= np.outer(axis, along)
    return found[found.any(axis=1)].astype(np.int8)


def rank_scores(scores: np.ndarray) -> np.ndarray:
    """Return the ranks 0, 1, ... of scores, float64; equal ones have the same."""
    return np.unique(scores.round(_DECIMALS), return_inverse=True)[1].astype(np.float64)


def class_signs(counts: CategoryCounts, scores: np.ndarray) -> np.ndarray:
    """Return for every class pair the sign of the difference of the mean scores, never 0."""
    means = np.zeros(len(counts.totals))
    for k in range(len(means)):
        categories, in_class = counts.of_class(k)
        means[k] = (scores[categories] * in_class).sum() / max(in_class.sum(), 1e-300)
    first, second = np.triu_indices(len(means), 1)
    return np.where(means[first] >= means[second], 1.0, -1.0)


def _profile_products(counts: CategoryCounts, sizes: np.ndarray) -> np.ndarray:
    """Return the sums over the categories of n_kv n_lv / n_v, shape (n_classes, n_classes)."""
    n_classes = len(counts.totals)
    shares = counts.counts / sizes[counts.categories]
    if counts.n_categories * n_classes**2 > _MAX_DENSE:
        shape = (counts.n_categories, n_classes)
        table = sparse.csc_array((counts.counts, counts.categories, counts.starts), shape)
        profiles = sparse.csc_array((shares, counts.categories, counts.starts), shape)
        return (table.T @ profiles).toarray()
    table, profiles = np.zeros((2, n_classes, counts.n_categories))
    cells = np.repeat(np.arange(n_classes), np.diff(counts.starts)), counts.categories
    table[cells], profiles[cells] = counts.counts, shares
    return np.einsum("kv,lv->kl", table, profiles)


def _leading_axis(matrix: np.ndarray, trivial: np.ndarray) -> tuple[np.ndarray, float]:
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


def _unit(vector: np.ndarray, trivial: np.ndarray) -> np.ndarray:
    """Return a vector of length 1, orthogonal to the unit vector `trivial`."""
    vector = vector - trivial * np.einsum("k,k->", trivial, vector)
    return vector / max(np.sqrt(np.einsum("k,k->", vector, vector)), 1e-300)
