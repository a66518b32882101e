"""Densities of single features: training data in, likelihoods of other samples out."""

from dataclasses import dataclass

import numpy as np

from mauc.classifiers.naive_bayes.likelihood import fit_normals, normal_likelihoods
from mauc.classifiers.nominal_columns import UNSEEN, encode_column, find_categories
from mauc.problem.columns import read_only

_BLOCK_VALUES = 2**17  # likelihoods computed at a time: they stay in the second-level cache


@dataclass(frozen=True)
class Densities:
    """Priors of the classes and the density of each feature in each class.

    The density of a feature does not depend on the other features.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
    normals : tuple of ndarray
        Scales, precisions, means and deviations, from `likelihood.fit_normals`.
    categories : dict of int to ndarray of shape (n_values,)
        Values of each nominal feature.
    probabilities : dict of int to ndarray of shape (n_values, n_classes)
        How likely each value is in each class.
    """

    prior: np.ndarray
    normals: tuple
    categories: dict
    probabilities: dict

    def start(self, n_samples, *, is_log=False):
        """Return the joint probabilities of class and no feature: the priors, one row per sample.

        Parameters
        ----------
        n_samples : int
        is_log : bool, default=False
            Whether to return logarithms.
        """
        prior = np.log(self.prior) if is_log else self.prior
        return np.tile(prior, (n_samples, 1))

    def write_likelihoods(self, XT, first, out, *, is_log=False):
        """Fill in the likelihoods of the features from `first` on.

        Parameters
        ----------
        XT : ndarray of shape (n_columns, n_samples)
            Values of these features, read-only.
        first : int
            The feature of the first row.
        out : ndarray of shape (n_columns, n_samples, n_classes)
        is_log : bool, default=False
        """
        here = slice(first, first + len(XT))
        normal_likelihoods(XT, *(part[here] for part in self.normals), is_log, out)
        for j, values in self.categories.items():
            if here.start <= j < here.stop:
                codes = encode_column(XT[j - first], values)
                likelihoods = self.probabilities[j][codes]
                likelihoods[codes == UNSEEN] = 1.0
                out[j - first] = np.log(likelihoods) if is_log else likelihoods

    def accumulate(self, X, include, *, is_log):
        """Return the joint probabilities of class and all features.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        include : callable
            `likelihood.multiply_likelihoods`, or `add_log_likelihoods` with `is_log`.
        is_log : bool

        Returns
        -------
        joint : ndarray of shape (n_samples, n_classes)
        """
        XT = columns_of(X)
        joint = self.start(len(X), is_log=is_log)
        width = max(1, min(_BLOCK_VALUES // joint.size, len(XT)))
        likelihoods = np.empty((width, *joint.shape))
        for first in range(0, len(XT), width):
            block = XT[first : first + width]
            self.write_likelihoods(block, first, likelihoods[: len(block)], is_log=is_log)
            include(likelihoods, np.arange(len(block)), joint)
        return joint


def fit_densities(samples):
    """Return the `Densities` of training `Samples`."""
    X, codes, weights, n_classes = samples.X, samples.codes, samples.weights, samples.n_classes
    totals = np.bincount(codes, weights, minlength=n_classes)
    categories = find_categories(X, samples.nominal)
    return Densities(
        prior=(totals + 1) / (totals.sum() + n_classes),
        normals=fit_normals(columns_of(X), codes, weights, n_classes),
        categories=categories,
        probabilities={
            j: _value_probabilities(encode_column(X[:, j], values), codes, weights, n_classes)
            for j, values in categories.items()
        },
    )


def columns_of(X):
    """Return the columns of X as the rows of a contiguous, read-only array."""
    return read_only(np.ascontiguousarray(X.T))


def _value_probabilities(value_codes, codes, weights, n_classes):
    """Return Laplace's estimates, shape (n_values, n_classes); one row if no value is known."""
    n_values = max(1, value_codes.max() + 1)
    counts = np.ones((n_values, n_classes))
    is_known = value_codes != UNSEEN
    np.add.at(counts, (value_codes[is_known], codes[is_known]), weights[is_known])
    return counts / counts.sum(axis=0)
