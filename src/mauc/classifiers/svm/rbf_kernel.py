"""RBF kernel matrices: scaled columns in, kernels of a growing set of columns out."""

import numpy as np

from mauc.classifiers.distances import PLAIN, grow_distances

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
