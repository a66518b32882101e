"""Numbers with separated thousands: a column of texts in, numbers out if all texts are such."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_MARKS = (",", ".", "'", " ")  # what separates thousands, unless it is the decimal point


def read_thousands(
    texts: "pd.Series[Any]", decimal: str, thousands: str | None
) -> "tuple[np.ndarray[Any, Any], str] | None":
    """Return the numbers of a column whose texts have separated thousands.

    Parameters
    ----------
    texts : Series of str
        The known values of a column.
    decimal : str
        The decimal point.
    thousands : str, optional
        What separates thousands. By default it is found if a text leaves no doubt: one with two
        separators ("1,234,567") or with a separator and a decimal point ("3,070.5").

    Returns
    -------
    numbers : ndarray of int64 or float64
    example : str
        A text with separated thousands.

        None if the texts are no such numbers.
    """
    if len(texts) == 0 or not texts.iloc[0][-1:].isdigit():
        return None
    distinct = texts.drop_duplicates()
    for mark in _MARKS if thousands is None else (thousands,):
        # Some writers say 1.234.567 with no decimal point at all.
        point = decimal if mark != decimal else ("," if decimal == "." else ".")
        grouped, certain = _patterns(mark, point)
        if not distinct.str.fullmatch(grouped).all():
            continue
        if mark == decimal and distinct.str.contains(point, regex=False).any():
            continue
        with_mark = distinct[distinct.str.contains(mark, regex=False)]
        if thousands is None:
            with_mark = with_mark[with_mark.str.fullmatch(certain)]
        if len(with_mark):
            plain = texts.str.replace(mark, "", regex=False).str.replace(point, ".", regex=False)
            return _numbers(plain.tolist()), str(with_mark.iloc[0])
    return None


def is_ambiguous(texts: "pd.Series[Any]") -> bool:
    """Whether commas in texts such as "3,070" may separate decimals as well as thousands."""
    return bool(texts.str.fullmatch(r"[+-]?(\d{1,3}(,\d{3})?|\d+)").all())


def _numbers(texts: list[str]) -> np.ndarray[Any, Any]:
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([float(text) for text in texts])


@cache
def _patterns(mark: str, point: str) -> tuple[str, str]:
    """Return patterns of the numbers of a column, and of those that can be nothing else."""
    mark, point = re.escape(mark), re.escape(point)
    decimals = rf"{point}\d*([eE][+-]?\d+)?"
    grouped = rf"[+-]?(\d{{1,3}}({mark}\d{{3}})+|\d+)({decimals})?"
    certain = rf"[+-]?\d{{1,3}}(({mark}\d{{3}}){{2,}}({decimals})?|{mark}\d{{3}}{decimals})"
    return grouped, certain
