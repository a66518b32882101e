"""Validate X, labels and weights: the only module that calls scikit-learn's checks.

Every error is a `MaucError`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_random_state,
    check_X_y,
    column_or_1d,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mauc.data.columns import factorize, factorize_linear, is_frame, missing_mask
from mauc.data.frames import FrameColumns, dates_to_seconds
from mauc.exceptions import MaucError, MaucTypeError, format_labels

_NO_LABELS = "no_validation"  # what scikit-learn takes for y if there is none
_FLOATS = [np.float64, np.float32]
_MAX_COUNT = 2.0**53  # of rows; doubles beyond are all whole numbers
_MIN_RATIO = 1e-290  # of two weights, for their products to be positive
_MAX_EXPONENT = 400  # of two, in a total of weights whose products are ordinary numbers


def check_table(
    X: Any,
    y: Any = _NO_LABELS,
    *,
    estimator: Any = None,
    reset: bool = True,
    name: str = "X",
    accept_sparse: bool | str = False,
    accept_infinite: bool = False,
    dtype: Any = _FLOATS,
    order: str | None = None,
    takes_nominal: bool = False,
    keep_dates: bool = False,
) -> Any:
    """Return X as an array of numbers, and y as an array of labels if it is given.

    An `estimator` gets ``n_features_in_`` and ``feature_names_in_`` with `reset`; without, X must
    agree with them. `takes_nominal`: the error for strings may suggest to declare them nominal.
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


def check_number_frame(
    frame: Any, y: Any, *, estimator: Any, accept_infinite: bool
) -> tuple[FrameColumns, np.ndarray]:
    """Check a data frame of several numeric types as `check_table` does, without a copy."""
    check_no_missing_label(y)
    with mauc_errors():
        validate_data(estimator, frame, skip_check_array=True)
        # The stand-in takes no memory.
        _, y = check_X_y(
            np.broadcast_to(np.float64(0.0), frame.shape),
            y,
            estimator=estimator,
            ensure_all_finite=False,
        )
        X = FrameColumns(frame)
        if not accept_infinite:
            for column in range(X.shape[1]):
                assert_all_finite(X.column(column), allow_nan=True, input_name="X")
    return X, y


def check_labels(y: Any) -> np.ndarray:
    """Return labels as an array of one dimension, with a warning where they are a column."""
    check_no_missing_label(y)
    with mauc_errors():
        return column_or_1d(y, warn=True)


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator was fitted."""
    check_is_fitted(estimator)


def check_columns(X: Any, estimator: Any) -> None:
    """Raise unless X has the columns, by name and number, that `estimator` was fitted on."""
    with mauc_errors():
        validate_data(estimator, X, reset=False, skip_check_array=True)


def frame_values(frame: Any) -> Any:
    """Return a data frame of numbers as an array, or a sparse matrix where it is one."""
    with mauc_errors():
        return check_array(frame, dtype=None, accept_sparse="csr", ensure_all_finite=False)


def check_source(source: Any, estimator: Any) -> None:
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
            + (f"; unseen: {format_labels(unseen)}" if unseen else "")
            + (f"; missing: {format_labels(missing)}" if missing else "")
            + "."
        )


def encode_labels(
    y: np.ndarray, *, min_classes: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
            f"got one class: {format_labels(classes)}."
        )
    return classes, codes, class_counts


def check_no_missing_label(y: Any, name: str = "y") -> None:
    """Raise if a label is None, NaN, NaT or pandas' NA."""
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


def check_weights(sample_weight: Any, X: Any) -> np.ndarray:
    """Return the weights of the rows of X, float64, all 1 for None; none may be negative."""
    with mauc_errors():
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def as_counts(weights: np.ndarray) -> np.ndarray | None:
    """Return weights as numbers of rows: whole ones as they are, others by their ratios alone.

    The latter sum to the effective number of rows, (sum w)^2 / sum w^2 (Kish): those of equal rows
    are 1. None if all weights are 1.
    """
    if weights.sum() >= _MAX_COUNT or (weights != np.rint(weights)).any():
        given = np.sort(weights[weights > 0])  # sums do not depend on the order of the rows
        with np.errstate(over="ignore"):
            is_done = np.isclose(given.sum(), (given * given).sum(), rtol=1e-12, atol=0)
        relative = given / given[-1]
        if not is_done and relative[0] > _MIN_RATIO:  # else some would become 0
            weights = weights / given[-1] * (relative.sum() / (relative * relative).sum())
    return None if (weights == 1.0).all() else weights


def encode_groups(groups: Any, n_samples: int) -> np.ndarray:
    """Return the number of the group of each sample, from 0 in the order of their labels."""
    check_no_missing_label(groups, "groups")
    labels = check_categories(groups, "groups")
    if len(labels) != n_samples:
        raise MaucError(
            f"groups must have a label for each of the {n_samples} rows, got {len(labels)}."
        )
    with mauc_errors():
        return factorize(labels)[1].astype(np.int64)


