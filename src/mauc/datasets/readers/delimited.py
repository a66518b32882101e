"""Read CSV and TSV files: rows of text in, a table with numbers and text columns out."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.datasets.dataset import MAX_EXACT_INTEGER
from mauc.datasets.readers.exact import exact_floats
from mauc.datasets.readers.files import check_text, open_text
from mauc.datasets.readers.lines import Lines
from mauc.datasets.readers.missing import MISSING, MISSING_LABELS, find_place, read_labels
from mauc.datasets.readers.sniff import WHITESPACE
from mauc.datasets.readers.table import Table, check_precision
from mauc.datasets.readers.thousands import is_ambiguous, read_thousands
from mauc.exceptions import MaucError
from mauc.extras import optional_import

if TYPE_CHECKING:
    import pandas as pd

_MIN_WORDS = 0.1  # share of words from which a column of numbers and words is nominal
_MIN_ROWS = 10  # in fewer rows any word may be a slip
# An integer, or a number with a decimal comma.
_INTEGER = re.compile(r"[+-]?\d+")
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def read_delimited(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    decimal: str = ".",
    thousands: str | None = None,
    missing: Sequence[str] = (),
    texts: Sequence[str | int] = (),
    label: str | int | None = None,
) -> Table:
    """Read a text file with one row per line.

    Parameters
    ----------
    path : Path
        Compressed by gzip or not.
    separator : str, optional
        One character, or "whitespace" for any run of blanks and tabs; by default a comma, or a
        semicolon where the comma is the decimal point.
    encoding : str, default="utf-8"
    header : bool, default=True
        Whether the first line holds the names of the columns. Without it they are x0, x1, ...
        and the last one is the target unless another is named.
    decimal : str, default="."
        The decimal point.
    thousands : str, optional
        What separates thousands; by default it is found where the numbers of a column leave no
        doubt, see `read_thousands`.
    missing : sequence of str
        What stands for a missing value besides `MISSING`.
    texts : sequence of str or int
        Columns to keep as the text that stands in the file, by name or number.
    label : str or int, optional
        The column of labels, by default the last if there is no header. There only nothing, ``?``
        and what `missing` names are missing: "NA" may be the name of a class.

    Returns
    -------
    table : Table
    """
    pd = optional_import("pandas", "csv and tsv files")
    if separator is None:
        separator = ";" if decimal == "," else ","
    _check_marks(separator, decimal, thousands)
    check_text(path, "text of rows and columns", encoding)
    lines = Lines(path, separator, encoding, header)
    names = lines.check()
    if not header and label is None:
        label = -1
    at = find_place(names, label)
    kept = {names[j] for j in (find_place(names, text) for text in texts) if j is not None}
    gaps = {name: [*MISSING, *missing] for name in names}
    if at is not None:
        gaps[names[at]] = [*MISSING_LABELS, *missing]
    with open_text(path, encoding) as file:
        try:
            frame = pd.read_csv(
                file, sep=r"\s+" if separator == WHITESPACE else separator,
                header=0 if header else None, names=names, decimal=decimal,
                na_values=gaps, keep_default_na=False, index_col=False,
                skipinitialspace=separator not in (" ", WHITESPACE), low_memory=False,
                dtype=dict.fromkeys(kept, str),
                **exact_floats(),
            )  # fmt: skip
        except pd.errors.ParserError as error:
            raise MaucError(f"{path} cannot be read as rows and columns: {error}") from error
    if at is not None and names[at] not in kept:
        frame[names[at]] = read_labels(frame[names[at]], MISSING)
    notes: list[str] = []
    for place, name in enumerate(names):
        if name not in kept and place != at and frame[name].dtype.kind == "O":
            notes += _join_thousands(frame, name, decimal, thousands)

    def check_column(place: int) -> None:
        if names[place] not in kept:
            notes.extend(_check_column(lines, names, place, frame.iloc[:, place]))

    return Table(
        path, frame, names, target=None if header else len(names) - 1,
        locate_row=lines.locate_row, check_column=check_column, hint=lines.hint(names),
        missing_words=tuple(word for word in MISSING if word not in missing), notes=notes,
    )  # fmt: skip


def _check_marks(separator: str, decimal: str, thousands: str | None) -> None:
    if separator != WHITESPACE and len(separator) != 1:
        raise MaucError(
            f"separator must be one character, or 'whitespace' for blanks and tabs, "
            f"got {separator!r}."
        )
    for option, value in (("decimal", decimal), ("thousands", thousands or ",")):
        if len(value) != 1:
            raise MaucError(f"{option} must be one character, got {value!r}.")
    if separator == decimal:
        raise MaucError(f"separator and decimal must differ, got {separator!r} for both.")
    if thousands == decimal:
        other = "," if decimal == "." else "."
        raise MaucError(
            f"decimal and thousands must differ, got {decimal!r} for both; say decimal={other!r}."
        )


def _join_thousands(
    frame: "pd.DataFrame", name: str, decimal: str, thousands: str | None
) -> list[str]:
    """Make numbers of a column of texts with separated thousands, and say so; else nothing."""
    known = frame[name].dropna()
    if len(known) == 0 or not all(isinstance(value, str) for value in known.unique()):
        return []
    found = read_thousands(known.str.strip(), decimal, thousands)
    if found is None:
        return []
    numbers, example = found
    frame[name] = type(known)(numbers, index=known.index).reindex(frame.index)
    return [f"column {name!r}: texts such as {example!r} are numbers with separated thousands"]


def _check_column(
    lines: Lines, names: list[str], place: int, column: "pd.Series[Any]"
) -> list[str]:
    """Return what is to be said of a column; raise if numbers lose digits or have words in them.

    A tenth of words and more is no slip: the column is nominal.
    """
    import pandas as pd

    name = names[place]
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        # A missing value turns a column of integers into floats, which hold fewer digits.
        if (column.abs() >= MAX_EXACT_INTEGER).any():
            check_precision(lines.path, name, lines.column(place))
        return []
    texts = column.dropna()
    if len(texts) == 0 or all(isinstance(value, bool) for value in texts.unique()):
        return []
    texts = texts.astype(str).str.strip()
    is_number = pd.to_numeric(texts, errors="coerce").notna()
    if is_number.all():
        check_precision(lines.path, name, lines.column(place))
    is_comma = texts.map(lambda text: _COMMA_NUMBER.fullmatch(text) is not None)
    is_whole = texts.map(lambda text: _INTEGER.fullmatch(text) is not None)
    if is_comma.any() and (is_comma | is_whole).all():
        if is_ambiguous(texts):
            raise MaucError(
                f"{lines.path}: column {name!r} holds numbers such as "
                f"{texts[is_comma].iloc[0]!r}: say thousands=',' if the comma separates thousands, "
                f"decimal=',' if it is a decimal comma."
            )
        raise MaucError(
            f"{lines.path}: column {name!r} holds numbers with a decimal comma, such as "
            f"{texts[is_comma].iloc[0]!r}; say decimal=','."
        )
    n_words = int((~is_number).sum())
    if not is_number.any() or n_words == 0:
        return []
    if len(texts) < _MIN_ROWS or n_words < _MIN_WORDS * len(texts):
        raise _mixture_error(lines, name, texts, is_number)
    return [f"column {name!r} mixes {n_words} words and {len(texts) - n_words} numbers: nominal"]


def _mixture_error(
    lines: Lines, name: str, texts: "pd.Series[Any]", is_number: "pd.Series[Any]"
) -> MaucError:
    n_numbers = int(is_number.sum())
    is_odd = ~is_number if 2 * n_numbers >= len(texts) else is_number
    row = is_odd.idxmax()
    return MaucError(
        f"{lines.path}: column {name!r} mixes {n_numbers} numbers and {len(texts) - n_numbers} "
        f"texts; the first odd value is {texts[row]!r} on {lines.locate_row(int(row))}. Correct "
        f"it; or, if it stands for a missing value, say missing={texts[row]!r}; or, if the column "
        f"is nominal, say categorical_features={name!r}."
    )
