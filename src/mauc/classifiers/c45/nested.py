"""C4.5 on nested feature sets: the columns are sorted once."""

import numpy as np

from mauc.classifiers.c45.columns import encode_columns
from mauc.classifiers.c45.tree import predict_fractions


class NestedTree:
    """Scores of C45 on the first features of rankings.

    Parameters
    ----------
    grow : callable
        From `SortedColumns` and the numbers of some columns to a `Tree`.
    columns : SortedColumns
        Of the training part.
    X_test : ndarray of shape (n_test, n_features), in Fortran order
    """

    def __init__(self, grow, columns, X_test):
        self._grow, self._columns = grow, columns
        self._QT = encode_columns(X_test, columns.categories)

    def scores(self, ranking, sizes):
        """Yield the leaf fractions of the first k features for each k of the ascending sizes."""
        for size in sizes:
            tree = self._grow(self._columns, ranking[:size].astype(np.int32))
            fractions = np.empty((self._QT.shape[1], self._columns.n_classes))
            predict_fractions(tree, self._QT, fractions)
            yield fractions
