"""Naive Bayes on nested feature sets: one cumulative product of likelihoods per ranking."""

import numpy as np

from mauc.classifiers.naive_bayes.densities import columns_of
from mauc.classifiers.naive_bayes.likelihood import add_log_likelihoods, multiply_likelihoods
from mauc.classifiers.naive_bayes.log_odds import log_odds, log_probabilities
from mauc.parallel import run_blocks

_MAX_PLACES = 2**28  # likelihoods that memory is reserved for at once, 2 GB


class NestedBayes:
    """Scores of NormalNaiveBayes on the first features of rankings.

    The density of a feature does not depend on the other features, so one fit on all of them
    serves every subset, and the likelihoods of a feature are computed when it first occurs in a
    ranking. Multiplying them in the order of the ranking gives what a fit on the subset gives, to
    the bit.

    Parameters
    ----------
    densities : Densities
    X_test : ndarray of shape (n_test, n_features)
    response_method : {"predict_proba", "predict_log_proba", "decision_function"}
    n_jobs : int or None
        Threads.
    """

    def __init__(self, densities, X_test, response_method, n_jobs):
        self._densities, self._XT, self._n_jobs = densities, columns_of(X_test), n_jobs
        self._is_log = response_method != "predict_proba"
        self._is_odds = response_method == "decision_function"
        (n_features, n_test), n_classes = self._XT.shape, len(densities.prior)
        # Memory that is never written to is never taken, so all features may have their place.
        n_places = min(n_features, _MAX_PLACES // max(1, n_test * n_classes))
        self._likelihoods = np.empty((n_places, n_test, n_classes))
        self._places = np.full(n_features, -1)  # of each feature in the array above
        self._n_held = 0

    def scores(self, ranking, sizes):
        """Yield the score matrix of the first k features for each k of the ascending sizes."""
        self._hold(ranking[: sizes[-1]])
        places = self._places[ranking]
        joint = self._densities.start(self._likelihoods.shape[1], is_log=self._is_log)
        start = 0
        for size in sizes:
            if self._is_log:
                add_log_likelihoods(self._likelihoods, places[start:size], joint)
                odds = log_odds(joint)
                yield odds if self._is_odds else log_probabilities(odds)
            else:
                multiply_likelihoods(self._likelihoods, places[start:size], joint)
                yield joint / joint.sum(axis=1, keepdims=True)
            start = size

    def _hold(self, features):
        """Compute the likelihoods of the features that are new."""
        new = features[self._places[features] < 0]
        n_needed = self._n_held + len(new)
        if n_needed > len(self._likelihoods):
            n_rows = min(max(n_needed, 2 * len(self._likelihoods)), len(self._XT))
            grown = np.empty((n_rows, *self._likelihoods.shape[1:]))
            grown[: self._n_held] = self._likelihoods[: self._n_held]
            self._likelihoods = grown
        self._places[new] = np.arange(self._n_held, n_needed)
        self._n_held = n_needed

        def write(feature):
            place = self._places[feature]
            column, out = self._XT[feature : feature + 1], self._likelihoods[place : place + 1]
            self._densities.write_likelihoods(column, feature, out, is_log=self._is_log)

        for _ in run_blocks(write, new, self._n_jobs):
            pass
