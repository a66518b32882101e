"""How a file is read: one list of options for Python, plans and the command line.

Messages name a parameter by `mauc.exceptions.option`: ``option("drop", "id")`` is ``drop='id'``
in Python. The command line runs its commands within ``spell_options(command_line_option)``, and
the same messages, notes and warnings, also those of other threads, have ``--drop id``.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from textwrap import fill, indent
from typing import Any, TypeVar

from mauc.checks import check_choice, check_int, is_int, is_real
from mauc.exceptions import MaucError, option

NOMINAL = ("keep", "ordinal", "onehot", "drop")

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class OptionText:
    """What is written of an option: on the command line, and in docstrings."""

    kind: str  #: as numpydoc has it
    text: str  #: for both
    more: str = ""  #: further lines of docstrings
    flag: str = ""  #: on the command line; empty if it has none
    metavar: str = ""  #: empty for a switch


def _option(default: Any, kind: str, cli: str, text: str, more: str = "") -> Any:
    flag, _, metavar = cli.partition(" ")
    return field(default=default, metadata={"text": OptionText(kind, text, more, flag, metavar)})


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; `make` checks what a user gives."""

    target: str | int | None = _option(
        None,
        "str or int, optional",
        "--target COLUMN",
        "Column with the labels, by name or number (-1 is the last).",
        "Formats that keep labels apart (npz, mat, svmlight) need none; the default of arff files "
        "and of text files without a header is the last column.",
    )
    groups: str | int | None = _option(
        None,
        "str or int, optional",
        "--groups COLUMN",
        "Column that says which rows belong together, such as a patient: it is not a feature, and "
        "such rows are on one side of every split.",
        "`Dataset.groups` has it; `open_columns` does not take it.",
    )
    format: str | None = _option(
        None,
        "str, optional",
        "--format NAME",
        "Format of the file, if its extension does not tell: arff, csv, dta (Stata), feather, "
        "hdf5, json (also lines of it), mat, npy, npz, parquet, sas (xpt, sas7bdat), sav (SPSS), "
        "sql (SQLite), svmlight, tsv, txt (separator found), xlsx (also xls, ods) or zarr.",
        "Text, json, dta and sas files may be compressed (``.csv.gz``, bz2, xz, zst, or zip with "
        "one file).",
    )
    nominal: str = _option(
        "keep",
        '{"keep", "ordinal", "onehot", "drop"}, default="keep"',
        "--nominal HOW",
        "Nominal columns: keep them, or make them codes (ordinal) or indicators (onehot), or drop "
        "them.",
        "Columns of text, categories and booleans are nominal, see `encode_dataset`.",
    )
    categorical_features: tuple[str | int, ...] = _option(
        (),
        "str, int or sequence of these",
        "--categorical COLUMN",
        "Columns that are nominal although they hold numbers.",
    )
    columns: tuple[str | int, ...] | None = _option(
        None,
        "str, int or sequence of these, optional",
        "",
        "Columns that are features, in this order; all but the target by default.",
    )
    drop: tuple[str | int, ...] = _option(
        (),
        "str, int or sequence of these",
        "--drop COLUMN",
        "Columns to leave out; also several (a,b) and patterns (Class*).",
    )
    keep_ids: bool = _option(
        False,
        "bool",
        "--keep-ids",
        "Keep columns that look like row numbers, ids or dates, constant and nearly empty ones; "
        "they are left out otherwise.",
        "False by default in `load_dataset`, True in `open_columns`, which reads every column once "
        "to find them.",
    )
    skip_unlabelled: bool = _option(
        False,
        "bool, default=False",
        "--skip-unlabelled",
        "Leave out rows without a label; otherwise they are an error.",
    )
    many_classes: bool = _option(
        False,
        "bool, default=False",
        "--many-classes",
        "Accept a target of more than 1,000 classes, or of more than 20 with hardly more than one "
        "row each, which is otherwise taken for a measurement.",
    )
    min_class_size: int | None = _option(
        None,
        "int, optional",
        "--min-class-size N",
        "Leave out the rows of classes with fewer rows than this, after merging.",
    )
    merge: tuple[str, ...] = _option(
        (),
        "str or sequence of str",
        "--merge CLASSES=NAME",
        "Classes to take as one, and its name: 'A,B=AB'.",
    )
    classes: tuple[str, ...] | None = _option(
        None,
        "str, int or sequence of these, optional",
        "--classes CLASSES",
        "Classes to keep, such as A,B,C, after merging; rows of others are left out.",
    )
    missing: tuple[str, ...] | None = _option(
        None,
        "str or sequence of str, optional",
        "--missing WORD",
        "Words that stand for a missing value in text files, spreadsheets and other tables of "
        "cells, besides nothing, ?, NA, N/A, NaN, nan and null.",
        "Labels that are names are missing only where there is nothing, ``?`` or one of these "
        'words: "NA" may be a class.',
    )
    separator: str | None = _option(
        None,
        "str, optional",
        "--separator TEXT",
        "Column separator of a csv, tsv or txt file: one character, or whitespace for any run of "
        "blanks and tabs; found where the first lines leave no doubt.",
    )
    decimal: str | None = _option(
        None,
        "str, optional",
        "--decimal TEXT",
        "Decimal point of a text file (found if not separated by commas), or of texts in cells.",
    )
    thousands: str | None = _option(
        None,
        "str, optional",
        "--thousands TEXT",
        "What separates thousands in a text file or a spreadsheet.",
        'By default it is recognised in columns that leave no doubt, such as one with "3,070" and '
        '"1,234,567".',
    )
    header: bool | None = _option(
        None,
        "bool, optional",
        "--header/--no-header",
        "Whether the first line of a text file holds names of columns, or data; by default it is "
        "compared with the lines below.",
    )
    skip_rows: int | None = _option(
        None,
        "int, optional",
        "--skip-rows N",
        "Lines of a text file, or rows of a sheet, above the names of the columns; by default "
        "titles are found: a single word or text above wider rows. With 0 no row is left out, also "
        "none below the data, such as a total or a source.",
    )
    encoding: str | None = _option(
        None,
        'str, default="utf-8"',
        "--encoding NAME",
        "Encoding of a text file, such as latin-1; by default utf-8, or utf-16 where the file "
        "begins with a byte order mark of it.",
    )
    sheet: str | int | None = _option(
        None,
        "str or int, optional",
        "--sheet NAME",
        "Sheet of an xlsx, xls or ods file, by name or number; the first by default.",
    )
    sql: str | None = _option(
        None,
        "str, optional",
        "--sql QUERY",
        "Query whose rows are read, of an SQLite file or of the address of a data base "
        "(postgresql://...); the only table of a file by default.",
    )
    storage_options: Mapping[str, Any] | None = _option(
        None,
        "mapping, optional",
        "",
        "Options of the file system of an address (``s3://...``), such as keys.",
    )

    @classmethod
    def make(cls, function: str, given: Mapping[str, Any]) -> "ReadOptions":
        """Return the options that the caller of `function` gives, in their plain types."""
        unknown = sorted(set(given) - set(DEFAULTS))
        if unknown:
            raise TypeError(f"{function}() got an unexpected keyword argument {unknown[0]!r}")
        checked = {name: make(name, given[name]) for name, make in _PLAIN.items() if name in given}
        options = cls(**{**given, **checked})
        check_choice(option("nominal"), options.nominal, NOMINAL)
        if options.format is not None:
            from mauc.io.formats import FORMATS  # which take these options

            check_choice(option("format"), options.format, FORMATS)
        return options

    def given(self) -> dict[str, Any]:
        """Return the options that are not left to their defaults."""
        return {
            item.name: value
            for item in fields(self)
            if (value := getattr(self, item.name)) != item.default
        }


