"""Read CSV and TSV files: rows of text in, a table with numbers and text columns out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.datasets.readers.column_checks import check_text_column
from mauc.datasets.readers.exact import exact_floats
from mauc.datasets.readers.files import check_text, open_text
from mauc.datasets.readers.lines import Lines
from mauc.datasets.readers.missing import MISSING, MISSING_LABELS, find_place, read_labels
from mauc.datasets.readers.sniff import WHITESPACE
from mauc.datasets.readers.table import Table
from mauc.datasets.readers.thousands import read_thousands
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


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
    layout = plan_delimited(
        path, separator=separator, encoding=encoding, header=header, decimal=decimal,
        thousands=thousands, missing=missing, texts=texts, label=label,
    )  # fmt: skip
    with layout.opened() as file:
        frame = layout.parse(file)
    notes = layout.convert(frame)
    names, lines = layout.names, layout.lines

    def check_column(place: int) -> None:
        notes.extend(layout.check_column(place, frame.iloc[:, place]))

    return Table(
        path, frame, names, target=None if header else len(names) - 1,
        locate_row=lines.locate_row, check_column=check_column, hint=lines.hint(names),
        missing_words=layout.missing_words, notes=notes,
    )  # fmt: skip


def plan_delimited(
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
) -> "Delimited":
    """Check that a file is rows of the same number of cells; parameters as of `read_delimited`."""
    if separator is None:
        separator = ";" if decimal == "," else ","
    _check_marks(separator, decimal, thousands)
    check_text(path, "text of rows and columns", encoding)
    lines = Lines(path, separator, encoding, header)
    names = lines.check()
    if not header and label is None:
        label = -1
    kept = {names[j] for j in (find_place(names, text) for text in texts) if j is not None}
    return Delimited(
        lines, names, label=find_place(names, label), texts=frozenset(kept), decimal=decimal,
        thousands=thousands, missing=tuple(missing),
    )  # fmt: skip


@dataclass(frozen=True)
class Delimited:
    """How the text of a file becomes columns: all that is known before its rows are parsed.

    Parameters
    ----------
    lines : Lines
        Checked.
    names : list of str
    label : int, optional
        The column of labels.
    texts : frozenset of str
        Columns that stay text.
    decimal, thousands, missing
        As in `read_delimited`.
    """

    lines: Lines
    names: list[str]
    label: int | None
    texts: frozenset[str]
    decimal: str
    thousands: str | None
    missing: tuple[str, ...]

    def opened(self) -> AbstractContextManager[TextIOWrapper]:
        """Open the file as text."""
        return open_text(self.lines.path, self.lines.encoding)

    def parse(
        self,
        file: Any,
        *,
        has_header: bool | None = None,
        texts: Sequence[str] | None = None,
        chunksize: int | None = None,
        encoding: str | None = None,
    ) -> Any:
        """Return the rows of a stream as a data frame, or as a reader of such.

        Parameters
        ----------
        file : stream
            Of text, or of bytes with `encoding`.
        has_header : bool, optional
            Whether the stream begins with the names; by default, if the file does.
        texts : sequence of str, optional
            Read these columns only, as the text that stands in the file, missing values included.
        chunksize : int, optional
            Rows of a frame; by default all rows make one.
        encoding : str, optional
        """
        import pandas as pd

        separator, names = self.lines.separator, self.names
        gaps = {} if texts else {name: self.gaps(place) for place, name in enumerate(names)}
        has_header = self.lines.has_header if has_header is None else has_header
        try:
            return pd.read_csv(
                file, sep=r"\s+" if separator == WHITESPACE else separator,
                header=0 if has_header else None, names=names, decimal=self.decimal,
                na_values=gaps, keep_default_na=False, index_col=False, usecols=texts,
                na_filter=not texts,
                skipinitialspace=separator not in (" ", WHITESPACE), low_memory=False,
                dtype=dict.fromkeys(texts or self.texts, str), chunksize=chunksize,
                encoding=encoding, **exact_floats(),
            )  # fmt: skip
        except pd.errors.ParserError as error:
            raise self.parser_error(error) from error

    def gaps(self, place: int) -> list[str]:
        """Return the words that stand for a missing value in a column."""
        return [*(MISSING_LABELS if place == self.label else MISSING), *self.missing]

    def parser_error(self, error: Exception) -> MaucError:
        """Return what a user is told of an error of the parser."""
        return MaucError(f"{self.lines.path} cannot be read as rows and columns: {error}")

    def convert(self, frame: "pd.DataFrame") -> list[str]:
        """Turn texts of a parsed frame into labels and numbers, in place; say which they are."""
        notes: list[str] = []
        for place, name in enumerate(self.names):
            if name in self.texts or name not in frame:
                continue
            if place == self.label:
                frame[name] = read_labels(frame[name], MISSING)
            elif frame[name].dtype.kind == "O":
                notes += _join_thousands(frame, name, self.decimal, self.thousands)
        return notes

    def check_column(self, place: int, column: "pd.Series[Any]") -> list[str]:
        """Return what is to be said of a feature; raise if it cannot be one."""
        if self.names[place] in self.texts:
            return []
        return check_text_column(self.lines, self.names, place, column)

    @property
    def missing_words(self) -> tuple[str, ...]:
        """Words that stand for a missing value in a feature, but not in a label."""
        return tuple(word for word in MISSING if word not in self.missing)


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
