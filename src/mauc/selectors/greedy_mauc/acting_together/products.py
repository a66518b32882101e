"""Products of two features as further columns: pairs in, their effects and normal scores out."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mauc.problem.columns import read_only
from mauc.problem.problem import Problem
from mauc.selectors.greedy_mauc.measuring.measure import measure
from mauc.selectors.greedy_mauc.measuring.normal_scores import NormalScores


class Products(NamedTuple):
    """Features, and after them the products of pairs of them that tell classes apart."""

    effects: np.ndarray  #: (n_features + n_products, n_pairs)
    scores: NormalScores
    members: np.ndarray  #: (n_products, 2), int64: the two features of each product
    places: np.ndarray  #: (n_products,), int64: of each product, among the pairs that were given


def add_products(effects, scores, found, noise_correction):
    r"""Append the products of the normal scores of pairs of features.

    Parameters
    ----------
    effects : ndarray of shape (n_features, n_pairs), float64
    scores : NormalScores
    found : FoundPairs
    noise_correction : float

    Returns
    -------
    Products
        Those without an effect are left out. In `scores`, products count as constant: only
        features are candidates by themselves.

    Notes
    -----
    The effect of a product is that of a feature with the values :math:`z_f z_g`, but the noise
    correction is multiplied by :math:`2 \ln N` with N the number of pairs that were tested: the
    largest square of so many effects of noise is about so large. An effect whose square does not
    exceed :math:`d_f^2 + d_g^2` on a class pair is set to 0: the features tell these two classes
    apart without their product.
    """
    counts = scores.class_counts
    present = np.flatnonzero(counts)
    values = scores.scores[found.pairs[:, 0]].astype(np.float32)
    values *= scores.scores[found.pairs[:, 1]]
    codes = np.repeat(np.arange(len(present), dtype=np.int32), counts[present])
    problem = Problem(read_only(values.T), codes, np.arange(len(present)), counts[present])
    factor = max(1.0, 2.0 * np.log(max(found.n_tested, 1)))
    of_products, product_scores = measure(problem, noise_correction=noise_correction * factor)
    # Class pairs of which no sample was kept have no effect.
    is_present = np.isin(np.arange(len(counts)), present)
    first, second = np.triu_indices(len(counts), 1)
    wide = np.zeros((len(found.pairs), effects.shape[1]))
    wide[:, is_present[first] & is_present[second]] = of_products
    alone = (effects[found.pairs] ** 2).sum(axis=1)
    wide[wide * wide <= alone] = 0.0
    places = np.flatnonzero(wide.any(axis=1) & product_scores.varies)
    sums = np.zeros((len(counts), len(found.pairs)), np.int64)
    sums[present] = product_scores.sums
    together = replace(
        scores,
        padded=np.concatenate([scores.padded, product_scores.padded[places]]),
        sums=np.concatenate([scores.sums, sums[:, places]], axis=1),
        squares=np.concatenate([scores.squares, product_scores.squares[places]]),
        varies=np.concatenate([scores.varies, np.zeros(len(places), bool)]),
    )
    return Products(np.concatenate([effects, wide[places]]), together, found.pairs[places], places)
