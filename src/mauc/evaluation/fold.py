"""One split of the data, checked, as the nested evaluations take it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fold:
    """Training and test data of one fold.

    Parameters
    ----------
    X_train, X_test : ndarray of shape (n_samples, n_features), in Fortran order
        float64 or float32, both the same; NaN is a missing value.
    codes_train : ndarray of shape (n_train,), int32
        Class of each training sample, as a place in `classes`.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    n_jobs : int or None
        Threads.
    """

    X_train: np.ndarray
    codes_train: np.ndarray
    X_test: np.ndarray
    classes: np.ndarray
    n_jobs: int | None = None

    @property
    def n_features(self):
        """Number of columns."""
        return self.X_train.shape[1]

    @property
    def test_columns(self):
        """The test data as contiguous columns, read-only, shape (n_features, n_test)."""
        XT = self.X_test.T.view()
        XT.flags.writeable = False
        return XT
