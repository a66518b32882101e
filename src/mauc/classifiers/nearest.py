"""The nearest neighbour: estimator, and distances that grow along nested feature sets."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.utils import gen_batches

from mauc.checks import check_real
from mauc.classifiers.base import BaseClassifier, NestedScores, Samples
from mauc.classifiers.distances import (
    PLAIN,
    Ranges,
    ScaledSamples,
    find_nearest,
    find_ranges,
    grow_distances,
    sum_ties,
)
from mauc.data.arguments import CategoricalFeatures
from mauc.parallel import run_blocks

_NESTED_DISTANCES = 2**18  # distances updated at a time, 2 MB: they fit the cache
_BLOCK_DISTANCES = 2**21  # distances computed at a time, 16 MB
_UNIT_ROUNDOFF = 2.0**-53
_MAX_VALUE = 1e100  # its square is finite


class NearestNeighbor(BaseClassifier):
    """Classify by the nearest training sample (1NN).

    Numeric features are scaled to [0, 1] by their ranges in the training data.

    Parameters
    ----------
    smooth : bool, default=False
        False: hard scores, 1 for the class of the nearest sample (of equally near ones the
        first) and 0 for the others, as WEKA's IB1 and the paper. True: all equally near samples
        vote and every class gets 1/n on top, as WEKA's IBk with k = 1.
    min_range : float, default=0.0
        Features whose training range is below this count as constant. IB1 has 1e-6, IBk 0.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Two values differ by 0 or 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    ranges_ : Ranges
        Smallest and largest value of each feature, and the values, or codes, of the nominal ones.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    A missing value (NaN) is as far from another as the range allows. The result is that of the
    definition to the last bit, whatever the BLAS library; docs/methods/classifiers.md has it, and
    where WEKA differs. A sample weight means repetition; hard scores ignore the weights that are
    not 0.

    References
    ----------
    .. [1] D. W. Aha, D. Kibler, M. K. Albert, "Instance-Based Learning Algorithms", Machine
       Learning 6, 1991.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.classifiers import NearestNeighbor
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NearestNeighbor().fit(X[::2], y[::2])
    >>> model.predict_proba(X[51:52])
    array([[0., 1., 0.]])
    >>> model.set_params(smooth=True).predict_proba(X[51:52]).round(3)
    array([[0.013, 0.974, 0.013]])
    """

    def __init__(
        self,
        smooth: bool = False,
        min_range: float = 0.0,
        categorical_features: CategoricalFeatures = None,
    ):
        self.smooth = smooth
        self.min_range = min_range
        self.categorical_features = categorical_features

    def check_options(self) -> None:
        """Raise a `MaucError` if a parameter is wrong."""
        check_real("min_range", self.min_range, 0)

    def prepare(self, samples: Samples) -> ScaledSamples:
        """Return the `ScaledSamples` of training `Samples`."""
        return ScaledSamples.of(samples, find_ranges(samples.X, samples.nominal, self.min_range))

    def nest(
        self, samples: Samples, X_test: np.ndarray, response_method: str, n_jobs: int | None = None
    ) -> NestedScores:
        """Return the scores on nested features: distances grow from size to size.

        They are sums in the order of the ranking, as in a fit on the subset, to the bit.
        """
        train = self.prepare(samples)
        return self._search_by_sums(train, train.scale(X_test), n_jobs)

    def _search_by_sums(
        self, train: ScaledSamples, QT: np.ndarray, n_jobs: int | None = None
    ) -> NestedScores:
        """Return the function of `nest` for scaled columns: distances as they are defined."""
        ZT, n_test = train.ZT, QT.shape[1]
        kinds = train.ranges.kinds(ZT, QT)

        def scores(ranking: np.ndarray, sizes: Sequence[int] | np.ndarray) -> Iterator[np.ndarray]:
            """Yield the scores by the first features of a ranking, for each size."""
            nearest = np.empty((len(sizes), n_test), np.int64)
            tied = np.empty((len(sizes), n_test if self.smooth else 0, train.n_classes))

            def search(rows: slice) -> None:
                """Find the neighbours of some test samples, for every size."""
                distances = np.zeros((rows.stop - rows.start, ZT.shape[1]))
                start = 0
                for step, size in enumerate(sizes):
                    grow_distances(QT, ZT, kinds, ranking, start, size, rows.start, 0, distances)
                    found = nearest[step, rows]
                    found[:] = distances.argmin(axis=1)
                    if self.smooth:
                        sum_ties(distances, train.codes, train.weights, found, tied[step, rows])
                    start = size

            width = max(1, _NESTED_DISTANCES // ZT.shape[1])
            for _ in run_blocks(search, gen_batches(n_test, width), n_jobs):
                pass
            for step in range(len(sizes)):
                yield self._scores_of(train, nearest[step], tied[step])

        return scores

    def _scores_of(self, train: ScaledSamples, nearest: np.ndarray, tied: np.ndarray) -> np.ndarray:
        """Return the scores by the nearest sample, or by the class weights of all equally near."""
        if not self.smooth:
            return np.eye(train.n_classes)[train.codes[nearest]]
        share = 1.0 / train.weights.sum()
        return (share + tied) / (train.n_classes * share + tied.sum(axis=1, keepdims=True))

    def _learn(self, samples: Samples) -> None:
        self._train = self.prepare(samples)
        self.ranges_: Ranges = self._train.ranges

    def _score(self, X: np.ndarray) -> np.ndarray:
        QT, train = self._train.scale(X), self._train
        is_plain = (self.ranges_.kinds(train.ZT, QT) == PLAIN).all()
        if is_plain and np.abs(QT).max() < _MAX_VALUE:
            return self._search_by_product(train, QT)
        return next(self._search_by_sums(train, QT)(np.arange(len(QT)), [len(QT)]))

    def _search_by_product(self, train: ScaledSamples, QT: np.ndarray) -> np.ndarray:
        """Return scores by the samples whose distance by a matrix product may be the smallest."""
        nearest, tied = np.empty(QT.shape[1], np.int64), np.empty((QT.shape[1], train.n_classes))
        Z, Q = np.ascontiguousarray(train.ZT.T), np.ascontiguousarray(QT.T)
        norms = np.einsum("ij,ij->i", Z, Z)
        reach = np.sqrt(np.einsum("ij,ij->i", Q, Q)) + np.sqrt(norms.max())
        # |q - z|^2 - |q|^2 = |z|^2 - 2 q.z; each term is a sum of n_features products, wrong by
        # at most n_features + a few units of reach^2, and so is the sum in the definition.
        slack = 8.0 * (Z.shape[1] + 8) * _UNIT_ROUNDOFF * reach**2
        for rows in gen_batches(len(Q), max(1, _BLOCK_DISTANCES // len(Z))):
            estimates = Q[rows] @ Z.T
            estimates *= -2.0
            estimates += norms
            smallest = estimates.min(axis=1)
            query, candidates = np.nonzero(estimates <= (smallest + slack[rows])[:, np.newaxis])
            starts = np.searchsorted(query, np.arange(len(smallest) + 1))
            find_nearest(
                Q[rows],
                Z,
                starts,
                candidates,
                train.codes,
                train.weights,
                nearest[rows],
                tied[rows],
            )
        return self._scores_of(train, nearest, tied)
