"""Nominal columns as indicators: a table with codes in, one column of 0 and 1 per category out."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.svm import SVC

from mauc.checks import check_choice, check_real, is_real
from mauc.classifiers.base import UNSEEN, BaseClassifier, encode_column, find_categories
from mauc.classifiers.distances import (
    PLAIN,
    ScaledSamples,
    find_ranges,
    find_spreads,
    grow_distances,
)


@dataclass(frozen=True)
class Indicators:
    """Which columns the features of a table become; numeric features stay as they are.

    Parameters
    ----------
    n_features : int
    categories : dict of int to ndarray
        Values of the nominal features in the training data.
    """

    n_features: int
    categories: dict

    @classmethod
    def of(cls, samples):
        """Return the indicators of training `Samples`."""
        return cls(samples.X.shape[1], find_categories(samples.X, samples.nominal))

    @property
    def starts(self):
        """The first column of every feature, and the number of columns."""
        widths = np.ones(self.n_features, np.int64)
        for j, values in self.categories.items():
            widths[j] = len(values)
        return np.concatenate([[0], np.cumsum(widths)])

    def columns(self, features):
        """Return the columns of features, in the order of the features."""
        if not self.categories:
            return np.asarray(features, dtype=np.int64)
        starts = self.starts
        parts = [np.arange(starts[j], starts[j + 1]) for j in features]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def expand(self, X):
        """Return X with indicators; all of them are NaN where a value is missing or unseen."""
        if not self.categories:
            return X
        starts = self.starts
        out = np.empty((len(X), starts[-1]), X.dtype)
        for j in range(self.n_features):
            if j not in self.categories:
                out[:, starts[j]] = X[:, j]
                continue
            values = self.categories[j]
            codes = encode_column(X[:, j], values)
            part = out[:, starts[j] : starts[j + 1]]
            part[:] = codes[:, np.newaxis] == np.arange(len(values))
            part[codes == UNSEEN] = np.nan
        return out


_BLOCK_ROWS = 128


class SquaredDistances:
    """Squared distances between two sets of samples, or within one, on a growing set of columns.

    Columns are added in the order given, so the values are the same to the bit however the columns
    are divided into steps. Within one set only one half is computed.

    Parameters
    ----------
    QT : ndarray of shape (n_features, n_queries), float64
        Scaled columns, one per row.
    ZT : ndarray of shape (n_features, n_samples), float64, optional
        The other set; None: the same one.
    """

    def __init__(self, QT, ZT=None):
        self.is_symmetric = ZT is None
        self._QT = QT
        self._ZT = QT if ZT is None else ZT
        self._kinds = np.full(len(QT), PLAIN, np.int8)
        self._values = np.zeros((QT.shape[1], self._ZT.shape[1]))

    def add(self, columns):
        """Add the squared differences of some columns."""
        columns = np.asarray(columns, dtype=np.int64)
        for rows in self._blocks():
            first_sample = rows.start if self.is_symmetric else 0
            grow_distances(
                self._QT, self._ZT, self._kinds, columns, 0, len(columns),
                rows.start, first_sample, self._values[rows],
            )  # fmt: skip

    def kernel(self, gamma):
        """Return exp(-gamma d^2), shape (n_queries, n_samples)."""
        out = np.empty_like(self._values)
        for rows in self._blocks():
            part = slice(rows.start if self.is_symmetric else 0, None)
            np.multiply(self._values[rows, part], -gamma, out=out[rows, part])
            np.exp(out[rows, part], out=out[rows, part])
            if self.is_symmetric:
                out[rows.stop :, rows] = out[rows, rows.stop :].T
        return out

    def _blocks(self):
        n_queries = len(self._values)
        for start in range(0, n_queries, _BLOCK_ROWS):
            yield slice(start, min(start + _BLOCK_ROWS, n_queries))


class NestedSVM:
    """Scores of RBFSVM on the first features of rankings.

    The columns are scaled once; the distances grow by the columns that a size adds, in the order
    of the ranking, so kernel matrices and machines are those of a fit on the subset, to the bit.

    Parameters
    ----------
    model : RBFSVM
        Its options are used, it is not fitted.
    train : SVMSamples
    X_test : ndarray of shape (n_test, n_features)
    response_method : {"predict_proba", "decision_function"}
    """

    def __init__(self, model, train, X_test, response_method):
        self._model, self._train, self._response = model, train.scaled, response_method
        self._indicators, self._QT = train.indicators, train.scale(X_test)

    def scores(self, ranking, sizes):
        """Yield the scores of the first k features for each k of the ascending sizes."""
        ZT, codes = self._train.ZT, self._train.codes
        within, between = SquaredDistances(ZT), SquaredDistances(self._QT, ZT)
        start = 0
        for size in sizes:
            for distances in (within, between):
                distances.add(self._indicators.columns(ranking[start:size]))
            gamma = self._model.gamma_for(ZT[self._indicators.columns(ranking[:size])], size)
            svc = self._model.make_svc("precomputed", gamma).fit(within.kernel(gamma), codes)
            kernel = between.kernel(gamma)
            if self._response == "decision_function":
                yield svc.decision_function(kernel)
            else:
                yield np.eye(self._train.n_classes)[svc.predict(kernel)]
            start = size


MAX_PRECOMPUTED = 12_000  # samples; their kernel matrix takes 1.15 GB
_BLOCK_SAMPLES = 1024  # predicted at a time


@dataclass(frozen=True)
class SVMSamples:
    """Training data as the machine takes them.

    Parameters
    ----------
    indicators : Indicators
        Which columns the features become.
    scaled : ScaledSamples
        Those columns in the unit cube, or standardised.
    """

    indicators: Indicators
    scaled: ScaledSamples

    def scale(self, X):
        """Return the scaled columns of other samples, shape (n_columns, n_samples)."""
        return self.scaled.ranges.scale(self.indicators.expand(X))


class RBFSVM(BaseClassifier):
    r"""Support vector machine with RBF kernel, as the paper used it.

    scikit-learn's SVC (libsvm, one machine per pair of classes) on features that are scaled to
    [0, 1] by their ranges in the training data, as WEKA's LibSVM with the option -Z, or
    standardised.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error.
    gamma : float, "auto" or "scale", default="auto"
        Kernel width; "auto" is 1 / n_features, "scale" is 1 / (n_columns times the variance of
        all scaled values), where columns are the features, or the indicators of nominal ones.
    scaling : {"range", "standard"}, default="range"
        To [0, 1] by the range, or to mean 0 and variance 1.
    tol : float, default=1e-3
        Tolerance of the solver.
    precompute : bool or "auto", default="auto"
        Whether to compute the kernel matrix of the training data once, which is faster but
        takes 8 n^2 bytes. "auto": up to 12000 samples. The two ways round differently, so their
        decision values agree only within the tolerance of the solver.
    categorical_features : array-like of bool, int or str of shape (n_features,) or \
            (n_categorical_features,), default=None
        Nominal features, as mask, indices or names; columns of a categorical dtype or of strings in
        a data frame are nominal anyway. Each category of the training data becomes an indicator, a
        column of 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    ranges_ : Ranges
        What is scaled to 0 and to 1: smallest and largest value of each column, or mean and
        mean plus standard deviation.
    mean_ : ndarray of shape (n_columns,)
        It replaces missing values. Columns are the features, or the indicators of nominal ones.
    categories_ : dict of int to ndarray
        Values of the nominal features found in `fit`.
    gamma_ : float
        Kernel width.
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
    paper's tables hold. `decision_function` gives finer ones, usually of higher MAUC; use them for
    scoring with ``make_mauc_scorer("decision_function")``. A missing value (NaN) is replaced by the
    mean of the feature in the training data, as WEKA does; a missing category, or one that is not
    in the training data, by the means of the indicators. Categories that are declared but do not
    occur are ignored.

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

    _min_classes = 2

    def __init__(
        self, C=1.0, gamma="auto", *, scaling="range", tol=1e-3, precompute="auto",
        categorical_features=None,
    ):  # fmt: skip
        self.C = C
        self.gamma = gamma
        self.scaling = scaling
        self.tol = tol
        self.precompute = precompute
        self.categorical_features = categorical_features

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
        prepared = self.prepare(self._check_samples(X, y))
        train = prepared.scaled
        # Of the training data only their ranges are needed later.
        self._prepared = replace(prepared, scaled=replace(train, ZT=train.ZT[:, :0]))
        self.ranges_, self.mean_ = train.ranges, train.ranges.fill
        self.categories_ = self._coder.name_values(prepared.indicators.categories)
        self.gamma_ = self.gamma_for(train.ZT, self.n_features_in_)
        labels, self._support_ZT = self.classes_[train.codes], None
        if self._is_precomputed(len(labels)):
            distances = SquaredDistances(train.ZT)
            distances.add(np.arange(len(train.ZT)))
            self.svc_ = self.make_svc("precomputed", self.gamma_)
            self.svc_.fit(distances.kernel(self.gamma_), labels)
            self._support_ZT = np.ascontiguousarray(train.ZT[:, self.svc_.support_])
        else:
            self.svc_ = self.make_svc("rbf", self.gamma_).fit(train.ZT.T, labels)
        return self

    def check_options(self):
        """Raise a `MaucError` if a parameter is wrong."""
        if not (is_real(self.C) and np.isposinf(self.C)):  # infinite: a hard margin
            check_real("C", self.C, 0, is_low_open=True)
        if not (isinstance(self.gamma, str) and self.gamma in ("auto", "scale")):
            check_real("gamma", self.gamma, 0, is_low_open=True, others=', "auto" or "scale"')
        check_choice("scaling", self.scaling, ("range", "standard"))
        check_real("tol", self.tol, 0, is_low_open=True)
        check_choice("precompute", self.precompute, ("auto", True, False))

    def prepare(self, samples):
        """Return the `SVMSamples` of training `Samples`, missing values replaced."""
        indicators = Indicators.of(samples)
        X = indicators.expand(samples.X)
        mean = _known_means(X)
        ranges = find_ranges(X, fill=mean) if self.scaling == "range" else find_spreads(X, mean)
        return SVMSamples(indicators, ScaledSamples.of(replace(samples, X=X), ranges))

    def nest(self, samples, X_test, response_method, n_jobs=None):
        """Return the `NestedSVM` of a fold; None if the kernel matrix is not to be computed."""
        if not self._is_precomputed(len(samples.codes)):
            return None
        return NestedSVM(self, self.prepare(samples), X_test, response_method)

    def predict_proba(self, X):
        """Return hard scores: 1 for the predicted class, 0 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
        """
        labels = self._respond(X, "predict")
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

    def make_svc(self, kernel, gamma):
        """Return the unfitted SVC with kernel "precomputed" or "rbf"."""
        return SVC(C=self.C, kernel=kernel, gamma=gamma, tol=self.tol)

    def gamma_for(self, ZT, n_features):
        """Return gamma as a number, for scaled columns as rows, and the features they are of."""
        if self.gamma == "auto":
            return 1.0 / n_features
        if self.gamma == "scale":
            spread = ZT.var()
            return 1.0 / (len(ZT) * spread) if spread > 0 else 1.0
        return float(self.gamma)

    def _is_precomputed(self, n_samples):
        if self.precompute == "auto":
            return n_samples <= MAX_PRECOMPUTED
        return bool(self.precompute)

    def _respond(self, X, method):
        X = self._check_X(X)
        ZT, respond = self._prepared.scale(X), getattr(self.svc_, method)
        if self._support_ZT is None:
            return respond(ZT.T)
        parts = []
        for start in range(0, ZT.shape[1], _BLOCK_SAMPLES):
            part = np.ascontiguousarray(ZT[:, start : start + _BLOCK_SAMPLES])
            distances = SquaredDistances(part, self._support_ZT)
            distances.add(np.arange(len(part)))
            # SVC takes a column per training sample, of which it reads those of the support vectors
            kernel = np.zeros((part.shape[1], self.svc_.shape_fit_[0]))
            kernel[:, self.svc_.support_] = distances.kernel(self.gamma_)
            parts.append(respond(kernel))
        return np.concatenate(parts)


def _known_means(X):
    known = ~np.isnan(X)
    counts = known.sum(axis=0)
    return np.where(known, X, 0.0).sum(axis=0, dtype=np.float64) / np.maximum(counts, 1)
