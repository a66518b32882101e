"""Class labels and groups: what they may be, their distinct values and codes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mauc.exceptions import MaucError, MaucTypeError, as_mauc_error, format_labels, mauc_errors

MAX_EXACT_INTEGER = 2**53  # up to which float64 holds all whole numbers
_STRINGS = 2**16  # that are Python objects at the same time
_MIN_TABLE = 2**16  # entries that a table of counts may have, however few the values are


def check_labels(y: ArrayLike) -> np.ndarray:
    """Return labels as an array of one dimension, with a warning where they are a column."""
    check_no_missing_label(y)
    with mauc_errors():
        return column_or_1d(y, warn=True)


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


def check_no_missing_label(y: object, name: str = "y") -> None:
    """Raise if a label is None, NaN, NaT or pandas' NA."""
    # Beside strings NumPy would turn NaN into the string "nan".
    try:
        values = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error
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


def encode_groups(groups: ArrayLike, n_samples: int) -> np.ndarray:
    """Return the number of the group of each sample, from 0 in the order of their labels."""
    check_no_missing_label(groups, "groups")
    labels = check_categories(groups, "groups")
    if len(labels) != n_samples:
        raise MaucError(
            f"groups must have a label for each of the {n_samples} rows, got {len(labels)}."
        )
    with mauc_errors():
        return factorize(labels)[1].astype(np.int64)


def check_vector(values: ArrayLike, name: str) -> np.ndarray:
    """Return one-dimensional values as an array; a column is flattened."""
    try:
        return column_or_1d(values)
    except ValueError as error:
        shape = np.shape(values)
        raise MaucError(f"{name} must have one dimension, got shape {shape}.") from error


def check_categories(values: ArrayLike, name: str) -> np.ndarray:
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


def missing_mask(values: Any) -> np.ndarray:
    """Return which entries of an array are None, NaN, NaT or pandas' NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O" or holds_strings(values):
        return np.zeros(values.shape, bool)
    return np.array([_is_missing(value) for value in values], bool)


def _is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # comparing NA gives NA, which has no truth value
        return True


def factorize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted distinct values, the code of each value (int32), and their counts."""
    found = factorize_linear(values)
    if found is None:
        distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        found = distinct, codes.astype(np.int32), counts.astype(np.int64)
    return found


def factorize_linear(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the result of `factorize` in linear time, or None where the values must be sorted."""
    if values.ndim != 1 or len(values) == 0:
        return None
    kind = values.dtype.kind
    if kind == "b":
        distinct, codes, counts = _whole_numbers(values.view(np.uint8), 0)
        return distinct.astype(np.bool_), codes, counts
    if kind in "iu":
        low = int(values.min())
        is_far = int(values.max()) - low >= max(_MIN_TABLE, len(values))
        return None if is_far else _whole_numbers(values, low)
    if kind == "f":
        return _whole_floats(values)
    return _strings(values) if kind == "U" or (kind == "O" and holds_strings(values)) else None


def holds_strings(values: np.ndarray) -> bool:
    """Whether every entry of an array of objects is a string."""
    return set(map(type, values.tolist())) == {str}


def _whole_numbers(values: np.ndarray, low: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count integers from `low` on in a table."""
    wide = np.uint64 if values.dtype == np.uint64 else np.int64
    offsets = (values.astype(wide, copy=False) - wide(low)).astype(np.intp, copy=False)
    counts = np.bincount(offsets)
    present = np.flatnonzero(counts)
    code = np.zeros(len(counts), np.int32)
    code[present] = np.arange(len(present))
    distinct = (present.astype(wide) + wide(low)).astype(values.dtype)
    return distinct, code[offsets], counts[present].astype(np.int64)


def _whole_floats(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Count floats that are whole numbers; None for others."""
    low, high = values.min(), values.max()  # NaN if there is one
    if not -MAX_EXACT_INTEGER <= low <= high <= MAX_EXACT_INTEGER or high - low >= max(
        _MIN_TABLE, len(values)
    ):
        return None
    whole = values.astype(np.int64)
    if (whole != values).any():
        return None
    distinct, codes, counts = _whole_numbers(whole, int(low))
    return distinct.astype(values.dtype), codes, counts


def _strings(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give strings numbers as they come, and sort the distinct ones alone."""
    codes = np.empty(len(values), np.int32)
    code_of: dict[str, int] = {}
    for start in range(0, len(values), _STRINGS):
        items = values[start : start + _STRINGS].tolist()
        for value in dict.fromkeys(items):
            code_of.setdefault(value, len(code_of))
        found = np.fromiter(map(code_of.__getitem__, items), np.int32, len(items))
        codes[start : start + _STRINGS] = found
    distinct = sorted(code_of)
    place = np.empty(len(distinct), np.int32)
    place[[code_of[value] for value in distinct]] = np.arange(len(distinct))
    codes = place[codes]
    return np.array(distinct, dtype=values.dtype), codes, np.bincount(codes).astype(np.int64)