#: every option with its default
DEFAULTS: dict[str, Any] = {item.name: item.default for item in fields(ReadOptions)}
#: every option with its text
TEXTS: dict[str, OptionText] = {item.name: item.metadata["text"] for item in fields(ReadOptions)}
#: the options of the command line, by the name of the parameter
COMMAND_LINE = {name: text for name, text in TEXTS.items() if text.flag}


def command_line_option(name: str, *value: Any) -> str:
    """Return a parameter, with its value if there is one, as the command line has it."""
    known = COMMAND_LINE.get(name)
    flag = known.flag if known is not None else f"--{name.replace('_', '-')}"
    if not value or isinstance(value[0], bool):
        return flag.split("/")[-1 if False in value else 0]
    text = str(value[0])
    return f"{flag} {shlex.quote(text) if any(map(str.isalnum, text)) else repr(text)}"


def with_option_texts(function: _Function) -> _Function:
    """Put the texts of options in the place of ``{target}`` and ``{options}`` in a docstring."""
    parts = []
    for name, known in TEXTS.items():
        text = fill(f"{known.text} {known.more}".strip(), 92)
        parts.append(indent(f"{name} : {known.kind}\n{indent(text, '    ')}", "    "))
    texts = (function.__doc__ or "").replace("    {target}", parts[0])
    function.__doc__ = texts.replace("    {options}", "\n".join(parts[1:]))
    return function


def _plain_columns(name: str, given: Any) -> tuple[str | int, ...] | None:
    """Return columns as plain names and numbers."""
    if given is None and DEFAULTS[name] is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    return tuple(_plain_column(name, column) for column in given)


def _plain_column(name: str, column: Any) -> str | int:
    if isinstance(column, str):
        return str(column)
    if is_int(column):
        return int(column)
    raise MaucError(f"{option(name)} must name columns by text or whole number, got {column!r}.")


def _plain_words(name: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or is_real(given):
        given = [given]
    return tuple(str(word) for word in given)


def _plain_count(name: str, given: Any, low: int) -> int | None:
    is_text = isinstance(given, str) and given.isdigit()  # of the command line
    return check_int(option(name), int(given) if is_text else given, low, optional=True)


_PLAIN: dict[str, Callable[[str, Any], Any]] = {
    "classes": _plain_words,
    "merge": lambda name, value: _plain_words(name, value) or (),
    "min_class_size": partial(_plain_count, low=1),
    "skip_rows": partial(_plain_count, low=0),
    "target": lambda name, value: None if value is None else _plain_column(name, value),
    "groups": lambda name, value: None if value is None else _plain_column(name, value),
    "sheet": lambda name, value: int(value) if is_int(value) else value,
    "categorical_features": _plain_columns,
    "columns": _plain_columns,
    "drop": _plain_columns,
    "missing": _plain_words,
}
