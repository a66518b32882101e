"""Values of nominal columns as codes, which the classifiers share."""

import numpy as np

UNSEEN = -1  # code of a missing value, or of one that is not in the training data


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
