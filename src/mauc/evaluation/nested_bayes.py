"""Naive Bayes on nested feature sets: a cumulative product of likelihoods made once."""

import numpy as np

from mauc.classifiers.naive_bayes.likelihood import add_log_likelihoods, multiply_likelihoods
from mauc.classifiers.naive_bayes.log_odds import log_odds, log_probabilities
from mauc.parallel import run_blocks

_MOST_PLACES = 2**28  # likelihoods whose place is set aside at once, 2 GB


class NestedBayes:
    """Scores of NormalNaiveBayes on the first features of rankings.

    The density of a feature does not depend on the other features, so one fit on all of them
    serves every subset, and the likelihoods of a feature are computed when a ranking first has
    it. Multiplying them in the order of the ranking gives what a fit on the subset gives, to the
    bit.

    Parameters
    ----------
    fold : Fold
    classifier : NormalNaiveBayes
        Is fitted.
    response_method : {"predict_proba", "predict_log_proba", "decision_function"}
    """

    def __init__(self, fold, classifier, response_method):
        self._fold = fold
        self._is_log = response_method != "predict_proba"
        self._is_odds = response_method == "decision_function"
        self._model = classifier.fit(fold.X_train, fold.codes_train)
        n_test, n_classes = len(fold.X_test), len(fold.classes)
        # Memory that is never written to is never taken, so all features may have their place.
        n_places = min(fold.n_features, _MOST_PLACES // max(1, n_test * n_classes))
        self._likelihoods = np.empty((n_places, n_test, n_classes))
        self._places = np.full(fold.n_features, -1)  # of each feature in the array above
        self._n_held = 0

    def scores(self, ranking, sizes):
        """Yield the score matrix of the first k features for each k of the ascending sizes."""
        self._hold(ranking[: sizes[-1]])
        places = self._places[ranking]
        joint = self._model.start(self._likelihoods.shape[1], is_log=self._is_log)
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
            n_rows = min(max(n_needed, 2 * len(self._likelihoods)), self._fold.n_features)
            grown = np.empty((n_rows, *self._likelihoods.shape[1:]))
            grown[: self._n_held] = self._likelihoods[: self._n_held]
            self._likelihoods = grown
        self._places[new] = np.arange(self._n_held, n_needed)
        self._n_held = n_needed
        XT = self._fold.test_columns

        def write(feature):
            place = self._places[feature]
            self._model.write_likelihoods(
                XT[feature : feature + 1],
                feature,
                self._likelihoods[place : place + 1],
                is_log=self._is_log,
            )

        for _ in run_blocks(write, new, self._fold.n_jobs):
            pass
