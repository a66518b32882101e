"""The rows of a run: read them, list their labels, and say how labels are shown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mauc.checks import unknown_word
from mauc.datasets.registry import PAPER_LABELS
from mauc.exceptions import MaucError
from mauc.registry import CLASSIFIERS, SELECTORS
from mauc.stats.cells import as_pandas

# Short names that tables and figures write otherwise; other labels are shown as they stand.
_SHOWN: dict[str, dict[str, str]] = {
    "selector": {name: entry.label for name, entry in SELECTORS.items()},
    "classifier": {name: entry.label for name, entry in CLASSIFIERS.items()},
    "dataset": PAPER_LABELS,
}


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
    return _SHOWN[kind].get(label.lower(), label)


def rows_of(run: Any) -> Any:
    """Return the rows of a run given as a DataFrame or as the path of its folder."""
    if isinstance(run, str | Path):
        from mauc.experiments import load_run

        return load_run(run)
    if not hasattr(run, "columns"):
        got = type(run).__name__
        raise MaucError(f"a run must be a DataFrame of rows or the path of a run, got {got}.")
    return as_pandas(run)


def labels_of(rows: Any, column: str, wanted: Iterable[str] | str | None = None) -> list[str]:
    """Return the labels of a column in the order of the plan, or the wanted ones of them."""
    present = [str(label) for label in rows[column].unique()]
    if wanted is None:
        return present
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for label in wanted:
        if label not in present:
            raise unknown_word(column, label, present)
    return wanted
