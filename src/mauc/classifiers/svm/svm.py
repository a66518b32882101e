"""Support vector machine with RBF kernel: libsvm on min-max scaled features."""

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mauc.classifiers.scaling import find_ranges, find_spreads
from mauc.classifiers.svm.rbf_kernel import SquaredDistances
from mauc.exceptions import MaucError

# A kernel matrix of so many samples takes 1.15 GB.
MOST_PRECOMPUTED = 12_000
_PREDICTED_AT_ONCE = 1024


class RBFSVM(ClassifierMixin, BaseEstimator):
    r"""Support vector machine with RBF kernel, as the paper used it.

    scikit-learn's SVC (libsvm, one machine per pair of classes) on features that are scaled to
    [0, 1] by their ranges in the training data, as WEKA's LibSVM with the option -Z, or
    standardised.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error.
    gamma : float, "auto" or "scale", default="auto"
        Of the kernel; "auto" is 1 / n_features, "scale" is 1 / (n_features times the variance of
        all scaled values).
    scaling : {"range", "standard"}, default="range"
        To [0, 1] by the range, or to mean 0 and variance 1.
    tol : float, default=1e-3
        Tolerance of the solver.
    precompute : bool or "auto", default="auto"
        Whether to compute the kernel matrix of the training data once, which is faster but
        takes 8 n^2 bytes. "auto": up to 12000 samples. The two ways round differently, so their
        decision values agree within the tolerance of the solver only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    ranges_ : Ranges
        What is scaled to 0 and to 1: least and largest value of each feature, or mean and mean
        plus standard deviation.
    mean_ : ndarray of shape (n_features,)
        What takes the place of missing values.
    gamma_ : float
        Of the kernel.
    svc_ : SVC
        The fitted machine.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    See Also
    --------
    tune_rbf_svm : Choose C and gamma.

    Notes
    -----
    `predict_proba` gives hard scores, 1 for the predicted class and 0 for the others: what the
    paper's tables hold. `decision_function` gives finer ones, usually of higher MAUC; score by
    them with ``MAUCScorer("decision_function")``. A missing value (NaN) is replaced by the mean
    of the feature in the training data, as WEKA does.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin, "LIBSVM: A Library for Support Vector Machines", ACM TIST 2,
       2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.classifiers import RBFSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBFSVM(C=8, gamma=0.125).fit(X, y)
    >>> model.predict_proba(X[70:71])
    array([[0., 0., 1.]])
    >>> model.decision_function(X[70:71]).round(2)
    array([[-0.24,  1.21,  2.16]])
    """

    def __init__(self, C=1.0, gamma="auto", *, scaling="range", tol=1e-3, precompute="auto"):
        self.C = C
        self.gamma = gamma
        self.scaling = scaling
        self.tol = tol
        self.precompute = precompute

    def fit(self, X, y):
        """Scale the data and train the machines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.

        Returns
        -------
        self : RBFSVM
        """
        X, y = self._validate(X, y, reset=True)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise MaucError(f"y must hold at least 2 classes, got one class: {self.classes_[0]!r}.")
        ZT = self.set_scale(X).scale(X)
        self.gamma_ = self.check_gamma(ZT)
        self.svc_ = self.make_svc(X.shape[0], self.gamma_)
        self._support_ZT = None
        if self.svc_.kernel == "precomputed":
            distances = SquaredDistances(ZT)
            distances.add(np.arange(len(ZT)))
            self.svc_.fit(distances.kernel(self.gamma_), y)
            self._support_ZT = np.ascontiguousarray(ZT[:, self.svc_.support_])
        else:
            self.svc_.fit(ZT.T, y)
        return self

    def predict(self, X):
        """Return the class that wins most pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._respond(X, "predict")

    def predict_proba(self, X):
        """Return hard scores: 1 for the predicted class, 0 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
        """
        labels = self.predict(X)
        return np.eye(len(self.classes_))[np.searchsorted(self.classes_, labels)]

    def decision_function(self, X):
        """Return decision values: won pairs, refined by their margins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        return self._respond(X, "decision_function")

    def set_scale(self, X):
        """Take the ranges and means of the training data."""
        if self.scaling not in ("range", "standard"):
            raise MaucError(f'scaling must be "range" or "standard", got {self.scaling!r}.')
        self.mean_ = _known_means(X)
        self.ranges_ = find_ranges(X) if self.scaling == "range" else find_spreads(X, self.mean_)
        return self

    def scale(self, X):
        """Return X scaled by the training ranges, missing values replaced, columns as rows."""
        ZT = self.ranges_.scale(X)
        is_missing = np.isnan(ZT)
        if is_missing.any():
            means = self.ranges_.scale(self.mean_[np.newaxis, :])
            ZT = np.where(is_missing, means, ZT)
        return ZT

    def is_precomputed(self, n_samples):
        """Tell whether the kernel matrix of so many samples is to be computed once."""
        if self.precompute not in ("auto", True, False):
            raise MaucError(f'precompute must be True, False or "auto", got {self.precompute!r}.')
        if self.precompute == "auto":
            return n_samples <= MOST_PRECOMPUTED
        return bool(self.precompute)

    def make_svc(self, n_samples, gamma):
        """Return the unfitted SVC, its kernel "precomputed" or "rbf"."""
        if self.is_precomputed(n_samples):
            return SVC(C=self.C, kernel="precomputed", tol=self.tol)
        return SVC(C=self.C, kernel="rbf", gamma=gamma, tol=self.tol)

    def check_gamma(self, ZT):
        """Return gamma as a number, for scaled columns as rows."""
        if isinstance(self.gamma, str) and self.gamma == "auto":
            return 1.0 / len(ZT)
        if isinstance(self.gamma, str) and self.gamma == "scale":
            spread = ZT.var()
            return 1.0 / (len(ZT) * spread) if spread > 0 else 1.0
        if not isinstance(self.gamma, Real) or not self.gamma > 0:
            raise MaucError(
                f'gamma must be a positive number, "auto" or "scale", got {self.gamma!r}.'
            )
        return float(self.gamma)

    def _respond(self, X, method):
        check_is_fitted(self)
        ZT = self.scale(self._validate(X, reset=False))
        respond = getattr(self.svc_, method)
        if self._support_ZT is None:
            return respond(ZT.T)
        parts = []
        for start in range(0, ZT.shape[1], _PREDICTED_AT_ONCE):
            part = np.ascontiguousarray(ZT[:, start : start + _PREDICTED_AT_ONCE])
            distances = SquaredDistances(part, self._support_ZT)
            distances.add(np.arange(len(part)))
            # SVC wants a column for each training sample and reads those of the support vectors
            kernel = np.zeros((part.shape[1], self.svc_.shape_fit_[0]))
            kernel[:, self.svc_.support_] = distances.kernel(self.gamma_)
            parts.append(respond(kernel))
        return np.concatenate(parts)

    def _validate(self, X, y="no_validation", *, reset):
        return validate_data(
            self, X, y, reset=reset,
            dtype=[np.float64, np.float32], ensure_all_finite="allow-nan",
        )  # fmt: skip

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _known_means(X):
    known = ~np.isnan(X)
    counts = known.sum(axis=0)
    return np.where(known, X, 0.0).sum(axis=0, dtype=np.float64) / np.maximum(counts, 1)
