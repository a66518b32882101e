"""Check the labels of a table: a column of any type in, integers or texts out."""

from typing import Any, NamedTuple

import numpy as np

from mauc.checks import is_class_count, many_classes_text
from mauc.datasets.readers.table import Table
from mauc.exceptions import MaucError


class Labels(NamedTuple):
    """The labels of a table."""

    y: np.ndarray[Any, Any]  #: integers or texts, of the rows that have one
    is_missing: np.ndarray[Any, Any]  #: mask of all rows
    notes: list[str]  #: what a user may not expect


def check_labels(
    table: Table, column: Any, what: str, *, skip_unlabelled: bool, many_classes: bool
) -> Labels:
    """Return the labels of a table; raise if they are none.

    Parameters
    ----------
    table : Table
        Its path, its words for missing values and where its rows are; its values are not looked
        at.
    column : Series or ndarray of shape (n_samples,)
    what : str
        How errors call it.
    skip_unlabelled : bool
        Whether to leave out rows without a label; otherwise they are refused.
    many_classes : bool
        Whether so many classes are accepted that the column may be no class.
    """
    is_missing = _missing(column)
    if not skip_unlabelled:
        _refuse_missing(table, is_missing, what)
    y = _plain_labels(table, column, is_missing, what)
    n_classes = len(np.unique(y))
    if not many_classes and not is_class_count(n_classes, len(y)):
        raise MaucError(
            f"{table.path}: {what} has {many_classes_text(n_classes, len(y))}. If they are "
            f"classes all the same, say many_classes=True."
        )
    return Labels(y, is_missing, _label_notes(table, y, is_missing))


def _label_notes(
    table: Table, y: np.ndarray[Any, Any], is_missing: np.ndarray[Any, Any]
) -> list[str]:
    """Return what a user may not expect of the labels."""
    notes = []
    n_missing = int(is_missing.sum())
    if n_missing:
        notes.append(f"{n_missing} row{'s' * (n_missing > 1)} without a label left out")
    if y.dtype.kind == "U":
        for word in sorted(set(table.missing_words) & set(np.unique(y).tolist())):
            notes.append(f"{word!r} is a class; missing={word!r} makes it a missing label")
    return notes


def _refuse_missing(table: Table, is_missing: np.ndarray[Any, Any], what: str) -> None:
    if is_missing.any():
        row = int(np.argmax(is_missing))
        more = f" ({int(is_missing.sum())} rows have none)" if is_missing.sum() > 1 else ""
        raise MaucError(
            f"{table.path}: {what} has no label in {table.locate_row(row)}{more}; "
            f"give it one, or say skip_unlabelled=True to leave such rows out."
        )


def _plain_labels(
    table: Table, labels: Any, is_missing: np.ndarray[Any, Any], what: str
) -> np.ndarray[Any, Any]:
    """Return the labels that there are as integers or texts."""
    rows = np.flatnonzero(~is_missing)
    if len(rows) == 0:
        raise MaucError(f"{table.path}: {what} has no label in any row. Is it the right target?")
    labels = labels[~is_missing]
    if str(labels.dtype) == "category":
        labels = labels.cat.remove_unused_categories()
        kept = np.asarray(labels.cat.categories)
        if kept.dtype.kind not in "iuf":
            kept = np.array([str(value) for value in kept.tolist()])
        labels = kept[labels.cat.codes.to_numpy()]
    values = np.asarray(labels)
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.round(values))
        if not whole.all():
            row = int(np.argmin(whole))
            raise MaucError(
                f"{table.path}: {what} holds {values[row]} in "
                f"{table.locate_row(int(rows[row]))}: labels are names or integers, not "
                f"measurements. Is it the right target?"
            )
        return values.astype(np.int64)
    if values.dtype.kind == "U":
        return values
    return np.array([str(value) for value in values.tolist()])


def _missing(labels: Any) -> np.ndarray[Any, Any]:
    if hasattr(labels, "isna"):
        is_missing: np.ndarray[Any, Any] = labels.isna().to_numpy()
        return is_missing
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind in "OU":
        return np.array([value is None or value == "" or value != value for value in labels])
    return np.zeros(labels.shape, bool)
