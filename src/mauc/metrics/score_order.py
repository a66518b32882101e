"""Scores of any numeric type: a user's table in, one that float64 holds in the same order out."""

from decimal import Decimal
from numbers import Real

import numpy as np
from scipy import sparse

from mauc.exceptions import MaucError
from mauc.problem.columns import is_frame

_EXACT = 2**53  # float64 holds all whole numbers up to here


def ordered_scores(scores):
    """Return a table of scores; columns whose order float64 would not keep become their ranks.

    AUCs depend on the order alone. Such columns are those of whole numbers above 2**53, of
    extended precision, and of Python's long integers, fractions and decimals.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_samples, n_classes), or (n_samples,)

    Returns
    -------
    table : array-like or data frame of shape (n_samples, n_columns)
        The input itself if nothing would be lost. It is not validated.
    """
    if sparse.issparse(scores):
        return scores
    if is_frame(scores):
        columns = [_values(_column(scores, j)) for j in range(scores.shape[1])]
        if not any(map(_loses_order, columns)) or not all(map(_is_numeric, columns)):
            return scores
        return np.column_stack([_in_order(column) for column in columns])
    try:
        values = _values(scores)
    except ValueError as error:
        raise MaucError("y_score must have rows of the same length.") from error
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or not _loses_order(values):
        return values
    return np.column_stack([_in_order(column) for column in values.T])


def _column(frame, j):
    return frame.iloc[:, j] if hasattr(frame, "iloc") else frame.to_series(j)


def _values(column):
    """Return an array; nullable numbers of pandas keep their type if none is missing."""
    kind = getattr(getattr(column, "dtype", None), "numpy_dtype", None)
    if kind is None or kind.kind not in "biuf":
        return np.asarray(column)
    if column.isna().any():
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy(dtype=kind)


def _is_numeric(values):
    return values.dtype.kind in "biuf" or _holds_numbers(values)


def _holds_numbers(values):
    return values.dtype.kind == "O" and all(isinstance(v, Real | Decimal) for v in values.ravel())


def _loses_order(values):
    """Whether float64 does not hold the values."""
    if values.size == 0:
        return False
    if values.dtype.kind in "iu":
        return values.dtype.itemsize == 8 and (values.max() > _EXACT or values.min() < -_EXACT)
    if values.dtype.kind == "f":
        return values.dtype.itemsize > 8
    return _holds_numbers(values)


def _in_order(column):
    """Return a column as float64, by ranks if some of its values would be rounded."""
    if not _loses_order(column):
        return column.astype(np.float64)
    is_missing = np.array(column != column, bool)
    ranks = np.full(len(column), np.nan)
    ranks[~is_missing] = np.unique(column[~is_missing], return_inverse=True)[1]
    return ranks
