"""Read expression matrices: a row per gene and a column per sample in, a row per sample out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.data.columns import is_frame
from mauc.datasets.readers.files import check_file
from mauc.datasets.readers.formats import find_format, read_table
from mauc.datasets.readers.missing import MISSING, MISSING_LABELS
from mauc.datasets.readers.sample_labels import (
    SUFFIX,
    SampleLabels,
    find_labels,
    read_sample_labels,
)
from mauc.datasets.readers.table import Table, first_few
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


#: formats of files that may have samples in columns
MATRICES = ("csv", "tsv", "txt")
#: the column or row with the labels of a file that is called by the name of its data set
LABEL = "class"


def read_samples(
    path: Path, format: str | None, target: str | int | None, *, is_named: bool, **options: Any
) -> tuple[Table, str | int | None]:
    """Read a file of any format; a text file may have its samples in rows or in columns.

    Parameters
    ----------
    path : Path
    format, **options
        As in `read_table`.
    target : str or int, optional
        The column with the labels. In a text file that has no such column it may be a row, by its
        first cell: then rows are features, and the other columns samples. Without a target, the
        labels of a text file may be in ``NAME_labels.tsv`` (or csv, txt) beside it.
    is_named : bool
        Whether the file was found by the name of its data set: then the target of a text file is
        `LABEL` unless another is given.

    Returns
    -------
    table : Table
        Samples in rows.
    target : str, int or None
        The column with the labels; None if they are apart.
    """
    check_file(path)
    if find_format(path, format) not in MATRICES:
        return read_table(path, format, **options), target
    beside = find_labels(path) if target is None else None
    if beside is not None:
        table = read_table(path, format, **options)
        if table.labels is not None or table.target is not None:  # of a format without a header
            return table, None
        return _with_labels(table, format, beside, options), None
    is_default = target is None and is_named
    if is_default:
        target = LABEL
    table = read_table(path, format, **{**options, "label": target})
    if _has_label_row(table, target):
        return turn_matrix(table, target=str(target), decimal=options.get("decimal") or "."), None
    if is_default and table.target is not None and LABEL not in table.names:
        return read_table(path, format, **options), None
    if is_default:
        stem = path.name.removesuffix(".gz").rpartition(".")[0]
        ways = (
            f" Labels are a column or a row called {LABEL!r}, or in {stem}{SUFFIX}.tsv beside it."
        )
        table = replace(table, hint=table.hint + ways)
    return table, target


def _has_label_row(table: Table, target: str | int | None) -> bool:
    """Whether the target is no column of a table but one of its rows, by their first cell."""
    if not isinstance(target, str) or target in table.names or not is_frame(table.values):
        return False
    if target.removeprefix("-").isdigit():  # the number of a column
        return False
    return len(table.names) > 2 and bool((table.values.iloc[:, 0] == target).any())


def _with_labels(table: Table, format: str | None, beside: Path, options: dict[str, Any]) -> Table:
    """Give a table the labels of another file, which tells whether rows or columns are samples."""
    path, as_read = table.path, table
    texts = [*(options.get("texts") or ()), 0]
    table = read_table(path, format, **{**options, "texts": texts})  # names may look like numbers
    header, first = table.names[1:], _texts(table.values.iloc[:, 0])
    given = read_sample_labels(beside, {*header, *first}, options.get("encoding") or "utf-8")
    if given.samples is None:
        in_columns, in_rows = (len(given.labels) == len(part) for part in (header, first))
        if in_columns and in_rows:
            raise MaucError(
                f"{beside} has {len(given.labels)} labels, and {path.name} as many rows as "
                f"columns; put the name of its sample before each label."
            )
    else:
        known = set(given.samples)
        in_columns, in_rows = (not known.isdisjoint(part) for part in (header, first))
    if in_columns:
        return turn_matrix(table, given=given, decimal=options.get("decimal") or ".")
    if in_rows and given.samples is None:
        labels, _ = given.labels_of(first)
        return replace(as_read, labels=labels)
    if in_rows:
        return _samples_in_rows(table, given)
    what = (
        f"{len(given.labels)} labels" if given.samples is None
        else f"samples such as {first_few(given.samples[:3])}"
    )  # fmt: skip
    raise MaucError(
        f"{beside} has {what}, but {path.name} has {len(header)} columns "
        f"({first_few(header[:3])}, ...) and {len(first)} rows ({first_few(first[:3])}, ...) after "
        f"its names; neither are these samples."
    )


def turn_matrix(
    table: Table,
    *,
    target: str | None = None,
    given: SampleLabels | None = None,
    decimal: str = ".",
) -> Table:
    """Turn a matrix of genes x samples into a table of samples x genes.

    Parameters
    ----------
    table : Table
        Of a text file, its first column the names of the genes.
    target : str, optional
        The row with the labels, by its first cell.
    given : SampleLabels, optional
        Labels of another file, in place of `target`.
    decimal : str, default="."
        The decimal point.
    """
    names = _texts(table.values.iloc[:, 0])
    samples = table.names[1:]
    is_gene = np.array([name != target for name in names])
    notes = list(table.notes)
    if given is None:
        rows = np.flatnonzero(~is_gene)
        if len(rows) > 1:
            raise MaucError(
                f"{table.path}: {len(rows)} rows are called {target!r}; the labels are one of them."
            )
        labels = _row_labels(table, int(rows[0]))
        chosen = list(range(len(samples)))
    else:
        is_sample = [not _is_annotation(table, j + 1, given) for j in range(len(samples))]
        chosen = np.flatnonzero(is_sample).tolist()
        left_out = [name for name, is_kept in zip(samples, is_sample, strict=True) if not is_kept]
        if left_out:
            notes.append(f"columns of text that are no samples left out: {first_few(left_out)}")
        labels, more = given.labels_of([samples[j] for j in chosen])
        notes += more
    X = np.empty((len(chosen), int(is_gene.sum())))
    for row, j in enumerate(chosen):
        X[row] = _numbers(table, j + 1, is_gene, decimal)
    genes, n_renamed = unique_names([name for name in names if name != target])
    if n_renamed:
        notes.append(f"{n_renamed} rows have the name of an earlier one, and were numbered")
    notes.insert(0, f"rows of the file are features, its {len(chosen)} columns samples")

    def locate_row(row: int) -> str:
        return f"column {samples[chosen[row]]!r}"

    return Table(table.path, X, genes, labels=labels, locate_row=locate_row, notes=notes)


def unique_names(names: Sequence[str]) -> tuple[list[str], int]:
    """Return names with numbers after those that occurred before, and how many these are.

    Examples
    --------
    >>> from mauc.datasets.readers.expression import unique_names
    >>> unique_names(["TG", "TPO", "TG"])
    (['TG', 'TPO', 'TG.2'], 1)
    """
    taken, seen, unique = set(names), set[str](), []
    for name in names:
        new, number = name, 1
        while new in seen or (number > 1 and new in taken):
            number += 1
            new = f"{name}.{number}"
        seen.add(new)
        unique.append(new)
    return unique, sum(new != name for new, name in zip(unique, names, strict=True))


def _samples_in_rows(table: Table, given: SampleLabels) -> Table:
    """Give the rows of a table their labels; the first column names the samples."""
    labels, more = given.labels_of(_texts(table.values.iloc[:, 0]))

    def check_column(place: int) -> None:
        table.check_column(place + 1)

    if more:
        assert isinstance(table.notes, list)
        table.notes.extend(more)  # in place, as it grows while columns are checked
    return replace(
        table, values=table.values.iloc[:, 1:], names=table.names[1:], labels=labels,
        check_column=check_column,
    )  # fmt: skip


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


def _texts(column: "pd.Series[Any]") -> list[str]:
    return [_text(cell) for cell in column]


def _row_labels(table: Table, row: int) -> np.ndarray[Any, Any]:
    """Return the labels of a row; whole numbers where all of them are."""
    texts = [_text(table.values.iat[row, j]) for j in range(1, len(table.names))]
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return np.array([None if text in MISSING_LABELS else text for text in texts], dtype=object)
    # Whole numbers, if the row had none but numbers; others are refused as labels are checked.
    return np.array(numbers)


def _is_annotation(table: Table, place: int, given: SampleLabels) -> bool:
    """Whether a column describes the genes: text, and no sample of the file with the labels."""
    is_sample = given.samples is None or table.names[place] in given.samples
    return not is_sample and table.values.dtypes.iloc[place].kind not in "fiub"


def _numbers(
    table: Table, place: int, is_gene: np.ndarray[Any, Any], decimal: str
) -> np.ndarray[Any, Any]:
    """Return the numbers of a column; a row of labels makes all of them texts."""
    column: np.ndarray[Any, Any] = table.values.iloc[:, place].to_numpy()[is_gene]
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    numbers = np.empty(len(column))
    for row, cell in enumerate(column):
        text = _text(cell)
        try:
            numbers[row] = np.nan if text in MISSING else float(text.replace(decimal, "."))
        except ValueError:
            place_in_file = int(np.flatnonzero(is_gene)[row])
            gene = table.values.iat[place_in_file, 0]
            raise MaucError(
                f"{table.path}, {table.locate_row(place_in_file)}: the row {gene!r} has {text!r} "
                f"in column {table.names[place]!r}, where an expression matrix has a number. "
                f"Remove rows and columns that describe genes or samples, apart from the names and "
                f"the labels."
            ) from None
    return numbers
