"""Split a text file into rows, and name the line where that fails."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mauc.data.columns import default_names
from mauc.datasets.readers.files import is_ascii_based, open_binary, open_text
from mauc.datasets.readers.sniff import WHITESPACE, plain_blanks
from mauc.datasets.readers.table import check_unique
from mauc.exceptions import MaucError


class Lines:
    """The rows of a CSV file with their line numbers, read again at every use.

    Parameters
    ----------
    path : Path
    separator : str
        One character, or "whitespace".
    encoding : str
    has_header : bool
        Whether the first row names the columns.
    """

    def __init__(self, path: Path, separator: str, encoding: str, has_header: bool) -> None:
        self.path, self.separator, self.encoding = path, separator, encoding
        self.has_header = has_header
        #: whether every line is known to be one row, which may be cut without parsing it
        self.is_plain = False

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the (last) line number and the cells of every row that is not blank."""
        with open_text(self.path, self.encoding) as file:
            if self.separator == WHITESPACE:
                plain = (plain_blanks(line) + "\n" for line in file)
                reader = csv.reader(plain, delimiter=" ", skipinitialspace=True)
            else:
                # As pandas reads it: blanks behind a separator are no part of a value.
                reader = csv.reader(
                    file, delimiter=self.separator, skipinitialspace=self.separator != " "
                )
            try:
                for cells in reader:
                    if cells and (len(cells) > 1 or cells[0].strip()):
                        yield reader.line_num, cells
            except csv.Error as error:
                raise MaucError(f"{self.path}, line {reader.line_num}: {error}.") from error

    def locate_row(self, row: int) -> str:
        """Return on which line a data row (counted from 0) is."""
        line, _ = next(islice(self.rows(), row + self.has_header, None))
        return f"line {line}"

    def column(self, place: int) -> Iterator[str]:
        """Yield the text of every cell of a column."""
        for _, cells in islice(self.rows(), int(self.has_header), None):
            yield cells[place].strip()

    def check(self) -> list[str]:
        """Return the names of the columns; raise if the rows make no table."""
        beginning = list(islice(self.rows(), 2))
        if not beginning:
            raise MaucError(f"{self.path} is empty; a header line and rows are wanted.")
        line, first = beginning[0]
        self._check_separator(first)
        if self.has_header:
            if len(beginning) == 2 and len(beginning[1][1]) == len(first) + 1 > 2:
                first = ["", *first]  # R writes row names without a name
            names = [cell.strip() or f"column{j + 1}" for j, cell in enumerate(first)]
            check_unique(self.path, names, self.hint(names))
            if len(beginning) == 1:
                raise MaucError(f"{self.path} has a header line but no rows.")
        else:
            names = default_names(range(len(first)))
        self.is_plain = self._is_rectangular(len(first))
        if not self.is_plain:
            self._raise_ragged(len(first), line, has_row_names=first is not beginning[0][1])
        return names

    def hint(self, names: list[str]) -> str:
        """Return a hint if the header is likely a row of data, else nothing."""
        n_numbers = sum(is_number(name) for name in names)
        if not self.has_header or 2 * n_numbers < len(names):
            return ""
        return " If the first line holds data and not names, say header=False."

    def _check_separator(self, first: list[str]) -> None:
        if len(first) > 1:
            return
        for other, what in ((";", "';'"), ("\t", "tabs"), ("|", "'|'"), (",", "','")):
            if other in first[0]:
                option = {"\t": "format='tsv'", ",": "format='csv'"}.get(
                    other, f"separator={other!r}"
                )
                raise MaucError(
                    f"{self.path} has a single column when split at {self.separator!r}, but its "
                    f"first line has {what} in it; say {option}."
                )

    def _is_rectangular(self, n_cells: int) -> bool:
        """Whether all rows have `n_cells`; False also where a quick look does not suffice."""
        if self.separator == WHITESPACE or not is_ascii_based(self.encoding):
            return False
        separator = self.separator.encode(self.encoding)
        with open_binary(self.path) as file:
            for line in file:
                line = line.rstrip(b"\r\n")
                if b'"' in line or b"\r" in line:
                    return False
                if line.count(separator) != n_cells - 1 and line.strip():
                    return False
        return True

    def _raise_ragged(self, n_cells: int, first_line: int, has_row_names: bool) -> None:
        for line, cells in self.rows():
            if len(cells) != n_cells and not (has_row_names and line == first_line):
                raise MaucError(
                    f"{self.path}, line {line}: the row has {len(cells)} "
                    f"value{'s' if len(cells) > 1 else ''}, but line {first_line} has {n_cells}. "
                    f"Correct the line, or quote values that hold {self.separator!r}."
                )


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
