"""Turn the rows of a run into one array: one line per setting, one column per split."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

SETTING = ("dataset", "classifier", "size", "selector")
SPLIT = ("repeat", "fold")


@dataclass(frozen=True)
class Cells:
    """MAUC of every setting on every split.

    Parameters
    ----------
    mauc : ndarray of shape (n_settings, n_splits)
        NaN where there is no row, or a failed one.
    settings : DataFrame with n_settings rows
        Data set, classifier, size and selector of every line, in this order; names in the order
        of their first row, sizes ascending.
    line, column : ndarray of shape (n_rows,)
        Place in `mauc` of every row of the run.
    """

    mauc: Array
    settings: "pd.DataFrame"
    line: Array
    column: Array

    def spread(self, values: Array) -> Array:
        """Return a column of the run in the shape of `mauc`, NaN where there is no row."""
        spread = np.full(self.mauc.shape, np.nan)
        spread[self.line, self.column] = values
        return spread


def make_cells(rows: "pd.DataFrame") -> Cells:
    """Arrange the rows of a run.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, with the columns dataset, classifier, size, selector, repeat,
        fold and mauc; if there is a column status, rows that are not "ok" count as failed.

    Returns
    -------
    cells : Cells
    """
    rows = as_pandas(rows)
    check_columns(rows, (*SETTING, *SPLIT, "mauc"))
    line, keys = group_rows(rows, SETTING)
    column, splits = group_rows(rows, SPLIT)
    _check_distinct(rows, line * len(splits) + column)

    mauc = rows["mauc"].to_numpy(dtype=np.float64, na_value=np.nan)
    if "status" in rows:
        mauc = np.where((rows["status"] == "ok").to_numpy(dtype=bool, na_value=False), mauc, np.nan)
    if np.isinf(mauc).any():
        raise MaucError("rows must have a finite mauc, or NaN where a run failed, got infinity.")
    cells = Cells(np.empty((len(keys), len(splits))), keys, line, column)
    cells.mauc[:] = cells.spread(mauc)
    return cells


def as_pandas(rows: Any) -> "pd.DataFrame":
    """Return rows as a pandas frame; `mauc.load_run` may have given another kind."""
    import pandas

    if isinstance(rows, pandas.DataFrame):
        return cast("pd.DataFrame", rows)
    if hasattr(rows, "to_pandas"):
        return cast("pd.DataFrame", rows.to_pandas())
    raise MaucError(f"rows must be a data frame, got {type(rows).__name__}.")


def group_rows(rows: "pd.DataFrame", keys: tuple[str, ...]) -> tuple[Array, "pd.DataFrame"]:
    """Assign rows that share the values of some columns to one group.

    Parameters
    ----------
    rows : DataFrame
    keys : tuple of str
        Columns; groups are sorted by the first, then by the next.

    Returns
    -------
    group : ndarray of shape (n_rows,)
        Groups are in order of the keys: numbers ascending, names as they first appear.
    values : DataFrame with n_groups rows
        The keys of every group.
    """
    import pandas as pd

    codes, names = [], []
    for key in keys:
        is_number = pd.api.types.is_numeric_dtype(rows[key])
        places, found = pd.factorize(rows[key], sort=is_number)
        if (places < 0).any():
            raise MaucError(f"rows must name {key} in every row, got a missing value.")
        codes.append(places)
        names.append(found)
    # A group is one number: the places of its keys are the digits.
    shape = tuple(max(len(found), 1) for found in names)
    present, group = np.unique(np.ravel_multi_index(tuple(codes), shape), return_inverse=True)
    places = np.unravel_index(present, shape)
    values = {key: found[at] for key, found, at in zip(keys, names, places, strict=True)}
    return group, pd.DataFrame(values)


def check_columns(rows: "pd.DataFrame", wanted: tuple[str, ...]) -> None:
    """Refuse rows without the columns wanted."""
    absent = [name for name in wanted if name not in rows]
    if absent:
        raise MaucError(
            f"rows must have the columns {', '.join(wanted)}; {', '.join(absent)} "
            f"{'is' if len(absent) == 1 else 'are'} missing."
        )


def _check_distinct(rows: "pd.DataFrame", cell: Array) -> None:
    _, first, count = np.unique(cell, return_index=True, return_counts=True)
    if (count > 1).any():
        twice = rows.iloc[first[np.argmax(count > 1)]]
        shown = ", ".join(f"{key} {twice[key]}" for key in (*SETTING, *SPLIT))
        raise MaucError(f"rows must hold a measurement once, got {count.max()} of {shown}.")
