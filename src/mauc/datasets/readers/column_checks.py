"""Check that a column of a text file can be a feature: exact numbers, words that are no slips."""

import re
from typing import TYPE_CHECKING, Any

from mauc.data.columns import MAX_EXACT_INTEGER
from mauc.datasets.readers.lines import Lines
from mauc.datasets.readers.table import check_precision
from mauc.datasets.readers.thousands import is_ambiguous
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd

_MIN_WORDS = 0.1  # share of words from which a column of numbers and words is nominal
_MIN_ROWS = 10  # in fewer rows any word may be a slip
# An integer, or a number with a decimal comma.
_INTEGER = re.compile(r"[+-]?\d+")
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def check_text_column(
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
