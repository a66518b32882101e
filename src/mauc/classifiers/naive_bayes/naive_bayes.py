"""Naive Bayes with normal densities, as WEKA 3.6.14 computes them."""

import numpy as np

from mauc.classifiers.base import BaseClassifier
from mauc.classifiers.naive_bayes.densities import fit_densities
from mauc.classifiers.naive_bayes.likelihood import add_log_likelihoods, multiply_likelihoods
from mauc.classifiers.naive_bayes.log_odds import log_odds, log_probabilities
from mauc.classifiers.naive_bayes.nested import NestedBayes


class NormalNaiveBayes(BaseClassifier):
    r"""Naive Bayes classifier with normal densities.

    Its probabilities are those of WEKA's NaiveBayes. With many features they saturate: for most
    samples one class has probability exactly 1 and the others 0, and the ties lower the AUC.
    `predict_log_proba` and `decision_function` are computed separately, in logarithms, and do not
    saturate; use them for scoring with ``mauc.MAUCScorer("decision_function")``.

    Parameters
    ----------
    categorical_features : array-like of bool, int or str of shape (n_features,) or \
            (n_categorical_features,), default=None
        Nominal features, as mask, indices or names; columns of a categorical dtype or of strings in
        a data frame are nominal anyway. Their values are counted instead of measured.

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
    the mean both values of Phi round to 1 and the floor applies, far below they do not: the
    probabilities are asymmetric there, the logarithms are not (they evaluate the cell in the lower
    tail and have no floor), so the two may rank such samples differently.

    WEKA sums the values and their squares as they are, and its deviation loses digits where a
    mean is many times its deviation; here they are relative to the first value, and the two
    probabilities agree to 1e-9 except on such features (an offset of 1e6 deviations: 1e-3).

    The likelihood of a nominal value is (N_kv + 1) / (N_k + values). Missing values (NaN) are
    left out, in fit and in prediction, and so are nominal values that are not in the training
    data; categories that are declared but do not occur are ignored. A sample weight means
    repetition.

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

    _order = "F"

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
            Weights; a sample of weight 0 is left out.

        Returns
        -------
        self : NormalNaiveBayes
        """
        self._densities = self.prepare(self._check_samples(X, y, sample_weight))
        scales, precisions, means, deviations = self._densities.normals
        self.class_prior_ = self._densities.prior
        self.precision_ = precisions / scales
        self.mean_ = means / scales[:, np.newaxis]
        self.deviation_ = deviations / scales[:, np.newaxis]
        self.categories_ = self._coder.name_values(self._densities.categories)
        self.category_probability_ = self._densities.probabilities
        for learned in (self.precision_, self.mean_, self.deviation_):
            learned[list(self.categories_)] = np.nan
        return self

    def prepare(self, samples):
        """Return the `Densities` of training `Samples`: all that is learned, feature by feature."""
        return fit_densities(samples)

    def nest(self, samples, X_test, response_method, n_jobs=None):
        """Return the `NestedBayes` of training `Samples` and a test part."""
        return NestedBayes(self.prepare(samples), X_test, response_method, n_jobs)

    def predict_proba(self, X):
        """Return the class probabilities, as WEKA does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        X = self._check_X(X)
        joint = self._densities.accumulate(X, multiply_likelihoods, is_log=False)
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

        They rank samples as the logarithms of the probabilities do, but also where those of a
        certain class have rounded to 0.

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

    def _log_odds(self, X):
        X = self._check_X(X)
        return log_odds(self._densities.accumulate(X, add_log_likelihoods, is_log=True))
