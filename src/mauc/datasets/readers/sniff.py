"""Tell the format and the separator of a file from its content."""

import csv
import re
import zipfile
from pathlib import Path
from typing import Any

from mauc.datasets.readers.files import open_binary, read_beginning, skip_mark

#: the separator that stands for any run of blanks and tabs
WHITESPACE = "whitespace"
_CANDIDATES = ("\t", ";", "|", ",")
_N_BYTES = 1 << 16
_N_LINES = 50
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_SVMLIGHT = re.compile(rf"{_NUMBER}(\s+qid:\d+)?(\s+\d+:{_NUMBER})+\s*(#.*)?")


def sniff_format(path: Path, encoding: str = "utf-8") -> tuple[str, dict[str, Any]]:
    """Return the format of a file by its content, and the options that reading it takes.

    Parameters
    ----------
    path : Path
    encoding : str, default="utf-8"
        Of a text file.

    Returns
    -------
    format : str
    options : dict
        The separator of a file of rows and columns.
    """
    beginning = read_beginning(path, 8)
    if beginning.startswith(b"PAR1"):
        return "parquet", {}
    if beginning.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "feather", {}
    if beginning.startswith(b"MATLAB"):
        return "mat", {}
    if beginning.startswith(b"PK\x03\x04") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return ("xlsx" if "[Content_Types].xml" in archive.namelist() else "npz"), {}
    lines = _first_lines(path, encoding)
    told = [line for line in lines if not line.lstrip().startswith(("%", "#"))]
    if told and told[0].lower().startswith(("@relation", "@attribute")):
        return "arff", {}
    if told and all(_SVMLIGHT.fullmatch(line.strip()) for line in told):
        return "svmlight", {}
    return "csv", {"separator": sniff_separator(lines)}


def sniff_separator(lines: list[str]) -> str:
    """Return the separator that cuts all lines into the same number of cells, more than one.

    The first line may have one cell less than the others, as R writes tables with row names. Where
    several do, a tab goes before a semicolon, a bar, a comma and blanks; where none does, it is
    the comma, and the reader says what is wrong.

    Examples
    --------
    >>> from mauc.datasets.readers.sniff import sniff_separator
    >>> sniff_separator(["a;b", "1,5;2"]), sniff_separator(["a  b", "1 2"])
    (';', 'whitespace')
    """
    for separator in (*_CANDIDATES, WHITESPACE):
        counts = [len(split_line(line, separator)) for line in lines]
        rest = set(counts[1:]) or set(counts)
        if len(rest) == 1 and max(rest) > 1 and counts[0] - max(rest) in (0, -1):
            return separator
    return ","


def split_line(line: str, separator: str) -> list[str]:
    """Return the cells of a line."""
    if separator == WHITESPACE:
        line, separator = plain_blanks(line), " "
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def plain_blanks(line: str) -> str:
    """Return a line with blanks for tabs and none at its ends."""
    return line.replace("\t", " ").strip()


def _first_lines(path: Path, encoding: str) -> list[str]:
    with open_binary(path) as file:
        beginning = file.read(_N_BYTES)
    text = beginning.decode(skip_mark(encoding), "replace")
    lines = text.splitlines()
    if len(beginning) == _N_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut off
    return [line for line in lines if line.strip()][:_N_LINES]
