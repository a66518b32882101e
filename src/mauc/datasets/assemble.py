"""Turn a table into a data set: find the target, check the labels, keep what are features."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame
from mauc.datasets.dataset import Dataset
from mauc.datasets.features import feature_matrix
from mauc.datasets.labels import check_labels
from mauc.datasets.left_out import find_left_out, list_left_out
from mauc.datasets.notes import columns_note
from mauc.datasets.readers.table import Table
from mauc.datasets.roles import find_roles
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
    place, chosen, marked = find_roles(table, target, drop, categorical_features)
    if place is None:
        assert table.labels is not None
        column, target_name, what = table.labels, "class", "y"
    else:
        column, target_name = _label_column(table, place), table.names[place]
        what = f"column {target_name!r}"
    y, is_missing, label_notes = check_labels(
        table, column, what, skip_unlabelled=skip_unlabelled, many_classes=many_classes
    )
    left_out = {} if keep_ids else find_left_out(table, chosen, marked)
    kept = [j for j in chosen if j not in left_out]
    reasons = {table.names[j]: reason for j, reason in left_out.items()}
    check_kept(table, kept, reasons)
    X = feature_matrix(table, kept, marked)
    if is_missing.any():
        X = X.loc[~is_missing].reset_index(drop=True) if is_frame(X) else X[~is_missing]
    names = [table.names[j] for j in kept]
    dataset = Dataset(table.path.name, X, y, names, target_name=target_name)
    nominal = dataset.nominal_features
    categories = {name: tuple(X[name].cat.categories) for name in nominal}
    notes = [columns_note(len(names) - len(nominal), len(nominal), left_out=reasons)]
    warn_left_out(table, reasons)
    return replace(dataset, categories=categories, notes=(*notes, *label_notes, *table.notes))


def check_kept(table: Table, kept: Sequence[int], reasons: Mapping[str, str]) -> None:
    """Raise if no column is left to be a feature."""
    if not kept:
        raise MaucError(
            f"{table.path} has no column left to be a feature; left out: "
            f"{list_left_out(dict(reasons))}. Say keep_ids=True to keep them."
        )


def warn_left_out(table: Table, reasons: Mapping[str, str]) -> None:
    """Warn of the columns that were left out, if there are any."""
    if reasons:
        it = "it" if len(reasons) == 1 else "them"
        warn_user(
            f"{table.path}: left out: {list_left_out(dict(reasons))}; keep_ids=True keeps {it}.",
            LeftOutWarning,
        )


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
