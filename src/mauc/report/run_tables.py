"""All tables of a run, by name: what `mauc tables` prints and `write_tables` writes."""

import warnings
from collections.abc import Callable
from typing import Any

from mauc.exceptions import MaucError, MaucWarning
from mauc.report.runtime import runtime_table
from mauc.report.summaries import ranks_table, stability_table, summary_table, win_draw_loss_table
from mauc.report.tables import Table, mauc_table
from mauc.stats import PAPER_COMPARISON, Comparison
from mauc.stats.rows import labels_of, rows_of

_SUMMARIES: dict[str, Callable[[Any, Comparison], Table]] = {
    "runtime": lambda rows, _: runtime_table(rows),
    "ranks": ranks_table,
    "stability": lambda rows, _: stability_table(rows),
    "win/draw/loss": win_draw_loss_table,
    "summary": summary_table,
}
_NEED_REFERENCE = ("win/draw/loss", "summary")


def run_tables(run: Any, comparison: Comparison = PAPER_COMPARISON) -> dict[str, Table]:
    """Make all tables of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level; without a baseline there are no marks, and the tables
        "win/draw/loss" and "summary" are left out.

    Returns
    -------
    tables : dict of str to Table
        "mauc DATASET" for every data set, then "runtime", "ranks", "stability", "win/draw/loss"
        and "summary". A summary for which the run has too little is left out with a warning.
    """
    rows = rows_of(run, "dataset", "selector")
    tables: dict[str, Table] = {
        f"mauc {dataset}": mauc_table(rows, dataset, comparison)
        for dataset in labels_of(rows, "dataset")
    }
    for name, make in _SUMMARIES.items():
        if comparison.reference is None and name in _NEED_REFERENCE:
            continue
        try:
            tables[name] = make(rows, comparison)
        except MaucError as error:
            warnings.warn(f"no table of {name}: {error}", MaucWarning, stacklevel=2)
    return tables
