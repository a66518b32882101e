"""Columns as the tree kernels take them: `Samples` in, encoded and sorted columns out."""

from typing import NamedTuple

import numpy as np

from mauc.classifiers.c45.order import sort_orders
from mauc.classifiers.nominal_columns import UNSEEN, encode_column, find_categories
from mauc.problem.columns import read_only


class SortedColumns(NamedTuple):
    """Training data that all trees share, whichever of the columns they use.

    Attributes
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n), C-contiguous
        Nominal columns hold codes 0, 1, ...; NaN is a missing value.
    order : int32 ndarray of shape (n_features, n)
        Rows of each column by ascending value, from `order.sort_orders`.
    y : int32 ndarray of shape (n,)
        Class codes.
    n_classes : int
        Number of classes, also those without rows.
    n_values : int32 ndarray of shape (n_features,)
        Number of values of a nominal column, 0 for a numeric one.
    has_missing : bool ndarray of shape (n_features,)
    weight : float64 ndarray of shape (n,), or None
        Positive weights of the rows. None: all 1.
    categories : dict of int to ndarray
        Values of the nominal columns.
    """

    XT: np.ndarray
    order: np.ndarray
    y: np.ndarray
    n_classes: int
    n_values: np.ndarray
    has_missing: np.ndarray
    weight: np.ndarray | None
    categories: dict


def sort_columns(samples):
    """Return the `SortedColumns` of training `Samples`."""
    categories = find_categories(samples.X, samples.nominal)
    XT = encode_columns(samples.X, categories)
    n_values = np.zeros(len(XT), np.int32)
    n_values[list(categories)] = [len(values) for values in categories.values()]
    is_weighted = (samples.weights != 1.0).any()
    return SortedColumns(
        XT, sort_orders(XT), samples.codes, samples.n_classes, n_values,
        np.isnan(XT).any(axis=1), samples.weights if is_weighted else None, categories,
    )  # fmt: skip


def encode_columns(X, categories):
    """Return X transposed, read-only, nominal columns as codes (one too many if unseen).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), in Fortran order
    categories : dict of int to ndarray
        Values of the nominal columns.
    """
    if categories:
        X = X.copy(order="F")
    for j, values in categories.items():
        codes = encode_column(X[:, j], values)
        codes[codes == UNSEEN] = len(values)
        X[:, j] = np.where(np.isnan(X[:, j]), np.nan, codes)
    return read_only(X.T)
