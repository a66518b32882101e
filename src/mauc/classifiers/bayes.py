"""Naive Bayes with normal densities: estimator, densities of the features, nested feature sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mauc.classifiers.base import (
    UNSEEN,
    BaseClassifier,
    NestedScores,
    Samples,
    encode_column,
    find_categories,
)
from mauc.classifiers.likelihood import (
    add_log_likelihoods,
    fit_normals,
    multiply_likelihoods,
    normal_likelihoods,
)
from mauc.data.arguments import CategoricalFeatures, TableLike
from mauc.engine.arrays import read_only
from mauc.parallel import run_blocks

_BLOCK_LIKELIHOODS = 2**17  # likelihoods computed at a time: they stay in the second-level cache


class NormalNaiveBayes(BaseClassifier):
    """Naive Bayes classifier with normal densities.

    Its probabilities are those of WEKA's NaiveBayes. With many features they saturate: for most
    samples one class has probability exactly 1 and the others 0, and the ties lower the AUC.
    `predict_log_proba` and `decision_function` are computed separately, in logarithms, and do not
    saturate; use them for scoring with ``make_mauc_scorer("decision_function")``.

    Parameters
    ----------
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Their values are counted instead of measured.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
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
    The formulas, and where they differ from WEKA's, are in docs/methods/classifiers.md. Missing
    values (NaN) are left out, in fit and in prediction, and so are nominal values that are not in
    the training data. A sample weight means repetition.

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

    def __init__(self, categorical_features: CategoricalFeatures = None):
        self.categorical_features = categorical_features

    def prepare(self, samples: Samples) -> "Densities":
        """Return the `Densities` of training `Samples`: all that is learned, feature by feature."""
        return Densities.of(samples)

    def nest(
        self, samples: Samples, X_test: np.ndarray, response_method: str, n_jobs: int | None = None
    ) -> NestedScores:
        """Return the scores on nested features: likelihoods of a feature are computed once.

        They depend on no other feature; multiplied in the order of the ranking they give what a fit
        on the subset gives, to the bit.
        """
        densities, XT = self.prepare(samples), columns_of(X_test)
        is_log = response_method != "predict_proba"
        include = add_log_likelihoods if is_log else multiply_likelihoods
        known: dict[int, np.ndarray] = {}  # of each feature, (1, n_test, n_classes)

        def scores(ranking: np.ndarray, sizes: Sequence[int] | np.ndarray) -> Iterator[np.ndarray]:
            """Yield the scores by the first features of a ranking, for each size."""
            joint, start = densities.start(XT.shape[1], is_log=is_log), 0
            features = ranking[: sizes[-1]].tolist()

            def measure(feature: int) -> np.ndarray:
                """Return the likelihoods of a feature alone."""
                out = np.empty((1, *joint.shape))
                densities.write_likelihoods(XT[feature : feature + 1], feature, out, is_log=is_log)
                return out

            new = [feature for feature in features if feature not in known]
            known.update(run_blocks(measure, new, n_jobs))
            for size in sizes:
                for feature in features[start:size]:
                    include(known[feature], joint)
                start = size
                if response_method == "predict_proba":
                    yield joint / joint.sum(axis=1, keepdims=True)
                elif response_method == "decision_function":
                    yield log_odds(joint)
                else:
                    yield log_probabilities(log_odds(joint))

        return scores

    def predict_log_proba(self, X: TableLike) -> np.ndarray:
        """Return the logarithms of `predict_proba`, computed without saturation."""
        return log_probabilities(self._log_odds(X))

    def decision_function(self, X: TableLike) -> np.ndarray:
        """Return the log-odds of each class against all others, (n_samples, n_classes).

        They do not round where a class is certain; with two classes those of the second are
        returned.
        """
        odds = self._log_odds(X)
        return odds[:, 1] if odds.shape[1] == 2 else odds

    def _learn(self, samples: Samples) -> None:
        self._densities = self.prepare(samples)
        scales, precisions, means, deviations = self._densities.normals
        self.class_prior_: np.ndarray = self._densities.prior
        self.precision_: np.ndarray = precisions / scales
        self.mean_: np.ndarray = means / scales[:, np.newaxis]
        self.deviation_: np.ndarray = deviations / scales[:, np.newaxis]
        self.categories_: dict[int, np.ndarray] = self._coder.name_values(
            self._densities.categories
        )
        self.category_probability_: dict[int, np.ndarray] = self._densities.probabilities
        for learned in (self.precision_, self.mean_, self.deviation_):
            learned[list(self.categories_)] = np.nan

    def _score(self, X: np.ndarray) -> np.ndarray:
        joint = self._densities.accumulate(X, is_log=False)
        return joint / joint.sum(axis=1, keepdims=True)

    def _log_odds(self, X: TableLike) -> np.ndarray:
        X = self._check_X(X)
        return log_odds(self._densities.accumulate(X, is_log=True))


