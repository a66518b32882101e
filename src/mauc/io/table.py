"""What every reader returns: all columns of a file, before the target is chosen.

A reader is a function ``open_X(path, options, memory) -> Table``. `path` is a `Path` of a file
that exists and is not empty; formats of several files or addresses get the text as it was given.
`options` is a `mauc.io.options.ReadOptions` whose `format` is the name of the format. `memory` is
None if the file is read into memory (`load_dataset`), otherwise the bytes that reading may take:
formats that stream then open a source that reads columns when they are asked for.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.labels import MAX_EXACT_INTEGER
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucWarning, option, printable, warn_user

_INTEGER = re.compile(r"[+-]?\d+")


def number_row(row: int) -> str:
    """Return where row number `row` (from 0) is, in files without lines."""
    return f"row {row + 1}"


@dataclass(frozen=True)
class Table:
    """The columns of a file, or of several that belong together."""

    path: Path | str  #: what errors call it
    source: ColumnSource  #: all columns, the target among them
    names: list[str]
    #: labels that the format keeps apart from the columns
    labels: np.ndarray[Any, Any] | None = None
    #: whether the target that the user gives is the name of `labels`
    has_named_labels: bool = False
    #: the column that holds the labels by the convention of the format
    target: int | None = None
    #: whether columns may be ids, constants and the like; those of matrices (npz, mat, svmlight,
    #: npy, sparse arff) are all features
    is_named: bool = True
    #: columns that are neither labels nor features, such as the index of a pandas frame
    hidden: frozenset[int] = frozenset()
    #: where in the file a row (from 0) is, such as "line 3"
    locate_row: Callable[[int], str] = number_row
    #: returns notes on a column as a feature, raises if it cannot be one; neither called for the
    #: target nor for columns in `categorical_features`
    check_column: Callable[[int], Sequence[str]] = lambda column: ()
    #: declared values of nominal columns, whose values in `source` are codes, NaN where missing
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: what a user may have overlooked, for the error when the target is not found
    hint: str = ""
    #: columns that the file declares to hold dates, although their values are text
    dates: frozenset[int] = frozenset()
    #: words that stand for a missing value in a feature, but not in a label
    missing_words: tuple[str, ...] = ()
    #: whether a word of `missing_words` stands in other columns than the target
    uses_word: Callable[[str], bool] = lambda word: False
    #: what else a user should know about how the file was read
    notes: Sequence[str] = ()


def check_unique(path: Path | str, names: Sequence[str], hint: str = "") -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for column, name in enumerate(names):
        if name in first:
            raise MaucError(
                f"{path}: columns {first[name] + 1} and {column + 1} both have the name {name!r}; "
                f"rename one of them.{hint}"
            )
        first[name] = column


def check_precision(path: Path | str, name: str, values: Iterable[object]) -> None:
    """Raise if two integers of a feature, or texts, are beyond what float64 holds; warn if one."""
    wide = set()
    for value in values:
        if not isinstance(value, str) or _INTEGER.fullmatch(value):
            number = int(value)  # type: ignore[call-overload]
            if abs(number) > MAX_EXACT_INTEGER:
                wide.add(number)
        if len(wide) > 1:
            raise MaucError(
                f"{path}: column {name!r} holds integers beyond 2**53, such as {max(wide)}, which "
                f"lose digits as numbers. If it is an identifier, drop it ({option('drop', name)}) "
                f"or declare it nominal ({option('categorical_features', name)}); otherwise store "
                f"it in larger units."
            )
    for number in wide:
        warn_user(
            f"{path}: column {name!r} holds {number}, which is beyond 2**53 and loses digits as a "
            f"number; correct it, or leave the column out ({option('drop', name)}).",
            MaucWarning,
        )


def find_place(names: Sequence[str], wanted: str | int | None) -> int | None:
    """Return the number of a column given by name or number, None if there is no such column."""
    if isinstance(wanted, str) and wanted in names:
        return list(names).index(wanted)
    if isinstance(wanted, str) and not wanted.removeprefix("-").isdigit():
        return None
    if wanted is None or not -len(names) <= int(wanted) < len(names):
        return None
    return int(wanted) % len(names)


def split_words(known: Collection[str], text: str | int) -> list[str | int]:
    """Return the words of a text such as ``a,b``, unless it is one that is known."""
    if not isinstance(text, str) or text in known:
        return [text]
    return [word.strip() for word in text.split(",")]


def first_few(names: Sequence[str]) -> str:
    """Return the first names as one text."""
    return ", ".join(map(printable, names[:10])) + (", ..." if len(names) > 10 else "")
