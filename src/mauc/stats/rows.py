"""The rows of a run: read them, name their labels, arrange them as one array of MAUC."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.io.registry import dataset_label
from mauc.registry import CLASSIFIERS, PEERS, SELECTORS

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

PROBLEM = ("dataset", "classifier", "size")
SETTING = (*PROBLEM, "selector")
SPLIT = ("repeat", "fold")


def rows_of(run: Any, *columns: str) -> Any:
    """Return the rows of a run, a DataFrame or the path of its folder, that must have columns."""
    if isinstance(run, str | Path):
        from mauc.experiments import load_run

        rows = load_run(run)
    elif hasattr(run, "columns"):
        rows = as_pandas(run)
    else:
        got = type(run).__name__
        raise MaucError(f"a run must be a DataFrame of rows or the path of a run, got {got}.")
    check_columns(rows, columns)
    if columns and len(rows) == 0:
        raise MaucError("a run must have at least one row, got none.")
    return rows


def as_pandas(rows: Any) -> "pd.DataFrame":
    """Return rows as a pandas frame; `mauc.load_run` may have given another kind."""
    import pandas

    if isinstance(rows, pandas.DataFrame):
        return cast("pd.DataFrame", rows)
    if hasattr(rows, "to_pandas"):
        return cast("pd.DataFrame", rows.to_pandas())
    raise MaucError(f"rows must be a data frame, got {type(rows).__name__}.")


def check_columns(rows: "pd.DataFrame", wanted: tuple[str, ...]) -> None:
    """Refuse rows without the columns wanted."""
    absent = [name for name in wanted if name not in rows]
    if absent:
        raise MaucError(
            f"rows must have the columns {', '.join(wanted)}; {', '.join(absent)} "
            f"{'is' if len(absent) == 1 else 'are'} missing."
        )


def labels_of(rows: Any, column: str, wanted: Iterable[str] | str | None = None) -> list[str]:
    """Return the labels of a column in the order of the plan, or the wanted ones of them."""
    present = [str(label) for label in rows[column].unique()]
    if wanted is None:
        return present
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for label in wanted:
        check_choice(column, label, present, quoted=False)
    return wanted


def select_rows(rows: Any, **wanted: Iterable[str] | str | None) -> Any:
    """Return the rows whose labels are among those wanted, given by column; None keeps all."""
    kept = {column: labels_of(rows, column, labels) for column, labels in wanted.items()}
    for column, labels in kept.items():
        rows = rows[rows[column].isin(labels)]
    return rows


def shown_name(kind: str, label: str) -> str:
    """Return a label of a run as tables and figures write it.

    Parameters
    ----------
    kind : {"selector", "classifier", "dataset"}
    label : str

    Examples
    --------
    >>> from mauc.stats import shown_name
    >>> shown_name("selector", "mrmr"), shown_name("selector", "my own")
    ('mRMR', 'my own')
    """
    if kind == "dataset":
        return dataset_label(label)
    methods = SELECTORS if kind == "selector" else CLASSIFIERS | PEERS
    return methods[label.lower()].label if label.lower() in methods else label


@dataclass(frozen=True)
class Cells:
    """MAUC of every setting on every split."""

    mauc: Array  #: of shape (n_settings, n_splits); NaN where there is no row, or a failed one
    settings: "pd.DataFrame"  #: the columns of `SETTING`; labels as they appear, sizes ascending
    line: Array  #: of shape (n_rows,): the line of `mauc` of every row of the run
    column: Array  #: of shape (n_rows,): its column

    def spread(self, values: Array) -> Array:
        """Return a column of the run in the shape of `mauc`, NaN where there is no row."""
        spread = np.full(self.mauc.shape, np.nan)
        spread[self.line, self.column] = values
        return spread


def make_cells(rows: "pd.DataFrame") -> Cells:
    """Arrange the rows of a run; rows with a status other than "ok" count as failed."""
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


def group_rows(rows: "pd.DataFrame", keys: tuple[str, ...]) -> tuple[Array, "pd.DataFrame"]:
    """Return the group of each row and the values of each; numbers ascend, names as they appear."""
    import pandas as pd

    codes = {}
    for key in keys:
        is_number = pd.api.types.is_numeric_dtype(rows[key])
        codes[key] = pd.factorize(rows[key], sort=is_number)[0]
        if (codes[key] < 0).any():
            raise MaucError(f"rows must name {key} in every row, got a missing value.")
    group = pd.DataFrame(codes).groupby(list(keys)).ngroup().to_numpy()
    _, first = np.unique(group, return_index=True)
    return group, rows[list(keys)].iloc[first].reset_index(drop=True)


def row_means(values: Array) -> Array:
    """Average what is present in each row of (n_rows, n_columns); NaN where nothing is."""
    n = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))


def _check_distinct(rows: "pd.DataFrame", cell: Array) -> None:
    _, first, count = np.unique(cell, return_index=True, return_counts=True)
    if (count > 1).any():
        repeated = rows.iloc[first[np.argmax(count > 1)]]
        shown = ", ".join(f"{key} {repeated[key]}" for key in (*SETTING, *SPLIT))
        raise MaucError(f"rows must hold a measurement once, got {count.max()} of {shown}.")
