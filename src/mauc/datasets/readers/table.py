"""What every reader returns: the values of a file, before the target is chosen."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER
from mauc.exceptions import MaucError

_INTEGER = re.compile(r"[+-]?\d+")


def number_row(row: int) -> str:
    """Return where row number `row` (from 0) is, in files without lines."""
    return f"row {row + 1}"


def accept_column(place: int) -> None:
    """Accept every column, in formats that store their types."""


@dataclass(frozen=True)
class Table:
    """The values of one file.

    Parameters
    ----------
    path : Path
    values : ndarray, scipy sparse array or pandas DataFrame of shape (n_samples, n_columns)
    names : list of str
        Names of the columns.
    labels : ndarray of shape (n_samples,), optional
        Labels that the format keeps apart from the columns.
    target : int, optional
        The column that holds the labels by the convention of the format.
    locate_row : callable int -> str
        Returns where in the file a row is, such as "line 3".
    check_column : callable int -> None
        Raises if a column of the file cannot be a feature; not called for the target.
    categories : mapping of str to tuple of str
        Declared values of nominal columns; in a sparse array such a column holds codes.
    hint : str, default=""
        What a user may have overlooked, for the error when the target is not found.
    dates : frozenset of int
        Columns that the file declares to hold dates.
    missing_words : tuple of str
        Words that stand for a missing value in a feature, but not in a label.
    notes : sequence of str
        What else a user should know about how the file was read; `check_column` may add to them.
    """

    path: Path
    values: Any
    names: list[str]
    labels: np.ndarray[Any, Any] | None = None
    target: int | None = None
    locate_row: Callable[[int], str] = number_row
    check_column: Callable[[int], None] = accept_column
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hint: str = ""
    dates: frozenset[int] = frozenset()
    missing_words: tuple[str, ...] = ()
    notes: Sequence[str] = ()


def check_names(path: Path, names: Any, n_columns: int) -> list[str]:
    """Return the feature names of an array file as a list; raise unless one per column."""
    listed = [str(name) for name in np.ravel(np.asarray(names)).tolist()]
    if len(listed) != n_columns:
        raise MaucError(
            f"{path}: feature_names must hold {n_columns} names (the columns of X), "
            f"got {len(listed)}."
        )
    check_unique(path, listed)
    return listed


def check_unique(path: Path, names: list[str], hint: str = "") -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in first:
            raise MaucError(
                f"{path}: columns {first[name] + 1} and {place + 1} both have the name {name!r}; "
                f"rename one of them.{hint}"
            )
        first[name] = place


def check_precision(path: Path, name: str, values: Iterable[object]) -> None:
    """Raise if an integer of a feature, or a text of one, is beyond what float64 holds exactly."""
    for value in values:
        if isinstance(value, str) and not _INTEGER.fullmatch(value):
            continue
        if abs(int(value)) > MAX_EXACT_INTEGER:  # type: ignore[call-overload]
            raise MaucError(
                f"{path}: column {name!r} holds integers beyond 2**53, such as {value}, which "
                f"lose digits as numbers. If it is an identifier, drop it (drop={name!r}) or say "
                f"that it is nominal (categorical_features={name!r}); otherwise store it in larger "
                f"units."
            )


def first_few(names: list[str]) -> str:
    """Return the first names as one text."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
