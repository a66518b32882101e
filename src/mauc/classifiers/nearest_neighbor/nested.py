"""Nearest neighbour on nested feature sets: squared distances grow from size to size."""

import numpy as np

from mauc.classifiers.distances import grow_distances, sum_ties
from mauc.parallel import run_blocks

_BLOCK_DISTANCES = 2**18  # distances updated at a time, 2 MB: they fit the cache


class NestedNeighbor:
    """Scores of NearestNeighbor on the first features of rankings.

    The columns are scaled once. A block of test samples keeps its distances to all training
    samples along the ranking; they are sums in the order of the ranking, as in a fit on the
    subset, to the bit.

    Parameters
    ----------
    model : NearestNeighbor
        Its options are used, it is not fitted.
    train : ScaledSamples
    X_test : ndarray of shape (n_test, n_features)
    n_jobs : int or None
        Threads.
    """

    def __init__(self, model, train, X_test, n_jobs):
        self._model, self._train, self._n_jobs = model, train, n_jobs
        self._QT = train.ranges.scale(X_test)
        self._kinds = train.ranges.kinds(train.ZT, self._QT)

    def scores(self, ranking, sizes):
        """Yield the score matrix of the first k features for each k of the ascending sizes."""
        train, n_test = self._train, self._QT.shape[1]
        n_train = train.ZT.shape[1]
        nearest = np.empty((len(sizes), n_test), np.int64)
        tied = np.empty((len(sizes), n_test if self._model.smooth else 0, train.n_classes))

        def search(rows):
            distances = np.zeros((rows.stop - rows.start, n_train))
            start = 0
            for step, size in enumerate(sizes):
                grow_distances(
                    self._QT, train.ZT, self._kinds, ranking, start, size,
                    rows.start, 0, distances,
                )  # fmt: skip
                nearest[step, rows] = distances.argmin(axis=1)
                if self._model.smooth:
                    sum_ties(
                        distances, train.codes, train.weights,
                        nearest[step, rows], tied[step, rows],
                    )  # fmt: skip
                start = size

        width = max(1, _BLOCK_DISTANCES // n_train)
        blocks = (slice(start, min(start + width, n_test)) for start in range(0, n_test, width))
        for _ in run_blocks(search, blocks, self._n_jobs):
            pass
        for step in range(len(sizes)):
            yield self._model.scores(train, nearest[step], tied[step])
