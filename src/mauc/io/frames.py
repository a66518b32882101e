"""Open what pandas reads whole: spreadsheets, JSON, files of SPSS, Stata and SAS, SQL queries.

Texts in them become numbers or categories by the rules of text files, see `mauc.io.words`.
"""

import functools
import io
import json
import re
import sqlite3
import zipfile
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
from mauc.io.files import (
    MAX_GROWN,
    check_growth,
    content_error,
    hide_password,
    is_address,
    open_binary,
)
from mauc.io.footers import MAX_FOOTERS, FooterRule, footers_note
from mauc.io.lines import count_titles, find_encoding, is_number, skip_mark, titles_note
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_unique, find_place, first_few, number_row
from mauc.io.words import MISSING, check_words, type_words

# Sheets of workbooks, and what in them places cells.
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml|content\.xml")
_COUNT = re.compile(rb"""<(?:\w+:)?sst\b[^>]*?ount=["'](\d{1,99})""")  # of shared texts
_COLUMN_NAME = re.compile(rb"""r=["']([A-Z]+)""")
_ROW_NUMBER = re.compile(rb"""r=["'][A-Z]*(\d+)""")
_NAMELESS = re.compile(rb"<(?:\w+:)?c(?! r=)[ />]")
_ODS_TAG = re.compile(rb"<(?:\w+:)?table-(row|cell)\b([^>]*)>")
_ODS_REPEATED = re.compile(rb"""-repeated=["'](\d+)""")
_MAX_ABSENT = 10**7  # cells that are not in the file; one takes about 125 bytes of memory


def open_frame(path: Path | str, options: ReadOptions, memory: int | None) -> Table:
    """Open a file of SPSS, Stata, SAS or JSON, or the rows of a query."""
    try:
        frame = _read_sql(path, options) if options.format == "sql" else _read(path, options)
    except (MaucError, MemoryError):
        raise
    except ImportError as error:  # the driver of a data base
        raise MissingExtraError(f"{path} needs a package that is missing: {error}") from error
    except Exception as error:  # files of another kind fail in many ways, deep in the parsing
        if options.format == "sql":
            raise MaucError(
                f"{hide_password(str(path))} cannot be queried: {first_line(error)}."
            ) from error
        raise content_error(Path(path), f"a {options.format} file ({first_line(error)})") from error
    return _frame_table(path, frame, options, memory)


def _read(path: Any, options: ReadOptions) -> Any:
    import pandas as pd

    if options.format == "sav":
        optional_import("pyreadstat", "SPSS files")
        return pd.read_spss(path)
    with open_binary(path) as file:
        content = file.read()
    if options.format == "json":
        return _parse_json(content.decode(skip_mark(find_encoding(path, options.encoding))))
    if options.format == "dta":
        return pd.read_stata(io.BytesIO(content), order_categoricals=False)
    is_xport = content.startswith(b"HEADER RECORD")
    kind, encoding = ("xport", "utf-8") if is_xport else ("sas7bdat", "infer")
    return pd.read_sas(io.BytesIO(content), format=kind, encoding=options.encoding or encoding)


def _parse_json(text: str) -> Any:
    """Return records, lines of records, columns, or what pandas writes as split or table."""
    import pandas as pd

    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    rows = data.get("data") if isinstance(data, dict) else None
    if isinstance(rows, list) and rows and isinstance(rows[0], dict | list):
        return pd.DataFrame(rows, columns=data.get("columns"))
    has_records = isinstance(data, list) and isinstance(data[0], dict)
    return pd.json_normalize(data) if has_records else pd.DataFrame(data)


def _read_sql(path: Path | str, options: ReadOptions) -> Any:
    """Read the rows of a query, or of the only table of an SQLite file."""
    import pandas as pd

    if is_address(str(path)):
        optional_import("sqlalchemy", "addresses of data bases")
        return pd.read_sql_query(options.sql, str(path))
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as base:
        if options.sql is not None:
            return pd.read_sql_query(options.sql, base)
        # Not views, which may be queries without an end.
        found = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in found if not name.startswith("sqlite_")]
        if len(tables) != 1:
            example = option("sql", f"SELECT * FROM {(tables or ['name'])[0]}")
            listed = f" ({first_few(tables)})" if tables else ", views apart"
            raise MaucError(f"{path} has {len(tables)} tables{listed}; pass a query, {example}.")
        name = tables[0].replace('"', '""')
        return pd.read_sql_query(f'SELECT * FROM "{name}"', base)


