"""Validate what a user gives: X, labels, weights. The only place that calls scikit-learn's checks.

Selectors come in by `make_problem`, classifiers by `mauc.classifiers.base`, metrics and functions
by `check_table`, `encode_labels` and `check_weights`. Whatever is wrong is a `MaucError`.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from mauc.exceptions import (
    ConstantInputWarning,
    MaucError,
    MaucTypeError,
    SmallClassWarning,
    listed,
    warn_user,
)
from mauc.problem.nominal import encode_nominal, missing_mask
from mauc.problem.problem import Problem
from mauc.registry import Accepts

_NO_LABELS = "no_validation"  # scikit-learn's word for X without y
_FLOATS = [np.float64, np.float32]
_ORDERED = Accepts(sparse=True, infinite=True)  # what looks at the order of values alone


def make_problem(estimator, X, y, sample_weight=None, *, accepts=_ORDERED):
    """Validate the arguments of a selector's ``fit`` and encode the labels.

    Missing values of X are let through.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    accepts : Accepts, optional
        What X may hold: sparse matrices and infinite values by default. Where it may hold nominal
        columns, those of a categorical dtype and those that ``estimator.categorical_features``
        names are encoded and marked.

    Returns
    -------
    problem : Problem
    """
    if y is None:
        raise MaucError("this selector requires y to be passed, but the target y is None.")
    is_nominal = None
    if accepts.nominal and (is_frame(X) or estimator.categorical_features is not None):
        X, is_nominal = encode_nominal(X, estimator.categorical_features)
    X, y = check_table(
        X, y, estimator=estimator, accept_sparse="csc" if accepts.sparse else False,
        accept_infinite=accepts.infinite, dtype="numeric", takes_nominal=accepts.nominal,
    )  # fmt: skip
    classes, codes, class_counts = encode_labels(y)
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, X)
        _check_class_weights(classes, codes, sample_weight)
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=not X.has_canonical_format)
        X.sum_duplicates()
    problem = Problem(
        X=X,
        codes=codes,
        classes=classes,
        class_counts=class_counts,
        sample_weight=sample_weight,
        feature_names=getattr(estimator, "feature_names_in_", None),
        is_nominal=is_nominal,
    )
    _warn_about(problem)
    return problem


def check_table(
    X, y=_NO_LABELS, *, estimator=None, reset=True, name="X", accept_sparse=False,
    accept_infinite=False, dtype=_FLOATS, order=None, takes_nominal=False,
):  # fmt: skip
    """Return X as an array of numbers, and y as an array of labels if it is given.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Missing values are let through.
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
        Whether the advice for a column of words may be to declare it nominal.
    """
    options = {
        "accept_sparse": accept_sparse,
        "dtype": dtype,
        "order": order,
        "ensure_all_finite": False if accept_infinite else "allow-nan",
    }
    has_labels = not (isinstance(y, str) and y == _NO_LABELS)
    if has_labels:
        _check_no_missing_label(y)
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
        if not sparse.issparse(checked) and checked.dtype.kind not in "biuf":
            checked = checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _explain(error, X, takes_nominal) from error
    return (checked, y) if has_labels else checked


def check_columns(X, estimator):
    """Raise unless the columns of X are, by name and number, those that `estimator` was fitted on.

    The values are not looked at.
    """
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def encode_labels(y, *, least_classes=2):
    """Return the sorted classes, the class codes (int32) and the class counts of the labels."""
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise as_mauc_error(error) from error
    classes, codes, class_counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < least_classes:
        raise MaucError(
            f"y must hold at least {least_classes} classes to tell apart, "
            f"got one class: {listed(classes)}."
        )
    return classes, codes.astype(np.int32), class_counts.astype(np.int64)


def check_weights(sample_weight, X):
    """Return the weights of the rows of X, float64, all 1 for None; none may be negative."""
    try:
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def check_vector(values, name):
    """Return one-dimensional values as an array; a column is flattened."""
    try:
        return column_or_1d(values, input_name=name)
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def check_same_length(*arrays):
    """Raise unless all arrays, None excepted, have the same number of rows."""
    try:
        check_consistent_length(*arrays)
    except ValueError as error:
        raise as_mauc_error(error) from error


def as_mauc_error(error):
    """Return an error of scikit-learn's checks as one of this library, with its message."""
    if isinstance(error, MaucError):
        return error
    kind = MaucTypeError if isinstance(error, TypeError) else MaucError
    return kind(str(error))


def is_frame(X):
    """Whether X is a data frame, of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _check_no_missing_label(y):
    values = np.asarray(y)
    if values.dtype.kind == "O" and values.ndim == 1:
        is_missing = missing_mask(values)
        if is_missing.any():
            raise MaucError(
                f"y must hold a label for every sample, but it contains NaN or None "
                f"(first at position {int(np.argmax(is_missing))}); "
                f"drop those rows or give them a label."
            )


def _explain(error, X, takes_nominal):
    """Name the first column of a data frame that is not numeric, if there is one."""
    if not is_frame(X):
        return as_mauc_error(error)
    for j, name in enumerate(X.columns):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[name]
        values = np.asarray(column)
        try:
            if values.dtype.kind in "mM":
                raise TypeError
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


def _check_class_weights(classes, codes, sample_weight):
    totals = np.bincount(codes, sample_weight)
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {listed(classes[totals <= 0][:1])}."
        )


def _warn_about(problem):
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({listed(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    # The first column that varies settles it, and nearly always that is the first one.
    if all(problem.is_constant(column) for column in range(problem.n_features)):
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )
