"""A data set that is not in memory: a source with all columns in, features and labels out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.datasets.assemble import check_kept, warn_left_out
from mauc.datasets.dataset import Dataset
from mauc.datasets.labels import check_labels
from mauc.datasets.notes import columns_note
from mauc.datasets.readers import find_format
from mauc.datasets.readers.table import Table
from mauc.datasets.roles import find_roles
from mauc.exceptions import MaucError
from mauc.sources.feature_columns import FeatureColumns, as_series, find_features
from mauc.sources.kinds import open_any
from mauc.sources.labels import as_labels, is_column, names_of, table_of
from mauc.sources.transposed import TextSource, open_transposed_text

_TEXT = ("csv", "tsv", "txt")  # formats of rows, which are transposed on disk


def open_table(
    data: str,
    target: str | int | None,
    *,
    memory: int | None = None,
    format: str | None = None,
    texts: Sequence[str | int] = (),
    **reading: Any,
) -> tuple[ColumnSource, Table, str | int | None]:
    """Open all columns of data that are not read into memory.

    Parameters
    ----------
    data, target, memory, format, **reading
        As in `mauc.open_columns`.
    texts : sequence of str or int
        Columns of a text file to keep as the text that stands there.

    Returns
    -------
    source : ColumnSource
        All columns, the target among them.
    table : Table
        Names, labels if they are kept apart, and notes; it holds no values.
    target : str, int or None
        The column with the labels; None if they are kept apart.
    """
    check_options(data, format, reading)
    if _is_text(data, format):
        text = open_transposed_text(
            data, memory=memory, format=format, texts=texts, label=target, **reading
        )
        return text, _text_table(text), target
    source, found = open_any(
        data, target, memory=memory, format=format, storage_options=None, reading=reading
    )
    table = table_of(source)
    if found is None or is_column(found):
        return source, table, found
    return source, replace(table, labels=as_labels(found)), None


def check_options(data: str, format: str | None, given: Mapping[str, Any]) -> None:
    """Raise if an option of a text file or spreadsheet is given for another kind of data."""
    name = format or _format_of(data)
    for option, value in given.items():
        takers = (
            ("xlsx",) if option == "sheet" else (*_TEXT, "xlsx") if option == "missing" else _TEXT
        )
        if value is not None and name not in takers:
            raise MaucError(f"{data}: {option} goes with {', '.join(takers)} files, got {value!r}.")


def _is_text(data: str, format: str | None) -> bool:
    """Whether data are a file of rows of text."""
    return Path(data).is_file() and (format or _format_of(data)) in _TEXT


def _format_of(data: str) -> str | None:
    try:
        return find_format(data)
    except MaucError:
        return None  # whoever opens it says what is wrong


def _text_table(source: TextSource) -> Table:
    notes: list[str] = list(source.notes)
    return Table(
        Path(source.path), None, names_of(source), target=source.target,
        locate_row=source.locate_row, hint=source.hint, missing_words=source.missing_words,
        check_column=_ColumnCheck(source, notes), notes=notes,
    )  # fmt: skip


class _ColumnCheck:
    """Checks columns of a text file as the reader of whole files does, and adds to its notes."""

    def __init__(self, source: TextSource, notes: list[str]) -> None:
        self._source, self._notes = source, notes

    def __call__(self, place: int) -> None:
        self._notes += self._source.check_column(place)


def assemble_stream(
    source: ColumnSource,
    table: Table,
    name: str,
    target: str | int | None = None,
    *,
    categorical_features: Sequence[str | int] = (),
    drop: Sequence[str | int] = (),
    keep_ids: bool = False,
    skip_unlabelled: bool = False,
    many_classes: bool = False,
    settle: bool = False,
) -> Dataset:
    """Split a source into features and labels, as `load_dataset` splits a file.

    Parameters
    ----------
    source : ColumnSource
        All columns, the target among them.
    table : Table
        What is known of the file beside its values: names, notes, labels that it keeps apart.
    name : str
        Of the data set.
    target, categorical_features, drop, keep_ids, skip_unlabelled, many_classes
        As in `mauc.datasets.load_dataset`.
    settle : bool, default=False
        Whether columns that may be no features are all read now, see `find_features`.

    Returns
    -------
    dataset : Dataset
        With a source as `X`.
    """
    roles = find_roles(table, target, drop, categorical_features)
    if roles.target is None:
        labels, target_name, what = table.labels, "class", "y"
    else:
        target_name = table.names[roles.target]
        read = source.read(np.array([roles.target]))[0]
        labels, what = as_series(read, source.types[roles.target]), f"column {target_name!r}"
    y, is_missing, label_notes = check_labels(
        table, labels, what, skip_unlabelled=skip_unlabelled, many_classes=many_classes
    )
    indices = set(getattr(source, "index_names", ()))  # pandas makes no columns of them
    kept = [j for j in roles.features if table.names[j] not in indices]
    left_out, unsettled = dict[int, str](), set[int]()
    if not keep_ids and source.feature_names is not None:  # columns of arrays have no names
        kept, left_out, unsettled = find_features(table, source, kept, roles.marked, settle=settle)
    reasons = {table.names[j]: reason for j, reason in left_out.items()}
    check_kept(table, kept, reasons)
    for j in kept:
        if j not in roles.marked:
            table.check_column(j)
    X: Any = FeatureColumns(table, source, kept, roles.marked, unsettled)
    n_nominal = int(X.is_text.sum())
    if is_missing.any():
        X = X.take_rows(~is_missing)
    warn_left_out(table, reasons)
    notes = [columns_note(len(kept) - n_nominal, n_nominal, left_out=reasons)]
    names = [table.names[j] for j in kept]
    return Dataset(
        name, X, y, names, target_name=target_name, notes=(*notes, *label_notes, *table.notes)
    )
