"""The labels of a source: a column of it, or an array beside it; checked as those of a file."""

from typing import Any, cast

import numpy as np

from mauc.data.columns import default_names
from mauc.data.source import ColumnSource
from mauc.data.validate import check_vector
from mauc.datasets.labels import check_labels
from mauc.datasets.readers.table import Table, first_few
from mauc.datasets.roles import find_column
from mauc.exceptions import MaucError

Array = np.ndarray[Any, Any]


def names_of(source: ColumnSource) -> list[str]:
    """Return the names of the columns; x0, x1, ... where they have none."""
    if source.feature_names is None:
        return default_names(range(source.shape[1]))
    return [str(name) for name in source.feature_names]


def table_of(source: ColumnSource) -> Table:
    """Return a source as the table that error messages are about; it holds no values."""
    known = {"locate_row", "hint", "missing_words", "target"}  # that text files tell
    more = {name: getattr(source, name) for name in known if hasattr(source, name)}
    return Table(cast(Any, source.name), None, names_of(source), **more)


def find_place(table: Table, wanted: Any, option: str) -> int:
    """Return the place of a column given by name or number."""
    if not isinstance(wanted, str):
        try:
            wanted = int(wanted)
        except (TypeError, ValueError):
            raise MaucError(
                f"{option} must name columns by text or whole number, got {wanted!r}."
            ) from None
    return find_column(table, wanted, option)


def is_column(target: Any) -> bool:
    """Whether a target is the name or number of a column, not an array of labels."""
    return isinstance(target, str) or np.ndim(target) == 0


def take_labels(
    source: ColumnSource, target: Any, *, skip_unlabelled: bool, many_classes: bool
) -> tuple[int | None, Array, Array]:
    """Return the column of the labels, the labels, and which rows have none.

    Parameters
    ----------
    source : ColumnSource
        With all columns.
    target : str, int or array-like of shape (n_samples,)
    skip_unlabelled, many_classes : bool
        As in `mauc.datasets.load_dataset`.

    Returns
    -------
    place : int or None
        None if the labels are no column of the source.
    y : ndarray of shape (n_labelled,)
    is_missing : ndarray of shape (n_samples,), bool
    """
    place = None
    if target is None:
        target = getattr(source, "target", None)  # of a text file without names
    if target is None:
        names = source.feature_names
        shown = "" if names is None else f" Its columns: {first_few(names_of(source))}."
        raise MaucError(
            f"{source.name} needs a target: the name or number of the column with the labels, or "
            f"an array of labels.{shown}"
        )
    if is_column(target):
        place = find_place(table_of(source), target, "target")
        labels, what = source.read(np.array([place]))[0], f"column {names_of(source)[place]!r}"
    else:
        labels, what = as_labels(target), "target"
        if len(labels) != source.shape[0]:
            raise MaucError(
                f"{source.name} has {source.shape[0]:,} rows, but target has {len(labels):,} "
                f"labels."
            )
    if not hasattr(labels, "isna") and labels.dtype.kind in "mM":
        import pandas

        labels = pandas.Series(labels)
    y, is_missing, _ = check_labels(
        table_of(source), labels, what, skip_unlabelled=skip_unlabelled, many_classes=many_classes
    )
    return place, y, is_missing


def as_labels(target: Any) -> Any:
    """Return labels of any kind as an array or Series; Dask collections are computed."""
    if hasattr(target, "compute"):
        target = target.compute()
    if hasattr(target, "to_pandas"):
        target = target.to_pandas()  # of Arrow or polars
    if hasattr(target, "isna") and hasattr(target, "to_numpy"):
        return target
    return check_vector(target, "target")
