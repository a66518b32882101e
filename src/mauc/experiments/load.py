"""Read a run back: its folder in, a data frame of all rows out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.checks import check_choice
from mauc.exceptions import IncompleteRunWarning, warn_user
from mauc.experiments.plan import Cell
from mauc.experiments.rows import combinations_of, in_plan_order, schema
from mauc.experiments.store import MemoryStore, RunFolder
from mauc.extras import optional_import

if TYPE_CHECKING:
    import pyarrow as pa


def load_run(path: str | Path, *, frame: str = "pandas") -> Any:
    """Read the rows of a run, one per measurement.

    Parameters
    ----------
    path : str or Path
        The run folder.
    frame : {"pandas", "polars", "arrow"}, default="pandas"

    Returns
    -------
    rows : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns of `mauc.experiments.Row`, in the order of the plan whatever order the cells ran
        in. Rows of failed combinations have status "failed", their error, and MAUC NaN.

    Raises
    ------
    MaucError
        If a shard is damaged; it names the file. Running the plan again computes it anew.

    Warns
    -----
    IncompleteRunWarning
        If cells of the plan, or some of their selectors or classifiers, have not been run yet.

    Notes
    -----
    The shards are plain Parquet, for DuckDB too:
    ``SELECT selector, avg(mauc) FROM 'run/cells/*/*.parquet' GROUP BY selector``.
    """
    check_choice("frame", frame, ("pandas", "polars", "arrow"))
    table = collect_rows(RunFolder(path))
    if frame == "polars":
        return optional_import("polars", "polars data frames").from_arrow(table)
    return table.to_pandas() if frame == "pandas" else table


def collect_rows(store: RunFolder | MemoryStore) -> "pa.Table":
    """Return the rows of all cells of a run, in the order of its plan."""
    import pyarrow as pa

    # The names alone: reading rows must not require that the methods of a plan can be imported.
    plan = store.read_plan()
    datasets, selectors, classifiers = (
        [spec["name"] for spec in plan[part]] for part in ("datasets", "selectors", "classifiers")
    )
    cells = [
        Cell(name, repeat, fold)
        for name in datasets
        for repeat in range(plan["repeats"])
        for fold in range(plan["folds"])
    ]
    tables = [store.read(cell) for cell in cells if store.has(cell)]
    n_combinations = len(selectors) * len(classifiers)
    n_whole = sum(len(set(combinations_of(table))) == n_combinations for table in tables)
    if n_whole < len(cells):
        warn_user(
            f"{store.path} has {n_whole} of {len(cells)} cells"
            + (f", and parts of {len(tables) - n_whole}" if n_whole < len(tables) else "")
            + "; run its plan again to go on.",
            IncompleteRunWarning,
        )
    ordered = [in_plan_order(table, selectors, classifiers) for table in tables]
    return pa.concat_tables(ordered) if ordered else schema().empty_table()
