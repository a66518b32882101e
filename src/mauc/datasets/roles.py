"""Find out what the columns of a table are: the target, features, and those to leave out."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from mauc.datasets.readers.table import Table, first_few
from mauc.exceptions import MaucError


class Roles(NamedTuple):
    """What the columns of a table are, by their numbers."""

    target: int | None  #: None if the labels are kept apart
    features: list[int]  #: neither the target nor dropped
    marked: set[int]  #: nominal whatever they hold


def find_roles(
    table: Table,
    target: str | int | None,
    drop: Sequence[str | int],
    categorical_features: Sequence[str | int],
) -> Roles:
    """Return what the columns of a table are, by what the user says of them.

    Parameters
    ----------
    table : Table
        Its values are not looked at.
    target, drop, categorical_features
        As in `assemble`.
    """
    place = find_target(table, target)
    dropped = {find_column(table, name, "drop") for name in drop}
    marked = {find_column(table, name, "categorical_features") for name in categorical_features}
    if place is not None and place in dropped:
        raise MaucError(f"{table.path}: drop has {table.names[place]!r}, which is the target.")
    features = [j for j in range(len(table.names)) if j != place and j not in dropped]
    if not features:
        listed = first_few(table.names)
        raise MaucError(f"{table.path} has no column left to be a feature. Its columns: {listed}.")
    return Roles(place, features, marked)


def find_target(table: Table, target: str | int | None) -> int | None:
    """Return the column with the labels, or None if they are kept apart."""
    if table.labels is not None:
        if target is not None:
            raise MaucError(
                f"{table.path} has its labels already (apart from the features), "
                f"got target {target!r}; leave it out."
            )
        return None
    if target is None:
        if table.target is None:
            raise MaucError(
                f"{table.path} needs a target column (--target). "
                f"Its columns: {first_few(table.names)}.{table.hint}"
            )
        return table.target
    return find_column(table, target, "target")


def find_column(table: Table, wanted: str | int, option: str) -> int:
    """Return the place of a column given by name or number (from 0, or -1 for the last)."""
    names = table.names
    if isinstance(wanted, str):
        if wanted in names:
            return names.index(wanted)
        if not wanted.removeprefix("-").isdigit():
            folded = {name.lower(): name for name in reversed(names)}
            near = get_close_matches(wanted.lower(), list(folded), n=1)
            hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
            raise MaucError(
                f"{table.path} has no column {wanted!r}{hint} "
                f"Its columns: {first_few(names)}.{table.hint}"
            )
    number = int(wanted)
    if not -len(names) <= number < len(names):
        raise MaucError(
            f"{table.path}: {option} as a column number must be in "
            f"[{-len(names)}, {len(names) - 1}], got {number}."
        )
    return number % len(names)
