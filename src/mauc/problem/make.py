"""What the ``fit`` of a selector is given -> Problem: data checked, labels encoded."""

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_X_y, column_or_1d
from sklearn.utils.validation import validate_data

from mauc.checks import check_class_count
from mauc.exceptions import ConstantInputWarning, MaucError, SmallClassWarning, listed, warn_user
from mauc.problem.columns import is_frame
from mauc.problem.frame_columns import FrameColumns, has_number_columns
from mauc.problem.nominal import encode_nominal
from mauc.problem.problem import Problem
from mauc.problem.source import ColumnSource
from mauc.problem.source_columns import SourceColumns
from mauc.problem.validate import (
    check_no_missing_label,
    check_table,
    check_weights,
    encode_labels,
    mauc_errors,
)
from mauc.registry import Accepts

_ORDERED = Accepts(sparse=True, infinite=True)  # what looks at the order of values alone


def make_problem(estimator, X, y, sample_weight=None, *, accepts=_ORDERED, cluster=None):
    """Validate the arguments of a selector's ``fit`` and encode the labels.

    Missing values of X are allowed.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    accepts : Accepts, optional
        What X may hold: sparse matrices and infinite values by default. Where it may hold nominal
        columns, those of a categorical dtype or of strings in a data frame and those that
        ``estimator.categorical_features`` names are encoded and marked.
    cluster : Cluster, optional
        Whose workers read the columns of X, a source.

    Returns
    -------
    problem : Problem
    """
    if y is None:
        raise MaucError("this estimator requires y to be passed, but the target y is None.")
    if isinstance(X, ColumnSource):
        X, y = _check_source(X, y, estimator, accepts, cluster)
        return _problem_of(X, y, sample_weight, X.source.feature_names, X.is_nominal)
    is_nominal, labels = None, list(X.columns) if is_frame(X) else None
    flags = getattr(estimator, "categorical_features", None) if accepts.nominal else None
    if accepts.nominal and (is_frame(X) or flags is not None):
        X, is_nominal = encode_nominal(X, flags)
    if is_frame(X) and has_number_columns(X):
        X, y = _check_frame(X, y, estimator, accepts.infinite)
    else:
        X, y = check_table(
            X, y, estimator=estimator, accept_sparse="csc" if accepts.sparse else False,
            accept_infinite=accepts.infinite, dtype="numeric", takes_nominal=accepts.nominal,
            keep_dates=True,
        )  # fmt: skip
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=not X.has_canonical_format)
        X.sum_duplicates()
    names = getattr(estimator, "feature_names_in_", None)
    return _problem_of(X, y, sample_weight, names, is_nominal, labels if names is None else None)


def _problem_of(X, y, sample_weight, feature_names, is_nominal, labels=None):
    classes, codes, class_counts = encode_labels(y)
    check_class_count(len(classes), len(codes))
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, codes)
        _check_class_weights(classes, codes, sample_weight)
    problem = Problem(
        X, codes, classes, class_counts, sample_weight, feature_names, is_nominal, labels
    )
    _warn_of_degenerate(problem)
    return problem


def _check_source(source, y, estimator, accepts, cluster):
    """Check a source of columns and its labels as `check_table` does; no column is read."""
    check_no_missing_label(y)
    with mauc_errors():
        y = column_or_1d(y, warn=True)
    n, m = source.shape
    if n != len(y):
        raise MaucError(f"{source.name} has {n} rows, but y has {len(y)} labels.")
    if n == 0 or m == 0:
        raise MaucError(f"{source.name} has {n} rows and {m} columns; at least one is needed.")
    flags = getattr(estimator, "categorical_features", None) if accepts.nominal else None
    columns = SourceColumns(
        source, flags, accept_nominal=accepts.nominal, accept_infinite=accepts.infinite,
        cluster=cluster,
    )  # fmt: skip
    estimator.n_features_in_ = m
    if source.feature_names is not None:
        estimator.feature_names_in_ = source.feature_names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return columns, y


def _check_frame(frame, y, estimator, accept_infinite):
    """Check a data frame of several numeric types as `check_table` does, without a copy."""
    check_no_missing_label(y)
    stand_in = np.broadcast_to(np.float64(0.0), frame.shape)  # takes no memory
    with mauc_errors():
        validate_data(estimator, frame, skip_check_array=True)
        _, y = check_X_y(stand_in, y, estimator=estimator, ensure_all_finite=False)
        X = FrameColumns(frame)
        if not accept_infinite:
            for column in range(X.shape[1]):
                assert_all_finite(X.column(column), allow_nan=True, input_name="X")
    return X, y


def _check_class_weights(classes, codes, sample_weight):
    totals = np.bincount(codes, sample_weight)
    if not np.isfinite(totals.sum()):
        raise MaucError(
            f"sample_weight must have a finite total, got weights up to {sample_weight.max():.3g}; "
            f"divide them by their largest."
        )
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {listed(classes[totals <= 0][:1])}."
        )


def _warn_of_degenerate(problem):
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({listed(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    if problem.is_constant:
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )
