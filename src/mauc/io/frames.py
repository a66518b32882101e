"""Open what pandas reads whole: spreadsheets, JSON, files of SPSS, Stata and SAS, SQL queries.

Texts in them become numbers or categories by the rules of text files, see `mauc.io.words`.
"""

import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError, first_line, option
from mauc.extras import MissingExtraError, optional_import
from mauc.io.arrays import FrameSource
from mauc.io.files import content_error, is_address, open_binary
from mauc.io.heads import count_titles, titles_note
from mauc.io.lines import is_number, skip_mark
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_unique, find_place, first_few, number_row
from mauc.io.words import MISSING, check_words, type_words


def open_frame(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open a file of SPSS, Stata, SAS or JSON, or the rows of a query."""
    read, what = _READERS[str(options.format)]
    try:
        frame = read(path, options)
    except (MaucError, MemoryError):
        raise
    except ImportError as error:  # the driver of a data base
        raise MissingExtraError(f"{path} needs a package that is missing: {error}") from error
    except Exception as error:  # files of another kind fail in many ways, deep in the parsing
        if options.format == "sql":
            raise MaucError(f"{path} cannot be queried: {first_line(error)}.") from error
        raise content_error(Path(path), f"{what} ({first_line(error)})") from error
    if 0 in frame.shape:
        raise MaucError(
            f"{path} must hold columns and rows, got {frame.shape[1]} columns and none."
        )
    return _frame_table(path, frame, options, memory)


def _read_json(path: Path, options: ReadOptions) -> Any:
    """Read records, lines of records, columns, or what pandas writes as split or table."""
    import pandas as pd

    with open_binary(path) as file:
        text = file.read().decode(skip_mark(options.encoding or "utf-8"))
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    rows = data.get("data") if isinstance(data, dict) else None
    if isinstance(rows, list) and rows and isinstance(rows[0], dict | list):
        return pd.DataFrame(rows, columns=data.get("columns"))
    is_nested = isinstance(data, list) and isinstance(data[0], dict)
    return pd.json_normalize(data) if is_nested else pd.DataFrame(data)


def _read_sas(path: Path, options: ReadOptions) -> Any:
    import pandas as pd

    with open_binary(path) as file:
        content = file.read()
    is_xport = content.startswith(b"HEADER RECORD")
    return pd.read_sas(
        io.BytesIO(content), format="xport" if is_xport else "sas7bdat",
        encoding=options.encoding or ("utf-8" if is_xport else "infer"),
    )  # fmt: skip


def _read_stata(path: Path, options: ReadOptions) -> Any:
    import pandas as pd

    with open_binary(path) as file:
        return pd.read_stata(io.BytesIO(file.read()), order_categoricals=False)


def _read_spss(path: Path, options: ReadOptions) -> Any:
    import pandas as pd

    optional_import("pyreadstat", "SPSS files")
    return pd.read_spss(path)


def _read_sql(path: Path | str, options: ReadOptions) -> Any:
    """Read the rows of a query, or of the only table of an SQLite file."""
    import pandas as pd

    if is_address(str(path)):
        optional_import("sqlalchemy", "addresses of data bases")
        return pd.read_sql_query(options.sql, str(path))
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as base:
        query = options.sql
        if query is None:
            found = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            tables = [name for (name,) in found if not name.startswith("sqlite_")]
            if len(tables) != 1:
                example = option("sql", f"SELECT * FROM {(tables or ['t'])[0]}")
                raise MaucError(
                    f"{path} has {len(tables)} tables ({first_few(tables)}); pass a query, such as "
                    f"{example}."
                )
            query = f'SELECT * FROM "{tables[0]}"'
        return pd.read_sql_query(query, base)


_READERS: dict[str, tuple[Callable[[Any, ReadOptions], Any], str]] = {
    "dta": (_read_stata, "a Stata file"), "json": (_read_json, "a JSON table"),
    "sas": (_read_sas, "a SAS file"), "sav": (_read_spss, "an SPSS file"),
    "sql": (_read_sql, "an SQLite data base"),
}  # fmt: skip


def open_sheet(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open a sheet of a workbook, whose first row below titles names the columns."""
    import pandas as pd

    calamine = optional_import("python_calamine", "Excel and ods files")
    try:
        with path.open("rb") as file, pd.ExcelFile(file, engine="calamine") as book:
            titles = [str(title) for title in book.sheet_names]
            sheet = _find_sheet(path, titles, options.sheet)
            cells = pd.read_excel(
                book, sheet_name=sheet, header=None, dtype=object, keep_default_na=False,
                na_values=[""],
            )  # fmt: skip
    except calamine.CalamineError as error:
        raise content_error(path, "an Excel workbook (.xlsx)") from error
    cells = cells.iloc[options.skip_rows or 0 :]
    cells = cells[cells.notna().any(axis=1)]
    top = cells.head(50).where(cells.notna(), "")
    texts = [[str(cell).strip() for cell in row] for row in top.to_numpy()]
    n_titles = 0 if options.skip_rows is not None else count_titles(texts)
    notes = titles_note([row[0] for row in texts[:n_titles]])
    cells = cells.iloc[n_titles:]
    if len(cells) < 2:
        raise MaucError(
            f"{path}: the sheet {sheet!r} must have a row of names and rows below it, got "
            f"{len(cells)} rows; {option('sheet')} names another sheet of {', '.join(titles)}."
        )
    filled = np.flatnonzero(cells.notna().any(axis=0))
    cells = cells.iloc[:, : filled[-1] + 1]  # columns without any cell at the right
    heads = ["" if head != head else str(head).strip() for head in cells.iloc[0]]
    names = [head or f"column{j + 1}" for j, head in enumerate(heads)]
    if options.sheet is None and len(titles) > 1:
        notes.append(
            f"the sheet {sheet!r}; {option('sheet')} names another: {first_few(titles[1:])}"
        )
    frame = cells.iloc[1:].set_axis(names, axis=1)

    def locate_row(row: int) -> str:
        return f"row {cells.index[row + 1] + 1}"

    return _frame_table(path, frame, options, memory, notes, locate_row)


def _find_sheet(path: Path, titles: list[str], sheet: str | int | None) -> str:
    """Return the name of a sheet that is given by name or number."""
    place = find_place(titles, sheet or 0)
    if place is not None and (sheet in titles or not str(sheet).startswith("-")):
        return titles[place]
    if isinstance(sheet, str) and not sheet.isdigit():
        raise unknown_choice(f"{path}: {option('sheet')}", sheet, titles)
    raise MaucError(
        f"{path}: {option('sheet')} as a number must be in [0, {len(titles) - 1}], got {sheet}."
    )


def _frame_table(
    path: Path | str, frame: Any, options: ReadOptions, memory: int | None,
    notes: Sequence[str] = (), locate_row: Callable[[int], str] = number_row,
) -> Table:  # fmt: skip
    """Return the table of a frame of pandas, its columns of texts and objects typed."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    check_unique(path, names)
    missing, decimal = options.missing or (), options.decimal or "."
    gaps = [float(word) for word in missing if is_number(word)]
    label, said = find_place(names, options.target), list(notes)
    columns, texts = {}, {}
    for j, name in enumerate(names):
        column = frame.iloc[:, j].reset_index(drop=True)
        if isinstance(column.dtype, pd.CategoricalDtype):
            # Some values have labels and others none: numbers, with words among them.
            is_text = not all(isinstance(value, str) for value in column.cat.categories)
        else:
            is_text = pd.api.types.is_string_dtype(column) or column.dtype == object
        known = column.dropna()
        if column.dtype == object and len(known) and all(isinstance(c, date) for c in known):
            columns[name] = pd.to_datetime(column)
            continue
        if not is_text:
            is_gap = column.isin(gaps)
            columns[name] = column.mask(is_gap) if is_gap.any() else column
            continue
        plain = [cell.strip() if isinstance(cell, str) else str(cell).replace(".", decimal)
                 for cell in column.astype(object).where(column.notna(), "")]  # fmt: skip
        codes, words = pd.factorize(np.array(plain, object))
        typed = type_words(name, words, missing, decimal, options.thousands, is_label=j == label)
        columns[name], texts[j] = typed.decode(codes), (typed, codes)
        said += [typed.note] if typed.note else []

    def check_column(j: int) -> list[str]:
        return check_words(path, names[j], *texts[j], missing, locate_row) if j in texts else []

    return Table(
        path, FrameSource(pd.DataFrame(columns), str(path), memory=memory), names,
        locate_row=locate_row, check_column=check_column, notes=said,
        missing_words=tuple(word for word in MISSING if word not in missing),
    )  # fmt: skip
