"""The rows of a run: read them, list their labels, and say how labels are shown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError
from mauc.io.registry import dataset_label
from mauc.registry import CLASSIFIERS, SELECTORS
from mauc.stats.cells import as_pandas, check_columns


def shown_name(kind: str, label: str) -> str:
    """Return a label of a run as tables and figures write it.

    Parameters
    ----------
    kind : {"selector", "classifier", "dataset"}
    label : str

    Examples
    --------
    >>> from mauc.stats.rows import shown_name
    >>> shown_name("selector", "mrmr"), shown_name("selector", "my own")
    ('mRMR', 'my own')
    """
    if kind == "dataset":
        return dataset_label(label)
    methods = SELECTORS if kind == "selector" else CLASSIFIERS
    return methods[label.lower()].label if label.lower() in methods else label


def rows_of(run: Any, *columns: str) -> Any:
    """Return the rows of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    *columns : str
        Columns that the rows must have; there must then be a row, too.

    Returns
    -------
    rows : pandas.DataFrame
    """
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


def labels_of(rows: Any, column: str, wanted: Iterable[str] | str | None = None) -> list[str]:
    """Return the labels of a column in the order of the plan, or the wanted ones of them."""
    present = [str(label) for label in rows[column].unique()]
    if wanted is None:
        return present
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for label in wanted:
        if label not in present:
            raise unknown_choice(column, label, present)
    return wanted
