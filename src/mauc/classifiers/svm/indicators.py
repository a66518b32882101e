"""Nominal columns as indicators: a table with codes in, one column of 0 and 1 per category out."""

from dataclasses import dataclass

import numpy as np

from mauc.classifiers.nominal_columns import UNSEEN, encode_column, find_categories


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
