"""Nearest neighbour on nested feature sets: squared distances grow from size to size."""

import numpy as np

from mauc.classifiers.distances import grow_distances, sum_ties
from mauc.parallel import run_blocks

_BLOCK_DISTANCES = 2**18  # distances grown at a time, 2 MB: they stay near the core


class NestedNeighbor:
    """Scores of NearestNeighbor on the first features of rankings.

    The columns are scaled once. A block of test samples keeps its distances to all training
    samples while the ranking goes by; they are sums in the order of the ranking, as in a fit on
    the subset, to the bit.

    Parameters
    ----------
    fold : Fold
    classifier : NearestNeighbor
        Is fitted.
    response_method : {"predict_proba"}
    """

    def __init__(self, fold, classifier, response_method):
        self._fold = fold
        self._model = classifier.fit(fold.X_train, fold.codes_train)
        self._QT = classifier.ranges_.scale(fold.X_test)
        self._kinds = classifier.ranges_.kinds(classifier._ZT, self._QT)

    def scores(self, ranking, sizes):
        """Yield the score matrix of the first k features for each k of the ascending sizes."""
        model, n_test = self._model, self._QT.shape[1]
        n_train, n_tied = model._ZT.shape[1], n_test if model.smooth else 0
        nearest = np.empty((len(sizes), n_test), np.int64)
        tied = np.empty((len(sizes), n_tied, len(self._fold.classes)))

        def search(rows):
            distances = np.zeros((rows.stop - rows.start, n_train))
            start = 0
            for step, size in enumerate(sizes):
                grow_distances(
                    self._QT, model._ZT, self._kinds, ranking, start, size,
                    rows.start, 0, distances,
                )  # fmt: skip
                nearest[step, rows] = distances.argmin(axis=1)
                if model.smooth:
                    sum_ties(
                        distances, model._codes, model._weights,
                        nearest[step, rows], tied[step, rows],
                    )  # fmt: skip
                start = size

        width = max(1, _BLOCK_DISTANCES // n_train)
        blocks = (slice(start, min(start + width, n_test)) for start in range(0, n_test, width))
        for _ in run_blocks(search, blocks, self._fold.n_jobs):
            pass
        for step in range(len(sizes)):
            yield model.scores(nearest[step], tied[step])
