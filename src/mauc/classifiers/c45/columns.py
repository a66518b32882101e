"""Sort every column once: the row orders that all trees of one training set share."""

from typing import NamedTuple

import numpy as np

from mauc.classifiers.base import UNSEEN, encode_column, find_categories
from mauc.classifiers.c45.nodes import GAP
from mauc.engine.arrays import read_only
from mauc.engine.keys import argsort_columns
from mauc.exceptions import TinyUnitsWarning, listed, warn_user

MIN_SEEN = 0.1  # part of the steps between neighbouring values below which a column is blurred


class SortedColumns(NamedTuple):
    """Training data that all trees share, whichever of the columns they use.

    Attributes
    ----------
    XT : read-only float32 or float64 ndarray of shape (n_features, n), C-contiguous
        Nominal columns hold codes 0, 1, ...; NaN is a missing value.
    order : int32 ndarray of shape (n_features, n)
        Rows of each column by ascending value, from `mauc.engine.keys.argsort_columns`.
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
        XT, argsort_columns(XT), samples.codes, samples.n_classes, n_values,
        np.isnan(XT).any(axis=1), samples.weights if is_weighted else None, categories,
    )  # fmt: skip


def warn_of_close_values(columns, names):
    """Warn of numeric columns whose neighbouring values are nearly all within `GAP`.

    Parameters
    ----------
    columns : SortedColumns
    names : sequence of str
    """
    blind = []
    for j in np.flatnonzero(columns.n_values == 0):
        steps = np.diff(columns.XT[j][columns.order[j]].astype(np.float64))
        n_steps = np.count_nonzero(steps > 0)  # missing values come last and make no step
        if np.count_nonzero(steps > GAP) < MIN_SEEN * n_steps:
            blind.append(names[j])
    if blind:
        warn_user(
            f"{len(blind)} of {len(columns.XT)} features ({listed(blind)}) have values closer than "
            f"{GAP:g}, which C4.5 does not tell apart, as J48 does not; give them in a smaller "
            f"unit, or scale them, for example with sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )


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
