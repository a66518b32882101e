"""Normal Naive Bayes, column by column: columns in, class moments, likelihoods, products out."""

import math
from dataclasses import dataclass

import numpy as np
from numba import uintp

from mauc.classifiers.base import UNSEEN, BaseClassifier, encode_column, find_categories
from mauc.compile import njit
from mauc.engine.arrays import read_only
from mauc.engine.special import log_normal_cell, normal_cdf
from mauc.parallel import run_blocks

DEFAULT_PRECISION = 0.01  # of a column with fewer than two distinct values
MIN_LIKELIHOOD = 1e-75  # of one column; a smaller largest product is scaled up by its inverse
_MIN_DEVIATION = 1e-10  # WEKA ignores smaller deviations
_MIN_DIVISOR = 2.2250738585072014e-308  # the smallest normal float64
MAX_VALUE = 1e100  # beyond, squares would overflow
SMALL_SCALE = 2.0**-700  # of columns with such values
_BLOCK_VALUES = 2**17  # values sorted at a time: they fit the second-level cache

# normal_cdf is below MIN_LIKELIHOOD left of the first and exactly 1 right of the second
FLOOR_Z = -18.5
ONE_Z = 8.5


def fit_normals(XT, codes, weights, n_classes):
    """Fit a normal density to every column and class.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Columns; NaN is missing.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        Positive.
    n_classes : int

    Returns
    -------
    scales : ndarray of shape (n_features,)
        Power of two that a column is multiplied by; 1 unless its squares would overflow. The
        other results are in this scale.
    precisions : ndarray of shape (n_features,)
        Mean gap between neighbouring distinct values.
    means, deviations : ndarray of shape (n_features, n_classes)
    """
    n_features, n_samples = XT.shape
    scales = np.ones(n_features)
    precisions = np.empty(n_features)
    means = np.empty((n_features, n_classes))
    deviations = np.empty((n_features, n_classes))
    # A block of columns at a time: a sorted copy of all of them would double the memory.
    width = max(1, _BLOCK_VALUES // n_samples)
    for start in range(0, n_features, width):
        here = slice(start, start + width)
        ordered = np.sort(XT[here], axis=1).astype(np.float64, copy=False)
        _fit_block(
            XT[here], ordered, codes, weights,
            scales[here], precisions[here], means[here], deviations[here],
        )  # fmt: skip
    return scales, precisions, means, deviations


@njit(cache=True, nogil=True)
def _fit_block(XT, ordered, codes, weights, scales, precisions, means, deviations):
    """Fill the results of some columns; `ordered` holds them sorted, NaN last, and may change."""
    sums = np.empty((means.shape[1], 4))
    for j in range(len(XT)):
        column = ordered[j]
        last = len(column) - 1
        while last > 0 and math.isnan(column[last]):
            last -= 1
        if max(-column[0], column[last]) > MAX_VALUE:
            scales[j] = SMALL_SCALE
            column *= scales[j]
        precisions[j] = mean_gap(column)
        fit_column(XT[j], codes, weights, scales[j], precisions[j], sums, means[j], deviations[j])


@njit(cache=True, nogil=True)
def mean_gap(ordered):
    """Return the mean gap between distinct neighbours of a sorted column, NaN last."""
    total, n_gaps, last = 0.0, 0, ordered[0]
    for value in ordered:
        if math.isnan(value):
            break
        if value != last:
            total += value - last  # one by one: max - min would round differently
            n_gaps += 1
            last = value
    return total / n_gaps if n_gaps > 0 else DEFAULT_PRECISION


@njit(cache=True, nogil=True)
def fit_column(column, codes, weights, scale, precision, sums, means, deviations):
    """Fill the means and deviations of the classes, shape (n_classes,), of one column.

    A row of `sums` belongs to a class: its weight, the sums of its values and of their squares,
    both relative to its first value (so that a large offset costs no digits), and that value.
    """
    for k in range(len(means)):
        means[k] = 0.0
        deviations[k] = max(precision / 6.0, _MIN_DIVISOR)
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        _add(column[i] * scale, codes[i], weights[i], precision, sums)
    is_vague = False
    for k in range(len(means)):
        is_vague |= not _set_moments(k, sums, precision, means, deviations)
    if not is_vague:
        return
    # WEKA updates the deviation after each row, unless the new one vanishes: the result is the last
    # one that did not vanish.
    for k in range(len(means)):
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        if not math.isnan(column[i]):
            _add(column[i] * scale, codes[i], weights[i], precision, sums)
            _set_moments(codes[i], sums, precision, means, deviations)


@njit(cache=True, nogil=True)
def _add(value, k, weight, precision, sums):
    if not math.isnan(value):
        value = np.rint(value / precision) * precision
        if sums[k, 0] == 0.0:
            sums[k, 3] = value
        value -= sums[k, 3]
        sums[k, 0] += weight
        sums[k, 1] += value * weight
        sums[k, 2] += value * value * weight


@njit(cache=True, nogil=True)
def _set_moments(k, sums, precision, means, deviations):
    if sums[k, 0] == 0.0:
        return True
    offset = sums[k, 1] / sums[k, 0]
    means[k] = sums[k, 3] + offset
    deviation = math.sqrt(abs(sums[k, 2] - offset * sums[k, 1]) / sums[k, 0])
    if deviation > _MIN_DEVIATION:
        deviations[k] = max(precision / 6.0, deviation)
        return True
    return sums[k, 2] == 0.0  # all values equal: it vanished after every row


@njit(cache=True, nogil=True)
def normal_likelihoods(XT, scales, precisions, means, deviations, is_log, out):
    """Compute the probability of every value's cell, in every class.

    A value x stands for the cell of width `precision` around x rounded to a multiple of it.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
    scales, precisions : ndarray of shape (n_features,)
    means, deviations : ndarray of shape (n_features, n_classes)
    is_log : bool
        Whether to compute logarithms. They are evaluated in the lower tail on either side of the
        mean and have no floor; the probabilities are floored differences, as WEKA's.
    out : ndarray of shape (n_features, n_samples, n_classes)
        Filled; 1 (or log 1) where the value is missing.
    """
    n_features, n = XT.shape
    n_classes = means.shape[1]
    for j in range(n_features):
        precision, scale = precisions[j], scales[j]
        half = precision / 2.0
        last = math.nan
        for i in range(uintp(n)):
            value = XT[j, i] * scale
            if math.isnan(value):
                for k in range(uintp(n_classes)):
                    out[j, i, k] = 0.0 if is_log else 1.0
                last = value
                continue
            value = np.rint(value / precision) * precision
            if value == last:  # as in the row before: common in columns with many zeros
                for k in range(uintp(n_classes)):
                    out[j, i, k] = out[j, i - uintp(1), k]
                continue
            last = value
            for k in range(uintp(n_classes)):
                distance, deviation = value - means[j, k], deviations[j, k]
                if is_log:
                    out[j, i, k] = log_normal_cell(distance / deviation, precision / deviation)
                    continue
                lower, upper = (distance - half) / deviation, (distance + half) / deviation
                likelihood = 0.0
                if upper > FLOOR_Z and lower < ONE_Z:
                    likelihood = normal_cdf(upper) - normal_cdf(lower)
                out[j, i, k] = max(MIN_LIKELIHOOD, likelihood)


@njit(cache=True, nogil=True)
def multiply_likelihoods(likelihoods, columns, joint):
    """Multiply the likelihoods of some columns, in this order, into the joint probabilities.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_features, n_samples, n_classes)
    columns : ndarray of shape (n_columns,), int64
    joint : ndarray of shape (n_samples, n_classes)
        Updated. A row whose largest value falls below 1e-75 is multiplied by 1e75, so that the
        largest never vanishes.
    """
    n, n_classes = joint.shape
    for column in columns:
        for i in range(uintp(n)):
            largest = 0.0
            for k in range(uintp(n_classes)):
                joint[i, k] *= likelihoods[column, i, k]
                largest = max(largest, joint[i, k])
            if 0.0 < largest < MIN_LIKELIHOOD:
                for k in range(uintp(n_classes)):
                    joint[i, k] *= 1e75


@njit(cache=True, nogil=True)
def add_log_likelihoods(likelihoods, columns, joint):
    """Add the log-likelihoods of some columns, in this order, to the joint log-probabilities."""
    n, n_classes = joint.shape
    for column in columns:
        for i in range(uintp(n)):
            for k in range(uintp(n_classes)):
                joint[i, k] += likelihoods[column, i, k]


_BLOCK_LIKELIHOODS = 2**17  # likelihoods computed at a time: they stay in the second-level cache


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
        width = max(1, min(_BLOCK_LIKELIHOODS // joint.size, len(XT)))
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


def log_odds(joint):
    """Return log(p_k / (1 - p_k)) of every class, exact at both ends.

    Parameters
    ----------
    joint : ndarray of shape (n_samples, n_classes)
        Joint log-probabilities l, up to a constant per row.

    Returns
    -------
    odds : ndarray of shape (n_samples, n_classes)
        l_k minus the logarithm of the sum of exp(l_j) over the other classes. inf if there is
        one class only.
    """
    n, n_classes = joint.shape
    if n_classes == 1:
        return np.full((n, 1), np.inf)
    rows, winner = np.arange(n), np.argmax(joint, axis=1)
    with np.errstate(under="ignore"):
        largest = joint[rows, winner][:, np.newaxis]
        shares = np.exp(joint - largest)
        # Without a class that is not the largest, the sum still contains the 1 of the largest.
        others = largest + np.log(np.maximum(1.0, shares.sum(axis=1, keepdims=True) - shares))
        # Without the largest, the sum has to be computed again.
        rest = joint.copy()
        rest[rows, winner] = -np.inf
        second = rest.max(axis=1, keepdims=True)
        others[rows, winner] = second[:, 0] + np.log(np.exp(rest - second).sum(axis=1))
    return joint - others


def log_probabilities(odds):
    """Return log p_k from the log-odds; that of a certain class is tiny, not 0."""
    with np.errstate(under="ignore"):
        return -np.logaddexp(0.0, -odds)


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
