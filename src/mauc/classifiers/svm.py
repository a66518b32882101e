"""The support vector machine with RBF kernel: estimator, and kernels on nested feature sets."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.svm import SVC
from sklearn.utils import gen_batches

from mauc.checks import check_choice, check_real, is_real
from mauc.classifiers.base import BaseClassifier, Indicators, NestedScores, Samples
from mauc.classifiers.distances import (
    PLAIN,
    Ranges,
    ScaledSamples,
    find_ranges,
    find_spreads,
    grow_distances,
)
from mauc.data.arguments import CategoricalFeatures, TableLike

_MAX_EXACT = 500  # samples of which machines are solved to the last digits
MAX_PRECOMPUTED = 12_000  # samples; their kernel matrix takes 1.15 GB
_BLOCK_SAMPLES = 1024  # predicted at a time
_BLOCK_ROWS = 128  # of a kernel matrix


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
    tol : float, optional
        Tolerance of the solver; by default 1e-3, but 1e-7 for up to 500 samples, where that takes
        no time and a weight of 2 is the sample given twice.
    precompute : bool or "auto", default="auto"
        Whether to compute the kernel matrix of the training data once, which is faster but
        takes 8 n^2 bytes. "auto": up to 12000 samples. The two ways round differently, so their
        decision values agree only within the tolerance of the solver.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category of the training data becomes an indicator, a column of 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
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
    occur are ignored. The cost of the margin error of a sample is C times its weight.

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
        self,
        C: float = 1.0,
        gamma: float | Literal["auto", "scale"] = "auto",
        *,
        scaling: Literal["range", "standard"] = "range",
        tol: float | None = None,
        precompute: bool | Literal["auto"] = "auto",
        categorical_features: CategoricalFeatures = None,
    ):
        self.C = C
        self.gamma = gamma
        self.scaling = scaling
        self.tol = tol
        self.precompute = precompute
        self.categorical_features = categorical_features

    def check_options(self) -> None:
        """Raise a `MaucError` if a parameter is wrong."""
        if not (is_real(self.C) and np.isposinf(self.C)):  # infinite: a hard margin
            check_real("C", self.C, 0, is_low_open=True)
        if not (isinstance(self.gamma, str) and self.gamma in ("auto", "scale")):
            check_real("gamma", self.gamma, 0, is_low_open=True, others=', "auto" or "scale"')
        check_choice("scaling", self.scaling, ("range", "standard"))
        if self.tol is not None:
            check_real("tol", self.tol, 0, is_low_open=True, others=" or None")
        check_choice("precompute", self.precompute, ("auto", True, False))

    def prepare(self, samples: Samples) -> ScaledSamples:
        """Return the `ScaledSamples` of training `Samples`, missing values replaced."""
        indicators = Indicators.of(samples)
        X = indicators.expand(samples.X)
        weights = samples.weights[:, np.newaxis]
        mean = _known_means(X, weights)
        is_range = self.scaling == "range"
        ranges = find_ranges(X, fill=mean) if is_range else find_spreads(X, mean, weights)
        return ScaledSamples.of(replace(samples, X=X), ranges, indicators)

    def nest(
        self, samples: Samples, X_test: np.ndarray, response_method: str, n_jobs: int | None = None
    ) -> NestedScores | None:
        """Return the scores on nested features; None if the kernel matrix is not to be computed.

        Distances grow in the order of the ranking: machines are those of a fit on the subset, to
        the bit.
        """
        if not self._is_precomputed(len(samples.codes)):
            return None
        train = self.prepare(samples)
        ZT, QT, columns_of = train.ZT, train.scale(X_test), train.indicators.columns

        def scores(ranking: np.ndarray, sizes: Sequence[int] | np.ndarray) -> Iterator[np.ndarray]:
            """Yield the scores by the first features of a ranking, for each size."""
            within, between = SquaredDistances(ZT), SquaredDistances(QT, ZT)
            start = 0
            for size in sizes:
                new = columns_of(ranking[start:size])
                gamma = self.gamma_for(ZT[columns_of(ranking[:size])], size, train.weights)
                svc = self.make_svc("precomputed", gamma, len(train.codes))
                svc.fit(within.add(new).kernel(gamma), train.codes, unequal(train.weights))
                kernel = between.add(new).kernel(gamma)
                if response_method == "decision_function":
                    yield svc.decision_function(kernel)
                else:
                    yield np.eye(train.n_classes)[svc.predict(kernel)]
                start = size

        return scores

    def decision_function(self, X: TableLike) -> np.ndarray:
        """Return won pairs, refined by margins, per class, or one column for two classes."""
        return self._respond(self._check_X(X), "decision_function")

    def make_svc(self, kernel: Literal["precomputed", "rbf"], gamma: float, n_samples: int) -> SVC:
        """Return the unfitted SVC with kernel "precomputed" or "rbf"."""
        tol = self.tol or (1e-7 if n_samples <= _MAX_EXACT else 1e-3)
        return SVC(C=self.C, kernel=kernel, gamma=gamma, tol=tol)

    def gamma_for(self, ZT: np.ndarray, n_features: int, weights: np.ndarray) -> float:
        """Return gamma as a number, for scaled columns as rows, and the features they are of."""
        if self.gamma == "auto":
            return 1.0 / n_features
        if self.gamma == "scale":
            spread = ZT.var()
            if unequal(weights) is not None:
                shares = weights / (len(ZT) * weights.sum())
                spread = (shares * (ZT - (shares * ZT).sum()) ** 2).sum()
            return 1.0 / (len(ZT) * spread) if spread > 0 else 1.0
        return float(self.gamma)

    def _is_precomputed(self, n_samples: int) -> bool:
        if self.precompute == "auto":
            return n_samples <= MAX_PRECOMPUTED
        return bool(self.precompute)

    def _learn(self, samples: Samples) -> None:
        train = self.prepare(samples)
        # Of the training data only their ranges are needed later.
        self._train = replace(train, ZT=train.ZT[:, :0])
        self.ranges_: Ranges = train.ranges
        self.mean_: np.ndarray | None = train.ranges.fill
        self.categories_: dict[int, np.ndarray] = self._coder.name_values(
            train.indicators.categories
        )
        self.gamma_: float = self.gamma_for(train.ZT, self.n_features_in_, train.weights)
        labels, self._support_ZT = self.classes_[train.codes], None
        weights = unequal(train.weights)
        if self._is_precomputed(len(labels)):
            kernel = SquaredDistances(train.ZT).add(range(len(train.ZT))).kernel(self.gamma_)
            svc = self.make_svc("precomputed", self.gamma_, len(labels))
            self.svc_: Any = svc.fit(kernel, labels, weights)
            self._support_ZT = np.ascontiguousarray(train.ZT[:, self.svc_.support_])
        else:
            svc = self.make_svc("rbf", self.gamma_, len(labels))
            self.svc_ = svc.fit(train.ZT.T, labels, weights)

    def _score(self, X: np.ndarray) -> np.ndarray:
        labels = self._respond(X, "predict")
        return np.eye(len(self.classes_))[np.searchsorted(self.classes_, labels)]

    def _respond(self, X: np.ndarray, method: str) -> np.ndarray:
        """Return the responses of the machine, by kernels to the support vectors if it has them."""
        ZT, respond = self._train.scale(X), getattr(self.svc_, method)
        if self._support_ZT is None:
            return respond(ZT.T)
        parts = []
        for rows in gen_batches(ZT.shape[1], _BLOCK_SAMPLES):
            part = np.ascontiguousarray(ZT[:, rows])
            distances = SquaredDistances(part, self._support_ZT).add(range(len(part)))
            # SVC takes a column per training sample, of which it reads those of the support vectors
            kernel = np.zeros((part.shape[1], self.svc_.shape_fit_[0]))
            kernel[:, self.svc_.support_] = distances.kernel(self.gamma_)
            parts.append(respond(kernel))
        return np.concatenate(parts)


class SquaredDistances:
    """Squared distances between two sets of samples, or within one, on a growing set of columns."""

    def __init__(self, QT: np.ndarray, ZT: np.ndarray | None = None) -> None:
        self.is_symmetric: bool = ZT is None
        self._QT = QT
        self._ZT = QT if ZT is None else ZT
        self._kinds = np.full(len(QT), PLAIN, np.int8)
        self._values = np.zeros((QT.shape[1], self._ZT.shape[1]))

    def add(self, columns: Sequence[int] | range | np.ndarray) -> "SquaredDistances":
        """Add the squared differences of some columns."""
        columns = np.asarray(columns, dtype=np.int64)
        for rows in gen_batches(len(self._values), _BLOCK_ROWS):
            first_sample = rows.start if self.is_symmetric else 0
            grow_distances(
                self._QT,
                self._ZT,
                self._kinds,
                columns,
                0,
                len(columns),
                rows.start,
                first_sample,
                self._values[rows],
            )
        return self

    def kernel(self, gamma: float) -> np.ndarray:
        """Return exp(-gamma d^2), shape (n_queries, n_samples)."""
        out = np.empty_like(self._values)
        for rows in gen_batches(len(self._values), _BLOCK_ROWS):
            part = slice(rows.start if self.is_symmetric else 0, None)
            np.multiply(self._values[rows, part], -gamma, out=out[rows, part])
            np.exp(out[rows, part], out=out[rows, part])
            if self.is_symmetric:
                out[rows.stop :, rows] = out[rows, rows.stop :].T
        return out


def unequal(weights: np.ndarray) -> np.ndarray | None:
    """Return weights, None if all are 1."""
    return None if (weights == 1.0).all() else weights


def _known_means(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the means of the known values of the columns, 0 without any."""
    known = ~np.isnan(X)
    totals = (known * weights).sum(axis=0)
    return (np.where(known, X, 0.0) * weights).sum(axis=0) / np.where(totals > 0, totals, 1.0)
