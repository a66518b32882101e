"""What every reader hands over: the values of a file, before the target is chosen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mauc.exceptions import MaucError


def say_row_number(row: int) -> str:
    """Say where row number `row` (from 0) is, in files without lines."""
    return f"row {row + 1}"


def accept_column(place: int) -> None:
    """Find nothing wrong with a column, in formats that keep columns apart."""


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
        The column that holds the labels by the custom of the format.
    say_row : callable int -> str
        Says where in the file a row is.
    check_column : callable int -> None
        Raises if a column of the file cannot be a feature; not asked about the target.
    categories : mapping of str to tuple of str
        Declared values of nominal columns; in a sparse array such a column holds codes.
    hint : str, default=""
        What a user may have overlooked, said when the target is not found.
    """

    path: Path
    values: Any
    names: list[str]
    labels: np.ndarray[Any, Any] | None = None
    target: int | None = None
    say_row: Callable[[int], str] = say_row_number
    check_column: Callable[[int], None] = accept_column
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hint: str = ""


def number_names(n_columns: int) -> list[str]:
    """Return x0, x1, ... for columns without names."""
    return [f"x{j}" for j in range(n_columns)]


def check_names(path: Path, names: Any, n_columns: int) -> list[str]:
    """Return the feature names of an array file as a list, or say what is wrong with them."""
    listed = [str(name) for name in np.ravel(np.asarray(names)).tolist()]
    if len(listed) != n_columns:
        raise MaucError(
            f"{path}: feature_names must hold {n_columns} names (the columns of X), "
            f"got {len(listed)}."
        )
    refuse_twins(path, listed)
    return listed


def refuse_twins(path: Path, names: list[str], hint: str = "") -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in first:
            raise MaucError(
                f"{path}: columns {first[name] + 1} and {place + 1} both have the name {name!r}; "
                f"rename one of them.{hint}"
            )
        first[name] = place


def refuse_digits(path: Path, name: str, value: object) -> MaucError:
    """Return the error for a feature whose whole numbers have too many digits."""
    return MaucError(
        f"{path}: column {name!r} holds whole numbers beyond 2**53, such as {value}, which lose "
        f"digits as numbers. If it is an identifier, drop it (drop={name!r}) or say that it is "
        f"nominal (categorical_features={name!r}); otherwise store it in larger units."
    )


def some(names: list[str]) -> str:
    """List the first names."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
