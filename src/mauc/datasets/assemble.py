"""Turn a table into a data set: find the target, check the labels, keep what are features."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import sparse

from mauc.checks import is_class_count, many_classes_text
from mauc.datasets.dataset import Dataset, is_frame
from mauc.datasets.features import feature_matrix
from mauc.datasets.left_out import find_left_out, list_left_out
from mauc.datasets.notes import columns_note
from mauc.datasets.readers.table import Table, first_few
from mauc.exceptions import LeftOutWarning, MaucError, warn_user


def assemble(
    table: Table,
    target: str | int | None = None,
    *,
    categorical_features: Sequence[str | int] = (),
    drop: Sequence[str | int] = (),
    keep_ids: bool = True,
    skip_unlabelled: bool = False,
    many_classes: bool = False,
) -> Dataset:
    """Split a table into features and labels.

    Parameters
    ----------
    table : Table
    target : str or int, optional
        The column with the labels, by name or number.
    categorical_features : sequence of str or int
        Columns that are nominal even if they hold numbers.
    drop : sequence of str or int
        Columns to leave out.
    keep_ids : bool, default=True
        Whether to keep what `find_left_out` finds to be no features.
    skip_unlabelled : bool, default=False
        Whether to leave out rows without a label; otherwise they are refused.
    many_classes : bool, default=False
        Whether so many classes are accepted that the target may be no class.

    Returns
    -------
    dataset : Dataset
        Nominal columns are kept as such.
    """
    place = find_target(table, target)
    dropped = {find_column(table, name, "drop") for name in drop}
    marked = {find_column(table, name, "categorical_features") for name in categorical_features}
    if place is not None and place in dropped:
        raise MaucError(f"{table.path}: drop has {table.names[place]!r}, which is the target.")
    chosen = [j for j in range(len(table.names)) if j != place and j not in dropped]
    if not chosen:
        listed = first_few(table.names)
        raise MaucError(f"{table.path} has no column left to be a feature. Its columns: {listed}.")
    if place is None:
        assert table.labels is not None
        labels, target_name = table.labels, "class"
    else:
        labels, target_name = _label_column(table, place), table.names[place]
    what = f"column {target_name!r}" if place is not None else "y"
    y, is_missing = check_labels(
        table, labels, what, skip_unlabelled=skip_unlabelled, many_classes=many_classes
    )
    left_out = {} if keep_ids else find_left_out(table, chosen, marked)
    kept = [j for j in chosen if j not in left_out]
    reasons = {table.names[j]: reason for j, reason in left_out.items()}
    if not kept:
        raise MaucError(
            f"{table.path} has no column left to be a feature; left out: {list_left_out(reasons)}. "
            f"Say keep_ids=True to keep them."
        )
    X = feature_matrix(table, kept, marked)
    if is_missing.any():
        X = X.loc[~is_missing].reset_index(drop=True) if is_frame(X) else X[~is_missing]
    names = [table.names[j] for j in kept]
    dataset = Dataset(table.path.name, X, y, names, target_name=target_name)
    nominal = dataset.nominal_features
    categories = {name: tuple(X[name].cat.categories) for name in nominal}
    notes = [columns_note(len(names) - len(nominal), len(nominal), left_out=reasons)]
    if reasons:
        it = "it" if len(reasons) == 1 else "them"
        warn_user(
            f"{table.path}: left out: {list_left_out(reasons)}; keep_ids=True keeps {it}.",
            LeftOutWarning,
        )
    notes += _label_notes(table, y, is_missing)
    return replace(dataset, categories=categories, notes=(*notes, *table.notes))


def check_labels(
    table: Table,
    labels: Any,
    what: str,
    *,
    skip_unlabelled: bool = False,
    many_classes: bool = False,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Check that labels are there and are classes.

    Parameters
    ----------
    table : Table
        For error messages.
    labels : ndarray or Series of shape (n_samples,)
    what : str
        How messages call the labels.
    skip_unlabelled, many_classes : bool
        As in `assemble`.

    Returns
    -------
    y : ndarray of shape (n_labelled,)
        Integers or texts.
    is_missing : ndarray of shape (n_samples,), bool
        Rows without a label.
    """
    is_missing = _missing(labels)
    if not skip_unlabelled:
        _refuse_missing(table, is_missing, what)
    y = _plain_labels(table, labels, is_missing, what)
    n_classes = len(np.unique(y))
    if not many_classes and not is_class_count(n_classes, len(y)):
        raise MaucError(
            f"{table.path}: {what} has {many_classes_text(n_classes, len(y))}. If they are "
            f"classes all the same, say many_classes=True."
        )
    return y, is_missing


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


def find_target(table: Table, target: str | int | None) -> int | None:
    """Return the column with the labels, or None if they are kept apart."""
    if table.labels is not None:
        if target is not None:
            raise MaucError(
                f"{table.path} has its labels already (apart from the features), "
                f"got target {target!r}; leave it out."
            )
        return None
    if target is None:
        if table.target is None:
            raise MaucError(
                f"{table.path} needs a target column (--target). "
                f"Its columns: {first_few(table.names)}.{table.hint}"
            )
        return table.target
    return find_column(table, target, "target")


def find_column(table: Table, wanted: str | int, option: str) -> int:
    """Return the place of a column given by name or number (from 0, or -1 for the last)."""
    names = table.names
    if isinstance(wanted, str):
        if wanted in names:
            return names.index(wanted)
        if not wanted.removeprefix("-").isdigit():
            folded = {name.lower(): name for name in reversed(names)}
            near = get_close_matches(wanted.lower(), list(folded), n=1)
            hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
            raise MaucError(
                f"{table.path} has no column {wanted!r}{hint} "
                f"Its columns: {first_few(names)}.{table.hint}"
            )
    number = int(wanted)
    if not -len(names) <= number < len(names):
        raise MaucError(
            f"{table.path}: {option} as a column number must be in "
            f"[{-len(names)}, {len(names) - 1}], got {number}."
        )
    return number % len(names)


def _label_column(table: Table, place: int) -> Any:
    if is_frame(table.values):
        return table.values.iloc[:, place]
    column = table.values[:, [place]]
    column = (column.toarray() if sparse.issparse(column) else np.asarray(column)).ravel()
    declared = table.categories.get(table.names[place])
    if declared is None:
        return column
    codes = np.where(np.isnan(column), -1, column).astype(np.int64)
    return np.array([*declared, None], dtype=object)[codes]


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
