"""Rows of whatever holds them, part by part."""

import numpy as np

from mauc.exceptions import MaucError


def source_parts(source, y):
    """Yield ``(X, y)`` for the parts of the rows of a source.

    Parameters
    ----------
    source : ColumnSource
    y : array-like of shape (n_rows,)
    """
    labels = np.asarray(y)
    if len(labels) != source.shape[0]:
        raise MaucError(f"{source.name} has {source.shape[0]} rows, but y has {len(labels)} labels.")
    raise NotImplementedError
