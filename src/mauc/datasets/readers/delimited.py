"""Read CSV and TSV files: rows of text in, a table with numbers and text columns out."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.datasets.dataset import MAX_EXACT_INTEGER
from mauc.datasets.readers.exact import exact_floats
from mauc.datasets.readers.files import check_text, open_text
from mauc.datasets.readers.lines import Lines
from mauc.datasets.readers.table import Table, check_precision
from mauc.exceptions import MaucError
from mauc.extras import optional_import

if TYPE_CHECKING:
    import pandas as pd

# What stands for a missing value in most files; pandas' longer list has words that are names.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")
# An integer, or a number with a decimal comma.
_INTEGER = re.compile(r"[+-]?\d+")
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def read_delimited(
    path: Path,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    header: bool = True,
    decimal: str = ".",
    missing: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> Table:
    """Read a text file with one row per line.

    Parameters
    ----------
    path : Path
        Compressed by gzip or not.
    separator : str, default=","
        One character.
    encoding : str, default="utf-8"
    header : bool, default=True
        Whether the first line holds the names of the columns. Without it they are x0, x1, ...
        and the last one is the target unless another is named.
    decimal : str, default="."
        The decimal point.
    missing : sequence of str
        What stands for a missing value besides `MISSING`.
    texts : sequence of str
        Columns to keep as the text that stands in the file.

    Returns
    -------
    table : Table
    """
    pd = optional_import("pandas", "csv and tsv files")
    for option, value in (("separator", separator), ("decimal", decimal)):
        if len(value) != 1:
            raise MaucError(f"{option} must be one character, got {value!r}.")
    if separator == decimal:
        raise MaucError(f"separator and decimal must differ, got {separator!r} for both.")
    check_text(path, "text of rows and columns", encoding)
    lines = Lines(path, separator, encoding, header)
    names = lines.check()
    gaps = [*MISSING, *missing]
    with open_text(path, encoding) as file:
        try:
            frame = pd.read_csv(
                file, sep=separator, header=0 if header else None, names=names, decimal=decimal,
                na_values=gaps, keep_default_na=False, index_col=False,
                skipinitialspace=separator != " ", low_memory=False,
                dtype=dict.fromkeys(set(texts) & set(names), str),
                **exact_floats(),
            )  # fmt: skip
        except pd.errors.ParserError as error:
            raise MaucError(f"{path} cannot be read as rows and columns: {error}") from error

    def check_column(place: int) -> None:
        if names[place] not in texts:
            _check_column(lines, names, place, frame.iloc[:, place], gaps)

    return Table(
        path, frame, names, target=None if header else len(names) - 1,
        locate_row=lines.locate_row, check_column=check_column, hint=lines.hint(names),
    )  # fmt: skip


def _check_column(
    lines: Lines, names: list[str], place: int, column: "pd.Series[Any]", gaps: list[str]
) -> None:
    """Raise if a column mixes numbers and text, loses digits, or numbers the rows."""
    import pandas as pd

    name = names[place]
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        # A missing value turns a column of integers into floats, which hold fewer digits.
        if (column.abs() >= MAX_EXACT_INTEGER).any():
            check_precision(lines.path, name, lines.column(place))
        _check_row_numbers(lines.path, name, place, column)
        return
    texts = column.dropna()
    if len(texts) == 0 or all(isinstance(value, bool) for value in texts.unique()):
        return
    texts = texts.astype(str).str.strip()
    is_number = pd.to_numeric(texts, errors="coerce").notna()
    if is_number.all():
        check_precision(lines.path, name, lines.column(place))
    is_comma = texts.map(lambda text: _COMMA_NUMBER.fullmatch(text) is not None)
    is_whole = texts.map(lambda text: _INTEGER.fullmatch(text) is not None)
    if is_comma.any() and (is_comma | is_whole).all():
        raise MaucError(
            f"{lines.path}: column {name!r} holds numbers with a decimal comma, such as "
            f"{texts[is_comma].iloc[0]!r}; say decimal=','."
        )
    if is_number.any():
        raise _mixture_error(lines, name, texts, is_number)


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


def _check_row_numbers(path: Path, name: str, place: int, column: "pd.Series[Any]") -> None:
    """Raise if a column without a name numbers the rows: it would be taken as a feature."""
    is_nameless = name == f"column{place + 1}"
    steps = column.diff().iloc[1:]
    if is_nameless and len(steps) and (steps == 1).all():
        raise MaucError(
            f"{path}: column {place + 1} has no name and numbers the rows (as pandas and R write "
            f"them), which is no feature; say drop={name!r}, or give the column a name."
        )
