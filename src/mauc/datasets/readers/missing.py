"""Words that stand for a missing value: in features all of them, in labels few."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What stands for a missing value in most files; pandas' longer list has words that are names.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")
#: what stands for a missing label: the other words of `MISSING` may well be names of classes
MISSING_LABELS = ("", "?")


def find_place(names: list[str], column: str | int | None) -> int | None:
    """Return the place of a column by its name or number, or None if it is not to be found."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, str) and not column.removeprefix("-").isdigit():
        return None
    if column is None or not -len(names) <= int(column) < len(names):
        return None
    return int(column) % len(names)


def read_labels(labels: "pd.Series[Any]", words: Iterable[str]) -> "pd.Series[Any]":
    """Return a column of labels; if all others are numbers, the words for missing values are such.

    Among names, "NA" is a name as well: a region, a blood group, a verdict.

    Parameters
    ----------
    labels : Series
        Texts, or what a file stores; missing ones are None or NaN.
    words : iterable of str
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(labels.dtype):
        return labels
    is_word = labels.isin(list(words))
    others = labels[~is_word & labels.notna()]
    numbers = pd.to_numeric(others, errors="coerce")
    if len(others) == 0 or numbers.isna().any() or others.map(type).isin([bool]).any():
        return labels
    if not (is_word | labels.isna()).any():
        return labels.infer_objects()
    return numbers.reindex(labels.index)
