"""Read a run back: its folder in, a data frame of all rows out."""

from pathlib import Path
from typing import Any

from mauc.exceptions import IncompleteRunWarning, MaucError, warn_user
from mauc.experiments.plan import Cell
from mauc.experiments.rows import import_pyarrow, in_plan_order, schema
from mauc.experiments.store import RunFolder


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
        If cells of the plan, or some of their selectors or classifiers, are not there yet.

    Notes
    -----
    The shards are plain Parquet, for DuckDB too:
    ``SELECT selector, avg(mauc) FROM 'run/cells/*/*.parquet' GROUP BY selector``.
    """
    if frame not in ("pandas", "polars", "arrow"):
        raise MaucError(f'frame must be "pandas", "polars" or "arrow", got {frame!r}.')
    pa = import_pyarrow()
    folder = RunFolder(path)
    # The names alone: to read rows, the methods of a plan need not be there to import.
    plan = folder.read_plan_dict()
    try:
        datasets, selectors, classifiers = (
            [spec["name"] for spec in plan[part]]
            for part in ("datasets", "selectors", "classifiers")
        )
        cells = [
            Cell(name, repeat, fold)
            for name in datasets
            for repeat in range(plan["repeats"])
            for fold in range(plan["folds"])
        ]
    except (KeyError, TypeError) as error:
        raise MaucError(f"{folder.path / 'plan.json'} is not a plan: {error!r}.") from error
    tables = [folder.read(cell) for cell in cells if folder.has(cell)]
    n_wanted = len(selectors) * len(classifiers)
    n_whole = sum(_n_combinations(table) == n_wanted for table in tables)
    if n_whole < len(cells):
        warn_user(
            f"{folder.path} has {n_whole} of {len(cells)} cells"
            + (f", and parts of {len(tables) - n_whole}" if n_whole < len(tables) else "")
            + "; run its plan again to go on.",
            IncompleteRunWarning,
        )
    ordered = [in_plan_order(table, selectors, classifiers) for table in tables]
    table = pa.concat_tables(ordered) if ordered else schema().empty_table()
    if frame == "arrow":
        return table
    if frame == "polars":
        try:
            import polars as pl
        except ModuleNotFoundError as error:
            raise MaucError('frame="polars" needs polars: pip install polars') from error
        return pl.from_arrow(table)
    return table.to_pandas()


def _n_combinations(table: Any) -> int:
    return len(
        set(zip(*(table[key].to_pylist() for key in ("selector", "classifier")), strict=True))
    )