def check_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator of a `random_state`, as `mauc.texts` describes it."""
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.RandomState(np.random.MT19937(random_state))
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)  # its draws go on where it stands
    with mauc_errors():
        return check_random_state(random_state)


def check_vector(values: Any, name: str) -> np.ndarray:
    """Return one-dimensional values as an array; a column is flattened."""
    try:
        return column_or_1d(values)
    except ValueError as error:
        shape = np.shape(values)
        raise MaucError(f"{name} must have one dimension, got shape {shape}.") from error


def check_categories(values: Any, name: str) -> np.ndarray:
    """Return one-dimensional values of one kind, such as labels, which can be sorted."""
    values = check_vector(values, name)
    if values.dtype == object:
        examples = {type(value): value for value in values.tolist()}
        try:
            sorted(examples.values())
        except TypeError as error:
            kinds = format_labels(sorted(kind.__name__ for kind in examples))
            raise MaucTypeError(
                f"{name} must hold values of one kind, numbers or words, got {kinds}; "
                f"[str(value) for value in {name}] makes all of them words."
            ) from error
    return values


def check_same_length(*arrays: Any) -> None:
    """Raise unless all arrays, None excepted, have the same number of rows."""
    with mauc_errors():
        check_consistent_length(*arrays)


def as_mauc_error(error: Exception) -> Exception:
    """Return an error of scikit-learn's checks as one of this library, with its message."""
    if isinstance(error, MaucError):
        return error
    kind = MaucTypeError if isinstance(error, TypeError) else MaucError
    return kind(str(error))


@contextmanager
def mauc_errors() -> Iterator[None]:
    """Raise errors of scikit-learn's checks as errors of this library."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def _table_error(error, X, takes_nominal):
    """Return an error that names the first column of a table that is not numeric, if any."""
    encode = (
        "encode or drop it first (for example with sklearn.preprocessing.OrdinalEncoder or "
        "OneHotEncoder)"
    )
    if is_frame(X):
        for j, name in enumerate(X.columns):
            column = X.iloc[:, j] if hasattr(X, "iloc") else X[name]
            values = np.asarray(column)
            if not _are_numbers(values):
                advice = (
                    "give it a categorical dtype or name it in categorical_features, or drop it"
                )
                return MaucError(
                    f"X must be numeric, but column {name!r} has dtype {column.dtype} with values "
                    f"such as {values[:1].tolist()[0]!r}; {advice if takes_nominal else encode}."
                )
        return as_mauc_error(error)
    try:
        values = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:  # rows of several lengths
        return as_mauc_error(error)
    if values.ndim != 2 or values.dtype.kind not in "OUS":
        return as_mauc_error(error)
    for j, column in enumerate(values.T):
        if not _are_numbers(column):
            value = next(
                one for one in column.tolist() if not _are_numbers(np.array([one], object))
            )
            advice = (
                "pass a data frame, of which text columns are nominal (behind a ColumnTransformer: "
                'set_output(transform="pandas")), or name the column in categorical_features'
            )
            cause = f" ({error})" if values.dtype.kind == "O" else ""
            kind = MaucTypeError if isinstance(error, TypeError) else MaucError
            return kind(
                f"X must be numeric, but column {j} of the array ({values.dtype}) has values such "
                f"as {value!r}{cause}; {advice if takes_nominal else encode}."
            )
    if values.dtype.kind in "US":
        return MaucError(
            f"X must be numeric, but is an array of text ({values.dtype}); convert it first: "
            f"X.astype(float)."
        )
    return as_mauc_error(error)


def _are_numbers(values):
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def check_class_weights(classes: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray) -> None:
    """Raise unless every class has a positive and finite total weight."""
    totals = np.bincount(codes, sample_weight)
    if not np.isfinite(totals.sum()):
        raise MaucError(
            f"sample_weight must have a finite total, got weights up to {sample_weight.max():.3g}; "
            f"divide them by their largest."
        )
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {format_labels(classes[totals <= 0][:1])}."
        )


def scale_by_class(
    weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``weights / 2**exponents[codes]`` and the exponents, 0 for a class without weight.

    AUCs of class pairs do not change thereby, not even in their last bit, but the product of two
    weights of 1e200 would be infinite and that of two of 1e-200 zero.
    """
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    exponents = np.frexp(largest)[1]
    return np.ldexp(weights, -exponents[codes]), exponents


def scale_weights(
    sample_weight: np.ndarray | None, codes: np.ndarray, class_weights: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """Scale the weights by class, only where their products leave the doubles; exponents third."""
    n_classes = len(class_weights)
    largest = np.abs(np.frexp(class_weights)[1]).max(initial=0)
    if sample_weight is None or largest <= _MAX_EXPONENT:
        return sample_weight, class_weights, np.zeros(n_classes, np.int64)
    scaled, exponents = scale_by_class(sample_weight, codes, n_classes)
    totals = np.bincount(codes, scaled, minlength=n_classes)
    return scaled, totals, exponents.astype(np.int64)


def effective_rows(
    weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights that sum to the effective number of rows of each class, and their units."""
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    scaled = weights / largest[codes]
    totals = np.bincount(codes, scaled, minlength=n_classes)
    factors = totals / np.bincount(codes, scaled * scaled, minlength=n_classes)
    return scaled * factors[codes], largest / factors