@dataclass(frozen=True)
class Densities:
    """Priors of the classes and the density of each feature, which depends on no other feature."""

    prior: np.ndarray  #: of shape (n_classes,)
    normals: tuple[np.ndarray, ...]  #: scales, precisions, means and deviations, from `fit_normals`
    categories: dict[int, np.ndarray]  #: values of each nominal feature
    #: of each nominal feature, (n_values, n_classes): of its values by class
    probabilities: dict[int, np.ndarray]

    @classmethod
    def of(cls, samples: Samples) -> "Densities":
        """Fit the densities of training samples."""
        X, codes, weights, n_classes = samples.X, samples.codes, samples.weights, samples.n_classes
        totals = np.bincount(codes, weights, minlength=n_classes)
        categories = find_categories(X, samples.nominal)
        return cls(
            prior=(totals + 1) / (totals.sum() + n_classes),
            normals=fit_normals(columns_of(X), codes, weights, n_classes),
            categories=categories,
            probabilities={
                j: _value_probabilities(encode_column(X[:, j], values), codes, weights, n_classes)
                for j, values in categories.items()
            },
        )

    def start(self, n_samples: int, *, is_log: bool = False) -> np.ndarray:
        """Return the joint probabilities without features: the priors, one row per sample."""
        return np.tile(np.log(self.prior) if is_log else self.prior, (n_samples, 1))

    def write_likelihoods(
        self, XT: np.ndarray, first: int, out: np.ndarray, *, is_log: bool = False
    ) -> None:
        """Fill in those of the features from `first` on; `out` is (n_columns, n, n_classes)."""
        here = slice(first, first + len(XT))
        scales, precisions, means, deviations = (part[here] for part in self.normals)
        normal_likelihoods(XT, scales, precisions, means, deviations, is_log, out)
        for j, values in self.categories.items():
            if here.start <= j < here.stop:
                codes = encode_column(XT[j - first], values)
                likelihoods = self.probabilities[j][codes]
                likelihoods[codes == UNSEEN] = 1.0
                out[j - first] = np.log(likelihoods) if is_log else likelihoods

    def accumulate(self, X: np.ndarray, *, is_log: bool) -> np.ndarray:
        """Return the joint probabilities of class and all features, (n_samples, n_classes)."""
        XT = columns_of(X)
        joint = self.start(len(X), is_log=is_log)
        width = max(1, min(_BLOCK_LIKELIHOODS // joint.size, len(XT)))
        likelihoods = np.empty((width, *joint.shape))
        include = add_log_likelihoods if is_log else multiply_likelihoods
        for first in range(0, len(XT), width):
            block = XT[first : first + width]
            self.write_likelihoods(block, first, likelihoods[: len(block)], is_log=is_log)
            include(likelihoods[: len(block)], joint)
        return joint


def columns_of(X: np.ndarray) -> np.ndarray:
    """Return the columns of X as the rows of a contiguous, read-only array."""
    return read_only(np.ascontiguousarray(X.T))


def _value_probabilities(
    value_codes: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return Laplace's estimates, shape (n_values, n_classes); one row if no value is known."""
    n_values = max(1, value_codes.max() + 1)
    counts = np.ones((n_values, n_classes))
    is_known = value_codes != UNSEEN
    np.add.at(counts, (value_codes[is_known], codes[is_known]), weights[is_known])
    return counts / counts.sum(axis=0)


def log_odds(joint: np.ndarray) -> np.ndarray:
    """Return log(p_k / (1 - p_k)) of every class from joint log-probabilities, exact throughout."""
    # It is l_k minus the logarithm of the sum of exp(l_j) over the other classes.
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


def log_probabilities(odds: np.ndarray) -> np.ndarray:
    """Return log p_k from the log-odds; that of a certain class is tiny, not 0."""
    with np.errstate(under="ignore"):
        return -np.logaddexp(0.0, -odds)
