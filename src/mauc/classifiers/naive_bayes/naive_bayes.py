"""Naive Bayes with normal densities, as WEKA 3.6.14 computes them."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mauc.classifiers.naive_bayes.likelihood import (
    add_log_likelihoods,
    fit_normals,
    multiply_likelihoods,
    normal_likelihoods,
)
from mauc.classifiers.naive_bayes.log_odds import log_odds, log_probabilities
from mauc.classifiers.nominal_columns import (
    UNSEEN,
    categorical_columns,
    check_weights,
    encode_column,
    find_categories,
)

_BLOCK_VALUES = 2**17  # likelihoods made at a time: they stay in the second-level cache


class NormalNaiveBayes(ClassifierMixin, BaseEstimator):
    r"""Naive Bayes classifier with normal densities.

    Its probabilities are those of WEKA's NaiveBayes. With many features they saturate: of most
    samples one class has probability 1 and the others 0, exactly, and the ties cost AUC.
    `predict_log_proba` and `decision_function` are computed apart, in logarithms, and do not
    saturate; score by them with ``MAUCScorer("decision_function")``.

    Parameters
    ----------
    categorical_features : array-like of bool, int or str of shape (n_features,) or \
            (n_categorical_features,), default=None
        Nominal features, as mask, indices or names. Their values are numbers (codes); they are
        counted instead of measured.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    precision_ : ndarray of shape (n_features,)
        Width of a value's cell; NaN for nominal features.
    mean_, deviation_ : ndarray of shape (n_features, n_classes)
        Of the normal densities; NaN for nominal features.
    categories_ : dict of int to ndarray of shape (n_values,)
        Values of each nominal feature.
    category_probability_ : dict of int to ndarray of shape (n_values, n_classes)
        How likely each value is in each class.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    With N the total weight, N_k that of class k and c classes, the prior is
    (N_k + 1) / (N + c). The precision p of a numeric feature is the mean gap between its
    neighbouring distinct values (0.01 if there is one value); every value is rounded to
    r = p rint(x / p), and its likelihood is

    .. math:: \max(10^{-75},\ \Phi((r - \mu_k + p/2) / \sigma_k)
              - \Phi((r - \mu_k - p/2) / \sigma_k))

    with the mean and the population deviation of the class, the latter at least p / 6. Far above
    the mean both values of Phi round to 1 and the floor takes over, far below they do not: the
    probabilities are lopsided there, the logarithms are not (they evaluate the cell in the lower
    tail and have no floor), so the two may rank such samples differently.

    WEKA sums the values and their squares as they are, and its deviation loses digits where a
    mean is many times its deviation; here they are counted from the first value, and the two
    probabilities agree to 1e-9 except on such features (an offset of 1e6 deviations: 1e-3).

    The likelihood of a nominal value is (N_kv + 1) / (N_k + values). Missing values (NaN) are
    left out, in fit and in prediction, and so are nominal values that fit has not met. A
    sample weight means repetition.

    References
    ----------
    .. [1] G. H. John, P. Langley, "Estimating Continuous Distributions in Bayesian Classifiers",
       UAI 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.classifiers import NormalNaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NormalNaiveBayes().fit(X, y)
    >>> model.predict_proba(X[70:71]).round(3)
    array([[0.   , 0.091, 0.909]])
    >>> model.decision_function(X[:1]).round(1)
    array([[ 39.2, -39.2, -57.3]])
    """

    def __init__(self, categorical_features=None):
        self.categorical_features = categorical_features

    def fit(self, X, y, sample_weight=None):
        """Fit a density to every feature and class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a sample of weight zero is as good as absent.

        Returns
        -------
        self : NormalNaiveBayes
        """
        X, y = self._validate(X, y, reset=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        check_weights(weights)
        if not weights.all():
            X, codes, weights = X[weights > 0], codes[weights > 0], weights[weights > 0]
        n_classes = len(self.classes_)
        totals = np.bincount(codes, weights, minlength=n_classes)
        self.class_prior_ = (totals + 1) / (totals.sum() + n_classes)
        self._normals = fit_normals(_columns(X), codes.astype(np.int32), weights, n_classes)
        scales, precisions, means, deviations = self._normals
        self.precision_ = precisions / scales
        self.mean_ = means / scales[:, np.newaxis]
        self.deviation_ = deviations / scales[:, np.newaxis]
        nominal = categorical_columns(
            self.categorical_features, X.shape[1], getattr(self, "feature_names_in_", None)
        )
        for learned in (self.precision_, self.mean_, self.deviation_):
            learned[nominal] = np.nan
        self.categories_ = find_categories(X, nominal)
        self.category_probability_ = {
            j: _value_probabilities(encode_column(X[:, j], values), codes, weights, n_classes)
            for j, values in self.categories_.items()
        }
        return self

    def predict_proba(self, X):
        """Return the class probabilities, as WEKA does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        joint = self._accumulate(X, multiply_likelihoods, is_log=False)
        return joint / joint.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        """Return the logarithms of the class probabilities, computed without saturation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        return log_probabilities(self._log_odds(X))

    def decision_function(self, X):
        """Return the log-odds of each class against the others together.

        They rank samples as the logarithms of the probabilities do, but go on where those of a
        sure class have come to 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_odds : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two
            classes
        """
        odds = self._log_odds(X)
        return odds[:, 1] if odds.shape[1] == 2 else odds

    def predict(self, X):
        """Return the most probable class of each sample, of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def start(self, n_samples, *, is_log=False):
        """Return the joint probabilities of class and no feature: the priors, a row a sample."""
        prior = np.log(self.class_prior_) if is_log else self.class_prior_
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
        normal_likelihoods(XT, *(part[here] for part in self._normals), is_log, out)
        for j, values in self.categories_.items():
            if here.start <= j < here.stop:
                codes = encode_column(XT[j - first], values)
                likelihoods = self.category_probability_[j][codes]
                likelihoods[codes == UNSEEN] = 1.0
                out[j - first] = np.log(likelihoods) if is_log else likelihoods

    def _log_odds(self, X):
        return log_odds(self._accumulate(X, add_log_likelihoods, is_log=True))

    def _accumulate(self, X, include, *, is_log):
        check_is_fitted(self)
        XT = _columns(self._validate(X, reset=False))
        joint = self.start(XT.shape[1], is_log=is_log)
        width = max(1, min(_BLOCK_VALUES // joint.size, len(XT)))
        likelihoods = np.empty((width, *joint.shape))
        for first in range(0, len(XT), width):
            block = XT[first : first + width]
            self.write_likelihoods(block, first, likelihoods[: len(block)], is_log=is_log)
            include(likelihoods, np.arange(len(block)), joint)
        return joint

    def _validate(self, X, y="no_validation", *, reset):
        return validate_data(
            self, X, y, reset=reset,
            dtype=[np.float64, np.float32], order="F", ensure_all_finite="allow-nan",
        )  # fmt: skip

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _columns(X):
    XT = np.ascontiguousarray(X.T).view()
    XT.flags.writeable = False
    return XT


def _value_probabilities(value_codes, codes, weights, n_classes):
    """Return Laplace's estimates, shape (n_values, n_classes); one row if no value is known."""
    n_values = max(1, value_codes.max() + 1)
    counts = np.ones((n_values, n_classes))
    is_known = value_codes != UNSEEN
    np.add.at(counts, (value_codes[is_known], codes[is_known]), weights[is_known])
    return counts / counts.sum(axis=0)
