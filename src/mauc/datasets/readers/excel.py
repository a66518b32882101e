"""Read Excel workbooks (.xlsx): a sheet whose first row names the columns in, a table out."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_choice
from mauc.datasets.readers.files import content_error, read_beginning
from mauc.datasets.readers.missing import MISSING, find_place, read_labels
from mauc.datasets.readers.table import Table, check_unique
from mauc.exceptions import MaucError
from mauc.extras import optional_import

if TYPE_CHECKING:
    import pandas as pd


def read_xlsx(
    path: Path,
    *,
    sheet: str | int | None = None,
    missing: Sequence[str] = (),
    label: str | int | None = None,
) -> Table:
    """Read a sheet of a workbook.

    Parameters
    ----------
    path : Path
    sheet : str or int, optional
        Its name, or its number from 0; the first by default.
    missing : sequence of str
        What stands for a missing value besides an empty cell and `MISSING`.
    label : str or int, optional
        The column of labels, in which only an empty cell, ``?`` and `missing` are missing.

    Returns
    -------
    table : Table
        Formulas count with the value that was last computed for them.
    """
    openpyxl = optional_import("openpyxl", "Excel files")
    import pandas as pd

    if read_beginning(path, 4) != b"PK\x03\x04":
        raise content_error(path, "an Excel workbook (.xlsx)")
    try:
        with path.open("rb") as file:  # by its name openpyxl would refuse other extensions
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            titles = book.sheetnames
            rows = [list(row) for row in _find_sheet(path, book, sheet).iter_rows(values_only=True)]
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, MaucError):
            raise
        raise content_error(path, "an Excel workbook (.xlsx)") from error
    places = [place for place, row in enumerate(rows) if any(cell is not None for cell in row)]
    if len(places) < 2:
        raise MaucError(
            f"{path}: the sheet {_title(titles, sheet)!r} must have a row of names and rows below "
            f"it, got {len(places)} rows; other sheets: sheet= names one of "
            f"{', '.join(titles)}."
        )
    names, columns = _split(path, [rows[place] for place in places])
    at = find_place(names, label)
    frame = pd.DataFrame(
        {
            name: _typed(values, [*MISSING, *missing], missing, is_label=j == at)
            for j, (name, values) in enumerate(zip(names, columns, strict=True))
        }
    )
    notes: tuple[str, ...] = ()
    if sheet is None and len(titles) > 1:
        notes = (f"the sheet {titles[0]!r}, the first of {len(titles)}; sheet= names another",)
    return Table(
        path, frame, names, locate_row=lambda row: f"row {places[row + 1] + 1}",
        missing_words=tuple(word for word in MISSING if word not in missing), notes=notes,
    )  # fmt: skip


def _title(titles: list[str], sheet: str | int | None) -> str:
    return sheet if isinstance(sheet, str) else titles[sheet or 0]


def _find_sheet(path: Path, book: Any, sheet: str | int | None) -> Any:
    titles = book.sheetnames
    if isinstance(sheet, str) and sheet not in titles and sheet.isdigit():
        sheet = int(sheet)
    if isinstance(sheet, str):
        if sheet not in titles:
            raise unknown_choice(f"{path}: sheet", sheet, titles)
        return book[sheet]
    if not 0 <= (sheet or 0) < len(titles):
        raise MaucError(
            f"{path}: sheet as a number must be in [0, {len(titles) - 1}], got {sheet}."
        )
    return book[titles[sheet or 0]]


def _split(path: Path, rows: list[list[Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return names and columns; columns without any cell at the right are no columns."""
    width = max(j + 1 for row in rows for j, cell in enumerate(row) if cell is not None)
    rows = [row[:width] + [None] * (width - len(row)) for row in rows]
    heads = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    names = [head or f"column{j + 1}" for j, head in enumerate(heads)]
    check_unique(path, names)
    return names, [list(column) for column in zip(*rows[1:], strict=True)]


def _typed(
    values: list[Any], gaps: list[str], missing: Sequence[str], *, is_label: bool
) -> "pd.Series[Any]":
    import pandas as pd

    cleaned = [value.strip() if isinstance(value, str) else value for value in values]
    if is_label:
        column = pd.Series(cleaned, dtype=object)
        return read_labels(column.where(~column.isin(["", "?", *missing]), None), gaps)
    return pd.Series(
        [None if value in gaps else value for value in cleaned], dtype=object
    ).infer_objects()
