"""Validate X, labels and weights: the only place that calls scikit-learn's checks.

Selectors use `make_problem`; classifiers (in `mauc.classifiers.base`), metrics and functions use
`check_table`, `encode_labels` and `check_weights`. Every error is a `MaucError`.
"""

from contextlib import contextmanager

import numpy as np
from scipy import sparse
from sklearn.utils import (
    check_array,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from mauc.data.categories import factorize, factorize_linear, missing_mask
from mauc.data.columns import is_frame
from mauc.data.frames import dates_to_seconds
from mauc.exceptions import (
    MaucError,
    MaucTypeError,
    listed,
)

_NO_LABELS = "no_validation"  # what scikit-learn takes for y if there is none
_FLOATS = [np.float64, np.float32]


def check_table(
    X, y=_NO_LABELS, *, estimator=None, reset=True, name="X", accept_sparse=False,
    accept_infinite=False, dtype=_FLOATS, order=None, takes_nominal=False, keep_dates=False,
):  # fmt: skip
    """Return X as an array of numbers, and y as an array of labels if it is given.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Missing values are allowed.
    y : array-like of shape (n_samples,), optional
    estimator : BaseEstimator, optional
        With `reset` it gets ``n_features_in_`` and ``feature_names_in_``; without, X must agree
        with them.
    reset : bool, default=True
    name : str, default="X"
        For error messages.
    accept_sparse : False or str, default=False
        The format that sparse matrices are brought to.
    accept_infinite : bool, default=False
    dtype : "numeric", type or list of types, default=[float64, float32]
        "numeric" keeps any numeric type.
    order : {"C", "F"}, optional
    takes_nominal : bool, default=False
        Whether the error for a column of strings may suggest to declare it nominal.
    keep_dates : bool, default=False
        Whether an array of dates or durations stays one; otherwise they become seconds (since
        1970), NaN for NaT, and so do such columns of a data frame.
    """
    options = {
        "accept_sparse": accept_sparse,
        "dtype": dtype,
        "order": order,
        "ensure_all_finite": False if accept_infinite else "allow-nan",
    }
    has_labels = not (isinstance(y, str) and y == _NO_LABELS)
    if has_labels:
        check_no_missing_label(y)
    if not keep_dates:
        X = dates_to_seconds(X)
    try:
        if estimator is None:
            checked = check_array(X, input_name=name, **options)
            if has_labels:
                y = column_or_1d(y, warn=True)
                check_consistent_length(checked, y)
        elif has_labels:
            checked, y = validate_data(estimator, X, y, reset=reset, **options)
        else:
            checked = validate_data(estimator, X, reset=reset, **options)
        if not sparse.issparse(checked) and checked.dtype.kind not in "biufmM":
            checked = checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _table_error(error, X, takes_nominal) from error
    return (checked, y) if has_labels else checked


def check_columns(X, estimator):
    """Raise unless X has the columns, by name and number, that `estimator` was fitted on.

    The values are not checked.
    """
    with mauc_errors():
        validate_data(estimator, X, reset=False, skip_check_array=True)


def check_source(source, estimator):
    """Raise unless a source has the columns, by name and number, that `estimator` was fitted on."""
    fitted, names = getattr(estimator, "feature_names_in_", None), source.feature_names
    if fitted is None or names is None:
        check_columns(np.broadcast_to(np.float64(0.0), (1, source.shape[1])), estimator)
    elif len(fitted) != len(names) or (fitted != names).any():
        known, found = set(fitted), set(names)
        unseen = [str(name) for name in names if name not in known]
        missing = [str(name) for name in fitted if name not in found]
        raise MaucError(
            f"{source.name} must have the columns that {type(estimator).__name__} was fitted on, "
            f"in their order"
            + (f"; unseen: {listed(unseen)}" if unseen else "")
            + (f"; missing: {listed(missing)}" if missing else "")
            + "."
        )


def encode_labels(y, *, min_classes=2):
    """Return the sorted classes, the class codes (int32) and the class counts of the labels."""
    found = factorize_linear(y)
    # Labels that can be counted are labels; only if most are distinct something may be wrong.
    if found is None or 2 * len(found[0]) > len(y):
        with mauc_errors():
            check_classification_targets(y)
            found = factorize(y)
    classes, codes, class_counts = found
    if len(classes) < min_classes:
        raise MaucError(
            f"y must hold at least {min_classes} classes to tell apart, "
            f"got one class: {listed(classes)}."
        )
    return classes, codes, class_counts


def check_no_missing_label(y, name="y"):
    """Raise if a label is None, NaN, NaT or pandas' NA.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    name : str, default="y"
        For the error message.
    """
    # Beside strings NumPy would turn NaN into the string "nan".
    with mauc_errors():
        values = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1:
        is_missing = missing_mask(values)
        if is_missing.any():
            raise MaucError(
                f"{name} must hold a label for every sample, but it contains NaN or None "
                f"(first at position {int(np.argmax(is_missing))}); "
                f"drop those rows or give them a label."
            )


def check_weights(sample_weight, X):
    """Return the weights of the rows of X, float64, all 1 for None; none may be negative."""
    with mauc_errors():
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def check_generator(random_state):
    """Return the generator of a `random_state`: None, an int or a RandomState."""
    with mauc_errors():
        return check_random_state(random_state)


def check_vector(values, name):
    """Return one-dimensional values as an array; a column is flattened."""
    try:
        return column_or_1d(values)
    except ValueError as error:
        shape = np.shape(values)
        raise MaucError(f"{name} must have one dimension, got shape {shape}.") from error


def check_same_length(*arrays):
    """Raise unless all arrays, None excepted, have the same number of rows."""
    with mauc_errors():
        check_consistent_length(*arrays)


def as_mauc_error(error):
    """Return an error of scikit-learn's checks as one of this library, with its message."""
    if isinstance(error, MaucError):
        return error
    kind = MaucTypeError if isinstance(error, TypeError) else MaucError
    return kind(str(error))


@contextmanager
def mauc_errors():
    """Raise errors of scikit-learn's checks as errors of this library."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def _table_error(error, X, takes_nominal):
    """Return an error that names the first column of a data frame that is not numeric, if any."""
    if not is_frame(X):
        return as_mauc_error(error)
    for j, name in enumerate(X.columns):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[name]
        values = np.asarray(column)
        try:
            values.astype(np.float64)
        except (TypeError, ValueError):
            advice = (
                "give it a categorical dtype or name it in categorical_features, or drop it"
                if takes_nominal
                else "encode or drop it first (for example with "
                "sklearn.preprocessing.OrdinalEncoder or OneHotEncoder)"
            )
            return MaucError(
                f"X must be numeric, but column {name!r} has dtype {column.dtype} with values "
                f"such as {values[:1].tolist()[0]!r}; {advice}."
            )
    return as_mauc_error(error)
