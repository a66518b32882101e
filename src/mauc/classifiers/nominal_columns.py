"""Which columns are nominal, and their values as codes: what the classifiers share."""

import numpy as np

from mauc.exceptions import MaucError
from mauc.problem.nominal import flag_columns

UNSEEN = -1  # code of a missing value, or of one that fit has not met


def categorical_columns(categorical_features, n_features, feature_names=None):
    """Return the numbers of the nominal columns, ascending.

    Parameters
    ----------
    categorical_features : array-like of bool, int or str, or None
        A mask, column numbers or names.
    n_features : int
    feature_names : sequence of str, optional
    """
    names = None if feature_names is None else [str(name) for name in feature_names]
    return np.flatnonzero(flag_columns(categorical_features, n_features, names))


def find_categories(X, columns):
    """Return a dict of column to its sorted distinct values; NaN is not a value."""
    return {int(j): np.unique(X[~np.isnan(X[:, j]), j]) for j in columns}


def encode_column(column, categories):
    """Return the place of each value in the sorted categories; UNSEEN if it has none."""
    codes = np.full(len(column), UNSEEN, np.intp)
    if len(categories):
        places = np.minimum(np.searchsorted(categories, column), len(categories) - 1)
        is_seen = categories[places] == column
        codes[is_seen] = places[is_seen]
    return codes


def check_weights(sample_weight):
    """Raise if no sample has weight; a weight of zero means that the sample is not there."""
    if not (sample_weight > 0).any():
        raise MaucError("sample_weight must have a positive entry, got only zeros.")