def open_sheet(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open a sheet of a workbook, whose first row below titles names the columns."""
    import pandas as pd

    calamine = optional_import("python_calamine", "Excel and ods files")
    _check_cells(path)
    try:
        with path.open("rb") as file, pd.ExcelFile(file, engine="calamine") as book:
            titles = [str(title) for title in book.sheet_names]
            place = find_place(titles, options.sheet or 0)
            if place is None:
                raise unknown_choice(f"{path}: {option('sheet')}", options.sheet, titles)
            cells, names, notes = _read_sheet(book, place, options.skip_rows)
            label, others = find_place(names, options.target), titles[:place] + titles[place + 1 :]
            if label is None and isinstance(options.target, str):
                _check_sheets(path, book, place, options)
    except calamine.CalamineError as error:
        raise content_error(path, "an Excel workbook (.xlsx)") from error
    hint = f" Other sheets: {first_few(others)}; {option('sheet')} names one." if others else ""
    if options.sheet is None and others:
        notes.append(f"the first sheet; {option('sheet')} names another: {first_few(others)}")
    if options.skip_rows != 0 and len(cells):
        rule = FooterRule(
            len(names),
            label,
            options.missing or (),
            ".",
            options.thousands,
            lambda: _cell_texts(cells),
        )
        last = _cell_texts(cells.iloc[1:].iloc[-MAX_FOOTERS:])
        n_footers = rule.count(last)
        footers = zip(
            cells.index[len(cells) - n_footers :], last[len(last) - n_footers :], strict=True
        )
        notes += footers_note([(f"row {row + 1}", " ".join(filter(None, c))) for row, c in footers])
        cells = cells.iloc[: len(cells) - n_footers]
    rows = cells.index
    return _frame_table(
        path,
        cells.set_axis(names, axis=1),
        options,
        memory,
        notes,
        lambda row: f"row {rows[row] + 1}",
        hint,
    )


def _read_sheet(book: Any, place: int, skip_rows: int | None) -> tuple[Any, list[str], list[str]]:
    """Return the cells of a sheet below the names of its columns, the names, and notes."""
    import pandas as pd

    cells = pd.read_excel(
        book, sheet_name=place, header=None, dtype=object, keep_default_na=False, na_values=[""]
    )
    cells = cells.iloc[skip_rows or 0 :].dropna(how="all").dropna(how="all", axis=1)
    texts = _cell_texts(cells.iloc[:50])
    n_titles = 0 if skip_rows is not None else count_titles(texts)
    heads = zip(cells.columns, texts[n_titles] if texts else [], strict=True)
    names = [name or f"column{j + 1}" for j, name in heads]
    return cells.iloc[n_titles + 1 :], names, titles_note([row[0] for row in texts[:n_titles]])


def _check_sheets(path: Path, book: Any, place: int, options: ReadOptions) -> None:
    """Raise if the target is not a column of this sheet, but of others."""
    titles = [str(title) for title in book.sheet_names]
    others = [title for j, title in enumerate(titles) if j != place]
    holders = [
        title
        for title in others
        if options.target in _read_sheet(book, titles.index(title), options.skip_rows)[1]
    ]
    if holders:
        own = f"the first sheet, {titles[0]!r}," if place == 0 else f"sheet {titles[place]!r}"
        have = "sheet {} has" if len(holders) == 1 else "sheets {} have"
        have = have.format(", ".join(map(repr, holders[:10])))
        raise MaucError(
            f"{path}: {own} has no column {options.target!r}, but {have} one; pass "
            f"{option('sheet', holders[0])}."
        )


def _cell_texts(cells: Any) -> list[list[str]]:
    """Return the cells of a sheet as texts, empty where they hold nothing."""
    rows = cells.astype(object).where(cells.notna(), "").to_numpy().tolist()
    return [[str(cell).strip() for cell in row] for row in rows]


def _check_cells(path: Path) -> None:
    """Raise if a few bytes of a workbook stand for more cells than can be held."""
    if not zipfile.is_zipfile(path):
        return
    n_bytes, size = 0, path.stat().st_size
    with zipfile.ZipFile(path) as book:
        for member in book.infolist():
            check_growth(path, member.file_size, member.compress_size, MAX_GROWN // 4)
            member.file_size = 2**62  # it is read to its end, whatever it claims
            content, sheet = bytearray(), member.filename
            with book.open(member) as file:
                while part := file.read(2**20):
                    content += part
                    check_growth(path, n_bytes + len(content), size, MAX_GROWN // 4)
            n_bytes += len(content)
            if max(map(int, _COUNT.findall(content[:4096])), default=0) > len(content):
                raise MaucError(f"{path}: {sheet} claims to have more than it has; save it again.")
            if not _SHEET.fullmatch(sheet):
                continue
            n_rows, n_columns = (_ods_extent if sheet == "content.xml" else _extent)(content)
            if n_rows * n_columns > _MAX_ABSENT + len(content):
                raise MaucError(
                    f"{path}: {sheet} spans {n_rows:,} rows and {n_columns:,} columns in "
                    f"{len(content):,} bytes: nearly all of its cells are empty or repeated. "
                    f"Delete those beyond the table, or save the sheet as csv."
                )


def _extent(content: bytearray) -> tuple[int, int]:
    """Return how many rows and columns the named cells of an Excel sheet span."""
    names = {*_COLUMN_NAME.findall(content)}
    widths = [functools.reduce(lambda n, code: 26 * n + code - 64, name, 0) for name in names]
    rows = map(int, {*_ROW_NUMBER.findall(content)})
    return max(rows, default=1), max(widths, default=0) + len(_NAMELESS.findall(content))


def _ods_extent(content: bytearray) -> tuple[int, int]:
    """Return how many rows and columns the cells of an ods table that hold something span."""
    row = column = n_rows = n_columns = 0
    for tag, attributes in _ODS_TAG.findall(content):
        repeated = _ODS_REPEATED.search(attributes)
        number = int(repeated[1]) if repeated else 1
        if tag == b"row":
            row, column = row + number, 0
        else:
            column += number
            if not attributes.endswith(b"/"):
                n_rows, n_columns = row, max(n_columns, column)
    return n_rows, n_columns


def _frame_table(
    path: Path | str,
    frame: Any,
    options: ReadOptions,
    memory: int | None,
    notes: Sequence[str] = (),
    locate_row: Callable[[int], str] = number_row,
    hint: str = "",
) -> Table:
    """Return the table of a frame of pandas, its columns of texts and objects typed."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    check_unique(path, names, hint)
    if 0 in frame.shape:
        raise MaucError(
            f"{path} must hold names of columns and rows, got {len(names)} names only.{hint}"
        )
    missing, decimal = options.missing or (), options.decimal or "."
    gaps = [float(word) for word in missing if is_number(word)]
    label, said = find_place(names, options.target), list(notes)
    columns, texts = {}, {}
    for j, name in enumerate(names):
        column = frame.iloc[:, j].reset_index(drop=True)
        known = column.cat.categories if hasattr(column, "cat") else column.dropna()
        is_text = str(known.dtype) in ("object", "str", "string")
        if hasattr(column, "cat"):  # labels of some numbers are words among numbers
            is_text &= not all(isinstance(value, str) for value in known)
        if column.dtype == object and len(known) and all(isinstance(v, date) for v in known):
            columns[name] = pd.to_datetime(column)
        elif not is_text:
            is_gap = column.isin(gaps)
            columns[name] = column.mask(is_gap) if is_gap.any() else column
        else:
            plain = [
                v.strip() if isinstance(v, str) else str(v).replace(".", decimal)
                for v in column.astype(object).where(column.notna(), "")
            ]
            codes, words = pd.factorize(np.array(plain, object))
            typed = type_words(
                name, words, missing, decimal, options.thousands, is_label=j == label
            )
            columns[name], texts[j] = typed.decode(codes), (typed, codes)
            said += [typed.note] if typed.note else []

    def check_column(j: int) -> list[str]:
        return (
            check_words(Path(path), names[j], *texts[j], missing, locate_row) if j in texts else []
        )

    return Table(
        path,
        FrameSource(pd.DataFrame(columns), str(path), memory=memory),
        names,
        locate_row=locate_row,
        check_column=check_column,
        notes=said,
        hint=hint,
        missing_words=tuple(word for word in MISSING if word not in missing),
        uses_word=lambda word: (
            options.target not in options.categorical_features
            and any(word in typed.words for j, (typed, _) in texts.items() if j != label)
        ),
    )
